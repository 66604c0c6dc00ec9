//! The list of all metrics: name, unit, whether more is better, decimals and meaning of each.

/// Whether more or less of a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better, as for a speed or a ratio.
    Higher,
    /// Less is better, as for a time or a size.
    Lower,
    /// Neither more nor less is better, as for a number of blocks.
    Neither,
}

/// A metric of [`METRICS`].
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name in records and queries.
    pub name: &'static str,
    /// The unit of its values. Empty for quotients, counts and rates of requests.
    pub unit: &'static str,
    /// Whether more or less is better.
    pub better: Better,
    /// Number of decimals that tables print.
    pub decimals: usize,
    /// Description for the table in `records/README.md`.
    pub meaning: &'static str,
}

/// The metric with this name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

const fn row(
    name: &'static str,
    unit: &'static str,
    better: Better,
    decimals: usize,
    meaning: &'static str,
) -> Metric {
    Metric { name, unit, better, decimals, meaning }
}

use Better::{Higher, Lower, Neither};

/// Every metric, by kind. Speeds are bytes of content per second of CPU time, unless the meaning or
/// the parameter `clock` says otherwise, or the shape works on several threads or files.
#[rustfmt::skip]
pub const METRICS: &[Metric] = &[
    // Speeds.
    row("speed", "MB/s", Higher, 0, "content per second"),
    row("speed_plain", "MB/s", Higher, 0, "content per second without the filter"),
    row("predicted_speed", "MB/s", Higher, 0, "speed that the plan predicted"),
    row("encode", "MB/s", Higher, 0, "content encoded per second, by the wall clock"),
    row("decode", "MB/s", Higher, 0, "content decoded per second, by the wall clock"),
    row("encode_cpu", "MB/s", Higher, 0, "content encoded per second of CPU time"),
    row("decode_cpu", "MB/s", Higher, 0, "content decoded per second of CPU time"),
    row("inverse", "GB/s", Higher, 1, "bytes per second of a filter's inverse alone"),
    row("speed_out", "MB/s", Neither, 0, "compressed bytes sent per second"),
    row("requests_per_second", "", Higher, 0, "requests per second of elapsed time"),
    row("requests_per_cpu", "", Higher, 0, "requests per second of CPU time"),
    // Quotients, of medians or of each round.
    row("speed_by_base", "", Higher, 2, "speed divided by that of `base`"),
    row("speed_by_hot", "", Higher, 2, "speed divided by that of the same contender with hot dictionaries"),
    row("speed_by_none", "", Higher, 2, "speed divided by that of the same contender without dictionaries"),
    row("speed_by_one_thread", "", Higher, 2, "speed divided by that of one thread"),
    row("speed_by_jda", "", Higher, 2, "speed divided by that of the JDK's inflater used as JDA does"),
    row("speed_by_jdk_stream", "", Higher, 2, "speed divided by that of the JDK's inflater read as a stream"),
    row("speed_by_zstd_jni", "", Higher, 2, "speed divided by that of zstd-jni read as a stream"),
    row("cpu_by_base", "", Lower, 2, "CPU time divided by that of `base`"),
    row("elapsed_by_base", "", Lower, 2, "elapsed time divided by that of `base`"),
    row("pack_by_base", "", Lower, 2, "CPU time of packing divided by that of `base`"),
    row("ratio_by_base", "", Higher, 2, "ratio divided by that of `base`"),
    row("size_by_base", "", Lower, 3, "size divided by that of `base`"),
    row("output_by_base", "", Lower, 4, "output divided by that of `base`"),
    row("counted_by_base", "", Lower, 2, "counted bytes divided by those of `base`"),
    row("instructions_by_base", "", Lower, 3, "instructions divided by those of `base`"),
    row("allocated_by_base", "", Lower, 2, "allocated bytes divided by those of `base`"),
    // Sizes.
    row("ratio", "", Higher, 3, "content divided by output"),
    row("predicted_ratio", "", Higher, 2, "ratio that the plan predicted"),
    row("size", "", Lower, 3, "output divided by content"),
    row("saved", "", Higher, 3, "saved share of the content, as a server prints it"),
    row("part", "", Lower, 4, "share of the archive that this part takes"),
    row("output", "bytes", Lower, 0, "compressed bytes, of an archive or of one response"),
    row("content", "bytes", Neither, 0, "bytes before compression"),
    row("body", "bytes", Lower, 0, "mean bytes of a response"),
    row("counted", "bytes", Lower, 0, "bytes read, or peak of resident memory, depending on the case"),
    row("code", "bytes", Lower, 0, "machine code and constants of the program"),
    row("decoded", "bytes", Lower, 0, "bytes decoded to read the requested part"),
    // Times.
    row("time", "µs", Lower, 1, "time for one block, message, row or request"),
    row("elapsed_time", "µs", Lower, 1, "`time` by the wall clock"),
    row("encode_time", "µs", Lower, 1, "time to encode one message"),
    row("decode_time", "µs", Lower, 1, "time to decode one message"),
    row("collect_time", "µs", Lower, 1, "CPU time of the thread that counts messages, per message"),
    row("decompress", "µs", Lower, 1, "the part of `time` in the decompressor"),
    row("longest", "µs", Lower, 0, "time of the slowest message of a round"),
    row("p50", "µs", Lower, 1, "time that half of the reads or messages do not exceed"),
    row("p90", "µs", Lower, 1, "time that 90 % do not exceed"),
    row("p99", "µs", Lower, 1, "time that 99 % do not exceed"),
    row("p999", "µs", Lower, 1, "time that 99.9 % do not exceed"),
    row("cpu", "s", Lower, 2, "CPU time of the whole"),
    row("cpu_rest", "s", Lower, 3, "CPU time per second while nothing happens"),
    row("elapsed", "s", Lower, 2, "elapsed time of the whole"),
    row("silence", "s", Lower, 1, "longest time without output on the terminal"),
    row("planned", "s", Neither, 1, "elapsed time of the plan"),
    row("pack", "s", Lower, 1, "CPU time to pack"),
    row("first", "ms", Lower, 1, "from opening to the first file"),
    row("pass_1", "ms", Lower, 0, "the first pass over the list"),
    row("pass_2", "ms", Lower, 0, "the second pass"),
    row("pass_3", "ms", Lower, 0, "the third pass"),
    row("instructions", "", Lower, 0, "instructions that valgrind counted"),
    // Memory.
    row("state", "bytes", Lower, 0, "memory of one stream between its calls"),
    row("scratch", "bytes", Lower, 0, "memory that all streams of a thread share"),
    row("heap", "bytes", Lower, 0, "heap held for each stream or connection"),
    row("native", "bytes", Lower, 0, "memory outside Java's heap for each connection"),
    row("native_added", "bytes", Lower, 0, "`native` minus that without compression"),
    row("heap_added", "bytes", Lower, 0, "`heap` minus that without compression"),
    row("resident", "bytes", Lower, 0, "resident memory, of a process or per connection"),
    row("told", "bytes", Lower, 0, "memory that the library itself reports for each connection"),
    row("per_connection", "bytes", Lower, 0, "resident memory of a connection or response"),
    row("added", "bytes", Lower, 0, "`per_connection` minus that without compression"),
    row("slow_client", "bytes", Lower, 0, "resident memory for a client that reads slowly"),
    row("beside", "bytes", Lower, 0, "memory for each dictionary beside the dictionary itself"),
    row("per_file", "bytes", Lower, 0, "anonymous memory for each open file of a database"),
    row("peak", "bytes", Lower, 0, "peak of resident memory"),
    row("allocated", "bytes", Lower, 1, "bytes allocated for each message, which become garbage"),
    row("allocated_total", "bytes", Lower, 0, "bytes allocated for the whole"),
    row("garbage", "bytes", Lower, 0, "bytes allocated to encode and decode one message"),
    // Counts and properties.
    row("requests", "", Neither, 0, "requests answered"),
    row("answered", "", Higher, 0, "connections that answered"),
    row("alerts", "", Lower, 0, "alerts in the log"),
    row("errors", "", Lower, 0, "messages that were errors"),
    row("hits", "", Neither, 0, "reads from decoded blocks"),
    row("misses", "", Neither, 0, "reads that decoded a block"),
    row("blocks", "", Neither, 0, "blocks of an archive"),
    row("filtered_blocks", "", Neither, 0, "blocks of an archive that are filtered"),
    row("error", "", Lower, 3, "prediction divided by the measured figure, minus 1"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_there_once() {
        for (i, row) in METRICS.iter().enumerate() {
            assert!(METRICS[..i].iter().all(|other| other.name != row.name), "{}", row.name);
        }
    }
}
