//! Handles signals: removes temporary files and cancels long work before the program exits.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};
#[cfg(windows)]
use std::sync::{Mutex, MutexGuard};

#[cfg(windows)]
use linerate_core::lock;

/// Installs signal handling as soon as an incomplete output file gets a name, so that the file is
/// removed before the program exits. On Linux most files have no name until they are complete
/// (`O_TMPFILE`), and no thread is started, which would take a third of the time of a small file.
pub(crate) fn remove_temporaries_on_signal() {
    linerate_io::before_temporaries(install_once);
}

fn install_once() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
}

/// Starts a thread that waits for SIGHUP, SIGINT, SIGTERM and SIGXFSZ (the file size limit).
#[cfg(unix)]
fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    let wanted = not_ignored([SIGHUP, SIGINT, SIGTERM, SIGXFSZ]);
    // Without the thread a signal still ends the program, but temporary files remain.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // Held until the program ends, so that no temporary file is created meanwhile.
            let _none = linerate_io::remove_temporaries();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// Handles Ctrl+C, Ctrl+Break and the closing of the console.
#[cfg(windows)]
fn install() {
    linerate_io::on_console_end(|| {
        let goes_on = cancel_all();
        if !goes_on {
            // Held until the program ends, so that no temporary file is created meanwhile.
            std::mem::forget(linerate_io::remove_temporaries());
        }
        goes_on
    });
}

#[cfg(not(any(unix, windows)))]
fn install() {}

/// Drops the signals that were ignored when the program started, as under `nohup`.
#[cfg(unix)]
fn not_ignored<const N: usize>(signals: [i32; N]) -> impl Iterator<Item = i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    let mask = mask.unwrap_or(0);
    signals.into_iter().filter(move |signal| mask >> (signal - 1) & 1 == 0)
}

/// Runs work that the first signal cancels. If one arrived, ends the program by that signal
/// afterwards, when the work has removed its incomplete files.
pub(crate) fn cancellable<T>(work: impl FnOnce(&CancelToken) -> T) -> T {
    let cancel = CancelToken::on_signal();
    let result = work(&cancel);
    cancel.exit_if_cancelled();
    result
}

/// Cancelled by the first signal, so that work can stop and clean up. A second signal ends the
/// program at once.
pub(crate) struct CancelToken {
    /// The number of the signal; 0 until one arrives.
    signal: Arc<AtomicUsize>,
    /// Whether a signal has arrived.
    cancelled: Arc<AtomicBool>,
}

impl CancelToken {
    /// A token that SIGHUP, SIGINT and SIGTERM cancel from now on; on Windows, Ctrl+C, Ctrl+Break
    /// and the closing of the console do.
    pub(crate) fn on_signal() -> CancelToken {
        let cancel = CancelToken { signal: Arc::default(), cancelled: Arc::default() };
        #[cfg(any(unix, windows))]
        register(&cancel.signal, &cancel.cancelled);
        cancel
    }

    /// Shared flag that becomes true on cancellation, for engines that poll one.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }

    /// Ends the program by the signal that cancelled this token, if one did.
    pub(crate) fn exit_if_cancelled(&self) {
        #[cfg(unix)]
        if let signal @ 1.. = self.signal.load(Ordering::Relaxed) {
            let _ = signal_hook::low_level::emulate_default_handler(signal as i32);
        }
        #[cfg(windows)]
        if self.is_cancelled() {
            // The exit code of a process that Windows ends at Ctrl+C.
            const STATUS_CONTROL_C_EXIT: u32 = 0xc000_013a;
            std::process::exit(STATUS_CONTROL_C_EXIT.cast_signed());
        }
    }
}

#[cfg(unix)]
fn register(signal: &Arc<AtomicUsize>, cancelled: &Arc<AtomicBool>) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for number in not_ignored([SIGHUP, SIGINT, SIGTERM]) {
        // A signal that cannot be registered ends the program, as by default. The order matters:
        // when the first signal arrives, `cancelled` is not yet set.
        let _ = signal_hook::flag::register_conditional_default(number, Arc::clone(cancelled))
            .and_then(|_| signal_hook::flag::register(number, Arc::clone(cancelled)))
            .and_then(|_| signal_hook::flag::register_usize(number, Arc::clone(signal), number as usize));
    }
}

/// `signal` and `cancelled` of each token.
#[cfg(windows)]
type Tokens = Vec<(Arc<AtomicUsize>, Arc<AtomicBool>)>;

#[cfg(windows)]
fn tokens() -> MutexGuard<'static, Tokens> {
    static TOKENS: Mutex<Tokens> = Mutex::new(Vec::new());
    lock(&TOKENS)
}

#[cfg(windows)]
fn register(signal: &Arc<AtomicUsize>, cancelled: &Arc<AtomicBool>) {
    tokens().push((Arc::clone(signal), Arc::clone(cancelled)));
    install_once();
}

/// Cancels every token. Returns whether at least one was not yet cancelled.
#[cfg(windows)]
fn cancel_all() -> bool {
    let mut any = false;
    for (signal, cancelled) in &*tokens() {
        signal.store(1, Ordering::Relaxed);
        any |= !cancelled.swap(true, Ordering::Release);
    }
    any
}

/// Ends the program by SIGPIPE without a message, as a closed pipe ends other programs. Rust's
/// runtime ignores that signal, so that writing has returned an error instead.
pub(crate) fn exit_by_sigpipe() -> ! {
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    std::process::exit(141)
}

#[cfg(all(test, windows))]
mod tests {
    use super::*;

    #[test]
    fn first_ctrl_c_cancels_and_the_second_ends_the_program() {
        let cancel = CancelToken::on_signal();
        assert!(!cancel.is_cancelled());
        assert!(cancel_all());
        assert!(cancel.is_cancelled() && cancel.flag().load(Ordering::Acquire));
        assert!(!cancel_all());
    }
}
