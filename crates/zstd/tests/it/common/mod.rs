//! Helpers of the tests: calls of our decoder in every way, and frames for it.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

pub mod check;
pub mod ours;

use std::io;

use linerate_testkit::data::kinds;
use linerate_testkit::zstd::encoder::{compress, compress_flushed, level};
use linerate_testkit::zstd::frame::skippable;
use linerate_zstd::Error;
use zstd_safe::CParameter;

/// Makes frames of several kinds with skippable ones between, and their content.
pub fn many_frames() -> (Vec<u8>, Vec<u8>) {
    let (mut frames, mut content) = (skippable(3, b"first"), Vec::new());
    for (i, (_, data)) in kinds(5000).into_iter().enumerate() {
        let parts: Vec<&[u8]> = data.chunks(1700).collect();
        frames.extend(match i % 2 {
            0 => compress(&data, &[], &[level(3), CParameter::ChecksumFlag(i % 4 == 0)]),
            _ => compress_flushed(&parts, &[], &[level(5)]),
        });
        frames.extend(skippable(i as u8, &data[..i]));
        content.extend(data);
    }
    (frames, content)
}

/// Returns the error inside an `io::Error`.
pub fn inner(error: &io::Error) -> Error {
    *error.get_ref().and_then(|e| e.downcast_ref::<Error>()).expect("an error of the crate")
}
