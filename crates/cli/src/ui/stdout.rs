//! Writes buffered lines to standard output, for lists that may be long.

use std::fmt::Display;
use std::io::{BufWriter, IsTerminal, Write, stdout};

use crate::ui::error::CliError;
use crate::ui::output;
use crate::ui::printer::one_line;

/// Standard output behind a buffer. Lines are sure to be written only after
/// [`finish`](Self::finish).
pub(crate) struct StdoutLines(BufWriter<Box<dyn Write>>);

impl StdoutLines {
    pub(crate) fn new() -> Result<StdoutLines, CliError> {
        // A Windows console interprets bytes by its code page. The standard library passes UTF-16
        // to it instead.
        let lines: Box<dyn Write> = match cfg!(windows) && stdout().is_terminal() {
            true => Box::new(stdout()),
            false => Box::new(output::stdout()?),
        };
        Ok(StdoutLines(BufWriter::with_capacity(64 << 10, lines)))
    }

    /// Writes a line, in which control characters are replaced by question marks.
    pub(crate) fn write(&mut self, line: impl Display) -> Result<(), CliError> {
        writeln!(self.0, "{}", one_line(&line)).map_err(CliError::stdout_write)
    }

    /// Writes all lines that are still in the buffer.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        self.0.flush().map_err(CliError::stdout_write)
    }
}
