//! The tables of pages: figures of our records, in `docs/results.md` beside those published by others.

use std::collections::BTreeMap;

use crate::records::{Record, Row};
use crate::websocket;

/// Every table, by the name in its mark.
pub(crate) fn tables() -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("deflate", deflate()),
        ("deflate-calls", deflate_calls()),
        ("deflate-levels", deflate_levels()),
        ("deflate-messages", deflate_messages()),
        ("deflate-strategies", deflate_strategies()),
        ("deflate-threads", deflate_threads()),
        ("deflate-libslz", deflate_libslz()),
        ("inflate", inflate()),
        ("hdf5-nab", hdf5("nab", &NAB)),
        ("hdf5-nedm", hdf5("nedm", &NEDM)),
        ("hdf5-noptrex", hdf5("noptrex", &NOPTREX)),
        ("cold", cold()),
        ("cold-stock", cold_stock()),
        ("gateway", gateway()),
        ("gateway-java", gateway_java()),
        ("gateway-start-up", gateway_start_up()),
        ("gateway-guild", gateway_guild()),
        ("gateway-day", gateway_day()),
        ("nx-settings", nx_settings()),
        ("nx-threads", nx_threads()),
        ("nx-thread-tables", nx_thread_tables()),
        ("nx-filters", nx_filters()),
        ("nx-filtered-packing", nx_filtered_packing()),
        ("nx-inverses", nx_inverses()),
        ("nx-blocks", nx_blocks()),
        ("nx-distances", nx_distances()),
        ("nx-presets", nx_presets()),
        ("nx-costs", nx_costs()),
        ("nx-savings", nx_savings()),
        ("nx-level-load", nx_level_load()),
        ("waveform-channels", waveform_channels()),
        ("fpga", fpga()),
        ("websocket-idle", websocket::idle()),
        ("websocket-peers", websocket::peers()),
        ("websocket-speed", websocket::speed()),
        ("zstd-size", zstd_size()),
        ("zstd-command", zstd_command()),
    ])
}

/// A Markdown table with a line about its source below it.
pub(crate) fn table(head: &[&str], rows: Vec<Vec<String>>, source: &str) -> String {
    let line = |cells: &[String]| {
        format!("| {} |\n", cells.join(" | ")).replace("|  |", "| |").replace("|  |", "| |")
    };
    let head: Vec<String> = head.iter().map(ToString::to_string).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{rule}{body}\n{source}\n", line(&head))
}

/// Short messages, encoded and flushed one by one: ratio, time and speed by that of zlib 1, for each feed; and the heap.
fn deflate_messages() -> String {
    let record = Record::read("2026-11-23-deflate-messages.csv");
    let feeds = ["gateway events", "server-sent events", "JSON rows"];
    let contenders = [
        "linerate 1, 2 KiB",
        "linerate 1, 32 KiB",
        "linerate 2, none",
        "linerate 2, 2 KiB",
        "linerate 2, 8 KiB",
        "linerate 2, 32 KiB",
        "linerate 4, 8 KiB",
        "linerate 6, 2 KiB",
        "linerate 6, 8 KiB",
        "zlib 1",
        "zlib 6",
        "zlib-rs 1",
    ];
    let row = |contender: &str| {
        let mut cells = vec![contender.to_owned()];
        let of = |feed| record.one(&[("transport", feed), ("contender", contender)]);
        for feed in feeds {
            let row = of(feed);
            cells.push(format!("{:.2}", row.number("ratio")));
            cells.push(format!("{:.1}", row.number("median_ns") / 1000.0));
            cells.push(format!("{:.2}", row.number("speed_vs_base")));
        }
        let kib = of(feeds[0]).number("heap_bytes") / 1024.0;
        cells.push(if kib < 1.0 { "0".to_owned() } else { format!("{kib:.0}") });
        cells
    };
    let head = [
        "",
        "gateway: ratio",
        "us",
        "speed",
        "SSE: ratio",
        "us",
        "speed",
        "rows: ratio",
        "us",
        "speed",
        "KiB a stream",
    ];
    let source = record.source(record.one(&[("transport", feeds[0]), ("contender", "zlib 1")]));
    table(&head, contenders.into_iter().map(row).collect(), &source)
}

/// Deflate data decoded, whole and in pieces: our speed, by that of each peer, and bytes of a stream that waits.
fn inflate() -> String {
    let record = Record::read("2026-11-23-inflate.csv");
    let peers = ["zlib-rs", "zlib-ng", "zlib", "libdeflate"];
    let row = |(corpus, chunk): (&str, &str)| {
        let of =
            |contender| record.all(&[("corpus", corpus), ("chunk", chunk), ("contender", contender)]).pop();
        let ours = of("linerate").unwrap_or_else(|| panic!("no row of {corpus}, {chunk}"));
        let by = |peer| {
            of(peer).map_or_else(String::new, |peer| {
                format!("{:.2}", ours.number("speed_vs_base") / peer.number("speed_vs_base"))
            })
        };
        let calls = if chunk == "whole" { "whole files" } else { "64 KiB" };
        let head = [corpus.to_owned(), calls.to_owned(), format!("{:.0}", ours.number("median_mb_s"))];
        head.into_iter().chain(peers.map(by)).collect()
    };
    let rows = ["silesia", "web", "testdata"].map(|corpus| [(corpus, "whole"), (corpus, "64K")]);
    let head = ["", "calls", "MB/s", "by zlib-rs's", "by zlib-ng's", "by zlib's", "by libdeflate's"];
    let source = record.source(record.latest(&[("corpus", "silesia"), ("contender", "linerate")]));
    table(&head, rows.into_iter().flatten().map(row).collect(), &source)
}

/// Whole files at the levels for size: ratio and speed, and both by zlib 6's.
fn deflate_levels() -> String {
    let record = Record::read("2026-11-23-deflate-levels.csv");
    let find = |corpus, contender| record.one(&[("corpus", corpus), ("contender", contender)]);
    let row = |(corpus, contender)| {
        let (row, zlib) = (find(corpus, contender), find(corpus, "zlib 6"));
        let by = |column: &str| row.number(column) / zlib.number(column);
        vec![
            corpus.to_owned(),
            contender.to_owned(),
            format!("{:.3}", row.number("ratio")),
            format!("{:.3}", by("ratio")),
            format!("{:.0}", row.number("best_mb_s")),
            format!("{:.2}", by("best_mb_s")),
        ]
    };
    let rows = [
        ("silesia", "linerate 2"),
        ("silesia", "linerate 3"),
        ("silesia", "linerate 4"),
        ("silesia", "linerate 5"),
        ("silesia", "linerate 6"),
        ("silesia", "zlib 1"),
        ("silesia", "zlib 6"),
        ("silesia", "libdeflate 6"),
        ("nci", "linerate 5"),
        ("nci", "linerate 6"),
        ("nci", "libdeflate 6"),
        ("web", "linerate 5"),
        ("web", "linerate 6"),
        ("web", "libdeflate 6"),
    ];
    let head = ["", "", "ratio", "by zlib 6's", "MB/s", "by zlib 6's"];
    table(&head, rows.into_iter().map(row).collect(), &record.source(find("silesia", "zlib 6")))
}

/// Whole files: ratio, speed, and speed by that of libslz.
fn deflate() -> String {
    let record = Record::read("2026-11-20-deflate-silesia.csv");
    let contenders = [
        ("libslz", "deflate"),
        ("libslz", "gzip"),
        ("linerate 1", "deflate"),
        ("linerate 1", "gzip"),
        ("linerate 2", "deflate"),
        ("linerate 3", "deflate"),
        ("ISA-L 0", "deflate"),
        ("ISA-L 1", "deflate"),
        ("ISA-L 3", "deflate"),
        ("libdeflate 1", "deflate"),
        ("zlib-ng 1", "deflate"),
        ("zlib-rs 1", "deflate"),
        ("zlib 1", "deflate"),
        ("lz4", "lz4"),
    ];
    let rows = contenders.map(|(contender, format)| {
        let row = record.one(&[("chunk", "whole"), ("contender", contender), ("format", format)]);
        vec![
            contender.to_owned(),
            row.text("contender_version").to_owned(),
            format.to_owned(),
            format!("{:.3}", row.number("ratio")),
            format!("{:.0}", row.number("best_mb_s")),
            format!("{:.2}", row.number("speed_vs_base")),
        ]
    });
    let any = record.all(&[("chunk", "whole")])[0];
    table(&["contender", "version", "format", "ratio", "MB/s", "by libslz"], rows.into(), &record.source(any))
}

/// Calls of several sizes: speed and ratio by libslz's.
fn deflate_calls() -> String {
    let record = Record::read("2026-11-23-deflate-calls.csv");
    let contenders = ["linerate 1", "linerate 2", "linerate 3", "ISA-L 0", "ISA-L 1"];
    let shapes = [
        ("web", "1K"),
        ("web", "4K"),
        ("web", "16K"),
        ("silesia", "64K"),
        ("silesia", "whole"),
        ("Japanese HTML", "16K"),
        ("Chinese HTML", "16K"),
        ("Russian HTML", "16K"),
        ("Arabic HTML", "16K"),
        ("the four", "64K"),
    ];
    let rows = shapes.map(|(corpus, chunk)| {
        let call = if chunk == "whole" { "whole files" } else { &chunk.replace('K', " KiB") };
        let by_libslz = contenders.map(|contender| {
            let row = record.one(&[("corpus", corpus), ("chunk", chunk), ("contender", contender)]);
            format!("{:.2}, {:.2}", row.number("speed_vs_base"), row.number("ratio_vs_base"))
        });
        [&[format!("{corpus}, {call}")][..], &by_libslz].concat()
    });
    let source = record.source(record.all(&[])[0]);
    table(&[&["calls"][..], &contenders].concat(), rows.into(), &source)
}

/// Whole files: the rows of libslz's table that are no plain level.
fn deflate_strategies() -> String {
    let record = Record::read("2026-11-22-deflate-strategies.csv");
    let contenders = [
        ("linerate 1", "deflate"),
        ("zlib 1", "deflate"),
        ("zlib 1 Huffman only", "deflate"),
        ("zlib 1 runs", "deflate"),
        ("zlib 1 fixed", "deflate"),
        ("lz4", "lz4"),
        ("lzo", "lzo"),
    ];
    let rows = contenders.map(|(contender, format)| {
        let row = record.one(&[("chunk", "whole"), ("contender", contender), ("format", format)]);
        vec![
            contender.to_owned(),
            row.text("contender_version").to_owned(),
            format!("{:.3}", row.number("ratio")),
            format!("{:.0}", row.number("best_mb_s")),
            format!("{:.2}", row.number("speed_vs_base")),
        ]
    });
    let any = record.all(&[("chunk", "whole")])[0];
    let head = ["contender", "version", "ratio", "MB/s", "by linerate 1"];
    table(&head, rows.into(), &record.source(any))
}

/// One gzip stream, 1 and 2 threads; the later of two runs.
fn deflate_threads() -> String {
    let record = Record::read("2026-11-20-deflate-threads.csv");
    let rows = ["1", "2", "3"].map(|level| {
        let run = |threads: &str| {
            let contender = format!("linerate {level} x{threads}");
            let row = record.latest(&[("chunk", "512K"), ("contender", &contender)]);
            (row.number("ratio"), row.number("median_mb_s"), row.number("speed_vs_base"))
        };
        let ((ratio, one, _), (_, two, gain)) = (run("1"), run("2"));
        vec![
            format!("linerate {level}, blocks of 512 KiB"),
            format!("{ratio:.3}"),
            format!("{one:.0}"),
            format!("{two:.0}"),
            format!("{gain:.2}"),
        ]
    });
    let any = record.latest(&[("chunk", "512K")]);
    let head = ["contender", "ratio", "MB/s, 1 thread", "MB/s, 2 threads", "2 by 1"];
    table(&head, rows.into(), &record.source(any))
}

/// A program of libslz with either library.
fn deflate_libslz() -> String {
    let record = Record::read("2026-11-23-deflate-libslz.csv");
    let rows = record.all(&[]).into_iter().map(|row| {
        vec![
            row.text("library").to_owned(),
            row.text("level").to_owned(),
            format!("{:.3}", row.number("bytes") / row.number("output_bytes")),
            format!("{:.2}", row.number("best_cpu_s")),
            format!("{:.2}", row.number("speed_vs_libslz")),
        ]
    });
    let head = ["library", "level", "ratio", "CPU time, s", "speed by libslz"];
    table(&head, rows.collect(), &record.source(record.all(&[])[0]))
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

/// Block, dictionary, number of dictionaries, and the published cold speed by hot speed before and after the patches.
const GRID: &[(&str, &str, &str, &str)] = &[
    ("1K", "4K", "9954", "36 → 58"),
    ("1K", "8K", "9954", "35 → 58"),
    ("1K", "12K", "9954", "35 → 56"),
    ("1K", "110K", "9954", "33 → 40"),
    ("4K", "4K", "2489", "68 → 81"),
    ("4K", "8K", "2489", "64 → 81"),
    ("4K", "12K", "2489", "61 → 80"),
    ("4K", "110K", "2489", "37 → 53"),
    ("8K", "4K", "1245", "91 → 93"),
    ("8K", "8K", "1245", "87 → 91"),
    ("8K", "12K", "1245", "83 → 90"),
    ("8K", "110K", "1245", "47 → 68"),
    ("4K", "8K", "30000", ""),
    ("4K", "110K", "30000", ""),
];

/// Text through very many dictionaries: cold speed in % of the contender's own hot speed, and in MB/s.
fn cold() -> String {
    let record = Record::read("2026-11-21-dict-cold.csv");
    let rows = GRID.iter().map(|&(block, dictionary, count, published)| {
        let run = [
            ("measure", "cold"),
            ("kind", "text"),
            ("block", block),
            ("dictionary", dictionary),
            ("dictionaries", count),
            ("tables", "full"),
            ("command", "linerate-bench cold --rounds 5"),
        ];
        let of = |contender: &str, mode: &str, calls: &str| {
            record.one(&[&run[..], &[("contender", contender), ("mode", mode), ("calls", calls)]].concat())
        };
        let share = |contender: &str, calls: &str| {
            let row = of(contender, "cold", calls);
            format!("{:.0} % · {:.0}", 100.0 * row.number("share"), row.number("best_mb_s"))
        };
        let memory = |contender: &str| of(contender, "cold", "single").number("beside_bytes") / 1024.0;
        vec![
            format!("{block}, {dictionary}, {count}"),
            published.to_owned(),
            format!("{:.0}", of("libzstd", "hot", "single").number("best_mb_s")),
            format!("{:.0}", of("libzstd", "none", "single").number("best_mb_s")),
            share("libzstd", "single"),
            share("libzstd", "burst"),
            share("linerate", "single"),
            share("linerate", "batch 64"),
            format!("{:.1}, {:.1}", memory("linerate"), memory("libzstd")),
        ]
    });
    let rows = rows.collect();
    let head = [
        "block, dictionary, dictionaries",
        "published 2018, %",
        "libzstd hot",
        "no dictionary",
        "libzstd cold",
        "libzstd cold, prefetched",
        "**linerate** cold, one by one",
        "**linerate** cold, batches of 64",
        "KiB for each beside its content: linerate, libzstd",
    ];
    let any = record.all(&[("command", "linerate-bench cold --rounds 5")])[0];
    table(&head, rows, &record.source(any))
}

/// Data, block, dictionary and number of dictionaries of a cold run.
const COLD_RUNS: [[&str; 4]; 10] = [
    ["JSON", "1K", "8K", "30000"],
    ["JSON", "4K", "8K", "2500"],
    ["JSON", "4K", "8K", "30000"],
    ["JSON", "8K", "8K", "30000"],
    ["JSON", "4K", "110K", "30000"],
    ["text", "1K", "8K", "30000"],
    ["text", "4K", "8K", "2500"],
    ["text", "4K", "8K", "30000"],
    ["text", "8K", "8K", "30000"],
    ["text", "4K", "110K", "30000"],
];

/// Cold blocks beside the fastest way to use stock libzstd, one by one and with the next blocks known.
fn cold_stock() -> String {
    let record = Record::read("2026-11-23-dict-cold.csv");
    let command = ("command", "linerate bench cold --data json,text --rounds 3");
    let rows = COLD_RUNS.map(|[kind, block, dictionary, count]| {
        let run = [
            ("kind", kind),
            ("block", block),
            ("dictionary", dictionary),
            ("dictionaries", count),
            ("tables", "full"),
            ("mode", "cold"),
            command,
        ];
        let speed = |contender, calls| {
            record
                .one(&[&run[..], &[("contender", contender), ("calls", calls)]].concat())
                .number("best_mb_s")
        };
        let best = |ways: &[&'static str]| {
            let speeds = ways.iter().map(|&calls| (speed("libzstd", calls), calls));
            speeds.max_by(|a, b| a.0.total_cmp(&b.0)).expect("a way")
        };
        let (one, one_way) = best(&["single", "copy", "raw", "raw copy"]);
        let (ahead, ahead_way) = best(&["burst", "copy burst", "raw copy burst"]);
        let (ours, batch) = (speed("linerate", "single"), speed("linerate", "batch 64"));
        vec![
            format!("{kind} {block}, {count} of {dictionary}"),
            format!("{one:.0} ({one_way})"),
            format!("{ours:.0} · {:.2}", ours / one),
            format!("{ahead:.0} ({ahead_way})"),
            format!("{batch:.0} · {:.2}", batch / ahead.max(one)),
        ]
    });
    let head = [
        "blocks, dictionaries",
        "libzstd, one by one",
        "**linerate**, one by one",
        "libzstd, prefetched",
        "**linerate**, batches of 64",
    ];
    table(&head, rows.into(), &record.source(record.all(&[command])[0]))
}

/// Native decoders: nanoseconds a message, by the base of the transport.
fn gateway() -> String {
    let record = Record::read("2026-11-21-gateway-native.csv");
    let contenders = [
        ("zlib-stream", "linerate"),
        ("zlib-stream", "zlib-rs"),
        ("zlib-stream", "zlib-ng"),
        ("zlib-stream", "zlib"),
        ("zstd-stream", "linerate"),
        ("zstd-stream", "libzstd"),
        ("zstd-stream", "libzstd 8K"),
    ];
    let data = "generated: seed 1, shards 3, guilds 120, events 2500";
    let rows = contenders.map(|(transport, contender)| {
        let measured = ["whole", "live", "many"].map(|measure| {
            let wanted =
                [("measure", measure), ("data", data), ("transport", transport), ("contender", contender)];
            let row = record.one(&wanted);
            format!("{:.0} · {:.2}", row.number("median_ns"), row.number("speed_vs_base"))
        });
        let first = [format!("{transport}: {contender}")];
        first.into_iter().chain(measured).collect()
    });
    let any = record.all(&[("data", data)])[0];
    let head = ["", "start-up: whole connections", "live traffic", "2,500 connections in turn"];
    table(&head, rows.into(), &record.source(any))
}

/// A connection with one guild.
fn gateway_guild() -> String {
    let record = Record::read("2026-11-23-gateway-guild.csv");
    let contenders = [
        ("zlib-stream", "linerate"),
        ("zlib-stream", "zlib-rs"),
        ("zstd-stream", "linerate"),
        ("zstd-stream", "libzstd"),
    ];
    let rows = contenders.map(|(transport, contender)| {
        let measured = ["whole", "live", "many"].map(|measure| {
            let row = record.one(&[("measure", measure), ("transport", transport), ("contender", contender)]);
            format!("{:.0} · {:.2}", row.number("median_ns"), row.number("speed_vs_base"))
        });
        let first = [format!("{transport}: {contender}")];
        first.into_iter().chain(measured).collect()
    });
    let head = ["", "whole connection", "live traffic", "2,500 connections in turn"];
    table(&head, rows.into(), &record.source(record.all(&[])[0]))
}

/// A day of 2,500 connections in three sets; times in nanoseconds become microseconds.
fn gateway_day() -> String {
    let record = Record::read("2026-11-23-gateway-day.csv");
    let sets = ["A: zlib-stream 8 KiB", "B: zstd-stream 8 KiB", "C: zstd-stream 128 KiB"];
    let rows = sets.map(|set| {
        let row = record.one(&[("set", set), ("hour", "")]);
        let time = |column: &str| format!("{:.1}", row.number(column) / 1e3);
        let (payload, compressed) = (row.number("payload"), row.number("compressed"));
        vec![
            set.to_owned(),
            format!("{:.2}", payload / compressed),
            format!("{:.0}", payload / row.number("decode_ns") * 1e3),
            format!("{} · {} · {} · {}", time("median_ns"), time("p90_ns"), time("p99_ns"), time("p999_ns")),
        ]
    });
    let head = ["", "ratio", "MB/s", "median · 90 % · 99 % · 99.9 %, microseconds"];
    table(&head, rows.into(), &record.source(record.all(&[])[0]))
}

/// Ten connections in Java, with and without parsing.
fn gateway_java() -> String {
    let record = Record::read("2026-11-21-gateway-java.csv");
    let contenders = [
        ("zlib-stream", "JDK bulk, as JDA"),
        ("zlib-stream", "JDK stream"),
        ("zlib-stream", "linerate bulk"),
        ("zlib-stream", "linerate reusable"),
        ("zlib-stream", "linerate stream"),
        ("zstd-stream", "zstd-jni stream"),
        ("zstd-stream", "zstd-jni direct"),
        ("zstd-stream", "linerate bulk"),
        ("zstd-stream", "linerate reusable"),
        ("zstd-stream", "linerate stream"),
    ];
    let rows = contenders.map(|(transport, contender)| {
        let run = |work: &str| {
            let wanted = [
                ("scenario", "10 shards"),
                ("transport", transport),
                ("contender", contender),
                ("work", work),
                ("jdk", "Debian 17.0.15+6-Debian-1deb12u1"),
            ];
            let row = record.one(&wanted);
            format!(
                "{:.1} · {:.2} · {:.1}",
                row.number("median_us_per_message"),
                row.number("vs_jdk_bulk"),
                row.number("allocated_bytes_per_message") / 1000.0
            )
        };
        vec![format!("{transport}: {contender}"), run("bytes"), run("Jackson tree")]
    });
    let any = record.all(&[("scenario", "10 shards"), ("jdk", "Debian 17.0.15+6-Debian-1deb12u1")])[0];
    table(&["", "bytes", "parsed by Jackson"], rows.into(), &record.source(any))
}

/// Ten connections' start-up into JDA's `DataObject`: time and allocation, and both relative to JDA's own, beside what
/// discord-zstd-java publishes of its forms.
fn gateway_start_up() -> String {
    let record = Record::read("2026-11-23-gateway-start-up.csv");
    let jda = record.one(&[("contender", "JDK bulk, as JDA")]);
    let total = |row: &Row, column: &str| row.number(column) * row.number("messages");
    let less = |row: &Row, column: &str| {
        let percent = 100.0 * (total(row, column) / total(jda, column) - 1.0);
        format!("{percent:+.0} %").replace('-', "\u{2212}")
    };
    let contenders = [
        ("", "parsing alone", ["", ""]),
        ("zlib-stream", "JDK bulk, as JDA", ["0 %", "0 %"]),
        ("zlib-stream", "JDK stream", ["\u{2212}10 %", "\u{2212}48 %"]),
        ("zlib-stream", "linerate bulk", ["", ""]),
        ("zlib-stream", "linerate reusable", ["", ""]),
        ("zlib-stream", "linerate stream", ["", ""]),
        ("zstd-stream", "zstd-jni bulk", ["\u{2212}30 %", "\u{2212}35 %"]),
        ("zstd-stream", "zstd-jni stream", ["\u{2212}31 %", "\u{2212}48 %"]),
        ("zstd-stream", "linerate bulk", ["", ""]),
        ("zstd-stream", "linerate reusable", ["", ""]),
        ("zstd-stream", "linerate stream", ["", ""]),
    ];
    let rows = contenders.map(|(transport, contender, published)| {
        let row = record.one(&[("transport", transport), ("contender", contender)]);
        let name =
            if transport.is_empty() { contender.to_owned() } else { format!("{transport}: {contender}") };
        let seconds = total(row, "median_us_per_message") / 1e6;
        let megabytes = total(row, "allocated_bytes_per_message") / 1e6;
        let measured = [format!("{seconds:.2}"), less(row, "median_us_per_message")];
        let garbage = [format!("{megabytes:.0}"), less(row, "allocated_bytes_per_message")];
        let [time, allocated] = published.map(String::from);
        let cells = [name].into_iter().chain(measured).chain([time]).chain(garbage).chain([allocated]);
        cells.collect()
    });
    let head = ["", "s", "by JDA's", "published", "MB allocated", "by JDA's", "published"];
    table(&head, rows.into(), &record.source(jda))
}

/// Decoding of all blocks in memory by the number of threads, in GiB/s.
fn nx_threads() -> String {
    let record = Record::read("2026-11-21-nx-textures.csv");
    let here = |contender: &str| {
        let run = [("measure", "decode"), ("clock", "wall"), ("contender", contender)];
        format!("{:.2}", record.latest(&run).number("mb_s") * 1e6 / f64::from(1 << 30))
    };
    let rows = vec![
        vec![
            "1".into(),
            "1.27".into(),
            "1.34".into(),
            here("linerate --no-verify zstd 12 x1"),
            here("linerate zstd 12 x1"),
        ],
        vec![
            "2".into(),
            String::new(),
            String::new(),
            here("linerate --no-verify zstd 12 x2"),
            here("linerate zstd 12 x2"),
        ],
        vec!["4".into(), "4.93".into(), "5.00".into(), "no machine here".into(), "no machine here".into()],
        vec!["12".into(), "11.74".into(), "10.67".into(), "no machine here".into(), "no machine here".into()],
    ];
    let head = [
        "threads",
        "published, 1 MiB",
        "published, 16 MiB",
        "**linerate**, 1 MiB",
        "**linerate**, 1 MiB, hashes checked",
    ];
    let any = record.all(&[("measure", "decode"), ("clock", "wall")])[0];
    table(&head, rows, &record.source(any))
}

/// Archives by block size, level and codec.
fn nx_settings() -> String {
    let record = Record::read("2026-11-22-nx-settings.csv");
    let rows = record.all(&[("measure", "settings")]).into_iter().map(|row| {
        let name = row.text("contender");
        vec![
            name.strip_prefix("linerate ").unwrap_or(name).to_owned(),
            format!("{:.1} %", 100.0 * row.number("ratio")),
            format!("{:.0}", row.number("mb_s")),
        ]
    });
    let head = ["setting", "archive", "MB/s"];
    table(&head, rows.collect(), &record.source(record.all(&[])[0]))
}

/// The record of archives with and without texture filters.
const FILTERS: &str = "2026-11-23-nx-filters-streams.csv";

/// Two figures of a row, without and with filters.
fn pair(row: &Row, [one, other]: [&str; 2], digits: usize) -> String {
    format!("{:.digits$} · {:.digits$}", row.number(one), row.number(other))
}

/// Archives with and without filters by their content, in per cent.
fn filtered_sizes(row: &Row) -> String {
    let percent = |column| format!("{:.1} %", 100.0 * row.number(column) / row.number("bytes"));
    format!("{} · {}", percent("archive_bytes"), percent("filtered_bytes"))
}

const SPEED: [&str; 2] = ["mb_s", "filtered_mb_s"];
const SPEED_OF_TWO: [&str; 2] = ["mb_s_two_threads", "filtered_mb_s_two_threads"];

/// The settings with blocks of 1 and 16 MiB.
const BLOCKS: [(&str, &str); 4] = [
    ("12", "zstd 12, 1 MiB"),
    ("12-16M", "zstd 12, 16 MiB"),
    ("1M", "zstd 22 in long mode, 1 MiB"),
    ("16M", "zstd 22 in long mode, 16 MiB"),
];

/// Decoding by one and two threads at each of these settings, with and without filters.
fn nx_thread_tables() -> String {
    let record = Record::read(FILTERS);
    let row = |setting| record.latest(&[("folder", "textures"), ("setting", setting)]);
    let gib = |row: &Row, columns: [&str; 2]| {
        let [one, other] = columns.map(|column| row.number(column) * 1e6 / f64::from(1 << 30));
        format!("{one:.2} · {other:.2}")
    };
    let published = [["1.27", "4.93", "11.74"], ["1.34", "5.00", "10.67"], ["", "", ""], ["", "", ""]];
    let rows = BLOCKS.iter().zip(published).map(|(&(setting, name), published)| {
        let row = row(setting);
        let measured = [name.to_owned(), filtered_sizes(row), gib(row, SPEED), gib(row, SPEED_OF_TWO)];
        measured.into_iter().chain(published.map(str::to_owned)).collect()
    });
    let head =
        ["setting", "archive", "1 thread", "2 threads", "published, 1 thread", "4 threads", "12 threads"];
    table(&head, rows.collect(), &record.source(row("12")))
}

/// Packing with and without filters at the presets for the smallest archives.
fn nx_filtered_packing() -> String {
    let record = Record::read(FILTERS);
    let row = |setting| record.latest(&[("folder", "textures"), ("setting", setting)]);
    let rows = ["archive", "web"].map(|preset| {
        let row = row(preset);
        let times = ["pack_s", "filtered_pack_s"];
        let ratio = row.number(times[1]) / row.number(times[0]);
        vec![format!("`{preset}`"), filtered_sizes(row), pair(row, times, 1), format!("{ratio:.2}")]
    });
    let head = ["preset", "archive", "packing, s of CPU", "ratio"];
    table(&head, rows.into(), &record.source(row("archive")))
}

/// The texture formats with folders of their own in the record of filters.
const FORMATS: [&str; 4] = ["bc1", "bc3", "bc5", "bc7"];

/// Each filter before zstd, on textures it was tuned with and on others, and its inverse alone.
fn nx_inverses() -> String {
    let record = Record::read("2026-11-23-nx-inverses.csv");
    let unseen = record.all(&[("set", "unseen")]);
    let rows = unseen.iter().map(|row| {
        let (format, filter) = (row.text("format"), row.text("filter"));
        let tuned = record.latest(&[("set", "tuning"), ("format", format), ("filter", filter)]);
        let both = |cell: &dyn Fn(&Row) -> String| format!("{} · {}", cell(tuned), cell(row));
        let inverse = match filter {
            "best" => String::new(),
            _ => both(&|row| format!("{:.1}", row.number("inverse_gb_s"))),
        };
        vec![
            format.to_uppercase(),
            format!("`{filter}`"),
            both(&|row| format!("{:+.1} %", 100.0 * (row.number("size_by_plain") - 1.0))),
            both(&|row| format!("{:.2}", row.number("cpu_speed_ratio"))),
            inverse,
        ]
    });
    let head = ["format", "filter", "size", "speed", "inverse alone, GB/s"];
    table(&head, rows.collect(), &record.source(unseen[0]))
}

/// Blocks of 1 and of 16 MiB at zstd 22 in long mode, with and without filters.
fn nx_blocks() -> String {
    let record = Record::read(FILTERS);
    let row = |folder, setting| record.latest(&[("folder", folder), ("setting", setting)]);
    let rows = FORMATS.iter().chain(&["textures"]).flat_map(|folder| {
        [("1M", "1 MiB"), ("16M", "16 MiB")].map(|(setting, size)| {
            let row = row(folder, setting);
            vec![
                (*folder).to_owned(),
                size.to_owned(),
                filtered_sizes(row),
                pair(row, SPEED, 0),
                pair(row, SPEED_OF_TWO, 0),
            ]
        })
    });
    let head = ["folder", "blocks", "archive", "MB/s, one thread", "MB/s, two threads"];
    table(&head, rows.collect(), &record.source(row("textures", "1M")))
}

/// How far back and how long matches are, with and without a filter.
fn nx_distances() -> String {
    let record = Record::read("2026-11-23-nx-distances.csv");
    let last = record.latest(&[("block_bytes", "16777216"), ("filter", "bc7-aligned/streams")]);
    let filters = [("Bc1", "bc1-ycocg"), ("Bc3", "bc3-ycocg"), ("Bc5", "bc5-split"), ("Bc7", "bc7-aligned")];
    let rows = filters.iter().flat_map(|(format, filter)| {
        let streams = format!("{filter}/streams");
        [("1048576", "1 MiB"), ("16777216", "16 MiB")].map(|(block, size)| {
            let forms = ["none", *filter, &streams].map(|filter| {
                record.latest(&[("format", *format), ("block_bytes", block), ("filter", filter)])
            });
            let all = |cell: &dyn Fn(&Row) -> String| forms.map(cell).join(" · ");
            let far = |row: &Row| 100.0 * (row.number("to_1_mib") + row.number("further"));
            vec![
                format.to_uppercase(),
                size.to_owned(),
                all(&|row| format!("{:.0}", row.number("matches_per_kib"))),
                all(&|row| format!("{:.1}", row.number("mean_length"))),
                all(&|row| format!("{:.0} %", 100.0 * row.number("to_4_kib"))),
                all(&|row| format!("{:.0} %", far(row))),
            ]
        })
    });
    let head = [
        "format",
        "blocks",
        "matches per KiB",
        "mean length, bytes",
        "distance up to 4 KiB",
        "above 256 KiB",
    ];
    table(&head, rows.collect(), &record.source(last))
}

/// Archives with and without texture filters.
fn nx_filters() -> String {
    let record = Record::read(FILTERS);
    let settings = ["12", "12/fast", "fast-load"];
    let row = |folder, setting| record.latest(&[("folder", folder), ("setting", setting)]);
    let rows =
        FORMATS.iter().chain(&["bc6h"]).flat_map(|folder| settings.map(|setting| row(folder, setting)));
    let rows = rows.map(|row| {
        vec![
            row.text("folder").to_owned(),
            format!("`{}`", row.text("setting")),
            filtered_sizes(row),
            format!("{:+.1} %", 100.0 * (row.number("size_ratio") - 1.0)),
            pair(row, SPEED, 0),
            format!("{:.2}", row.number("cpu_speed_ratio")),
            format!("{:.2}", row.number("wall_speed_ratio_two_threads")),
            pair(row, ["pack_s", "filtered_pack_s"], 1),
        ]
    });
    let head = [
        "folder",
        "setting",
        "archive",
        "size",
        "MB/s, one thread",
        "speed",
        "speed, two threads",
        "packing, s of CPU",
    ];
    table(&head, rows.collect(), &record.source(row("bc1", "12")))
}

/// Every preset: archive by content, and decoding speed of one thread.
fn nx_presets() -> String {
    let record = Record::read("2026-11-21-nx-presets.csv");
    let rows = ["archive", "fast-load", "vfs", "web"].map(|preset| {
        let contender = format!("linerate {preset}");
        let measured = ["textures", "text", "silesia"].map(|corpus| {
            let row = record.one(&[("corpus", corpus), ("contender", &contender)]);
            format!("{:.1} % · {:.0}", 100.0 * row.number("ratio"), row.number("mb_s"))
        });
        [format!("`{preset}`")].into_iter().chain(measured).collect()
    });
    let any = record.all(&[])[0];
    table(&["preset", "textures", "text", "Silesia"], rows.into(), &record.source(any))
}

/// The corpora of the record of costs, by name and title.
const COST_CORPORA: [(&str, &str); 4] =
    [("textures", "textures"), ("models", "models"), ("text", "small files"), ("mods", "mods")];

/// Archives of every program and setting, by the tar.zst of level 9.
fn nx_costs() -> String {
    let record = Record::read("2026-11-23-nx-costs.csv");
    let contenders = [
        ("tar --zstd 9", "tar.zst, level 9"),
        ("tar --zstd 9, pieces of 1 MiB", "the same tar, each MiB by itself"),
        ("tar --zstd 12", "tar.zst, level 12"),
        ("tar --zstd 16", "tar.zst, level 16"),
        ("tar --zstd 19", "tar.zst, level 19"),
        ("squashfs 128K zstd 9", "squashfs, 128 KiB, zstd 9"),
        ("squashfs 1M zstd 9", "squashfs, 1 MiB, zstd 9"),
        ("zip", "zip, its default"),
        ("7z", "7z, its default"),
        ("linerate default", "Nx, the default"),
        ("linerate default with filters", "and filters"),
        ("linerate fast-load", "Nx, `fast-load`"),
        ("linerate fast-load with filters", "and filters"),
        ("linerate vfs", "Nx, `vfs`"),
        ("linerate vfs with filters", "and filters"),
        ("linerate vfs as R3A with dictionaries", "R3A, `vfs` with dictionaries"),
        ("linerate web", "Nx, `web`"),
        ("linerate web with filters", "and filters"),
        ("linerate archive", "Nx, `archive`"),
        ("linerate archive with filters", "and filters"),
    ];
    let bytes = |corpus: &str, contender: &str| {
        record.one(&[("corpus", corpus), ("contender", contender)]).number("archive_bytes")
    };
    let rows = contenders.map(|(contender, name)| {
        let cells = COST_CORPORA.map(|(corpus, _)| {
            let (here, base) = (bytes(corpus, contender), bytes(corpus, "tar --zstd 9"));
            match contender {
                "tar --zstd 9" => format!("{:.2} MB", here / 1e6),
                _ => format!("{:+.1} %", 100.0 * (here / base - 1.0)),
            }
        });
        [name.to_owned()].into_iter().chain(cells).collect()
    });
    let head = [&["archive"][..], &COST_CORPORA.map(|(_, title)| title)].concat();
    table(&head, rows.into(), &record.source(record.all(&[])[0]))
}

/// What takes bytes in an archive without being compressed content, by all its bytes, and what each saving takes away.
fn nx_savings() -> String {
    let record = Record::read("2026-11-23-nx-costs.csv");
    let row = |corpus: &str, contender: &str| record.one(&[("corpus", corpus), ("contender", contender)]);
    let bytes =
        |corpus: &str, setting: &str| row(corpus, &format!("linerate {setting}")).number("archive_bytes");
    let mut rows = Vec::new();
    for setting in ["default", "fast-load", "vfs", "web", "archive"] {
        for part in ["header", "padding", "stored blocks"] {
            let cells = COST_CORPORA.map(|(corpus, _)| {
                let counted = row(corpus, &format!("linerate {setting}: {part}")).number("counted_bytes");
                format!("{:.2} %", 100.0 * counted / bytes(corpus, setting))
            });
            let name = if setting == "default" { setting.to_owned() } else { format!("`{setting}`") };
            rows.push([format!("{name}: {part}")].into_iter().chain(cells).collect());
        }
    }
    let savings = [
        ("default: grouping of similar files", "default without grouping", "default"),
        ("default: equal files and chunks once", "default without deduplication", "default"),
        ("default: search fitted to the content", "default without fitted searches", "default"),
        ("default: filters", "default", "default with filters"),
        ("`vfs`: dictionaries, in R3A", "vfs", "vfs as R3A with dictionaries"),
    ];
    for (name, without, with) in savings {
        let cells = COST_CORPORA.map(|(corpus, _)| {
            format!("{:+.1} %", 100.0 * (bytes(corpus, with) / bytes(corpus, without) - 1.0))
        });
        rows.push([name.to_owned()].into_iter().chain(cells).collect());
    }
    let head = [&["what"][..], &COST_CORPORA.map(|(_, title)| title)].concat();
    table(&head, rows, &record.source(record.all(&[])[0]))
}

/// The loading of a level: medians of the rounds.
fn nx_level_load() -> String {
    let record = Record::read("2026-11-23-nx-level-load.csv");
    let contenders = [
        ("nx", "archive, one thread"),
        ("nx-batch", "archive, all at once, two threads"),
        ("zip", "zip, zlib-rs"),
        ("squashfs", "squashfs, mounted"),
        ("plain", "plain files"),
        ("tar.zst", "tar.zst, 30 files"),
    ];
    let rows = contenders.map(|(contender, name)| {
        let rounds = record.all(&[("contender", contender)]);
        let median = |column: &str, digits: usize| {
            let mut values: Vec<f64> =
                rounds.iter().filter_map(|row| row.text(column).parse().ok()).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).map_or(String::new(), |value| format!("{value:.digits$}"))
        };
        let size = format!("{:.1}", rounds[0].number("stored_bytes") / 1e6);
        let passes = ["pass_1_ms", "pass_2_ms", "pass_3_ms", "cpu_ms", "p99_us", "peak_mib"];
        let figures = passes.map(|column| median(column, 0));
        [name.to_owned(), size, median("first_ms", 1)].into_iter().chain(figures).collect()
    });
    let head = [
        "",
        "MB",
        "first file, ms",
        "pass 1, ms",
        "pass 2",
        "pass 3",
        "CPU, ms",
        "99th percentile, us",
        "memory, MiB",
    ];
    table(&head, rows.into(), &record.source(record.all(&[])[0]))
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
fn waveform_channels() -> String {
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

/// Small programs around zstd decoders: code in KB, and decoding speed in MB/s.
fn zstd_size() -> String {
    let record = Record::read("2026-11-23-zstd-size.csv");
    let files = ["dickens", "nci"];
    let rows = record.all(&[("file", files[0])]).into_iter().map(|row| {
        let [decoder, features, level] = ["decoder", "features", "opt_level"].map(|column| row.text(column));
        let same = |file: &str| {
            let wanted = [("decoder", decoder), ("features", features), ("opt_level", level), ("file", file)];
            format!("{:.0}", record.one(&wanted).number("mb_s"))
        };
        let name = match decoder {
            "linerate-zstd" => "**linerate-zstd**".to_owned(),
            other => format!("{other} {}", row.text("version")),
        };
        vec![
            name,
            if features.is_empty() { String::new() } else { format!("`{features}`") },
            level.to_owned(),
            format!("{:.1}", row.number("code_bytes") / 1000.0),
            same(files[0]),
            same(files[1]),
        ]
    });
    let head = ["decoder", "feature", "`opt-level`", "code, KB", "dickens, MB/s", "nci, MB/s"];
    table(&head, rows.collect(), &record.source(record.all(&[])[0]))
}

/// The command beside Debian's `zstd`: CPU time and elapsed time, ours by theirs, the median of pairs.
fn zstd_command() -> String {
    let record = Record::read("2026-11-23-zstd-command.csv");
    let rows = record.all(&[]).into_iter().map(|row| {
        let pair = |ours: &str, theirs: &str, by: &str| {
            let [ours, theirs, by] = [ours, theirs, by].map(|column| row.number(column));
            format!("{ours:.2} · {theirs:.2} · {by:.2}")
        };
        let bytes = row.number("linerate_bytes") / row.number("zstd_bytes");
        vec![
            format!("`{}` {}", row.text("options"), row.text("file")),
            pair("linerate_cpu_s", "zstd_cpu_s", "cpu_by_zstd"),
            pair("linerate_wall_s", "zstd_wall_s", "wall_by_zstd"),
            format!("{bytes:.4}"),
        ]
    });
    let any = record.all(&[])[0];
    let head = ["", "CPU time: ours, `zstd`, by `zstd`", "elapsed", "output by that of `zstd`"];
    let source =
        format!("{}; zstd {}; libzstd here {}", record.source(any), any.text("zstd"), any.text("libzstd"));
    table(&head, rows.collect(), &source)
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
