//! Converts between JSON and Erlang's external term format (ETF), as gateways and their clients
//! write it: keys, `null`, `true` and `false` are atoms, strings are binaries, and ids, which are
//! strings in JSON, are integers.

use serde_json::{Map, Number, Value};

const VERSION: u8 = 131;
const NEW_FLOAT: u8 = 70;
const SMALL_INTEGER: u8 = 97;
const INTEGER: u8 = 98;
const FLOAT: u8 = 99;
const ATOM: u8 = 100;
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

/// Maximum nesting of a client's terms; serde_json has the same limit.
const MAX_DEPTH: usize = 128;
/// Numbers of digits with which a string counts as an id (snowflake): ids have 15 digits a few
/// hours after the beginning of 2015, from which they count, and a `u64` has at most 20.
const ID_DIGITS: std::ops::RangeInclusive<usize> = 15..=20;

/// Converts a JSON payload to a term. Returns other bytes unchanged.
pub(crate) fn from_json(payload: &[u8]) -> Vec<u8> {
    match serde_json::from_slice::<Value>(payload) {
        Ok(value) => encode(&value),
        Err(_) => payload.to_vec(),
    }
}

fn encode(value: &Value) -> Vec<u8> {
    let mut term = vec![VERSION];
    write(value, false, &mut term);
    term
}

/// Whether strings under this key are ids.
fn names_ids(key: &str) -> bool {
    key == "id" || key.ends_with("_id") || key.ends_with("_ids") || key == "roles" || key == "mention_roles"
}

/// Appends a term. With `ids`, strings that are ids are written as integers.
fn write(value: &Value, ids: bool, term: &mut Vec<u8>) {
    match value {
        Value::Null => atom("nil", term),
        Value::Bool(true) => atom("true", term),
        Value::Bool(false) => atom("false", term),
        Value::Number(number) => write_number(number, term),
        Value::String(text) => match id(text).filter(|_| ids) {
            Some(id) => write_number(&id.into(), term),
            None => {
                term.push(BINARY);
                length(text.len(), term);
                term.extend(text.bytes());
            }
        },
        Value::Array(values) if values.is_empty() => term.push(NIL),
        Value::Array(values) => {
            term.push(LIST);
            length(values.len(), term);
            values.iter().for_each(|value| write(value, ids, term));
            term.push(NIL);
        }
        Value::Object(members) => {
            term.push(MAP);
            length(members.len(), term);
            for (key, value) in members {
                atom(key, term);
                write(value, names_ids(key), term);
            }
        }
    }
}

fn id(text: &str) -> Option<u64> {
    let digits = ID_DIGITS.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    // An integer would lose a leading zero.
    (digits && !text.starts_with('0')).then(|| text.parse().ok())?
}

/// Appends a key or constant as an atom, or as a binary, which clients accept too, if it has more
/// than 255 bytes.
fn atom(name: &str, term: &mut Vec<u8>) {
    match u8::try_from(name.len()) {
        Ok(len) => term.extend([SMALL_ATOM_UTF8, len]),
        Err(_) => {
            term.push(BINARY);
            length(name.len(), term);
        }
    }
    term.extend(name.bytes());
}

fn length(len: usize, term: &mut Vec<u8>) {
    term.extend(u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes());
}

fn write_number(number: &Number, term: &mut Vec<u8>) {
    let (negative, magnitude) = match (number.as_u64(), number.as_i64()) {
        (_, Some(value)) if i32::try_from(value).is_ok() => {
            return match u8::try_from(value) {
                Ok(small) => term.extend([SMALL_INTEGER, small]),
                Err(_) => {
                    term.push(INTEGER);
                    term.extend((value as i32).to_be_bytes());
                }
            };
        }
        (Some(value), _) => (false, value),
        (_, Some(value)) => (true, value.unsigned_abs()),
        (None, None) => {
            term.push(NEW_FLOAT);
            term.extend(number.as_f64().unwrap_or(0.0).to_be_bytes());
            return;
        }
    };
    let len = 8 - magnitude.leading_zeros() as usize / 8;
    term.extend([SMALL_BIG, len as u8, u8::from(negative)]);
    term.extend(&magnitude.to_le_bytes()[..len]);
}

/// Decodes a client's term. Returns `None` if it is malformed, has trailing bytes, or contains a
/// type that clients do not send.
pub(crate) fn decode(term: &[u8]) -> Option<Value> {
    let mut reader = Reader { rest: term };
    let value = (reader.byte()? == VERSION).then(|| reader.term(0)).flatten()?;
    reader.rest.is_empty().then_some(value)
}

struct Reader<'t> {
    rest: &'t [u8],
}

impl<'t> Reader<'t> {
    fn take(&mut self, len: usize) -> Option<&'t [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<usize> {
        self.array().map(|bytes| u16::from_be_bytes(bytes).into())
    }

    fn u32(&mut self) -> Option<usize> {
        self.array().and_then(|bytes| u32::from_be_bytes(bytes).try_into().ok())
    }

    fn text(&mut self, len: usize) -> Option<String> {
        String::from_utf8(self.take(len)?.to_vec()).ok()
    }

    fn atom(&mut self, len: usize) -> Option<Value> {
        Some(match &*self.text(len)? {
            "nil" | "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            name => name.into(),
        })
    }

    fn big(&mut self, len: usize) -> Option<Value> {
        let negative = self.byte()? != 0;
        let digits = self.take(len)?;
        if digits.iter().skip(8).any(|&digit| digit != 0) {
            return None;
        }
        let magnitude = digits.iter().take(8).rev().fold(0, |sum, &digit| sum << 8 | u64::from(digit));
        match negative {
            false => Some(magnitude.into()),
            true => 0i64.checked_sub_unsigned(magnitude).map(Value::from),
        }
    }

    /// Reads an element count. Returns `None` if it exceeds the number of bytes left, since each
    /// element takes at least one.
    fn count(&mut self) -> Option<usize> {
        self.u32().filter(|&count| count <= self.rest.len())
    }

    fn term(&mut self, depth: usize) -> Option<Value> {
        if depth == MAX_DEPTH {
            return None;
        }
        Some(match self.byte()? {
            SMALL_INTEGER => self.byte()?.into(),
            INTEGER => i32::from_be_bytes(self.array()?).into(),
            NEW_FLOAT => f64::from_be_bytes(self.array()?).into(),
            FLOAT => self.text(31)?.trim_end_matches('\0').parse::<f64>().ok()?.into(),
            SMALL_BIG => {
                let len = self.byte()?.into();
                self.big(len)?
            }
            LARGE_BIG => {
                let len = self.u32()?;
                self.big(len)?
            }
            ATOM | ATOM_UTF8 => {
                let len = self.u16()?;
                self.atom(len)?
            }
            SMALL_ATOM | SMALL_ATOM_UTF8 => {
                let len = self.byte()?.into();
                self.atom(len)?
            }
            BINARY => {
                let len = self.u32()?;
                self.text(len)?.into()
            }
            // STRING_EXT is a list of small integers.
            STRING => {
                let len = self.u16()?;
                self.take(len)?.into()
            }
            NIL => Value::Array(Vec::new()),
            LIST => {
                let values = (0..self.count()?).map(|_| self.term(depth + 1)).collect::<Option<_>>()?;
                (self.byte()? == NIL).then_some(Value::Array(values))?
            }
            MAP => {
                let count = self.count()?;
                let member = |_| match (self.term(depth + 1)?, self.term(depth + 1)?) {
                    (Value::String(key), value) => Some((key, value)),
                    _ => None,
                };
                Value::Object((0..count).map(member).collect::<Option<Map<_, _>>>()?)
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use linerate_gateway::{Encoding, Envelope};
    use serde_json::json;

    use super::*;

    #[test]
    fn values_round_trip() {
        let value = json!({
            "op": 0, "s": 300, "t": "READY", "none": null, "yes": true, "no": false, "empty": [], "object": {},
            "list": [1, "two", [3.5], {"four": -4}], "text": "é\u{0}", "large": u64::MAX, "small": i64::MIN,
            "numbers": [255, 256, -1, i32::MAX, i32::MIN, 1u64 << 31, -(1i64 << 40), 1e300],
        });
        let term = encode(&value);
        assert_eq!(decode(&term), Some(value.clone()));
        let envelope = Envelope::read(&term, Encoding::Etf).unwrap();
        assert_eq!((envelope.op, envelope.sequence, envelope.event), (Some(0), Some(300), Some("READY")));
        for len in 0..term.len() {
            assert_eq!(decode(&term[..len]), None, "{len}");
        }
        assert_eq!(decode(&[&term[..], &[0]].concat()), None);
    }

    #[test]
    fn ids_are_integers_and_other_digits_stay_strings() {
        let payload =
            br#"{"id":"1000000000000000001","channel_id":null,"user_ids":["1000000000000000002","x"],
            "roles":["1000000000000000003"],"name":"1000000000000000004","permissions":"104324673104324673",
            "nonce":"1000000000000000005","session_id":"00112233445566778899","parent_id":"5"}"#;
        let expected = json!({
            "id": 1_000_000_000_000_000_001u64, "channel_id": null, "user_ids": [1_000_000_000_000_000_002u64, "x"],
            "roles": [1_000_000_000_000_000_003u64], "name": "1000000000000000004",
            "permissions": "104324673104324673", "nonce": "1000000000000000005",
            "session_id": "00112233445566778899", "parent_id": "5",
        });
        assert_eq!(decode(&from_json(payload)), Some(expected));
    }

    #[test]
    fn terms_of_other_encoders_are_decoded() {
        let term = |bytes: &[u8]| decode(&[&[VERSION], bytes].concat());
        assert_eq!(term(b"d\0\x04null"), Some(Value::Null));
        assert_eq!(term(b"k\0\x02\x07\x08"), Some(json!([7, 8])));
        assert_eq!(term(b"o\0\0\0\x02\x01\x01\x02"), Some(json!(-513)));
        assert_eq!(term(b"c1.50000000000000000000e+00\0\0\0\0\0"), Some(json!(1.5)));
        assert_eq!(term(b"t\0\0\0\x01m\0\0\0\x01aa\x05"), Some(json!({ "a": 5 })));
        assert_eq!(term(b"n\x09\0\0\0\0\0\0\0\0\0\x01"), None);
    }

    #[test]
    fn oversized_counts_and_deep_nesting_are_rejected() {
        for bad in [
            &b"m\xff\xff\xff\xff"[..],
            b"l\xff\xff\xff\xff",
            b"t\xff\xff\xff\xff",
            b"l\0\0\0\x01a\x01a\x01",
            b"P",
        ] {
            assert_eq!(decode(&[&[VERSION], bad].concat()), None, "{bad:?}");
        }
        let nested = |depth: usize| {
            [&[VERSION][..], &b"l\0\0\0\x01".repeat(depth), b"j", &b"j".repeat(depth)].concat()
        };
        assert!(decode(&nested(MAX_DEPTH - 1)).is_some());
        assert_eq!(decode(&nested(MAX_DEPTH)), None);
        assert_eq!(decode(&nested(10_000)), None);
    }
}
