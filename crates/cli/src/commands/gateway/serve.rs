//! `linerate gateway serve`: runs a gateway on 127.0.0.1, for tests of clients.

use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueHint;
use linerate_gateway::Messages;
use linerate_gateway_sim::{Events, InjectedFault, Report, Script, Server};
use serde_json::json;

use super::wire::{counted, reading};
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::printer::to_stdout;
use crate::ui::reporter::Reporter;
use crate::ui::signals::CancelToken;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;

const NOTES: &str = "\
Serving:
  The server listens on 127.0.0.1 only. It prints `listening on ws://127.0.0.1:PORT` as its
  first line when clients can connect. It answers /gateway, /gateway/bot and /users/@me below
  /api/v10 over HTTP on the same port, and websockets with compress=zlib-stream,
  compress=zstd-stream or without compression, in JSON or, with encoding=etf, in Erlang's external
  term format. Up to 10,000 clients may be connected at a time. Any token is accepted. The
  HELLO, READY and acknowledgements of the file of --messages are left out; the server's READY
  has the user and the guilds of the file's READY.

Faults:
  N is the sequence number of an event: READY is 1, the first message after it is 2. Each fault is
  injected once per shard, and can be given several times. Events that are sent again after a
  RESUME arrive without the fault.

Examples:
  linerate gateway serve --port 8080
  linerate gateway serve --messages shard-0.msgs --once --json
  linerate gateway serve --close-after 20 --close-after 50:4009    resume, then identify again
  linerate gateway serve --corrupt-at 30 --drop-at 60 --fragment 100 --for 60";

/// Number of file descriptors besides those of connections: the program's own, and those of
/// connections being accepted.
const DESCRIPTORS: usize = 64;

/// Interval at which the end conditions are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct ServeArgs {
    /// The port on 127.0.0.1; 0 chooses a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,

    /// Send the events of this file after READY: payloads in JSON, each after its length (4 bytes,
    /// little-endian). Default: a small guild
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    messages: Option<PathBuf>,

    /// Close after event N, with 4000 or another code
    #[arg(long, value_name = "N[:CODE]", value_parser = close)]
    close_after: Vec<(u64, InjectedFault)>,

    /// End the connection after event N without a close frame
    #[arg(long, value_name = "N")]
    disconnect_after: Vec<u64>,

    /// Ask for a new connection after event N (opcode 7)
    #[arg(long, value_name = "N")]
    reconnect_after: Vec<u64>,

    /// End the session after event N (opcode 9)
    #[arg(long, value_name = "N")]
    invalidate_after: Vec<u64>,

    /// Flip a bit of the compressed event N: bit 1, which decoders detect, or bit BIT
    #[arg(long, value_name = "N[:BIT]", value_parser = flip)]
    corrupt_at: Vec<(u64, InjectedFault)>,

    /// Send only the first half of event N
    #[arg(long, value_name = "N")]
    truncate_at: Vec<u64>,

    /// Compress event N, but do not send it
    #[arg(long, value_name = "N")]
    drop_at: Vec<u64>,

    /// Send payloads in pieces of at most BYTES: as websocket messages for zlib, otherwise as
    /// frames of one message
    #[arg(long, value_name = "BYTES")]
    fragment: Option<NonZeroUsize>,

    /// Send each client this many events per second, instead of as many as it accepts
    #[arg(long, value_name = "N", value_parser = rate)]
    rate: Option<Duration>,

    /// Acknowledge no heartbeats, or none of the first COUNT of each shard
    #[arg(long, value_name = "COUNT", num_args = 0..=1, require_equals = true, default_missing_value = MANY)]
    no_ack: Option<u64>,

    /// Heartbeat interval of HELLO, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 41_250, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    heartbeat: u64,

    /// Stop when all clients have gone: none is connected, and none could resume
    #[arg(long)]
    once: bool,

    /// Stop after this many seconds
    #[arg(long = "for", value_name = "SECONDS", default_value = "3600", value_parser = seconds)]
    time: Duration,

    #[command(flatten)]
    verbosity: VerbosityArgs,
}

/// The value of `--no-ack` without a COUNT: more heartbeats than any client can send.
const MANY: &str = "18446744073709551615";

pub(crate) fn run(args: &ServeArgs) -> Result<ExitCode, String> {
    let cancel = CancelToken::on_signal();
    let name = args.messages.as_deref().unwrap_or(Path::new("gateway"));
    let code =
        Reporter::new(&args.verbosity, false).one(name, |reporter| serve(args, name, reporter, &cancel));
    cancel.exit_if_cancelled();
    Ok(code)
}

fn serve(
    args: &ServeArgs,
    name: &Path,
    reporter: &mut Reporter,
    cancel: &CancelToken,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(name, "serve");
    let mut script = script(args)?;
    raise_descriptor_limit(&mut script, reporter);
    let server = Server::start(script)
        .map_err(CliError::io(format!("cannot listen on port {} of 127.0.0.1", args.port)))?;
    if reporter.is_json() {
        to_stdout(json!({ "status": "listening", "url": server.url(), "port": server.addr.port() }));
    } else {
        to_stdout(format_args!("listening on {}", server.url()));
    }
    while !server.is_finished() && !cancel.is_cancelled() {
        std::thread::sleep(POLL_INTERVAL);
    }
    describe(&server.stop(), &mut summary);
    if args.verbosity.quiet {
        summary.lines.clear();
    }
    Ok(summary)
}

/// Raises the limit of file descriptors to what the connections of the script need. If the system
/// does not permit that, prints a note and accepts fewer connections.
fn raise_descriptor_limit(script: &mut Script, reporter: &mut Reporter) {
    let wanted = script.limits.connections + DESCRIPTORS;
    let allowed = descriptors(wanted);
    if allowed < wanted {
        script.limits.connections = allowed.saturating_sub(DESCRIPTORS).max(1);
        let what = format!(
            "the system allows {allowed} open files, so at most {} connections; `ulimit -Hn` raises the limit",
            script.limits.connections
        );
        reporter.note("gateway serve", &what);
    }
}

/// Raises the soft limit of open files to `wanted`, or to the hard limit if that is lower. Returns
/// the limit that then holds.
#[cfg(unix)]
fn descriptors(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = |limit: Option<u64>| limit.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let (current, maximum) = (most(limit.current), most(limit.maximum));
    if current >= wanted {
        return current;
    }
    let raised = wanted.min(maximum);
    match setrlimit(Resource::Nofile, Rlimit { current: Some(raised as u64), ..limit }) {
        Ok(()) => raised,
        Err(_) => current,
    }
}

/// Elsewhere, as on Windows, no limit of open files holds for sockets.
#[cfg(not(unix))]
fn descriptors(wanted: usize) -> usize {
    wanted
}

fn script(args: &ServeArgs) -> Result<Script, CliError> {
    let mut script = Script::new();
    if let Some(path) = &args.messages {
        script.events = events(path)?;
    }
    script.port = args.port;
    script.fragment = args.fragment;
    script.pause = args.rate.unwrap_or_default();
    script.unacknowledged = args.no_ack.unwrap_or(0);
    script.heartbeat_interval = Duration::from_millis(args.heartbeat);
    script.once = args.once;
    script.max_duration = args.time;
    // Several faults at one event are injected in this order. Those that damage the event come
    // before those that end its connection.
    let at = |numbers: &[u64], fault| numbers.iter().map(move |&n| (n, fault)).collect::<Vec<_>>();
    script.faults = [
        args.corrupt_at.clone(),
        at(&args.truncate_at, InjectedFault::Truncate),
        at(&args.drop_at, InjectedFault::Drop),
        at(&args.invalidate_after, InjectedFault::Invalidate),
        at(&args.reconnect_after, InjectedFault::Reconnect),
        at(&args.disconnect_after, InjectedFault::Disconnect),
        args.close_after.clone(),
    ]
    .concat();
    Ok(script)
}

/// Reads the events of a file of payloads.
fn events(path: &Path) -> Result<Events, CliError> {
    let file = File::open(path).map_err(CliError::io("cannot open"))?;
    let (mut messages, mut begins, mut at) = (Vec::new(), Vec::new(), 0);
    let (file, read) = counted(file);
    for message in Messages::new(file) {
        let message = message.map_err(|error| reading(error, &read))?;
        begins.push(at);
        at += 4 + message.len() as u64;
        messages.push(message);
    }
    Events::new(&messages).map_err(|fault| {
        let what = format!("message {}: {}", fault.message_index, fault.error.message);
        CliError::data(fault.kind(), begins[fault.message_index as usize], what)
    })
}

fn describe(report: &Report, summary: &mut RunSummary) {
    let Report { connections, requests, refused, identifies, resumes, invalid, .. } = *report;
    let Report { heartbeats, commands, events, messages, bytes, compressed, faults, .. } = *report;
    summary.extend(json!({
        "connections": connections,
        "requests": requests,
        "refused": refused,
        "identifies": identifies,
        "resumes": resumes,
        "invalid": invalid,
        "heartbeats": heartbeats,
        "commands": commands,
        "events": events,
        "messages": messages,
        "bytes": bytes,
        "compressed": compressed,
        "problems": faults,
        "closed_by_clients": report.closed_by_clients,
        "closed_by_server": report.closed_by_server,
    }));
    summary.lines = vec![
        format!("connections  {connections}, requests over HTTP: {requests}, refused: {refused}"),
        format!("sessions     {identifies}, resumed: {resumes}, not known: {invalid}"),
        format!("sent         {events} events in {messages} messages, {bytes} bytes as {compressed}"),
        format!("received     {heartbeats} heartbeats, {commands} other messages"),
        format!("problems     {faults}"),
    ];
    summary.text = Some(format!("{events} events to {connections} connections"));
}

/// Parses `N` or `N:VALUE`, as options of faults have them.
fn number_and_value<T: std::str::FromStr>(text: &str) -> Result<(u64, Option<T>), String> {
    let bad = || format!("`{text}` is not N or N:VALUE, with whole numbers");
    let (number, value) = text.split_once(':').map_or((text, None), |(n, value)| (n, Some(value)));
    let value = value.map(|value| value.parse().map_err(|_| bad())).transpose()?;
    Ok((number.parse().map_err(|_| bad())?, value))
}

fn close(text: &str) -> Result<(u64, InjectedFault), String> {
    let (at, code) = number_and_value::<u16>(text)?;
    match code.unwrap_or(4000) {
        code @ (1000 | 1001 | 1011..=1014 | 3000..=4999) => Ok((at, InjectedFault::Close(code))),
        code => Err(format!("a server must not close with the code {code}; use 4000 to 4999")),
    }
}

fn flip(text: &str) -> Result<(u64, InjectedFault), String> {
    let (at, bit) = number_and_value::<usize>(text)?;
    Ok((at, InjectedFault::Flip(bit.unwrap_or(1))))
}

/// Parses a number of events per second. Returns the time between two events.
fn rate(text: &str) -> Result<Duration, String> {
    let per_second = text.parse::<f64>().ok().filter(|&n| n > 0.0);
    let pause = per_second.and_then(|n| Duration::try_from_secs_f64(1.0 / n).ok());
    pause.ok_or_else(|| format!("`{text}` is not a number of events per second above zero"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|&n| n > 0.0 && n <= 1e9);
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("`{text}` is not a number of seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_is_a_number_with_an_optional_code_or_bit() {
        assert_eq!(close("7"), Ok((7, InjectedFault::Close(4000))));
        assert_eq!(close("7:4009"), Ok((7, InjectedFault::Close(4009))));
        assert_eq!(flip("3"), Ok((3, InjectedFault::Flip(1))));
        assert_eq!(flip("3:77"), Ok((3, InjectedFault::Flip(77))));
        for bad in ["", "x", "7:", ":4000", "7:1005", "7:999", "7:70000", "-1"] {
            assert!(close(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rates_and_durations_that_are_not_positive_numbers_are_errors() {
        assert_eq!(rate("200"), Ok(Duration::from_millis(5)));
        assert_eq!(rate("0.5"), Ok(Duration::from_secs(2)));
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["0", "-1", "x", "nan", "inf", "1e-30", ""] {
            assert!(rate(bad).is_err() || bad == "inf", "{bad}");
            assert!(seconds(bad).is_err() || bad == "1e-30", "{bad}");
        }
    }
}
