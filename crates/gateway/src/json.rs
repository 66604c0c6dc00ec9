//! Envelopes in JSON. Other values are skipped by matching brackets and quotes.

use crate::envelope::{self, Envelope};
use crate::kernel;
use crate::nesting::{DAMAGED, TRUNCATED};

type Result<T> = std::result::Result<T, &'static str>;

const NOT_UTF8: &str = "the payload is not UTF-8";
const NOT_AN_OBJECT: &str = "the payload is not a JSON object";

pub(crate) fn envelope(payload: &[u8]) -> Result<Envelope<'_>> {
    std::str::from_utf8(payload).map_err(|_| NOT_UTF8)?;
    let mut walk = Walk::new(payload);
    let mut envelope = Envelope::default();
    let mut more = walk.enter()?;
    while more {
        more = walk.member(&mut envelope)?.more;
    }
    if walk.next().is_some() { Err("something follows the payload's JSON object") } else { Ok(envelope) }
}

/// Reads members until the envelope is complete or the object ends.
pub(crate) fn peek(payload: &[u8]) -> Result<Envelope<'_>> {
    let mut walk = Walk::new(payload);
    let mut envelope = Envelope::default();
    let mut missing = envelope::MEMBERS;
    let mut more = walk.enter()?;
    while more && missing > 0 {
        let member = walk.member(&mut envelope)?;
        missing &= !member.bit;
        more = member.more;
    }
    Ok(envelope)
}

struct Walk<'p> {
    bytes: &'p [u8],
    at: usize,
}

/// Result of reading one member.
struct Member {
    /// The member's bit, or 0 if the envelope has no such member.
    bit: u8,
    /// Whether another member follows.
    more: bool,
}

impl<'p> Walk<'p> {
    fn new(bytes: &'p [u8]) -> Self {
        Walk { bytes, at: 0 }
    }

    /// Enters the outermost object. Returns whether the object has a member; an empty object is
    /// read to its end.
    fn enter(&mut self) -> Result<bool> {
        if self.next() != Some(b'{') {
            return Err(NOT_AN_OBJECT);
        }
        self.at += 1;
        let empty = self.next() == Some(b'}');
        self.at += usize::from(empty);
        Ok(!empty)
    }

    /// Skips white space; returns the next byte without consuming it.
    fn next(&mut self) -> Option<u8> {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.bytes.get(self.at).copied()
    }

    /// Reads a member of the outermost object, and the comma or brace after it.
    fn member(&mut self, envelope: &mut Envelope<'p>) -> Result<Member> {
        self.next();
        let name = self.string()?;
        if self.next() != Some(b':') {
            return Err(DAMAGED);
        }
        self.at += 1;
        let first = self.next();
        let start = self.at;
        self.value()?;
        let value = &self.bytes[start..self.at];
        let bit = match name {
            b"op" => {
                envelope.op = number(value);
                envelope::OP
            }
            b"s" => {
                envelope.sequence = number(value);
                envelope::SEQUENCE
            }
            b"t" => {
                let text = if first == Some(b'"') { Some(&value[1..value.len() - 1]) } else { None };
                envelope.event = text.map(std::str::from_utf8).transpose().map_err(|_| NOT_UTF8)?;
                envelope::EVENT
            }
            _ => 0,
        };
        let after = self.next().ok_or(TRUNCATED)?;
        self.at += 1;
        match after {
            b',' => Ok(Member { bit, more: true }),
            b'}' => Ok(Member { bit, more: false }),
            _ => Err(DAMAGED),
        }
    }

    /// Reads a string; returns the bytes between its quotes.
    fn string(&mut self) -> Result<&'p [u8]> {
        match self.bytes.get(self.at) {
            Some(b'"') => {}
            Some(_) => return Err(DAMAGED),
            None => return Err(TRUNCATED),
        }
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.bytes.get(at) {
                None => return Err(TRUNCATED),
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(0..=0x1f) => return Err(DAMAGED),
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        Ok(&self.bytes[start..at])
    }

    fn value(&mut self) -> Result<()> {
        match self.bytes.get(self.at) {
            None => Err(TRUNCATED),
            Some(b'"') => self.string().map(drop),
            Some(b'{' | b'[') => {
                self.at = kernel::find_value_end(self.bytes, self.at)?;
                Ok(())
            }
            Some(_) => {
                let rest = &self.bytes[self.at..];
                let scalar = |b: &&u8| matches!(b, b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.');
                let len = rest.iter().take_while(scalar).count();
                self.at += len;
                if len == 0 { Err(DAMAGED) } else { Ok(()) }
            }
        }
    }
}

/// Parses an integer from 0 to 2^64 - 1; `None` for any other value.
fn number(value: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(value).ok().filter(|digits| !digits.starts_with('+'))?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nesting::MAX_DEPTH;

    #[test]
    fn members_are_found_in_any_order() {
        let text = br#" {"d":{"s":7,"t":["}",{"op":1}],"x":"\"{"},"op":0,"s":42,"t":"READY"} "#;
        let expected = Envelope { op: Some(0), sequence: Some(42), event: Some("READY") };
        assert_eq!(envelope(text), Ok(expected));
        let hello = br#"{"t":null,"s":null,"op":10,"d":{"heartbeat_interval":41250}}"#;
        assert_eq!(envelope(hello), Ok(Envelope { op: Some(10), ..Envelope::default() }));
        assert_eq!(envelope(b"{}"), Ok(Envelope::default()));
    }

    #[test]
    fn truncation_and_trailing_bytes_are_errors() {
        let text = br#"{"t":"A","s":1,"op":0,"d":[{"a":"b\\\"c"},[1,2.5e+3,true,null]]}"#;
        for len in 0..text.len() {
            assert!(envelope(&text[..len]).is_err(), "{len}");
        }
        for more in [&b"x"[..], b"{", b"}", b",", text] {
            assert!(envelope(&[&text[..], more].concat()).is_err());
        }
    }

    #[test]
    fn mismatched_brackets_and_excessive_depth_are_errors() {
        for bad in
            ["{\"a\":[}]", "{\"a\":{]}", "[]", "{\"a\" 1}", "{\"a\":}", "{a:1}", "{\"a\":\"\u{1}\"}", "\u{0}"]
        {
            assert!(envelope(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(envelope(b"{\"a\":\"\xff\"}").is_err());
        let deep = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(envelope(deep(MAX_DEPTH).as_bytes()).is_ok());
        assert!(envelope(deep(MAX_DEPTH + 1).as_bytes()).is_err());
    }

    #[test]
    fn peek_stops_after_the_last_envelope_member() {
        let expected = Envelope { op: Some(0), sequence: Some(42), event: Some("READY") };
        for text in [
            &br#"{"t":"READY","s":42,"op":0,"d":{"not":"looked at"#[..],
            br#" { "op" : 0 , "s" : 42 , "t" : "READY" , "#,
            br#"{"op":0,"d":{"op":1,"s":2,"t":"}{"},"s":42,"t":"READY"}"#,
            br#"{"d":["\\\"","t",{"t":"X"}],"t":"READY","op":0,"s":42}"#,
        ] {
            assert_eq!(peek(text), Ok(expected), "{}", text.escape_ascii());
        }
        // null counts as present; a missing member is searched for up to the end.
        let hello = br#"{"t":null,"s":null,"op":10,"#;
        assert_eq!(peek(hello), Ok(Envelope { op: Some(10), ..Envelope::default() }));
        assert_eq!(peek(br#"{"op":11,"d":251}"#), Ok(Envelope { op: Some(11), ..Envelope::default() }));
        assert_eq!(peek(b"{}"), Ok(Envelope::default()));
        // A repeated member does not take the place of another one; the last value counts.
        let repeated = peek(br#"{"op":1,"op":2,"op":0,"t":"READY","op":0,"s":42,"op":7}"#);
        assert_eq!(repeated, Ok(expected));
        // Escapes in names and strings are not decoded.
        let escaped = peek(br#"{"\u0074":"A","op":0,"t":"B\"C","s":1}"#).unwrap();
        assert_eq!(escaped.event, Some("B\\\"C"));
        assert_eq!(peek(br#"{"op":-1,"s":1.5,"t":7}"#), Ok(Envelope::default()));
    }

    #[test]
    fn peek_of_truncated_or_damaged_members_is_an_error() {
        let text = br#"{"t":"READY","s":42,"d":{"a":[1,"x"]},"op":0,"#;
        for len in 0..text.len() {
            assert!(peek(&text[..len]).is_err(), "{len}");
        }
        for bad in [&b"[]"[..], b"x", b"{\"op\" 0}", b"{\"t\":\"\xff\"}", b"{\"d\":[}],\"op\":0}"] {
            assert!(peek(bad).is_err(), "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn backslash_before_a_multibyte_character_is_accepted() {
        assert!(envelope("{\"a\":\"\\é\"}".as_bytes()).is_ok());
        assert!(envelope("{\"\\é\":1}".as_bytes()).is_ok());
    }
}
