//! A progress bar on standard error, if that is a terminal, once the work has lasted a second.

use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Time after which the bar is shown.
const DELAY: Duration = Duration::from_secs(1);
const REFRESHES_PER_SECOND: u8 = 5;

pub(crate) struct Progress {
    begun: Instant,
    shown: bool,
    /// `None` where it is not wanted. Updated from the start, so that its rate is right when shown.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// `total` is the number of input bytes, if known.
    pub(crate) fn new(wanted: bool, name: &str, total: Option<u64>) -> Self {
        let bar = (wanted && stderr().is_terminal()).then(|| make(name, total));
        Progress { begun: Instant::now(), shown: false, bar }
    }

    /// Sets the input bytes processed so far.
    pub(crate) fn update(&mut self, done: u64) {
        let Some(bar) = &self.bar else { return };
        if !self.shown && self.begun.elapsed() >= DELAY {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(REFRESHES_PER_SECOND));
            self.shown = true;
        }
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A line that says what is being done, for work whose length is given by a time. Shown as the bar is.
pub(crate) struct Activity {
    begun: Instant,
    spinner: Option<ProgressBar>,
}

impl Activity {
    pub(crate) fn new(wanted: bool, name: &str) -> Self {
        let style = ProgressStyle::with_template("{prefix} {elapsed} {msg}");
        let make = || {
            let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            spinner
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
                .with_prefix(name.to_owned())
        };
        Activity { begun: Instant::now(), spinner: (wanted && stderr().is_terminal()).then(make) }
    }

    /// Says what is being done now.
    pub(crate) fn show(&self, what: &str) {
        let Some(spinner) = &self.spinner else { return };
        if spinner.is_hidden() && self.begun.elapsed() >= DELAY {
            spinner.set_draw_target(ProgressDrawTarget::stderr_with_hz(REFRESHES_PER_SECOND));
        }
        spinner.set_message(what.to_owned());
        spinner.tick();
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

/// Progress that many threads add to.
pub(crate) struct SharedProgress(Mutex<(Progress, u64)>);

impl SharedProgress {
    pub(crate) fn new(progress: Progress) -> SharedProgress {
        SharedProgress(Mutex::new((progress, 0)))
    }

    /// Adds bytes that are done.
    pub(crate) fn add(&self, bytes: usize) {
        let (bar, done) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *done += bytes as u64;
        bar.update(*done);
    }
}

fn make(name: &str, total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
    let template = match total {
        Some(_) => "{prefix} [{bar:30}] {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}",
        None => "{prefix} {bytes} {binary_bytes_per_sec}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style.progress_chars("=> ")).with_prefix(name.to_owned())
}
