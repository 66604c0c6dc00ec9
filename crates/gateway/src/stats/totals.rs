//! Counters and decoding times of messages.

use hdrhistogram::{Counter, Histogram};

use super::record::{MessageRecord, Verdict};

/// Largest decoding time of a record, in nanoseconds.
const MAX_NS: u64 = u32::MAX as u64;

/// Messages, bytes and decoding times: of a connection, of a transport or of all.
#[derive(Clone, Debug)]
pub struct Stats<C: Counter = u64> {
    verdicts: [u64; Verdict::ALL.len()],
    compressed: u64,
    payload: u64,
    /// Bytes of payloads of timed messages.
    timed_payload: u64,
    decode_ns: u64,
    dropped: u64,
    /// Decoding times in nanoseconds (HDR histogram).
    times: Histogram<C>,
}

impl<C: Counter> Stats<C> {
    /// Of no messages, with times to `digits` significant decimal digits.
    fn with_digits(digits: u8) -> Self {
        // Fails only for bounds and digits that make no histogram.
        let times = Histogram::new_with_bounds(1, MAX_NS, digits).expect("bounds of a histogram");
        Stats {
            verdicts: [0; 5],
            compressed: 0,
            payload: 0,
            timed_payload: 0,
            decode_ns: 0,
            dropped: 0,
            times,
        }
    }

    /// Counts a message. Decoding times are those of decoded ones that were timed.
    pub fn add(&mut self, record: &MessageRecord) {
        self.verdicts[record.verdict as usize] += 1;
        self.compressed += u64::from(record.compressed);
        self.payload += u64::from(record.payload);
        if let (Verdict::Decoded, Some(ns)) = (record.verdict, record.decode_ns) {
            self.timed_payload += u64::from(record.payload);
            self.decode_ns += u64::from(ns);
            self.times.saturating_record(u64::from(ns));
        }
    }

    /// Counts records that were lost.
    pub fn add_dropped(&mut self, records: u64) {
        self.dropped = self.dropped.saturating_add(records);
    }

    /// Messages that were decoded.
    pub fn messages(&self) -> u64 {
        self.verdicts[Verdict::Decoded as usize]
    }

    /// Messages that were not.
    pub fn errors(&self) -> u64 {
        self.verdicts.iter().sum::<u64>() - self.messages()
    }

    /// Messages with this verdict.
    pub fn with_verdict(&self, verdict: Verdict) -> u64 {
        self.verdicts[verdict as usize]
    }

    /// Compressed bytes.
    pub fn compressed_bytes(&self) -> u64 {
        self.compressed
    }

    /// Bytes of payloads.
    pub fn payload_bytes(&self) -> u64 {
        self.payload
    }

    /// Payload bytes per compressed byte; 0 without messages.
    pub fn ratio(&self) -> f64 {
        if self.compressed == 0 { 0.0 } else { self.payload as f64 / self.compressed as f64 }
    }

    /// Messages that were decoded and timed: a recorder times the first of each connection, and then one in 16.
    pub fn timed(&self) -> u64 {
        self.times.len()
    }

    /// Nanoseconds of decoding [timed](Self::timed) messages, in total.
    pub fn decode_ns(&self) -> u64 {
        self.decode_ns
    }

    /// Payload bytes per second of decoding, of timed messages; 0 without any.
    pub fn bytes_per_second(&self) -> f64 {
        if self.decode_ns == 0 { 0.0 } else { self.timed_payload as f64 * 1e9 / self.decode_ns as f64 }
    }

    /// Nanoseconds of decoding that this part of timed messages did not exceed, `quantile` from 0 to 1: to 0.1 % for all
    /// messages, to 6 % for one connection. 0 without any.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        self.times.value_at_quantile(quantile)
    }

    /// Records that were lost.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Stats<u64> {
    /// Of no messages, with times to 0.1 %: 180 KiB.
    pub fn new() -> Self {
        Stats::with_digits(3)
    }

    /// Counts the messages of another one, too.
    pub(super) fn merge(&mut self, other: &Self) {
        self.verdicts.iter_mut().zip(&other.verdicts).for_each(|(own, more)| *own += more);
        self.compressed += other.compressed;
        self.payload += other.payload;
        self.timed_payload += other.timed_payload;
        self.decode_ns += other.decode_ns;
        self.add_dropped(other.dropped);
        // Fails only for a histogram with higher bounds.
        self.times.add(&other.times).expect("the bounds are the same");
    }
}

impl Stats<u32> {
    /// Of no messages of one connection, with times to 6 %: 2 KiB.
    pub(super) fn of_connection() -> Self {
        Stats::with_digits(1)
    }
}

impl Default for Stats<u64> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Transport;

    fn record(verdict: Verdict, decode_ns: u32) -> MessageRecord {
        let (transport, decode_ns) = (Transport::Zlib, Some(decode_ns));
        MessageRecord { time: 0, connection: 0, transport, verdict, compressed: 10, payload: 60, decode_ns }
    }

    fn is_near(value: u64, expected: u64, part: f64) -> bool {
        value.abs_diff(expected) as f64 <= expected as f64 * part
    }

    #[test]
    fn messages_are_counted_by_verdict_and_times_have_quantiles() {
        let (mut all, mut one) = (Stats::new(), Stats::of_connection());
        for i in 1..=1000 {
            all.add(&record(Verdict::Decoded, i * 1000));
            one.add(&record(Verdict::Decoded, i * 1000));
        }
        all.add(&MessageRecord { payload: 0, ..record(Verdict::Limit, 1) });
        all.add(&MessageRecord { decode_ns: None, ..record(Verdict::Decoded, 0) });
        assert_eq!((all.messages(), all.errors(), all.with_verdict(Verdict::Limit)), (1001, 1, 1));
        assert_eq!((all.compressed_bytes(), all.payload_bytes()), (10_020, 60_060));
        assert_eq!((all.timed(), all.decode_ns()), (1000, 500_500_000));
        assert!((one.ratio() - 6.0).abs() < 1e-9 && (all.bytes_per_second() - 119_880.12).abs() < 0.1);
        for (quantile, expected) in [(0.5, 500_000), (0.99, 990_000), (1.0, 1_000_000)] {
            assert!(is_near(all.quantile_ns(quantile), expected, 0.001), "{quantile}");
            assert!(is_near(one.quantile_ns(quantile), expected, 0.065), "{quantile}");
        }
    }

    #[test]
    fn merged_counts_are_sums() {
        let (mut a, mut b) = (Stats::new(), Stats::new());
        a.add(&record(Verdict::Decoded, u32::MAX));
        b.add(&record(Verdict::Corrupt, 5));
        b.add_dropped(3);
        a.merge(&b);
        assert_eq!((a.messages(), a.errors(), a.dropped(), a.compressed_bytes()), (1, 1, 3, 20));
        assert!(is_near(a.quantile_ns(1.0), MAX_NS, 0.001));
        assert_eq!(Stats::new().quantile_ns(0.5), 0);
    }

    #[test]
    fn histogram_of_a_connection_has_at_most_two_kibibytes() {
        assert!(Stats::of_connection().times.distinct_values() * size_of::<u32>() <= 2048);
    }
}
