//! Chunks of filter 32025: encoding makes the bytes of the original filter, and decoding restores
//! the samples.

use super::data::{FAILED, goldens, json, samples, wave};
use linerate_testkit::program::Folder;

fn strs(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// The options with which `encode` makes a chunk with these parameters.
fn encode_options(cd_values: Option<&str>) -> Vec<String> {
    let values: Vec<&str> = cd_values.iter().flat_map(|v| v.split(',')).filter(|v| !v.is_empty()).collect();
    let signed = |v: &str| (v.parse::<u32>().unwrap() as i32).to_string();
    let m = values.first().unwrap_or(&"8").to_string();
    let segment = values.get(1).map_or("all".into(), |v| signed(v));
    let mut options = vec!["encode".into(), "--v1".into(), "--m".into(), m, "--segment".into(), segment];
    options.push("--allow-expansion".into()); // since the original filter accepts any size
    if values.len() > 3 {
        let taps: Vec<String> = values[3..].iter().map(|v| signed(v)).collect();
        options.extend(["--filter".into(), taps.join(",")]);
    }
    options
}

#[test]
fn golden_chunks_are_encoded_and_decoded_exactly() {
    let all = goldens();
    assert!(all.len() >= 20, "only {} goldens", all.len());
    for g in all {
        let folder = Folder::new();
        folder.write("a.npy", &g.npy);
        for threads in ["-p1", "-p3"] {
            let mut options = encode_options(g.cd_values.as_deref());
            options.extend([threads.into(), "--verify".into(), "-fq".into(), "a.npy".into()]);
            let run = folder.rice(&strs(&options)).ok();
            assert!(run.stdout.is_empty());
            assert!(folder.read("a.drc") == g.chunk, "{} {threads}", g.name);

            let shape = g.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
            let dtype = if g.dtype == "<u2" { "u16" } else { "i16" };
            let mut options = vec!["decode".to_owned()];
            options.extend(g.parameters());
            options.extend(
                ["--shape", &shape, "--dtype", dtype, threads, "-fo", "b.npy", "a.drc"].map(String::from),
            );
            folder.rice(&strs(&options)).ok();
            assert!(folder.read("b.npy") == g.npy, "{} {threads}", g.name);
        }
        let mut options = vec!["verify".to_owned()];
        options.extend(g.parameters());
        options.extend(["--against", "a.npy", "a.drc"].map(String::from));
        folder.rice(&strs(&options)).ok();
    }
}

#[test]
fn segment_follows_from_the_shape_unless_given() {
    let folder = Folder::new();
    folder.write("a.raw", &wave(38_400));
    let cd_values = |options: &[&str]| {
        let base = ["encode", "--v1", "--json", "-f", "--m", "16", "--dtype", "i16", "a.raw"];
        json(&folder.rice(&[&base, options].concat()).ok().stdout)["cd_values"].to_string()
    };
    assert_eq!(cd_values(&[]), "[16,16384]");
    assert_eq!(cd_values(&["--shape", "-1,3200"]), "[16,3200]");
    assert_eq!(cd_values(&["--shape", "2,6,3200"]), "[16,3200]");
    assert_eq!(cd_values(&["--shape", "-1,1"]), "[16,1024]");
    assert_eq!(cd_values(&["--shape", "-1,600"]), "[16,1200]");
    assert_eq!(cd_values(&["--shape", "-1,600", "--segment", "row"]), "[16,600]");
    assert_eq!(cd_values(&["--segment", "row"]), "[16,4294967295]");
    assert_eq!(cd_values(&["--shape", "-1,3200", "--segment", "all"]), "[16,4294967295]");
    assert_eq!(cd_values(&["--shape", "-1,3200", "--segment", "700"]), "[16,700]");
    let tuned = folder.rice(&["tune", "--json", "--dtype", "i16", "--shape", "-1,1", "a.raw"]).ok();
    assert_eq!(json(&tuned.stdout)["best"]["segment"], 1024);
}

#[test]
fn chunk_larger_than_its_samples_is_an_error_unless_allowed() {
    let folder = Folder::new();
    folder.write("a.raw", &wave(20_000));
    for options in [&["--segment", "1"][..], &["--segment", "row", "--shape", "-1,2"], &["--m", "2"]] {
        let base = [&["encode", "--v1", "--dtype", "i16", "a.raw"], options].concat();
        let line = "linerate: a.raw: the chunk is larger than its samples: let m and the segment be chosen, \
                    write version 2, or allow expansion";
        folder.rice(&base).fails(FAILED, line);
        assert_eq!(folder.names(), ["a.raw"]);
        folder.rice(&[&base[..], &["-q", "--allow-expansion"]].concat()).ok();
        assert!(folder.read("a.raw.drc").len() > 40_000);
        std::fs::remove_file(folder.path("a.raw.drc")).unwrap();
    }
}

#[test]
fn given_parameters_other_than_the_segment_are_kept() {
    let folder = Folder::new();
    folder.write("a.raw", &wave(12_000));
    let cd_values = |options: &[&str]| {
        let base = ["encode", "--v1", "--json", "-f", "--m", "16", "--dtype", "i16", "a.raw"];
        json(&folder.rice(&[&base, options].concat()).ok().stdout)["cd_values"].to_string()
    };
    assert_eq!(cd_values(&["--filter", "1,-2,1"]), "[16,4294967295,3,1,4294967294,1]");
}

#[test]
fn printed_parameters_decode_the_chunk() {
    let folder = Folder::new();
    let data = wave(21_000);
    folder.write("a.i16", &data);
    let run = folder.rice(&["encode", "--v1", "--dtype", "i16", "--shape", "3,7000", "a.i16"]).ok();
    let line = String::from_utf8(run.stdout).unwrap();
    let values = line.trim_end().strip_prefix("a.i16.drc: cd_values ").expect("the parameters").to_owned();
    folder.rice(&["decode", "--cd-values", &values, "a.i16.drc"]).ok();
    assert!(samples(&folder.read("a.i16.npy")) == data);
    folder.rice(&["decode", "--cd-values", &values, "--raw", "-f", "a.i16.drc"]).ok();
    assert!(folder.read("a.i16") == data);
    let (m, segment) = values.split_once(',').unwrap();
    folder.rice(&["decode", "--m", m, "--segment", segment, "-o", "b.npy", "a.i16.drc"]).ok();
    assert!(samples(&folder.read("b.npy")) == data);
}

#[test]
fn best_m_gives_the_smallest_chunk() {
    let folder = Folder::new();
    folder.write("a.raw", &wave(20_000));
    let size = |m: &str| {
        let base = ["encode", "--v1", "--allow-expansion", "--dtype", "i16", "-fq", "--json", "a.raw"];
        let run = folder.rice(&[&base[..], &["--m", m]].concat()).ok();
        json(&run.stdout)["bytes_out"].as_u64().unwrap()
    };
    let auto = size("auto");
    let best = (1..16).map(|k| size(&(1 << k).to_string())).min().unwrap();
    assert_eq!(auto, best);
}

#[test]
fn chunk_of_more_than_16_mib_is_the_same_as_in_memory() {
    // Pieces have up to 16 MiB. Segments of 7013 samples do not divide that evenly, and a segment
    // of 8,388,609 samples is longer.
    let folder = Folder::new();
    let data = wave(9_000_000);
    folder.write("a.raw", &data);
    let chunk = |options: &[&str]| {
        let base = ["encode", "--v1", "--dtype", "i16", "--m", "16", "-fq", "-o", "a.drc", "a.raw"];
        folder.rice(&[&base, options].concat()).ok();
        folder.read("a.drc")
    };
    for segment in ["7013", "8388609", "all"] {
        let ours = chunk(&["--segment", segment, "--verify", "-p2"]);
        let params = linerate_rice::Params::new(16, segment.parse().ok()).unwrap();
        let words: &[i16] = &data.as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect::<Vec<_>>();
        let whole = linerate_rice::encode(&params, words, linerate_rice::Options::new()).unwrap();
        assert!(ours == whole, "{segment}");
        folder.rice(&["decode", "--m", "16", "--segment", segment, "--raw", "-fo", "b.raw", "a.drc"]).ok();
        assert!(folder.read("b.raw") == data, "{segment}");
    }
    let of_pipe = ["encode", "--v1", "--dtype", "i16", "--shape", "9000000", "--m", "16", "-q"];
    assert!(folder.rice_with(&of_pipe, &data).ok().stdout == chunk(&[]), "from a pipe");
    let auto = |options: &[&str]| {
        let base = ["encode", "--v1", "--dtype", "i16", "--json", "-fo", "a.drc", "a.raw"];
        json(&folder.rice(&[&base, options].concat()).ok().stdout)["m"].as_u64()
    };
    assert_eq!(auto(&["--segment", "7013"]), auto(&[]), "counted in pieces and at once");
}

#[test]
fn tune_prints_the_sizes_that_encode_writes() {
    let folder = Folder::new();
    folder.write("a.raw", &wave(20_000));
    let base = ["tune", "--dtype", "i16", "--shape", "-1,2000", "a.raw", "-p2"];
    let table = json(&folder.rice(&[&base[..], &["--json"]].concat()).ok().stdout);
    for row in table["sizes"].as_array().unwrap() {
        let m = row["m"].to_string();
        let base = ["encode", "--v1", "--allow-expansion", "--dtype", "i16", "-fq", "--json", "a.raw"];
        let options = [&base[..], &["--shape", "-1,2000", "--m", &m]].concat();
        assert_eq!(json(&folder.rice(&options).ok().stdout)["bytes_out"], row["bytes"], "m = {m}");
    }
    assert_eq!(table["sizes"].as_array().unwrap().len(), 15);
    let least = table["sizes"].as_array().unwrap().iter().map(|row| row["bytes"].as_u64()).min().unwrap();
    assert_eq!(table["best"]["bytes"].as_u64(), least);
    assert!(table["best_filter"]["bytes"].as_u64() <= least);
    let m = table["best"]["m"].to_string();
    assert_eq!(table["best"]["h5repack"], format!("UD=32025,0,2,{m},2000"));
    let text = String::from_utf8(folder.rice(&base).ok().stdout).unwrap();
    assert!(
        text.contains(&format!("with --cd-values {m},2000 (h5repack -f UD=32025,0,2,{m},2000)")),
        "{text}"
    );
    assert_eq!(text.lines().filter(|line| line.ends_with("  best")).count(), 1);
}

#[test]
fn info_has_the_samples_words_and_segments_of_a_chunk() {
    for g in goldens() {
        let folder = Folder::new();
        folder.write("a.drc", &g.chunk);
        let mut options = vec!["info".to_owned(), "--json".into(), "a.drc".into()];
        options.extend(g.parameters());
        let from_file = json(&folder.rice(&strs(&options)).ok().stdout);
        let n: usize = g.shape.iter().product();
        assert_eq!(from_file["samples"], n, "{}", g.name);
        assert_eq!(from_file["bytes_in"], g.chunk.len());
        let (words, segments) = (from_file["words"]["all"].as_u64(), from_file["segments"].as_u64());
        assert_eq!(4 * (1 + words.unwrap() + segments.unwrap()), g.chunk.len() as u64, "{}", g.name);
        options[2] = "-".into();
        let from_pipe = json(&folder.rice_with(&strs(&options), &g.chunk).ok().stdout);
        assert_eq!(from_pipe["words"], from_file["words"]);
    }
}
