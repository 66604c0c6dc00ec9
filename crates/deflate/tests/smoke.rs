//! temporary
use linerate_deflate::*;
fn inflate(data: &[u8], n: usize) -> Vec<u8> {
    let mut d = libdeflater::Decompressor::new();
    let mut out = vec![0; n];
    let m = d.deflate_decompress(data, &mut out).expect("inflate");
    assert_eq!(m, n);
    out
}
#[test]
fn smoke() {
    let mut scratch = Scratch::boxed();
    let files = ["Cargo.toml", "src/block.rs", "src/kernel/parse.rs", "../../Cargo.lock", "/proc/self/exe"];
    for f in files {
        let data = std::fs::read(f).unwrap();
        for chunk in [100, 1000, 4096, 16384, 65536, 1 << 30] {
            for level in Level::ALL {
                for tier in Tier::ALL {
                    scratch.set_tier(tier);
                    let mut s = Stream::new(Format::Deflate, level);
                    let mut out = Vec::new();
                    for c in data.chunks(chunk) {
                        let mut b = vec![0; bound(c.len())];
                        let n = s.encode(&mut scratch, c, &mut b, true).unwrap();
                        assert!(n <= c.len() + 5 * c.len().div_ceil(65535));
                        out.extend_from_slice(&b[..n]);
                    }
                    let mut b = [0; 40];
                    let n = s.finish(&mut b).unwrap();
                    out.extend_from_slice(&b[..n]);
                    if tier == Tier::Scalar {
                        eprintln!("{f} {chunk} {level:?} {} -> {}", data.len(), out.len());
                    }
                    assert!(inflate(&out, data.len()) == data);
                }
            }
        }
    }
}
