//! Tests the client and the server of soketto with our extension.

use std::io::{Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use linerate_websocket::{DeflateStream, Extension, Options, Prepared};
use soketto::handshake::{Client, Server, ServerResponse, server::Response};
use tungstenite::Message;

use crate::common::{chat, noise};

/// A blocking socket behind the asynchronous traits, so it is always ready.
struct Blocking(TcpStream);

impl AsyncRead for Blocking {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<usize>> {
        Poll::Ready(self.0.read(buf))
    }
}

impl AsyncWrite for Blocking {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        Poll::Ready(self.0.write(buf))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(self.0.shutdown(std::net::Shutdown::Both))
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

/// Echoes the messages of one connection.
async fn echo(socket: TcpStream, options: Options) {
    let mut server = Server::new(Blocking(socket));
    server.add_extension(Box::new(Extension::server(options)));
    let key = server.receive_request().await.expect("a request").key();
    server.send_response(&Response::Accept { key, protocol: None }).await.expect("sent");
    let (mut sender, mut receiver) = server.into_builder().finish();
    loop {
        let mut message = Vec::new();
        let Ok(kind) = receiver.receive_data(&mut message).await else { return };
        if kind.is_text() {
            sender.send_text(std::str::from_utf8(&message).expect("text")).await.expect("sent");
        } else {
            sender.send_binary(&message).await.expect("sent");
        }
        sender.flush().await.expect("sent");
    }
}

fn serve(options: Options) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (socket, _) = listener.accept().expect("a client");
        socket.set_nodelay(true).expect("an option");
        run(echo(socket, options));
    });
    address
}

fn connect(address: std::net::SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).expect("connected");
    socket.set_nodelay(true).expect("an option");
    socket
}

fn payloads() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..50).map(|i| chat(i).into_bytes()).collect();
    all.extend([
        Vec::new(),
        noise(500),
        (0..3_000).flat_map(|i| chat(i).into_bytes()).collect(),
        chat(0).into_bytes(),
    ]);
    all
}

#[test]
fn tungstenite_and_a_server_of_soketto_understand_each_other() {
    for bits in [9, 12, 15] {
        let address = serve(Options::window_bits(bits));
        let stream = DeflateStream::client(connect(address), Options::default());
        let (mut socket, _) = tungstenite::client(format!("ws://{address}/"), stream).expect("upgraded");
        let agreement = socket.get_ref().agreement().expect("an agreement");
        assert_eq!((agreement.server.window_bits, agreement.client.window_bits), (bits, bits));
        for payload in payloads() {
            socket.send(Message::binary(payload.clone())).expect("sent");
            assert_eq!(socket.read().expect("a message"), Message::binary(payload));
        }
    }
}

#[test]
fn a_client_and_a_server_of_soketto_understand_each_other() {
    for bits in [8, 11, 15] {
        let address = serve(Options::default());
        run(async {
            let socket = Blocking(connect(address));
            let host = address.to_string();
            let mut client = Client::new(socket, &host, "/");
            client.add_extension(Box::new(Extension::client(Options::window_bits(bits))));
            let ServerResponse::Accepted { .. } = client.handshake().await.expect("a response") else {
                panic!("refused");
            };
            let (mut sender, mut receiver) = client.into_builder().finish();
            for payload in payloads() {
                sender.send_binary(&payload).await.expect("sent");
                sender.flush().await.expect("sent");
                let mut message = Vec::new();
                receiver.receive_data(&mut message).await.expect("a message");
                assert!(message == payload);
            }
        });
    }
}

#[test]
fn a_client_of_soketto_understands_prepared_messages() {
    for (bits, remember_prepared) in [(8, true), (11, false), (15, true)] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = std::thread::spawn(move || {
            let (socket, _) = listener.accept().expect("a client");
            let options = Options { remember_prepared, ..Options::default() };
            let mut socket = tungstenite::accept(DeflateStream::server(socket, options)).expect("upgraded");
            for (i, payload) in payloads().into_iter().enumerate() {
                if i % 3 == 0 {
                    socket.send(Message::binary(payload)).expect("sent");
                } else {
                    socket.get_mut().queue(&Prepared::binary(&payload)).expect("after the handshake");
                    socket.flush().expect("sent");
                }
            }
        });
        run(async {
            let host = address.to_string();
            let mut client = Client::new(Blocking(connect(address)), &host, "/");
            client.add_extension(Box::new(Extension::client(Options::window_bits(bits))));
            let ServerResponse::Accepted { .. } = client.handshake().await.expect("a response") else {
                panic!("refused");
            };
            let (_, mut receiver) = client.into_builder().finish();
            for payload in payloads() {
                let mut message = Vec::new();
                receiver.receive_data(&mut message).await.expect("a message");
                assert!(message == payload);
            }
        });
        server.join().expect("everything is sent");
    }
}
