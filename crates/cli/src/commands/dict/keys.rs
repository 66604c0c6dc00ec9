//! Keys on the command line and in output, as text or in hexadecimal.

use serde_json::{Value, json};

#[derive(clap::Args, Debug)]
pub(crate) struct KeyArgs {
    /// Keys are given and printed in hexadecimal
    #[arg(long)]
    pub(crate) hex: bool,
}

impl KeyArgs {
    /// Parses a key of the command line.
    pub(crate) fn parse(&self, text: &str) -> Result<Vec<u8>, String> {
        if !self.hex {
            return Ok(text.as_bytes().to_vec());
        }
        let bad = || format!("`{text}` is not hexadecimal; give two digits for each byte of the key");
        if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(bad());
        }
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| bad()))
            .collect()
    }

    /// Formats a key for printing.
    pub(crate) fn show(&self, key: &[u8]) -> String {
        if self.hex { hex(key) } else { String::from_utf8_lossy(key).into_owned() }
    }

    /// Sets the key `name` of a JSON object to bytes that are UTF-8. Sets `name_hex` to the
    /// hexadecimal digits of other bytes and, with `--hex`, of all.
    pub(crate) fn put(&self, object: &mut Value, name: &str, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) if !self.hex => object[name] = json!(text),
            _ => object[format!("{name}_hex")] = json!(hex(bytes)),
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first key after all keys that begin with `prefix`; `None` if no key comes after them.
pub(crate) fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut key = prefix.to_vec();
    while let Some(last) = key.pop() {
        if last < 0xff {
            key.push(last + 1);
            return Some(key);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_parsed_and_printed_as_text_or_hexadecimal() {
        let (text, hex) = (KeyArgs { hex: false }, KeyArgs { hex: true });
        assert_eq!(text.parse("6a"), Ok(b"6a".to_vec()));
        assert_eq!(hex.parse("6aFf"), Ok(vec![0x6a, 0xff]));
        assert_eq!(hex.parse(""), Ok(vec![]));
        assert!(["6", "6g", "+1", "é1"].iter().all(|text| hex.parse(text).is_err()));
        assert_eq!((text.show(b"a"), hex.show(b"a")), ("a".into(), "61".into()));
        let mut object = json!({});
        text.put(&mut object, "key", b"a");
        text.put(&mut object, "value", &[0xff]);
        assert_eq!(object, json!({ "key": "a", "value_hex": "ff" }));
    }

    #[test]
    fn prefix_end_is_the_first_key_after_all_keys_with_the_prefix() {
        assert_eq!(prefix_end(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(prefix_end(b"a\xff"), Some(b"b".to_vec()));
        assert_eq!((prefix_end(b"\xff\xff"), prefix_end(b"")), (None, None));
    }
}
