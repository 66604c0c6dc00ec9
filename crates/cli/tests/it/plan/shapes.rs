//! `linerate plan` on every shape: the shape is recognised, and the commands run as printed.

use std::collections::BTreeSet;
use std::process::Command;

use linerate_testkit::tools::require;
use serde_json::Value;

use super::{commands_run, json, plan, words};
use linerate_testkit::program::{Folder, Run};

/// 16-bit samples of a slow wave with noise.
fn wave(samples: usize) -> Vec<i16> {
    let mut seed = 7u32;
    let noise = |seed: &mut u32| {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*seed >> 28) as i16
    };
    (0..samples).map(|i| (i % 1000) as i16 / 3 + noise(&mut seed)).collect()
}

fn bytes(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

fn npy(rows: usize, columns: usize) -> Vec<u8> {
    let text = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let text = format!("{text:<117}\n");
    let head = [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
    [head, bytes(&wave(rows * columns))].concat()
}

/// A WAV file with one channel of 16-bit samples.
fn wav(samples: usize) -> Vec<u8> {
    let data = bytes(&wave(samples));
    let words = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let format = [&words(&[16])[..], &[1, 0, 1, 0], &words(&[48_000, 96_000]), &[2, 0, 16, 0]].concat();
    let size = data.len() as u32;
    let riff = [&b"RIFF"[..], &words(&[36 + size]), b"WAVEfmt ", &format, b"data", &words(&[size])].concat();
    [riff, data].concat()
}

fn rows(from: u32) -> Vec<u8> {
    let row = |i: u32| {
        let (host, ms) = (i.wrapping_mul(7919) % 40, i.wrapping_mul(104_729) % 90_000);
        format!(
            "{{\"id\":\"user-{i:06}\",\"host\":\"node-{host:03}\",\"ms\":{ms},\"text\":\"retry accepted\"}}\n"
        )
    };
    (from..from + 3000).map(row).collect::<String>().into_bytes()
}

/// Plans for the data and a pipe that is slower than any candidate. Checks shape and sentence, and
/// runs the commands of every candidate. Returns the plan and the names of the outputs.
#[track_caller]
fn planned(folder: &Folder, shape: &str, data: &[&str]) -> (Value, BTreeSet<String>) {
    let found = json(folder, &[&["--pipe", "1MB/s", "--"], data].concat());
    assert_eq!(found["shape"], shape);
    assert!(found["sentence"].as_str().is_some_and(|sentence| sentence.len() > 20), "{found}");
    assert!(!found["command"].is_null(), "{found}");
    let made = commands_run(folder, &found, data);
    (found, made)
}

/// The command that decodes the output of the candidate with these settings.
fn decoding_of(plan: &Value, settings: &str) -> String {
    let mut candidates = plan["candidates"].as_array().expect("a list").iter();
    let found = candidates.find(|candidate| candidate["settings"] == settings).expect("a candidate");
    words(&found["decode_command"]).join(" ")
}

fn copy_table(folder: &Folder, name: &str) {
    let table = linerate_testkit::testdata::repository().join("testdata/sst/5-crc32c-zstd-trained.sst");
    std::fs::copy(table, folder.path(name)).expect("a copy");
}

fn generate_messages(folder: &Folder) {
    let args = ["gateway", "generate", "-q", "--guilds", "2", "--events", "100", "-o", "made"];
    Run::of(&mut folder.command(&args), b"").ok();
}

#[test]
fn npy_file_gives_delta_rice_commands_that_run() {
    let folder = Folder::new();
    folder.write("run 7.npy", &npy(100, 2000));
    let (found, made) = planned(&folder, "waveforms", &["run 7.npy"]);
    assert_eq!(found["bytes"], 400_128); // with the header
    let mut candidates = found["candidates"].as_array().expect("a list").iter();
    assert!(candidates.all(|candidate| candidate["content"] == 400_128), "{found}");
    assert!(made.contains("run 7.rice") && made.contains("run 7.drc"), "{made:?}");
}

#[test]
fn arrays_in_files_of_other_names_are_restored_under_these() {
    let folder = Folder::new();
    folder.write("run.bin", &npy(100, 2000));
    let (found, made) = planned(&folder, "waveforms", &["run.bin"]);
    assert!(made.contains("run.bin.rice") && made.contains("run.bin.drc"), "{made:?}");
    assert_eq!(decoding_of(&found, "Delta-Rice 2"), "linerate rice decode run.bin.rice -o run.bin");

    // `-o` names only one file.
    folder.write("run.npy", &npy(100, 2000));
    let found = json(&folder, &["--pipe", "1MB/s", "run.bin", "run.npy"]);
    let mut candidates = found["candidates"].as_array().expect("a list").iter();
    let both = candidates.find(|one| one["settings"] == "Delta-Rice 2").expect("a candidate");
    assert!(both["decode_command"].is_null() && !both["command"].is_null(), "{both}");
}

#[test]
fn wav_files_are_encoded_and_restored_byte_for_byte() {
    let folder = Folder::new();
    folder.write("tone.wav", &wav(100_000));
    let (found, made) = planned(&folder, "waveforms", &["tone.wav"]);
    assert!(made.contains("tone.wav.rice"), "{made:?}");
    assert_eq!(decoding_of(&found, "Delta-Rice 2"), "linerate rice decode tone.wav.rice");

    folder.write("takes/one.wav", &wav(50_000));
    folder.write("takes/more/two.wav", &wav(40_000));
    let (found, made) = planned(&folder, "waveforms", &["takes"]);
    assert!(made.contains("takes/more/two.wav.rice") && made.contains("takes/one.wav.zst"), "{made:?}");
    assert_eq!(decoding_of(&found, "Delta-Rice 2"), "linerate rice decode -r takes");
}

#[test]
fn json_lines_give_block_files_by_their_key() {
    let folder = Folder::new();
    folder.write("rows.json", &rows(0));
    let (found, made) = planned(&folder, "records", &["rows.json"]);
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("To read single records") && notes.contains("linerate dict build --key id"),
        "{notes}"
    );
    let settings = found["candidates"].as_array().expect("a list").iter().map(|one| &one["settings"]);
    let settings: Vec<&str> = settings.filter_map(Value::as_str).collect();
    for wanted in ["gzip 9", "zstd 19", "LZ4 1, blocks of 1 MiB", "blocks of 4 KiB, no dictionary"] {
        assert!(settings.contains(&wanted), "{settings:?}");
    }
    assert!(made.contains("rows.blocks"), "{made:?}");
}

#[test]
fn generated_recording_is_transcoded() {
    let folder = Folder::new();
    generate_messages(&folder);
    for name in ["made/shard-0.msgs", "made/shard-0.zlib", "made/shard-0.zst"] {
        let found = json(&folder, &[name]);
        assert_eq!(found["shape"], "messages", "{name}");
    }
    std::fs::copy(folder.path("made/shard-0.msgs"), folder.path("copy.msgs")).expect("a copy");
    let (found, _) = planned(&folder, "messages", &["copy.msgs"]);
    let line = found["decode_command_line"].as_str().unwrap_or_default();
    assert!(line.starts_with("linerate gateway transcode --to payloads copy."), "{line}");
}

#[test]
fn sst_file_is_measured_as_it_is_and_with_options() {
    let folder = Folder::new();
    copy_table(&folder, "000012.sst");
    let (found, made) = planned(&folder, "sst", &["000012.sst"]);
    let settings: Vec<&str> = found["candidates"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|c| c["settings"].as_str())
        .collect();
    assert!(
        settings.iter().any(|words| words.starts_with("as they are: zstd, dictionary of")),
        "{settings:?}"
    );
    assert!(settings.contains(&"zstd 3, no dictionary"), "{settings:?}");
    assert!(made.contains("000012.dict"), "the dictionary of a candidate");
}

#[test]
fn commands_run_for_names_that_begin_with_a_hyphen() {
    let folder = Folder::new();
    folder.write("-m.npy", &npy(20, 1000));
    folder.write("-tone.wav", &wav(20_000));
    folder.write("-r.json", &rows(0));
    folder.write("-s.json", &rows(3000));
    copy_table(&folder, "-f.sst");
    generate_messages(&folder);
    std::fs::rename(folder.path("made/shard-0.msgs"), folder.path("-n.msgs")).expect("movable");
    let mut made = BTreeSet::new();
    for (shape, data) in [
        ("waveforms", &["-m.npy"][..]),
        ("waveforms", &["-tone.wav"]),
        ("records", &["-r.json", "-s.json"]),
        ("sst", &["-f.sst"]),
        ("messages", &["-n.msgs"]),
    ] {
        made.extend(planned(&folder, shape, data).1);
    }
    for name in [
        "-m.rice",
        "-m.drc",
        "-tone.wav.rice",
        "-r.blocks",
        "-r.dictionaries/assignment.json",
        "-f.dict",
        "-n.zst",
    ] {
        assert!(made.contains(name), "{name} of {made:?}");
    }
}

#[test]
fn hdf5_file_gives_commands_of_h5repack() {
    let folder = Folder::new();
    folder.write("raw.bin", &bytes(&wave(200 * 1000)));
    let import = ["raw.bin", "-d", "200,1000", "-p", "/run/traces", "-t", "IN", "-s", "16", "-o", "run.h5"];
    let made = Command::new("h5import").args(import).current_dir(folder.path(".")).output();
    let is_made = made.is_ok_and(|made| made.status.success())
        && std::fs::rename(folder.path("run.h5"), folder.path("-run.h5")).is_ok();
    if !require(is_made, "h5import (package hdf5-tools) is not installed") {
        return;
    }
    let run = plan(&folder, &["--json", "--pipe", "1MB/s", "--", "-run.h5"]);
    let found: Value = serde_json::from_slice(&run.stdout).unwrap_or_default();
    let is_missing = found["error"].as_str().is_some_and(|error| error.contains("libhdf5"));
    if !require(!is_missing, "there is no libhdf5 to load") {
        return;
    }
    assert_eq!((run.status, &found["shape"]), (Some(0), &"waveforms".into()), "{}", run.stderr);
    assert_eq!(found["bytes"], 400_000);
    let command = words(&found["command"]);
    assert_eq!((command[0], command[command.len() - 1]), ("h5repack", "./-run.rice.h5"));
    assert!(
        command.iter().any(|word| word.starts_with("/run/traces:UD=325,0,1,0")
            || word.starts_with("/run/traces:UD=32025,0,")),
        "{command:?}"
    );
    if std::env::var_os("HDF5_PLUGIN_PATH").is_none() {
        return; // `make test-hdf5` builds the plugins, and runs this test with them.
    }
    let done = Command::new(command[0])
        .args(&command[1..])
        .current_dir(folder.path("."))
        .output()
        .expect("h5repack");
    assert!(done.status.success() && folder.has("-run.rice.h5"), "{}", String::from_utf8_lossy(&done.stderr));
    let same =
        Command::new("h5diff").args(["./-run.h5", "./-run.rice.h5"]).current_dir(folder.path(".")).status();
    assert!(same.expect("h5diff, of the same package as h5repack").success());
}

#[test]
fn missing_libhdf5_is_an_error_that_names_what_to_do() {
    let folder = Folder::new();
    folder.write("run.h5", b"\x89HDF\r\n\x1a\n, and nothing else");
    let absent = folder.path("absent.so");
    let mut command = folder.command(&["plan", "--seconds", "0.05", "run.h5"]);
    let run = Run::of(command.env("LINERATE_LIBHDF5", &absent), b"");
    assert_eq!(run.status, Some(1));
    assert!(
        run.stderr.starts_with("linerate: run.h5: ") && run.stderr.contains("LINERATE_LIBHDF5"),
        "{}",
        run.stderr
    );
}
