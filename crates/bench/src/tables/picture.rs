//! Draws the picture on the front page: each engine beside the best other library on the same work.

use std::fmt::Write;
use std::path::Path;

use super::library::Library;
use super::query::{Filter, Query};
use super::render::value;

/// Two bars of the picture: the name of the work, and queries that are written as inline values of
/// pages are. `peer` lists by hand the libraries that count: those whose output is at most 2 %
/// larger than ours, or 4 % for archives, so that unsquashfs counts, which is faster than tar.
struct Comparison {
    work: &'static str,
    ours: &'static str,
    peer: &'static str,
    /// Query that gives how many times as fast ours is as the best peer, then the processor, then
    /// date and build of the run, with `|` between them.
    times: &'static str,
}

#[rustfmt::skip]
const COMPARISONS: [Comparison; 6] = [
    Comparison {
        work: "HTML compressed, 16 KiB a call",
        ours: r#"bytes.jsonl shape=bytes data=html chunk=16K cpu=EPYC format=deflate contender="linerate 1": linerate deflate 1, {speed.best} MB/s"#,
        peer: r#"bytes.jsonl shape=bytes data=html chunk=16K cpu=EPYC format=deflate contender="ISA-L 1"|"ISA-L 3"|"libdeflate 1"|"zlib-ng 2"|"zlib-rs 2"|"zlib 1": {contender} ({version}), {speed.best} MB/s"#,
        times: r#"bytes.jsonl shape=bytes data=html chunk=16K cpu=EPYC format=deflate contender="linerate 1": {speed.best by contender="ISA-L 1"|"ISA-L 3"|"libdeflate 1"|"zlib-ng 2"|"zlib-rs 2"|"zlib 1"}|{processor}|{date}, build {build}"#,
    },
    Comparison {
        work: "HPGe waveforms decoded",
        ours: r#"waveforms.jsonl shape=waveforms through=memory data=hpge_ldqta threads=1 contender="linerate v2": linerate rice 2, {decode.best} MB/s"#,
        peer: r#"waveforms.jsonl shape=waveforms through=memory data=hpge_ldqta threads=1 contender="pco 8"|"flac 5"|"flac 8": {contender} ({version}), {decode.best} MB/s"#,
        times: r#"waveforms.jsonl shape=waveforms through=memory data=hpge_ldqta threads=1 contender="linerate v2": {decode.best by contender="pco 8"|"flac 5"|"flac 8"}|{processor}|{date}, build {build}"#,
    },
    Comparison {
        work: "blocks with 30,000 dictionaries",
        ours: r#"cold.jsonl shape=cold data=JSON block=4K dictionary=8K count=30000 mode=cold tables=full cpu=EPYC contender=linerate calls="batch 64": linerate dict, {speed.best} MB/s"#,
        peer: r#"cold.jsonl shape=cold data=JSON block=4K dictionary=8K count=30000 mode=cold tables=full cpu=EPYC contender=libzstd calls=single|burst|copy|"copy burst"|raw|"raw copy"|"raw copy burst": libzstd {version}, {calls}, {speed.best} MB/s"#,
        times: r#"cold.jsonl shape=cold data=JSON block=4K dictionary=8K count=30000 mode=cold tables=full cpu=EPYC contender=linerate calls="batch 64": {speed.best by contender=libzstd calls=single|burst|copy|"copy burst"|raw|"raw copy"|"raw copy burst"}|{processor}|{date}, build {build}"#,
    },
    Comparison {
        work: "2,500 gateway connections in turn",
        ours: r#"messages.jsonl shape=messages data=generated mode=many transport=zstd-stream contender=linerate: linerate gateway, {speed} MB/s"#,
        peer: r#"messages.jsonl shape=messages data=generated mode=many transport=zstd-stream contender=libzstd|"libzstd 8K": {contender} ({version}), {speed} MB/s"#,
        times: r#"messages.jsonl shape=messages data=generated mode=many transport=zstd-stream contender=linerate: {speed by contender=libzstd|"libzstd 8K"}|{processor}|{date}, build {build}"#,
    },
    Comparison {
        work: "zstd frames of 4 KiB decoded",
        ours: r#"frames.jsonl shape=frames data=web block=4K dictionary="" contender=linerate: linerate zstd, {speed.best} MB/s"#,
        peer: r#"frames.jsonl shape=frames data=web block=4K dictionary="" contender=libzstd|ruzstd: {contender} ({version}), {speed.best} MB/s"#,
        times: r#"frames.jsonl shape=frames data=web block=4K dictionary="" contender=linerate: {speed.best by contender=libzstd|ruzstd}|{processor}|{date}, build {build}"#,
    },
    // The quotient of this comparison is the median of the quotients within each round, which the
    // record has for each peer.
    Comparison {
        work: "678 textures extracted, 2 threads",
        ours: r#"archives.jsonl shape=archives data=dds cpu=EPYC measure=extract level=12 contender=linerate base="unsquashfs 1M": linerate nx, {elapsed ms} ms"#,
        peer: r#"archives.jsonl shape=archives data=dds cpu=EPYC measure=extract level=12 contender="unsquashfs 1M"|"tar --zstd": {contender} ({version}), {elapsed ms} ms"#,
        times: r#"archives.jsonl shape=archives data=dds cpu=EPYC measure=extract level=12 contender=linerate base="unsquashfs 1M": {speed_by_base}|{processor}|{date}, build {build}"#,
    },
];

/// Width of the picture, in pixels.
const WIDTH: f64 = 840.0;
/// Height of a row, which has two bars, in pixels.
const ROW: f64 = 58.0;
/// Height of the part above the first row, in pixels.
const TOP: f64 = 34.0;
/// Horizontal start of the bars, in pixels.
const LEFT: f64 = 310.0;
/// Length of the peer's bar, in pixels. Our bar is longer by the factor by which we are faster.
const SCALE: f64 = 100.0;

/// Checks that the record has a measurement for each alternative value in a query. A missing peer
/// would otherwise be left out silently.
fn check_alternatives(library: &Library, query: &str) -> Result<(), String> {
    let (file, filter, _) = Query::parse_value(query)?;
    let entries = library.open(&file)?;
    for (key, value) in filter.0.iter().flat_map(|(key, values)| values.iter().map(move |value| (key, value)))
    {
        let one = filter.with(&Filter(vec![(key.clone(), vec![value.clone()])]));
        if !entries.iter().any(|entry| entry.matches(&one)) {
            return Err(format!("{file} has no measurement with {key} {value}"));
        }
    }
    Ok(())
}

/// Draws the picture as SVG, readable on a light and on a dark page, from the records of a folder.
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
    for (i, Comparison { work, ours, peer, times }) in COMPARISONS.iter().enumerate() {
        let top = TOP + ROW * i as f64;
        let text = |query: &str| {
            let text = check_alternatives(&library, query).and_then(|()| value(&library, query));
            text.map_err(|error| format!("{work}: {error}"))
        };
        let times = text(times)?;
        let mut parts = times.split('|');
        let mut part = || parts.next().unwrap_or_default();
        let times: f64 = part().parse().map_err(|error| format!("{work}: {error}"))?;
        let _ = write!(
            svg,
            r#"<text x="0" y="{label}">{work}</text>
<text class="note" x="0" y="{processor_text}">{processor}</text>
<text class="note" x="0" y="{build_text}">{build}</text>
<rect class="ours" x="{LEFT}" y="{top}" width="{long:.1}" height="18" rx="2"/>
<text x="{after:.1}" y="{ours_text}"><tspan font-weight="600">{times:.2}</tspan> {ours}</text>
<rect class="peer" x="{LEFT}" y="{peer_top}" width="{SCALE}" height="18" rx="2"/>
<text class="note" x="{peer_after}" y="{peer_text}">{peer}</text>
"#,
            label = top + 14.0,
            processor_text = top + 29.0,
            processor = part(),
            build_text = top + 43.0,
            build = part(),
            long = SCALE * times,
            after = LEFT + SCALE * times + 6.0,
            ours_text = top + 14.0,
            ours = text(ours)?,
            peer_top = top + 20.0,
            peer_after = LEFT + SCALE + 6.0,
            peer_text = top + 34.0,
            peer = text(peer)?,
        );
    }
    Ok(svg + "</svg>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_that_the_record_lacks_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let record = r#"{"run":{"date":"d","cpu":"c","command":"x"}}
{"shape":"s","data":"d","contender":"a","metrics":{"speed":1}}"#;
        std::fs::write(folder.path().join("x.jsonl"), record).expect("a record");
        let check = |query: &str| check_alternatives(&Library::new(folder.path()), query);
        assert_eq!(check("x.jsonl shape=s contender=a: {speed}"), Ok(()));
        let error = check("x.jsonl shape=s contender=a|b: {speed}").expect_err("no b");
        assert_eq!(error, "x.jsonl has no measurement with contender b");
    }
}
