//! Where the results of a run go: tables or JSON on standard output, a CSV record, a comparison.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::against::Comparison;
use crate::record::{Columns, append};
use crate::sheet::Sheet;

/// Options that all shapes share.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArgs {
    /// Add the results to this CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print a JSON array instead of tables
    #[arg(long)]
    json: bool,
    /// Print what changed against an earlier record of the same shape
    #[arg(long, value_name = "RECORD")]
    against: Option<PathBuf>,
}

/// The results of a run so far.
pub(crate) struct Output<'a, R> {
    args: &'a OutputArgs,
    earlier: Option<Sheet>,
    rows: Vec<R>,
}

impl OutputArgs {
    /// Proves, before a long run, that the record can be written and the earlier one compared with.
    pub(crate) fn open<R: Columns>(&self) -> Result<Output<'_, R>, String> {
        if let Some(path) = &self.csv {
            append::<R>(path, &[])?;
        }
        let output = Output { args: self, earlier: self.read_earlier()?, rows: Vec::new() };
        output.comparison(&Sheet::of::<R>(&[]), |_, _| ())?;
        Ok(output)
    }

    fn read_earlier(&self) -> Result<Option<Sheet>, String> {
        self.against.as_deref().map(Sheet::read).transpose()
    }
}

impl<R: Columns> Output<'_, R> {
    /// Keeps rows, in the CSV file at once.
    pub(crate) fn add(&mut self, rows: Vec<R>) -> Result<(), String> {
        if let Some(path) = &self.args.csv {
            append(path, &rows)?;
        }
        self.rows.extend(rows);
        Ok(())
    }

    /// Prints text, unless JSON was asked for.
    pub(crate) fn show(&self, text: &str) -> Result<(), String> {
        if self.args.json { Ok(()) } else { print(text) }
    }

    /// All rows.
    pub(crate) fn rows(&self) -> &[R] {
        &self.rows
    }

    /// Prints the JSON, or the comparison.
    pub(crate) fn finish(&self) -> Result<(), String> {
        let now = Sheet::of(&self.rows);
        if !self.args.json {
            let text = self.comparison(&now, |comparison, record| comparison.text(record))?;
            return text.map_or(Ok(()), |text| print(&format!("\n{text}")));
        }
        let rows = Value::Array(self.rows.iter().map(Columns::to_json).collect());
        let against = self.comparison(&now, |comparison, record| comparison.json(record))?;
        let all = against.map_or_else(|| rows.clone(), |against| json!({ "rows": rows, "against": against }));
        print(&format!("{all:#}\n"))
    }

    /// What `of` makes of the comparison with the earlier record, if there is one.
    fn comparison<T>(
        &self,
        now: &Sheet,
        of: impl FnOnce(&Comparison<'_>, &str) -> T,
    ) -> Result<Option<T>, String> {
        let (Some(earlier), Some(path)) = (&self.earlier, &self.args.against) else { return Ok(None) };
        let comparison = Comparison::new(earlier, now).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Ok(Some(of(&comparison, &name)))
    }
}

/// Writes to standard output; a reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Result<(), String> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("standard output: {e}")),
        _ => Ok(()),
    }
}

/// Shows one line of progress on a terminal, overwriting the last one.
pub(crate) fn progress(what: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // A progress line that cannot be shown is no reason to stop.
        let _ = write!(terminal, "\r\x1b[K{what}");
        let _ = terminal.flush();
    }
}
