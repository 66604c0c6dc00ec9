//! The files that examples in the documentation use.

use std::fs;
use std::path::Path;

use linerate_testkit::testdata::testdata;
use tempfile::TempDir;

/// Creates a folder with the files that the examples use.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let root = folder.path();
    let write = |name: &str, bytes: &[u8]| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    };
    let notes = "A line of notes, and another one like it.\n".repeat(2000);
    write("notes.txt", notes.as_bytes());
    write("access.log", "127.0.0.1 - GET /index.html 200\n".repeat(3000).as_bytes());
    write("site/index.html", b"<html><body>hello</body></html>");
    write("site/style.css", "p { margin: 0 }\n".repeat(100).as_bytes());
    write("waveforms.npy", &waveforms(200, 1000));
    write("rows.json", rows(40_000).as_bytes());
    write("mods/textures/wall.dds", &notes.as_bytes()[..60_000]);
    for i in 0..20 {
        let row = format!("{{\"id\":{i},\"name\":\"item {}\",\"tags\":[\"common\",\"tool\"]}},", i * 37);
        write(&format!("mods/items/{i}.json"), row.repeat(40 + i).as_bytes());
    }
    write("mods/waves.bin", &waveforms(200, 2000));
    write("logs.zst", &zstd_frame(notes.as_bytes()));
    copy("gateway/sample.zst", root, "connection.zst");
    copy("sst/2-crc32c-snappy.sst", root, "000012.sst");
    folder
}

fn copy(from: &str, root: &Path, name: &str) {
    fs::copy(testdata().join(from), root.join(name)).expect("a file of testdata");
}

/// An `.npy` file of `rows` decaying pulses.
fn waveforms(rows: u32, samples: u32) -> Vec<u8> {
    let head = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': ({rows}, {samples}), }}");
    let length = (10 + head.len() + 1).next_multiple_of(64) - 10;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(length).expect("a short head").to_le_bytes());
    file.extend(format!("{head:<width$}\n", width = length - 1).bytes());
    for i in 0..rows * samples {
        let (row, time) = (i / samples, i % samples);
        let noise = (i.wrapping_mul(2_654_435_761) >> 28) as i16;
        let pulse = (3000 + 10 * row as i16) / (1 + time as i16 / 20);
        file.extend((noise + pulse).to_le_bytes());
    }
    file
}

/// JSON lines with the IDs `user-0`, `user-1` and so on.
fn rows(count: u32) -> String {
    let row = |i: u32| {
        let score = i.wrapping_mul(2_654_435_761) >> 12;
        format!(
            "{{\"id\": \"user-{i}\", \"active\": {}, \"score\": {score}, \"state\": \"ok\"}}\n",
            i.is_multiple_of(3)
        )
    };
    (0..count).map(row).collect()
}

/// A zstd frame (RFC 8878, section 3.1.1) of raw blocks.
fn zstd_frame(content: &[u8]) -> Vec<u8> {
    // The magic number, and the descriptor of a window of 128 KiB, without content size and
    // checksum.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 7 << 3];
    let blocks = content.chunks(100_000);
    let last = blocks.len() - 1;
    for (i, block) in blocks.enumerate() {
        let header = (block.len() as u32) << 3 | u32::from(i == last);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(block);
    }
    frame
}
