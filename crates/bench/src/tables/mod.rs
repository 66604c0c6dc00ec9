//! Tables and figures of pages, which are queries of records written in the page.
//! `records/README.md` defines the queries; the test `tables` compares the pages with the results.
//!
//! | file | content |
//! |---|---|
//! | `query.rs` | the parser of queries |
//! | `library.rs` | the records and CSV files that queries name |
//! | `render.rs` | selection, numbers, Markdown |
//! | `picture.rs` | the picture of the front page |

mod library;
mod picture;
mod query;
mod render;

use std::path::Path;

use crate::records::{self, Better, Metric};
use library::Library;
pub use picture::picture;

const END: &str = "<!-- end -->";

/// Fills in the tables and values of pages from the records of one folder.
pub struct Pages {
    library: Library,
}

impl Pages {
    /// Fills in pages whose queries name files of the folder `records`.
    #[must_use]
    pub fn new(records: &Path) -> Self {
        Self { library: Library::new(records) }
    }

    /// Returns the page with each table and value replaced by the result of its query, and the list
    /// of metrics by a table of them. `depth` is the number of folders between the root and the
    /// page, for links to records. Marks in code blocks and code spans are left alone.
    ///
    /// # Errors
    /// A sentence after the number of the line where the query begins.
    pub fn fill(&self, page: &str, depth: usize) -> Result<String, String> {
        let records = format!("{}records/", "../".repeat(depth));
        let mut filled = String::new();
        let mut rest = page;
        while let Some((start, mark)) = next_mark(rest, &filled) {
            let (before, after) = rest.split_at(start);
            filled += before;
            let line = page[..page.len() - rest.len() + start].matches('\n').count() + 1;
            let at = |error: String| format!("{line}: {error}");
            let (query, after) = after[mark.len()..].split_once("-->").ok_or_else(|| at("no -->".into()))?;
            let (_, after) = after.split_once(END).ok_or_else(|| at(format!("no {END}")))?;
            let text = match mark {
                TABLE => render::table(&self.library, query, &records).map(|table| format!("\n\n{table}\n")),
                VALUE => render::value(&self.library, query),
                _ => Ok(format!("\n\n{}\n", glossary())),
            };
            filled += &format!("{mark}{query}-->{}{END}", text.map_err(at)?);
            rest = after;
        }
        Ok(filled + rest)
    }
}

const TABLE: &str = "<!-- table\n";
const VALUE: &str = "<!-- value ";
const METRICS: &str = "<!-- metrics ";

/// Finds the next mark in `rest` outside of code blocks and code spans: its offset, and which mark
/// it is. `before` is the page before `rest`, in which a code block may have begun.
fn next_mark(rest: &str, before: &str) -> Option<(usize, &'static str)> {
    let marks = [TABLE, VALUE, METRICS].into_iter();
    let found = marks.flat_map(|mark| rest.match_indices(mark).map(move |(at, _)| (at, mark)));
    let fences = |text: &str| text.matches("```").count();
    let is_code = |at: usize| rest[..at].ends_with('`') || (fences(before) + fences(&rest[..at])) % 2 == 1;
    found.filter(|(at, _)| !is_code(*at)).min()
}

/// All metrics as a Markdown table.
fn glossary() -> String {
    let row = |metric: &Metric| {
        let better = match metric.better {
            Better::Higher => "more",
            Better::Lower => "less",
            Better::Neither => "",
        };
        let Metric { name, unit, decimals, meaning, .. } = metric;
        let name = format!("`{name}`");
        render::line(&[&name, unit, better, &decimals.to_string(), meaning])
    };
    let rows: String = records::METRICS.iter().map(row).collect();
    format!("| metric | unit | better | decimals | meaning |\n|---|---|---|---|---|\n{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"run":{"date":"d","cpu":"c","command":"x","versions":{"a":"1.0"}}}
{"shape":"s","data":"t","contender":"a","params":{"n":1},"metrics":{"speed":{"median":2,"low":1,"high":3},"time":1.5}}
{"shape":"s","data":"t","contender":"b","params":{"n":1},"metrics":{"speed":4,"time":0.5}}
{"shape":"s","data":"t","contender":"b","params":{"n":2},"metrics":{"speed":5,"size":0.25}}
"#;

    const TWO_BUILDS: &str = r#"{"run":{"date":"1","cpu":"c","linerate":"0.1.0 a","command":"x"}}
{"shape":"s","data":"t","contender":"linerate","params":{"n":1},"metrics":{"speed":{"median":2,"low":1,"high":3},"ratio":2}}
{"run":{"date":"1","cpu":"c","linerate":"0.1.0 a","command":"y"}}
{"shape":"s","data":"t","contender":"linerate","params":{"n":2},"metrics":{"speed":{"median":2,"low":1,"high":3},"ratio":2}}
{"run":{"date":"2","cpu":"c","linerate":"0.1.0 b","command":"x"}}
{"shape":"s","data":"t","contender":"linerate","params":{"n":3},"metrics":{"speed":{"median":2,"low":1,"high":3},"ratio":2}}
"#;

    fn fill(query: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("x.jsonl"), RECORD).expect("a record");
        std::fs::write(folder.path().join("x.csv"), "k,v\na,1\na,2\nb,0\n").expect("a file");
        Pages::new(folder.path()).fill(&format!("text {query}old{END} text"), 1)
    }

    /// The rows of the table that these lines of a query give.
    fn table(lines: &str) -> Result<Vec<String>, String> {
        let page = fill(&format!("<!-- table\nfrom x.jsonl\n{lines}\n-->"))?;
        Ok(page.lines().filter(|line| line.starts_with('|')).skip(2).map(str::to_owned).collect())
    }

    #[test]
    fn rows_columns_and_values_are_what_the_query_says() {
        let rows = "rows contender\ncolumn \"\" n=1: {contender} {version}\n";
        assert_eq!(table(&format!("{rows}column \"\" n=1: {{speed}}")).expect("rows").len(), 2);
        let query = "rows n contender=a|b\ncolumn \"h\": {contender}[, {version}]\ncolumn \"s\": {speed.best .1} {time ns}";
        assert_eq!(table(query).expect("rows"), ["| a, 1.0 | 3.0 1500 |", "| b | 4.0 500 |", "| b | |"]);
        let query = "where n=1\nrow \"r\" contender=b\ncolumn \"\": {row}\ncolumn \"\": {speed change by contender=a}";
        assert_eq!(table(query).expect("rows"), ["| r | +100 % |"]);
        let query =
            "where n=1\nrow \"r\" contender=a|b\ncolumn \"\": {row}\ncolumn \"\": {speed} {contender}";
        assert_eq!(table(query).expect("rows"), ["| r | 4 b |"]);
        let query = "where n=1\nrows n\ncolumn \"\" contender=a|b: {speed} {contender}\ncolumn \"\" contender=a|b: {time} {contender}";
        assert_eq!(table(query).expect("rows"), ["| 4 b | 0.5 b |"]);
    }

    #[test]
    fn the_source_is_linked_from_the_page() {
        let page = fill("<!-- table\nfrom x.jsonl\nrows n=2\ncolumn \"\": {size % .1}\n-->").expect("a page");
        let wanted = "-->\n\n| |\n|---|\n| 25.0 % |\n\n[x.jsonl](../records/x.jsonl), d, c, `x`.\nVersions: b (not recorded).\n\n<!-- end --> text";
        assert!(page.ends_with(wanted), "{page}");
        let table = |columns: &str| {
            fill(&format!("<!-- table\nfrom x.jsonl\nrows contender\n{columns}\n-->")).expect("a page")
        };
        let speed = "column \"\" n=1: {speed}";
        assert!(table(speed).contains("), medians, d, c, `x`.\nVersions: a 1.0, b (not recorded).\n"));
        let in_cells = table(&format!("{speed}\ncolumn \"\" n=1: {{version}}"));
        assert!(in_cells.contains(".\nVersions: b (not recorded).\n"), "{in_cells}");
        assert_eq!(
            fill("<!-- value x.jsonl n=2: {speed} MB/s -->").expect("a page"),
            "text <!-- value x.jsonl n=2: {speed} MB/s -->5 MB/s<!-- end --> text"
        );
    }

    #[test]
    fn runs_of_a_table_are_grouped_by_build_with_what_its_figures_are() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("x.jsonl"), TWO_BUILDS).expect("a record");
        let pages = Pages::new(folder.path());
        let table = |speed: &str| {
            let query = format!("<!-- table\nfrom x.jsonl\nrows n\ncolumn \"\": {speed}\n-->{END}");
            let page = pages.fill(&query, 0).expect("a page");
            page.lines().find(|line| line.starts_with("[x.jsonl]")).expect("a source").to_owned()
        };
        let runs = "1, c, linerate 0.1.0 a, `x`, and another run; 2, c, linerate 0.1.0 b, `x`";
        assert_eq!(table("{speed.best}"), format!("[x.jsonl](records/x.jsonl), best rounds, {runs}"));
        assert_eq!(
            table("{speed} {speed.best}"),
            format!("[x.jsonl](records/x.jsonl), best rounds and medians, {runs}")
        );
        assert_eq!(table("{ratio}"), format!("[x.jsonl](records/x.jsonl), {runs}"));
    }

    #[test]
    fn clock_threads_and_data_are_those_of_the_cells() {
        let folder = tempfile::tempdir().expect("a folder");
        let measured = |data: &str, threads: usize| {
            format!(
                r#"{{"shape":"waveforms","data":"{data}","contender":"linerate","params":{{"threads":{threads}}},"metrics":{{"encode":1,"encode_cpu":2,"size":1}}}}"#
            )
        };
        let lines = [("nab", 1), ("nab", 2), ("probe384", 1)].map(|(data, threads)| measured(data, threads));
        let run = r#"{"run":{"date":"d","cpu":"c","command":"x"}}"#;
        std::fs::write(folder.path().join("x.jsonl"), format!("{run}\n{}", lines.join("\n")))
            .expect("a record");
        let pages = Pages::new(folder.path());
        let table = |query: &str| {
            let page =
                pages.fill(&format!("<!-- table\nfrom x.jsonl\n{query}\n-->{END}"), 0).expect("a page");
            page.lines().find(|line| line.starts_with("Clock") || line.starts_with("Data")).map(str::to_owned)
        };
        let nab = "Data: generated by `linerate-bench waveforms`.";
        assert_eq!(table("rows data=nab threads=1\ncolumn \"\": {size}").as_deref(), Some(nab));
        assert_eq!(
            table("rows data=nab threads\ncolumn \"s\": {encode}"),
            Some(format!("Clock: elapsed time, 1 and 2 threads. {nab}"))
        );
        assert_eq!(
            table("rows data threads=1\ncolumn \"s\": {encode}\ncolumn \"t\": {encode_cpu}"),
            Some(
                "Clock: \"s\": elapsed time, 1 thread; \"t\": CPU time, 1 thread. \
                 Data: nab (generated by `linerate-bench waveforms`); probe384 (simulated by SpikeInterface)."
                    .to_owned()
            )
        );
    }

    #[test]
    fn build_date_and_processor_are_those_of_the_figures_before_them() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("x.jsonl"), TWO_BUILDS).expect("a record");
        let pages = Pages::new(folder.path());
        let value = |query: &str| pages.fill(&format!("<!-- value x.jsonl {query} -->{END}"), 0);
        let page = value("shape=s: {ratio n=1} with build {build} of {date} on {processor}").expect("a page");
        assert!(page.contains("-->2.000 with build a of 1 on c<!-- end -->"), "{page}");
        assert!(value("n=3: {build}").expect("a page").contains("-->b<!-- end -->"));
        let error = value("shape=s: {ratio n=1} and {ratio n=3}, {build}").expect_err("two builds");
        assert!(error.contains("build is a and b"), "{error}");
        let error = value("n=1: {ratio by n=3}, {build}").expect_err("a quotient of two builds");
        assert!(error.contains("build is b and a"), "{error}");
    }

    #[test]
    fn rows_of_csv_files_are_summed_and_counted() {
        let page = fill("<!-- value x.csv k=a: {v.sum} of {v.count}[, {v nonzero k=b}] -->").expect("a page");
        assert!(page.contains("-->3 of 2<!-- end -->"), "{page}");
    }

    #[test]
    fn what_a_query_cannot_mean_is_an_error_with_its_line() {
        let error = |lines: &str| table(lines).expect_err(lines);
        assert!(error("rows n=1\ncolumn \"h\": {speed}").contains("2 measurements match"));
        assert!(error("rows n=3\ncolumn \"h\": {speed}").starts_with("1: no measurement for the row"));
        assert!(error("rows n\ncolumn \"h\" contender=c: {speed}").contains("no measurement"));
        assert!(error("rows n=2\ncolumn \"h\": {speed}\ncolumn \"t\": {time}").contains("is empty"));
        assert!(error("rows n=2\ncolumn \"h\": {speed ms}").contains("is no time"));
        assert!(error("rows n=2\ncolumn \"h\": {speed.middle}").contains("no statistic"));
        assert!(error("rows n=2\nsort n\ncolumn \"h\": {speed}").contains("unknown word"));
    }

    #[test]
    fn line_of_an_error_is_that_of_the_page_after_a_query_with_another_result() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("x.jsonl"), RECORD).expect("a record");
        let value = format!("<!-- value x.jsonl n=2: {{speed}} -->1\n2\n3{END}\n");
        let page = format!("{value}<!-- value x.jsonl n=3: {{speed}} -->{END}");
        let error = Pages::new(folder.path()).fill(&page, 0).expect_err("no measurement");
        assert!(error.starts_with("4: "), "{error}");
    }

    #[test]
    fn marks_in_code_are_text() {
        let page = "`<!-- table` and\n```text\n<!-- table\n-->\n```\n";
        assert_eq!(Pages::new(Path::new("none")).fill(page, 0).as_deref(), Ok(page));
    }
}
