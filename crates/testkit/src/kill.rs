//! Ending a process: killed after a random delay, or asked to end.

#[cfg(unix)]
use std::process::Child;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

/// Names the seed with which a run of the tests can be repeated.
const SEED: &str = "LINERATE_KILL_SEED";

/// Random delays within a run that takes `whole`, different in every run of the tests; the seed is printed.
/// The first delay is zero, so that at least one process is killed in time.
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
        // 31 bits.
        if number == 0 { Duration::ZERO } else { whole.mul_f64(mixed as f64 / (1u64 << 31) as f64) }
    })
}

/// Starts a program, kills it after a while, and says whether it had not ended by itself.
///
/// # Panics
/// If it does not start.
pub fn killed(command: &mut Command, after: Duration) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    thread::sleep(after);
    // Of one that has ended there is nothing to kill.
    let _ = child.kill();
    !child.wait().expect("it ends").success()
}

/// Sends SIGTERM, which the program takes as it does Ctrl+C. Not SIGINT: a shell without job control has programs in the background
/// ignore that one, and so all that they start, these tests among them.
///
/// # Panics
/// If it cannot be sent.
#[cfg(unix)]
pub fn terminate(child: &Child) {
    // The shell has this command where no package does.
    let kill = Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).status();
    assert!(kill.expect("a shell").success(), "the program cannot be ended");
}
