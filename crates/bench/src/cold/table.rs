//! Terminal tables: one per case, and a summary with one line per case.

use super::case::{dictionaries, grouped, kib};
use super::published::SOURCE;
use super::row::Row;
use crate::report::aligned;

fn speed(mbs: Option<f64>, share: Option<f64>) -> String {
    match (mbs, share) {
        (Some(mbs), Some(share)) => format!("{mbs:.0} ({:3.0} %)", 100.0 * share),
        (Some(mbs), None) => format!("{mbs:.0}"),
        _ => "-".into(),
    }
}

/// Finds the row of a contender, by mode and calls without the size of a batch; any calls if empty.
pub(super) fn find<'a>(rows: &'a [Row], contender: &str, mode: &str, calls: &str) -> Option<&'a Row> {
    let name = |row: &'a Row| row.calls.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    let is = |row: &&'a Row| {
        (row.contender, row.mode) == (contender, mode) && (calls.is_empty() || name(row) == calls)
    };
    rows.iter().find(is)
}

/// The fastest of all ways to decode cold blocks with libzstd as it is.
fn best_stock(rows: &[Row]) -> Option<&Row> {
    let stock =
        rows.iter().filter(|row| (row.measure, row.contender, row.mode) == ("cold", "libzstd", "cold"));
    stock.max_by(|a, b| a.best_mbs.unwrap_or(0.0).total_cmp(&b.best_mbs.unwrap_or(0.0)))
}

/// Table of one case: its name, the speed of each contender, memory, and opening.
pub fn table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let ratio = |mode| find(rows, "linerate", mode, "single").and_then(|row| row.ratio).unwrap_or(0.0);
    let mut text = format!(
        "{} ({}), blocks of {}, {}{}, level {}: ratio {:.2}, without dictionaries {:.2}\n\n",
        first.kind,
        first.data,
        kib(first.block),
        dictionaries(first.count, first.dictionary),
        if first.tables == "small" { " with small tables" } else { "" },
        first.level,
        ratio("cold"),
        ratio("none")
    );
    let heads = ["", "dictionaries", "calls", "MB/s (of hot)", "median", "us/block", "of none", "published"];
    let mut cells = vec![heads.map(String::from).to_vec()];
    let decoded = rows.iter().filter(|row| row.measure == "cold");
    cells.extend(decoded.map(|row| {
        vec![
            row.contender.into(),
            row.mode.into(),
            row.calls.clone(),
            speed(row.best_mbs, row.share),
            row.median_mbs.map_or_else(String::new, |mbs| format!("{mbs:.0}")),
            format!("{:.2}", row.best_us),
            row.vs_none.map_or_else(String::new, |x| format!("{x:.2}")),
            speed(row.published_mbs, row.published_share),
        ]
    }));
    text += &aligned(&cells, 3);
    text.push('\n');
    text += &memory(rows);
    text += &openings(rows);
    if rows.iter().any(|row| row.published_mbs.is_some()) {
        text += &format!("published: {SOURCE}; for linerate, of a prototype with prefetch\n");
    }
    text
}

fn memory(rows: &[Row]) -> String {
    let of = |contender| find(rows, contender, "cold", "").and_then(|row| Some((row, row.beside_bytes?)));
    match (of("linerate"), of("libzstd")) {
        (Some((row, ours)), Some((_, theirs))) => format!(
            "beside the content of a dictionary: linerate {:.1} KiB, libzstd {:.1} KiB; huge pages: {}\n",
            ours as f64 / 1024.0,
            theirs as f64 / 1024.0,
            row.huge_pages
        ),
        _ => String::new(),
    }
}

fn openings(rows: &[Row]) -> String {
    let ms = |contender: &str, mode: &str| {
        let row = rows.iter().find(|row| (row.measure, row.contender, row.mode) == ("open", contender, mode));
        row.map(|row| format!("{:.1} ms", row.best_us / 1e3))
    };
    let ways = ["register", "insert", "digest"].map(|way| ms("linerate", way));
    let pack = ms("linerate", "pack").map_or_else(String::new, |ms| format!("from a pack {ms}, "));
    match (ways, ms("libzstd", "digest")) {
        ([Some(register), Some(insert), Some(digest)], Some(theirs)) => format!(
            "from nothing to the first block: linerate {pack}known by hashes {register}, with all copied {insert}, with all digested {digest}; \
             libzstd {theirs}\n"
        ),
        _ => String::new(),
    }
}

/// A line for each case, and below it the one that was published.
pub fn summary(rows: &[Row]) -> String {
    let heads = [
        "",
        "block",
        "dictionaries",
        "libzstd hot",
        "none",
        "cold",
        "burst",
        "copy",
        "copy burst",
        "linerate hot",
        "single",
        "batch",
        "best of libzstd",
        "single",
        "batch by it",
    ];
    let mut cells = vec![heads.map(String::from).to_vec()];
    for group in groups(rows) {
        let first = &group[0];
        let row = |library, mode, calls| find(group, library, mode, calls);
        let columns = [
            row("libzstd", "hot", "single"),
            row("libzstd", "none", "single"),
            row("libzstd", "cold", "single"),
            row("libzstd", "cold", "burst"),
            row("libzstd", "cold", "copy"),
            row("libzstd", "cold", "copy burst"),
            row("linerate", "hot", "batch"),
            row("linerate", "cold", "single"),
            row("linerate", "cold", "batch"),
        ];
        let hot = |row: &Row| row.mode == "hot";
        let today = columns.map(|row| {
            row.map_or_else(|| "-".into(), |row| speed(row.best_mbs, row.share.filter(|_| !hot(row))))
        });
        let best = best_stock(group);
        let times = |row: Option<&Row>| row.zip(best).and_then(|(a, b)| Some(a.best_mbs? / b.best_mbs?));
        let times = [times(columns[7]), times(columns[8])];
        let mut line = vec![
            first.kind.into(),
            kib(first.block),
            format!("{} of {}", grouped(first.count), kib(first.dictionary)),
        ];
        line.extend(today);
        line.push(best.map_or_else(|| "-".into(), |row| row.calls.clone()));
        line.extend(times.map(|times| times.map_or_else(|| "-".into(), |x| format!("{x:.2} x"))));
        cells.push(line);
        if group.iter().any(|row| row.published_mbs.is_some()) {
            let mut line = vec!["published".into(), String::new(), String::new()];
            line.extend(columns.map(|row| {
                row.map_or_else(
                    || "-".into(),
                    |row| speed(row.published_mbs, row.published_share.filter(|_| !hot(row))),
                )
            }));
            cells.push(line);
        }
    }
    format!(
        "MB/s of content in CPU time of one thread, best round, and the share of the decoder's own hot speed.\n\
         burst: prefetch two blocks ahead; copy: tables and content copied to one place before each block; single,\n\
         batch by it: linerate's, by the fastest of all ways of libzstd.\n\
         published: {SOURCE}; for linerate, of a prototype with prefetch.\n\n{}",
        aligned(&cells, 3)
    )
}

/// Rows of one case each.
pub(crate) fn groups(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|a, b| (a.kind, &a.data, a.case(), a.tables) == (b.kind, &b.data, b.case(), b.tables))
}

/// Summarises one case in a sentence; `None` if a row is missing.
pub fn sentence(rows: &[Row]) -> Option<String> {
    let row = |library, mode, calls| find(rows, library, mode, calls);
    let (hot, stock) = (row("libzstd", "hot", "single")?, row("libzstd", "cold", "single")?);
    let (own, cold) = (row("linerate", "hot", "batch")?, row("linerate", "cold", "batch")?);
    let (single, best) = (row("linerate", "cold", "single")?, best_stock(rows)?);
    let percent = |row: &Row| row.share.map(|share| 100.0 * share);
    let best_mbs = best.best_mbs?;
    Some(format!(
        "{} blocks of {}: with its dictionary in the cache libzstd decodes {:.0} MB/s; when each of {} blocks has a \
         dictionary of its own it keeps {:.0} % of that, {:.0} MB/s, and at best ({}) {:.0} MB/s. In batches linerate \
         keeps {:.0} % of its {:.0} MB/s: {:.0} MB/s, {:.2} times that best; one by one {:.2} times.",
        stock.kind,
        kib(stock.block),
        hot.best_mbs?,
        grouped(stock.count),
        percent(stock)?,
        stock.best_mbs?,
        best.calls,
        best_mbs,
        percent(cold)?,
        own.best_mbs?,
        cold.best_mbs?,
        cold.best_mbs? / best_mbs,
        single.best_mbs? / best_mbs,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(contender: &'static str, mode: &'static str, calls: &str, mbs: f64, share: f64) -> Row {
        Row {
            measure: "cold",
            kind: "JSON",
            data: "rows".into(),
            block: 4096,
            dictionary: 8192,
            count: 2500,
            contender,
            mode,
            calls: calls.into(),
            best_mbs: Some(mbs),
            median_mbs: Some(mbs),
            share: Some(share),
            ..Row::default()
        }
    }

    fn rows() -> Vec<Row> {
        vec![
            row("linerate", "hot", "batch 64", 1600.0, 1.0),
            row("linerate", "cold", "batch 64", 1200.0, 0.75),
            row("linerate", "cold", "single", 800.0, 0.5),
            Row {
                published_mbs: Some(1238.0),
                published_share: Some(1.0),
                ..row("libzstd", "hot", "single", 1000.0, 1.0)
            },
            row("libzstd", "cold", "single", 250.0, 0.25),
            row("libzstd", "cold", "copy burst", 500.0, 0.5),
            row("libzstd", "cold", "raw", 300.0, 0.3),
        ]
    }

    #[test]
    fn absolute_speed_stands_beside_every_share() {
        let text = table(&rows());
        assert!(text.contains("2,500 dictionaries of 8 KiB"), "{text}");
        assert!(text.contains("1200 ( 75 %)") && text.contains("250 ( 25 %)"), "{text}");
        assert!(text.contains("1238 (100 %)") && text.contains("2026-11"), "{text}");
        let text = summary(&rows());
        assert!(text.contains("copy burst  1.60 x       2.40 x"), "{text}");
        assert!(text.lines().any(|line| line.starts_with("published") && line.contains("1238")), "{text}");
    }

    #[test]
    fn the_sentence_has_the_numbers_of_the_run() {
        let said = sentence(&rows()).unwrap();
        for part in [
            "JSON blocks of 4 KiB",
            "25 % of that, 250 MB/s",
            "75 % of its 1600",
            "2.40 times that best; one by one 1.60",
        ] {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(sentence(&rows()[..4]), None);
    }

    #[test]
    fn groups_have_one_case_each() {
        let mut two = rows();
        two.extend(rows().into_iter().map(|row| Row { count: 30_000, ..row }));
        assert_eq!(groups(&two).map(<[Row]>::len).collect::<Vec<_>>(), [7, 7]);
    }
}
