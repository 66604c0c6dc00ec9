//! Ending by a signal without leaving anything behind.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};

/// From now on a signal that ends the program first removes the files that are not complete. On Linux
/// most of them have no name, and go by themselves.
pub(crate) fn remove_temporaries_on_signal() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(watch);
}

/// Starts a thread that waits for the signals by which people, and limits on the size of files,
/// end programs.
#[cfg(unix)]
fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    let wanted = [SIGHUP, SIGINT, SIGTERM, SIGXFSZ].into_iter().filter(|&signal| !is_ignored(signal));
    // Without the thread a signal still ends the program; only temporary files stay.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // Held until the end, so that no new file is made meanwhile.
            let _none = linerate_io::remove_temporaries();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
fn watch() {}

/// Whether the signal was ignored when the program started, as `nohup` and shells arrange.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Work that ends in good order when a signal asks for it, so that it can clean up. A second signal
/// ends the program at once.
pub(crate) struct Stop {
    /// The signal, 0 before there is one.
    signal: Arc<AtomicUsize>,
    /// Whether there was one.
    asked: Arc<AtomicBool>,
}

impl Stop {
    /// From now on the signals by which people end programs are noted.
    pub(crate) fn on_signal() -> Stop {
        let stop = Stop { signal: Arc::default(), asked: Arc::default() };
        #[cfg(unix)]
        note(&stop.signal, &stop.asked);
        stop
    }

    /// Whether a signal has asked, for those who look at a flag.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }

    /// Ends the program by the signal that asked for it.
    pub(crate) fn die_if_asked(&self) {
        #[cfg(unix)]
        if let signal @ 1.. = self.signal.load(Ordering::Relaxed) {
            let _ = signal_hook::low_level::emulate_default_handler(signal as i32);
        }
    }
}

#[cfg(unix)]
fn note(signal: &Arc<AtomicUsize>, asked: &Arc<AtomicBool>) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for number in [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&number| !is_ignored(number)) {
        // Where one cannot be registered, that signal ends the program as it always does. The order
        // counts: the first signal finds `asked` not yet set.
        let _ = signal_hook::flag::register_conditional_default(number, Arc::clone(asked))
            .and_then(|_| signal_hook::flag::register(number, Arc::clone(asked)))
            .and_then(|_| signal_hook::flag::register_usize(number, Arc::clone(signal), number as usize));
    }
}

/// Ends the program as a closed pipe ends most: by SIGPIPE, without a word. The Rust runtime
/// ignores that signal, which is why writing came back with an error instead.
pub(crate) fn die_of_closed_pipe() -> ! {
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    std::process::exit(141)
}
