//! Commands that write, killed at random moments and run on a full disk.

use std::collections::BTreeMap;
use std::fs;
use std::iter::repeat_n;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::time::{Duration, Instant};

use linerate_testkit::damage::{Outcome, rounds};
#[cfg(target_os = "linux")]
use linerate_testkit::disk::{Disk, assert_full};
use linerate_testkit::kill::{killed, moments};
use linerate_testkit::program::{Folder, Run, files_below};

use super::sources::plant;

/// A command that writes `out/a`, or extracts files to the folder `out`.
struct Writer {
    name: &'static str,
    args: &'static [&'static str],
    /// The file that is copied to `out/a` before the command; `None` for an extraction.
    before: Option<&'static str>,
    /// The command whose output shows the state of `out/a`, if a kill may leave uncommitted bytes
    /// in it.
    state: Option<&'static [&'static str]>,
}

const fn writer(name: &'static str, args: &'static [&'static str]) -> Writer {
    Writer { name, args, before: Some("in/dicts/0"), state: None }
}

const GATEWAY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gateway/sample.zst");

const WRITERS: [Writer; 16] = [
    writer("gzip", &["gzip", "-kf", "-9", "-o", "out/a", "in/text"]),
    writer("gzip -d", &["gzip", "-dkf", "-o", "out/a", "made/text.gz"]),
    writer("zstd", &["zstd", "-qf", "-12", "-o", "out/a", "in/text"]),
    writer("zstd -d", &["zstd", "-dqf", "-o", "out/a", "made/text.zst"]),
    writer("rice encode", &["rice", "encode", "-qf", "-o", "out/a", "in/wave.npy"]),
    writer("rice decode", &["rice", "decode", "-qf", "-o", "out/a", "made/wave.rice"]),
    writer("nx pack", &["nx", "pack", "-qf", "-p2", "-o", "out/a", "in/tree"]),
    Writer {
        before: Some("made/tree.nx"),
        ..writer("nx update", &["nx", "update", "-q", "out/a", "in/dicts"])
    },
    Writer {
        before: Some("made/tree.nx"),
        ..writer("nx repack", &["nx", "repack", "-q", "--solidlevel=9", "out/a"])
    },
    Writer {
        before: None,
        ..writer("nx extract", &["nx", "extract", "-qf", "-p2", "made/tree.nx", "-o", "out"])
    },
    writer(
        "dict train",
        &["dict", "train", "-qf", "--lines", "-b1K", "--expect=1G", "in/rows", "-o", "out/a"],
    ),
    writer("dict build", &["dict", "build", "-qf", "--key=id", "-o", "out/a", "in/rows"]),
    Writer {
        before: Some("made/a.pack"),
        state: Some(&["dict", "pack", "list", "--json", "out/a"]),
        ..writer("dict pack append", &["dict", "pack", "append", "-q", "out/a", "in/dicts/2", "in/dicts/3"])
    },
    Writer {
        before: Some("made/a.pack"),
        ..writer("dict pack compact", &["dict", "pack", "compact", "-q", "--uncompressed", "out/a"])
    },
    Writer {
        state: Some(&["gateway", "replay", "--json", "out/a"]),
        ..writer("gateway record", &["gateway", "record", "-qf", GATEWAY, "-o", "out/a"])
    },
    writer("gateway transcode", &["gateway", "transcode", "-qf", "--to=payloads", GATEWAY, "-o", "out/a"]),
];

type Files = BTreeMap<String, Vec<u8>>;

impl Writer {
    /// Creates the folder `to` with its initial content.
    fn reset(&self, folder: &Folder, to: &str) {
        let _ = fs::remove_dir_all(folder.path(to));
        fs::create_dir(folder.path(to)).expect("a folder");
        if let Some(path) = self.before {
            folder.write(&format!("{to}/a"), &folder.read(path));
        }
    }

    /// The files in `out` without temporary files. If a command shows the state of `out/a`, its
    /// output replaces the content.
    fn state(&self, folder: &Folder) -> Files {
        let mut files = files_below(&folder.path("out"));
        files.retain(|path, _| !linerate_io::is_temporary_name(path.rsplit('/').next().unwrap_or(path)));
        if let (Some(args), Some(bytes)) = (self.state, files.get_mut("a")) {
            *bytes = without_times(&Run::of(&mut folder.command(args), b"").text());
        }
        files
    }

    fn is_extraction(&self) -> bool {
        self.before.is_none()
    }

    fn try_kills(&self, folder: &Folder, outcome: &mut Outcome) {
        self.reset(folder, "out");
        let old = self.state(folder);
        let begun = Instant::now();
        Run::of(&mut folder.command(self.args), b"").ok();
        let whole_run = begun.elapsed();
        let new = self.state(folder);
        assert!(old != new, "{}", self.name);
        let wanted = rounds(2);
        // On a busy machine a short command may end before every kill. Then up to 50 more runs are
        // killed immediately, until a kill succeeds.
        let again = repeat_n(Duration::ZERO, 50);
        for (i, moment) in moments(wanted as u32, whole_run).chain(again).enumerate() {
            if i >= wanted && outcome.kills > 0 {
                break;
            }
            self.reset(folder, "out");
            if !killed(&mut folder.command(self.args), moment) {
                continue;
            }
            outcome.kills += 1;
            let found = self.state(folder);
            match () {
                () if found == new => outcome.new += 1,
                () if found == old => outcome.old += 1,
                // Each file of an extraction is complete or missing.
                () => assert!(
                    self.is_extraction() && found.iter().all(|(path, bytes)| new.get(path) == Some(bytes)),
                    "{} after {moment:?}: {:?}",
                    self.name,
                    found.iter().map(|(path, bytes)| (path, bytes.len())).collect::<Vec<_>>()
                ),
            }
        }
    }

    /// Runs the command on disks with more and more free space, but always too little.
    #[cfg(target_os = "linux")]
    fn try_disks(&self, disk: &Disk, outcome: &mut Outcome) {
        const PAGE: usize = 4096;
        let folder = &disk.folder;
        self.reset(folder, "out");
        let old: usize = sizes(&folder.path("out"));
        Run::of(&mut folder.command(self.args), b"").ok();
        let new: Files = files_below(&folder.path("out"));
        let whole = sizes(&folder.path("out"));
        let needed = if self.name == "dict pack append" { whole - old } else { whole };
        // The output folder is on the disk, so the command gets the path `disk` instead of `out`.
        let args: Vec<String> = self.args.iter().map(|arg| on_disk(arg)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let parts = rounds(2).min(16);
        for part in 0..parts {
            disk.clear();
            self.reset(folder, "before");
            let room = needed / PAGE * part / parts * PAGE;
            assert_full(&disk.run((old + room).max(PAGE), &args));
            outcome.disks += 1;
            let after = disk.after();
            let kept = if self.state.is_some() && self.before == Some("made/a.pack") {
                folder.write("out/a", &after["a"]);
                let then = self.state(folder);
                self.reset(folder, "out");
                then == self.state(folder)
            } else if self.is_extraction() {
                after.iter().all(|(path, bytes)| new.get(path) == Some(bytes))
            } else {
                after == files_below(&folder.path("before"))
            };
            assert!(kept, "{} with {room} bytes", self.name);
        }
    }
}

/// The bytes that files take on a disk with pages of 4 KiB.
#[cfg(target_os = "linux")]
fn sizes(folder: &Path) -> usize {
    files_below(folder).values().map(|bytes| bytes.len().next_multiple_of(4096)).sum()
}

#[cfg(target_os = "linux")]
fn on_disk(arg: &str) -> String {
    match arg.strip_prefix("out") {
        Some(rest) => format!("disk{rest}"),
        None => arg.to_owned(),
    }
}

/// JSON objects, one per line, reduced to the fields that are the same in every run.
fn without_times(text: &str) -> Vec<u8> {
    let lines = text.lines().map(|line| {
        let mut object: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let fields = object.as_object_mut().expect("an object");
        fields.retain(|name, _| {
            matches!(name.as_str(), "messages" | "payload_bytes" | "wire_bytes" | "number" | "bytes" | "hash")
        });
        format!("{object}\n")
    });
    lines.collect::<String>().into_bytes()
}

#[test]
fn a_killed_command_leaves_the_old_file_or_the_new_one() {
    let folder = plant(1_500_000);
    let sources = files_below(&folder.path("in"));
    for writer in WRITERS {
        let mut outcome = Outcome::default();
        writer.try_kills(&folder, &mut outcome);
        assert!(outcome.kills > 0, "{}: none was killed in time", writer.name);
        outcome.record("killed", writer.name);
    }
    assert!(files_below(&folder.path("in")) == sources, "the sources are as they were");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_file() {
    let Some(mut disk) = Disk::new() else { return };
    disk.folder = plant(400_000);
    ["before", "disk", "after"]
        .iter()
        .for_each(|name| fs::create_dir(disk.folder.path(name)).expect("a folder"));
    for writer in WRITERS {
        let mut outcome = Outcome::default();
        writer.try_disks(&disk, &mut outcome);
        outcome.record("full disk", writer.name);
    }
}
