//! Files of version 2: every type and shape, files in pieces, and damaged files.

use std::fs;

use linerate_rice::v2::{self, StreamOptions};
use linerate_rice::{Kind, Options};
use serde_json::json as value;

use super::data::{DAMAGED, FAILED, LIMIT, USAGE, json, npy, samples, wave};
use linerate_testkit::program::{Folder, files_below};

#[test]
fn arrays_of_every_type_round_trip() {
    let folder = Folder::new();
    for descr in ["<i2", "<u2", "<i4", "<u4"] {
        for (shape, bytes) in
            [("(1200,)", 1200), ("(4, 300)", 1200), ("(1, 9)", 9), ("(0,)", 0), ("(0, 7)", 0)]
                .into_iter()
                .chain([("(2, 3, 200)", 1200), ("(3, 0, 4)", 0), ("(5, 0)", 0), ("(2, 1, 1, 9)", 18)])
        {
            let size = if descr.ends_with('2') { 1 } else { 2 };
            let file = npy(descr, shape, &wave(bytes * size));
            folder.write("a.npy", &file);
            let run = folder.rice(&["encode", "-f", "--verify", "a.npy"]).ok();
            assert!(run.stdout.is_empty(), "v2 needs no parameters to be kept");
            let alone = folder.read("a.rice");
            folder.rice(&["encode", "--v1", "--v2", "-f", "-p3", "a.npy"]).ok();
            assert!(folder.read("a.rice") == alone, "{descr} {shape} with 3 threads");
            folder.rice(&["decode", "-p2", "-fo", "b.npy", "a.rice"]).ok();
            assert!(folder.read("b.npy") == file, "{descr} {shape}");
            folder.rice(&["verify", "--against", "a.npy", "a.rice"]).ok();
            folder.rice(&["decode", "--raw", "-fo", "b.raw", "a.rice"]).ok();
            assert!(folder.read("b.raw") == samples(&file), "{descr} {shape}");
            let piped = folder.rice_with(&["encode"], &file).ok().stdout;
            assert!(piped == alone, "{descr} {shape} from a pipe");
            assert!(
                folder.rice_with(&["decode"], &piped).ok().stdout == file,
                "{descr} {shape} through a pipe"
            );
        }
    }
}

#[test]
fn recursive_commands_take_the_files_with_their_suffix_below_a_folder() {
    let folder = Folder::new();
    let arrays = [
        ("d/a.npy", npy("<i2", "(4, 300)", &wave(1200))),
        ("d/e/b.npy", npy("<i2", "(4, 300)", &wave(1200))),
    ];
    arrays.iter().for_each(|(name, file)| drop(folder.write(name, file)));
    folder.write("d/e/notes.txt", b"no array");
    assert_eq!(folder.rice(&["encode", "d"]).status, Some(FAILED));
    let tuned = folder.rice(&["tune", "-r", "d"]).ok();
    assert_eq!(tuned.text().matches("best m: ").count(), 2, "{}", tuned.text());
    folder.rice(&["encode", "-r", "d"]).ok();
    arrays.iter().for_each(|(name, _)| fs::remove_file(folder.path(name)).unwrap());
    folder.rice(&["verify", "-r", "d"]).ok();
    folder.rice(&["decode", "-r", "d"]).ok();
    let names: Vec<String> = files_below(&folder.path("d")).into_keys().collect();
    assert_eq!(names, ["a.npy", "a.rice", "e/b.npy", "e/b.rice", "e/notes.txt"]);
    arrays.iter().for_each(|(name, file)| assert!(folder.read(name) == *file, "{name}"));
    folder.write("d/e/b.rice", b"damaged");
    assert_eq!(folder.rice(&["verify", "-r", "d"]).status, Some(DAMAGED));
}

#[test]
fn shape_option_restores_more_axes() {
    let folder = Folder::new();
    let file = npy("<u2", "(2, 3, 100)", &wave(600));
    let encoded = folder.rice_with(&["encode"], &file).ok().stdout;
    let decode = |options: &[&str]| folder.rice_with(&[&["decode"], options].concat(), &encoded);
    assert!(decode(&["--shape", "6,100"]).ok().stdout == npy("<u2", "(6, 100)", samples(&file)));
    assert!(decode(&["--shape", "2,3,100"]).ok().stdout == file);
    assert!(decode(&["--shape", "2,-1"]).status == Some(USAGE));
    assert!(decode(&["--shape", "-1,3,100"]).ok().stdout == file);
    let line = "linerate: stdin: its 600 samples do not have the shape 2,3,101";
    decode(&["--shape", "2,3,101"]).fails(FAILED, line);
}

/// The axes of these streams say more than the number of samples and the length of a row.
#[test]
fn streams_that_keep_a_shape_are_read_from_files_and_pipes() {
    let folder = Folder::new();
    let data = wave(60);
    let words: Vec<i16> = data.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
    for (axes, samples, shape) in [(&[2, 3, 10][..], 60, "(2, 3, 10)"), (&[0, 3, 10], 0, "(0, 3, 10)")] {
        let settings = StreamOptions::new().row(10.try_into().ok());
        let settings = settings.shape(v2::Shape::new(axes).ok());
        let stream = v2::encode(&settings, &words[..samples], Options::new()).unwrap();
        folder.write("a.rice", &stream);
        let npy = npy("<i2", shape, &data[..2 * samples]);
        folder.rice(&["decode", "-fo", "b.npy", "a.rice"]).ok();
        assert!(folder.read("b.npy") == npy, "{axes:?}");
        assert!(folder.rice_with(&["decode"], &stream).ok().stdout == npy, "{axes:?}");
        folder.rice(&["verify", "a.rice"]).ok();
        let info = json(&folder.rice(&["info", "--json", "a.rice"]).ok().stdout);
        assert_eq!(info["streams"][0]["bytes"], stream.len());
    }
}

#[test]
fn more_axes_survive_in_several_streams_and_concatenated_files() {
    let folder = Folder::new();
    let data = wave(9_000_000);
    // A piece has at most 16 MiB: 3728 elements along the first axis of the first array, but less
    // than one element along the first axis of the second array.
    for (shape, option, samples) in [
        ("(4000, 2, 1125)", "-1,2,1125", &[8_388_000, 612_000][..]),
        ("(1, 2, 4500000)", "1,2,4500000", &[0, 4_500_000, 4_500_000]),
    ] {
        folder.write("a.raw", &data);
        folder.rice(&["encode", "--dtype", "i16", "--shape", option, "-f", "a.raw"]).ok();
        let file = folder.read("a.raw.rice");
        assert_eq!(streams(&file).iter().map(|s| s.samples).collect::<Vec<_>>(), samples, "{shape}");
        let npy = npy("<i2", shape, &data);
        folder.rice(&["decode", "-fo", "b.npy", "a.raw.rice"]).ok();
        assert!(folder.read("b.npy") == npy, "{shape}");
        assert!(folder.rice_with(&["decode"], &file).ok().stdout == npy, "{shape} through a pipe");
        folder.rice(&["verify", "--against", "b.npy", "a.raw.rice"]).ok();
    }
    let encode = |shape: &str, n| folder.rice_with(&["encode"], &npy("<i2", shape, &wave(n))).ok().stdout;
    let decoded = |file: &[u8]| folder.rice_with(&["decode"], file).ok().stdout;
    let both = [wave(600), wave(300)].concat();
    let alike = [encode("(6, 2, 50)", 600), encode("(3, 2, 50)", 300)].concat();
    assert!(decoded(&alike) == npy("<i2", "(9, 2, 50)", &both));
    let unlike = [encode("(6, 2, 50)", 600), encode("(2, 3, 50)", 300)].concat();
    assert!(decoded(&unlike) == npy("<i2", "(18, 50)", &both));
}

#[test]
fn verify_against_an_array_of_another_shape_reports_it() {
    let folder = Folder::new();
    folder.write("a.npy", &npy("<i2", "(2, 3, 10)", &wave(60)));
    folder.write("b.npy", &npy("<i2", "(3, 2, 10)", &wave(60)));
    folder.rice(&["encode", "a.npy"]).ok();
    let line = "linerate: a.rice: it has the shape (2, 3, 10), but b.npy has (3, 2, 10)";
    folder.rice(&["verify", "--against", "b.npy", "a.rice"]).fails(DAMAGED, line);
}

/// The streams of a file, as the library `linerate-rice` finds them.
fn streams(mut file: &[u8]) -> Vec<v2::Info> {
    let mut found = Vec::new();
    while !file.is_empty() {
        let info = v2::info(file).unwrap();
        file = &file[info.bytes as usize..];
        found.push(info);
    }
    found
}

#[test]
fn long_arrays_are_several_streams_of_whole_rows() {
    let folder = Folder::new();
    let data = wave(9_000_000);
    folder.write("a.raw", &data);
    let encode = |options: &[&str]| {
        let base = ["encode", "--dtype", "i16", "-f", "a.raw"];
        folder.rice(&[&base, options].concat()).ok();
        folder.read("a.raw.rice")
    };
    let rows = encode(&["--shape", "-1,3000"]);
    let found = streams(&rows);
    // A stream has at most 16 MiB of samples: 2796 rows of 3000.
    assert_eq!(found.iter().map(|s| s.samples).collect::<Vec<_>>(), [8_388_000, 612_000]);
    assert!(found.iter().all(|s| s.row.unwrap().get() == 3000 && s.segment == 3000));
    let line = encode(&["-p2"]);
    assert_eq!(streams(&line).iter().map(|s| s.samples).collect::<Vec<_>>(), [8_388_608, 611_392]);
    let long = encode(&["--shape", "1,9000000"]);
    let found = streams(&long);
    assert_eq!((found.len(), found[1].row.unwrap().get()), (2, 9_000_000));
    folder.rice(&["decode", "-fo", "b.npy", "a.raw.rice"]).ok();
    assert!(folder.read("b.npy") == npy("<i2", "(1, 9000000)", &data));
    let cut = encode(&["--segment", "700"]);
    assert!(streams(&cut).iter().all(|s| s.segment == 700));

    // The input may be a pipe of unknown length, and the output a pipe, with a given shape or not.
    assert!(folder.rice_with(&["encode", "--dtype=i16", "--shape=-1,3000"], &data).ok().stdout == rows);
    assert!(folder.rice_with(&["encode", "--dtype=i16"], &data).ok().stdout == line);
    assert!(folder.rice_with(&["decode", "--raw"], &rows).ok().stdout == data);
    let given = folder.rice_with(&["decode", "--shape=3000,3000"], &rows).ok().stdout;
    assert!(given == npy("<i2", "(3000, 3000)", &data));
    let ragged = folder.rice_with(&["encode", "--dtype=i16", "--shape=-1,3001"], &data);
    assert_eq!(ragged.status, Some(DAMAGED));
    assert!(ragged.stderr.contains("the input ends inside a row of the shape"), "{}", ragged.stderr);

    folder.write("a.rice", &rows);
    let record = json(&folder.rice(&["info", "--json", "a.rice"]).ok().stdout);
    assert_eq!(record["shape"], value!([3000, 3000]));
    assert_eq!(record["streams"][1]["samples"], 612_000);
    assert_eq!(record["streams"][1]["offset"], record["streams"][0]["bytes"]);
    assert_eq!(record["bytes_in"], rows.len());
    let from_pipe = json(&folder.rice_with(&["info", "--json"], &rows).ok().stdout);
    assert_eq!(from_pipe["streams"], record["streams"]);
    let text = String::from_utf8(folder.rice(&["info", "a.rice"]).ok().stdout).unwrap();
    assert!(text.contains("shape       (3000, 3000)\n") && text.contains("streams     2\n"), "{text}");
}

#[test]
fn concatenated_files_decode_to_one_array() {
    let folder = Folder::new();
    let encode = |file: &[u8]| folder.rice_with(&["encode"], file).ok().stdout;
    let (a, b) = (wave(600), wave(300));
    let rows = |descr: &str, n: usize, data: &[u8]| encode(&npy(descr, &format!("({n}, 100)"), data));
    let both = [a.clone(), b.clone()].concat();
    let joined = [rows("<i2", 6, &a), rows("<i2", 3, &b)].concat();
    assert!(folder.rice_with(&["decode"], &joined).ok().stdout == npy("<i2", "(9, 100)", &both));
    let unlike = [rows("<i2", 6, &a), encode(&npy("<i2", "(300,)", &b))].concat();
    assert!(folder.rice_with(&["decode"], &unlike).ok().stdout == npy("<i2", "(900,)", &both));
    let first = rows("<i2", 6, &a);
    let types = [first.clone(), rows("<u2", 3, &b)].concat();
    let line = format!(
        "linerate: stdin: a stream of another type than the one before (at byte {})",
        first.len() + 5
    );
    for command in [&["decode"][..], &["decode", "--raw"], &["info"], &["verify"]] {
        folder.rice_with(command, &types).fails(DAMAGED, &line);
    }
    let garbage = [&first[..], b"garbage"].concat();
    let line =
        format!("linerate: stdin: what follows the last stream is not a stream (at byte {})", first.len());
    folder.rice_with(&["verify"], &garbage).fails(DAMAGED, &line);
}

#[test]
fn long_stream_of_another_encoder_is_decoded() {
    // A stream of 68 MB is mapped, not read.
    let folder = Folder::new();
    let mut seed = 1u32;
    let noise = |_| {
        seed = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        seed ^ seed >> 15
    };
    let data: Vec<u32> = (0..17_000_000).map(noise).collect();
    let stream = v2::encode(&StreamOptions::new(), &data, Options::new()).unwrap();
    assert!(stream.len() > 64 << 20);
    folder.write("a.rice", &stream);
    folder.rice(&["decode", "--raw", "-p2", "a.rice"]).ok();
    let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(folder.read("a.raw") == bytes);
    folder.rice(&["verify", "--against", "a.raw", "--dtype", "u32", "a.rice"]).ok();
}

#[test]
fn input_truncated_at_every_byte_is_an_error() {
    let folder = Folder::new();
    let file = npy("<i2", "(3, 20)", &wave(60));
    let whole = folder.rice_with(&["encode", "--segment", "20"], &file).ok().stdout;
    for len in 0..whole.len() {
        let cut = &whole[..len];
        let from_pipe = folder.rice_with(&["verify"], cut);
        assert_eq!(from_pipe.status, Some(DAMAGED), "{len}: {}", from_pipe.stderr);
        folder.write("a.rice", cut);
        for command in ["decode", "info", "verify"] {
            let run = folder.rice(&[command, "a.rice"]);
            assert_eq!(run.stderr, from_pipe.stderr.replace("stdin", "a.rice"), "{command} of {len} bytes");
            assert_eq!(folder.names(), ["a.rice"], "no output is left");
        }
    }
    let line = "linerate: stdin: the input is empty";
    folder.rice_with(&["decode"], b"").fails(DAMAGED, line);
    let line = "linerate: stdin: this is not a v2 file; a v1 chunk needs its cd_values";
    folder.rice_with(&["decode"], &file).fails(DAMAGED, line);
}

#[test]
fn flipped_bits_are_errors_or_without_effect() {
    let folder = Folder::new();
    let file = npy("<i2", "(3, 20)", &wave(60));
    let whole = folder.rice_with(&["encode", "--segment", "20"], &file).ok().stdout;
    folder.write("a.npy", &file);
    for bit in (0..whole.len() * 8).step_by(3) {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let run = folder.rice_with(&["decode"], &damaged);
        // Bits after the last code of a segment may be ignored. Any other changed bit is an error.
        if run.status == Some(0) {
            assert!(run.stdout == file, "bit {bit}");
        } else {
            assert_eq!(
                (run.status, run.stderr.lines().count()),
                (Some(DAMAGED), 1),
                "bit {bit}: {}",
                run.stderr
            );
        }
    }
}

#[test]
fn error_offsets_count_from_the_start_of_the_file() {
    let folder = Folder::new();
    let encode = |n: usize| folder.rice_with(&["encode", "--dtype=i16"], &wave(n)).ok().stdout;
    let (first, second) = (encode(100), encode(200));
    let mut damaged = [&first[..], &second].concat();
    let at = first.len() + 28 + 4;
    damaged[at] ^= 1;
    let error = v2::decode::<i16>(&damaged[first.len()..], Options::new()).unwrap_err();
    assert_eq!(error.kind, Kind::Corrupt);
    let at = error.offset + first.len() as u64;
    folder
        .rice_with(&["verify"], &damaged)
        .fails(DAMAGED, &format!("linerate: stdin: {} (at byte {at})", error.message));
}

#[test]
fn verify_against_another_array_reports_the_difference() {
    let folder = Folder::new();
    let data = wave(50);
    let encoded = folder.rice_with(&["encode"], &npy("<i2", "(5, 10)", &data)).ok().stdout;
    folder.write("a.rice", &encoded);
    let verify = |file: &[u8]| {
        folder.write("b.npy", file);
        folder.rice(&["verify", "--against", "b.npy", "a.rice"])
    };
    verify(&npy("<i2", "(5, 10)", &data)).ok();
    verify(&npy("<i2", "(1, 5, 10)", &data)).ok();
    let line = |what: &str| format!("linerate: a.rice: {what}");
    verify(&npy("<i2", "(10, 5)", &data)).fails(DAMAGED, &line("it has rows of 10, but b.npy has rows of 5"));
    verify(&npy("<i2", "(50,)", &data)).fails(DAMAGED, &line("it has rows of 10, but b.npy has one row"));
    let line_of_types = line("it holds i16 samples, but b.npy holds u16");
    verify(&npy("<u2", "(5, 10)", &data)).fails(DAMAGED, &line_of_types);
    verify(&npy("<i2", "(6, 10)", &wave(60))).fails(DAMAGED, &line("it has 50 samples, but b.npy has 60"));
}

#[test]
fn verify_reads_the_original_from_a_pipe() {
    let folder = Folder::new();
    let data = wave(50);
    folder.write("a.npy", &npy("<i2", "(50,)", &data));
    folder.rice(&["encode", "a.npy"]).ok();
    let verify = |original: &[u8]| {
        folder.rice_with(&["verify", "--against", "-", "--dtype", "i16", "a.rice"], original)
    };
    verify(&data).ok();
    let line = "linerate: a.rice: stdin has more than 50 samples";
    verify(&wave(51)).fails(DAMAGED, line);
    let line = "linerate: a.rice: stdin ends before sample 49 (at byte 98)";
    verify(&data[..98]).fails(DAMAGED, line);
}

#[test]
fn limits_and_invalid_options_are_errors() {
    let folder = Folder::new();
    folder.write("a.npy", &npy("<i2", "(500,)", &wave(500)));
    folder.rice(&["encode", "a.npy"]).ok();
    let line = "linerate: a.rice: the output takes more bytes than the limit";
    folder.rice(&["decode", "--max-output", "999", "-o", "b.npy", "a.rice"]).fails(LIMIT, line);
    assert!(!folder.has("b.npy"));
    folder.rice(&["decode", "--max-output", "1000", "-o", "b.npy", "a.rice"]).ok();
    for options in [
        &["encode", "--m", "8", "a.npy"][..],
        &["encode", "--filter", "1,-1", "a.npy"],
        &["encode", "--segment", "all", "a.npy"],
        &["encode", "--segment", "65537", "a.npy"],
        &["decode", "--dtype", "i16", "a.rice"],
    ] {
        let run = folder.rice(options);
        assert_eq!(run.status, Some(USAGE), "{options:?}: {}", run.stderr);
    }
    let record = json(&folder.rice(&["encode", "-f", "--json", "--segment", "65536", "a.npy"]).ok().stdout);
    assert_eq!(
        (&record["format"], &record["streams"], &record["segment"]),
        (&value!("v2"), &value!(1), &value!(65536))
    );
}
