//! The carried sample of gateway traffic: what it is, by decoders that others wrote; and what is measured on it.

use std::path::PathBuf;

use linerate_bench::messages::{BenchOptions, Input, measure};
use linerate_gateway::Transport;
use linerate_gateway::traffic::Traffic;
use zlib_rs::{Inflate, InflateFlush};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gateway").join(name)
}

fn sample(name: &str) -> Vec<Vec<u8>> {
    let file = std::fs::read(path(name)).expect("a file of the sample");
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
    let made: Vec<Vec<u8>> = Traffic::new(25).guilds(4).events(300).shard(0).collect();
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

#[test]
fn encoders_have_a_row_for_each_feed_with_a_ratio_of_their_own() {
    let input = Input::read(&[path("sample.zst")]).unwrap();
    let options = BenchOptions { transports: Vec::new(), rounds: 1, encode: true, connections: 0 };
    let rows = measure(&input, &options, |_| {}).unwrap();
    let feeds: Vec<_> = rows.chunk_by(|a, b| a.transport == b.transport).collect();
    assert_eq!(feeds.len(), 3);
    for feed in feeds {
        let of = |name: &str| feed.iter().find(|row| row.contender == name).expect(name);
        assert!(of("linerate 2, none").ratio < of("linerate 2, 8 KiB").ratio);
        assert!(of("linerate 2, 8 KiB").ratio < of("linerate 6, 8 KiB").ratio);
        assert!(feed.iter().all(|row| row.measure == "encode" && row.speed_vs_base.is_some()));
    }
}

#[test]
fn every_measure_has_a_row_per_contender() {
    // The other files of the same name are found.
    let input = Input::read(&[path("sample.zst")]).unwrap();
    let options =
        BenchOptions { transports: Transport::STREAMS.to_vec(), rounds: 2, encode: false, connections: 20 };
    let rows = measure(&input, &options, |_| {}).unwrap();
    for (transport, compressed, least) in [("zlib-stream", 70_000.0, 2), ("zstd-stream", 64_686.0, 3)] {
        for (shape, messages) in [("whole", 306), ("live", 300), ("many", 160)] {
            let of: Vec<_> =
                rows.iter().filter(|row| row.transport == transport && row.measure == shape).collect();
            assert!(of.len() >= least && of[0].contender == "linerate", "{transport} {shape}");
            for row in of {
                assert_eq!((row.messages, row.rounds), (messages, 2));
                assert!(row.median_mbs.unwrap() > 0.0 && row.speed_vs_base.unwrap() > 0.0);
                assert_eq!(row.heap_bytes.is_some(), shape == "many" && cfg!(target_env = "gnu"));
                if shape == "whole" {
                    assert!((row.ratio.unwrap() - 430_939.0 / compressed).abs() < 1e-9);
                }
            }
        }
    }
}

#[test]
fn few_messages_omit_the_measure_many() {
    let input = Input::read(&[path("hello.msgs")]).unwrap();
    let options =
        BenchOptions { transports: vec![Transport::Zstd], rounds: 1, encode: false, connections: 10 };
    let rows = measure(&input, &options, |_| {}).unwrap();
    assert!(rows.iter().all(|row| row.measure != "many") && rows.len() >= 3);
    assert!(Input::read(&[path("absent.zst")]).is_err());
}
