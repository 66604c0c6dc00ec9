//! Handles signals: removes temporary files and cancels long work before the program exits.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};
#[cfg(windows)]
use std::sync::{Mutex, MutexGuard};

#[cfg(windows)]
use linerate_core::lock;

/// Makes the first incomplete output file that gets a temporary name install signal handling, so
/// that a signal removes such files before the program ends. On Linux most files have no name until
/// they are complete (`O_TMPFILE`). Then no thread for signals is started, which would take a third
/// of the time of compressing a small file.
pub(crate) fn remove_temporaries_on_signal() {
    linerate_io::before_temporaries(install_once);
}

fn install_once() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
}

/// Starts a thread that waits for SIGHUP, SIGINT, SIGTERM and SIGXFSZ (the limit of file sizes),
/// unless they are ignored. At a signal it removes the temporary files and ends the program by that
/// signal.
#[cfg(unix)]
fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    let wanted = not_ignored([SIGHUP, SIGINT, SIGTERM, SIGXFSZ]);
    // Without the thread a signal still ends the program, but temporary files remain.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // The guard is held until the program ends, so that no temporary file is created
            // meanwhile.
            let _none = linerate_io::remove_temporaries();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// Handles Ctrl+C, Ctrl+Break, the closing of the console and the end of the user's session. If
/// such an event cancels a [`CancelToken`], the program goes on, so that its work can stop.
/// Otherwise the temporary files are removed, and Windows ends the program.
#[cfg(windows)]
fn install() {
    linerate_io::on_console_end(|| {
        let goes_on = cancel_all();
        if !goes_on {
            // The guard is held until the program ends, so that no temporary file is created
            // meanwhile.
            std::mem::forget(linerate_io::remove_temporaries());
        }
        goes_on
    });
}

#[cfg(not(any(unix, windows)))]
fn install() {}

/// Leaves out the signals that the program ignores since its start, as under `nohup`. Only Linux
/// shows which these are; elsewhere no signal is left out.
#[cfg(unix)]
fn not_ignored<const N: usize>(signals: [i32; N]) -> impl Iterator<Item = i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    let mask = mask.unwrap_or(0);
    signals.into_iter().filter(move |signal| mask >> (signal - 1) & 1 == 0)
}

/// Runs work that the first signal cancels. If a signal has arrived, ends the program by it when
/// the work has returned and removed its incomplete files.
pub(crate) fn cancellable<T>(work: impl FnOnce(&CancelToken) -> T) -> T {
    let cancel = CancelToken::on_signal();
    let result = work(&cancel);
    cancel.exit_if_cancelled();
    result
}

/// A token that the first signal cancels, so that work can stop and clean up. A second signal ends
/// the program at once.
pub(crate) struct CancelToken {
    /// The number of the signal that has arrived, 1 on Windows; 0 until then.
    signal: Arc<AtomicUsize>,
    /// Whether a signal has arrived.
    cancelled: Arc<AtomicBool>,
}

impl CancelToken {
    /// Makes a token that SIGHUP, SIGINT and SIGTERM cancel from now on, unless they are ignored.
    /// On Windows, Ctrl+C, Ctrl+Break, the closing of the console and the end of the user's session
    /// cancel it; on systems that are neither Unix nor Windows, nothing does.
    pub(crate) fn on_signal() -> CancelToken {
        let cancel = CancelToken { signal: Arc::default(), cancelled: Arc::default() };
        #[cfg(any(unix, windows))]
        register(&cancel.signal, &cancel.cancelled);
        cancel
    }

    /// Returns a shared flag that becomes true when the token is cancelled, for engines that poll
    /// one.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }

    /// Ends the program by the signal that cancelled this token, if one did; on Windows, with the
    /// exit code of Ctrl+C.
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
        // A signal whose handlers cannot be registered ends the program, as by default. At each
        // signal the handlers run in the order of registration. The one that ends the program if
        // `cancelled` is set comes first, so that it does nothing at the first signal.
        let _ = signal_hook::flag::register_conditional_default(number, Arc::clone(cancelled))
            .and_then(|_| signal_hook::flag::register(number, Arc::clone(cancelled)))
            .and_then(|_| signal_hook::flag::register_usize(number, Arc::clone(signal), number as usize));
    }
}

/// The fields `signal` and `cancelled` of each [`CancelToken`].
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
/// runtime ignores that signal, so that writing has returned an error instead. Systems without
/// signals get exit status 141.
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
