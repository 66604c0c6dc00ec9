//! The table of `SECURITY.md`: what kills, full disks, damaged input and fuzzing did to what writes and what reads.

use crate::records::{Record, Row};
use crate::tables::{Table, table};

const DAMAGE: &str = "2026-11-24-damage.csv";
const FUZZ: &str = "2026-11-24-fuzz.csv";

/// The fuzz targets of a row, by its name.
const TARGETS: [(&str, &[&str]); 16] = [
    ("gzip", &["roundtrip", "tight_output", "deflate_session"]),
    ("rice encode", &["rice", "rice_v2"]),
    ("nx pack", &["nx_filter"]),
    ("gateway record", &["gateway_stats"]),
    ("gzip -d", &["inflate"]),
    ("zstd -d", &["zstd_frame", "zstd_stream", "zstd_reader", "zstd_seekable", "zstd_dictionary"]),
    ("rice decode v1", &["rice"]),
    ("rice decode v2", &["rice_v2"]),
    ("nx extract", &["nx", "nx_filter"]),
    ("nx extract of R3A", &["r3a"]),
    ("dict pack extract", &["dict_pack"]),
    ("dict scan", &["dict_blocks"]),
    ("dict sst ls", &["sst"]),
    ("gateway replay of zlib", &["gateway", "gateway_zlib", "gateway_message"]),
    ("gateway replay of zstd", &["gateway"]),
    ("websocket frames", &["websocket"]),
];

pub(crate) fn tables() -> Vec<Table> {
    vec![("damage", damage())]
}

/// Writers first, then readers: the newest run. Fuzzing is counted over all of them.
fn damage() -> String {
    let (record, fuzz) = (Record::read(DAMAGE), Record::read(FUZZ));
    let newest = ("linerate", record.latest(&[]).text("linerate"));
    let mut rows = Vec::new();
    for killed in record.all(&[newest, ("role", "killed")]) {
        let name = killed.text("name");
        let full = record.one(&[newest, ("role", "full disk"), ("name", name)]);
        let kills =
            format!("{} old, {} new of {}", killed.text("old"), killed.text("new"), killed.text("kills"));
        let cells = [&format!("write: `{name}`"), &kills, full.text("disks"), "", "", &inputs(&fuzz, name)];
        rows.push(cells.map(str::to_owned).to_vec());
    }
    for reader in record.all(&[newest, ("role", "reader")]) {
        let name = reader.text("name");
        let part = |all: &str, refused: &str| format!("{} of {}", reader.text(refused), reader.text(all));
        let truncations = part("truncations", "truncations_refused");
        let flips = part("flips", "flips_refused");
        let cells = [&format!("read: {name}"), "", "", &truncations, &flips, &inputs(&fuzz, name)];
        rows.push(cells.map(str::to_owned).to_vec());
    }
    let head = ["", "killed", "full disks", "cut short: refused", "bits flipped: refused", "fuzzed inputs"];
    let sources = [record.source(record.latest(&[])), fuzz.source(fuzz.latest(&[]))];
    table(&head, rows, &sources.join("\n\n"))
}

/// Executions of the fuzz targets that a row has.
fn inputs(fuzz: &Record, name: &str) -> String {
    let Some((_, targets)) = TARGETS.iter().find(|row| row.0 == name) else { return String::new() };
    let executions =
        |target: &&str| fuzz.all(&[("target", *target)]).into_iter().map(executions).sum::<u64>();
    targets.iter().map(executions).sum::<u64>().to_string()
}

fn executions(row: &Row) -> u64 {
    row.text("executions").parse().expect("a number")
}
