//! Records: what is written is what is read.

use linerate_bench::record::{COLUMNS, Columns, Record, append, read};

fn record() -> Record {
    let text = String::from;
    Record {
        shape: text("bytes"),
        date: text("2026-01-31"),
        cpu: text("A CPU, \"quoted\" (family 6 model 167)"),
        rustc: text("rustc 1.89.0"),
        linerate: text("0.1.0 abc1234-dirty"),
        corpus: text("web"),
        bytes: 34_997_595,
        files: 1330,
        chunk: text("16K"),
        contender: text("linerate 2"),
        version: text("0.1.0 avx2"),
        format: text("deflate"),
        ratio: 3.7883,
        best_mbs: 612.5,
        median_mbs: 600.0,
        base: text("libslz deflate"),
        speed_vs_base: 1.125,
        ratio_vs_base: 1.2743,
        state_bytes: Some(16),
        scratch_bytes: None,
        rounds: 5,
        command: text("linerate-bench bytes --corpus web --only 'a,b'"),
    }
}

#[test]
fn lines_round_trip() {
    for r in [record(), Record::default(), Record { state_bytes: Some(0), ..record() }] {
        assert_eq!(Record::from_line(&r.to_line()), Ok(r));
    }
}

#[test]
fn json_has_the_same_columns_and_numbers_as_numbers() {
    let json = record().to_json();
    let object = json.as_object().unwrap();
    assert_eq!(object.len(), COLUMNS.len());
    assert!(COLUMNS.iter().all(|c| object.contains_key(*c)));
    assert_eq!(json["ratio"], 3.7883);
    assert_eq!(json["bytes"], 34_997_595);
    assert!(json["scratch_bytes"].is_null());
}

#[test]
fn numbers_are_rounded_and_no_speed_is_infinite() {
    let r = Record { ratio: 1.23456, best_mbs: f64::INFINITY, ..record() };
    let back = Record::from_line(&r.to_line()).unwrap();
    assert_eq!((back.ratio, back.best_mbs), (1.2346, 0.0));
}

#[test]
fn damaged_lines_name_the_column() {
    let line = record().to_line();
    let error = Record::from_line(&line.replace("1330", "many")).unwrap_err();
    assert!(error.contains("files") && error.contains("many"), "{error}");
    assert!(Record::from_line("a,b").unwrap_err().contains("2 columns"));
    assert!(Record::from_line(&line[..line.len() - 1].replace("\"\"quoted", "\"quoted")).is_err());
}

#[test]
fn files_grow_and_keep_one_header() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.csv");
    append(&path, &[record()]).unwrap();
    append(&path, &[Record { chunk: "4K".into(), ..record() }, record()]).unwrap();
    let chunks: Vec<_> = read(&path).unwrap().into_iter().map(|r| r.chunk).collect();
    assert_eq!(chunks, ["16K", "4K", "16K"]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("contender_version").count(), 1);
}

#[test]
fn a_file_with_other_columns_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.csv");
    std::fs::write(&path, "x,y\n1,2\n").unwrap();
    assert!(append(&path, &[record()]).unwrap_err().contains("other.csv"));
    assert!(read(&path).unwrap_err().contains("line 1"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x,y\n1,2\n");
}
