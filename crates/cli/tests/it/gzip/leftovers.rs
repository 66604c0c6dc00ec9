//! Temporary files of killed runs: the next write in the folder, and `linerate clean`, remove them.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use linerate_testkit::data::mixed as sample;
use linerate_testkit::kill::{killed, moments};
use linerate_testkit::program::{Folder, Run};

const MOMENTS: u32 = 25;
const FILES: usize = 30;

fn temporary_names(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|name| name.starts_with(".linerate-")).collect()
}

/// A temporary name with the ID of a process that has ended.
fn name_of_an_ended_process() -> String {
    let mut child = Command::new("true").spawn().expect("it starts");
    child.wait().expect("it ends");
    let own = linerate_io::temporary_name();
    let mut parts: Vec<String> = own.split('-').map(str::to_owned).collect();
    // The parts are .linerate, PLACE, PROCESS, START and COUNT.tmp.
    parts[2] = format!("{:x}", child.id());
    let name = parts.join("-");
    assert!(linerate_io::is_temporary_name(&name));
    name
}

#[test]
fn killed_runs_leave_no_file_after_the_next_write_and_lose_no_source() {
    let folder = Folder::new();
    let names: Vec<String> = (0..FILES).map(|i| format!("f{i}")).collect();
    let data = sample(100_000);
    let plant = || {
        for name in &names {
            let _ = std::fs::remove_file(folder.path(&format!("{name}.gz")));
            folder.write(name, &data);
        }
    };
    let args: Vec<&str> = names.iter().map(String::as_str).collect();
    plant();
    let begun = Instant::now();
    folder.gzip(&args).ok();
    let whole_run = begun.elapsed();
    let mut kills = 0;
    for moment in moments(MOMENTS, whole_run) {
        plant();
        kills += u32::from(killed(folder.command(&["gzip"]).args(&args), moment));
        for name in &names {
            let packed = format!("{name}.gz");
            assert!(folder.has(name) || folder.has(&packed), "{name} after {moment:?}");
            if folder.has(&packed) {
                folder.gzip(&["-t", &packed]).ok();
            }
        }
    }
    assert!(kills > 0, "none was killed in time");
    folder.write("next", b"data");
    folder.gzip(&["next"]).ok();
    assert_eq!(temporary_names(&folder), [""; 0]);
}

#[test]
fn the_next_write_removes_files_of_ended_processes_in_its_folder_alone() {
    let folder = Folder::new();
    let (ended, living) = (name_of_an_ended_process(), linerate_io::temporary_name());
    for name in [&ended, &living, &format!("sub/{ended}")] {
        folder.write(name, b"half");
    }
    folder.write("a", b"data");
    folder.gzip(&["a"]).ok();
    assert_eq!(folder.names(), [living.as_str(), "a.gz", "sub"]);
    assert!(folder.has(&format!("sub/{ended}")));
}

#[test]
fn clean_removes_files_of_ended_processes_below_folders_and_says_which() {
    let folder = Folder::new();
    let (ended, living) = (name_of_an_ended_process(), linerate_io::temporary_name());
    let leftovers = [format!("d/{ended}"), format!("d/deep/er/{ended}"), format!("e/{ended}")];
    let others = [format!("d/{living}"), "d/deep/file".into(), "d/.linerate-1-2.tmp".into()];
    leftovers.iter().chain(&others).for_each(|name| drop(folder.write(name, b"half")));
    let run = |args: &[&str]| Run::of(folder.command(&["clean"]).args(args), b"");
    let here = |names: &[String]| names.iter().all(|name| folder.has(name));

    let dry = run(&["--dry-run", "d", "e"]).ok().stdout;
    let lines = format!("{}\n{}\n{}\n", leftovers[0], leftovers[1], leftovers[2]);
    assert_eq!(sorted(&String::from_utf8(dry).unwrap()), sorted(&lines));
    assert!(here(&leftovers));

    let json = run(&["--json", "d"]).ok().stdout;
    let record: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!((&record["file"], &record["dry_run"]), (&"d".into(), &false.into()));
    assert_eq!(record["removed"].as_array().map(Vec::len), Some(2));
    assert!(here(&others) && here(&leftovers[2..]));
    assert!(!folder.has(&leftovers[0]) && !folder.has(&leftovers[1]));

    assert_eq!(run(&["-v", "e"]).stderr, "e: 1 removed\n");
    assert_eq!(run(&["e"]).ok().stdout, b"");
    let missing = run(&["missing", "d"]);
    missing.fails(1, "linerate: missing: cannot read the folder: No such file or directory");
    assert_eq!(run(&[]).status, Some(2));
}

fn sorted(lines: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn temporary_file_of_a_running_process_is_kept() {
    let folder = Folder::new();
    let mut command = folder.command(&["gzip", "-o", "out.gz"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_millis(200));
    folder.write("a", b"data");
    folder.gzip(&["a"]).ok();
    Run::of(&mut folder.command(&["clean", "."]), b"").ok();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.names(), ["a.gz", "out.gz"]);
}
