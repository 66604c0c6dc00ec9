//! The tables of Nx archives.

use crate::records::{Record, Row};
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![
        ("nx-settings", settings()),
        ("nx-threads", threads()),
        ("nx-thread-tables", thread_tables()),
        ("nx-filters", filters()),
        ("nx-filtered-packing", filtered_packing()),
        ("nx-inverses", inverses()),
        ("nx-blocks", blocks()),
        ("nx-distances", distances()),
        ("nx-presets", presets()),
        ("nx-costs", costs()),
        ("nx-savings", savings()),
        ("nx-level-load", level_load()),
    ]
}

/// Decoding of all blocks in memory by the number of threads, in GiB/s.
fn threads() -> String {
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
fn settings() -> String {
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
fn thread_tables() -> String {
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
fn filtered_packing() -> String {
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
fn inverses() -> String {
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
fn blocks() -> String {
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
fn distances() -> String {
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
fn filters() -> String {
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
fn presets() -> String {
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
fn costs() -> String {
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
fn savings() -> String {
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
fn level_load() -> String {
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
