//! `--filters`: smaller textures, in archives that other programs refuse.

use super::data::{DAMAGED, USAGE};
use super::tree::{files_below, plant};
use linerate_testkit::data::dds;
use linerate_testkit::program::Folder;

const FAST: [&str; 4] = ["--solidlevel=3", "--chunkedlevel=3", "--chunksize=128K", "-q"];

fn pack(folder: &Folder, filters: &str, target: &str) {
    let filters = format!("--filters={filters}");
    folder.nx(&[&["pack", "-f", &filters, "in", "-o", target], &FAST[..]].concat()).ok();
}

fn version(archive: &[u8]) -> u8 {
    archive[7] >> 1
}

#[test]
fn filtered_archives_are_smaller_and_are_read_by_every_subcommand() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    pack(&folder, "none", "plain.nx");
    pack(&folder, "auto", "a.nx");
    let (plain, filtered) = (folder.read("plain.nx"), folder.read("a.nx"));
    assert_eq!((version(&plain), version(&filtered)), (1, 65));
    assert!(filtered.len() < plain.len(), "{} of {}", filtered.len(), plain.len());
    folder.nx(&["verify", "a.nx"]).ok();
    folder.nx(&["verify", "--against", "in", "a.nx"]).ok();
    folder.nx(&["diff", "--exit-code", "plain.nx", "a.nx"]).ok();
    folder.nx(&["bench", "--attempts=1", "-p1", "a.nx"]).ok();
    folder.nx(&["extract", "-p2", "a.nx", "-o", "out"]).ok();
    assert!(files_below(&folder.path("out")) == files);
    let one = folder.nx(&["extract", "-c", "a.nx", "/textures/leaf.dds"]).ok().stdout;
    assert!(one == files["textures/leaf.dds"]);
}

#[test]
fn info_and_list_show_filters() {
    let folder = Folder::new();
    plant(&folder, "in");
    pack(&folder, "auto", "a.nx");
    let info = folder.nx(&["info", "a.nx"]).ok().text();
    assert!(info.contains("Nx 1 with filters (header version 65: linerate only)"), "{info}");
    assert!(info.contains(" filtered\n") && info.contains("            bc1-"), "{info}");
    let record = &folder.nx(&["info", "--json", "a.nx"]).ok().objects()[0];
    let filters = record["filters"].as_object().expect("filters");
    let regions: u64 = filters.values().map(|found| found["regions"].as_u64().expect("a number")).sum();
    assert!(
        record["filtered_blocks"].as_u64().is_some_and(|blocks| 2 <= blocks && blocks <= regions),
        "{record}"
    );
    assert!(filters.keys().all(|name| name.starts_with("bc1-") || name.starts_with("bc3-")), "{record}");
    let long = folder.nx(&["list", "--long", "a.nx"]).ok().lines();
    let line = |path: &str| long.iter().find(|line| line.ends_with(path)).expect("a line").clone();
    assert!(line("textures/wall.dds").contains(" zstd+filter "), "{long:?}");
    assert!(!line("noise.ogg").contains("filter"), "{long:?}");
    for entry in folder.nx(&["list", "--json", "a.nx"]).ok().objects() {
        let count = entry["filtered_blocks"].as_u64().expect("a number");
        let is_wall = entry["path"] == "textures/wall.dds";
        assert!(count <= entry["blocks"].as_u64().expect("a number") && (count > 0 || !is_wall), "{entry}");
    }
    pack(&folder, "none", "plain.nx");
    let record = &folder.nx(&["info", "--json", "plain.nx"]).ok().objects()[0];
    assert_eq!((record["filtered_blocks"].as_u64(), record["filters"].to_string()), (Some(0), "{}".into()));
}

#[test]
fn repack_makes_an_archive_plain_and_edits_keep_its_filters() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    pack(&folder, "none", "plain.nx");
    pack(&folder, "auto", "a.nx");
    folder.nx(&[&["repack", "a.nx", "-o", "b.nx"], &FAST[..]].concat()).ok();
    assert!(folder.read("b.nx") == folder.read("plain.nx"));
    folder.nx(&[&["repack", "--filters=auto", "plain.nx", "-o", "c.nx"], &FAST[..]].concat()).ok();
    assert!(folder.read("c.nx") == folder.read("a.nx"));
    folder.nx(&["delete", "a.nx", "noise.ogg", "-o", "d.nx"]).ok();
    assert_eq!(version(&folder.read("d.nx")), 65);
    folder.nx(&["delete", "a.nx", "*.dds", "*.txt", "-o", "e.nx"]).ok();
    // The blocks still hold the deleted files, which is only worth a note.
    assert_eq!(folder.nx(&["verify", "e.nx"]).status, Some(0));
    folder.nx(&["repack", "--format=r3a", "a.nx", "-o", "a.r3a"]).ok();
    folder.nx(&["extract", "a.r3a", "-o", "out"]).ok();
    assert!(files_below(&folder.path("out")) == files);
}

#[test]
fn textures_without_a_header_are_filtered_where_a_glob_says_so() {
    let folder = Folder::new();
    let texels = dds(b"DXT5", 300, 9).split_off(128);
    folder.write("in/a/skin.TEX", &texels);
    let args = ["--filters=all", "--guess-textures=false", "--solidlevel=3", "-q", "in", "-o"];
    folder.nx(&[&["pack"], &args[..], &["plain.nx"]].concat()).ok();
    assert_eq!(version(&folder.read("plain.nx")), 1);
    let told = ["pack", "-i", "--texture-format=b=bc7", "--texture-format=*.tex=bc3"];
    folder.nx(&[&told[..], &args, &["a.nx"]].concat()).ok();
    assert_eq!(version(&folder.read("a.nx")), 65);
    let info = folder.nx(&["info", "a.nx"]).ok().text();
    assert!(info.contains("bc3-") && !info.contains("bc7-"), "{info}");
    assert!(folder.nx(&["extract", "-c", "a.nx", "a/skin.TEX"]).ok().stdout == texels);
    for (bad, why) in [
        ("*.tex", "`=` and a format"),
        ("*.tex=png", "`png` is no texture format with filters; formats are bc1, bc3, "),
        ("*.tex=bc2", "`bc2` is no texture format with filters; formats are bc1, bc3, "),
    ] {
        let run = folder.nx(&["pack", "--texture-format", bad, "in", "-o", "b.nx"]);
        assert_eq!(run.status, Some(USAGE));
        assert!(run.stderr.contains(why), "{}", run.stderr);
    }
}

#[test]
fn bad_filters_are_refused_with_the_names_of_all() {
    let folder = Folder::new();
    folder.write("in/a", b"a");
    let run = folder.nx(&["pack", "--filters=bc9", "in", "-o", "a.nx"]);
    assert_eq!(run.status, Some(USAGE));
    assert!(
        run.stderr.contains("`bc9` is no texture format or filter to write; formats are bc1, "),
        "{}",
        run.stderr
    );
    let run = folder.nx(&["pack", "--filters=auto", "--format=r3a", "in", "-o", "a.r3a"]);
    run.fails(USAGE, "linerate: --filters needs --format nx: R3A archives have no filters");
    assert_eq!(folder.names(), ["in"]);
}

#[test]
fn versions_of_others_are_refused_with_a_sentence() {
    let folder = Folder::new();
    plant(&folder, "in");
    pack(&folder, "auto", "a.nx");
    let whole = folder.read("a.nx");
    for version in [64, 66, 67, 127] {
        let mut bytes = whole.clone();
        bytes[7] = bytes[7] & 1 | version << 1;
        folder.write("b.nx", &bytes);
        let run = folder.nx(&["verify", "b.nx"]);
        run.fails(DAMAGED, "linerate: b.nx: an Nx archive of an unknown version (at byte 7)");
    }
}
