//! The subcommand `linerate-bench waveforms`.

use linerate_bench::waveforms::Set;

use linerate_testkit::program::{Folder, Run};

fn make(folder: &Folder, set: &str, out: &str) -> Run {
    super::bench(folder, &["waveforms", "--rows", "3", "--set", set, "--out", out])
}

#[test]
fn the_command_writes_the_same_files_as_the_library() {
    let folder = Folder::new();
    make(&folder, "nab", "command.npy").ok();
    Set::Nab.write_npy(&folder.path("library.npy"), 3).unwrap();
    assert_eq!(folder.read("command.npy"), folder.read("library.npy"));
}

#[test]
fn unknown_set_and_missing_folder_are_errors() {
    let folder = Folder::new();
    for (set, out, expected) in
        [("Nab", "x.npy", "not one of nab, nedm, noptrex"), ("nab", "no/x.npy", "x.npy: ")]
    {
        let run = make(&folder, set, out);
        assert!(run.status != Some(0) && run.stderr.contains(expected), "{}", run.stderr);
    }
}
