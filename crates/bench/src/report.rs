//! The table on the terminal.

use crate::record::Record;

/// Column heads; the first two columns are aligned to the left, the others to the right.
const HEADS: [&str; 9] =
    ["contender", "format", "ratio", "best MB/s", "median", "x speed", "x ratio", "state B", "scratch B"];

/// Records of one chunk size as an aligned table, ending with a newline.
pub fn table(records: &[Record]) -> String {
    let mut rows = vec![HEADS.map(String::from)];
    rows.extend(records.iter().map(cells));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; HEADS.len()] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        let aligned = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(i, (cell, w))| if i < 2 { format!("{cell:<w$}") } else { format!("{cell:>w$}") });
        text += aligned.collect::<Vec<_>>().join("  ").trim_end();
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
