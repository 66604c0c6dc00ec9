//! Buffered lines on standard output, for lists that may be long.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};

use crate::ui::error::CliError;
use crate::ui::output;
use crate::ui::printer::one_line;

pub(crate) struct StdoutLines(BufWriter<File>);

impl StdoutLines {
    pub(crate) fn new() -> Result<StdoutLines, CliError> {
        let stdout = output::stdout().map_err(CliError::stdout_write)?;
        Ok(StdoutLines(BufWriter::with_capacity(64 << 10, stdout)))
    }

    pub(crate) fn write(&mut self, line: impl Display) -> Result<(), CliError> {
        writeln!(self.0, "{}", one_line(&line)).map_err(CliError::stdout_write)
    }

    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        self.0.flush().map_err(CliError::stdout_write)
    }
}
