//! Figures that were published before this engine was written, to stand beside today's.
//!
//! They were measured in 2026-11 with libzstd 1.5.7 on a Zen 5 with two cores and 32 MiB of L3 cache.
//! Their dictionaries were copies of one in memory of their own. The data are dickens of the Silesia
//! corpus and 10.5 MB of generated log rows. What is called ahead is a prototype in C that asks for the
//! next dictionary while it decodes a block.

use super::case::Case;
use super::data::Kind;

/// Where the figures come from, in few words.
pub const SOURCE: &str = "measurement published in 2026-11, Zen 5, 2 cores, libzstd 1.5.7";

/// A row: the hot speed of libzstd in MB/s, and percent of it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names are those of the modes that are measured")]
pub struct Published {
    pub kind: Kind,
    pub block: usize,
    pub dictionary: usize,
    pub count: usize,
    pub hot: f64,
    pub none: Option<f64>,
    pub cold: f64,
    pub burst: Option<f64>,
    pub copy: Option<f64>,
    pub raw: Option<f64>,
    pub sorted: Option<f64>,
    pub ahead: Option<f64>,
    pub sorted_ahead: Option<f64>,
}

use Kind::{Json, Text};

const fn row(
    kind: Kind,
    (block, dictionary, count): (usize, usize, usize),
    hot: f64,
    cold: f64,
) -> Published {
    Published {
        kind,
        block: block << 10,
        dictionary: dictionary << 10,
        count,
        hot,
        none: None,
        cold,
        burst: None,
        copy: None,
        raw: None,
        sorted: None,
        ahead: None,
        sorted_ahead: None,
    }
}

/// Dictionaries of 8 KiB, CPU time, best pass.
const fn small(
    kind: Kind,
    (block, count): (usize, usize),
    hot: f64,
    [none, cold, burst, raw, ahead]: [f64; 5],
    (sorted, sorted_ahead): (Option<f64>, Option<f64>),
) -> Published {
    Published {
        none: Some(none),
        burst: Some(burst),
        raw: Some(raw),
        ahead: Some(ahead),
        sorted,
        sorted_ahead,
        ..row(kind, (block, 8, count), hot, cold)
    }
}

/// The same with what was published for tables and content copied to one place.
const fn copied(copy: f64, row: Published) -> Published {
    Published { copy: Some(copy), ..row }
}

/// Blocks of 4 KiB and dictionaries of 110 KiB, CPU time, best pass; the best way to fetch ahead.
const fn large(kind: Kind, count: usize, hot: f64, cold: f64, burst: f64, ahead: f64) -> Published {
    Published { burst: Some(burst), ahead: Some(ahead), ..row(kind, (4, 110, count), hot, cold) }
}

/// What zstd's own largeNbDicts prints for text: MB/s by the wall clock, cold by hot.
const fn tool(block: usize, dictionary: usize, count: usize, cold: f64, hot: f64) -> Published {
    row(Text, (block, dictionary, count), hot, 100.0 * cold / hot)
}

/// All rows, in the order of the default run.
pub const PUBLISHED: [Published; 28] = [
    copied(35.0, small(Json, (1, 2500), 1254.0, [52.0, 8.2, 27.5, 13.0, 35.0], (Some(14.0), Some(27.0)))),
    small(Json, (1, 30_000), 1285.0, [51.0, 8.7, 21.0, 12.0, 34.0], (Some(10.0), Some(19.0))),
    copied(67.0, small(Json, (4, 2500), 1238.0, [90.0, 24.7, 47.0, 31.0, 83.5], (Some(41.0), Some(85.0)))),
    copied(57.0, small(Json, (4, 30_000), 1259.0, [87.0, 25.3, 43.0, 30.0, 73.0], (Some(27.0), Some(59.0)))),
    small(Json, (8, 2500), 1420.0, [97.0, 47.0, 60.0, 44.0, 87.0], (Some(67.0), Some(89.0))),
    small(Json, (8, 30_000), 1293.0, [100.0, 49.0, 67.0, 45.0, 95.5], (Some(56.0), Some(97.0))),
    small(Text, (1, 2500), 653.0, [75.0, 15.0, 42.0, 19.0, 66.0], (Some(23.0), Some(46.0))),
    small(Text, (1, 30_000), 626.0, [75.0, 15.0, 27.0, 15.0, 64.0], (Some(17.0), Some(41.0))),
    copied(80.0, small(Text, (4, 2500), 571.0, [114.0, 48.0, 64.0, 50.0, 91.0], (None, None))),
    small(Text, (4, 30_000), 556.0, [125.0, 54.0, 68.0, 50.0, 92.5], (Some(57.0), Some(89.0))),
    small(Text, (8, 2500), 604.0, [137.0, 72.0, 76.0, 63.0, 94.0], (Some(83.0), Some(97.0))),
    small(Text, (8, 30_000), 602.0, [137.0, 63.0, 74.0, 60.0, 93.0], (Some(69.0), Some(92.0))),
    large(Json, 2500, 1558.0, 19.0, 31.0, 48.0),
    large(Json, 30_000, 1393.0, 22.0, 42.0, 53.0),
    large(Text, 2500, 655.0, 32.0, 45.0, 66.5),
    large(Text, 30_000, 706.0, 31.0, 41.5, 63.5),
    tool(1, 4, 9954, 99.0, 478.0),
    tool(1, 8, 9954, 88.0, 470.0),
    tool(1, 12, 9954, 88.0, 458.0),
    tool(1, 110, 9954, 79.0, 557.0),
    tool(4, 4, 2489, 336.0, 643.0),
    tool(4, 8, 2489, 279.0, 562.0),
    tool(4, 12, 2489, 269.0, 537.0),
    tool(4, 110, 2489, 179.0, 645.0),
    tool(8, 4, 1245, 441.0, 612.0),
    tool(8, 8, 1245, 409.0, 561.0),
    tool(8, 12, 1245, 394.0, 544.0),
    tool(8, 110, 1245, 302.0, 601.0),
];

impl Published {
    /// The row of a case, if there is one.
    pub fn of(kind: Kind, case: &Case) -> Option<&'static Published> {
        let is = |row: &&Published| {
            (row.kind, row.block, row.dictionary, row.count)
                == (kind, case.block, case.dictionary, case.count)
        };
        PUBLISHED.iter().find(is)
    }

    pub(crate) fn case(&self) -> Case {
        Case { block: self.block, dictionary: self.dictionary, count: self.count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_is_there_once_and_found() {
        for row in &PUBLISHED {
            assert_eq!(Published::of(row.kind, &row.case()), Some(row));
            assert!(row.cold < 100.0 && row.hot > 400.0);
        }
        assert_eq!(Published::of(Json, &Case { block: 4096, dictionary: 8192, count: 2501 }), None);
    }
}
