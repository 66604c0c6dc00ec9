//! Resident memory of idle connections, on loopback in one process: `idle [CONNECTIONS]`. Each connection has sent and received
//! 20 messages of some 600 bytes. A second process is the clients. Prints a CSV row for each size of window, with that of
//! connections without compression, which are the library's own buffers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use linerate_websocket::{DeflateStream, Options};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

type Failure = Box<dyn std::error::Error>;

const MESSAGES: usize = 20;

/// Small buffers, since most connections are idle.
fn config() -> WebSocketConfig {
    WebSocketConfig::default().read_buffer_size(512).write_buffer_size(0)
}

fn message(number: usize) -> String {
    let one =
        |i| format!("{{\"user\":{},\"text\":\"{:x}\"}},", (number * 7 + i) % 97, number * i * 2_654_435_761);
    (0..18).map(one).collect()
}

/// Says each message and expects it back.
fn talk<S: Read + Write>(mut socket: WebSocket<S>) -> Result<WebSocket<S>, Failure> {
    for number in 0..MESSAGES {
        socket.send(Message::text(message(number)))?;
        assert_eq!(socket.read()?.to_text()?, message(number));
    }
    Ok(socket)
}

/// Gives back each message.
fn echo<S: Read + Write>(mut socket: WebSocket<S>) -> Result<WebSocket<S>, Failure> {
    for _ in 0..MESSAGES {
        let message = socket.read()?;
        socket.send(message)?;
    }
    Ok(socket)
}

/// The other process: connects, talks, and waits for the end of standard input.
fn clients(address: SocketAddr, count: usize, bits: u8) -> Result<(), Failure> {
    let url = format!("ws://{address}/");
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

/// Resident bytes of this process.
fn resident() -> Result<usize, Failure> {
    let status = std::fs::read_to_string("/proc/self/statm")?;
    let pages: usize = status.split(' ').nth(1).ok_or("statm has no second field")?.parse()?;
    Ok(pages * rustix::param::page_size())
}

fn spawn_clients(address: SocketAddr, count: usize, bits: u8) -> Result<Child, Failure> {
    let program = std::env::current_exe()?;
    let args = [address.to_string(), count.to_string(), bits.to_string()];
    Ok(Command::new(program).arg("clients").args(args).stdin(Stdio::piped()).spawn()?)
}

/// Serves connections and returns the growth of resident memory, in bytes.
fn serve(count: usize, bits: u8) -> Result<usize, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let before = resident()?;
    let mut child = spawn_clients(listener.local_addr()?, count, bits)?;
    let (mut plain, mut compressed) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        let stream = listener.accept()?.0;
        if bits == 0 {
            plain.push(echo(tungstenite::accept_with_config(stream, Some(config()))?)?);
        } else {
            let stream = DeflateStream::server(stream, Options::window_bits(bits));
            compressed.push(echo(tungstenite::accept_with_config(stream, Some(config()))?)?);
        }
    }
    let grown = resident()?.saturating_sub(before);
    drop(child.stdin.take());
    child.wait()?;
    Ok(grown)
}

/// Each size of window in a process of its own, so that none finds memory that another has freed.
fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
    match &args[..] {
        [role, address, count, bits] if role == "clients" => {
            clients(address.parse()?, count.parse()?, bits.parse()?)
        }
        [role, count, bits] if role == "serve" => {
            println!("{}", serve(count.parse()?, bits.parse()?)?);
            Ok(())
        }
        _ => {
            let count: usize = args.first().map_or(Ok(10_000), |count| count.parse())?;
            println!("connections,window_bits,resident_bytes,bytes_per_connection");
            for bits in [0_u8, 8, 9, 10, 11, 13, 15] {
                let program = std::env::current_exe()?;
                let output = Command::new(program)
                    .args(["serve", &count.to_string(), &bits.to_string()])
                    .stderr(Stdio::inherit())
                    .output()?;
                let bytes: usize = String::from_utf8(output.stdout)?.trim().parse()?;
                println!("{count},{bits},{bytes},{}", bytes / count);
            }
            Ok(())
        }
    }
}
