//! What a recorder of statistics costs the decoder, in one process: `stats FILE.zlib FILE.zst ...`
//!
//! Files are messages, each preceded by its length in four bytes. 2,500 connections take turns, one message each, from
//! the beginning of the file; rounds without and with a recorder alternate. Printed are nanoseconds per message in CPU
//! time of the decoding thread (median of the rounds), the difference, and what the collecting thread took.

use std::fs::File;
use std::io::BufReader;
use std::time::Duration;

use linerate_gateway::stats::{Clock, LogOptions, StatsOptions, StatsRecorder};
use linerate_gateway::{Limits, Messages, Scratch, Session, Transport};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 9;
const CONNECTIONS: usize = 2500;
/// Messages of each connection.
const TURNS: usize = 20;
/// Those that are timed: the others are large.
const TIMED: usize = 10;

fn time(clock: ClockId) -> Duration {
    let t = clock_gettime(clock);
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// Nanoseconds per message of the decoding thread, and of the others.
fn round(frames: &[Vec<u8>], transport: Transport, recorder: Option<&StatsRecorder>) -> (f64, f64) {
    let mut scratch = Scratch::new();
    let session = |_| {
        let session = Session::new(transport, Limits::new());
        match recorder {
            Some(recorder) => session.record_stats(recorder.connection()),
            None => session,
        }
    };
    let mut sessions: Vec<Session> = (0..CONNECTIONS).map(session).collect();
    // The guilds of the beginning, in one go.
    let begin = frames.len() - TURNS;
    let mut warm = |session: &mut Session, frames: &[Vec<u8>]| {
        frames.iter().for_each(|frame| _ = session.message(frame, &mut scratch).expect("valid"));
    };
    sessions.iter_mut().for_each(|session| warm(session, &frames[..begin + TURNS - TIMED]));
    let (thread, process) = (time(ClockId::ThreadCPUTime), time(ClockId::ProcessCPUTime));
    for frame in &frames[frames.len() - TIMED..] {
        for session in &mut sessions {
            session.message(frame, &mut scratch).expect("valid");
        }
    }
    let thread = time(ClockId::ThreadCPUTime) - thread;
    let others = (time(ClockId::ProcessCPUTime) - process).saturating_sub(thread);
    let each = |time: Duration| time.as_nanos() as f64 / (TIMED * CONNECTIONS) as f64;
    (each(thread), each(others))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    println!("file,clock,plain_ns,recorded_ns,difference_ns,percent,collector_ns,dropped");
    let folder = std::env::temp_dir().join(format!("linerate-stats-{}", std::process::id()));
    for path in std::env::args().skip(1) {
        let transport = if path.ends_with(".zlib") { Transport::Zlib } else { Transport::Zstd };
        let file = BufReader::new(File::open(&path).expect("a file"));
        let mut frames: Vec<Vec<u8>> = Messages::new(file).collect::<Result<_, _>>().expect("messages");
        // A few guilds are enough to fill the window.
        frames.truncate(160 + TURNS);
        for clock in [Clock::Monotonic, Clock::ThreadCpu] {
            let options = StatsOptions::new().clock(clock).log(LogOptions::new(&folder));
            let recorder = StatsRecorder::start(options).expect("a recorder");
            let (mut plain, mut recorded, mut collected) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                plain.push(round(&frames, transport, None).0);
                let (own, others) = round(&frames, transport, Some(&recorder));
                recorded.push(own);
                collected.push(others);
            }
            let (plain, recorded) = (median(plain), median(recorded));
            let (difference, dropped) = (recorded - plain, recorder.dropped());
            println!(
                "{path},{clock:?},{plain:.0},{recorded:.0},{difference:.0},{:.2},{:.0},{dropped}",
                100.0 * difference / plain,
                median(collected)
            );
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}
