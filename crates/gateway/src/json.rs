//! One JSON object, walked by its brackets and strings.

use crate::envelope::Envelope;
use crate::kernel;
use crate::nesting::{CUT_OFF, DAMAGED};

type Result<T> = std::result::Result<T, &'static str>;

const NO_OBJECT: &str = "the payload is not a JSON object";

pub(crate) fn envelope(payload: &[u8]) -> Result<Envelope<'_>> {
    let text = std::str::from_utf8(payload).map_err(|_| "the payload is not UTF-8")?;
    let mut walk = Walk { text, bytes: payload, at: 0 };
    let mut envelope = Envelope::default();
    if walk.next() != Some(b'{') {
        return Err(NO_OBJECT);
    }
    walk.at += 1;
    if walk.next() == Some(b'}') {
        walk.at += 1;
    } else {
        while walk.member(&mut envelope)? {}
    }
    if walk.next().is_some() { Err("something follows the payload's JSON object") } else { Ok(envelope) }
}

struct Walk<'p> {
    text: &'p str,
    bytes: &'p [u8],
    at: usize,
}

impl<'p> Walk<'p> {
    /// The next byte that is not a space, which stays.
    fn next(&mut self) -> Option<u8> {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.bytes.get(self.at).copied()
    }

    /// Reads a member of the outermost object; returns whether another follows.
    fn member(&mut self, envelope: &mut Envelope<'p>) -> Result<bool> {
        self.next();
        let name = self.string()?;
        if self.next() != Some(b':') {
            return Err(DAMAGED);
        }
        self.at += 1;
        let first = self.next();
        let start = self.at;
        self.value()?;
        let value = &self.text[start..self.at];
        match name {
            "op" => envelope.op = value.parse().ok(),
            "s" => envelope.sequence = value.parse().ok(),
            "t" if first == Some(b'"') => envelope.event = Some(&value[1..value.len() - 1]),
            _ => {}
        }
        let after = self.next().ok_or(CUT_OFF)?;
        self.at += 1;
        match after {
            b',' => Ok(true),
            b'}' => Ok(false),
            _ => Err(DAMAGED),
        }
    }

    /// What stands between the quotes of a string.
    fn string(&mut self) -> Result<&'p str> {
        match self.bytes.get(self.at) {
            Some(b'"') => {}
            Some(_) => return Err(DAMAGED),
            None => return Err(CUT_OFF),
        }
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.bytes.get(at) {
                None => return Err(CUT_OFF),
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(0..=0x1f) => return Err(DAMAGED),
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        // A backslash before a character of several bytes leaves `at` within it, but only a quote ends.
        self.text.get(start..at).ok_or(DAMAGED)
    }

    fn value(&mut self) -> Result<()> {
        match self.bytes.get(self.at) {
            None => Err(CUT_OFF),
            Some(b'"') => self.string().map(drop),
            Some(b'{' | b'[') => {
                self.at = kernel::nested(self.bytes, self.at)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nesting::MAX_DEPTH;

    #[test]
    fn members_are_found_wherever_they_stand() {
        let text = br#" {"d":{"s":7,"t":["}",{"op":1}],"x":"\"{"},"op":0,"s":42,"t":"READY"} "#;
        let expected = Envelope { op: Some(0), sequence: Some(42), event: Some("READY") };
        assert_eq!(envelope(text), Ok(expected));
        let hello = br#"{"t":null,"s":null,"op":10,"d":{"heartbeat_interval":41250}}"#;
        assert_eq!(envelope(hello), Ok(Envelope { op: Some(10), ..Envelope::default() }));
        assert_eq!(envelope(b"{}"), Ok(Envelope::default()));
    }

    #[test]
    fn every_cut_and_every_addition_is_seen() {
        let text = br#"{"t":"A","s":1,"op":0,"d":[{"a":"b\\\"c"},[1,2.5e+3,true,null]]}"#;
        for len in 0..text.len() {
            assert!(envelope(&text[..len]).is_err(), "{len}");
        }
        for more in [&b"x"[..], b"{", b"}", b",", text] {
            assert!(envelope(&[&text[..], more].concat()).is_err());
        }
    }

    #[test]
    fn brackets_must_match() {
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
    fn escapes_before_wide_characters_are_harmless() {
        assert!(envelope("{\"a\":\"\\é\"}".as_bytes()).is_ok());
        assert!(envelope("{\"\\é\":1}".as_bytes()).is_ok());
    }
}
