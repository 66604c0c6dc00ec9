//! Creates the files that the commands of these tests read.

use linerate_testkit::data::{Noise, mixed};
use linerate_testkit::program::Folder;

/// An .npy file of 16-bit samples, a noisy walk.
fn waveform(samples: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': ({samples},), }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:<117}\n").as_bytes());
    let (mut noise, mut value) = (Noise::new(3), 0i16);
    file.extend((0..samples).flat_map(|_| {
        value = value.wrapping_add(noise.below(9) as i16 - 4);
        value.to_le_bytes()
    }));
    file
}

/// Lines of JSON, each with a key.
fn rows(count: usize) -> Vec<u8> {
    let mut noise = Noise::new(4);
    let row = |i| {
        format!(
            "{{\"id\":\"user-{i:06}\",\"host\":\"node-{:03}\",\"ms\":{}}}\n",
            noise.below(40),
            noise.below(90_000)
        )
    };
    (0..count).map(row).collect::<String>().into_bytes()
}

/// Creates sources in `in/`, and files that commands make from them in `made/`. `size` is the
/// approximate size of the largest source, in bytes.
pub(crate) fn plant(size: usize) -> Folder {
    let folder = Folder::new();
    folder.write("in/text", &mixed(size));
    folder.write("in/wave.npy", &waveform(size / 2));
    folder.write("in/rows", &rows(size / 60));
    for i in 0..6 {
        folder.write(&format!("in/tree/{i}"), &mixed(size / 6 + i));
        folder.write(&format!("in/dicts/{i}"), &Noise::new(i as u64).bytes(size / 30 + 100));
    }
    std::fs::create_dir(folder.path("made")).expect("a folder");
    for args in [
        &["gzip", "-k", "-o", "made/text.gz", "in/text"][..],
        &["gzip", "-k", "--format=zlib", "-o", "made/text.zz", "in/text"],
        &["gzip", "-k", "--format=bgzf", "-o", "made/text.bgz", "in/text"],
        &["zstd", "-q", "-o", "made/text.zst", "in/text"],
        &["rice", "encode", "-q", "-o", "made/wave.rice", "in/wave.npy"],
        &["rice", "encode", "-q", "--v1", "--m=8", "--segment=all", "-o", "made/wave.drc", "in/wave.npy"],
        &[
            "nx",
            "pack",
            "-q",
            "--solidlevel=1",
            "--chunkedlevel=1",
            "--chunksize=64K",
            "-o",
            "made/tree.nx",
            "in/tree",
        ],
        &[
            "nx",
            "pack",
            "-q",
            "--format=r3a",
            "--solidlevel=1",
            "--chunkedlevel=1",
            "-o",
            "made/tree.r3a",
            "in/tree",
        ],
        &["dict", "pack", "make", "-q", "-o", "made/a.pack", "in/dicts/0", "in/dicts/1"],
        &["dict", "build", "-q", "--key=id", "-o", "made/rows.blocks", "in/rows"],
    ] {
        linerate_testkit::program::Run::of(&mut folder.command(args), b"").ok();
    }
    folder
}
