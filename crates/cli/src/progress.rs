//! A progress bar, for people only: on a terminal, and only once the work has lasted a second.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
const REFRESHES_PER_SECOND: u8 = 5;

pub(crate) struct Progress {
    wanted: bool,
    name: String,
    total: Option<u64>,
    begun: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// `total` is the number of input bytes, if known.
    pub(crate) fn new(wanted: bool, name: &str, total: Option<u64>) -> Self {
        let wanted = wanted && stderr().is_terminal();
        Progress { wanted, name: name.to_owned(), total, begun: Instant::now(), bar: None }
    }

    /// `done` input bytes have been worked on.
    pub(crate) fn update(&mut self, done: u64) {
        if !self.wanted || self.begun.elapsed() < PATIENCE {
            return;
        }
        let (name, total) = (&self.name, self.total);
        self.bar.get_or_insert_with(|| make(name, total)).set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn make(name: &str, total: Option<u64>) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(REFRESHES_PER_SECOND);
    let bar = ProgressBar::with_draw_target(total, target);
    let template = match total {
        Some(_) => "{prefix} [{bar:30}] {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}",
        None => "{prefix} {bytes} {binary_bytes_per_sec}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style.progress_chars("=> ")).with_prefix(name.to_owned())
}
