//! `linerate gateway replay`: decodes connections, and compares the payloads with those of a file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use linerate_core::Kind;
use linerate_gateway::{Entry, Transport};

use super::decode::{Decoding, Totals};
use super::decoder::PayloadDecoder;
use super::peer_decoder::PeerDecoder;
use super::session_args::SessionArgs;
use super::wire::Wire;
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::format::ratio;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;

const EXAMPLES: &str = "\
Examples:
  linerate gateway replay shard-0.zst
  linerate gateway replay --expect shard-0.msgs shard-0.zlib     compare with these payloads
  linerate gateway replay --check json-sequence recorded.lgwr    check sequence numbers
  linerate gateway replay --json *.zst
  linerate gateway replay --decoder libzstd bad.zst              use another decoder";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct ReplayArgs {
    /// Compare with the length-prefixed payloads of this file
    #[arg(long, value_name = "RAW", value_hint = ValueHint::FilePath)]
    expect: Option<PathBuf>,

    /// Use the decoder of another library
    #[arg(long, value_name = "NAME", value_parser = PeerDecoder::NAMES)]
    decoder: Option<String>,

    #[command(flatten)]
    session: SessionArgs,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Compressed length-prefixed messages, or recordings; `-` is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<ExitCode, String> {
    if args.expect.is_some() && args.files.len() > 1 {
        return Err("--expect takes a single FILE".into());
    }
    if args.decoder.is_some() && args.session.checks() {
        return Err("--check needs linerate's decoder; leave out --decoder".into());
    }
    Ok(Reporter::new(&args.verbosity, false)
        .each(&args.files, |path, reporter| process(args, path, reporter)))
}

fn process(args: &ReplayArgs, path: &Path, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "replay");
    let wire = Wire::open(path, args.session.transport)?
        .with_progress(|len| reporter.progress(&path.display().to_string(), len));
    let Some(transport) = wire.transport else {
        let what = "it holds payloads, so there is nothing to decode; --transport names a compression";
        return Err(CliError::data(Kind::Corrupt, 0, what));
    };
    let (form, words) = (wire.form, wire.words());
    let mut expected = args.expect.as_deref().map(Expected::open).transpose()?;
    let mut decoding = decoding(args, transport, &wire)?;
    let outcome = decoding.run(wire, |message| match &mut expected {
        Some(expected) => expected.compare(message.payload, message.begin),
        None => Ok(()),
    });
    let totals = decoding.totals;
    summary.set("kind", form.name());
    summary.set("transport", transport.name());
    summary.set("decoder", args.decoder.as_deref().unwrap_or("linerate"));
    totals.describe(&mut summary);
    describe(&words, &totals, &mut summary);
    match outcome {
        Ok(()) => {
            if let Some(expected) = expected {
                summary.set("expected", expected.end(&totals)?);
                summary.lines.push("compared     every payload is as expected".into());
            }
        }
        Err(ended) => {
            // The lines with the totals up to the error are printed, but no line about success.
            summary.silent = true;
            summary.text = None;
            ended.report(&path.display().to_string(), &totals, reporter);
        }
    }
    Ok(summary)
}

fn decoding(args: &ReplayArgs, transport: Transport, wire: &Wire) -> Result<Decoding, CliError> {
    let Some(name) = &args.decoder else { return Decoding::new(&args.session, wire) };
    let decoder =
        PeerDecoder::open(name, transport, args.session.max_message()).map_err(CliError::Refused)?;
    Ok(Decoding::with(PayloadDecoder::Peer(Box::new(decoder))))
}

fn describe(words: &str, totals: &Totals, summary: &mut RunSummary) {
    let Totals { messages, frames, connections, compressed, payload, .. } = *totals;
    let per_message = totals.spent.as_secs_f64() * 1e9 / messages.max(1) as f64;
    summary.set("decode_seconds", totals.spent.as_secs_f64());
    summary.set("mb_per_second", totals.speed().round());
    summary.set("ns_per_message", per_message.round());
    summary.set("connection_memory", totals.memory);
    summary.set("thread_memory", totals.scratch);
    summary.set("broken_off", totals.broken_off);
    summary.lines = vec![
        format!("file         {}", summary.file()),
        format!("format       {words}"),
        format!("messages     {messages} in {frames} frames, connections: {connections}"),
        format!("bytes        {compressed} -> {payload}, ratio {:.3}", ratio(payload, compressed)),
        format!("decoded      {:.0} MB/s, {per_message:.0} ns per message", totals.speed()),
        format!("memory       {} bytes per connection, {} per thread", totals.memory, totals.scratch),
    ];
    if totals.broken_off > 0 {
        let line =
            format!("broken off   {} messages, incomplete when their connection ended", totals.broken_off);
        summary.lines.push(line);
    }
    summary.text = Some(format!("OK, {messages} messages, {compressed} -> {payload} bytes"));
}

/// Payloads to compare with.
struct Expected {
    name: String,
    payloads: Wire,
}

impl Expected {
    fn open(path: &Path) -> Result<Expected, CliError> {
        let name = path.display().to_string();
        let payloads = Wire::open(path, None).map_err(|e| e.in_file(&name))?;
        match payloads.transport {
            None => Ok(Expected { name, payloads }),
            Some(transport) => {
                Err(CliError::Refused(format!("{name}: it holds messages of {transport}, not payloads")))
            }
        }
    }

    fn next(&mut self) -> Result<Option<Vec<u8>>, CliError> {
        let entry = self.payloads.next().transpose().map_err(|e| e.in_file(&self.name))?;
        Ok(entry.and_then(|entry| match entry {
            Entry::Frame { wire, .. } => Some(wire),
            Entry::Connection { .. } => None,
        }))
    }

    /// Fails if the next expected payload is not `payload`, that of a message which begins at the
    /// compressed byte `begin`.
    fn compare(&mut self, payload: &[u8], begin: u64) -> Result<(), CliError> {
        let wrong = |what| Err(CliError::data(Kind::Corrupt, begin, what));
        match self.next()? {
            None => wrong("it has more messages than are expected".to_owned()),
            Some(expected) if expected == payload => Ok(()),
            Some(expected) => {
                let same = expected.iter().zip(payload).take_while(|(a, b)| a == b).count();
                wrong(format!(
                    "the payload differs from the expected one at byte {same}; it has {} bytes instead of {}",
                    payload.len(),
                    expected.len()
                ))
            }
        }
    }

    /// Fails if payloads remain after the last message. Returns the name of their file.
    fn end(mut self, totals: &Totals) -> Result<String, CliError> {
        match self.next()? {
            None => Ok(self.name),
            Some(_) => {
                let what = format!("it ends after {} messages, but more are expected", totals.messages);
                Err(CliError::data(Kind::Truncated, totals.compressed, what))
            }
        }
    }
}
