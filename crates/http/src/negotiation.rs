//! Reads `Accept-Encoding`: which content coding a client prefers (RFC 9110, section 12.5.3).

use http::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use linerate_deflate::Format;

/// A content coding (RFC 9110, section 8.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// `gzip`, also known as `x-gzip`.
    Gzip,
    /// `deflate`, which is the zlib format.
    Deflate,
}

impl Coding {
    /// The value of `Content-Encoding`.
    pub const fn header_value(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
        })
    }

    pub(crate) const fn format(self) -> Format {
        match self {
            Coding::Gzip => Format::Gzip,
            Coding::Deflate => Format::Zlib,
        }
    }
}

/// Weights in thousandths, the highest if a coding is named twice; `None` for codings that the
/// client does not name.
#[derive(Default)]
struct Weights {
    gzip: Option<u16>,
    deflate: Option<u16>,
    identity: Option<u16>,
    /// The weight of `*`, which stands for codings that the client does not name.
    any: Option<u16>,
}

impl Weights {
    fn read(headers: &HeaderMap) -> Weights {
        let mut weights = Weights::default();
        let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        for (name, weight) in values.flat_map(|value| value.split(',')).filter_map(member) {
            let slot = match () {
                () if name.eq_ignore_ascii_case("gzip") => &mut weights.gzip,
                () if name.eq_ignore_ascii_case("x-gzip") => &mut weights.gzip,
                () if name.eq_ignore_ascii_case("deflate") => &mut weights.deflate,
                () if name.eq_ignore_ascii_case("identity") => &mut weights.identity,
                () if name == "*" => &mut weights.any,
                () => continue,
            };
            *slot = (*slot).max(Some(weight));
        }
        weights
    }
}

/// Parses a member of the list: a coding and its weight. Returns `None` if it is malformed.
fn member(text: &str) -> Option<(&str, u16)> {
    let Some((name, parameter)) = text.split_once(';') else { return Some((text.trim(), 1000)) };
    let (key, value) = parameter.split_once('=')?;
    key.trim().eq_ignore_ascii_case("q").then_some(())?;
    Some((name.trim(), thousandths(value.trim())?))
}

/// Parses a weight (RFC 9110, section 12.4.2): 0 to 1, with at most three decimals.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if !matches!(whole, "0" | "1") || decimals.len() > 3 || !decimals.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let value = format!("{whole}{decimals:0<3}").parse().ok()?;
    (value <= 1000).then_some(value)
}

/// Returns the coding to use for a request with these `headers`: gzip or deflate, whichever has the
/// higher weight, or gzip if they are equal. Returns `None` if neither is acceptable, if `identity`
/// is named with a higher weight, or if there is no `Accept-Encoding`.
///
/// ```
/// use http::{HeaderMap, header::ACCEPT_ENCODING};
/// use linerate_http::{Coding, negotiate};
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(negotiate(&headers), None);
/// headers.insert(ACCEPT_ENCODING, "br, gzip;q=0.8, *;q=0.1".parse()?);
/// assert_eq!(negotiate(&headers), Some(Coding::Gzip));
/// # Ok::<(), http::header::InvalidHeaderValue>(())
/// ```
pub fn negotiate(headers: &HeaderMap) -> Option<Coding> {
    let weights = Weights::read(headers);
    let weight = |named: Option<u16>| named.or(weights.any).unwrap_or(0);
    let (gzip, deflate) = (weight(weights.gzip), weight(weights.deflate));
    let coding = if gzip >= deflate { Coding::Gzip } else { Coding::Deflate };
    let best = gzip.max(deflate);
    (best > 0 && best >= weights.identity.unwrap_or(0)).then_some(coding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Option<Coding> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers
                .append(ACCEPT_ENCODING, HeaderValue::from_bytes(value.as_bytes()).expect("a field value"));
        }
        negotiate(&headers)
    }

    #[test]
    fn coding_of_highest_weight_is_chosen_and_gzip_among_equals() {
        for (value, coding) in [
            ("gzip", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("GZip", Coding::Gzip),
            ("deflate", Coding::Deflate),
            ("deflate, gzip", Coding::Gzip),
            ("gzip, deflate, br, zstd", Coding::Gzip),
            ("gzip;q=0.5, deflate;q=0.6", Coding::Deflate),
            ("gzip;q=0.123,deflate;q=0.122", Coding::Gzip),
            ("gzip ; q=1.000 , deflate", Coding::Gzip),
            ("gzip;Q=0.001", Coding::Gzip),
            ("*", Coding::Gzip),
            ("*, gzip;q=0", Coding::Deflate),
            ("gzip;q=0.2, *;q=0.3", Coding::Deflate),
            ("gzip;q=0, deflate, *;q=0", Coding::Deflate),
            ("identity, gzip", Coding::Gzip),
            ("identity;q=0.5, gzip;q=0.5", Coding::Gzip),
            (",, gzip,", Coding::Gzip),
        ] {
            assert_eq!(of(&[value]), Some(coding), "{value}");
        }
    }

    #[test]
    fn no_coding_without_a_positive_weight() {
        for value in [
            "",
            "br",
            "gzip;q=0",
            "gzip;q=0.000, deflate;q=0.0",
            "*;q=0",
            "identity",
            "identity;q=0, br",
            "br;q=1, *;q=0",
        ] {
            assert_eq!(of(&[value]), None, "{value}");
        }
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn identity_of_higher_weight_is_preferred() {
        assert_eq!(of(&["gzip;q=0.5, identity"]), None);
        assert_eq!(of(&["gzip;q=0.5, identity;q=0.501"]), None);
        assert_eq!(of(&["*;q=0.5, identity;q=0.4"]), Some(Coding::Gzip));
    }

    #[test]
    fn several_fields_are_one_list() {
        assert_eq!(of(&["br", "gzip;q=0.1", "deflate;q=0.2"]), Some(Coding::Deflate));
    }

    #[test]
    fn malformed_members_are_ignored() {
        for weight in ["2", "1.001", "0.1234", "-1", "", "0,5", "0.x", "00", ".5", "1e0", "+1"] {
            assert_eq!(of(&[&format!("gzip;q={weight}")]), None, "{weight}");
        }
        assert_eq!(of(&["gzip;q=2, deflate;q=0.1"]), Some(Coding::Deflate));
        assert_eq!(of(&["gzip;level=1, deflate"]), Some(Coding::Deflate));
        assert_eq!(of(&["gzip;q, gzip;", "deflate"]), Some(Coding::Deflate));
        assert_eq!(of(&["\u{e9}, gzip", "deflate"]), Some(Coding::Deflate), "a field that is not ASCII");
    }
}
