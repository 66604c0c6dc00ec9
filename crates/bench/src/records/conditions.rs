//! Under which conditions figures are taken: clock and threads of each shape, what the data is, and
//! which libraries and programs a contender consists of. Tables of pages print them below.

use super::{Measurement, Metric, Run, metric};

/// Clock and threads of the timed metrics of a shape.
struct Timing {
    shape: &'static str,
    /// Parameters that a measurement must have, as words `name=value`.
    params: &'static str,
    /// Names of the metrics, with blanks between them. Empty for all timed metrics.
    metrics: &'static str,
    /// Clock and threads in words. `{threads}` stands for the number in the parameter `threads`.
    told: &'static str,
}

const fn of(shape: &'static str, params: &'static str, metrics: &'static str, told: &'static str) -> Timing {
    Timing { shape, params, metrics, told }
}

const ONE: &str = "CPU time of one thread";
const ALL: &str = "CPU time, {threads}";
const WALL: &str = "elapsed time, {threads}";

/// Clock and threads by shape, as its harness measures it. The first row that fits counts.
#[rustfmt::skip]
const TIMINGS: &[Timing] = &[
    of("archives", "measure=costs", "", "CPU time of all threads, {threads} where the program has threads"),
    of("archives", "measure=decode clock=cpu", "", ONE),
    of("archives", "measure=decode", "", WALL),
    of("archives", "measure=drives", "", "not timed: computed from the drive's speed and the size of the archive"),
    of("archives", "measure=extract", "cpu", "CPU time of all threads of a process"),
    of("archives", "measure=extract", "", "elapsed time of a process, {threads} where the program has threads"),
    of("archives", "measure=lz4", "", ONE),
    of("archives", "measure=open", "", WALL),
    of("archives", "measure=presets", "", ONE),
    of("archives", "measure=settings clock=cpu", "", ONE),
    of("archives", "measure=settings", "", WALL),
    of("bytes", "", "", ONE),
    of("cold", "", "", ONE),
    of("cold-open", "", "", ONE),
    of("dictionary-sizes", "", "", ONE),
    of("frames", "", "", ONE),
    of("frames-digest", "", "", ONE),
    of("gateway-day", "", "cpu", "CPU time of one thread for the whole"),
    of("gateway-day", "", "", "elapsed time of each message, on one thread"),
    of("gateway-serve", "", "", "CPU time of the process"),
    of("gpu", "path=kernel", "", "time on the device, by its events"),
    of("gpu", "", "", "elapsed time of one thread and one stream of the device"),
    of("http-speed", "", "", ONE),
    of("inflate", "", "", ONE),
    of("java", "", "elapsed_time", "elapsed time of one thread"),
    of("java", "", "", ONE),
    of("java-jda", "", "elapsed_time", "elapsed time of the process"),
    of("java-jda", "", "", "CPU time of the process, all threads"),
    of("java-start-up", "", "elapsed_time", "elapsed time of one thread"),
    of("java-start-up", "", "", ONE),
    of("large-files", "", "decode_cpu", "CPU time of all threads of a process"),
    of("large-files", "", "", "elapsed time of a process, {threads}"),
    of("large-folders", "", "cpu", "CPU time of all threads"),
    of("large-folders", "", "", "elapsed time, {threads}"),
    of("messages", "", "collect_time", "CPU time of the other thread, which counts messages"),
    of("messages", "", "", ONE),
    of("messages-encode", "", "", ONE),
    of("node", "", "", "CPU time of the process, with its thread pool"),
    of("nx-cold", "", "", WALL),
    of("nx-filters", "", "pack pack_by_base", "CPU time of packing, all threads"),
    of("nx-filters", "threads=1", "", ONE),
    of("nx-filters", "", "", WALL),
    of("nx-inverses", "", "", ONE),
    of("nx-level-load", "", "cpu", "CPU time of all threads"),
    of("nx-level-load", "", "", "elapsed time of one thread, or of two where the row says so"),
    of("packs", "", "", "elapsed time of one thread"),
    of("plan-accuracy", "", "planned", "elapsed time of the plan"),
    of("plan-accuracy", "threads=1", "", "CPU time of a process with one thread"),
    of("plan-accuracy", "", "", "elapsed time of a process, {threads}"),
    of("python", "clock=wall", "", "elapsed time of one thread while another computes"),
    of("python", "", "", "CPU time of a process of one thread"),
    of("rice-every-m", "", "encode_cpu decode_cpu", ALL),
    of("rice-every-m", "", "", WALL),
    of("rice-v1-tiers", "clock=cpu", "", ONE),
    of("rice-v1-tiers", "", "", WALL),
    of("rice-v2", "", "", ONE),
    of("rocksdb", "", "elapsed", "elapsed time of opening"),
    of("rocksdb", "", "cpu", "CPU time of opening, all threads"),
    of("rocksdb", "", "elapsed_time", WALL),
    of("rocksdb", "", "decompress", "elapsed time by RocksDB's own clock, of a separate round"),
    of("rocksdb", "", "", "CPU time of a thread, {threads} reading"),
    of("rocksdb-parts", "", "", "elapsed time by RocksDB's own clock, one thread"),
    of("servers", "", "", "CPU time of the server's one process"),
    of("haproxy", "", "", "CPU time of the server's one thread"),
    of("sst", "", "elapsed_time", "elapsed time of one thread"),
    of("sst", "", "", ONE),
    of("threads", "", "", WALL),
    of("waveforms", "", "encode_cpu decode_cpu", ALL),
    of("waveforms", "", "", WALL),
    of("waveforms-original", "", "encode_cpu decode_cpu", ALL),
    of("waveforms-original", "", "", WALL),
    of("websocket", "", "", ONE),
    of("websocket-broadcast", "", "", ONE),
    of("websocket-netty", "", "", ONE),
    of("websocket-netty-broadcast", "", "", ONE),
    of("zstd-command", "", "elapsed elapsed_by_base", "elapsed time of a process on two cores"),
    of("zstd-command", "", "", "CPU time of all threads of a process"),
    of("zstd-size", "", "", "CPU time of a process of one thread"),
];

/// What data is.
struct Data {
    /// File of the record without its suffix. Empty for all files.
    file: &'static str,
    /// Names of the data, with `|` between them.
    names: &'static str,
    what: &'static str,
}

const fn data_of(file: &'static str, names: &'static str, what: &'static str) -> Data {
    Data { file, names, what }
}

const TRAFFIC: &str = "generated traffic of a chat gateway";
/// Connections made before there was `linerate gateway generate`, and the first of them.
const OLDER: &str = "two connections of a chat gateway, 21 MB, from an unpublished generator; \
    `linerate gateway generate --shards 2` makes similar ones";
const FIRST_OF_OLDER: &str = "a connection of a chat gateway, 10 MB, from an unpublished generator; \
    `linerate gateway generate` makes a similar one";

/// What the names of data stand for. The first row that fits counts. Published data is that of the
/// document.
#[rustfmt::skip]
const DATA: &[Data] = &[
    data_of("published", "nab|noptrex", "recordings of the experiment, not public"),
    data_of("published", "nedm", "signals simulated for the experiment, not public"),
    data_of("published", "10 connections", "real traffic"),
    data_of("published", "JSON|text|9.48 GiB of BC7 textures|a page of 76 kB|silesia, twelve files|not stated", ""),
    data_of("bytes", "silesia", "the first 3 MB of each of seven files of Silesia"),
    data_of("", "silesia|silesia, seven files", "seven files of Silesia, 82 MB"),
    data_of("", "dickens|mr|nci|ooffice|osdb|reymont|xml", "files of Silesia"),
    data_of("", "web", "1,330 HTML, CSS, JavaScript and JSON files of npm packages"),
    data_of("", "random", "generated random bytes"),
    data_of("cold", "JSON", "generated log rows"),
    data_of("dictionary-sizes", "JSON|logs|SQLite|protobuf", "generated"),
    data_of("cold", "text", "dickens of Silesia"),
    data_of("dictionary-sizes", "text", "dickens of Silesia"),
    data_of("", "rows", "generated log rows in JSON"),
    data_of("rocksdb", "json|text", "generated rows"),
    data_of("rocksdb", "packages", "Debian's list of packages as JSON rows"),
    data_of("nx-filters", "bc1, unseen|bc3, unseen|bc5, unseen", "DDS files of 0 A.D. and FlightGear"),
    data_of("nx-filters", "bc4, unseen|bc7, unseen", "images of SuperTuxKart, encoded"),
    data_of("", "bc1|bc3", "DDS files of the game ROTanks"),
    data_of("", "bc5|bc7", "images of the game tps-demo, encoded"),
    data_of("nx-filters", "BC1|BC3|BC5|BC7", "textures of the games ROTanks and tps-demo"),
    data_of("", "textures", "textures of the games ROTanks and tps-demo, and small files of mods"),
    data_of("", "dds", "DDS files of Debian's 0ad-data"),
    data_of("", "golang-1.19-src", "sources of Go 1.19"),
    data_of("", "100,000 files of 4 KiB", "generated files"),
    data_of("", "html|source|elf|png|wav", "files of Debian's packages"),
    data_of("", "office|access.log|rows.json|shop.sqlite|int16.npy|int32.npy|float.npy", "generated"),
    data_of("large-folders", "small files|large files", "generated by `bench/large_folders.py`, like mods of games"),
    data_of("large-files", "silesia-6.gz|silesia-2.gz|silesia-3.zst|silesia-19.zst", "four copies of seven files of Silesia, 328 MB"),
    data_of("zstd-command", "silesia-3.zst|silesia-frames.zst", "seven files of Silesia, 82 MB"),
    data_of("zstd-command", "dickens-19.zst", "dickens of Silesia"),
    data_of("gpu", "nab", "the generated set `nab`"),
    data_of("", "nab|nedm|noptrex", "generated by `linerate-bench waveforms`"),
    data_of("", "ecg_mitbih100|real_ecg_mitbih100|ecg15|ecg15_i32|fetal_p10143|monitor_a103l", "recordings of wfdb-python's sample data"),
    data_of("", "fcio_p06cal|real_fcio_p06cal|fcio_spms|real_fcio_spms|hpge_ldqta|real_hpge_ldqta|l200_phy_full|real_l200_phy_full", "recordings of LEGEND's test data"),
    data_of("", "seismic_i32", "recordings of obspy's test data"),
    data_of("", "audio24|mono44_16|stereo|stereo24|stereo44_16", "sound of pydub's test data"),
    data_of("", "probe384", "simulated by SpikeInterface"),
    data_of("gateway-day", "a day", TRAFFIC),
    data_of("gateway-java", "2 connections|2500 connections", OLDER),
    data_of("gateway-java", "10 connections|1 shard through JDA", TRAFFIC),
    data_of("gateway-node", "gateway", OLDER),
    data_of("gateway-python", "gateway", OLDER),
    data_of("websocket", "gateway", FIRST_OF_OLDER),
    data_of("", "gateway|generated|one guild|live traffic|gateway events", TRAFFIC),
    data_of("messages", "sample.zlib|sample.zst", "generated traffic in `testdata/gateway`"),
    data_of("messages", "server-sent events|JSON rows", "generated"),
    data_of("http", "theory.html", "a page of `crates/bench/corpus`"),
    data_of("http", "prices|tokens|posts", "generated server-sent events"),
    data_of("http", "idle responses", "generated server-sent events"),
    data_of("gateway-serve", "idle connections", "a generated guild"),
    data_of("websocket", "idle connections", "generated messages of about 550 bytes"),
    data_of("websocket", "chat", "20,000 generated messages of 183 bytes on average"),
    data_of("websocket", "json-rpc", "20,000 generated messages of 249 bytes on average"),
    data_of("websocket", "chat, 256 bytes|chat, 512 bytes|chat, 2048 bytes", "generated chat messages, cut to that length"),
    data_of("servers", "nginx|apache|haproxy", "pages of text from `crates/bench/corpus`"),
];

/// A library or program whose name in records differs from that of the contender, or that works for
/// contenders of other names.
struct Peer {
    /// Beginning of the names of the shapes.
    shape: &'static str,
    /// Beginning of the contender, of the base, of the data, or of the parameter `work`.
    of: &'static str,
    /// Name that tables print, which may have the version. Empty if no other library or program has
    /// a part in it.
    name: &'static str,
    /// Names in the `versions` of runs, with `|` between them.
    keys: &'static str,
}

const fn peer(shape: &'static str, of: &'static str, name: &'static str, keys: &'static str) -> Peer {
    Peer { shape, of, name, keys }
}

/// All rows that fit count. Without one, the name in `versions` is how the contender begins.
#[rustfmt::skip]
const PEERS: &[Peer] = &[
    peer("archives", "squashfs", "unsquashfs", "squashfs|unsquashfs"),
    peer("archives", "unsquashfs", "unsquashfs", "unsquashfs"),
    peer("archives", "tar --zstd", "tar", "tar"),
    peer("archives", "tar --zstd", "zstd", "zstd"),
    peer("archives", "7z", "7z", "7z|7zz"),
    peer("archives", "zip", "zip", ""),
    peer("archives", "liblz4", "lz4", "lz4"),
    peer("nx-level-load", "squashfs", "squashfuse", "squashfuse"),
    peer("nx-level-load", "zip", "zlib-rs", "zlib-rs"),
    peer("nx-level-load", "tar.zst", "", ""),
    peer("nx-level-load", "nx", "", ""),
    peer("nx-level-load", "folder", "", ""),
    peer("archives", "required", "", ""),
    peer("archives", "header", "", ""),
    peer("archives", "open, find", "", ""),
    peer("nx-cold", "reading alone", "", ""),
    peer("nx-cold", "decoding alone", "", ""),
    peer("nx-filters", "no filters", "", ""),
    peer("nx-inverses", "", "libzstd", "libzstd"),
    peer("large-folders", "squashfs", "mksquashfs", "squashfs"),
    peer("large-folders", "tar, zstd", "zstd", "zstd"),
    peer("java", "", "JDK", "jdk"),
    peer("java-jda", "", "JDA", "JDA"),
    peer("java-start-up", "", "JDA", "JDA"),
    peer("java", "Jackson", "Jackson", "Jackson"),
    peer("java", "zstd-jni", "zstd-jni", "zstd-jni"),
    peer("websocket-netty", "", "JDK", "jdk"),
    peer("websocket-netty", "", "Netty", "Netty"),
    peer("websocket-netty", "Netty, JZlib", "JZlib", "JZlib"),
    peer("node", "", "Node.js", "node"),
    peer("node", "zlib-sync", "zlib-sync", "zlib-sync"),
    peer("node", "node:zlib", "node:zlib", "node:zlib"),
    peer("node", "fzstd", "fzstd", "fzstd"),
    peer("python", "", "Python", "python"),
    peer("python", "zlib", "zlib", "zlib"),
    peer("python", "zstandard", "zstandard", "zstandard"),
    peer("python", "backports.zstd", "backports.zstd", "backports.zstd"),
    peer("gpu", "", "CUDA", "CUDA"),
    peer("gpu", "nvcomp", "nvCOMP", "nvcomp"),
    peer("http", "tower-http", "tower-http", "tower-http"),
    peer("http", "tower-http", "zlib", "zlib"),
    peer("http", "none", "", ""),
    peer("servers", "nginx", "nginx", "nginx"),
    peer("servers", "apache", "Apache", "apache"),
    peer("servers", "zlib 1.2.13", "zlib 1.2.13", ""),
    peer("servers", "zlib-ng 2.3.3", "zlib-ng 2.3.3", ""),
    peer("haproxy", "haproxy", "HAProxy", "haproxy"),
    peer("haproxy", "zlib 1.2.13", "zlib 1.2.13", ""),
    peer("haproxy", "slz", "libslz", "libslz"),
    peer("rocksdb", "builtin", "RocksDB", "rocksdb"),
    peer("rocksdb", "digested", "RocksDB", "rocksdb"),
    peer("rocksdb", "linerate", "RocksDB", "rocksdb"),
    peer("messages-instructions", "", "valgrind", "valgrind"),
    peer("zstd-size", "", "rustc", "rustc"),
    peer("zstd-size", "ruzstd", "ruzstd", "ruzstd"),
    peer("zstd-size", "libzstd", "libzstd", "libzstd"),
    peer("websocket-broadcast", "", "", ""),
    peer("plan-accuracy", "", "", ""),
    peer("rice-", "", "", ""),
    peer("threads", "1 thread", "", ""),
    peer("waveforms", "none", "h5py", "none"),
    peer("waveforms", "gzip", "h5py", "gzip"),
    peer("waveforms", "lzf", "h5py", "lzf"),
    peer("waveforms", "szip", "h5py", "szip"),
    peer("waveforms", "differences, zlib", "zlib", "zlib"),
    peer("", "no dictionary", "", ""),
];

/// What runs have as the version of a program whose version was not found.
const NO_VERSIONS: [&str; 4] = ["", "unknown", "tar", "7-Zip"];

/// Whether the figures of a metric depend on a clock.
pub(crate) fn is_timed(metric: &Metric) -> bool {
    let quotients = ["requests_per", "speed_by", "cpu_by", "elapsed_by", "pack_by"];
    ["MB/s", "GB/s", "µs", "ms", "s"].contains(&metric.unit)
        || quotients.iter().any(|quotient| metric.name.starts_with(quotient))
}

/// Clock and threads of a metric of a measurement, with `{threads}` for the parameter `threads`.
/// `None` if the metric is not timed or no row of [`TIMINGS`] fits.
pub(crate) fn timing(of: &Measurement, name: &str) -> Option<&'static str> {
    metric(name).filter(|metric| is_timed(metric))?;
    let has = |word: &str| {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        of.params
            .get(key)
            .is_some_and(|found| found.as_str().map_or(found.to_string(), str::to_owned) == value)
    };
    let fits = |row: &&Timing| {
        row.shape == of.shape
            && row.params.split_whitespace().all(has)
            && (row.metrics.is_empty() || row.metrics.split(' ').any(|metric| metric == name))
    };
    TIMINGS.iter().find(fits).map(|row| row.told)
}

/// What the data `name` is, in the record `file`. Empty if the name says it. `None` if no row of
/// [`DATA`] fits.
pub(crate) fn data(file: &str, name: &str) -> Option<&'static str> {
    let stem = file.strip_suffix(".jsonl").unwrap_or(file);
    let fits = |row: &&Data| {
        (row.file.is_empty() || row.file == stem) && row.names.split('|').any(|known| known == name)
    };
    DATA.iter().find(fits).map(|row| row.what)
}

/// The other libraries and programs that took part in a measurement, and, if `quotient` is set, in
/// that of its `base`: the name of each, and its version if the run has it.
pub(crate) fn versions<'r>(
    run: &'r Run,
    of: &'r Measurement,
    quotient: bool,
) -> Vec<(&'r str, Option<&'r str>)> {
    let text = |key: &str| of.params.get(key).and_then(|value| value.as_str());
    let base = text("base").filter(|_| quotient);
    let mut found = Vec::new();
    for contender in [&*of.contender, base.unwrap_or_default()].into_iter().filter(|name| !name.is_empty()) {
        let words = [Some(contender), Some(&*of.data), text("work")];
        let fits = |row: &&Peer| {
            of.shape.starts_with(row.shape) && words.iter().flatten().any(|word| word.starts_with(row.of))
        };
        let mut rows = PEERS.iter().filter(fits).peekable();
        if rows.peek().is_none() {
            let (name, version) =
                longest(run, contender).map_or((contender, None), |(name, version)| (name, Some(version)));
            found.extend((!name.contains("linerate")).then_some((name, version)));
        }
        for row in rows.filter(|row| !row.name.is_empty()) {
            found.push((row.name, recorded(run, row)));
        }
    }
    let known = |version: &&str| !NO_VERSIONS.contains(version);
    found.into_iter().map(|(name, version)| (name, version.filter(known))).collect()
}

/// The name and the version of a contender itself. `None` if the run has no version of it.
pub(crate) fn version<'r>(run: &'r Run, of: &'r Measurement) -> Option<(&'r str, &'r str)> {
    let fits = |row: &&Peer| {
        let is_it = !row.of.is_empty() && of.contender.starts_with(row.of) && !row.name.is_empty();
        of.shape.starts_with(row.shape) && is_it
    };
    let found = match PEERS.iter().find(fits) {
        Some(row) => recorded(run, row).map(|version| (row.name, version)),
        None => longest(run, &of.contender),
    };
    found.filter(|(_, version)| !NO_VERSIONS.contains(version))
}

fn recorded<'r>(run: &'r Run, row: &Peer) -> Option<&'r str> {
    row.keys.split('|').find_map(|key| run.versions.get(key)).map(String::as_str)
}

/// The longest name in the run's `versions` with which the contender begins, and its version.
fn longest<'r>(run: &'r Run, contender: &str) -> Option<(&'r str, &'r str)> {
    let named = run.versions.iter().filter(|(name, _)| contender.starts_with(name.as_str()));
    named.max_by_key(|(name, _)| name.len()).map(|(name, version)| (&**name, &**version))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use super::*;

    #[test]
    fn every_record_has_its_clocks_data_and_peers_here() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../records"));
        let mut missing = BTreeSet::new();
        for path in std::fs::read_dir(folder).expect("records").flatten().map(|entry| entry.path()) {
            let file = path.file_name().expect("a name").to_string_lossy().into_owned();
            if !file.ends_with(".jsonl") {
                continue;
            }
            for (run, found) in crate::records::read(&path).expect("a record") {
                let Measurement { shape, data: name, params, metrics, .. } = &found;
                if data(&file, name).is_none() {
                    missing.insert(format!("{file}: what the data {name} is"));
                }
                if !run.source.is_empty() {
                    continue;
                }
                let timed = metrics.keys().filter(|name| metric(name).is_some_and(is_timed));
                for name in timed.filter(|name| timing(&found, name).is_none()) {
                    missing.insert(format!("{file}: the clock of {name}, {shape} {params:?}"));
                }
                let unknown = versions(&run, &found, true)
                    .into_iter()
                    .filter(|(name, version)| version.is_none() && PEERS.iter().all(|row| row.name != *name));
                missing.extend(unknown.map(|(name, _)| format!("{file}: the version of {name}, {shape}")));
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }

    #[test]
    fn peers_have_the_versions_of_their_run_under_other_names_and_those_of_bases() {
        let names = ["squashfs", "7zz", "libslz"];
        let versions_of_run = ["4.5.1", "7-Zip", "1.2.1"];
        let all = names.into_iter().zip(versions_of_run);
        let all: BTreeMap<_, _> = all.map(|(name, version)| (name.to_owned(), version.to_owned())).collect();
        let run = Run { versions: all, ..Run::default() };
        let of = |shape: &str, contender: &str, base: &str| Measurement {
            shape: shape.into(),
            contender: contender.into(),
            params: [("base".to_owned(), base.into())].into(),
            ..Measurement::default()
        };
        let squashfs = of("archives", "squashfs 128K zstd 9", "");
        assert_eq!(versions(&run, &squashfs, false), [("unsquashfs", Some("4.5.1"))]);
        assert_eq!(versions(&run, &of("archives", "7z", ""), false), [("7z", None)]);
        let ours = of("bytes", "linerate 1", "libslz deflate");
        assert_eq!(versions(&run, &ours, true), [("libslz", Some("1.2.1"))]);
        assert_eq!(versions(&run, &ours, false), []);
        let node = Run {
            versions: [("node", "20.1"), ("fzstd", "0.1")].map(|(a, b)| (a.into(), b.into())).into(),
            ..Run::default()
        };
        let fzstd = of("node", "fzstd", "");
        assert_eq!(versions(&node, &fzstd, false), [("Node.js", Some("20.1")), ("fzstd", Some("0.1"))]);
        assert_eq!(version(&node, &fzstd), Some(("fzstd", "0.1")), "not that of Node.js");
        assert_eq!(versions(&run, &of("bytes", "other 2", ""), false), [("other 2", None)]);
    }

    #[test]
    fn parameters_and_metrics_decide_about_the_clock() {
        let of = |clock: &str| Measurement {
            shape: "archives".into(),
            params: [("measure".to_owned(), "decode".into()), ("clock".to_owned(), clock.into())].into(),
            ..Measurement::default()
        };
        assert_eq!(timing(&of("cpu"), "speed"), Some(ONE));
        assert_eq!(timing(&of("wall"), "speed"), Some(WALL));
        assert_eq!(timing(&of("wall"), "size"), None);
    }
}
