//! Streams a file of an archive like a music player: its header first, then from the middle.
//!
//!     cargo run --release -p linerate-nx --example stream -- ARCHIVE PATH

use std::error::Error;
use std::io::{Read, Seek, SeekFrom};

use linerate_nx::shared::SharedArchive;
use linerate_nx::{Archive, FileSource};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(archive), Some(path)) = (args.next(), args.next()) else {
        return Err("usage: stream ARCHIVE PATH".into());
    };
    let assets = SharedArchive::new(Archive::open(FileSource::open(archive)?)?)?;
    let mut file = assets.open(&path)?;
    let mut header = [0; 16];
    let len = file.read(&mut header)?;
    println!("{path}: {} bytes, begins with {:02x?}", file.size(), &header[..len]);

    // The handle has no lifetime, so another thread can continue to read.
    let player = std::thread::spawn(move || -> std::io::Result<u64> {
        file.seek(SeekFrom::Start(file.size() / 2))?;
        std::io::copy(&mut file, &mut std::io::sink())
    });
    let played = player.join().map_err(|_| "the player panicked")??;
    println!("{played} bytes from the middle on; {:?}", assets.cache().counters());
    Ok(())
}
