//! Arguments of decoding a connection.

use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ValueEnum, ValueHint};
use linerate_gateway::{Checks, Dictionaries, Encoding, Error, Limits, Session, Transport};

use crate::ui::error::{CliError, engine_error};
use crate::ui::{inputs, size};

#[derive(clap::Args, Debug)]
pub(crate) struct SessionArgs {
    /// How messages are compressed, if it cannot be detected: as one stream, or each on its own
    #[arg(long, value_name = "NAME", value_parser = transports())]
    pub(crate) transport: Option<Transport>,

    /// Dictionary for zstd-frame; of several, a frame's ID chooses
    #[arg(short = 'D', long, value_name = "DICT", value_hint = ValueHint::FilePath)]
    dictionary: Vec<PathBuf>,

    /// Maximum bytes of a payload
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size::parse)]
    max_message: u64,

    /// Largest window of a zstd frame: 2^N bytes
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u8).range(10..=27))]
    window_log: u8,

    /// Check that each payload is one JSON object or one ETF map; with `-sequence`, also that
    /// sequence numbers increase by 1
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Check::None)]
    check: Check,
}

/// The checks of `--check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Check {
    None,
    Json,
    Etf,
    JsonSequence,
    EtfSequence,
}

impl Check {
    fn checks(self) -> Checks {
        match self {
            Check::None => Checks::NONE,
            Check::Json => Checks::complete(Encoding::Json),
            Check::Etf => Checks::complete(Encoding::Etf),
            Check::JsonSequence => Checks::complete(Encoding::Json).sequence(true),
            Check::EtfSequence => Checks::complete(Encoding::Etf).sequence(true),
        }
    }
}

/// Parses the name of a transport.
pub(crate) fn transports() -> impl TypedValueParser<Value = Transport> {
    PossibleValuesParser::new(Transport::ALL.map(Transport::name)).try_map(|name| name.parse::<Transport>())
}

impl SessionArgs {
    /// Maximum bytes of a payload.
    pub(crate) fn max_message(&self) -> usize {
        usize::try_from(self.max_message).unwrap_or(usize::MAX)
    }

    /// Whether payloads are checked.
    pub(crate) fn checks(&self) -> bool {
        self.check != Check::None
    }

    pub(crate) fn session(&self, transport: Transport) -> Result<Session, CliError> {
        let limits = Limits::new().max_message(self.max_message()).window_log(self.window_log);
        let session = Session::new(transport, limits).checks(self.check.checks());
        if self.dictionary.is_empty() {
            return Ok(session);
        }
        let files = self.dictionaries()?;
        let dictionaries = Dictionaries::new(files.iter().map(Vec::as_slice))
            .map_err(|error| self.dictionary_error(&files, error))?;
        Ok(session.dictionaries(Arc::new(dictionaries)))
    }

    /// The error of the first dictionary that is invalid by itself. If none is, `error` is about
    /// two dictionaries that do not go together, and is returned.
    fn dictionary_error(&self, files: &[Vec<u8>], error: Error) -> CliError {
        let alone = |(path, bytes): (&PathBuf, &Vec<u8>)| {
            let error = Dictionaries::new([bytes.as_slice()]).err()?;
            Some(engine_error(error).in_file(&format!("-D {}", path.display())))
        };
        let damaged = self.dictionary.iter().zip(files).find_map(alone);
        damaged.unwrap_or_else(|| CliError::Refused(format!("-D: {}", error.message)))
    }

    /// Reads the files of `-D`. From then on the program refuses to write an output over them.
    pub(crate) fn dictionaries(&self) -> Result<Vec<Vec<u8>>, CliError> {
        let read = |path: &PathBuf| {
            inputs::keep(path);
            std::fs::read(path).map_err(CliError::io_at("cannot read", path))
        };
        self.dictionary.iter().map(read).collect()
    }
}
