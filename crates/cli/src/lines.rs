//! Many lines to standard output, gathered before they are written.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};

use crate::failure::Failure;
use crate::output;
use crate::report::one_line;

pub(crate) struct Lines(BufWriter<File>);

impl Lines {
    pub(crate) fn new() -> Result<Lines, Failure> {
        let stdout = output::stdout().map_err(Failure::writing_stdout)?;
        Ok(Lines(BufWriter::with_capacity(64 << 10, stdout)))
    }

    pub(crate) fn put(&mut self, line: impl Display) -> Result<(), Failure> {
        writeln!(self.0, "{}", one_line(&line)).map_err(Failure::writing_stdout)
    }

    pub(crate) fn end(mut self) -> Result<(), Failure> {
        self.0.flush().map_err(Failure::writing_stdout)
    }
}
