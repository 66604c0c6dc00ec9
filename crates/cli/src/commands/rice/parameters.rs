//! Formats parameters for people and for other programs.

use linerate_rice::{Filter, Params};
use serde_json::{Value, json};

/// The values of HDF5's filter message: m, segment and, unless it is the default 1,-1, the filter.
/// The segment is always included: without it, HDF5 filters may choose one by the length of a row.
pub(super) fn cd_values(params: &Params) -> Vec<u32> {
    let (n, values) = params.cd_values();
    let needed = if params.filter() == &Filter::DELTA { 2 } else { n };
    values[..needed].to_vec()
}

/// The parameters as the value of `--cd-values`: negative numbers have a sign.
pub(super) fn signed(params: &Params) -> String {
    list(cd_values(params).into_iter().map(|v| v as i32))
}

/// The parameters as the value of h5repack's option -f: negative numbers appear as unsigned ones.
pub(super) fn h5repack(params: &Params) -> String {
    let values = cd_values(params);
    format!("UD=32025,0,{},{}", values.len(), list(values))
}

/// The coefficients of a filter, with commas between them.
pub(super) fn taps(filter: &Filter) -> String {
    list(filter.taps())
}

fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|v| v.to_string()).collect::<Vec<_>>().join(",")
}

/// The JSON object of parameters: each by its name, and the cd_values.
pub(super) fn record(params: &Params) -> Value {
    json!({
        "m": params.m(),
        "segment": params.segment(),
        "filter": params.filter().taps(),
        "cd_values": cd_values(params),
    })
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn the_usual_filter_is_left_out() {
        let params = Params::new(32, None).unwrap();
        assert_eq!(signed(&params), "32,-1");
        assert_eq!(h5repack(&params), "UD=32025,0,2,32,4294967295");
        let rows = Params::new(32, NonZeroU32::new(7000)).unwrap();
        assert_eq!(signed(&rows), "32,7000");
        let other = params.with_filter(Filter::new(&[1, -2, 1]).unwrap());
        assert_eq!(signed(&other), "32,-1,3,1,-2,1");
        assert_eq!(h5repack(&other), "UD=32025,0,6,32,4294967295,3,1,4294967294,1");
        for params in [params, rows, other] {
            assert_eq!(Params::from_cd_values(&cd_values(&params)), Ok(params));
        }
    }
}
