//! `--wait`: how long to wait for the lock of a file that another process is changing.

use std::path::Path;
use std::time::Duration;

use linerate_io::{Lock, LockError, Wait};

use crate::ui::error::CliError;

#[derive(clap::Args, Debug)]
pub(crate) struct WaitArgs {
    /// Wait while another process is changing the file, at most SECONDS if given; without this
    /// option such a file is refused
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true)]
    wait: Option<Option<u64>>,
}

impl WaitArgs {
    pub(crate) fn wait(&self) -> Wait {
        match self.wait {
            None => Wait::No,
            Some(None) => Wait::Forever,
            Some(Some(seconds)) => Wait::For(Duration::from_secs(seconds)),
        }
    }

    /// Locks the file at `path` for changing it, and waits for the lock as the option says.
    pub(crate) fn lock(&self, path: &Path) -> Result<Lock, CliError> {
        Lock::exclusive(path, self.wait()).map_err(|error| not_locked(path, error))
    }
}

/// Converts the error of locking the file at `path`. If another process holds the lock, the file is
/// refused.
pub(crate) fn not_locked(path: &Path, error: LockError) -> CliError {
    match error {
        LockError::Io(error) => CliError::io_at("cannot lock", path)(error),
        held => CliError::Refused(format!("{} {held}", path.display())),
    }
}
