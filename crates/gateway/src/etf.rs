//! Envelopes in Erlang's external term format (ETF). Other terms are skipped by their lengths.

use crate::envelope::{self, Envelope};

type Result<T> = std::result::Result<T, &'static str>;

const TRUNCATED: &str = "the payload is a truncated term";
const DAMAGED: &str = "the payload is a damaged term";

const VERSION: u8 = 131;
const NEW_FLOAT: u8 = 70;
const SMALL_INTEGER: u8 = 97;
const INTEGER: u8 = 98;
const FLOAT: u8 = 99;
const ATOM: u8 = 100;
const SMALL_TUPLE: u8 = 104;
const LARGE_TUPLE: u8 = 105;
const NIL: u8 = 106;
const STRING: u8 = 107;
const LIST: u8 = 108;
const BINARY: u8 = 109;
const SMALL_BIG: u8 = 110;
const LARGE_BIG: u8 = 111;
const SMALL_ATOM: u8 = 115;
const MAP: u8 = 116;
const ATOM_UTF8: u8 = 118;
const SMALL_ATOM_UTF8: u8 = 119;

pub(crate) fn envelope(payload: &[u8]) -> Result<Envelope<'_>> {
    let mut walk = Walk { rest: payload };
    let mut envelope = Envelope::default();
    for _ in 0..walk.enter()? {
        walk.member(&mut envelope)?;
    }
    if walk.rest.is_empty() { Ok(envelope) } else { Err("something follows the payload's term") }
}

/// Reads members until the envelope is complete or the map ends.
pub(crate) fn peek(payload: &[u8]) -> Result<Envelope<'_>> {
    let mut walk = Walk { rest: payload };
    let mut envelope = Envelope::default();
    let mut missing = envelope::MEMBERS;
    for _ in 0..walk.enter()? {
        missing &= !walk.member(&mut envelope)?;
        if missing == 0 {
            break;
        }
    }
    Ok(envelope)
}

struct Walk<'p> {
    rest: &'p [u8],
}

impl<'p> Walk<'p> {
    /// Enters the outermost map; returns its number of members.
    fn enter(&mut self) -> Result<u32> {
        if self.byte()? != VERSION {
            return Err("the payload is not a term");
        }
        if self.byte()? != MAP {
            return Err("the payload is a term, but not a map");
        }
        self.u32()
    }

    /// Reads a member of the outermost map. Returns the member's bit, or 0 if the envelope has no
    /// such member.
    fn member(&mut self, envelope: &mut Envelope<'p>) -> Result<u8> {
        match self.text()? {
            Some("op") => {
                envelope.op = self.number()?;
                Ok(envelope::OP)
            }
            Some("s") => {
                envelope.sequence = self.number()?;
                Ok(envelope::SEQUENCE)
            }
            Some("t") => {
                envelope.event = self.text()?.filter(|name| *name != "nil");
                Ok(envelope::EVENT)
            }
            _ => self.term().map(|()| 0),
        }
    }

    fn take(&mut self, len: u64) -> Result<&'p [u8]> {
        let len = usize::try_from(len).map_err(|_| TRUNCATED)?;
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(TRUNCATED)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.take(2)?.try_into().map_err(|_| TRUNCATED)?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.take(4)?.try_into().map_err(|_| TRUNCATED)?))
    }

    /// Reads an atom or a binary as text, which must be UTF-8. Skips any other term and returns
    /// `None` for it.
    fn text(&mut self) -> Result<Option<&'p str>> {
        let len: u64 = match self.rest.first() {
            Some(&BINARY) => {
                self.byte()?;
                self.u32()?.into()
            }
            Some(&(ATOM | ATOM_UTF8)) => {
                self.byte()?;
                self.u16()?.into()
            }
            Some(&(SMALL_ATOM | SMALL_ATOM_UTF8)) => {
                self.byte()?;
                self.byte()?.into()
            }
            _ => return self.term().map(|()| None),
        };
        std::str::from_utf8(self.take(len)?).map(Some).map_err(|_| DAMAGED)
    }

    /// Reads an integer from 0 to 2^64 - 1. Skips any other term and returns `None` for it.
    fn number(&mut self) -> Result<Option<u64>> {
        match self.rest.first() {
            Some(&SMALL_INTEGER) => {
                self.byte()?;
                Ok(Some(self.byte()?.into()))
            }
            Some(&INTEGER) => {
                self.byte()?;
                Ok(u64::try_from(self.u32()?.cast_signed()).ok())
            }
            Some(&SMALL_BIG) => {
                self.byte()?;
                let (len, negative) = (self.byte()?, self.byte()? != 0);
                let digits = self.take(len.into())?;
                let fits = !negative && digits.iter().skip(8).all(|&d| d == 0);
                let value = digits.iter().take(8).rev().fold(0, |value, &d| value << 8 | u64::from(d));
                Ok(fits.then_some(value))
            }
            _ => self.term().map(|()| None),
        }
    }

    /// Skips a term and everything in it. Instead of recursing it counts the terms still to come;
    /// each takes at least one byte, so a count above the bytes left is an error.
    fn term(&mut self) -> Result<()> {
        let mut left = 1u64;
        while left > 0 {
            left -= 1;
            let (bytes, terms) = match self.byte()? {
                NEW_FLOAT => (8, 0),
                SMALL_INTEGER => (1, 0),
                INTEGER => (4, 0),
                FLOAT => (31, 0),
                ATOM | ATOM_UTF8 | STRING => (self.u16()?.into(), 0),
                SMALL_ATOM | SMALL_ATOM_UTF8 => (self.byte()?.into(), 0),
                BINARY => (self.u32()?.into(), 0),
                SMALL_BIG => (1 + u64::from(self.byte()?), 0),
                LARGE_BIG => (1 + u64::from(self.u32()?), 0),
                NIL => (0, 0),
                SMALL_TUPLE => (0, self.byte()?.into()),
                LARGE_TUPLE => (0, self.u32()?.into()),
                // A list has a tail term after its elements.
                LIST => (0, 1 + u64::from(self.u32()?)),
                MAP => (0, 2 * u64::from(self.u32()?)),
                _ => return Err("the payload has a term of a type that gateways do not send"),
            };
            self.take(bytes)?;
            left += terms;
            if left > self.rest.len() as u64 {
                return Err(TRUNCATED);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The term `#{d => [1, <<"x">>, #{}], op => 0, s => 300, t => 'READY'}` with binaries as keys.
    fn sample() -> Vec<u8> {
        let mut term = vec![VERSION, MAP, 0, 0, 0, 4];
        let key = |term: &mut Vec<u8>, name: &str| {
            term.extend([BINARY, 0, 0, 0, name.len() as u8]);
            term.extend(name.bytes());
        };
        key(&mut term, "d");
        term.extend([LIST, 0, 0, 0, 3, SMALL_INTEGER, 1, BINARY, 0, 0, 0, 1, b'x', MAP, 0, 0, 0, 0, NIL]);
        key(&mut term, "op");
        term.extend([SMALL_INTEGER, 0]);
        key(&mut term, "s");
        term.extend([INTEGER, 0, 0, 1, 44]);
        key(&mut term, "t");
        term.extend([SMALL_ATOM_UTF8, 5]);
        term.extend(b"READY");
        term
    }

    #[test]
    fn envelope_has_all_members() {
        let expected = Envelope { op: Some(0), sequence: Some(300), event: Some("READY") };
        assert_eq!(envelope(&sample()), Ok(expected));
        let big = [VERSION, MAP, 0, 0, 0, 1, SMALL_ATOM, 1, b's', SMALL_BIG, 2, 0, 1, 2];
        assert_eq!(envelope(&big).unwrap().sequence, Some(513));
    }

    #[test]
    fn peek_stops_after_the_last_envelope_member() {
        let expected = Envelope { op: Some(0), sequence: Some(300), event: Some("READY") };
        let mut term = sample();
        assert_eq!(peek(&term), Ok(expected));
        // `t` is the last member: bytes after it are ignored, all bytes before it are required.
        term.extend(b"anything");
        assert_eq!(peek(&term), Ok(expected));
        for len in 0..sample().len() {
            assert!(peek(&term[..len]).is_err(), "{len}");
        }
        // `d` comes last here and is not read.
        let mut early = vec![VERSION, MAP, 0, 0, 0, 4];
        for (name, value) in [("op", &[SMALL_INTEGER, 10][..]), ("s", &[SMALL_ATOM, 3, b'n', b'i', b'l'])] {
            early.extend([SMALL_ATOM_UTF8, name.len() as u8]);
            early.extend(name.bytes());
            early.extend(value);
        }
        early.extend([ATOM, 0, 1, b't', ATOM, 0, 3, b'n', b'i', b'l', SMALL_ATOM, 1, b'd', 255]);
        assert_eq!(peek(&early), Ok(Envelope { op: Some(10), ..Envelope::default() }));
        assert!(envelope(&early).is_err());
        // A repeated member does not take the place of another one; the last value counts.
        let op = [SMALL_ATOM, 2, b'o', b'p', SMALL_INTEGER];
        let mut repeated = [&[VERSION, MAP, 0, 0, 0, 7][..], &op, &[7], &op, &[8], &op, &[9]].concat();
        repeated.extend(&sample()[6..]);
        assert_eq!(peek(&repeated), Ok(expected));
        let without = [VERSION, MAP, 0, 0, 0, 1, SMALL_ATOM, 1, b'd', NIL];
        assert_eq!(peek(&without), Ok(Envelope::default()));
    }

    #[test]
    fn truncation_and_trailing_bytes_are_errors() {
        let term = sample();
        for len in 0..term.len() {
            assert!(envelope(&term[..len]).is_err(), "{len}");
        }
        assert!(envelope(&[&term[..], &[0]].concat()).is_err());
    }

    #[test]
    fn lengths_beyond_the_payload_are_errors() {
        for bad in [
            &[VERSION, MAP, 255, 255, 255, 255][..],
            &[VERSION, MAP, 0, 0, 0, 1, LIST, 255, 255, 255, 255, NIL],
            &[VERSION, MAP, 0, 0, 0, 1, BINARY, 255, 255, 255, 255],
            &[VERSION, NIL],
            &[VERSION, MAP, 0, 0, 0, 1, 80, 0],
        ] {
            assert!(envelope(bad).is_err());
        }
    }
}
