//! Sizes that an archive states allocate memory that may not be there: that is an error, and does
//! not abort the process. The tests are a program of their own, because they install an allocator.
#![cfg(feature = "pack")]

#[path = "it/common/mod.rs"]
mod common;

use std::sync::Arc;

use common::make::{COPY, Frame, Make, frame, noise};
use linerate_nx::metadata::{MAGIC, Metadata};
use linerate_nx::pack::{Builder, PackOptions, PackResult, Summary};
use linerate_nx::r3a::{self, Extension, HeadBuilder, Tables};
use linerate_nx::{Archive, ChunkSize, Error, Kind, Limits};
use linerate_testkit::sys::counting::{Counting, refuse};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Largest allocation that succeeds, in bytes.
const LARGEST: usize = 1 << 20;

/// Opens an archive with little memory. Returns the error.
fn opened(make: Make) -> Error {
    let bytes = make.bytes();
    refuse(LARGEST, || Archive::open(&bytes[..]).map(drop)).unwrap_err()
}

fn with_pool(pool: Vec<u8>) -> Make {
    Make::new(11).file("a", b"", 0, 0).with(|make| make.pool = Some(pool))
}

#[test]
fn pool_that_does_not_fit_in_memory_is_an_error() {
    let mut stated = frame(&noise(100_000, 1), Frame::Sized);
    stated[5..9].copy_from_slice(&(4u32 << 20).to_le_bytes());
    let grown = frame(&vec![b'a'; 4 << 20], Frame::Streamed);
    for pool in [stated, grown] {
        assert_eq!(opened(with_pool(pool)), Error::new(Kind::Limit, 16 + 20, "not enough memory"));
    }
}

#[test]
fn pool_of_nuls_needs_no_memory_for_the_ends_of_its_paths() {
    assert_eq!(opened(with_pool(frame(&vec![0; 300 << 10], Frame::Streamed))).kind, Kind::Corrupt);
}

#[test]
fn header_that_does_not_fit_in_memory_is_an_error() {
    assert_eq!(opened(Make::new(11).with(|make| make.spare = vec![0; 2 << 20])).kind, Kind::Limit);
}

#[test]
fn metadata_that_does_not_fit_in_memory_is_an_error() {
    let mut spare = vec![0; 2 << 20];
    // The tables end at byte 25. The record begins at the next multiple of 8.
    spare[7..15].copy_from_slice(&MAGIC);
    let archive = Archive::open(Make::new(11).with(|make| make.spare = spare).bytes()).unwrap();
    let read = || refuse(LARGEST, || Metadata::from_archive(&archive).map(drop));
    assert_eq!(read().unwrap_err().kind, Kind::Limit);
}

#[test]
fn segment_that_does_not_fit_in_memory_is_an_error() {
    let user_data = [Extension { id: 1, data: vec![0; 4 << 20] }];
    let draft = HeadBuilder {
        chunk: ChunkSize::from_bytes(1 << 20).unwrap(),
        tables: Tables::Presets,
        entries: &[],
        blocks: &[],
        paths: &[],
        dictionaries: None,
        user_data: &user_data,
    };
    let bytes = draft.write().unwrap();
    let error = refuse(LARGEST, || r3a::Archive::open(&bytes[..]).map(drop)).unwrap_err();
    assert_eq!((error.kind, error.message), (Kind::Limit, "not enough memory"));
}

/// Packs with little memory. Returns the kind of error.
fn packed(builder: PackResult<Builder>) -> Kind {
    let place = tempfile::tempdir().unwrap();
    let write = || -> PackResult<Summary> { builder?.write(place.path().join("a.nx")) };
    refuse(LARGEST, write).unwrap_err().kind()
}

#[test]
fn blocks_that_do_not_fit_in_memory_are_an_error_of_packing() {
    let content = noise(2 << 20, 1);
    let make = Make::new(12).file("a", &content, 0, 0).block(COPY, content.clone());
    let archive = Arc::new(Archive::open_with(make.bytes(), Limits::none()).unwrap());
    let options = || PackOptions { verify_existing: false, ..PackOptions::default() };
    assert_eq!(
        packed(Builder::from_archive(options(), &archive, |_| true)),
        Kind::Limit,
        "a block is copied"
    );
    let mut builder = Builder::new(options().chunk(4 << 20)).unwrap();
    builder.add_bytes("a", content).unwrap();
    assert_eq!(packed(Ok(builder)), Kind::Limit, "a block is encoded");
}
