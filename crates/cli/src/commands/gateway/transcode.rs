//! `linerate gateway transcode`: compresses a connection with another transport, or writes its
//! payloads.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser};
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
  linerate gateway transcode --to zlib-stream recorded.lgwr -o other.lgwr    keeps the times
  linerate gateway transcode --to zstd-frame -D feed.dict shard-0.zst -o frames

Settings:
  The settings are those of gateways: zlib level 6, or zstd level 7 with a window of 64 KiB and
  tables of 2^15 entries. The transports zstd-frame, zlib, gzip and raw-deflate compress each
  message on its own; zstd-frame uses the first dictionary of -D, if there is one. A recording
  becomes a recording, but payloads are always written as length-prefixed messages. On Unix only
  the owner may read output made from a recording.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct TranscodeArgs {
    /// Format of the output
    #[arg(long, value_name = "WHAT", value_parser = formats())]
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

/// Format of the output; `None` for payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct To(Option<Transport>);

const PAYLOADS: &str = "payloads";

/// Parses the name of a transport, or `payloads`.
fn formats() -> impl TypedValueParser<Value = To> {
    PossibleValuesParser::new(Transport::ALL.map(Transport::name).into_iter().chain([PAYLOADS]))
        .map(|name| To(name.parse().ok()))
}

pub(crate) fn run(args: &TranscodeArgs) -> ExitCode {
    Reporter::new(&args.verbosity, output_args::is_stdout(&args.output))
        .one(&args.file, |reporter| process(args, reporter))
}

fn process(args: &TranscodeArgs, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.file, "transcode");
    let wire = Wire::open(&args.file, args.session.transport)?
        .with_progress(|len| reporter.progress(&args.file.display().to_string(), len));
    let from = wire.transport;
    let form = if args.to.0.is_none() { Form::Messages } else { wire.form };
    // On Unix, output made from a recording may be read by its owner alone, like the recording.
    let private = wire.form == Form::Recording;
    let mut writer = Writer::new(args, form, private)?;
    let mut decoding = Decoding::new(&args.session, &wire)?;
    let outcome = decoding.run(wire, |message| writer.add(message));
    let totals = decoding.totals;
    match outcome {
        // After any error `writer` is dropped, which discards an incomplete file.
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
    summary.set("to", args.to.0.map(Transport::name));
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
    /// Dictionary that zstd-frame messages are written with.
    dictionary: Option<Vec<u8>>,
    encoder: Option<Encoder>,
    connection: u64,
    sink: Sink,
    /// Bytes of messages written, without lengths and times.
    written: u64,
}

enum Sink {
    Messages(BufWriter<Output>),
    Recording(Recorder<BufWriter<Output>>),
}

impl Writer {
    fn new(args: &TranscodeArgs, form: Form, private: bool) -> Result<Writer, CliError> {
        let transport = args.to.0;
        let mut dictionary = None;
        if transport == Some(Transport::ZstdFrame) {
            dictionary = args.session.dictionaries()?.into_iter().next();
        }
        let encoder = encoder(transport, dictionary.as_deref())?;
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
        Ok(Writer { transport, dictionary, encoder, connection: 0, sink, written: 0 })
    }

    fn add(&mut self, message: &Decoded<'_>) -> Result<(), CliError> {
        if std::mem::replace(&mut self.connection, message.connection) != message.connection {
            self.encoder = encoder(self.transport, self.dictionary.as_deref())?;
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

    /// Commits the output. Returns the bytes of messages in it, without lengths and times.
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

/// An encoder for a new connection; `None` if payloads are written uncompressed.
fn encoder(transport: Option<Transport>, dictionary: Option<&[u8]>) -> Result<Option<Encoder>, CliError> {
    let Some(transport) = transport else { return Ok(None) };
    let encoder = Encoder::new(transport).map_err(fault)?;
    match dictionary {
        Some(dictionary) => encoder.with_dictionary(dictionary).map(Some).map_err(fault),
        None => Ok(Some(encoder)),
    }
}

fn writing(path: &Path) -> impl FnOnce(std::io::Error) -> CliError {
    CliError::io_at("cannot write", path)
}
