//! `--dtype` and `--shape`: type and shape of an array of raw samples.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use linerate_core::Kind;
use linerate_rice::file::{ArrayReader, Input, PartialShape};
use linerate_rice::v2::{ElementType, Shape};

use crate::ui::error::{CliError, engine_error};

/// Type and shape of an array of raw samples.
#[derive(clap::Args, Debug, Default)]
pub(super) struct ArrayArgs {
    /// Read raw little-endian samples of this type
    #[arg(long, value_name = "TYPE", value_parser = element_type())]
    pub(super) dtype: Option<ElementType>,

    /// Shape of the raw samples; the first axis may be -1. Default: one axis
    #[arg(
        long,
        value_name = "ROWS,SAMPLES",
        value_parser = partial_shape,
        allow_hyphen_values = true,
        requires = "dtype"
    )]
    pub(super) shape: Option<PartialShape>,
}

impl ArrayArgs {
    /// Whether the input is to be read as a WAV file: it is one, and `--dtype` is not given.
    pub(super) fn is_wav(&self, input: &mut Input) -> Result<bool, CliError> {
        Ok(self.dtype.is_none() && input.is_wav().map_err(engine_error)?)
    }

    /// Opens an `.npy` file, or raw samples if their type was given. Refuses a WAV file, since only
    /// arrays are compared with v1 chunks or made into them; `encode` handles WAV files for v2.
    pub(super) fn open(&self, mut input: Input) -> Result<ArrayReader, CliError> {
        if self.is_wav(&mut input)? {
            let what = "it is a WAV file, which a v1 chunk cannot hold; --dtype reads it as raw samples";
            return Err(CliError::Refused(what.into()));
        }
        let wrong = |message| Err(CliError::data(Kind::Corrupt, 0, message));
        match (self.dtype, input.is_npy().map_err(engine_error)?) {
            (Some(_), true) => wrong("it is an .npy file, which states its type; leave out --dtype"),
            (None, false) => wrong("it is no .npy or WAV file; raw samples need --dtype"),
            (None, true) => ArrayReader::npy(input).map_err(engine_error),
            (Some(element), false) => {
                let shape = self.shape.unwrap_or_else(PartialShape::any_length);
                ArrayReader::raw(input, element, shape).map_err(engine_error)
            }
        }
    }
}

/// The types of samples, and NumPy's names for each, which are accepted, too.
const ELEMENT_TYPES: [(ElementType, [&str; 2]); 4] = [
    (ElementType::I16, ["int16", "<i2"]),
    (ElementType::U16, ["uint16", "<u2"]),
    (ElementType::I32, ["int32", "<i4"]),
    (ElementType::U32, ["uint32", "<u4"]),
];

/// Parses a type of samples.
pub(super) fn element_type() -> impl TypedValueParser<Value = ElementType> {
    let names = ELEMENT_TYPES.map(|(element, aliases)| PossibleValue::new(element.name()).aliases(aliases));
    PossibleValuesParser::new(names).try_map(|text| {
        let is_named = |(element, aliases): &(ElementType, [&str; 2])| {
            element.name() == text || aliases.contains(&&*text)
        };
        ELEMENT_TYPES
            .iter()
            .find(|row| is_named(row))
            .map(|row| row.0)
            .ok_or("not a type of samples; give i16, u16, i32 or u32")
    })
}

/// Parses a shape: the length of each axis, such as `2000,7000`. The first may be -1, which means
/// as many rows as there are.
pub(super) fn partial_shape(text: &str) -> Result<PartialShape, String> {
    let mut parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 1 && parts.last() == Some(&"") {
        parts.pop();
    }
    let is_open = parts[0] == "-1";
    let axes: Result<Vec<u64>, _> = parts[usize::from(is_open)..].iter().map(|part| part.parse()).collect();
    let axes = axes.map_err(|_| "not a shape; give numbers such as 2000,7000 or -1,7000".to_owned())?;
    let shape = match is_open {
        true => PartialShape::open(&axes),
        false => Shape::new(&axes).and_then(PartialShape::complete),
    };
    shape.map_err(|e| e.message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_is_parsed_with_its_open_axis() {
        let shape =
            |text: &str, n| partial_shape(text).unwrap().for_samples(n).map(|shape| shape.axes().to_vec());
        assert_eq!(shape("12", 12), Some(vec![12]));
        assert_eq!(shape("3,4", 12), Some(vec![3, 4]));
        assert_eq!(shape("3,4", 13), None);
        assert_eq!(shape("-1,4", 12), Some(vec![3, 4]));
        assert_eq!(shape("-1,5", 12), None);
        assert_eq!(shape("2, 3, 2,", 12), Some(vec![2, 3, 2]));
        assert_eq!(shape("0,7", 0), Some(vec![0, 7]));
        assert_eq!(partial_shape("-1,4").unwrap().to_string(), "-1,4");
    }

    #[test]
    fn other_text_is_no_shape() {
        for bad in ["", ",", "-1,0", "3,-1", "x", "4294967296,4294967296", "-2"] {
            assert!(partial_shape(bad).is_err(), "{bad}");
        }
    }
}
