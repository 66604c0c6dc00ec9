//! Talks to a websocket library of others, as its client and as its server, with every window, over tungstenite on sockets
//! that block, tokio-tungstenite and axum; prints a CSV row for each connection. `scripts/websocket-peers.sh` installs the
//! peers and runs this as `peers MESSAGES NAME COMMAND...`; the command is continued by `serve BITS` or by
//! `client URL BITS MESSAGES`.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use axum::serve::ListenerExt;
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use linerate_websocket::{Agreement, DeflateStream, Options, WebSocketUpgrade};
use tokio::sync::mpsc;
use tungstenite::Message;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A program that is ended if it still runs.
struct Peer(Child);

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Peer {
    fn start(command: &[String], arguments: &[&str]) -> Result<Self> {
        let mut program = Command::new(&command[0]);
        program.args(&command[1..]).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        Ok(Peer(program.spawn()?))
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        BufReader::new(self.0.stdout.as_mut().ok_or("no output")?).read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

/// Some messages are larger than the buffers of websocket libraries, and do not become smaller.
fn message(i: usize) -> Message {
    if i % 500 == 250 {
        let mut state = i as u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        return Message::binary((0..200_000).map(|_| next()).collect::<Vec<u8>>());
    }
    if i % 50 == 7 {
        return Message::binary(i.to_le_bytes().repeat(i % 3_000));
    }
    Message::text(format!("{i}: {}", format!("message {} of many, ", i % 13).repeat(i % 90)))
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_io().build()?)
}

/// Our client of tungstenite at the peer's server, which echoes.
fn ask(command: &[String], bits: u8, count: usize) -> Result<Option<Agreement>> {
    let mut peer = Peer::start(command, &["serve", &bits.to_string()])?;
    let port = peer.line()?;
    let stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
    stream.set_nodelay(true)?;
    let stream = DeflateStream::client(stream, Options::window_bits(bits));
    let (mut socket, _) =
        tungstenite::client(format!("ws://127.0.0.1:{port}/"), stream).map_err(|e| e.to_string())?;
    for i in 0..count {
        socket.send(message(i))?;
        if socket.read()? != message(i) {
            return Err(format!("message {i} differs").into());
        }
    }
    socket.close(None)?;
    Ok(socket.get_ref().agreement())
}

/// Our client of tokio-tungstenite at the peer's server, which echoes. It does not wait for an echo before it goes on.
fn ask_by_tokio(command: &[String], bits: u8, count: usize) -> Result<Option<Agreement>> {
    let mut peer = Peer::start(command, &["serve", &bits.to_string()])?;
    let port = peer.line()?;
    runtime()?.block_on(async {
        let stream = tokio::net::TcpStream::connect(format!("127.0.0.1:{port}")).await?;
        stream.set_nodelay(true)?;
        let stream = DeflateStream::client(stream, Options::window_bits(bits));
        let url = format!("ws://127.0.0.1:{port}/");
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await?;
        let agreement = socket.get_ref().agreement();
        let (mut sink, mut echoes) = socket.split();
        let send = async {
            for i in 0..count {
                sink.send(message(i)).await?;
            }
            Result::Ok(())
        };
        let read = async {
            for i in 0..count {
                if echoes.next().await.ok_or("the connection ended")?? != message(i) {
                    return Err(format!("message {i} differs").into());
                }
            }
            Ok(())
        };
        tokio::try_join!(send, read)?;
        sink.close().await?;
        Ok(agreement)
    })
}

/// The peer's client at a server of ours, which echoes one connection.
fn answer(
    serve: fn(TcpListener, Options) -> Result<Option<Agreement>>,
    command: &[String],
    bits: u8,
    count: usize,
) -> Result<Option<Agreement>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("ws://{}/", listener.local_addr()?);
    let server = std::thread::spawn(move || serve(listener, Options::window_bits(bits)));
    let mut peer = Peer::start(command, &["client", &url, &bits.to_string(), &count.to_string()])?;
    let said = peer.line()?;
    if !peer.0.wait()?.success() || !said.contains("permessage-deflate") {
        return Err(format!("the client ended with {said:?}").into());
    }
    server.join().map_err(|_| "the server panicked")?
}

/// Serves by tungstenite.
fn serve(listener: TcpListener, options: Options) -> Result<Option<Agreement>> {
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut socket =
        tungstenite::accept(DeflateStream::server(stream, options)).map_err(|e| e.to_string())?;
    loop {
        match socket.read() {
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => socket.send(message)?,
            Ok(_) => {}
            Err(tungstenite::Error::ConnectionClosed) => return Ok(socket.get_ref().agreement()),
            Err(error) => return Err(error.into()),
        }
    }
}

async fn echo<S>(socket: &mut S) -> Result<()>
where
    S: Stream<Item = tungstenite::Result<Message>> + Sink<Message, Error = tungstenite::Error> + Unpin,
{
    while let Some(message) = socket.next().await {
        let message = message?;
        if message.is_text() || message.is_binary() {
            socket.send(message).await?;
        }
    }
    Ok(())
}

/// Serves by tokio-tungstenite.
fn serve_by_tokio(listener: TcpListener, options: Options) -> Result<Option<Agreement>> {
    listener.set_nonblocking(true)?;
    runtime()?.block_on(async {
        let (stream, _) = tokio::net::TcpListener::from_std(listener)?.accept().await?;
        stream.set_nodelay(true)?;
        let mut socket = tokio_tungstenite::accept_async(DeflateStream::server(stream, options)).await?;
        echo(&mut socket).await?;
        Ok(socket.get_ref().agreement())
    })
}

/// Serves by axum.
fn serve_by_axum(listener: TcpListener, options: Options) -> Result<Option<Agreement>> {
    let (sender, mut results) = mpsc::channel(1);
    let handler = async move |upgrade: WebSocketUpgrade| -> Response {
        upgrade.options(options).on_upgrade(async move |mut socket| {
            let result = echo(&mut socket).await.map(|()| socket.get_ref().agreement());
            let _ = sender.send(result).await;
        })
    };
    listener.set_nonblocking(true)?;
    runtime()?.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let listener = listener.tap_io(|socket| _ = socket.set_nodelay(true));
        tokio::select! {
            served = axum::serve(listener, Router::new().route("/", get(handler))) => Err(served.err().ok_or("not served")?.into()),
            result = results.recv() => result.ok_or("no connection")?,
        }
    })
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, name, command @ ..] = &arguments[..] else {
        return Err("usage: peers MESSAGES NAME COMMAND...".into());
    };
    let count = count.parse()?;
    for role in ["server", "server (tokio)", "client", "client (tokio)", "client (axum)"] {
        for bits in 8..=15 {
            let agreement = match role {
                "server" => ask(command, bits, count),
                "server (tokio)" => ask_by_tokio(command, bits, count),
                "client" => answer(serve, command, bits, count),
                "client (tokio)" => answer(serve_by_tokio, command, bits, count),
                _ => answer(serve_by_axum, command, bits, count),
            };
            let agreement = agreement.map_err(|e| format!("{name} as {role}, {bits} bits: {e}"))?;
            let agreement =
                agreement.ok_or_else(|| format!("{name} as {role}, {bits} bits: not compressed"))?;
            let side = |side: linerate_websocket::Direction| {
                format!("{},{}", side.window_bits, if side.takeover { "kept" } else { "forgotten" })
            };
            println!("{name},{role},{bits},{count},{},{}", side(agreement.server), side(agreement.client));
        }
    }
    Ok(())
}
