//! Shows progress on standard error after the first second of work: as a bar if that is a terminal,
//! or as JSON objects with `--json`. With `-q`, nothing is shown.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use linerate_core::lock;
use serde_json::json;

use crate::ui::printer::to_stderr;

/// Time from the beginning of the work until progress is shown.
const DELAY: Duration = Duration::from_secs(1);
const REFRESHES_PER_SECOND: u8 = 5;
/// Least time between two JSON objects, except before the last one, and time between two texts of a
/// [`Watch`].
const INTERVAL: Duration = Duration::from_millis(1000 / REFRESHES_PER_SECOND as u64);
/// Environment variable that tests set so that short work prints a JSON object at every step.
const AT_EVERY_STEP: &str = "LINERATE_PROGRESS_AT_EVERY_STEP";

/// The time before the first JSON object, and the least time between two objects, except before the
/// one at the end of the work.
fn pace() -> (Duration, Duration) {
    match std::env::var_os(AT_EVERY_STEP) {
        Some(_) => (Duration::ZERO, Duration::ZERO),
        None => (DELAY, INTERVAL),
    }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    Nothing,
    /// A line on the terminal.
    Bar,
    /// JSON objects on standard error.
    Events,
}

impl Show {
    /// How progress is shown with or without `-q` and `--json`: as JSON objects, as a bar if
    /// standard error is a terminal, or not at all.
    pub(crate) fn of(quiet: bool, json: bool) -> Show {
        match (quiet, json) {
            (true, _) => Show::Nothing,
            (false, true) => Show::Events,
            (false, false) if stderr().is_terminal() => Show::Bar,
            (false, false) => Show::Nothing,
        }
    }

    /// Hides the bar of a file that is one of several processed at the same time.
    pub(crate) fn among_others(self) -> Show {
        if self == Show::Bar { Show::Nothing } else { self }
    }
}

/// The file or step that progress belongs to.
#[derive(Clone, Debug)]
pub(crate) enum Label {
    /// A file or archive.
    File(String),
    /// A step of a command, such as `reading`.
    Step(&'static str),
}

impl Label {
    /// The key and value of this label in a JSON object.
    fn entry(&self) -> (&'static str, &str) {
        match self {
            Label::File(name) => ("file", name),
            Label::Step(name) => ("step", name),
        }
    }
}

/// Progress of work that is measured in bytes. When it is dropped, a bar is erased. If JSON objects
/// were printed and more bytes are done since, a last one is printed.
pub(crate) struct Progress {
    begun: Instant,
    drawn: Drawn,
}

/// How a [`Progress`] is shown, and the state that this needs.
enum Drawn {
    Nothing,
    /// A bar on the terminal. It is updated from the start of the work, so that its rate is right
    /// when it appears.
    Bar {
        bar: ProgressBar,
        shown: bool,
    },
    Events(Events),
}

/// Progress as JSON objects.
struct Events {
    label: Label,
    total: Option<u64>,
    done: u64,
    /// When the next object is due.
    next: Instant,
    /// Least time between two objects.
    interval: Duration,
    /// Bytes done when the last object was printed; `None` if none was.
    printed: Option<u64>,
}

impl Progress {
    /// Begins to measure. `total` is the number of bytes to process, if it is known.
    pub(crate) fn new(show: Show, label: Label, total: Option<u64>) -> Self {
        let begun = Instant::now();
        let drawn = match show {
            Show::Nothing => Drawn::Nothing,
            Show::Bar => Drawn::Bar { bar: make(label.entry().1, total), shown: false },
            Show::Events => {
                let (delay, interval) = pace();
                Drawn::Events(Events { label, total, done: 0, next: begun + delay, interval, printed: None })
            }
        };
        Progress { begun, drawn }
    }

    /// Sets the number of bytes to process when it becomes known during the work.
    pub(crate) fn set_total(&mut self, total: u64) {
        match &mut self.drawn {
            Drawn::Nothing => {}
            Drawn::Bar { bar, .. } if bar.length() == Some(total) => {}
            Drawn::Bar { bar, .. } => {
                bar.set_length(total);
                bar.set_style(style(Some(total)));
            }
            Drawn::Events(events) => events.total = Some(total),
        }
    }

    /// Sets the number of bytes processed so far. Threads may report out of order, so a count below
    /// an earlier one is ignored.
    pub(crate) fn update(&mut self, done: u64) {
        match &mut self.drawn {
            Drawn::Nothing => {}
            Drawn::Bar { bar, shown } => {
                if !*shown && self.begun.elapsed() >= DELAY {
                    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(REFRESHES_PER_SECOND));
                    *shown = true;
                }
                bar.set_position(done.max(bar.position()));
            }
            Drawn::Events(events) => {
                if let Some(event) = events.update(done, self.begun, Instant::now()) {
                    to_stderr(event);
                }
            }
        }
    }
}

impl Events {
    /// Takes the number of bytes done, and returns a JSON object if one is due at `now`.
    fn update(&mut self, done: u64, begun: Instant, now: Instant) -> Option<serde_json::Value> {
        self.done = self.done.max(done);
        if now < self.next {
            return None;
        }
        self.next = now + self.interval;
        Some(self.event(now - begun))
    }

    /// Returns the JSON object that is printed at the end, unless no object was printed before or
    /// nothing has changed since.
    fn end(&mut self, elapsed: Duration) -> Option<serde_json::Value> {
        self.printed.filter(|printed| *printed != self.done).map(|_| self.event(elapsed))
    }

    /// Makes a JSON object of the work done so far. Its rate is the average, in bytes per second.
    fn event(&mut self, elapsed: Duration) -> serde_json::Value {
        self.printed = Some(self.done);
        let (key, name) = self.label.entry();
        let rate = (self.done as f64 / elapsed.as_secs_f64().max(1e-9)).round();
        json!({ key: name, "status": "progress", "done": self.done, "total": self.total, "rate": rate as u64 })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        match &mut self.drawn {
            Drawn::Nothing => {}
            Drawn::Bar { bar, .. } => bar.finish_and_clear(),
            Drawn::Events(events) => {
                if let Some(event) = events.end(self.begun.elapsed()) {
                    to_stderr(event);
                }
            }
        }
    }
}

/// A line about the current step of work that takes a set time, such as a measurement, or JSON
/// objects about it. They appear after the same delay as a bar.
pub(crate) struct Activity {
    begun: Instant,
    name: String,
    spinner: Option<ProgressBar>,
    /// When the next JSON object is due; `None` if none is printed.
    next: Option<Mutex<Instant>>,
    /// Least time between two objects.
    interval: Duration,
}

impl Activity {
    pub(crate) fn new(show: Show, name: &str) -> Self {
        let begun = Instant::now();
        let (delay, interval) = pace();
        let style = ProgressStyle::with_template("{prefix} {elapsed} {msg}");
        let make = || {
            let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            spinner
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
                .with_prefix(name.to_owned())
        };
        Activity {
            begun,
            name: name.to_owned(),
            spinner: (show == Show::Bar).then(make),
            next: (show == Show::Events).then(|| Mutex::new(begun + delay)),
            interval,
        }
    }

    /// Shows `what` as the current step, as soon as the work has lasted a second.
    pub(crate) fn show(&self, what: &str) {
        if let Some(next) = &self.next {
            let (mut next, now) = (lock(next), Instant::now());
            if now >= *next {
                *next = now + self.interval;
                let seconds = (now - self.begun).as_secs_f64();
                to_stderr(
                    json!({ "file": self.name, "status": "progress", "step": what, "seconds": seconds }),
                );
            }
        }
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

/// A line about work that is not measured in bytes. A thread updates the line, on terminals only.
/// It is erased when this value is dropped.
pub(crate) struct Watch {
    /// Ends the thread when it is dropped.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Draws the text that `tell` returns, five times a second, once the work has lasted a second.
    pub(crate) fn new(show: Show, name: &str, tell: impl Fn() -> String + Send + 'static) -> Self {
        let (end, ended) = channel::<()>();
        let activity = Activity::new(show, name);
        let watch = move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                activity.show(&tell());
            }
        };
        // If no thread can be started, nothing is drawn.
        let thread = (show == Show::Bar).then(|| thread::Builder::new().spawn(watch).ok()).flatten();
        Watch { end: Some(end), thread }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.end.take());
        // Waits until the line is erased, before anything else is printed.
        let _ = self.thread.take().map(JoinHandle::join);
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
        let (bar, done) = &mut *lock(&self.0);
        *done += bytes as u64;
        bar.update(*done);
    }
}

/// Makes a hidden bar. `total` is the number of bytes to process, if it is known.
fn make(name: &str, total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
    bar.with_style(style(total)).with_prefix(name.to_owned())
}

/// The style of a bar, with or without a total.
fn style(total: Option<u64>) -> ProgressStyle {
    let template = match total {
        Some(_) => "{prefix} [{bar:30}] {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}",
        None => "{prefix} {bytes} {binary_bytes_per_sec}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_come_after_a_second_five_times_a_second_and_at_the_end() {
        let begun = Instant::now();
        let mut events = Events {
            label: Label::File("a".into()),
            total: Some(4000),
            done: 0,
            next: begun + DELAY,
            interval: INTERVAL,
            printed: None,
        };
        let mut at = |millis: u64, done: u64| {
            events.update(done, begun, begun + Duration::from_millis(millis)).map(|event| event.to_string())
        };
        assert_eq!(at(999, 900), None);
        let object = r#"{"done":1000,"file":"a","rate":1000,"status":"progress","total":4000}"#;
        assert_eq!(at(1000, 1000).as_deref(), Some(object));
        assert_eq!(at(1199, 1100), None);
        assert!(at(1200, 1200).is_some());
        assert_eq!(at(1300, 4000), None);
        assert_eq!(at(1310, 3900), None, "an older count, late");
        let end = events.end(Duration::from_secs(2)).expect("the last object");
        assert_eq!((&end["done"], &end["rate"]), (&4000.into(), &2000.into()));
        assert!(events.end(Duration::from_secs(2)).is_none(), "once");
    }

    #[test]
    fn short_work_prints_no_object() {
        let begun = Instant::now();
        let mut events = Events {
            label: Label::Step("reading"),
            total: None,
            done: 0,
            next: begun + DELAY,
            interval: INTERVAL,
            printed: None,
        };
        assert!(events.update(5, begun, begun).is_none() && events.end(Duration::ZERO).is_none());
    }
}
