//! `linerate gateway record`, from files and standard input.

use std::fs;

use super::data::{
    DAMAGED, FAILED, USAGE, WARNED, sample, sample_messages, sample_path, write_messages, write_recording,
};
use linerate_testkit::program::Folder;

#[test]
fn files_are_converted_to_recordings() {
    let folder = Folder::new();
    for (file, transport) in [("sample.zlib", "zlib-stream"), ("sample.zst", "zstd-stream")] {
        let object = folder.gateway(&["record", "-f", "--json", &sample(file), "-o", "made"]).ok().object();
        assert_eq!((&object["messages"], &object["transport"]), (&306.into(), &transport.into()));
        assert_eq!((&object["output"], &object["fault"]), (&"made".into(), &serde_json::Value::Null));
        let replayed = folder.gateway(&["replay", "--json", "--expect", &sample("sample.msgs"), "made"]).ok();
        assert_eq!(replayed.object()["kind"], "recording");
        #[cfg(unix)]
        assert_eq!(folder.mode("made"), 0o600);
    }
}

#[test]
fn messages_of_a_pipe_get_arrival_times() {
    let folder = Folder::new();
    let input = fs::read(sample_path("sample.zst")).unwrap();
    folder.gateway_with(&["record", "-", "-o", "made"], &input).ok();
    let text = folder.gateway(&["stats", "--csv", "made"]).ok().text();
    let times: Vec<i64> =
        text.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect();
    assert!(times.len() == 306 && times.windows(2).all(|two| two[0] <= two[1]));
    assert!(times[0] > 1_700_000_000_000_000_000, "{}", times[0]);
    #[cfg(unix)]
    assert_eq!(folder.mode("made"), 0o600);
    // The messages before an error of the pipe are kept.
    let run = folder.gateway_with(&["record", "-", "-f", "-o", "made"], &input[..input.len() - 1]);
    assert_eq!(run.status, Some(DAMAGED));
    assert_eq!(folder.gateway(&["replay", "--json", "made"]).ok().object()["messages"], 305);
}

#[test]
fn messages_option_limits_the_recording() {
    let folder = Folder::new();
    folder.gateway(&["record", "--messages", "12", &sample("sample.zlib"), "-o", "made"]).ok();
    assert_eq!(folder.gateway(&["replay", "--json", "made"]).ok().object()["messages"], 12);
}

#[test]
fn damaged_file_is_recorded_with_a_warning() {
    let folder = Folder::new();
    let mut all = sample_messages("sample.zst");
    all[100][0] |= 6;
    write_messages(&folder, "bad", &all);
    let run = folder.gateway(&["record", "bad", "-o", "made"]);
    assert!(run.status == Some(WARNED) && run.stderr.contains("message 100: "), "{}", run.stderr);
    let run = folder.gateway(&["replay", "--json", "made"]);
    assert_eq!((run.status, &run.object()["message"]), (Some(DAMAGED), &100.into()));
    // Fewer messages come than are asked for, since nothing is decoded after the error. Another
    // connection could follow in the file, so the rest is recorded.
    let run = folder.gateway(&["record", "bad", "--messages", "200", "-o", "counted"]);
    assert!(run.status == Some(WARNED) && run.stderr.contains("message 100: "), "{}", run.stderr);
    folder.gateway(&["record", "bad", "--messages", "100", "-o", "few"]).ok();
    // A file that is cut off makes no recording.
    let whole = fs::read(sample_path("sample.zst")).unwrap();
    folder.write("cut", &whole[..whole.len() - 3]);
    assert_eq!(folder.gateway(&["record", "cut", "-o", "none"]).status, Some(DAMAGED));
    assert!(!folder.has("none"));
}

#[test]
fn connections_are_kept_and_wrong_lengths_are_errors() {
    let folder = Folder::new();
    write_recording(&folder, "two.lgwr", "sample.zst", &[30, 10]);
    folder.gateway(&["record", "two.lgwr", "-o", "again"]).ok();
    assert_eq!(folder.read("again"), folder.read("two.lgwr"));
    // The length of the first payload follows the header, the time and the length of the message.
    let mut wrong = folder.read("two.lgwr");
    wrong[8 + 12] ^= 1;
    folder.write("wrong", &wrong);
    let run = folder.gateway(&["replay", "wrong"]);
    assert!(run.status == Some(DAMAGED) && run.stderr.contains("were recorded"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn recording_into_a_device_is_written_to_it() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("/dev/null", folder.path("nowhere")).unwrap();
    let input = std::fs::read(sample("sample.zst")).unwrap();
    for force in [&[][..], &["-f"]] {
        let args = [&["record", "--json", "-", "-o", "nowhere"][..], force].concat();
        assert_eq!(folder.gateway_with(&args, &input).ok().object()["messages"], 306);
        assert!(std::fs::symlink_metadata(folder.path("nowhere")).unwrap().is_symlink());
    }
}

#[test]
fn invalid_inputs_of_record_are_errors() {
    let folder = Folder::new();
    let run = folder.gateway(&["record", &sample("sample.msgs"), "-o", "made"]);
    assert!(run.status == Some(FAILED) && run.stderr.contains("it holds payloads"), "{}", run.stderr);
    folder.write("there", b"x");
    assert_eq!(folder.gateway(&["record", &sample("hello.zst"), "-o", "there"]).status, Some(FAILED));
    assert_eq!(folder.read("there"), b"x");
    for wrong in [
        &["record", "x"][..],
        &["record", "--for", "3", "x", "-o", "y"],
        &["record", "--messages", "0", "x", "-o", "y"],
        &["record", "https://127.0.0.1:1/?compress=zlib-stream", "-o", "y"],
        &["record", "ws://127.0.0.1:1/", "-o", "y"],
    ] {
        assert_eq!(folder.gateway(wrong).status, Some(USAGE), "{wrong:?}");
    }
}
