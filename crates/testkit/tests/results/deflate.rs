//! The tables of deflate and inflate.

use crate::records::Record;
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![
        ("deflate", deflate()),
        ("deflate-calls", calls()),
        ("deflate-levels", levels()),
        ("deflate-messages", messages()),
        ("deflate-strategies", strategies()),
        ("deflate-threads", threads()),
        ("deflate-libslz", libslz()),
        ("inflate", inflate()),
    ]
}

/// Short messages, encoded and flushed one by one: ratio, time and speed by that of zlib 1, for each feed; and the heap.
fn messages() -> String {
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
fn levels() -> String {
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
fn calls() -> String {
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
fn strategies() -> String {
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
fn threads() -> String {
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
fn libslz() -> String {
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
