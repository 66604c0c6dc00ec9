//! Ends a process: kills it after a random delay, or sends SIGTERM.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

#[cfg(unix)]
const SIGKILL: i32 = 9;

/// Environment variable with the seed that repeats the delays of an earlier run of the tests.
const SEED: &str = "LINERATE_KILL_SEED";

/// Returns `count` random delays below `whole`, the duration of a complete run of the program.
/// Unless `LINERATE_KILL_SEED` has a number, they differ in every run of the tests; the seed is
/// printed. The first delay is zero, so that very likely one process is killed before it ends.
pub fn moments(count: u32, whole: Duration) -> impl Iterator<Item = Duration> {
    let now =
        || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |now| now.as_nanos() as u64);
    let given = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or_else(now);
    println!("{SEED}={seed} chooses the same moments of {whole:?} again");
    let mut state = seed | 1;
    (0..count).map(move |number| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33;
        // `mixed` has 31 bits.
        if number == 0 { Duration::ZERO } else { whole.mul_f64(mixed as f64 / (1u64 << 31) as f64) }
    })
}

/// Starts a program without its output, and [kills](kill) it after a delay. Returns whether it was
/// killed: false if it had already succeeded.
///
/// # Panics
/// If the program does not start, or has failed by itself.
pub fn killed(command: &mut Command, after: Duration) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    thread::sleep(after);
    kill(&mut child)
}

/// Kills a program. Returns whether it was killed: false if it had already succeeded.
///
/// # Panics
/// If it has failed by itself. Where there are no signals, as on Windows, a program that fails in
/// the moment in which it is killed counts as killed.
pub fn kill(child: &mut Child) -> bool {
    if let Some(status) = child.try_wait().expect("its status") {
        assert!(status.success(), "the program has failed by itself: {status}");
        return false;
    }
    // The process may have ended meanwhile. The exit status tells.
    let _ = child.kill();
    is_killed(child.wait().expect("it ends"))
}

/// Whether a process with this status was killed: false if it succeeded. Panics if it failed by
/// itself.
fn is_killed(status: ExitStatus) -> bool {
    #[cfg(unix)]
    let by_itself = std::os::unix::process::ExitStatusExt::signal(&status) != Some(SIGKILL);
    #[cfg(not(unix))]
    let by_itself = false;
    assert!(status.success() || !by_itself, "the program has failed by itself: {status}");
    !status.success()
}

/// Sends SIGTERM to the program `linerate`, which handles it like Ctrl+C. SIGINT would not do: a
/// shell without job control makes its background programs ignore SIGINT, and whatever these start,
/// such as tests and the program, ignores it too.
///
/// # Panics
/// If the signal cannot be sent.
#[cfg(unix)]
pub fn terminate(child: &Child) {
    // The shell has its own `kill`, so the program of that name need not be installed.
    let kill = Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).status();
    assert!(kill.expect("a shell").success(), "the program cannot be ended");
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn only_a_program_that_was_killed_counts_as_killed() {
        assert!(is_killed(ExitStatus::from_raw(SIGKILL)));
        assert!(!is_killed(ExitStatus::from_raw(0)));
    }

    #[test]
    #[should_panic(expected = "the program has failed by itself: exit status: 3")]
    fn program_that_exits_with_an_error_has_failed_by_itself() {
        is_killed(ExitStatus::from_raw(3 << 8));
    }

    #[test]
    #[should_panic(expected = "the program has failed by itself")]
    fn program_that_dies_of_another_signal_has_failed_by_itself() {
        is_killed(ExitStatus::from_raw(11));
    }
}
