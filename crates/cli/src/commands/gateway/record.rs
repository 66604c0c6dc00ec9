//! `linerate gateway record`: makes recordings from files, from standard input and from live
//! connections.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueHint;
use linerate_gateway::client::Address;
use linerate_gateway::{Entry, Transport};

use super::live;
use super::recording_writer::{RecordingWriter, now};
use super::session_args::SessionArgs;
use super::wire::Wire;
use crate::ui::error::CliError;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, inputs, output, output_args, size};

const EXAMPLES: &str = "\
Examples:
  linerate gateway record shard-0.zst -o shard-0.lgwr
  tee-of-messages | linerate gateway record - -o now.lgwr             adds the time of each message
  linerate gateway record 'ws://127.0.0.1:9000/?compress=zstd-stream' \\
      --send identify.json --for 60 -o live.lgwr
  linerate gateway record 'wss://gateway.example/?compress=zstd-stream' \\
      --send identify.json --messages 1000 -o live.lgwr
  linerate gateway record 'wss://feed.example/' --transport zstd-frame \\
      -D feed.dict --for 60 -o feed.lgwr

Private content:
  A recording contains private messages. On Unix only the owner of the file may read it (mode
  0600). Do not share it.

Live connections:
  wss:// is encrypted, ws:// is not. Certificates are checked against Mozilla's list, which is
  built in, or against those of --cacert. Each line of the file of --send is sent to the gateway
  after HELLO. Send an IDENTIFY or RESUME: without one a gateway sends little more than HELLO. To
  a feed, whose messages are compressed each on its own, the lines are sent at once. Heartbeats
  are sent at the interval of HELLO. Both are JSON, so a gateway's address with encoding=etf is
  refused. Ctrl-C, --for, --messages or the gateway ends the recording.
  The file grows as messages arrive, and is kept however the connection ends. The same is true of
  the recording of standard input.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct RecordArgs {
    #[arg(short = 'o', long, value_name = "FILE", help = output_args::RECORDING, value_hint = ValueHint::FilePath)]
    output: PathBuf,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    force: bool,

    /// Stop after this many complete messages, or at an error that ends the stream of a gateway; K
    /// and M mean thousands and millions
    #[arg(long, value_name = "N", value_parser = size::count(1..=u64::MAX))]
    messages: Option<u64>,

    /// Stop a live connection after this many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,

    /// Send each line of FILE to a live gateway after its HELLO, or to a feed at once
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    send: Option<PathBuf>,

    /// Trust the certificates of FILE (PEM) for wss://, instead of the built-in ones
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide = cfg!(not(feature = "remote")))]
    cacert: Option<PathBuf>,

    #[command(flatten)]
    session: SessionArgs,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Compressed length-prefixed messages, a recording, `-` for standard input, or the ws://
    /// or wss:// address of a gateway or feed
    #[arg(value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    source: PathBuf,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

pub(crate) fn run(args: &RecordArgs) -> Result<ExitCode, String> {
    let address = match args.source.to_str().filter(|source| source.contains("://")) {
        Some(source) => {
            let address = Address::parse(source, args.session.transport);
            let address = address.map_err(|error| format!("{source}: {}", error.message))?;
            let is_etf = address.url().split(['?', '&']).any(|parameter| parameter == "encoding=etf");
            if is_etf && address.transport().is_stream() {
                return Err(format!(
                    "{source}: heartbeats and the lines of --send are JSON, which a gateway does not take with \
                     encoding=etf; record with encoding=json"
                ));
            }
            Some(address)
        }
        None if args.duration.is_some() || args.send.is_some() => {
            return Err("--for and --send need a ws:// or wss:// address".into());
        }
        None => None,
    };
    if args.cacert.is_some() && !address.as_ref().is_some_and(Address::is_secure) {
        return Err("--cacert needs a wss:// address".into());
    }
    let reporter = Reporter::new(&args.verbosity, output_args::is_stdout(&args.output));
    Ok(reporter.one(&args.source, |reporter| match &address {
        Some(address) => record_live(args, address, reporter),
        None => record_file(args, reporter),
    }))
}

fn record_file(args: &RecordArgs, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.source, "record");
    let name = args.source.display().to_string();
    let wire =
        Wire::open(&args.source, args.session.transport)?.with_progress(|len| reporter.progress(&name, len));
    let Some(transport) = wire.transport else {
        let what = "it holds payloads; `linerate gateway transcode` compresses them".into();
        return Err(CliError::Refused(what));
    };
    if args.source == Path::new("-") {
        record_pipe(args, wire, transport, reporter, &mut summary)?;
        return Ok(summary);
    }
    let writing = || write_error(&args.output);
    let session = args.session.session(transport)?;
    let mut output = output_args::open(&args.output, args.force)?;
    output.keep_private();
    let out = BufWriter::with_capacity(256 << 10, output);
    let mut writer = RecordingWriter::new(out, session).map_err(writing())?;
    copy(args, wire, &mut writer, |time| time)?;
    describe(&writer, transport, args, reporter, &mut summary);
    let (output, _) = writer.recorder.finish().map_err(writing())?.into_parts();
    output.commit()?;
    Ok(summary)
}

/// Records standard input. Messages without a time get the current time. Those before an error of
/// the input are kept.
fn record_pipe(
    args: &RecordArgs,
    wire: Wire,
    transport: Transport,
    reporter: &mut Reporter,
    summary: &mut RunSummary,
) -> Result<(), CliError> {
    let writing = || write_error(&args.output);
    let session = args.session.session(transport)?;
    let file = private(&args.output, args.force)?;
    let mut writer = RecordingWriter::new(file, session).map_err(writing())?;
    let outcome = copy(args, wire, &mut writer, |time| if time == 0 { now() } else { time });
    describe(&writer, transport, args, reporter, summary);
    writer.recorder.finish().map_err(writing())?;
    outcome
}

/// Copies the entries of `wire` to the recording, until it has as many messages as `--messages`
/// says. `time_of` maps the time of each websocket message, which is 0 if unknown.
fn copy<W: Write>(
    args: &RecordArgs,
    wire: Wire,
    writer: &mut RecordingWriter<W>,
    time_of: impl Fn(i64) -> i64,
) -> Result<(), CliError> {
    let writing = || write_error(&args.output);
    for entry in wire {
        match entry? {
            Entry::Connection { time } => writer.reconnected(time).map_err(writing())?,
            Entry::Frame { time, wire, .. } => {
                writer.frame(time_of(time), wire).map_err(writing())?;
            }
        }
        if args.messages.is_some_and(|most| writer.messages >= most) {
            break;
        }
    }
    Ok(())
}

fn record_live(
    args: &RecordArgs,
    address: &Address,
    reporter: &mut Reporter,
) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.source, "record");
    args.send.iter().chain(&args.cacert).for_each(|path| inputs::keep(path));
    let lines = args.send.as_deref().map(std::fs::read_to_string).transpose();
    let lines = lines.map_err(CliError::io("cannot read the file of --send"))?.unwrap_or_default();
    let plan = live::Plan {
        messages: args.messages,
        duration: args.duration,
        lines: lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        after_hello: address.transport().is_stream(),
        trusted: args.cacert.clone(),
    };
    let session = args.session.session(address.transport())?;
    let client = live::connect(address, plan.trusted.as_deref())?;
    let writing = || write_error(&args.output);
    let file = private(&args.output, args.force)?;
    let mut writer = RecordingWriter::new(file, session).map_err(writing())?;
    let progress = reporter.progress(&args.source.display().to_string(), None);
    let outcome = live::record(client, &plan, &mut writer, progress);
    // The recording is valid however the connection ended.
    describe(&writer, address.transport(), args, reporter, &mut summary);
    writer.recorder.finish().map_err(writing())?;
    summary.set("end", outcome?);
    Ok(summary)
}

/// Creates a file that, on Unix, only its owner may read. The file has its final name from the
/// beginning, so that messages recorded before an error are kept. A device or a FIFO is written to
/// directly, and `-` is standard output.
fn private(path: &Path, force: bool) -> Result<File, CliError> {
    if output_args::is_stdout(path) {
        return output::stdout();
    }
    inputs::refuse(path)?;
    let mut options = OpenOptions::new();
    options.write(true);
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return options.open(path).map_err(CliError::io_at("cannot open", path));
    }
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            CliError::Refused(format!("{} exists already; -f overwrites it", path.display()))
        }
        _ => CliError::io_at("cannot create", path)(error),
    })?;
    #[cfg(unix)]
    if file.metadata().is_ok_and(|meta| meta.is_file()) {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        file.set_permissions(mode).map_err(CliError::io_at("cannot protect", path))?;
    }
    Ok(file)
}

/// Converts an error of writing the recording. A closed pipe ends the program without a message.
fn write_error(path: &Path) -> impl Fn(io::Error) -> CliError + '_ {
    move |error| match output_args::is_stdout(path) {
        true => CliError::stdout_write(error),
        false => CliError::io_at("cannot write", path)(error),
    }
}

fn describe<W>(
    writer: &RecordingWriter<W>,
    transport: Transport,
    args: &RecordArgs,
    reporter: &mut Reporter,
    summary: &mut RunSummary,
) {
    let RecordingWriter { messages, frames, compressed, payload, .. } = *writer;
    if let Some(fault) = &writer.fault {
        let what = format!("messages from here on are recorded but not decoded: {fault}");
        reporter.warn(&args.source.display().to_string(), &what);
    }
    summary.set("transport", transport.name());
    summary.set("messages", messages);
    summary.set("frames", frames);
    summary.set("compressed_bytes", compressed);
    summary.set("payload_bytes", payload);
    summary.set("fault", writer.fault.as_ref().map(ToString::to_string));
    summary.output = Some(args.output.clone());
    summary.text = Some(format!("{messages} messages in {frames} frames, {compressed} bytes of {transport}"));
}
