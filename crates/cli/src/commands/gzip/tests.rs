//! Compares decoding on several threads with decoding on one, and checks the line of `-v`.

use linerate_deflate::parallel::{Container, Options, compress};
use linerate_deflate::{Format, Level};

use super::args::FormatChoice;
use super::bgzf::{self, DecodeOptions};
use super::decode::{Decoded, Decoder};
use super::file::Totals;
use super::verbose_line;
use crate::ui::input::Source;
use crate::ui::operands::Operand;
use crate::ui::session::{FileSummary, Mode};

/// The output of a decoding, and its result or the message and kind of its error.
type Outcome = (Vec<u8>, Result<Decoded, (String, &'static str)>);

fn outcome(input: &[u8], threads: usize, format: Option<FormatChoice>, max_output: Option<u64>) -> Outcome {
    let mut output = Vec::new();
    let end = Decoder::open(Source::new(input), format, max_output, threads).and_then(|decoder| {
        let mut decoder = decoder.speculative(threads > 1);
        // Small, so that there are several jobs.
        decoder.job_bytes = 200;
        decoder.run(&mut output, &mut |_| {})
    });
    (output, end.map_err(|error| (error.to_string(), error.kind())))
}

#[track_caller]
fn assert_as_on_one_thread(case: &str, input: &[u8], format: Option<FormatChoice>, max_output: Option<u64>) {
    let one = outcome(input, 1, format, max_output);
    assert_eq!(outcome(input, 3, format, max_output), one, "{case}");
}

fn compressed(container: Container, data: &[u8]) -> Vec<u8> {
    let options = Options::new(container, Level::Default).block_size(70);
    let mut output = Vec::new();
    compress(data, &mut output, &options).expect("memory takes every byte");
    output
}

fn text(len: usize) -> Vec<u8> {
    (0..len).map(|i| b"every block has other words "[(i + i / 64) % 28]).collect()
}

#[test]
fn bgzf_on_three_threads_decodes_to_its_content() {
    let data = text(5000);
    let bgzf = compressed(Container::Bgzf, &data);
    let (output, end) = outcome(&bgzf, 3, Some(FormatChoice::Bgzf), None);
    let whole = Decoded { bytes_in: bgzf.len() as u64, bytes_out: 5000, garbage_at: None };
    assert!(output == data && end == Ok(whole));
}

#[test]
fn parallel_decoding_stops_before_the_first_damaged_member() {
    let bgzf = compressed(Container::Bgzf, &text(700));
    let run = |input: &[u8]| {
        let (mut source, mut output) = (Source::new(input), Vec::new());
        let options = DecodeOptions { threads: 2, job_bytes: 200, max_output: u64::MAX };
        let members = bgzf::decode(&mut source, &options, &mut |bytes, _| {
            output.extend_from_slice(bytes);
            Ok(())
        });
        let members = members.expect("invalid members are no error here");
        (output.len(), members.last, members.found_invalid, source.at())
    };
    assert_eq!(run(&bgzf), (700, Some(0), false, bgzf.len() as u64));
    let size = usize::from(u16::from_le_bytes([bgzf[16], bgzf[17]])) + 1;
    let mut damaged = bgzf.clone();
    damaged[2 * size - 8] ^= 1;
    assert_eq!(run(&damaged), (70, Some(70), true, size as u64));
    assert_eq!(run(&compressed(Format::Gzip.into(), &text(700))), (0, None, false, 0));
}

#[test]
fn bgzf_truncated_at_every_byte_fails_as_one_thread_does() {
    let bgzf = compressed(Container::Bgzf, &text(900));
    for len in 0..bgzf.len() {
        for format in [None, Some(FormatChoice::Bgzf)] {
            assert_as_on_one_thread(&format!("{len} bytes"), &bgzf[..len], format, None);
        }
    }
}

#[test]
fn bgzf_with_any_byte_changed_fails_as_one_thread_does() {
    let bgzf = compressed(Container::Bgzf, &text(900));
    for at in 0..bgzf.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut bytes = bgzf.clone();
            bytes[at] ^= change;
            assert_as_on_one_thread(&format!("byte {at} ^ {change:#x}"), &bytes, None, None);
        }
    }
}

#[test]
fn bgzf_with_other_members_padding_and_garbage_decodes_as_on_one_thread() {
    let bgzf = compressed(Container::Bgzf, &text(700));
    let gzip = compressed(Format::Gzip.into(), &text(300));
    for parts in [[&bgzf[..], &gzip, &bgzf], [&gzip, &bgzf, &bgzf], [&bgzf, &bgzf, &gzip]] {
        let mixed = parts.concat();
        assert_eq!(outcome(&mixed, 3, None, None).0.len(), 1700);
        for tail in
            [&b""[..], b"\0\0\0", b"garbage", b"\x1f\x8b", b"\x1f\x8b\x08\x04garbage", b"\0\x1f\x8b", b"\x1f"]
        {
            let bytes = [&mixed[..], tail].concat();
            assert_as_on_one_thread(&format!("{tail:?}"), &bytes, None, None);
            assert_as_on_one_thread(&format!("{tail:?}"), &bytes, Some(FormatChoice::Bgzf), None);
        }
    }
}

#[test]
fn bgzf_members_of_wrong_size_or_over_64_kib_decode_as_on_one_thread() {
    let bgzf = compressed(Container::Bgzf, &text(700));
    let size = usize::from(u16::from_le_bytes([bgzf[16], bgzf[17]])) + 1;
    for wrong in [0, 17, 25, size - 2, size, 2 * size, 0xffff] {
        let mut bytes = bgzf.clone();
        bytes[size + 16..][..2].copy_from_slice(&(wrong as u16).to_le_bytes());
        let (output, end) = outcome(&bytes, 3, None, None);
        assert!(output == text(700) && end.is_ok(), "{wrong}: the size is a hint, as for gzip itself");
        assert_as_on_one_thread(&format!("{wrong}"), &bytes, None, None);
    }
    // A member of 1 MiB, which BGZF does not allow and gzip does.
    let mut large = Vec::new();
    let data = vec![7; 1 << 20];
    compress(&data[..], &mut large, &Options::new(Format::Gzip, Level::Default)).unwrap();
    let bsize = (large.len() + 8 - 1) as u16;
    let mut member = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0];
    member.extend_from_slice(&bsize.to_le_bytes());
    member.extend_from_slice(&large[10..]);
    let bytes = [&bgzf[..], &member, &bgzf].concat();
    let (output, end) = outcome(&bytes, 3, None, None);
    assert!(output.len() == (1 << 20) + 1400 && end.is_ok());
    assert_as_on_one_thread("a large member", &bytes, None, None);
}

#[test]
fn data_of_any_origin_ends_on_three_threads_as_on_one() {
    let mut seed = 1u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    let data: Vec<u8> = (0..900_000).map(|i| if i % 9 < 5 { noise() } else { b'a' }).collect();
    for container in [Format::Gzip, Format::Zlib, Format::Deflate].map(Container::from) {
        let mut whole = Vec::new();
        compress(&data[..], &mut whole, &Options::new(container, Level::Default).block_size(90_000)).unwrap();
        assert!(whole.len() > 500_000);
        let format = (container == Format::Deflate.into()).then_some(FormatChoice::Deflate);
        assert_eq!(outcome(&whole, 3, format, None).0.len(), data.len());
        for tail in [&b"garbage"[..], b"\0\0\0", b"\x1f\x8b", &whole, &[&whole[..], b"\0x"].concat()] {
            assert_as_on_one_thread("a tail", &[&whole[..], tail].concat(), format, None);
        }
        for at in (0..whole.len()).step_by(97_000).chain(whole.len() - 9..whole.len()) {
            assert_as_on_one_thread("truncated", &whole[..at], format, None);
            assert_as_on_one_thread("limited", &whole, format, Some(at as u64));
            let mut damaged = whole.clone();
            damaged[at] ^= 0x44;
            assert_as_on_one_thread("damaged", &damaged, format, None);
        }
    }
}

#[test]
fn output_limit_stops_parallel_decoding_where_it_stops_one_thread() {
    let bgzf = compressed(Container::Bgzf, &text(700));
    for most in 0..=701 {
        assert_as_on_one_thread(&format!("at most {most}"), &bgzf, None, Some(most));
    }
}

#[test]
fn verbose_line_has_the_speed_by_content() {
    let line = |mode, bytes_in, bytes_out| {
        let mut summary = FileSummary::new(&Operand::Stdin, Totals { format: "gzip", bytes_in, bytes_out });
        summary.seconds = 1.0;
        verbose_line(mode, &summary)
    };
    let (small, large) = (2_000_000, 8_000_000);
    assert_eq!(line(Mode::Compress, large, small), "stdin: 8000000 -> 2000000 bytes (25.0%), 8 MB/s");
    for mode in [Mode::Decompress, Mode::Index] {
        assert_eq!(line(mode, small, large), "stdin: 2000000 -> 8000000 bytes (400.0%), 8 MB/s");
    }
}
