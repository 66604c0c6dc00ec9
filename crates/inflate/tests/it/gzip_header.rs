//! Reads the fields of gzip headers.

use linerate_inflate::{Format, GzipHeader, Kind, Options, Scratch, Status, StreamDecoder};

use crate::common::{compressed, with_all_fields};

/// The header has extra field, name, comment and checksum. It is read in any pieces, and into
/// memory that is too small.
#[test]
fn fields_of_gzip_headers_are_cut_at_the_end_of_the_memory() {
    let member = with_all_fields(&[0x4b, 0x4c, 0x4a, 6, 0], b"abc");
    let len = member.len() - 13;
    let plain = compressed(Format::Gzip, 6, 15, b"abc");
    for split in 0..len {
        for capacity in 0..20 {
            let mut memory = vec![0; capacity];
            let mut header = GzipHeader::in_memory(&mut memory);
            let mut decoder = StreamDecoder::new(Options::new(Format::ZlibOrGzip)).unwrap();
            // An earlier header leaves nothing behind.
            assert_eq!(header.read(&plain), Ok(10));
            assert_eq!((header.name(), header.extra(), header.modified()), (None, None, 0));
            let first = decoder.read_header(&mut header, &member[..split]).unwrap();
            assert_eq!((first.read, first.status), (split, Status::NeedInput));
            let rest = decoder.read_header(&mut header, &member[split..]).unwrap();
            assert_eq!((split + rest.read, rest.status), (len, Status::NeedOutput));
            let kept = |from: usize, field: &'static [u8]| {
                Some(&field[..field.len().min(capacity.saturating_sub(from))])
            };
            assert_eq!(
                [header.extra(), header.name(), header.comment()],
                [kept(0, b"extra"), kept(5, b"name"), kept(9, b"comment")]
            );
            assert_eq!(header.is_cut(), capacity < 16);
            assert_eq!((header.modified(), header.extra_flags(), header.system()), (0x0403_0201, 2, 3));
            assert!(header.is_text());
            let mut out = [0; 3];
            let content = decoder.decode(&mut Scratch::new(), &member[len..], &mut out).unwrap();
            assert_eq!((content.status, &out), (Status::End, b"abc"));
            assert_eq!(decoder.read_header(&mut header, &[]).map_err(|e| e.kind), Err(Kind::BadArgument));
        }
        let mut header = GzipHeader::in_memory(&mut []);
        assert_eq!(header.read(&member[..split]).map_err(|e| e.kind), Err(Kind::Truncated));
        let mut damaged = member.clone();
        damaged[split] ^= 0x80;
        assert!(header.read(&damaged).is_err(), "{split}");
    }
}
