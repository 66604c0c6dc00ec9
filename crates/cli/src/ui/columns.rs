//! Aligns the columns of a table: the first one left, all others right.

/// Formats each row as a line, with two spaces between columns. A column is as wide as its widest
/// cell, in characters. Rows may have different numbers of cells.
pub(crate) fn aligned<R: AsRef<[String]>>(rows: &[R]) -> Vec<String> {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let width =
        |i: usize| rows.iter().filter_map(|row| row.as_ref().get(i)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|i| width(i).unwrap_or(0)).collect();
    let line = |row: &R| {
        let cells = row.as_ref().iter().zip(&widths).enumerate();
        let cells: Vec<String> = cells
            .map(|(i, (cell, &width))| match i {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_padded_to_the_width_of_their_column() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned);
        assert_eq!(aligned(&[row(["é", "1"]), row(["four", "22"])]), ["é      1", "four  22"]);
        assert!(aligned::<[String; 2]>(&[]).is_empty());
    }
}
