//! Measures how much CPU time other programs use, since the speed of several threads is that of the
//! cores that are free.

use std::fs;

/// Share of the threads for which there must be no free core, before a plan mentions it.
const MENTIONED: f64 = 0.1;
/// Fewest ticks of each core for a note. The system counts 100 ticks per second, and fewer than a
/// second's are mostly noise.
const TICKS: u64 = 100;

/// CPU time in ticks, of all cores together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// Number of cores of the machine.
    cores: usize,
    /// All time that passed, busy or not.
    all: u64,
    /// Time that programs used.
    busy: u64,
    /// Time that this process used.
    own: u64,
}

impl Load {
    /// Returns the time that passed and was used since the system and the process began. `None`
    /// where there is no `/proc`, as on systems other than Linux.
    pub(super) fn now() -> Option<Load> {
        Load::parse(&fs::read_to_string("/proc/stat").ok()?, &fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Parses `/proc/stat` and `/proc/self/stat` (proc_stat(5), proc_pid_stat(5)).
    fn parse(system: &str, process: &str) -> Option<Load> {
        let cores =
            system.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
        let total = system.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // User, nice, system, idle, waiting for a drive, interrupts (two kinds), and the time that
        // the host gave to other virtual machines. The time of guests follows, which user includes.
        let ticks: Vec<u64> = total.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
        let [user, nice, system, _, _, interrupts, soft, ..] = ticks[..] else { return None };
        // The name of the program is in parentheses, and may contain spaces and parentheses.
        let mut fields = process.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut field = || fields.next()?.parse::<u64>().ok();
        Some(Load {
            cores,
            all: ticks.iter().sum(),
            busy: user + nice + system + interrupts + soft,
            own: field()? + field()?,
        })
    }

    /// Returns the time from `before` until this.
    pub(super) fn since(self, before: &Load) -> Load {
        Load {
            cores: self.cores,
            all: self.all.saturating_sub(before.all),
            busy: self.busy.saturating_sub(before.busy),
            own: self.own.saturating_sub(before.own),
        }
    }

    /// Returns a note if other programs left too few cores free for this number of threads in this
    /// time. One thread is measured in CPU time, so it needs none.
    pub(super) fn note(self, threads: usize) -> Option<String> {
        let Load { cores, all, busy, own } = self;
        if threads < 2 || cores == 0 || all < TICKS * cores as u64 {
            return None;
        }
        let others = busy.saturating_sub(own) as f64 / all as f64 * cores as f64;
        let missing = threads as f64 - (cores as f64 - others);
        (missing > MENTIONED * threads as f64).then(|| {
            format!(
                "Other programs used {others:.1} of {cores} cores during the measurement: speeds on several \
                 threads are too low. Plan again on a quiet machine."
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEM: &str = "cpu  98100 74303 21182 30612 1139 5 224 349 7 0\n\
                          cpu0 50228 35117 9620 17634 182 0 23 173 0 0\n\
                          cpu1 47872 39185 11562 12978 956 5 201 176 7 0\nintr 1353893 0\n";

    #[test]
    fn times_of_the_system_and_of_the_process_are_read() {
        let process = "69 (a) b) R 6903 6903 5446 0 -1 4194304 100 0 0 0 120 30 5 6 20 0 1 0 113166\n";
        let busy = 98100 + 74303 + 21182 + 5 + 224;
        let all = busy + 30612 + 1139 + 349;
        assert_eq!(Load::parse(SYSTEM, process), Some(Load { cores: 2, all, busy, own: 150 }));
        assert_eq!(Load::parse("intr 5\n", process), None);
        assert_eq!(Load::parse(SYSTEM, "69"), None);
    }

    #[test]
    fn note_is_only_for_threads_without_a_free_core() {
        let load = |cores, all, busy, own| Load { cores, all, busy, own };
        assert_eq!(
            load(2, 4000, 3400, 1000).note(2).as_deref(),
            Some(
                "Other programs used 1.2 of 2 cores during the measurement: speeds on several threads are too \
                 low. Plan again on a quiet machine."
            )
        );
        assert_eq!(load(2, 4000, 2300, 2000).note(2), None, "0.15 cores");
        assert_eq!(load(2, 4000, 3400, 1000).note(1), None, "CPU time");
        assert_eq!(load(2, 150, 150, 10).note(2), None, "too short");
        assert_eq!(load(8, 16_000, 9000, 1000).note(4), None, "4 of 8 cores are free");
        assert!(load(8, 16_000, 11_000, 1000).note(4).is_some(), "3 of 8 cores are free");
        assert_eq!(load(2, 4000, 1000, 1100).note(2), None);
    }

    #[test]
    fn time_since_is_a_difference() {
        let load = |all, busy, own| Load { cores: 2, all, busy, own };
        assert_eq!(load(900, 500, 40).since(&load(600, 300, 10)), load(300, 200, 30));
    }
}
