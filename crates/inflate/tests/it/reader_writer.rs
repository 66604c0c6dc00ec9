//! Decoders over readers and writers.

use std::io::{self, BufRead, Cursor, ErrorKind, Read, Write};

use linerate_inflate::{Error, Format, Options, read, write};

use crate::common::{Noise, compressed, content};

const FORMATS: [Format; 3] = [Format::Deflate, Format::Zlib, Format::Gzip];

/// A reader and writer that moves a few bytes per call, after an interruption each.
struct Slow<T>(T, bool);

impl<T> Slow<T> {
    fn is_interrupted(&mut self) -> io::Result<()> {
        self.1 = !self.1;
        if self.1 { Err(ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}

impl<T: Read> Read for Slow<T> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted()?;
        let len = buf.len().min(7);
        self.0.read(&mut buf[..len])
    }
}

impl<T: Write> Write for Slow<T> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.is_interrupted()?;
        self.0.write(&buf[..buf.len().min(1000)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn readers_and_writers_give_the_content() {
    let data = content(&mut Noise(1), 300_000);
    for format in FORMATS {
        let src = compressed(format, 6, 15, &data);
        let mut out = Vec::new();
        read::Decoder::new(&src[..], format).read_to_end(&mut out).unwrap();
        assert!(out == data);
        out.clear();
        read::Decoder::new(Slow(&src[..], false), format).read_to_end(&mut out).unwrap();
        assert!(out == data);
        let bytes: io::Result<Vec<u8>> = read::Decoder::with_buffer(&src[..], format).bytes().collect();
        assert!(bytes.unwrap() == data);
        let lines: Vec<_> = read::Decoder::new(&src[..], format).split(b'\n').map(Result::unwrap).collect();
        assert!(lines.join(&b'\n') == data.strip_suffix(b"\n").unwrap_or(&data));
        let mut writer = write::Decoder::new(Slow(Vec::new(), false), format);
        src.chunks(999).for_each(|piece| writer.write_all(piece).unwrap());
        assert!(writer.finish().unwrap().0 == data);
    }
}

#[test]
fn reads_of_any_size_give_the_content() {
    let data = content(&mut Noise(3), 150_000);
    for format in FORMATS {
        let own = [4 << 10, 32 << 10, 64 << 10].into_iter().flat_map(|size| [size - 1, size, size + 1]);
        for size in (1..=64).chain(own) {
            let len = if size <= 64 { 3_000 } else { data.len() };
            let src = compressed(format, 6, 15, &data[..len]);
            for is_slow in [false, true] {
                let input: Box<dyn BufRead> = match is_slow {
                    true => Box::new(io::BufReader::with_capacity(1 + size % 9, Slow(&src[..], false))),
                    false => Box::new(&src[..]),
                };
                let (mut reader, mut out, mut buffer) =
                    (read::Decoder::with_buffer(input, format), Vec::new(), vec![0; size]);
                loop {
                    match reader.read(&mut buffer) {
                        Ok(0) => break,
                        Ok(n) => out.extend_from_slice(&buffer[..n]),
                        Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted),
                    }
                    assert_eq!(reader.read(&mut []).unwrap(), 0);
                }
                assert!(out == data[..len], "buffers of {size} bytes, slow: {is_slow}");
            }
            let mut writer = write::Decoder::new(Slow(Vec::new(), false), format);
            src.chunks(size).for_each(|piece| writer.write_all(piece).unwrap());
            assert!(writer.finish().unwrap().0 == data[..len], "writes of {size} bytes");
        }
    }
}

#[test]
fn all_members_are_read_or_one() {
    let two = [compressed(Format::Gzip, 6, 15, b"one, "), compressed(Format::Gzip, 6, 15, b"two")];
    let both = two.concat();
    assert_eq!(io::read_to_string(read::Decoder::new(&both[..], Format::Gzip)).unwrap(), "one, two");
    let mut single = read::Decoder::with_buffer(&both[..], Format::ZlibOrGzip).single_member();
    let mut text = String::new();
    single.read_to_string(&mut text).unwrap();
    assert_eq!((&text[..], single.into_inner()), ("one, ", &two[1][..]));
    let mut writer = write::Decoder::new(Vec::new(), Format::Gzip);
    both.chunks(3).for_each(|piece| writer.write_all(piece).unwrap());
    assert_eq!(writer.finish().unwrap(), b"one, two");
    // Bytes after a zlib stream stay in the reader.
    let zlib = compressed(Format::Zlib, 6, 15, b"three");
    let mut reader = read::Decoder::with_buffer(Cursor::new([&zlib[..], b"rest"].concat()), Format::Zlib);
    assert_eq!(io::read_to_string(&mut reader).unwrap(), "three");
    assert_eq!(reader.into_inner().position(), zlib.len() as u64);
}

#[test]
fn truncated_and_damaged_streams_give_their_content_first() {
    let data = content(&mut Noise(2), 2000);
    for format in FORMATS {
        let src = compressed(format, 6, 15, &data);
        for len in 0..src.len() {
            let mut out = Vec::new();
            let error = read::Decoder::new(&src[..len], format).read_to_end(&mut out).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{len}");
            assert!(data.starts_with(&out));
            let source = error.get_ref().and_then(|e| e.downcast_ref::<Error>()).expect("our error");
            assert_eq!(source.offset, len as u64);
            let mut writer = write::Decoder::new(Vec::new(), format);
            writer.write_all(&src[..len]).unwrap();
            writer.flush().unwrap();
            assert_eq!(writer.get_ref(), &out);
            assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
    }
    let mut src = compressed(Format::Gzip, 6, 15, &data);
    let crc = src.len() - 8;
    src[crc] ^= 1;
    let (mut out, mut reader) = (Vec::new(), read::Decoder::new(&src[..], Format::Gzip));
    assert_eq!(reader.read_to_end(&mut out).unwrap_err().kind(), ErrorKind::InvalidData);
    assert!(out == data);
    assert_eq!(reader.read(&mut [0]).unwrap_err().kind(), ErrorKind::InvalidData, "errors stay");
}

#[test]
fn limits_hold_for_all_members_together() {
    let src =
        [compressed(Format::Gzip, 6, 15, &[7; 600]), compressed(Format::Gzip, 6, 15, &[7; 600])].concat();
    for (limit, is_enough) in [(1200, true), (1199, false), (600, false)] {
        let options = Options::new(Format::Gzip).output_limit(limit);
        let mut out = Vec::new();
        let result = read::Decoder::with_options(&src[..], options).unwrap().read_to_end(&mut out);
        assert_eq!((result.is_ok(), out.len()), (is_enough, limit as usize));
    }
}
