//! Negotiates the extension (RFC 7692, section 7.1): a client offers, and a server answers.

use std::fmt::Write as _;

use linerate_core::{Error, Kind, Result};

use crate::options::{Direction, Options, Role};

/// The extension's name in `Sec-WebSocket-Extensions`.
pub(crate) const NAME: &str = "permessage-deflate";

/// What both sides have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Messages from the server to the client.
    pub server: Direction,
    /// Messages from the client to the server.
    pub client: Direction,
}

impl Agreement {
    /// The direction that the side `role` encodes.
    pub fn encoder(&self, role: Role) -> Direction {
        match role {
            Role::Client => self.client,
            Role::Server => self.server,
        }
    }

    /// The direction that the side `role` decodes, which its peer encodes.
    pub fn decoder(&self, role: Role) -> Direction {
        match role {
            Role::Client => self.server,
            Role::Server => self.client,
        }
    }
}

/// Returns the client's offers, for its header `Sec-WebSocket-Extensions`.
///
/// If the server's window is to be limited, there is a second offer for servers that cannot do
/// that: not to keep the window from one message to the next.
///
/// ```
/// use linerate_websocket::{Direction, Options, offer};
///
/// assert_eq!(offer(&Options::default()), "permessage-deflate; client_max_window_bits");
/// let small = Options { decoder: Direction::window_bits(10), ..Options::default() };
/// assert_eq!(
///     offer(&small),
///     "permessage-deflate; client_max_window_bits; server_max_window_bits=10, \
///      permessage-deflate; client_max_window_bits; server_no_context_takeover"
/// );
/// ```
pub fn offer(options: &Options) -> String {
    let mut common = format!("{NAME}; client_max_window_bits");
    let bits = options.encoder.negotiable_bits();
    if bits < 15 {
        let _ = write!(common, "={bits}");
    }
    if !options.encoder.takeover {
        common.push_str("; client_no_context_takeover");
    }
    let bits = options.decoder.negotiable_bits();
    let forgetful = "; server_no_context_takeover";
    match (bits < 15, options.decoder.takeover) {
        (false, true) => common,
        (false, false) => common + forgetful,
        (true, takeover) => {
            let also = if takeover { "" } else { forgetful };
            format!("{common}; server_max_window_bits={bits}{also}, {common}{forgetful}")
        }
    }
}

/// Returns the server's answer to a client's header: the agreement, and the value for the server's
/// `Sec-WebSocket-Extensions`. Returns `None` if no offer can be accepted; the connection then goes
/// on without compression.
///
/// If the options limit the client's window, a client that cannot limit it is asked not to keep it
/// from one message to the next, which bounds the memory of an idle connection as well. A window of
/// 8 bits becomes one of 9, unless the client has asked for 8.
///
/// ```
/// use linerate_websocket::{Direction, Options, answer};
///
/// let options = Options { encoder: Direction::window_bits(11), ..Options::default() };
/// let (agreement, header) = answer(&options, "permessage-deflate; client_max_window_bits").unwrap();
/// assert_eq!(header, "permessage-deflate; server_max_window_bits=11");
/// assert_eq!(agreement.server.window_bits, 11);
/// ```
pub fn answer(options: &Options, header: &str) -> Option<(Agreement, String)> {
    extensions(header).find_map(|extension| answer_one(options, &Parameters::read(extension?, true).ok()?))
}

fn answer_one(options: &Options, offered: &Parameters) -> Option<(Agreement, String)> {
    // zlib does not support raw deflate with a window of 8 bits, and clients built on it refuse an
    // answer with 8 bits.
    let not_8 = |limit: u8, offered: u8| limit.min(offered).max(offered.min(9));
    let server = Direction {
        window_bits: not_8(options.encoder.negotiable_bits(), offered.server_bits.unwrap_or(15)),
        takeover: options.encoder.takeover && !offered.server_forgets,
    };
    let limit = options.decoder.negotiable_bits();
    let mut client =
        Direction { window_bits: 15, takeover: options.decoder.takeover && !offered.client_forgets };
    match offered.client_bits {
        Some(bits) => client.window_bits = not_8(limit, bits.unwrap_or(15)),
        None => client.takeover &= limit == 15,
    }
    let mut header = String::from(NAME);
    if !server.takeover {
        header.push_str("; server_no_context_takeover");
    }
    if !client.takeover {
        header.push_str("; client_no_context_takeover");
    }
    if server.window_bits < 15 || offered.server_bits.is_some() {
        let _ = write!(header, "; server_max_window_bits={}", server.window_bits);
    }
    if client.window_bits < 15 {
        let _ = write!(header, "; client_max_window_bits={}", client.window_bits);
    }
    Some((Agreement { server, client }, header))
}

/// Reads the server's answer, the value of its `Sec-WebSocket-Extensions`, for a client that has
/// sent [`offer`]. Returns `None` if the server has not accepted an offer.
///
/// # Errors
/// Returns [`Kind::Corrupt`] for an answer that fits no offer, or two of them. The client must then
/// close the connection (RFC 7692, section 5.1).
pub fn agree(options: &Options, header: &str) -> Result<Option<Agreement>> {
    let mut agreed = None;
    for extension in extensions(header) {
        let Some(extension) = extension else { continue };
        if agreed.is_some() {
            return Err(unfit("the server accepts permessage-deflate twice"));
        }
        agreed = Some(agree_one(options, &Parameters::read(extension, false)?)?);
    }
    Ok(agreed)
}

fn agree_one(options: &Options, answered: &Parameters) -> Result<Agreement> {
    let limit = options.decoder.negotiable_bits();
    let server =
        Direction { window_bits: answered.server_bits.unwrap_or(15), takeover: !answered.server_forgets };
    if server.takeover && (server.window_bits > limit || !options.decoder.takeover) {
        return Err(unfit("the server's window is larger than the client offered"));
    }
    let client = Direction {
        window_bits: answered.client_bits.flatten().unwrap_or(15).min(options.encoder.negotiable_bits()),
        takeover: options.encoder.takeover && !answered.client_forgets,
    };
    Ok(Agreement { server, client })
}

/// Parameters of an offer or an answer.
#[derive(Default)]
struct Parameters {
    server_forgets: bool,
    client_forgets: bool,
    server_bits: Option<u8>,
    /// The value of `client_max_window_bits`. `Some(None)` occurs in offers: the client can limit
    /// its window, and names no size.
    client_bits: Option<Option<u8>>,
}

impl Parameters {
    /// Reads the parameters that follow the name of the extension. Unknown parameters, invalid
    /// values and repeated parameters are errors (RFC 7692, section 7.1).
    fn read(list: &str, is_offer: bool) -> Result<Self> {
        let mut read = Parameters::default();
        for parameter in split(list, b';').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = match parameter.split_once('=') {
                Some((name, value)) => (name.trim_ascii_end(), Some(unquoted(value.trim_ascii_start()))),
                None => (parameter, None),
            };
            let repeated = match (name.to_ascii_lowercase().as_str(), value) {
                ("server_no_context_takeover", None) => std::mem::replace(&mut read.server_forgets, true),
                ("client_no_context_takeover", None) => std::mem::replace(&mut read.client_forgets, true),
                ("server_max_window_bits", Some(bits)) => {
                    read.server_bits.replace(window_bits(bits)?).is_some()
                }
                ("client_max_window_bits", Some(bits)) => {
                    read.client_bits.replace(Some(window_bits(bits)?)).is_some()
                }
                ("client_max_window_bits", None) if is_offer => read.client_bits.replace(None).is_some(),
                _ => {
                    return Err(unfit("permessage-deflate has an unknown parameter or an invalid value"));
                }
            };
            if repeated {
                return Err(unfit("a parameter of permessage-deflate occurs twice"));
            }
        }
        Ok(read)
    }
}

/// Parses a number of 8 to 15 without leading zeros.
fn window_bits(text: &str) -> Result<u8> {
    match text.parse() {
        Ok(bits @ 8..=15) if !text.starts_with(['0', '+']) => Ok(bits),
        _ => Err(unfit("window bits of permessage-deflate must be 8 to 15")),
    }
}

fn unfit(message: &'static str) -> Error {
    Error::new(Kind::Corrupt, 0, message)
}

/// Iterates over the extensions in a header: the parameters of each permessage-deflate, and `None`
/// for any other extension.
fn extensions(header: &str) -> impl Iterator<Item = Option<&str>> {
    split(header, b',').filter(|extension| !extension.is_empty()).map(|extension| {
        let (name, parameters) = extension.split_once(';').unwrap_or((extension, ""));
        name.trim_ascii_end().eq_ignore_ascii_case(NAME).then_some(parameters)
    })
}

/// Splits `text` at separators outside quoted strings, and trims the parts.
fn split(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |c: char| {
        let is_separator = c == char::from(separator) && !quoted;
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && quoted && !escaped;
        is_separator
    })
    .map(str::trim_ascii)
}

/// Removes the quotes of a quoted string. Its content must be a token (RFC 6455, section 9.1), so
/// there are no escapes to decode.
fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(encoder: Direction, decoder: Direction) -> Options {
        Options { encoder, decoder, ..Options::default() }
    }

    #[test]
    fn a_server_answers_each_kind_of_offer() {
        let small = with(Direction::window_bits(10), Direction::window_bits(9));
        let table = [
            ("permessage-deflate", "; client_no_context_takeover; server_max_window_bits=10"),
            (
                "permessage-deflate; client_max_window_bits",
                "; server_max_window_bits=10; client_max_window_bits=9",
            ),
            (
                "x, Permessage-Deflate;client_max_window_bits=\"8\" ; SERVER_max_window_bits = 12",
                "; server_max_window_bits=10; client_max_window_bits=8",
            ),
            (
                "permessage-deflate; server_max_window_bits=8; server_no_context_takeover; client_max_window_bits=15",
                "; server_no_context_takeover; server_max_window_bits=8; client_max_window_bits=9",
            ),
            (
                "permessage-deflate; unknown, permessage-deflate; client_max_window_bits; client_no_context_takeover",
                "; client_no_context_takeover; server_max_window_bits=10; client_max_window_bits=9",
            ),
        ];
        for (offered, answered) in table {
            let (agreement, header) = answer(&small, offered).expect(offered);
            assert_eq!(header, format!("{NAME}{answered}"), "{offered}");
            assert!(agreement.client.window_bits <= 9 || !agreement.client.takeover, "{offered}");
        }
        let (agreement, header) = answer(&Options::default(), NAME).expect("an answer");
        assert_eq!(
            (header.as_str(), agreement.client, agreement.server),
            (NAME, Direction::default(), Direction::default())
        );
    }

    #[test]
    fn offers_that_cannot_be_accepted_are_declined() {
        for offered in [
            "",
            ",",
            "permessage-bzip2",
            "permessage-deflate; server_max_window_bits",
            "permessage-deflate; server_max_window_bits=7",
            "permessage-deflate; server_max_window_bits=16",
            "permessage-deflate; server_max_window_bits=08",
            "permessage-deflate; server_max_window_bits=+9",
            "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
            "permessage-deflate; client_no_context_takeover=1",
            "permessage-deflate; client_max_window_bits=\"10",
            "x; y=\", permessage-deflate\"",
        ] {
            assert_eq!(answer(&Options::default(), offered), None, "{offered}");
        }
    }

    #[test]
    fn a_client_agrees_to_what_a_server_answers() {
        for (bits, takeover) in (8..=15).flat_map(|bits| [(bits, true), (bits, false)]) {
            for server_bits in 8..=15 {
                let client = with(
                    Direction { window_bits: bits, takeover },
                    Direction { window_bits: bits, takeover },
                );
                let server = with(Direction::window_bits(server_bits), Direction::window_bits(server_bits));
                let (there, header) = answer(&server, &offer(&client)).expect("an answer");
                assert_eq!(agree(&client, &header), Ok(Some(there)), "{header}");
                assert_eq!(there.server.window_bits, bits.min(server_bits.max(bits.min(9))));
            }
        }
    }

    #[test]
    fn window_bits_out_of_range_count_as_the_nearest() {
        for (bits, nearest) in [(0, 8), (7, 8), (16, 15), (u8::MAX, 15)] {
            let (odd, even) = (Options::window_bits(bits), Options::window_bits(nearest));
            assert_eq!(offer(&odd), offer(&even), "{bits}");
            for offered in [NAME, "permessage-deflate; client_max_window_bits"] {
                let (there, header) = answer(&odd, offered).expect("an answer");
                assert_eq!(Some((there, header.clone())), answer(&even, offered), "{bits}");
                assert_eq!(agree(&odd, &header), agree(&even, &header), "{bits}");
            }
        }
    }

    #[test]
    fn a_client_refuses_what_it_did_not_offer() {
        let small = with(Direction::default(), Direction::window_bits(9));
        assert_eq!(agree(&small, ""), Ok(None));
        assert_eq!(agree(&small, "permessage-other"), Ok(None));
        assert!(agree(&small, "permessage-deflate; server_no_context_takeover").is_ok());
        for answered in [
            "permessage-deflate",
            "permessage-deflate; server_max_window_bits=10",
            "permessage-deflate; server_max_window_bits=9; client_max_window_bits",
            "permessage-deflate; server_max_window_bits=9, permessage-deflate; server_max_window_bits=9",
            "permessage-deflate; nonsense",
        ] {
            assert_eq!(agree(&small, answered).map_err(|e| e.kind), Err(Kind::Corrupt), "{answered}");
        }
    }
}
