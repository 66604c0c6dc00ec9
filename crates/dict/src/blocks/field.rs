//! [`Field`]: finds the key of a record that is a line of JSON, as the value of one of its fields.
//!
//! Only that value is built. The rest of the line is checked and skipped, at three times the speed
//! of building it.

use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A field of JSON objects.
///
/// ```
/// # use linerate_dict::blocks::Field;
/// let mut key = Vec::new();
/// Field::new("id").key(br#"{"id": 17, "name": "lamp"}"#, &mut key)?;
/// Field::new("/user/name").key(br#"{"user": {"name": "ada"}}"#, &mut key)?;
/// assert_eq!(key, b"17ada");
/// # Ok::<(), linerate_dict::blocks::FieldError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Field {
    /// The name as it was given, for messages.
    name: String,
    /// Names of members, or numbers of elements, from the outside in.
    path: Vec<String>,
}

/// Reason that a line has no key in a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldError {
    /// The line is not JSON, or not UTF-8.
    NotJson,
    /// The line has no field of this name.
    Missing(String),
    /// The field of this name is neither text nor a whole number of at most 64 bits. Other numbers
    /// are rounded to `f64`, so that different keys could become equal.
    NotAKey(String),
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldError::NotJson => f.write_str("the line is not JSON"),
            FieldError::Missing(name) => write!(f, "the line has no field `{name}`"),
            FieldError::NotAKey(name) => write!(f, "the field `{name}` is neither text nor a whole number"),
        }
    }
}

impl std::error::Error for FieldError {}

impl Field {
    /// Makes a field from the name of a member of the outermost object, or from a JSON Pointer (RFC
    /// 6901), which begins with `/`.
    pub fn new(name: &str) -> Field {
        let part = |part: &str| part.replace("~1", "/").replace("~0", "~");
        let path = match name.strip_prefix('/') {
            Some(pointer) => pointer.split('/').map(part).collect(),
            None => vec![name.to_owned()],
        };
        Field { name: name.to_owned(), path }
    }

    /// Appends the text of the field, or the digits of its number with a minus sign if it is
    /// negative, to `key`. If several members have the same name, the last counts.
    ///
    /// # Errors
    /// Returns a [`FieldError`], and leaves `key` as it was.
    pub fn key(&self, line: &[u8], key: &mut Vec<u8>) -> Result<(), FieldError> {
        let text = std::str::from_utf8(line).map_err(|_| FieldError::NotJson)?;
        let mut json = serde_json::Deserializer::from_str(text);
        let found = Seek(&self.path).deserialize(&mut json).and_then(|found| json.end().map(|()| found));
        match found.map_err(|_| FieldError::NotJson)? {
            Found::Key(text) => key.extend_from_slice(&text),
            Found::Other => return Err(FieldError::NotAKey(self.name.clone())),
            Found::Nothing => return Err(FieldError::Missing(self.name.clone())),
        }
        Ok(())
    }
}

/// The value at the end of a path.
enum Found {
    /// Text, or the digits of a whole number, with its sign.
    Key(Vec<u8>),
    /// Another kind of value.
    Other,
    /// No value.
    Nothing,
}

/// Visits a value on the path. It holds the rest of the path.
struct Seek<'p>(&'p [String]);

impl Seek<'_> {
    /// Returns `value` at the end of the path, and [`Found::Nothing`] before its end.
    fn scalar(&self, value: Found) -> Found {
        if self.0.is_empty() { value } else { Found::Nothing }
    }
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Found, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<Found, E> {
        Ok(self.scalar(Found::Key(text.as_bytes().to_vec())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Found, E> {
        Ok(self.scalar(Found::Key(number.to_string().into_bytes())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Found, E> {
        Ok(self.scalar(Found::Key(number.to_string().into_bytes())))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Found, E> {
        Ok(self.scalar(Found::Other))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Found, E> {
        Ok(self.scalar(Found::Other))
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(self.scalar(Found::Other))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let Some((name, rest)) = self.0.split_first() else {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Found::Other);
        };
        let mut found = Found::Nothing;
        while let Some(is_on_path) = map.next_key_seed(Name(name))? {
            match is_on_path {
                true => found = map.next_value_seed(Seek(rest))?,
                false => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Found, A::Error> {
        let (wanted, rest) = match self.0.split_first() {
            Some((number, rest)) => (index(number), rest),
            None => (None, self.0),
        };
        let mut found = self.scalar(Found::Other);
        for at in 0.. {
            let more = match wanted == Some(at) {
                true => elements.next_element_seed(Seek(rest))?.map(|value| found = value),
                false => elements.next_element::<IgnoredAny>()?.map(|_| ()),
            };
            if more.is_none() {
                break;
            }
        }
        Ok(found)
    }
}

/// Parses the number of an element as RFC 6901 writes it: without a sign and leading zeros.
fn index(number: &str) -> Option<usize> {
    let is_plain = number == "0" || !number.starts_with(['0', '+']);
    number.parse().ok().filter(|_| is_plain)
}

/// Compares a member's name with the name in this struct, without making a `String` of either.
struct Name<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<bool, D::Error> {
        name.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: serde_core::de::Error>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(line: &str, field: &str) -> Result<String, FieldError> {
        let mut key = Vec::new();
        Field::new(field).key(line.as_bytes(), &mut key).map(|()| String::from_utf8(key).expect("text"))
    }

    /// Finds the key by building the whole value.
    fn key_of_value(line: &str, field: &str) -> Result<String, FieldError> {
        let row: serde_json::Value = serde_json::from_str(line).map_err(|_| FieldError::NotJson)?;
        let found = if field.starts_with('/') { row.pointer(field) } else { row.get(field) };
        match found {
            Some(serde_json::Value::String(text)) => Ok(text.clone()),
            Some(serde_json::Value::Number(number)) if !number.is_f64() => Ok(number.to_string()),
            Some(_) => Err(FieldError::NotAKey(field.into())),
            None => Err(FieldError::Missing(field.into())),
        }
    }

    #[test]
    fn field_is_found_as_in_the_whole_value() {
        let lines = [
            r#"{"id": 1, "a": {"b": [10, {"c": "deep"}]}, "a/b": "slash", "m~n": "tilde"}"#,
            r#"{"id": "text \"quoted\" \u00e9", "a": [1, 2]}"#,
            r#"{"id": -5, "id": 18446744073709551615}"#,
            r#"{"id": 1.5, "a": null}"#,
            r#"{"id": true, "a": {}}"#,
            r#"{"\u0069d": "escaped name"}"#,
            r#"{"id": 123456789012345678901234567890}"#,
            r#"[["x", 7], {"id": 3}]"#,
            r#""id""#,
            "17",
            "{}",
            "",
            r#"{"id": 1"#,
            r#"{"id": 1} x"#,
            r#"{"id": }"#,
            r#"{"id": 1, "a": [1, 2}"#,
        ];
        let fields = [
            "id", "a", "/id", "/a/b/0", "/a/b/1/c", "/a/b/01", "/a/b/+1", "/a/b/2", "/a~1b", "/m~0n", "a/b",
            "/0/1", "/1/id", "/", "",
        ];
        for (line, field) in lines.iter().flat_map(|line| fields.map(|field| (*line, field))) {
            assert_eq!(key(line, field), key_of_value(line, field), "{line} {field}");
        }
    }

    #[test]
    fn line_that_is_not_utf8_is_not_json_and_leaves_the_key() {
        let mut bytes = b"before".to_vec();
        let line = b"{\"id\": 1, \"a\": \"\xff\"}";
        assert_eq!(Field::new("id").key(line, &mut bytes), Err(FieldError::NotJson));
        assert_eq!(bytes, b"before");
    }
}
