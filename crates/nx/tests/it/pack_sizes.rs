//! Compares sizes of packed archives with `pack_sizes.csv`, so that a changed layout or preset
//! shows as a diff.

use std::path::Path;
use std::{env, fs};

use linerate_nx::pack::{Builder, PRESETS, PackOptions};
use linerate_nx::{Header, Toc};

const HEADER: &str = "preset,blocks,bytes of blocks,bytes of archive\n";
/// Size in bytes of the pieces that each file is also split into. Pieces have an extension of their
/// own.
const PIECE: usize = 6_000;

fn row(name: &str, options: PackOptions) -> String {
    let mut builder = Builder::new(options).expect("options");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/corpus");
    for entry in fs::read_dir(corpus).expect("the corpus") {
        let path = entry.expect("an entry").path();
        let file = path.file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
        let bytes = fs::read(path).expect("readable");
        for (i, piece) in bytes.chunks(PIECE).enumerate() {
            builder.add_bytes(format!("pieces/{file}/{i}.dds"), piece).expect("new");
        }
        builder.add_bytes(file, bytes).expect("new");
    }
    let (archive, summary) = builder.to_bytes().expect("packable");
    let toc = Toc::parse(&Header::parse(&archive).expect("ours"), &archive).expect("ours");
    let bytes: u64 = toc.blocks.iter().map(|block| u64::from(block.compressed)).sum();
    format!("{name},{},{bytes},{}\n", summary.blocks, summary.archive_bytes)
}

#[test]
fn sizes_are_as_recorded() {
    let rows = PRESETS.iter().map(|preset| row(preset.name, preset.options()));
    let measured = [HEADER.to_owned(), row("default", PackOptions::default())].into_iter().chain(rows);
    let measured: String = measured.collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pack_sizes.csv");
    if env::var_os("LINERATE_UPDATE").is_some_and(|value| value == "1") {
        fs::write(path, measured).expect("a file that can be written");
        return;
    }
    let recorded = fs::read_to_string(path).expect("pack_sizes.csv").replace("\r\n", "\n");
    assert!(
        recorded == measured,
        "sizes differ; if they should, LINERATE_UPDATE=1 cargo test -p linerate-nx --test it pack_sizes writes \
         crates/nx/tests/it/pack_sizes.csv anew\n-- recorded\n{recorded}-- measured\n{measured}"
    );
}
