//! `linerate gateway transcode`: compresses a connection with another transport.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ValueEnum, ValueHint};
use linerate_gateway::{Encoder, Entry, Recorder, Transport, write_message};

use super::decode::{Decoded, Decoding, Ended};
use super::session_args::SessionArgs;
use super::wire::{Form, Wire, fault};
use crate::ui::error::CliError;
use crate::ui::format::ratio;
use crate::ui::output::Output;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, output_args};

const EXAMPLES: &str = "\
Examples:
  linerate gateway transcode --to zstd-stream shard-0.zlib -o shard-0.zst
  linerate gateway transcode --to payloads shard-0.zst -o shard-0.msgs
  linerate gateway transcode --to zlib-stream recorded.lgwr -o other.lgwr    times are kept

Settings:
  Those of gateways: zlib level 6, or zstd level 7 with a window of 64 KiB and tables of 2^15.
  A recording becomes a recording; payloads are always length-prefixed messages. Output
  made from a recording can be read only by its owner.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct TranscodeArgs {
    /// Format of the output
    #[arg(long, value_enum, value_name = "WHAT")]
    to: To,

    #[arg(short = 'o', long, value_name = "FILE", help = output_args::STREAM, value_hint = ValueHint::FilePath)]
    output: PathBuf,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    force: bool,

    #[command(flatten)]
    session: SessionArgs,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Length-prefixed messages, compressed or not, or a recording; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    ZlibStream,
    ZstdStream,
    Payloads,
}

impl To {
    fn transport(self) -> Option<Transport> {
        match self {
            To::ZlibStream => Some(Transport::Zlib),
            To::ZstdStream => Some(Transport::Zstd),
            To::Payloads => None,
        }
    }
}

pub(crate) fn run(args: &TranscodeArgs) -> ExitCode {
    Reporter::new(&args.verbosity, output_args::is_stdout(&args.output))
        .one(&args.file, |reporter| process(args, reporter))
}

fn process(args: &TranscodeArgs, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.file, "transcode");
    let wire = Wire::open(&args.file, args.session.transport)?;
    let from = wire.transport;
    let form = if args.to == To::Payloads { Form::Messages } else { wire.form };
    // The content of a recording stays private.
    let private = wire.form == Form::Recording;
    let mut writer = Writer::new(args, form, private)?;
    let mut decoding = Decoding::new(&args.session, &wire);
    let outcome = decoding.run(wire, |message| writer.add(message));
    let totals = decoding.totals;
    match outcome {
        // The incomplete output is discarded.
        Err(Ended::Otherwise(error)) => return Err(error),
        Err(ended) => {
            summary.silent = true;
            ended.report(&args.file.display().to_string(), &totals, reporter);
            return Ok(summary);
        }
        Ok(()) => {}
    }
    let written = writer.finish()?;
    totals.describe(&mut summary);
    summary.set("kind", form.name());
    summary.set("from", from.map(Transport::name));
    summary.set("to", args.to.transport().map(Transport::name));
    summary.set("written_bytes", written);
    summary.output = Some(args.output.clone());
    summary.bytes = totals.payload;
    summary.text = Some(format!(
        "{} messages, {} bytes -> {written}, ratio {:.3}",
        totals.messages,
        if from.is_some() { totals.compressed } else { totals.payload },
        ratio(totals.payload, written)
    ));
    Ok(summary)
}

/// Writes messages in the format of the output.
struct Writer {
    transport: Option<Transport>,
    encoder: Option<Encoder>,
    connection: u64,
    sink: Sink,
    /// Bytes of messages, without lengths and times.
    written: u64,
}

enum Sink {
    Messages(BufWriter<Output>),
    Recording(Recorder<BufWriter<Output>>),
}

impl Writer {
    fn new(args: &TranscodeArgs, form: Form, private: bool) -> Result<Writer, CliError> {
        let transport = args.to.transport();
        let encoder = transport.map(Encoder::new).transpose().map_err(fault)?;
        let mut output = output_args::open(&args.output, args.force)?;
        if private {
            output.keep_private();
        }
        let out = BufWriter::with_capacity(256 << 10, output);
        let sink = match (form, transport) {
            (Form::Recording, Some(transport)) => {
                Sink::Recording(Recorder::new(out, transport).map_err(writing(&args.output))?)
            }
            _ => Sink::Messages(out),
        };
        Ok(Writer { transport, encoder, connection: 0, sink, written: 0 })
    }

    fn add(&mut self, message: &Decoded<'_>) -> Result<(), CliError> {
        if std::mem::replace(&mut self.connection, message.connection) != message.connection {
            self.encoder = self.transport.map(Encoder::new).transpose().map_err(fault)?;
            if let Sink::Recording(recorder) = &mut self.sink {
                let time = message.connected.unwrap_or(0);
                recorder.add(&Entry::Connection { time }).map_err(CliError::io("cannot write"))?;
            }
        }
        let mut made = Vec::new();
        let wire = match &mut self.encoder {
            None => message.payload,
            Some(encoder) => {
                encoder.message(message.payload, &mut made).map_err(fault)?;
                &made
            }
        };
        self.written += wire.len() as u64;
        match &mut self.sink {
            Sink::Messages(out) => write_message(&mut *out, wire).map_err(|e| out.get_ref().error(e)),
            Sink::Recording(recorder) => {
                let payload = u32::try_from(message.payload.len()).ok();
                let entry = Entry::Frame { time: message.time.unwrap_or(0), payload, wire: wire.to_vec() };
                recorder.add(&entry).map_err(CliError::io("cannot write"))
            }
        }
    }

    /// Commits the output; returns the bytes of messages.
    fn finish(self) -> Result<u64, CliError> {
        let out = match self.sink {
            Sink::Messages(mut out) => out.flush().map(|()| out),
            Sink::Recording(recorder) => recorder.finish(),
        };
        let (output, _) = out.map_err(CliError::io("cannot write"))?.into_parts();
        output.commit()?;
        Ok(self.written)
    }
}

fn writing(path: &Path) -> impl FnOnce(std::io::Error) -> CliError {
    CliError::io_at("cannot write", path)
}
