//! Exchanges messages with a websocket library of others, as its client and as its server, with
//! every window, over tungstenite on blocking sockets, tokio-tungstenite and axum. Each combination
//! makes four connections: with takeover and without, with prepared messages remembered and
//! forgotten. About half of the messages for the peer are prepared; the seed of the connection
//! decides which. Each combination prints a CSV row. `scripts/websocket-peers.sh` installs the
//! peers and runs this program as `peers MESSAGES NAME COMMAND...`, which appends `serve BITS` or
//! `client URL BITS MESSAGES` to the command.

use std::error::Error;
use std::future::poll_fn;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::task::Poll;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use axum::serve::ListenerExt;
use futures_util::{SinkExt, StreamExt};
use linerate_testkit::data::Noise;
use linerate_websocket::{Agreement, DeflateStream, Direction, Options, Prepared, Role, WebSocketUpgrade};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tungstenite::{Message, WebSocket};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A program with a websocket library of others, which is killed when this is dropped.
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

/// Returns message number `i`. Some are larger than the buffers of websocket libraries and
/// incompressible.
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

/// One connection: bits of the windows, the options of Linerate's side, the seed that decides which
/// messages are prepared, and how many messages pass each way.
#[derive(Clone)]
struct Case {
    bits: u8,
    options: Options,
    seed: u64,
    count: usize,
}

impl Case {
    /// The four connections with windows of 2^`bits` bytes.
    fn all(bits: u8, count: usize) -> impl Iterator<Item = Case> {
        let settings = [(true, true), (true, false), (false, true), (false, false)];
        settings.into_iter().zip(0..).map(move |((takeover, remember_prepared), i)| {
            let direction = Direction { window_bits: bits, takeover };
            let options = Options { remember_prepared, ..Options::default() };
            let options = Options { encoder: direction, decoder: direction, ..options };
            Case { bits, options, seed: 4 * u64::from(bits) + i, count }
        })
    }
}

/// The outcome of a connection: the agreement, and how many messages for the peer were prepared.
type Done = (Option<Agreement>, usize);

/// Draws which messages for the peer are prepared: each with a probability of one half.
struct Order {
    noise: Noise,
    prepared: usize,
}

impl Order {
    fn new(case: &Case) -> Self {
        Order { noise: Noise::new(case.seed), prepared: 0 }
    }

    /// Prepares the message, or returns it to be sent as an ordinary one.
    fn draw(&mut self, message: Message) -> std::result::Result<Prepared, Message> {
        if self.noise.below(2) == 0 {
            return Err(message);
        }
        self.prepared += 1;
        Ok(match &message {
            Message::Text(text) => Prepared::text(text),
            message => Prepared::binary(&message.clone().into_data()),
        })
    }
}

fn send<S: Read + Write>(
    socket: &mut WebSocket<DeflateStream<S>>,
    order: &mut Order,
    message: Message,
) -> Result<()> {
    match order.draw(message) {
        Ok(prepared) => {
            socket.get_mut().queue(&prepared)?;
            socket.flush()?;
        }
        Err(message) => socket.send(message)?,
    }
    Ok(())
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_io().build()?)
}

/// Connects a client of tungstenite over Linerate to the peer's server, which echoes.
fn ask(command: &[String], case: Case) -> Result<Done> {
    let mut peer = Peer::start(command, &["serve", &case.bits.to_string()])?;
    let port = peer.line()?;
    let mut order = Order::new(&case);
    let stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
    stream.set_nodelay(true)?;
    let stream = DeflateStream::client(stream, case.options);
    let (mut socket, _) =
        tungstenite::client(format!("ws://127.0.0.1:{port}/"), stream).map_err(|e| e.to_string())?;
    for i in 0..case.count {
        send(&mut socket, &mut order, message(i))?;
        if socket.read()? != message(i) {
            return Err(format!("message {i} differs").into());
        }
    }
    socket.close(None)?;
    Ok((socket.get_ref().agreement(), order.prepared))
}

/// Connects a client of tokio-tungstenite over Linerate to the peer's server, which echoes. The
/// client does not wait for an echo before it sends the next message.
fn ask_by_tokio(command: &[String], case: Case) -> Result<Done> {
    let mut peer = Peer::start(command, &["serve", &case.bits.to_string()])?;
    let port = peer.line()?;
    let mut order = Order::new(&case);
    runtime()?.block_on(async {
        let stream = tokio::net::TcpStream::connect(format!("127.0.0.1:{port}")).await?;
        stream.set_nodelay(true)?;
        let stream = DeflateStream::client(stream, case.options);
        let url = format!("ws://127.0.0.1:{port}/");
        let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await?;
        let agreement = socket.get_ref().agreement();
        let (mut sent, mut received) = (0, 0);
        let exchange = poll_fn(|cx| {
            while received < case.count {
                // Flushes first: a prepared message would overtake messages that the library has
                // not yet written.
                let is_ready =
                    socket.poll_flush_unpin(cx)?.is_ready() && socket.poll_ready_unpin(cx)?.is_ready();
                if is_ready && sent < case.count {
                    match order.draw(message(sent)) {
                        Ok(prepared) => socket.get_mut().queue(&prepared)?,
                        Err(message) => socket.start_send_unpin(message)?,
                    }
                    sent += 1;
                    continue;
                }
                match std::task::ready!(socket.poll_next_unpin(cx)?) {
                    Some(echo) if echo == message(received) => received += 1,
                    Some(_) => return Poll::Ready(Err(format!("message {received} differs").into())),
                    None => return Poll::Ready(Err("the connection ended".into())),
                }
            }
            Poll::Ready(Result::Ok(()))
        });
        exchange.await?;
        socket.close(None).await?;
        Ok((agreement, order.prepared))
    })
}

/// Connects the peer's client to the server `serve`, which echoes the messages of one connection.
fn answer(serve: fn(TcpListener, Case) -> Result<Done>, command: &[String], case: Case) -> Result<Done> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("ws://{}/", listener.local_addr()?);
    let (bits, count) = (case.bits.to_string(), case.count.to_string());
    let server = std::thread::spawn(move || serve(listener, case));
    let mut peer = Peer::start(command, &["client", &url, &bits, &count])?;
    let said = peer.line()?;
    if !peer.0.wait()?.success() || !said.contains("permessage-deflate") {
        return Err(format!("the client ended with {said:?}").into());
    }
    server.join().map_err(|_| "the server panicked")?
}

/// Echoes the messages of one connection, by tungstenite over Linerate.
fn serve(listener: TcpListener, case: Case) -> Result<Done> {
    let mut order = Order::new(&case);
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut socket =
        tungstenite::accept(DeflateStream::server(stream, case.options)).map_err(|e| e.to_string())?;
    loop {
        match socket.read() {
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => send(&mut socket, &mut order, message)?,
            Ok(_) => {}
            Err(tungstenite::Error::ConnectionClosed) => {
                return Ok((socket.get_ref().agreement(), order.prepared));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

async fn echo<S>(socket: &mut WebSocketStream<DeflateStream<S>>, case: &Case) -> Result<Done>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut order = Order::new(case);
    while let Some(message) = socket.next().await {
        let message = message?;
        if message.is_text() || message.is_binary() {
            match order.draw(message) {
                Ok(prepared) => {
                    socket.get_mut().queue(&prepared)?;
                    socket.flush().await?;
                }
                Err(message) => socket.send(message).await?,
            }
        }
    }
    Ok((socket.get_ref().agreement(), order.prepared))
}

/// Echoes the messages of one connection, by tokio-tungstenite over Linerate.
fn serve_by_tokio(listener: TcpListener, case: Case) -> Result<Done> {
    listener.set_nonblocking(true)?;
    runtime()?.block_on(async {
        let (stream, _) = tokio::net::TcpListener::from_std(listener)?.accept().await?;
        stream.set_nodelay(true)?;
        let stream = DeflateStream::server(stream, case.options.clone());
        let mut socket = tokio_tungstenite::accept_async(stream).await?;
        echo(&mut socket, &case).await
    })
}

/// Echoes the messages of one connection, by axum over Linerate.
fn serve_by_axum(listener: TcpListener, case: Case) -> Result<Done> {
    let (sender, mut results) = mpsc::channel(1);
    let handler = async move |upgrade: WebSocketUpgrade| -> Response {
        upgrade.options(case.options.clone()).on_upgrade(async move |mut socket| {
            let result = echo(&mut socket, &case).await;
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

/// Runs the connections with a peer in this role and windows of 2^`bits` bytes. Returns what was
/// agreed on with takeover, and how many messages were prepared in all.
fn all_cases(command: &[String], role: &str, bits: u8, count: usize) -> Result<(Agreement, usize)> {
    let own = if role.starts_with("server") { Role::Client } else { Role::Server };
    let (mut agreed, mut all_prepared) = (None, 0);
    for case in Case::all(bits, count) {
        let takeover = case.options.encoder.takeover;
        let (agreement, prepared) = match role {
            "server" => ask(command, case),
            "server (tokio)" => ask_by_tokio(command, case),
            "client" => answer(serve, command, case),
            "client (tokio)" => answer(serve_by_tokio, command, case),
            _ => answer(serve_by_axum, command, case),
        }?;
        let agreement = agreement.ok_or("not compressed")?;
        if !takeover && agreement.encoder(own).takeover {
            return Err("takeover was agreed on, which our side does not allow".into());
        }
        if takeover && *agreed.get_or_insert(agreement) != agreement {
            return Err("the agreement depends on whether prepared messages are remembered".into());
        }
        all_prepared += prepared;
    }
    Ok((agreed.ok_or("no connection")?, all_prepared))
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, name, command @ ..] = &arguments[..] else {
        return Err("usage: peers MESSAGES NAME COMMAND...".into());
    };
    let count = count.parse()?;
    for role in ["server", "server (tokio)", "client", "client (tokio)", "client (axum)"] {
        for bits in 8..=15 {
            let (agreement, prepared) = all_cases(command, role, bits, count)
                .map_err(|e| format!("{name} as {role}, {bits} bits: {e}"))?;
            let side = |side: Direction| {
                format!("{},{}", side.window_bits, if side.takeover { "kept" } else { "forgotten" })
            };
            let (server, client) = (side(agreement.server), side(agreement.client));
            println!("{name},{role},{bits},{count},{prepared},{server},{client}");
        }
    }
    Ok(())
}
