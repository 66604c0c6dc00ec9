//! The same cases on several CPUs, side by side, from records.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::report::aligned;
use crate::sheet::{Line, Sheet};

/// Columns with a row's speed relative to another contender or state, of which a record has one.
const RELATIVE: [&str; 3] = ["speed_vs_base", "vs_base", "share"];

/// The newest row of each CPU, by the CPU's place in the legend.
type ByCpu<'s> = BTreeMap<usize, Line<'s>>;

/// Reads the records among these files and the `.csv` files of these folders: those with a CPU and a
/// contender in each row.
///
/// # Errors
/// A sentence that names the file.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Sheet>, String> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(records_in(path)?),
            false => files.push(path.clone()),
        }
    }
    let mut sheets = files.iter().map(|file| Sheet::read(file)).collect::<Result<Vec<_>, _>>()?;
    sheets.retain(|sheet| ["cpu", "contender"].iter().all(|name| sheet.columns().iter().any(|c| c == name)));
    Ok(sheets)
}

fn records_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|e| format!("{}: {e}", folder.display()))?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut records: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "csv")).collect();
    records.sort();
    Ok(records)
}

/// A legend of the CPUs, and a table for each kind of record with the rows that several of them have.
pub fn table(sheets: &[Sheet]) -> String {
    let cpus = cpus(sheets);
    let mut text = String::new();
    for (i, (cpu, rows)) in cpus.iter().enumerate() {
        text += &format!("{}  {cpu}: {rows} rows\n", letter(i));
    }
    let mut kinds: BTreeMap<&[String], Vec<&Sheet>> = BTreeMap::new();
    for sheet in sheets {
        kinds.entry(sheet.columns()).or_default().push(sheet);
    }
    let tables: String = kinds.values().map(|sheets| kind(sheets, &cpus)).collect();
    match tables.is_empty() {
        true => text + "\nNo case was measured on more than one CPU.\n",
        false => text + &tables,
    }
}

/// The CPUs in the order in which they appear, and how many rows each has.
fn cpus(sheets: &[Sheet]) -> Vec<(&str, usize)> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for line in sheets.iter().flat_map(Sheet::rows) {
        let cpu = line.get("cpu");
        match found.iter_mut().find(|(known, _)| *known == cpu) {
            Some((_, rows)) => *rows += 1,
            None => found.push((cpu, 1)),
        }
    }
    found
}

fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(i) if i < 26 => char::from(b'A' + i).to_string(),
        _ => format!("CPU {}", index + 1),
    }
}

/// The table of records with the same columns; empty without a row that two CPUs have.
fn kind(sheets: &[&Sheet], cpus: &[(&str, usize)]) -> String {
    let case = sheets.first().map(|sheet| sheet.case_columns()).unwrap_or_default();
    // In the order of the files, so that cases stay together; the last row of a CPU is the newest.
    let mut order: Vec<(Vec<&str>, String)> = Vec::new();
    let mut rows: BTreeMap<(Vec<&str>, String), ByCpu<'_>> = BTreeMap::new();
    for line in sheets.iter().flat_map(|sheet| sheet.rows()) {
        let key = (line.cells(&case), line.contender());
        let Some(cpu) = cpus.iter().position(|(name, _)| *name == line.get("cpu")) else { continue };
        if !rows.contains_key(&key) {
            order.push(key.clone());
        }
        rows.entry(key).or_default().insert(cpu, line);
    }
    order.retain(|key| rows.get(key).is_some_and(|by_cpu| by_cpu.len() > 1));
    let Some((first, _)) = order.first() else { return String::new() };
    let varies = |i: usize| order.iter().any(|(cells, _)| cells[i] != first[i]);
    let (varying, same): (Vec<usize>, Vec<usize>) = (0..case.len()).partition(|&i| varies(i));
    let same =
        same.into_iter().filter(|&i| !first[i].is_empty()).map(|i| format!("{} {}", case[i], first[i]));
    let title = same.collect::<Vec<_>>().join(", ");

    let mut present: Vec<usize> = order.iter().flat_map(|key| rows[key].keys().copied()).collect();
    present.sort_unstable();
    present.dedup();
    let mut heads: Vec<String> = varying.iter().map(|&i| case[i].to_owned()).collect();
    heads.push("contender".into());
    heads.extend(present.iter().flat_map(|&cpu| [format!("{} median", letter(cpu)), "relative".into()]));
    let mut cells = vec![heads];
    for key in &order {
        let mut line: Vec<String> = varying.iter().map(|&i| key.0[i].to_owned()).collect();
        line.push(key.1.clone());
        line.extend(present.iter().flat_map(|cpu| figures(rows[key].get(cpu))));
        cells.push(line);
    }
    format!("\n{title}\n\n{}", aligned(&cells, varying.len() + 1))
}

/// The speed of the middle round, and the row's relative figure.
fn figures(line: Option<&Line<'_>>) -> [String; 2] {
    let Some(line) = line else { return ["-".into(), "-".into()] };
    let relative = RELATIVE.iter().find_map(|column| line.number(column));
    [
        line.speed().map_or_else(|| "-".into(), |speed| format!("{:.1}", speed.median)),
        relative.map_or_else(|| "-".into(), |x| format!("{x:.2}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "shape,cpu,chunk,contender,best_mb_s,median_mb_s,speed_vs_base,rounds\n\
                          frames,X,4K,ours,110,100,1.1,5\n\
                          frames,X,4K,ours,120,115,1.15,5\n\
                          frames,X,8K,ours,130,125,1.2,5\n";

    #[test]
    fn rows_that_two_cpus_have_are_side_by_side() {
        let other = "shape,cpu,chunk,contender,best_mb_s,median_mb_s,speed_vs_base,rounds\n\
                     frames,Y,4K,ours,80,75,0.97,5\nframes,Y,4K,theirs,80,75,1.0,5\n";
        let sheets = [RECORD, other].map(|text| Sheet::parse(text).unwrap());
        let text = table(&sheets);
        assert!(text.starts_with("A  X: 3 rows\nB  Y: 2 rows\n\nshape frames, chunk 4K\n\n"), "{text}");
        let last = text.lines().last().unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(last, ["ours", "115.0", "1.15", "75.0", "0.97"], "{text}");
        assert!(!text.contains("theirs") && !text.contains("8K"), "{text}");
    }

    #[test]
    fn one_cpu_has_nothing_to_compare() {
        let text = table(&[Sheet::parse(RECORD).unwrap()]);
        assert_eq!(text, "A  X: 3 rows\n\nNo case was measured on more than one CPU.\n");
    }

    #[test]
    fn records_of_a_folder_are_read_and_other_files_passed_by() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("a.csv", RECORD), ("b.csv", "x,y\n1,2\n"), ("README.md", "no record")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let sheets = read(&[folder.path().to_owned(), folder.path().join("a.csv")]).unwrap();
        assert_eq!(sheets.iter().map(|sheet| sheet.rows().count()).collect::<Vec<_>>(), [3, 3]);
        assert!(read(&[folder.path().join("absent.csv")]).is_err_and(|e| e.contains("absent.csv")));
    }
}
