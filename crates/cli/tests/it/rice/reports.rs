//! Output: lines for people, JSON objects for programs.

use super::data::{DAMAGED, FAILED, USAGE, json, npy, wave};
use linerate_testkit::program::Folder;

#[test]
fn json_has_an_object_for_each_file() {
    let folder = Folder::new();
    folder.write("a.npy", &npy("<u2", "(3, 1000)", &wave(3000)));
    let run = folder.rice(&["encode", "--v1", "--json", "--m=16", "--segment=row", "a.npy"]).ok();
    let record = json(&run.stdout);
    assert_eq!(record["file"], "a.npy");
    assert_eq!(record["status"], "ok");
    assert_eq!(record["mode"], "encode");
    assert_eq!(record["format"], "v1");
    assert_eq!(record["output"], "a.drc");
    assert_eq!(record["dtype"], "u16");
    assert_eq!(record["shape"], serde_json::json!([3, 1000]));
    assert_eq!(record["cd_values"], serde_json::json!([16, 1000]));
    assert_eq!(record["bytes_in"], 6128);
    assert_eq!(record["bytes_out"], folder.read("a.drc").len());
    for command in ["info", "verify", "decode"] {
        let run = folder.rice(&[command, "--json", "--cd-values=16,1000", "-q", "a.drc"]);
        let record = json(&run.stdout);
        assert_eq!(record["mode"].as_str().unwrap_or(command), command);
        if command == "decode" {
            assert_eq!(run.status, Some(FAILED), "a.npy is there");
            assert_eq!((&record["status"], &record["kind"]), (&"failed".into(), &"refused".into()));
        } else {
            assert_eq!((&record["samples"], &record["status"]), (&3000.into(), &"ok".into()));
        }
    }
    // If standard output carries data, the objects go to standard error.
    let run = folder.rice(&["decode", "--json", "--cd-values=16,1000", "-o", "-", "a.drc"]);
    assert_eq!(json(run.stderr.as_bytes())["bytes_out"], run.stdout.len());
    let run = folder.rice(&["info", "--json", "--v1", "a.npy"]);
    assert_eq!(run.status, Some(DAMAGED));
    let record = json(&run.stdout);
    assert_eq!((&record["kind"], &record["offset"]), (&"corrupt".into(), &0.into()));
}

#[test]
fn text_output_has_a_line_for_each_file() {
    let folder = Folder::new();
    folder.write("a.npy", &npy("<i2", "(3, 1000)", &wave(3000)));
    let run = folder.rice(&["encode", "--v1", "-v", "--m=16", "--segment=row", "a.npy"]);
    assert_eq!(String::from_utf8_lossy(&run.stdout), "a.drc: cd_values 16,1000\n");
    let small = folder.read("a.drc").len();
    assert!(run.stderr.starts_with(&format!("a.npy: 6128 -> {small} bytes (")), "{}", run.stderr);
    assert!(run.stderr.trim_end().ends_with("-> a.drc"), "{}", run.stderr);
    let run = folder.rice(&["verify", "-v", "--cd-values=16,1000", "a.drc"]);
    assert_eq!((run.stderr.as_str(), run.stdout.len()), ("a.drc: OK\n", 0));
    let run = folder.rice(&["info", "-v", "--cd-values=16,1000", "a.drc"]).ok();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.starts_with("file        a.drc\nformat      v1"), "{text}");
    assert!(text.contains("samples     3000 of 16 bits, 6000 bytes"), "{text}");
    assert!(text.contains("segments    3\n"), "{text}");
}

#[test]
fn status_of_several_files_is_that_of_the_failure() {
    let folder = Folder::new();
    folder.write("a.npy", &npy("<i2", "(30,)", &wave(30)));
    folder.write("b.npy", b"\x93NUMPY");
    folder.write("c.npy", &npy("<i2", "(30,)", &wave(30)));
    let run = folder.rice(&["encode", "--v1", "-q", "a.npy", "b.npy", "c.npy"]);
    run.fails(DAMAGED, "linerate: b.npy: the input ends inside the .npy header (at byte 6)");
    assert_eq!(folder.names(), ["a.drc", "a.npy", "b.npy", "c.drc", "c.npy"]);
}

#[test]
fn wrong_command_lines_exit_with_2() {
    let folder = Folder::new();
    folder.write("a.npy", &npy("<i2", "(30,)", &wave(30)));
    for options in [
        &["encode", "--v1", "--m", "12", "a.npy"][..],
        &["encode", "--v1", "--m", "1", "a.npy"],
        &["encode", "--v1", "--filter", "2,-1", "a.npy"],
        &["encode", "--v1", "--segment", "0", "a.npy"],
        &["encode", "--v1", "-p", "many", "a.npy"],
        &["decode", "--cd-values", "8,0", "a.npy"],
        &["decode", "--cd-values", "8", "--m", "8", "a.npy"],
        &["decode", "--v1", "--dtype", "i32", "a.npy"],
        &["verify", "--dtype", "i16", "a.npy"],
        &["verify", "--against", "-", "-"],
        &["tune", "--filter", "3,-1", "a.npy"],
        &["other"],
        &[],
    ] {
        let run = folder.rice(options);
        assert_eq!(run.status, Some(USAGE), "{options:?}: {}", run.stderr);
    }
    assert_eq!(folder.names(), ["a.npy"]);
}
