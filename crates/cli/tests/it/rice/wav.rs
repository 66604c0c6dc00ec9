//! WAV files: every width and form, restored byte for byte; files that cannot be encoded; damage.

use serde_json::json as value;

use super::data::{DAMAGED, FAILED, json, npy, wave};
use linerate_testkit::program::{Folder, Run, files_below};

/// A chunk of a RIFF file, with the padding byte after an odd size.
fn chunk(id: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let pad = vec![0x5a; content.len() % 2];
    [&id[..], &(content.len() as u32).to_le_bytes(), content, &pad].concat()
}

fn format(coding: u16, channels: u16, bits: u16, sample_bytes: u16) -> Vec<u8> {
    let frame = channels * sample_bytes;
    let rate = 48_000u32;
    let head = [&coding.to_le_bytes()[..], &channels.to_le_bytes(), &rate.to_le_bytes()];
    let tail = [&(rate * u32::from(frame)).to_le_bytes()[..], &frame.to_le_bytes(), &bits.to_le_bytes()];
    [head.concat(), tail.concat()].concat()
}

fn extensible(coding: u16, channels: u16, bits: u16, sample_bytes: u16) -> Vec<u8> {
    let base = format(0xfffe, channels, 8 * sample_bytes, sample_bytes);
    let end = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];
    [&base[..], &22u16.to_le_bytes(), &bits.to_le_bytes(), &3u32.to_le_bytes(), &coding.to_le_bytes(), &end]
        .concat()
}

fn riff(form: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let size = if form == b"RIFF" { body.len() as u32 + 4 } else { u32::MAX };
    [&form[..], &size.to_le_bytes(), b"WAVE", &body].concat()
}

/// A chunk `data` that declares `size` bytes, whatever the length of `content`.
fn data(size: u32, content: &[u8]) -> Vec<u8> {
    [b"data", &size.to_le_bytes()[..], content].concat()
}

/// `n` noisy samples of each of `channels` channels, interleaved.
fn samples(n: usize, channels: usize, sample_bytes: usize) -> Vec<u8> {
    let wide: Vec<i16> =
        wave(n * channels).chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
    let sample = |&x: &i16| -> Vec<u8> {
        match sample_bytes {
            1 => vec![(x / 16 + 128) as u8],
            2 => x.to_le_bytes().to_vec(),
            _ => (i32::from(x) * 300 - 7).to_le_bytes()[..sample_bytes].to_vec(),
        }
    };
    wide.iter().flat_map(sample).collect()
}

#[test]
fn the_limit_on_output_counts_every_byte_of_the_wav_file_and_no_more() {
    let folder = Folder::new();
    let list = chunk(b"LIST", &vec![7; 3 << 20]);
    let content = samples(1000, 1, 1);
    let wav =
        riff(b"RIFF", &[&chunk(b"fmt ", &format(1, 1, 8, 1)), &data(content.len() as u32, &content), &list]);
    folder.write("a.wav", &wav);
    folder.rice(&["encode", "a.wav", "-o", "a.rice"]).ok();
    let decoded = |limit: usize| {
        folder.rice(&["decode", "-fq", &format!("--max-output={limit}"), "a.rice", "-o", "b.wav"])
    };
    decoded(wav.len()).ok();
    assert!(folder.read("b.wav") == wav);
    assert_eq!(decoded(wav.len() - 1).status, Some(4));
}

/// Asserts that the program failed with this status, and that its message contains a text.
fn says(run: &Run, status: i32, what: &str) {
    assert!(
        run.status == Some(status) && run.stderr.contains(what),
        "{what}: {:?} {}",
        run.status,
        run.stderr
    );
}

/// Encodes, decodes and compares a file, with files and through pipes.
fn round_trips(folder: &Folder, name: &str, wav: &[u8]) -> Vec<u8> {
    folder.write("x.wav", wav);
    folder.rice(&["encode", "--verify", "-f", "x.wav"]).ok();
    let file = folder.read("x.wav.rice");
    folder.rice(&["decode", "-fo", "y.wav", "x.wav.rice"]).ok();
    assert!(folder.read("y.wav") == wav, "{name}");
    folder.rice(&["verify", "--against", "x.wav", "x.wav.rice"]).ok();
    assert!(folder.rice_with(&["encode"], wav).ok().stdout == file, "{name} from a pipe");
    assert!(folder.rice_with(&["decode"], &file).ok().stdout == wav, "{name} through a pipe");
    let info = json(&folder.rice(&["info", "--json", "x.wav.rice"]).ok().stdout);
    assert_eq!(info["original_bytes"], wav.len(), "{name}");
    file
}

#[test]
fn wav_files_of_every_width_come_back_byte_for_byte() {
    let folder = Folder::new();
    for (bits, bytes) in [(8, 1), (12, 2), (16, 2), (20, 3), (24, 3), (24, 4), (32, 4)] {
        for channels in [1, 2, 6] {
            let content = samples(3000, channels.into(), bytes.into());
            for format in [format(1, channels, bits, bytes), extensible(1, channels, bits, bytes)] {
                let wav = riff(b"RIFF", &[&chunk(b"fmt ", &format), &chunk(b"data", &content)]);
                let file = round_trips(&folder, &format!("{bits} bits in {bytes}, {channels}"), &wav);
                assert!(file.len() < wav.len(), "{bits} {channels}: {} of {}", file.len(), wav.len());
            }
        }
    }
}

#[test]
fn wav_files_with_other_chunks_and_unusual_sizes_come_back_byte_for_byte() {
    let folder = Folder::new();
    let fmt = chunk(b"fmt ", &format(1, 2, 24, 3));
    let content = samples(500, 2, 3);
    let (len, list) = (content.len() as u32, chunk(b"LIST", b"INFOISFT\x05\0\0\0abcd\0"));
    let ds64 = |size: u64| {
        chunk(
            b"ds64",
            &[&0u64.to_le_bytes()[..], &size.to_le_bytes(), &500u64.to_le_bytes(), &[0; 4]].concat(),
        )
    };
    let odd = chunk(b"fmt ", &format(1, 1, 8, 1));
    let bytes = samples(501, 1, 1);
    let large = vec![7u8; (2 << 20) + 5];
    let cases: &[(&str, Vec<u8>)] = &[
        ("chunks before and after", riff(b"RIFF", &[&list, &fmt, &list, &data(len, &content), &list, &list])),
        ("odd size with a padding byte", riff(b"RIFF", &[&odd, &chunk(b"data", &bytes), &list])),
        ("odd size without one", riff(b"RIFF", &[&odd, &data(501, &bytes)])),
        ("RF64", riff(b"RF64", &[&ds64(len.into()), &fmt, &data(u32::MAX, &content), &list])),
        (
            "BW64",
            riff(
                b"BW64",
                &[&ds64(len.into()), &chunk(b"chna", &[1; 7]), &fmt, &data(u32::MAX, &content), &list],
            ),
        ),
        ("a stream of unknown length", riff(b"RIFF", &[&fmt, &data(u32::MAX, &content)])),
        ("a stream that ends inside a frame", riff(b"RIFF", &[&fmt, &data(u32::MAX, &content[..2995])])),
        ("a size that ends inside a frame", riff(b"RIFF", &[&fmt, &data(len - 4, &content), &list])),
        ("a size beyond the end", riff(b"RIFF", &[&fmt, &data(len + 1000, &content)])),
        ("a size of zero before samples", riff(b"RIFF", &[&fmt, &data(0, &content)])),
        ("no samples", riff(b"RIFF", &[&fmt, &data(0, &[])])),
        ("less than a frame", riff(b"RIFF", &[&fmt, &data(5, &content[..5])])),
        (
            "more than a record before and after",
            riff(b"RIFF", &[&chunk(b"JUNK", &large), &fmt, &data(len, &content), &chunk(b"junk", &large)]),
        ),
        ("RF64 of a wrong size", riff(b"RF64", &[&ds64(u64::MAX), &fmt, &data(u32::MAX, &content)])),
    ];
    for (name, wav) in cases {
        round_trips(&folder, name, wav);
    }
}

#[test]
fn long_wav_files_are_several_streams() {
    let folder = Folder::new();
    let content = samples(9_000_000 / 3, 3, 2);
    let wav = riff(b"RIFF", &[&chunk(b"fmt ", &format(1, 3, 16, 2)), &chunk(b"data", &content)]);
    round_trips(&folder, "three channels", &wav);
    let info = json(&folder.rice(&["info", "--json", "x.wav.rice"]).ok().stdout);
    assert_eq!(info["shape"], value!([3_000_000, 3]));
    assert_eq!(info["streams"].as_array().unwrap().len(), 3);
    assert!(info["bytes_in"].as_u64().unwrap() < wav.len() as u64 * 6 / 10, "channels are found");
}

#[test]
fn samples_of_a_wav_file_are_an_array_too() {
    let folder = Folder::new();
    let content = samples(400, 2, 3);
    let wav = riff(b"RIFF", &[&chunk(b"fmt ", &format(1, 2, 24, 3)), &chunk(b"data", &content)]);
    folder.write("a.wav", &wav);
    folder.rice(&["encode", "a.wav"]).ok();
    folder.rice(&["decode", "--shape", "-1,2", "-o", "a.npy", "a.wav.rice"]).ok();
    let widened: Vec<u8> =
        content.chunks_exact(3).flat_map(|b| [b[0], b[1], b[2], if b[2] > 127 { 255 } else { 0 }]).collect();
    assert!(folder.read("a.npy") == npy("<i4", "(400, 2)", &widened));
    folder.rice(&["verify", "--against", "a.npy", "a.wav.rice"]).ok();
    assert!(folder.rice(&["decode", "--raw", "-o", "-", "a.wav.rice"]).ok().stdout == widened);
    // The output has the name of the original, which exists.
    says(&folder.rice(&["decode", "a.wav.rice"]), FAILED, "a.wav");
    folder.rice(&["decode", "-f", "a.wav.rice"]).ok();
    assert!(folder.read("a.wav") == wav);
    let both = [&folder.read("a.wav.rice")[..], &folder.read("a.wav.rice")].concat();
    assert!(folder.rice_with(&["decode"], &both).ok().stdout == [&wav[..], &wav].concat());
    // Other WAV files, and an array, differ.
    folder.write("b.wav", &[&wav[..wav.len() - 1], b"!"].concat());
    let line = format!("byte {} of the WAV file differs from b.wav", wav.len() - 1);
    says(&folder.rice(&["verify", "--against", "b.wav", "a.wav.rice"]), DAMAGED, &line);
    folder.write("c.wav", &[&wav[..], b"!"].concat());
    says(&folder.rice(&["verify", "--against", "c.wav", "a.wav.rice"]), DAMAGED, "c.wav has more than");
    folder.rice(&["encode", "a.npy"]).ok();
    says(&folder.rice(&["verify", "--against", "a.wav", "a.rice"]), DAMAGED, "it holds an array");
    // Streams of a WAV file and of an array are not one file, in either order, even if types and
    // rows agree.
    for parts in [["a.rice", "a.wav.rice"], ["a.wav.rice", "a.rice"]] {
        let mixed = parts.map(|name| folder.read(name)).concat();
        let run = folder.rice_with(&["decode"], &mixed);
        says(&run, DAMAGED, "streams of a WAV file beside those of another array");
    }
}

#[test]
fn wav_files_that_hold_no_integers_are_refused_with_a_sentence() {
    let folder = Folder::new();
    let content = samples(100, 1, 4);
    let wav = |format: Vec<u8>| riff(b"RIFF", &[&chunk(b"fmt ", &format), &chunk(b"data", &content)]);
    for (file, what) in [
        (wav(format(3, 1, 32, 4)), "floating-point samples"),
        (wav(extensible(3, 1, 32, 4)), "floating-point samples"),
        (wav(format(6, 1, 8, 1)), "A-law samples"),
        (wav(format(7, 1, 8, 1)), "µ-law samples"),
        (wav(format(2, 1, 4, 1)), "compressed samples"),
        (wav(format(1, 1, 64, 8)), "more than 32 bits"),
        (wav(format(1, 1, 24, 2)), "sizes contradict each other"),
        (wav(format(1, 0, 16, 2)), "sizes contradict each other"),
        (wav(format(1, 1, 0, 2)), "sizes contradict each other"),
        (wav(format(1, 1, 16, 2)[..14].to_vec()), "fewer than 16 bytes"),
        (wav(extensible(1, 1, 16, 2)[..26].to_vec()), "fewer than 40 bytes"),
        (riff(b"RIFF", &[&chunk(b"data", &content)]), "samples come before their format"),
        (riff(b"RIFF", &[&chunk(b"fmt ", &format(1, 1, 16, 2))]), "ends before its samples begin"),
        (riff(b"RIFF", &[&[b"JUNK", &0x0200_0000u32.to_le_bytes()[..]].concat()]), "more than 16 MiB"),
    ] {
        let run = folder.rice_with(&["encode"], &file);
        assert!(
            run.status.is_some_and(|status| status > 0) && run.stderr.contains(what),
            "{what}: {}",
            run.stderr
        );
    }
    let integers = wav(format(1, 1, 32, 4));
    says(&folder.rice_with(&["encode", "--v1"], &integers), FAILED, "cannot hold a WAV file");
    says(&folder.rice_with(&["encode", "--channels", "2"], &integers), FAILED, "another number of channels");
    folder.rice_with(&["encode", "--channels", "1"], &integers).ok();
}

#[test]
fn commands_for_v1_chunks_leave_wav_files_out_and_refuse_those_named() {
    let folder = Folder::new();
    let content = samples(400, 2, 2);
    let wav = riff(b"RIFF", &[&chunk(b"fmt ", &format(1, 2, 16, 2)), &chunk(b"data", &content)]);
    folder.write("takes/b.wav", &wav);
    folder.write("takes/a.npy", &npy("<i2", "(400, 2)", &content));
    let tuned = folder.rice(&["tune", "-r", "takes"]).ok().text();
    assert_eq!(tuned.matches("best m: ").count(), 1, "{tuned}");
    folder.rice(&["encode", "--v1", "-r", "takes"]).ok();
    assert_eq!(
        files_below(&folder.path("takes")).into_keys().collect::<Vec<_>>(),
        ["a.drc", "a.npy", "b.wav"]
    );
    let refused = "takes/b.wav: it is a WAV file, which a v1 chunk cannot hold";
    says(&folder.rice(&["tune", "takes/b.wav"]), FAILED, refused);
    let against = ["verify", "--cd-values=64,2", "--against=takes/b.wav", "takes/a.drc"];
    says(&folder.rice(&against), FAILED, refused);
    folder.rice(&["tune", "--dtype=i16", "takes/b.wav"]).ok();
}

#[test]
fn damaged_wav_files_and_streams_are_typed_errors() {
    let folder = Folder::new();
    let list = chunk(b"LIST", b"INFOISFT\x02\0\0\0ab");
    let content = samples(40, 2, 3);
    let wav = riff(b"RIFF", &[&chunk(b"fmt ", &format(1, 2, 24, 3)), &chunk(b"data", &content), &list]);
    // A truncated header is an error; truncated samples are not.
    for len in 12..44 {
        let run = folder.rice_with(&["encode"], &wav[..len]);
        assert_eq!(run.status, Some(DAMAGED), "{len}: {}", run.stderr);
    }
    let file = folder.rice_with(&["encode"], &wav).ok().stdout;
    let ends: Vec<u64> = {
        let info = json(&folder.rice_with(&["info", "--json"], &file).ok().stdout);
        let streams = info["streams"].as_array().unwrap();
        streams.iter().map(|s| s["offset"].as_u64().unwrap() + s["bytes"].as_u64().unwrap()).collect()
    };
    assert_eq!(ends.len(), 3);
    for len in (0..file.len()).step_by(3).chain(ends.iter().map(|&end| end as usize - 1)) {
        if ends.contains(&(len as u64)) {
            continue;
        }
        let run = folder.rice_with(&["decode"], &file[..len]);
        assert_eq!(run.status, Some(DAMAGED), "{len}: {}", run.stderr);
    }
    for at in (0..file.len()).step_by(2) {
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (at / 2 % 8);
        folder.write("d.rice", &damaged);
        let run = folder.rice(&["decode", "-o", "-", "d.rice"]);
        // No checksum covers the padding of a segment.
        assert!(run.status != Some(0) || run.stdout == wav, "{at}");
        assert!(
            run.stderr.is_empty() || run.stderr.starts_with("linerate: d.rice: "),
            "{at}: {}",
            run.stderr
        );
    }
}
