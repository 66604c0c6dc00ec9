//! Talks to a websocket library of others, as its client and as its server, with every window; prints a CSV row for each
//! connection. `scripts/websocket-peers.sh` installs the peers and runs this as `peers MESSAGES NAME COMMAND...`; the
//! command is continued by `serve BITS` or by `client URL BITS MESSAGES`.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use linerate_websocket::{Agreement, DeflateStream, Options};
use tungstenite::{Message, WebSocket};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;
type Socket = WebSocket<DeflateStream<TcpStream>>;

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

fn message(i: usize) -> Message {
    if i % 50 == 7 {
        return Message::binary(i.to_le_bytes().repeat(i % 3_000));
    }
    Message::text(format!("{i}: {}", format!("message {} of many, ", i % 13).repeat(i % 90)))
}

/// Our client at the peer's server, which echoes.
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

/// The peer's client at our server, which echoes.
fn answer(command: &[String], bits: u8, count: usize) -> Result<Option<Agreement>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("ws://{}/", listener.local_addr()?);
    let server: JoinHandle<Result<Option<Agreement>>> = std::thread::spawn(move || {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let stream = DeflateStream::server(stream, Options::window_bits(bits));
        let mut socket = tungstenite::accept(stream).map_err(|e| e.to_string())?;
        echo(&mut socket)?;
        Ok(socket.get_ref().agreement())
    });
    let mut peer = Peer::start(command, &["client", &url, &bits.to_string(), &count.to_string()])?;
    let said = peer.line()?;
    if !peer.0.wait()?.success() || !said.contains("permessage-deflate") {
        return Err(format!("the client ended with {said:?}").into());
    }
    server.join().map_err(|_| "the server panicked")?
}

fn echo(socket: &mut Socket) -> Result<()> {
    loop {
        match socket.read() {
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => socket.send(message)?,
            Ok(_) => {}
            Err(tungstenite::Error::ConnectionClosed) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, name, command @ ..] = &arguments[..] else {
        return Err("usage: peers MESSAGES NAME COMMAND...".into());
    };
    let count = count.parse()?;
    for (role, run) in [("server", ask as fn(&[String], u8, usize) -> _), ("client", answer)] {
        for bits in 8..=15 {
            let agreement =
                run(command, bits, count).map_err(|e| format!("{name} as {role}, {bits} bits: {e}"))?;
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
