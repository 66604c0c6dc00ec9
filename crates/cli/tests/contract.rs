//! The contract of docs/reference/cli.md, kept by the program itself.

use std::process::{Command, Output};

use serde_json::Value;

fn linerate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(args);
    command
}

fn run(args: &[&str]) -> Output {
    linerate(args).output().expect("the program starts")
}

fn stdout(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The subcommands, as `linerate man --list` prints them.
fn subcommands() -> Vec<Vec<String>> {
    stdout(&["man", "--list"]).lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

#[test]
fn no_line_of_help_is_wider_than_100_columns() {
    let found = subcommands();
    assert!(found.len() > 40, "{found:?}");
    for mut args in found {
        args.push("--help".to_owned());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let help = stdout(&args);
        let wide = help.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{args:?}");
    }
}

#[test]
fn no_color_removes_escapes_that_are_forced() {
    let help = |no_color: &str| {
        let mut command = linerate(&["--help"]);
        command.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
        if !no_color.is_empty() {
            command.env_remove("CLICOLOR_FORCE").env("NO_COLOR", no_color);
        }
        command.output().expect("the program starts").stdout
    };
    assert!(help("").contains(&0x1b), "colors can be forced");
    assert!(!help("1").contains(&0x1b), "NO_COLOR");
}

#[test]
fn results_and_errors_have_the_shared_json_keys() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let text = path("text");
    std::fs::write(&text, "some text\n".repeat(100)).expect("a file");
    let object = |args: &[&str]| -> Value {
        let output = run(args);
        let line = output.stdout.split(|&byte| byte == b'\n').next().unwrap_or_default();
        serde_json::from_slice(line).unwrap_or_else(|e| panic!("{args:?}: {e}: {output:?}"))
    };
    let (gz, nx, raw) = (path("text.gz"), path("a.nx"), path("a.rice"));
    for args in [
        &["gzip", "-k", "--json", &text][..],
        &["gzip", "-l", "--json", &gz],
        &["zstd", "--json", &text],
        &["zstd", "-d", "-f", "--json", &path("text.zst")],
        &["rice", "encode", "--dtype", "i16", "--json", "-o", &raw, &text],
        &["rice", "info", "--json", &raw],
        &["nx", "pack", "--json", &text, "-o", &nx],
        &["nx", "info", "--json", &nx],
        &["nx", "verify", "--json", &nx],
        &["clean", "--json", &path("")],
    ] {
        let object = object(args);
        assert_eq!(object["status"], "ok", "{args:?}: {object}");
        assert!(object["file"].is_string() && object["mode"].is_string(), "{args:?}: {object}");
        assert!(object["seconds"].is_number(), "{args:?}: {object}");
    }
    for args in [
        &["gzip", "-t", "--json", &nx][..],
        &["zstd", "-t", "--json", &gz],
        &["rice", "info", "--json", &gz],
        &["nx", "info", "--json", &gz],
        &["dict", "info", "--json", &gz],
        &["gateway", "replay", "--json", &gz],
    ] {
        let object = object(args);
        assert!(
            ["failed", "skipped"].contains(&object["status"].as_str().unwrap_or("")),
            "{args:?}: {object}"
        );
        assert!(object["file"].is_string() && object["kind"].is_string(), "{args:?}: {object}");
        assert!(object["error"].is_string() && object.get("offset").is_some(), "{args:?}: {object}");
    }
}

#[test]
fn output_that_is_no_stream_is_refused_for_standard_output_in_one_sentence() {
    for args in [
        &["nx", "pack", "in", "-o", "-"][..],
        &["nx", "merge", "a.nx", "b.nx", "-o", "-"],
        &["dict", "cluster", "in", "-o", "-"],
        &["dict", "build", "--key", "id", "in", "-o", "-"],
        &["dict", "pack", "make", "-o", "-", "in"],
        &["dict", "pack", "extract", "a.pack", "-o", "-"],
    ] {
        let output = run(args);
        let error = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert_eq!(error.matches("standard output cannot take it").count(), 1, "{args:?}: {error}");
    }
}

#[test]
fn a_dictionary_and_transcoded_messages_may_go_to_standard_output() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let rows: String =
        (0..5000).map(|i| format!("{{\"id\":{i},\"name\":\"user-{}\"}}\n", i * 7919)).collect();
    std::fs::write(path("rows"), rows).expect("a file");
    let train = |output: &str| run(&["dict", "train", "--lines", &path("rows"), "-o", output]);
    assert!(train(&path("rows.dict")).status.success());
    let piped = train("-");
    assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
    assert!(piped.stdout == std::fs::read(path("rows.dict")).expect("a dictionary"));

    let payload = br#"{"op":10,"d":{}}"#;
    let mut messages = (payload.len() as u32).to_le_bytes().to_vec();
    messages.extend_from_slice(payload);
    std::fs::write(path("a.msgs"), &messages).expect("a file");
    let transcode =
        |to: &str, from: &str, output: &str| run(&["gateway", "transcode", "--to", to, from, "-o", output]);
    assert!(transcode("zlib-stream", &path("a.msgs"), &path("a.zlib")).status.success());
    let piped = transcode("payloads", &path("a.zlib"), "-");
    assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
    assert_eq!(piped.stdout, messages);
}
