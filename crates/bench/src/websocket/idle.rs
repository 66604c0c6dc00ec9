//! Resident memory of idle connections, on the loopback interface. Each has sent and received 20
//! messages of about 550 bytes, which fill a window of 8 KiB, and waits. The server is tungstenite
//! with small buffers; another process holds the clients.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use linerate_websocket::{DeflateStream, Options};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

use crate::harness::{process, row};
use crate::kernel::os::{resident, unlimited_files};
use crate::records::Measurement;

const MESSAGES: usize = 20;

/// Measures the memory of `count` connections with windows of several sizes. They are given as
/// base-2 logarithms of bytes; 0 means no compression.
pub(super) fn measure(count: usize) -> Result<Vec<Measurement>, String> {
    let one = |bits: i32| {
        let words = ["websocket", &count.to_string(), &bits.to_string()].map(str::to_owned);
        (row("websocket-idle", "idle connections", "linerate").param("window_bits", bits), words.into())
    };
    process::idle(count, [0, 8, 9, 10, 11, 13, 15].map(one).into())
}

/// Runs one of the child processes: a server, which returns the growth of its resident memory in
/// bytes, or the clients, which return 0.
///
/// # Errors
/// A sentence for the user.
pub fn child(words: &[String]) -> Result<usize, String> {
    unlimited_files();
    let number = |word: &String| word.parse::<usize>().map_err(|e| e.to_string());
    match words {
        [role, address, count, bits] if role == "clients" => {
            clients(address, number(count)?, number(bits)? as u8).map_err(|e| e.to_string()).map(|()| 0)
        }
        [count, bits] => serve(number(count)?, number(bits)? as u8).map_err(|e| e.to_string()),
        _ => Err("a number and window bits are needed".into()),
    }
}

type Failure = Box<dyn std::error::Error>;

/// A configuration with small buffers, since most connections are idle.
fn config() -> WebSocketConfig {
    WebSocketConfig::default().read_buffer_size(512).write_buffer_size(0)
}

fn message(number: usize) -> String {
    let one =
        |i| format!("{{\"user\":{},\"text\":\"{:x}\"}},", (number * 7 + i) % 97, number * i * 2_654_435_761);
    (0..18).map(one).collect()
}

/// Acts as a client: sends each message and expects the same message back.
fn talk<S: Read + Write>(mut socket: WebSocket<S>) -> Result<WebSocket<S>, Failure> {
    for number in 0..MESSAGES {
        socket.send(Message::text(message(number)))?;
        if socket.read()?.to_text()? != message(number) {
            return Err("a different message came back".into());
        }
    }
    Ok(socket)
}

/// Acts as the server: sends each message back.
fn echo<S: Read + Write>(mut socket: WebSocket<S>) -> Result<WebSocket<S>, Failure> {
    for _ in 0..MESSAGES {
        let message = socket.read()?;
        socket.send(message)?;
    }
    Ok(socket)
}

/// Opens `count` connections, exchanges the messages on each, and waits for the end of standard
/// input.
fn clients(address: &str, count: usize, bits: u8) -> Result<(), Failure> {
    let (address, url): (SocketAddr, _) = (address.parse()?, format!("ws://{address}/"));
    let (mut plain, mut compressed) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let stream = TcpStream::connect(address)?;
        if bits == 0 {
            plain.push(talk(tungstenite::client::client_with_config(&url, stream, Some(config()))?.0)?);
        } else {
            let stream = DeflateStream::client(stream, Options::window_bits(bits));
            compressed.push(talk(tungstenite::client::client_with_config(&url, stream, Some(config()))?.0)?);
        }
    }
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Waits for the next connection.
///
/// # Errors
/// An error of the system, or that the clients have ended, so that no connection will come.
fn accept(listener: &TcpListener, clients: &mut Child) -> Result<TcpStream, Failure> {
    loop {
        match listener.accept() {
            Err(e) if e.kind() == ErrorKind::WouldBlock => match clients.try_wait()? {
                Some(status) => return Err(format!("the clients ended early: {status}").into()),
                None => std::thread::sleep(Duration::from_micros(100)),
            },
            accepted => {
                let stream = accepted?.0;
                // On some systems a connection inherits the listener's non-blocking mode.
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
        }
    }
}

fn serve(count: usize, bits: u8) -> Result<usize, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let before = resident().ok_or("the system does not tell")?;
    let address = listener.local_addr()?.to_string();
    let mut command =
        process::this(&["child", "websocket", "clients", &address, &count.to_string(), &bits.to_string()])?;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let (mut plain, mut compressed) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        let stream = accept(&listener, &mut child)?;
        if bits == 0 {
            plain.push(echo(tungstenite::accept_with_config(stream, Some(config()))?)?);
        } else {
            let stream = DeflateStream::server(stream, Options::window_bits(bits));
            compressed.push(echo(tungstenite::accept_with_config(stream, Some(config()))?)?);
        }
    }
    let grown = resident().ok_or("the system does not tell")?.saturating_sub(before);
    drop(child.stdin.take());
    child.wait()?;
    Ok(grown)
}
