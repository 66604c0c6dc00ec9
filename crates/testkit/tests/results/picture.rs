//! The picture of the front page: each engine by the best other library on the same work, from the records.

use std::fmt::Write;

use crate::records::{Record, Row};

/// One pair of bars.
struct Comparison {
    /// What was done.
    work: &'static str,
    ours: Contender,
    peer: Contender,
}

/// A contender and what it reached, more being better.
struct Contender {
    name: String,
    speed: f64,
    /// The speed in words.
    label: String,
}

impl Contender {
    fn new(name: &str, row: &Row, column: &str, unit: &str) -> Self {
        let speed = row.number(column);
        Self { name: name.to_owned(), speed, label: format!("{speed:.0} {unit}") }
    }

    /// Of a row that has a time in milliseconds, with its speed relative to the peer's.
    fn timed(name: &str, row: &Row, speed: f64) -> Self {
        Self { name: name.to_owned(), speed, label: format!("{:.0} ms", row.number("median_ms")) }
    }
}

/// The fastest of `rows` whose output is at most 2 % larger than `size` bytes for the same input.
fn best_peer<'r>(rows: Vec<&'r Row>, speed: &str, size: f64, size_of: impl Fn(&Row) -> f64) -> &'r Row {
    let others = rows.into_iter().filter(|row| !row.text("contender").starts_with("linerate"));
    let small = others.filter(|row| size_of(row) <= size * 1.02);
    small.max_by(|a, b| a.number(speed).total_cmp(&b.number(speed))).expect("a peer")
}

/// Calls of 16 KiB over web files.
fn deflate() -> Comparison {
    let record = Record::read("2026-11-20-deflate-web.csv");
    let run = [
        ("format", "deflate"),
        ("command", "linerate-bench bytes --corpus web/files --name web --chunk 16K --rounds 9"),
    ];
    let ours = record.one(&[&run[..], &[("contender", "linerate 1")]].concat());
    let size_of = |row: &Row| 1.0 / row.number("ratio");
    let peer = best_peer(record.all(&run), "best_mb_s", size_of(ours), size_of);
    Comparison {
        work: "HTTP responses, 16 KiB a call",
        ours: Contender::new("linerate deflate 1", ours, "best_mb_s", "MB/s"),
        peer: Contender::new(peer.text("contender"), peer, "best_mb_s", "MB/s"),
    }
}

/// Decoding waveforms in memory, one thread.
fn waveforms() -> Comparison {
    let record = Record::read("2026-11-21-waveforms.csv");
    let run = [("shape", "memory"), ("corpus", "nab"), ("threads", "1")];
    let ours = record.one(&[&run[..], &[("contender", "linerate v2")]].concat());
    let size_of = |row: &Row| row.number("size_percent");
    let peer = best_peer(record.all(&run), "decode_best_mb_s", size_of(ours), size_of);
    let name = peer.text("contender").replace("pco", "Pcodec");
    Comparison {
        work: "waveforms of a detector, decoded",
        ours: Contender::new("linerate rice 2", ours, "decode_best_mb_s", "MB/s"),
        peer: Contender::new(&name, peer, "decode_best_mb_s", "MB/s"),
    }
}

/// Blocks of 4 KiB, each with another of 30,000 dictionaries. All contenders decode the same frames.
fn dictionaries() -> Comparison {
    let record = Record::read("2026-11-23-dict-cold.csv");
    let run = [
        ("measure", "cold"),
        ("kind", "JSON"),
        ("block", "4K"),
        ("dictionary", "8K"),
        ("dictionaries", "30000"),
        ("mode", "cold"),
        ("tables", "full"),
    ];
    let ours = record.one(&[&run[..], &[("contender", "linerate"), ("calls", "batch 64")]].concat());
    let peer = best_peer(record.all(&run), "best_mb_s", 1.0, |_| 1.0);
    let name = match peer.text("calls") {
        "burst" => "libzstd, prefetched".to_owned(),
        "copy" => "libzstd, dictionary copied".to_owned(),
        other => format!("libzstd, {other}"),
    };
    Comparison {
        work: "blocks with 30,000 dictionaries",
        ours: Contender::new("linerate dict", ours, "best_mb_s", "MB/s"),
        peer: Contender::new(&name, peer, "best_mb_s", "MB/s"),
    }
}

/// 2,500 connections that take turns. All contenders decode the same streams.
fn messages() -> Comparison {
    let record = Record::read("2026-11-21-gateway-native.csv");
    let run = [("measure", "many"), ("transport", "zstd-stream"), ("data", "files: shard-0 shard-1")];
    let ours = record.one(&[&run[..], &[("contender", "linerate")]].concat());
    let peer = best_peer(record.all(&run), "median_mb_s", 1.0, |_| 1.0);
    Comparison {
        work: "2,500 gateway connections in turn",
        ours: Contender::new("linerate gateway", ours, "median_mb_s", "MB/s"),
        peer: Contender::new("libzstd", peer, "median_mb_s", "MB/s"),
    }
}

/// Extraction of an archive to a folder in memory, two threads. The ratio is the median of those within each round.
fn archives() -> Comparison {
    let record = Record::read("2026-11-21-nx-mixed.csv");
    let run = [("measure", "extract"), ("corpus", "mixed")];
    let peers = record.all(&run).into_iter().filter(|row| {
        row.text("contender").contains("zstd 12") && !row.text("contender").starts_with("linerate")
    });
    let peer = peers.min_by(|a, b| a.number("median_ms").total_cmp(&b.number("median_ms"))).expect("a peer");
    let ours = [("contender", "linerate zstd 12 x2"), ("base", peer.text("contender"))];
    let ours = record.one(&[&run[..], &ours].concat());
    let name = peer.text("contender").replace(" zstd 12", "").replace("1M", "1 MiB");
    Comparison {
        work: "2,215 files extracted, 2 threads",
        ours: Contender::timed("linerate nx", ours, ours.number("vs_base")),
        peer: Contender::timed(&name, peer, 1.0),
    }
}

const WIDTH: f64 = 800.0;
const ROW: f64 = 58.0;
const TOP: f64 = 34.0;
/// Where bars begin, and what one "times as fast" is long.
const LEFT: f64 = 260.0;
const SCALE: f64 = 100.0;

/// The picture as SVG, readable on a light and on a dark page.
pub(crate) fn picture() -> String {
    let rows = [deflate(), waveforms(), dictionaries(), messages(), archives()];
    let height = TOP + ROW * rows.len() as f64 + 4.0;
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-family="system-ui, sans-serif" font-size="14">
<title>Speed of each engine, best other library = 1</title>
<style>
text {{ fill: #1f2328; }} .note {{ fill: #59636e; font-size: 12px; }} .ours {{ fill: #0969da; }} .peer {{ fill: #afb8c1; }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #f0f6fc; }} .note {{ fill: #9198a1; }} .ours {{ fill: #4493f8; }} .peer {{ fill: #59636e; }}
}}
</style>
<text x="0" y="16" font-weight="600">How many times as fast as the best other library</text>
"#
    );
    for (i, row) in rows.iter().enumerate() {
        let top = TOP + ROW * i as f64;
        let times = row.ours.speed / row.peer.speed;
        let _ = write!(
            svg,
            r#"<text x="0" y="{label}">{work}</text>
<rect class="ours" x="{LEFT}" y="{top}" width="{long:.1}" height="18" rx="2"/>
<text x="{after:.1}" y="{ours_text}"><tspan font-weight="600">{times:.2}</tspan> {ours}, {ours_speed}</text>
<rect class="peer" x="{LEFT}" y="{peer_top}" width="{SCALE}" height="18" rx="2"/>
<text class="note" x="{peer_after}" y="{peer_text}">{peer}, {peer_speed}</text>
"#,
            label = top + 24.0,
            work = row.work,
            long = SCALE * times,
            after = LEFT + SCALE * times + 6.0,
            ours_text = top + 14.0,
            ours = row.ours.name,
            ours_speed = row.ours.label,
            peer_top = top + 20.0,
            peer_after = LEFT + SCALE + 6.0,
            peer_text = top + 34.0,
            peer = row.peer.name,
            peer_speed = row.peer.label,
        );
    }
    svg + "</svg>\n"
}
