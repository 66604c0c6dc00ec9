//! Counts messages and bytes, and collects decoding times.

use hdrhistogram::{Counter, Histogram};

use super::record::{MessageRecord, Verdict};

/// Largest decoding time that a record can hold, in nanoseconds.
const MAX_NS: u64 = u32::MAX as u64;

/// Counts of messages and bytes, and decoding times, of a connection, of a transport or of all
/// messages.
#[derive(Clone, Debug)]
pub struct Stats<C: Counter = u64> {
    verdicts: [u64; Verdict::ALL.len()],
    compressed: u64,
    payload: u64,
    /// Payload bytes of timed messages.
    timed_payload: u64,
    decode_ns: u64,
    dropped: u64,
    /// Decoding times in nanoseconds (HDR histogram).
    times: Histogram<C>,
}

impl<C: Counter> Stats<C> {
    /// Creates statistics of no messages, with times to `digits` significant decimal digits.
    fn with_digits(digits: u8) -> Self {
        // Fails only for invalid bounds or digits.
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

    /// Counts a message. Its decoding time counts only if the message was decoded and timed.
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

    /// Counts lost records.
    pub fn add_dropped(&mut self, records: u64) {
        self.dropped = self.dropped.saturating_add(records);
    }

    /// Number of messages that were decoded.
    pub fn messages(&self) -> u64 {
        self.verdicts[Verdict::Decoded as usize]
    }

    /// Number of messages that could not be decoded.
    pub fn errors(&self) -> u64 {
        self.verdicts.iter().sum::<u64>() - self.messages()
    }

    /// Number of messages with this verdict.
    pub fn with_verdict(&self, verdict: Verdict) -> u64 {
        self.verdicts[verdict as usize]
    }

    /// Compressed bytes of all messages.
    pub fn compressed_bytes(&self) -> u64 {
        self.compressed
    }

    /// Payload bytes of all messages.
    pub fn payload_bytes(&self) -> u64 {
        self.payload
    }

    /// Payload bytes per compressed byte; 0 without compressed bytes.
    pub fn ratio(&self) -> f64 {
        if self.compressed == 0 { 0.0 } else { self.payload as f64 / self.compressed as f64 }
    }

    /// Number of messages that were decoded and timed. A recorder times the first message of each
    /// connection, and then one in 16.
    pub fn timed(&self) -> u64 {
        self.times.len()
    }

    /// Nanoseconds spent decoding the [timed](Self::timed) messages, in total.
    pub fn decode_ns(&self) -> u64 {
        self.decode_ns
    }

    /// Payload bytes per second of decoding, over the timed messages; 0 if they took no time.
    pub fn bytes_per_second(&self) -> f64 {
        if self.decode_ns == 0 { 0.0 } else { self.timed_payload as f64 * 1e9 / self.decode_ns as f64 }
    }

    /// Decoding time, in nanoseconds, that the fraction `quantile` (from 0 to 1) of the timed
    /// messages did not exceed. It is accurate to 0.1 % for all messages and transports, and to 6 %
    /// for a connection. 0 if no message was timed.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        self.times.value_at_quantile(quantile)
    }

    /// Number of records that were lost.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Stats<u64> {
    /// Creates statistics of no messages. They take 184 KiB of memory, which makes decoding times
    /// accurate to 0.1 %.
    pub fn new() -> Self {
        Stats::with_digits(3)
    }

    /// Adds the counts of `other`.
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
    /// Creates statistics for one connection. They take 2 KiB of memory, which makes decoding times
    /// accurate to 6 %.
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
