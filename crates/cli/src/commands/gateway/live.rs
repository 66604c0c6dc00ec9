//! Records a live connection to a gateway as messages arrive.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use linerate_gateway::client::{Address, Client, Event};

use super::recording_writer::{RecordingWriter, now};
use super::stream::Stream;
use crate::ui::error::CliError;
use crate::ui::progress::Progress;
use crate::ui::signals::CancelToken;

/// Interval at which signals, limits and heartbeats are checked while no message arrives.
const TICK: Duration = Duration::from_millis(100);

/// When a live recording ends, and the messages to send.
pub(super) struct Plan {
    /// Number of received messages after which the recording ends; `None` for no limit.
    pub(super) messages: Option<u64>,
    /// Time after which the recording ends; `None` for no limit.
    pub(super) duration: Option<Duration>,
    /// Messages to send, each one time: after HELLO or as soon as the program is connected.
    pub(super) lines: Vec<String>,
    /// Whether these messages wait for HELLO, which feeds do not send.
    pub(super) after_hello: bool,
    /// The file with the trusted certificates, instead of the built-in ones.
    pub(super) trusted: Option<PathBuf>,
}

/// Connects, with TLS if the address is `wss://`.
pub(super) fn connect(address: &Address, trusted: Option<&Path>) -> Result<Client<Stream>, CliError> {
    let cannot_connect = || CliError::io("cannot connect");
    let socket = address.connect().map_err(cannot_connect())?;
    let stream = match address.is_secure() {
        true => Stream::encrypted(socket, address.host(), trusted)?,
        false => Stream::Plain(socket),
    };
    let client = Client::handshake(address, stream)
        .map_err(|error| CliError::Refused(format!("no gateway answers at this address: {error}")))?;
    client.stream().socket().set_read_timeout(Some(TICK)).map_err(cannot_connect())?;
    Ok(client)
}

/// Records until the messages or the duration of `plan` are reached, the gateway closes the
/// connection, or a signal arrives. Returns the reason. If messages are counted, an error that ends
/// the stream also ends the recording, since no later message would count.
pub(super) fn record<W: Write>(
    mut client: Client<Stream>,
    plan: &Plan,
    writer: &mut RecordingWriter<W>,
    mut progress: Progress,
) -> Result<String, CliError> {
    let cancel = CancelToken::on_signal();
    let begun = Instant::now();
    let mut waiting = plan.after_hello;
    if !waiting {
        send(&mut client, plan)?;
    }
    let reason = loop {
        progress.update(writer.compressed);
        if cancel.is_cancelled() {
            break "interrupted";
        }
        if plan.duration.is_some_and(|max| begun.elapsed() >= max) {
            break "time";
        }
        let frame = match client.next_event().map_err(lost)? {
            Event::Frame(frame) => frame,
            Event::Idle => continue,
            Event::Closed(code) => {
                return Ok(code.map_or_else(|| "closed".into(), |code| format!("closed, {code}")));
            }
        };
        let payload = writer.frame(now(), frame).map_err(CliError::io("cannot write the recording"))?;
        if payload.is_some_and(|payload| client.observe(payload)) && waiting {
            waiting = false;
            send(&mut client, plan)?;
        }
        if plan.messages.is_some_and(|max| writer.messages >= max) {
            break "messages";
        }
        if plan.messages.is_some()
            && let Some(fault) = writer.take_end()
        {
            client.close();
            return Err(fault);
        }
    };
    client.close();
    Ok(reason.to_owned())
}

/// Sends the messages of the plan.
fn send(client: &mut Client<Stream>, plan: &Plan) -> Result<(), CliError> {
    plan.lines.iter().try_for_each(|line| client.send(line)).map_err(lost)
}

fn lost(error: io::Error) -> CliError {
    CliError::Refused(format!("the connection was lost: {error}"))
}
