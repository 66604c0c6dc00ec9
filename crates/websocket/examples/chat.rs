//! A chat whose messages are compressed with windows of 2 KiB. Run
//! `cargo run --example chat --features axum`, then open http://127.0.0.1:8080/ in two windows of a
//! browser.

use std::net::SocketAddr;

use axum::extract::State;
use axum::response::{Html, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use futures_util::{SinkExt, StreamExt};
use linerate_websocket::{Options, Prepared, Socket, WebSocketUpgrade};
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::Message;

type Room = broadcast::Sender<Prepared>;

async fn chat(State(room): State<Room>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.options(Options::window_bits(11)).on_upgrade(move |socket| serve(socket, room))
}

/// Serves one user until the user leaves: sends what the user says to everybody, and what everybody
/// says to the user.
async fn serve(mut socket: Socket, room: Room) {
    let mut said = room.subscribe();
    let hello = match socket.get_ref().agreement() {
        Some(agreement) => format!("compressed: {agreement:?}"),
        None => "not compressed".to_owned(),
    };
    if socket.send(Message::text(hello)).await.is_err() {
        return;
    }
    loop {
        let sent = tokio::select! {
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    // The message is compressed once, however many users listen.
                    let _ = room.send(Prepared::text(&text));
                    Ok(())
                }
                Some(Ok(_)) => Ok(()),
                Some(Err(_)) | None => return,
            },
            Ok(text) = said.recv() => match socket.get_mut().queue(&text) {
                Ok(()) => socket.flush().await,
                Err(_) => return,
            },
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Serves the chat at `address`, and calls `ready` with the address that it listens on.
pub(crate) async fn run(address: &str, ready: impl FnOnce(SocketAddr)) -> std::io::Result<()> {
    let router = axum::Router::new()
        .route("/", get(|| async { Html(include_str!("chat.html")) }))
        .route("/chat", get(chat))
        .with_state(broadcast::channel(100).0);
    let listener = tokio::net::TcpListener::bind(address).await?;
    ready(listener.local_addr()?);
    // Small messages are sent at once, without waiting for acknowledgements of earlier ones.
    let listener = listener.tap_io(|socket| _ = socket.set_nodelay(true));
    axum::serve(listener, router).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    run("127.0.0.1:8080", |address| println!("http://{address}/")).await
}
