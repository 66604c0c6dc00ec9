//! The picture of the front page: each engine beside the best other library on the same work.

use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;

use super::library::{Entry, Library};
use super::query::Filter;

/// One pair of bars: what they are selected by, as in a query of a page.
struct Comparison {
    work: &'static str,
    file: &'static str,
    filter: &'static str,
    /// What distinguishes ours.
    ours: &'static str,
    name: &'static str,
    /// The metric, and whether the best round counts.
    metric: (&'static str, bool),
    /// The metric of output sizes, if contenders write different ones: `ratio` or `size`.
    size: Option<&'static str>,
    peer: fn(&Entry) -> String,
}

const COMPARISONS: [Comparison; 5] = [
    Comparison {
        work: "HTTP responses, 16 KiB a call",
        file: "bytes.jsonl",
        filter: "shape=bytes data=web chunk=16K format=deflate cpu=167",
        ours: "contender=\"linerate 1\"",
        name: "linerate deflate 1",
        metric: ("speed", true),
        size: Some("ratio"),
        peer: |peer| peer.measurement.contender.clone(),
    },
    Comparison {
        work: "waveforms of a detector, decoded",
        file: "waveforms.jsonl",
        filter: "shape=waveforms through=memory data=nab threads=1",
        ours: "contender=\"linerate v2\"",
        name: "linerate rice 2",
        metric: ("decode", true),
        size: Some("size"),
        peer: |peer| peer.measurement.contender.replace("pco", "Pcodec"),
    },
    Comparison {
        work: "blocks with 30,000 dictionaries",
        file: "cold.jsonl",
        filter: "shape=cold data=JSON block=4K dictionary=8K count=30000 mode=cold tables=full cpu=EPYC",
        ours: "contender=linerate calls=\"batch 64\"",
        name: "linerate dict",
        metric: ("speed", true),
        size: None,
        peer: |peer| match peer.field("calls").as_ref() {
            "burst" => "libzstd, prefetched".to_owned(),
            "copy" => "libzstd, dictionary copied".to_owned(),
            calls => format!("libzstd, {calls}"),
        },
    },
    Comparison {
        work: "2,500 gateway connections in turn",
        file: "messages.jsonl",
        filter: "shape=messages mode=many transport=zstd-stream data=\"two connections\"",
        ours: "contender=linerate",
        name: "linerate gateway",
        metric: ("speed", false),
        size: None,
        peer: |_| "libzstd".to_owned(),
    },
    Comparison {
        work: "2,215 files extracted, 2 threads",
        file: "archives.jsonl",
        filter: "shape=archives data=mixed measure=extract level=12",
        ours: "contender=linerate verify=yes threads=2 output=\"\"",
        name: "linerate nx",
        metric: ("elapsed", false),
        size: None,
        peer: |peer| peer.measurement.contender.replace("1M", "1 MiB"),
    },
];

/// Name and label of both bars, and how many times as fast ours is.
struct Pair {
    ours: (String, String),
    peer: (String, String),
    times: f64,
}

impl Comparison {
    fn pair(&self, library: &Library) -> Result<Pair, String> {
        let entries = library.open(self.file)?;
        let filter = Filter::parse_keys(self.filter)?;
        let ours = filter.with(&Filter::parse_keys(self.ours)?);
        let (metric, best) = self.metric;
        let value = |entry: &Entry| entry.value(metric, best).unwrap_or(f64::NAN);
        let is_time = metric == "elapsed";
        let size = |entry: &Entry| match self.size {
            Some("ratio") => entry.value("ratio", false).map_or(f64::NAN, |ratio| 1.0 / ratio),
            Some(name) => entry.value(name, false).unwrap_or(f64::NAN),
            None => 1.0,
        };
        let find = |filter: &Filter| entries.iter().find(|entry| entry.matches(filter));
        let first = find(&ours).ok_or_else(|| format!("no measurement for {:?}", self.work))?;
        let speed = |entry: &Entry| if is_time { 1.0 / value(entry) } else { value(entry) };
        let peers = entries.iter().filter(|entry| {
            let other = !entry.measurement.contender.starts_with("linerate");
            other && entry.matches(&filter) && size(entry) <= 1.02 * size(first)
        });
        let peer: &Rc<Entry> = peers.max_by(|a, b| speed(a).total_cmp(&speed(b))).ok_or("no peer")?;
        let base = vec![("base".to_owned(), vec![peer.measurement.contender.clone()])];
        // The median of the quotients within each round, where the record has it.
        let paired = find(&ours.with(&Filter(base))).filter(|_| is_time);
        let ours = paired.unwrap_or(first);
        let times = match paired.and_then(|ours| ours.value("speed_by_base", false)) {
            Some(times) => times,
            None => value(ours) / value(peer),
        };
        let label = |entry| match is_time {
            true => format!("{:.0} ms", 1e3 * value(entry)),
            false => format!("{:.0} MB/s", value(entry)),
        };
        let peer = ((self.peer)(peer), label(peer));
        Ok(Pair { ours: (self.name.to_owned(), label(ours)), peer, times })
    }
}

/// Width of the picture, height of a row and of what is above the first one, in pixels.
const WIDTH: f64 = 800.0;
const ROW: f64 = 58.0;
const TOP: f64 = 34.0;
/// Where bars begin, and the length of one "times as fast".
const LEFT: f64 = 260.0;
const SCALE: f64 = 100.0;

/// The picture as SVG, readable on a light and on a dark page, from the records of a folder.
///
/// # Errors
/// A sentence that names what the records lack.
pub fn picture(records: &Path) -> Result<String, String> {
    let library = Library::new(records);
    let height = TOP + ROW * COMPARISONS.len() as f64 + 4.0;
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
    for (i, row) in COMPARISONS.iter().enumerate() {
        let top = TOP + ROW * i as f64;
        let Pair { ours, peer, times } = row.pair(&library)?;
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
            ours = ours.0,
            ours_speed = ours.1,
            peer_top = top + 20.0,
            peer_after = LEFT + SCALE + 6.0,
            peer_text = top + 34.0,
            peer = peer.0,
            peer_speed = peer.1,
        );
    }
    Ok(svg + "</svg>\n")
}
