//! The table on the terminal.

use crate::record::Record;

/// Column heads.
const HEADS: [&str; 9] =
    ["contender", "format", "ratio", "best MB/s", "median", "x speed", "x ratio", "state B", "scratch B"];

/// Records of one chunk size as an aligned table, ending with a newline.
pub fn table(records: &[Record]) -> String {
    let mut rows = vec![HEADS.map(String::from).to_vec()];
    rows.extend(records.iter().map(|record| cells(record).to_vec()));
    aligned(&rows, 2)
}

/// Rows of cells as aligned columns: the first `left` columns to the left, the others to the right.
pub(crate) fn aligned(rows: &[Vec<String>], left: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| {
        let cells = rows.iter().filter_map(|row| row.get(i));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let shown =
            cells.map(|(i, (cell, w))| if i < left { format!("{cell:<w$}") } else { format!("{cell:>w$}") });
        text += shown.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

fn cells(r: &Record) -> [String; HEADS.len()] {
    let bytes = |n: Option<usize>| n.map_or_else(|| "?".into(), |n| n.to_string());
    [
        r.contender.clone(),
        r.format.clone(),
        format!("{:.3}", r.ratio),
        format!("{:.1}", r.best_mbs),
        format!("{:.1}", r.median_mbs),
        format!("{:.2}", r.speed_vs_base),
        format!("{:.3}", r.ratio_vs_base),
        bytes(r.state_bytes),
        bytes(r.scratch_bytes),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_unknown_sizes_shown_as_such() {
        let long = Record { contender: "a long name".into(), ratio: 12.5, ..Record::default() };
        let short = Record { contender: "b".into(), state_bytes: Some(16), ..Record::default() };
        let text = table(&[long, short]);
        let ends: Vec<_> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(ends, [ends[0]; 3]);
        assert!(text.contains("12.500"));
        assert!(text.lines().nth(1).unwrap().ends_with('?'));
    }
}
