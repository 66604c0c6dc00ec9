//! Options of the layer.

use std::time::Duration;

use linerate_deflate::{Controller, Level};

use crate::load::{Load, process_cpu_time};

/// Options of a [`CompressionLayer`](crate::CompressionLayer).
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) level: Level,
    pub(crate) min_size: u64,
    pub(crate) event_window_bits: u8,
    max_cpu: Option<u32>,
    max_rate: Option<u64>,
    cpu_clock: fn() -> Duration,
}

impl Options {
    /// The defaults: [`Level::Default`], responses of at least 1 KiB, a window of 2 KiB for
    /// server-sent events, no limits.
    pub fn new() -> Self {
        Options {
            level: Level::Default,
            min_size: 1024,
            event_window_bits: 11,
            max_cpu: None,
            max_rate: None,
            cpu_clock: process_cpu_time,
        }
    }

    /// Sets the level. With a limit it is the highest level that is used.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets the smallest response to compress. A response that is known to have fewer bytes is sent
    /// as it is.
    #[must_use]
    pub fn min_size(mut self, bytes: u64) -> Self {
        self.min_size = bytes;
        self
    }

    /// Sets the window of server-sent events: they may refer to the last 2^`bits` bytes of their
    /// response. `bits` is 8 to 15 (a value outside is replaced by the nearest), or 0 for no
    /// window. A response holds the window and an index, as [`linerate_deflate::session`]
    /// describes: at levels below 4, 6.1 KiB for 11 bits, the default.
    #[must_use]
    pub fn event_window_bits(mut self, bits: u8) -> Self {
        self.event_window_bits = if bits == 0 { 0 } else { bits.clamp(8, 15) };
        self
    }

    /// Lowers the level, down to no compression, while the process uses more CPU time than this, in
    /// percent of one CPU; see [`Controller`]. On systems other than Unix,
    /// [`cpu_clock`](Self::cpu_clock) must be set, too.
    #[must_use]
    pub fn max_cpu(mut self, percent: u32) -> Self {
        self.max_cpu = Some(percent);
        self
    }

    /// Lowers the level, down to no compression, while more bytes per second than this are to be
    /// compressed.
    #[must_use]
    pub fn max_rate(mut self, bytes_per_second: u64) -> Self {
        self.max_rate = Some(bytes_per_second);
        self
    }

    /// Sets the clock for [`max_cpu`](Self::max_cpu). It returns the CPU time used so far, for
    /// example by some threads or by a control group, and replaces the CPU time of the process.
    #[must_use]
    pub fn cpu_clock(mut self, clock: fn() -> Duration) -> Self {
        self.cpu_clock = clock;
        self
    }

    /// Creates the controller that lowers the level to keep `max_cpu` and `max_rate`. `None` if
    /// neither is set.
    pub(crate) fn load(&self) -> Option<Load> {
        if self.max_cpu.is_none() && self.max_rate.is_none() {
            return None;
        }
        let mut controller = Controller::new(self.level);
        if let Some(percent) = self.max_cpu {
            controller = controller.max_cpu(percent);
        }
        if let Some(rate) = self.max_rate {
            controller = controller.max_rate(rate);
        }
        Some(Load::new(controller, self.cpu_clock))
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}
