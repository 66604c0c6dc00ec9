//! Statistics of gateway connections: arbitrary bytes as a log, and as records of 18 bytes.

use linerate_gateway::Transport;
use linerate_gateway::stats::{
    LogEntry, LogReader, LogWriter, ORIGIN_RECORD, OriginReader, OriginWriter, Stats, Verdict,
};

/// Reads a file and writes its records again. The first byte chooses the format (0: records of 18
/// bytes, else a log), the rest is the file.
///
/// # Panics
/// If a log gets another number of records, if the sizes in a record of 18 bytes change, or if a
/// reader continues after an error.
pub fn gateway_stats(data: &[u8]) {
    match data.split_first() {
        Some((0, file)) => origin(file),
        Some((_, file)) => log(file),
        None => {}
    }
}

fn log(file: &[u8]) {
    let Ok(mut reader) = LogReader::open(file) else { return };
    let header = (reader.clock(), reader.created(), reader.number());
    let mut again = LogWriter::new(Vec::new(), header.0, header.1, header.2).expect("a vector takes all");
    let mut stats = Stats::new();
    while let Some(Ok(entry)) = reader.next() {
        again.add(&entry).expect("a vector takes all");
        match entry {
            LogEntry::Message(record) => stats.add(&record),
            LogEntry::Dropped { records, .. } => stats.add_dropped(records),
        }
    }
    assert!(reader.next().is_none(), "nothing follows an error");
    let again = again.finish().expect("a vector takes all");
    // Only the number of entries is compared: the connection numbers of dropped records are not kept.
    assert_eq!(LogReader::open(&again[..]).expect("a log").count(), again.len() / 32 - 1);
    assert!(stats.quantile_ns(1.0) >= stats.quantile_ns(0.5));
}

fn origin(file: &[u8]) {
    let mut reader = OriginReader::new(file, Transport::Zlib);
    let mut again = OriginWriter::new(Vec::new());
    let mut records = 0;
    while let Some(Ok(record)) = reader.next() {
        assert_eq!(record.verdict, Verdict::Decoded);
        again.add(&record).expect("a vector takes all");
        records += 1;
    }
    assert!(reader.next().is_none(), "nothing follows an error");
    let again = again.finish().expect("a vector takes all");
    assert_eq!(again.len(), records * ORIGIN_RECORD);
    // Only sizes are compared: times above four seconds are cut, and separators are normalized.
    for (new, old) in again.chunks(ORIGIN_RECORD).zip(file.chunks(ORIGIN_RECORD)) {
        assert_eq!(new[8..16], old[8..16]);
    }
}
