//! The parameters of v1 chunks on the command line.

use std::num::NonZeroU32;

use linerate_rice::file::SegmentChoice;
use linerate_rice::{Filter, Params};

/// The parameters of a v1 chunk, which does not contain them.
#[derive(clap::Args, Debug)]
pub(super) struct ChunkArgs {
    /// Read one chunk of HDF5 filter 32025; --cd-values, --m, --segment and --filter imply this
    #[arg(long)]
    v1: bool,

    /// Parameters of the chunk in the order of HDF5: m, segment, number of coefficients,
    /// coefficients. The last ones may be left out
    #[arg(
        long,
        value_name = "M,SEGMENT,..",
        value_parser = cd_values,
        allow_hyphen_values = true,
        conflicts_with_all = ["m", "segment", "filter"]
    )]
    cd_values: Option<Params>,

    /// Rice parameter of the chunk [default: 8]
    #[arg(long, value_name = "M", value_parser = known_rice_parameter)]
    m: Option<u32>,

    /// Samples per segment of the chunk [default: all, which is -1]
    #[arg(long, value_name = "N", value_parser = known_segment, allow_hyphen_values = true)]
    segment: Option<SegmentChoice>,

    /// Coefficients of the filter of the chunk [default: 1,-1]
    #[arg(long, value_name = "C0,C1,..", value_parser = filter, allow_hyphen_values = true)]
    filter: Option<Filter>,
}

impl ChunkArgs {
    /// The parameters of the chunk; `None` if no option says that the input is a v1 chunk.
    pub(super) fn params(&self) -> Option<Params> {
        if let Some(params) = self.cd_values {
            return Some(params);
        }
        if !self.v1 && self.m.is_none() && self.segment.is_none() && self.filter.is_none() {
            return None;
        }
        let segment = match self.segment {
            Some(SegmentChoice::Samples(n)) => Some(n),
            _ => None,
        };
        // The parser accepts only valid values of m.
        let params = Params::new(self.m.unwrap_or(8), segment).unwrap_or_default();
        Some(params.with_filter(self.filter.unwrap_or(Filter::DELTA)))
    }
}

/// Parses a Rice parameter that a chunk may have: also 1, which can be decoded but not encoded.
pub(super) fn known_rice_parameter(text: &str) -> Result<u32, String> {
    let m = text.parse().map_err(|_| "not a number")?;
    Params::new(m, None).map(|params| params.m()).map_err(|e| e.message.to_owned())
}

/// Parses the value of `--segment` for encoding.
pub(super) fn segment(text: &str) -> Result<SegmentChoice, String> {
    match text {
        "auto" => Ok(SegmentChoice::Auto),
        "row" => Ok(SegmentChoice::Row),
        "all" | "-1" => Ok(SegmentChoice::All),
        // HDF5 stores the segment as a signed number.
        _ => match text.parse::<i32>().ok().and_then(|n| NonZeroU32::new(u32::try_from(n).ok()?)) {
            Some(n) => Ok(SegmentChoice::Samples(n)),
            None => Err(format!("not `auto`, `row`, `all` or a number from 1 to {}", i32::MAX)),
        },
    }
}

fn known_segment(text: &str) -> Result<SegmentChoice, String> {
    match segment(text)? {
        SegmentChoice::Auto | SegmentChoice::Row => {
            Err("decoding needs the number of samples, or `all`".into())
        }
        known => Ok(known),
    }
}

/// Parses numbers with commas between them.
fn numbers(text: &str) -> Result<Vec<i64>, String> {
    text.split(',').map(|n| n.trim().parse().map_err(|_| format!("`{}` is not a number", n.trim()))).collect()
}

/// Parses the coefficients of a filter.
pub(super) fn filter(text: &str) -> Result<Filter, String> {
    let taps: Result<Vec<i32>, _> = numbers(text)?.into_iter().map(i32::try_from).collect();
    let taps = taps.map_err(|_| "a coefficient does not fit into 32 bits")?;
    Filter::new(&taps).map_err(|e| e.message.to_owned())
}

/// Refuses a filter that cannot encode without loss.
pub(super) fn check_filter(filter: &Filter) -> Result<(), &'static str> {
    match filter.is_lossless() {
        true => Ok(()),
        false => Err("the first coefficient of --filter must be 1 or -1; others would lose data"),
    }
}

fn cd_values(text: &str) -> Result<Params, String> {
    // Negative numbers may be given with a sign, or as the unsigned numbers that HDF5 shows.
    let word = |n: i64| u32::try_from(n).ok().or(i32::try_from(n).ok().map(|n| n as u32));
    // An empty list is valid, too: all parameters then have their defaults.
    let numbers = if text.is_empty() { Vec::new() } else { numbers(text)? };
    let values: Option<Vec<u32>> = numbers.into_iter().map(word).collect();
    let values = values.ok_or("a value does not fit into 32 bits")?;
    Params::from_cd_values(&values).map_err(|e| e.message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_and_filters_are_parsed() {
        assert_eq!(segment("-1"), Ok(SegmentChoice::All));
        assert_eq!(segment("7000"), Ok(SegmentChoice::Samples(NonZeroU32::new(7000).unwrap())));
        for bad in ["0", "-2", "2147483648", "rows"] {
            assert!(segment(bad).is_err(), "{bad}");
        }
        assert!(known_segment("row").is_err() && known_segment("auto").is_err());
        assert_eq!(filter("1, -2,1").unwrap().taps(), [1, -2, 1]);
        for bad in ["", "0,1", "1,,1", "1,4294967295"] {
            assert!(filter(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn signed_and_unsigned_cd_values_are_the_same() {
        let params = cd_values("8,-1,2,1,-1").unwrap();
        assert_eq!(cd_values("8,4294967295,2,1,4294967295"), Ok(params));
        assert_eq!(cd_values("8"), Ok(params));
        assert_eq!(cd_values(""), Ok(params));
        for bad in ["12", ",", "8,0", "8,5,2,1", "4294967296", "-2147483649"] {
            assert!(cd_values(bad).is_err(), "{bad}");
        }
    }
}
