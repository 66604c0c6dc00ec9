//! The carried sample of gateway traffic: what it is, by decoders that others wrote.

use std::path::PathBuf;

use linerate_bench::messages::traffic::Traffic;
use zlib_rs::{Inflate, InflateFlush};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

fn sample(name: &str) -> Vec<Vec<u8>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gateway").join(name);
    let file = std::fs::read(path).expect("a file of the sample");
    let mut rest = &file[..];
    let mut messages = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk::<4>() {
        let (message, after) = after.split_at(u32::from_le_bytes(*len) as usize);
        messages.push(message.to_vec());
        rest = after;
    }
    assert!(rest.is_empty());
    messages
}

#[test]
fn traffic_is_the_same_on_every_machine() {
    let made: Vec<Vec<u8>> = Traffic::new(14).with_guilds(4).with_events(300).shard(0).collect();
    assert!(made == sample("sample.msgs"), "not the bytes of the sample");
}

#[test]
fn the_sample_is_one_stream_of_each_kind() {
    for name in ["hello", "sample"] {
        let [sent, zlib, zstd] = ["msgs", "zlib", "zst"].map(|kind| sample(&format!("{name}.{kind}")));
        assert_eq!((sent.len(), sent.len()), (zlib.len(), zstd.len()));
        let mut out = vec![0; 1 << 20];
        let mut inflate = Inflate::new(true, 15);
        let mut context = DCtx::create();
        context.set_parameter(DParameter::WindowLogMax(16)).expect("a parameter");
        for ((sent, zlib), zstd) in sent.iter().zip(&zlib).zip(&zstd) {
            let before = inflate.total_out() as usize;
            inflate.decompress(zlib, &mut out, InflateFlush::NoFlush).expect("sound");
            assert!(out[..inflate.total_out() as usize - before] == **sent);
            let (mut input, mut output) = (InBuffer::around(zstd), OutBuffer::around(&mut out[..]));
            context.decompress_stream(&mut output, &mut input).expect("sound");
            assert!(input.pos() == zstd.len() && output.as_slice() == &sent[..]);
        }
    }
}
