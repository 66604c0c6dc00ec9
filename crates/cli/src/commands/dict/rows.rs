//! Prints records: values as lines, JSON objects, or length-prefixed.

use std::fs::File;
use std::io::{BufWriter, Write};

use serde_json::{Value, json};

use super::keys::KeyArgs;
use crate::ui::error::CliError;
use crate::ui::output;
use crate::ui::verbosity::VerbosityArgs;

#[derive(clap::Args, Debug)]
pub(crate) struct RowArgs {
    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Write length-prefixed records, as `build --records` reads them
    #[arg(long, conflicts_with = "json")]
    pub(crate) records: bool,
}

/// Writes records to standard output.
pub(crate) struct Rows<'a> {
    out: BufWriter<File>,
    args: &'a RowArgs,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(args: &'a RowArgs) -> Result<Rows<'a>, CliError> {
        let stdout = output::stdout()?;
        Ok(Rows { out: BufWriter::with_capacity(64 << 10, stdout), args })
    }

    pub(crate) fn write(&mut self, key: &[u8], value: &[u8]) -> Result<(), CliError> {
        let written = match (self.args.verbosity.json, self.args.records) {
            (true, _) => writeln!(self.out, "{}", self.object(key, value)),
            (_, true) => self.record(key, value),
            _ => self.out.write_all(value).and_then(|()| self.out.write_all(b"\n")),
        };
        written.map_err(CliError::stdout_write)
    }

    /// Writes a key alone, on a line.
    pub(crate) fn write_key(&mut self, key: &[u8]) -> Result<(), CliError> {
        let written = if self.args.verbosity.json {
            let mut object = json!({});
            self.args.keys.put(&mut object, "key", key);
            writeln!(self.out, "{object}")
        } else if self.args.keys.hex {
            writeln!(self.out, "{}", self.args.keys.show(key))
        } else {
            self.out.write_all(key).and_then(|()| self.out.write_all(b"\n"))
        };
        written.map_err(CliError::stdout_write)
    }

    /// The JSON object of a record. A value that is JSON on one line is inserted unchanged, to keep
    /// its numbers and the order of its keys. Any other value becomes a string or, if it is not
    /// UTF-8, hexadecimal digits under the key `value_hex`.
    fn object(&self, key: &[u8], value: &[u8]) -> String {
        let mut object = json!({});
        self.args.keys.put(&mut object, "key", key);
        let line = std::str::from_utf8(value).ok().filter(|text| !text.contains(['\n', '\r']));
        match line.filter(|text| serde_json::from_str::<Value>(text).is_ok()) {
            Some(text) => {
                let object = object.to_string();
                format!("{},\"value\":{text}}}", object.trim_end_matches('}'))
            }
            None => {
                KeyArgs { hex: false }.put(&mut object, "value", value);
                object.to_string()
            }
        }
    }

    fn record(&mut self, key: &[u8], value: &[u8]) -> std::io::Result<()> {
        for bytes in [key, value] {
            // Block files limit keys and values to less than 4 GiB.
            self.out.write_all(&(bytes.len() as u32).to_le_bytes())?;
            self.out.write_all(bytes)?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        self.out.flush().map_err(CliError::stdout_write)
    }
}
