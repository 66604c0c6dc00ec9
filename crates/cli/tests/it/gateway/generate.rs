//! `linerate gateway generate`.

use super::data::{FAILED, USAGE, sample_messages, split};
use linerate_testkit::program::Folder;

#[test]
fn generate_reproduces_the_sample() {
    let folder = Folder::new();
    let args = ["generate", "--seed", "25", "--guilds", "4", "--events", "300", "-o", "made", "--json"];
    let object = folder.gateway(&args).ok().object();
    assert_eq!(
        (&object["status"], &object["mode"], &object["seed"]),
        (&"ok".into(), &"generate".into(), &25.into())
    );
    let shard = &object["shards"][0];
    assert_eq!((&shard["messages"], &shard["payload_bytes"]), (&306.into(), &430_939.into()));
    assert!(split(&folder.read("made/shard-0.msgs")) == sample_messages("sample.msgs"));
    for (form, bytes) in [("zlib", &shard["zlib_bytes"]), ("zst", &shard["zstd_bytes"])] {
        let all = split(&folder.read(&format!("made/shard-0.{form}")));
        assert_eq!((all.len(), Some(all.iter().map(Vec::len).sum::<usize>() as u64)), (306, bytes.as_u64()));
    }
    for form in ["zlib", "zst"] {
        folder
            .gateway(&["replay", "-q", "--expect", "made/shard-0.msgs", &format!("made/shard-0.{form}")])
            .ok();
    }
}

#[test]
fn shards_are_printed_and_files_replaced_only_if_forced() {
    let folder = Folder::new();
    let args = ["generate", "--shards", "2", "--guilds", "1", "--events", "5", "-o", "made"];
    let text = folder.gateway(&args).ok().text();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.starts_with("shard-0: 8 messages, ") && text.contains("\nshard-1: 8 messages, "), "{text}");
    assert!(folder.read("made/shard-0.msgs") != folder.read("made/shard-1.msgs"));
    let first = std::path::Path::new("made").join("shard-0.msgs").display().to_string();
    let exists = format!("linerate: made: {first}: {first} exists already; -f overwrites it");
    folder.gateway(&args).fails(FAILED, &exists);
    folder.gateway(&[&args[..], &["-f"]].concat()).ok();
}

#[test]
fn zero_shards_are_a_usage_error() {
    assert_eq!(Folder::new().gateway(&["generate", "--shards", "0", "-o", "x"]).status, Some(USAGE));
    assert_eq!(Folder::new().gateway(&["generate"]).status, Some(USAGE));
}
