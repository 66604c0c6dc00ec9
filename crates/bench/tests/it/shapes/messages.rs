//! The carried sample of gateway traffic: decoders that others wrote read it, and the shape
//! measures it.

use std::path::PathBuf;

use linerate_bench::messages::{Input, measure};
use linerate_gateway::Transport;
use linerate_gateway_sim::traffic::Traffic;
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
fn every_mode_has_every_contender() {
    // `Input::read` finds sample.msgs and sample.zlib too.
    let input = Input::read(&[path("sample.zst")]).unwrap();
    for (transport, compressed, least) in [(Transport::Zlib, 70_000.0, 3), (Transport::Zstd, 64_686.0, 4)] {
        let found = measure(&input, transport, 2, 20).unwrap();
        for (mode, messages) in [("whole", 306), ("live", 300), ("many", 160)] {
            let of: Vec<_> = found.iter().filter(|m| m.params["mode"] == mode).collect();
            assert!(of.len() >= least && of[0].contender == "linerate", "{transport} {mode}");
            for m in of {
                assert_eq!(
                    (&m.params["messages"], &m.params["transport"]),
                    (&messages.into(), &transport.name().into())
                );
                assert!(m.metrics["speed"].median > 0.0 && m.metrics["speed_by_base"].median > 0.0);
                assert_eq!(m.metrics.contains_key("heap"), mode == "many" && cfg!(target_env = "gnu"));
                if mode == "whole" {
                    assert!((m.metrics["ratio"].median - 430_939.0 / compressed).abs() < 1e-3);
                }
            }
        }
    }
}

#[test]
fn few_messages_omit_the_mode_many() {
    let input = Input::read(&[path("hello.msgs")]).unwrap();
    let found = measure(&input, Transport::Zstd, 1, 10).unwrap();
    assert!(found.iter().all(|m| m.params["mode"] != "many") && found.len() >= 3);
    assert!(Input::read(&[path("absent.zst")]).is_err());
}
