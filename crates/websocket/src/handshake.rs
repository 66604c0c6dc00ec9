//! The HTTP heads of the handshake (RFC 6455, section 4), to which the header
//! `Sec-WebSocket-Extensions` is added, or from which it is removed.

const NAME: &[u8] = b"sec-websocket-extensions";
/// Largest head in bytes. A larger one is passed on unchanged, and the connection is not
/// compressed.
pub(crate) const MAX_HEAD: usize = 1 << 16;
/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// A request or response up to its empty line, as far as it has arrived.
#[derive(Default)]
pub(crate) struct Head {
    bytes: Vec<u8>,
}

impl Head {
    /// Takes bytes of `input` up to the end of the head, or one more than [`MAX_HEAD`]. Returns how
    /// many it took, and whether it takes no more.
    pub(crate) fn read(&mut self, input: &[u8]) -> (usize, bool) {
        for (i, &byte) in input.iter().enumerate() {
            self.bytes.push(byte);
            if byte == b'\n' && self.is_whole() || self.bytes.len() > MAX_HEAD {
                return (i + 1, true);
            }
        }
        (input.len(), false)
    }

    /// Whether the head has ended. It has not if it is too large.
    pub(crate) fn is_whole(&self) -> bool {
        self.bytes.ends_with(END) && self.bytes.len() <= MAX_HEAD
    }

    /// Whether this is a response that switches protocols (status 101).
    pub(crate) fn switches_protocols(&self) -> bool {
        self.bytes.split(|&byte| byte == b' ').nth(1).is_some_and(|status| status.starts_with(b"101"))
    }

    /// The values of `Sec-WebSocket-Extensions`, joined to one list; empty if there is no such
    /// header.
    pub(crate) fn extensions(&self) -> String {
        let values =
            self.lines().filter_map(value).map(|value| String::from_utf8_lossy(value).trim().to_owned());
        values.collect::<Vec<_>>().join(", ")
    }

    /// The head without `Sec-WebSocket-Extensions`.
    pub(crate) fn without_extensions(&self) -> Vec<u8> {
        self.lines().filter(|line| value(line).is_none()).collect::<Vec<_>>().concat()
    }

    /// The whole head with `Sec-WebSocket-Extensions` added at its end.
    pub(crate) fn with_extensions(mut self, value: &str) -> Vec<u8> {
        self.bytes.truncate(self.bytes.len() - 2);
        self.bytes.extend_from_slice(format!("Sec-WebSocket-Extensions: {value}\r\n\r\n").as_bytes());
        self.bytes
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split_inclusive(|&byte| byte == b'\n')
    }
}

/// The value of `Sec-WebSocket-Extensions`, if the line is that header.
fn value(line: &[u8]) -> Option<&[u8]> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    line[..colon].eq_ignore_ascii_case(NAME).then_some(&line[colon + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        let mut head = Head::default();
        assert_eq!(head.read(format!("{text}after").as_bytes()), (text.len(), true));
        head
    }

    #[test]
    fn headers_are_found_in_any_case_joined_added_and_removed() {
        let response = head(
            "HTTP/1.1 101 Switching\r\nsec-websocket-EXTENSIONS: a; b=1\r\nX: y\r\nSec-WebSocket-Extensions:c\r\n\r\n",
        );
        assert!(response.switches_protocols());
        assert_eq!(response.extensions(), "a; b=1, c");
        assert_eq!(response.without_extensions(), b"HTTP/1.1 101 Switching\r\nX: y\r\n\r\n");
        let request = head("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        assert!(!request.switches_protocols() && request.extensions().is_empty());
        let more = request.with_extensions("d; e");
        assert_eq!(more, b"GET / HTTP/1.1\r\nHost: h\r\nSec-WebSocket-Extensions: d; e\r\n\r\n");
    }

    #[test]
    fn a_head_that_is_too_large_does_not_end() {
        let mut long = Head::default();
        assert_eq!(long.read(&vec![b'x'; 2 * MAX_HEAD]), (MAX_HEAD + 1, true));
        assert!(!long.is_whole());
        for (len, is_whole) in [(MAX_HEAD, true), (MAX_HEAD + 1, false)] {
            let mut head = Head::default();
            let text = [&vec![b'x'; len - END.len()], END].concat();
            assert_eq!((head.read(&text), head.is_whole()), ((len, true), is_whole), "{len}");
        }
    }
}
