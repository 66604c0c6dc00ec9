//! The tables of waveforms.

use crate::records::Record;
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![
        ("hdf5-nab", hdf5("nab", &NAB)),
        ("hdf5-nedm", hdf5("nedm", &NEDM)),
        ("hdf5-noptrex", hdf5("noptrex", &NOPTREX)),
        ("waveform-channels", channels()),
        ("fpga", fpga()),
    ]
}

/// What the original's authors published for a method: the cell, and how many threads it used.
type Published = [(&'static str, &'static str); 6];

const NAB: Published = [
    ("none", "100 · 2906 / 3587"),
    ("gzip", "39 · 71 / 374"),
    ("LZF", "59 · 554 / 717"),
    ("bitshuffle, 32 threads", "38 · 2131 / 1852"),
    ("Delta-Rice, m = 8, 1 thread", "29 · 500 / 229"),
    ("Delta-Rice, m = 8, 32 threads", "29 · 2387 / 1782"),
];

const NEDM: Published = [
    ("none", "100 · 3799 / 3759"),
    ("gzip", "29 · 75 / 440"),
    ("LZF", "49 · 662 / 722"),
    ("bitshuffle, 32 threads", "30 · 1353 / 1833"),
    ("Delta-Rice, m = 8, 1 thread", "27 · 539 / 436"),
    ("Delta-Rice, m = 8, 32 threads", "27 · 2084 / 1717"),
];

const NOPTREX: Published = [
    ("none", "100 · 2829 / 3792"),
    ("gzip", "22 · 75 / 472"),
    ("LZF", "44 · 670 / 767"),
    ("bitshuffle, 32 threads", "26 · 2754 / 1201"),
    ("Delta-Rice, m = 8, 1 thread", "25 · 855 / 435"),
    ("Delta-Rice, m = 8, 32 threads", "25 · 2548 / 2235"),
];

/// Through HDF5: size in %, writing and reading in MB/s.
fn hdf5(set: &str, published: &Published) -> String {
    let record = Record::read("2026-11-21-waveforms.csv");
    let original = Record::read("2026-11-21-waveforms-original.csv");
    let here = |contender: &str| {
        let row = record.one(&[("shape", "hdf5"), ("corpus", set), ("contender", contender)]);
        cell(row.number("size_percent"), row.number("encode_best_mb_s"), row.number("decode_best_mb_s"))
    };
    let of_original = {
        let wanted = [("shape", "hdf5"), ("corpus", set), ("contender", "against libdr_O3native.so m=8")];
        let row = original.all(&wanted)[0];
        cell(row.number("size_percent"), row.number("encode_best_mb_s"), row.number("decode_best_mb_s"))
    };
    let columns = |i: usize| (published[i].0.to_owned(), published[i].1.to_owned());
    let measured = [
        here("none"),
        here("gzip 4"),
        here("lzf"),
        format!("{}; 2 threads {}", here("bitshuffle lz4"), here("bitshuffle lz4 x2")),
        of_original,
        "no machine here has 32 threads".to_owned(),
    ];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (i, measured) in measured.into_iter().enumerate() {
        let (method, figure) = columns(i);
        rows.push(vec![method, figure, measured]);
    }
    for (method, contender) in [
        ("**linerate**, m = 8, 1 thread", "linerate v1 m=8"),
        ("**linerate**, m = 8, 2 threads", "linerate v1 m=8 x2"),
        ("**linerate**, best m, 1 thread", "linerate v1 auto"),
        ("**linerate**, version 2, 1 thread", "linerate v2"),
        ("**linerate**, version 2, 2 threads", "linerate v2 x2"),
    ] {
        rows.push(vec![method.to_owned(), String::new(), here(contender)]);
    }
    let row = record.one(&[("shape", "hdf5"), ("corpus", set), ("contender", "linerate v2")]);
    let source = format!(
        "{}; the original in [2026-11-21-waveforms-original.csv](records/2026-11-21-waveforms-original.csv)",
        record.source(row)
    );
    table(&["method", "published", "measured here"], rows, &source)
}

fn cell(size: f64, write: f64, read: f64) -> String {
    format!("{size:.1} · {write:.0} / {read:.0}")
}

/// Recordings of several channels and of 32 bits, and whether something was developed on them.
const CHANNELS: &[(&str, &str, bool)] = &[
    ("ecg15", "ECG, 15 leads", true),
    ("fetal_p10143", "fetal ECG and uterine activity", false),
    ("monitor_a103l", "two leads and a plethysmogram", false),
    ("stereo44_16", "stereo sound, 44.1 kHz", true),
    ("stereo", "stereo sound, 32 kHz", false),
    ("mono44_16", "sound, 44.1 kHz", true),
    ("seismic_i32", "seismic traces", false),
    ("ecg15_i32", "ECG, a row per lead", true),
    ("audio24", "sound, 24 bits", true),
    ("stereo24", "stereo sound, 24 bits", true),
];

/// Channels and 32-bit samples in memory: size in %, and speeds in MB/s.
fn channels() -> String {
    let record = Record::read("2026-11-22-rice-channels.csv");
    let rows = CHANNELS.iter().map(|&(set, name, developed_on)| {
        let cell = |contender: &str| {
            let row = record.one(&[("corpus", set), ("contender", contender)]);
            if !row.text("note").is_empty() {
                return "-".to_owned();
            }
            let [encode, decode] = ["encode", "decode"].map(|what| row.number(&format!("{what}_best_mb_s")));
            format!("{:.1} · {encode:.0}/{decode:.0}", row.number("size_percent"))
        };
        let row = record.one(&[("corpus", set), ("contender", "linerate v2")]);
        let channels = match row.number("row_samples") {
            channels @ ..=64.0 => format!(", {channels} channels"),
            _ => String::new(),
        };
        vec![
            if developed_on { name.to_owned() } else { format!("**{name}**") },
            format!("{}{channels}", row.text("dtype")),
            cell("linerate v2"),
            cell("pco 8"),
            cell("flac 5"),
        ]
    });
    let head = ["", "samples", "version 2", "Pcodec 8", "FLAC 5"];
    table(&head, rows.collect(), &record.source(record.all(&[])[0]))
}

/// Cores after place and route: LUTs, flip-flops, block RAMs, and the frequencies of all seeds.
fn fpga() -> String {
    let record = Record::read("2026-11-22-fpga.csv");
    let cores = [
        ("encoder, k 3", "encoder, K = 3"),
        ("encoder, k input", "encoder, k an input"),
        ("encoder, k 3, 16 channels", "encoder, K = 3, 16 channels"),
        ("chunk encoder, k 3, 2048 words", "chunk encoder, K = 3, 2,048 words"),
        ("decoder, k 3", "decoder, K = 3"),
    ];
    let devices = ["ECP5 25F -6", "iCE40 HX8K", "Xilinx 7"];
    let rows = cores.map(|(core, name)| {
        let cells = devices.map(|device| {
            let seeds = record.all(&[("core", core), ("device", device)]);
            let Some(any) = seeds.first() else { return "-".to_owned() };
            let used = ["lut", "ff", "bram"].map(|column| any.text(column)).join(" / ");
            if !any.text("estimate_mhz").is_empty() {
                return format!("{used} · ({})", any.text("estimate_mhz"));
            }
            let mut speeds: Vec<f64> = seeds.iter().map(|row| row.number("fmax_mhz").trunc()).collect();
            speeds.sort_by(f64::total_cmp);
            format!("{used} · {} to {}", speeds[0], speeds[speeds.len() - 1])
        });
        [name.to_owned()].into_iter().chain(cells).collect()
    });
    let versions = devices.map(|device| {
        let row = record.all(&[("device", device)])[0];
        let router = row.text("nextpnr").trim_start_matches("nextpnr-");
        let router = if router.is_empty() { String::new() } else { format!(", nextpnr {router}") };
        format!("{device}: Yosys {}{router}", row.text("yosys"))
    });
    let date = record.all(&[])[0].text("date");
    let file = "[2026-11-22-fpga.csv](records/2026-11-22-fpga.csv)";
    let source = format!("{file}, {date}, {}; `make bench-hdl`", versions.join("; "));
    table(&["core", "ECP5 25F, speed grade 6", "iCE40 HX8K", "Xilinx 7"], rows.into(), &source)
}
