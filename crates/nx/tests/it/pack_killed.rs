//! Tests that killed packing leaves the old or the complete new archive under the final name, and
//! does not change the source files.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use linerate_nx::Header;
use linerate_nx::pack::{Builder, Coding, FileOptions, Filters, PackOptions};
use linerate_testkit::data::dds;
use linerate_testkit::kill::{killed, moments};

use crate::pack_tree::{TreeFile, assert_holds, tree, write_tree};

/// Environment variable with the folder of the process that is killed.
const FOLDER: &str = "LINERATE_PACK_FOLDER";
const MOMENTS: u32 = 50;

fn options() -> PackOptions {
    let mut options = PackOptions { threads: 2, ..PackOptions::default() };
    (options.chunk, options.solid_limit) = (16 << 10, (16 << 10) - 1);
    (options.solid, options.chunked) = (Coding::zstd(12), Coding::zstd(12));
    options.filters = Filters::all();
    options
}

/// Not a test of its own: [`killed_packing_leaves_source_and_target_unchanged`] runs it in another
/// process.
#[test]
fn packs_when_asked() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let mut builder = Builder::new(options()).expect("options");
    builder.add_folder(&folder.join("tree"), |_| Some(FileOptions::default())).expect("readable");
    builder.write(folder.join("out/a.nx")).expect("packable");
}

/// Returns a command that runs this program again, on a folder.
fn run_on(folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", "pack_killed::packs_when_asked"]);
    command.env(FOLDER, folder).stdout(Stdio::null());
    command
}

fn assert_untouched(folder: &Path, files: &[TreeFile]) {
    for (name, bytes) in files {
        assert!(fs::read(folder.join(name)).expect("there") == *bytes, "{name}");
    }
}

#[test]
fn killed_packing_leaves_source_and_target_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = tree(11, 100, &options());
    files.push(("textures/wall.dds".into(), dds(b"DXT1", 200, 1)));
    let (sources, out) = (folder.path().join("tree"), folder.path().join("out"));
    let target = out.join("a.nx");
    write_tree(&sources, &files);
    fs::create_dir(&out).expect("writable");

    let begun = Instant::now();
    assert!(run_on(folder.path()).status().expect("this program again").success());
    let whole_run = begun.elapsed();
    let whole = fs::read(&target).expect("there");
    assert_holds(whole.clone(), &files);
    assert!(Header::parse(&whole).expect("ours").filtered);

    let old = b"the archive of before".to_vec();
    let mut unfinished = 0;
    for moment in moments(MOMENTS, whole_run) {
        fs::write(&target, &old).expect("writable");
        killed(&mut run_on(folder.path()), moment);
        let found = fs::read(&target).expect("there");
        assert!(found == old || found == whole, "{} bytes after {moment:?}", found.len());
        unfinished += u32::from(found == old);
    }
    assert!(unfinished > 0, "none was killed in time");
    assert!(run_on(folder.path()).status().expect("this program again").success());
    let names: Vec<_> =
        fs::read_dir(&out).expect("readable").map(|e| e.expect("there").file_name()).collect();
    assert_eq!(names, ["a.nx"], "the next pack removes what kills left");
    assert_untouched(&sources, &files);
}
