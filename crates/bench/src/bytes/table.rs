//! The table of contenders of the shape "bytes".

use linerate_deflate::{Format, Level};

use super::encoder::Encoder;
#[cfg(feature = "libdeflate")]
use super::encoders::Libdeflate;
use super::encoders::{Memcpy, Ours, ZlibRs};
use crate::harness::message;
use crate::kernel::lzo::Lzo;

/// A contender ready to run.
pub type Loaded = Box<dyn Encoder>;

/// Creates a contender, or returns the reason why it is not available.
type Make = Box<dyn Fn() -> Result<Loaded, String>>;

/// Strategies of zlib's encoder that are measured, with their codes in its interface.
#[derive(Clone, Copy)]
pub(crate) enum Strategy {
    /// Matches, coded with fixed or dynamic trees, whichever are smaller.
    Default = 0,
    /// No matches.
    HuffmanOnly = 2,
    /// Only matches at distance 1, which repeat one byte.
    Runs = 3,
    /// Matches, coded with fixed trees.
    Fixed = 4,
}

/// A row of the table: name, output format, constructor.
pub struct Entry {
    /// Library and level, as reports show it.
    pub name: String,
    /// `deflate`, `gzip`, `lz4`, `lzo` or `none`.
    pub format: &'static str,
    /// Creates the contender.
    ///
    /// # Errors
    /// The reason why the contender is not available.
    pub make: Make,
}

impl Entry {
    /// Name and format. Filters search this text.
    pub fn label(&self) -> String {
        format!("{} {}", self.name, self.format)
    }
}

fn row(
    name: impl Into<String>,
    format: &'static str,
    make: impl Fn() -> Result<Loaded, String> + 'static,
) -> Entry {
    Entry { name: name.into(), format, make: Box::new(make) }
}

fn ours(format: Format, label: &'static str, level: u8) -> Entry {
    let make = move || {
        let level = Level::from_number(level).map_err(message)?;
        Ok(Box::new(Ours::new(format, level)) as Loaded)
    };
    row(format!("linerate {level}"), label, make)
}

fn zlib_rs(level: i32) -> Result<Loaded, String> {
    Ok(Box::new(ZlibRs::new(level)))
}

/// Defines a constructor of an optional peer. In builds without the feature of the peer, it returns
/// an error that names the feature.
macro_rules! optional {
    ($feature:literal, $name:ident($($arg:ident: $type:ty),*), $make:expr) => {
        #[cfg(feature = $feature)]
        fn $name($($arg: $type),*) -> Result<Loaded, String> {
            Ok(Box::new($make))
        }
        #[cfg(not(feature = $feature))]
        fn $name($(_: $type),*) -> Result<Loaded, String> {
            Err(concat!("built without the feature `", $feature, "`").into())
        }
    };
}

optional!("isal", isal(level: u32, fixed: bool), crate::kernel::isal::Isal::new(level, fixed)?);
optional!("libdeflate", libdeflate(level: i32), Libdeflate::new(level)?);
optional!("libslz", slz(format: Format, library: usize), crate::kernel::slz::Slz::load(format, library)?);
optional!("lz4", lz4(), crate::kernel::lz4::Lz4::new());
optional!("zlib", zlib(level: i32, strategy: Strategy), crate::kernel::zlib::Zlib::new(level, strategy)?);
optional!("zlib-ng", zlib_ng(level: i32), crate::kernel::zlib::ZlibNg::new(level, Strategy::Default)?);

/// Rows of libslz: one for each format and each library that `LINERATE_LIBSLZ` names, or else for
/// the machine's own.
fn libslz() -> Vec<Entry> {
    #[cfg(feature = "libslz")]
    let names = crate::kernel::slz::names();
    #[cfg(not(feature = "libslz"))]
    let names = ["libslz".to_owned()];
    let rows = |(i, name): (usize, String)| {
        [(Format::Deflate, "deflate"), (Format::Gzip, "gzip")]
            .map(|(format, label)| row(name.clone(), label, move || slz(format, i)))
    };
    names.into_iter().enumerate().flat_map(rows).collect()
}

/// Every contender of the shape "bytes", in the order of reports.
pub fn table() -> Vec<Entry> {
    use Format::{Deflate, Gzip};
    let ours = (0..=9)
        .map(|level| ours(Deflate, "deflate", level))
        .chain((0..=3).map(|level| ours(Gzip, "gzip", level)));
    let others = [
        row("ISA-L 0 fixed", "deflate", || isal(0, true)),
        row("ISA-L 0", "deflate", || isal(0, false)),
        row("ISA-L 1", "deflate", || isal(1, false)),
        row("ISA-L 2", "deflate", || isal(2, false)),
        row("ISA-L 3", "deflate", || isal(3, false)),
        row("libdeflate 1", "deflate", || libdeflate(1)),
        row("libdeflate 3", "deflate", || libdeflate(3)),
        row("libdeflate 6", "deflate", || libdeflate(6)),
        row("libdeflate 8", "deflate", || libdeflate(8)),
        row("libdeflate 9", "deflate", || libdeflate(9)),
        row("libdeflate 10", "deflate", || libdeflate(10)),
        row("libdeflate 12", "deflate", || libdeflate(12)),
        row("zlib-ng 1", "deflate", || zlib_ng(1)),
        row("zlib-ng 2", "deflate", || zlib_ng(2)),
        row("zlib-ng 6", "deflate", || zlib_ng(6)),
        row("zlib-ng 9", "deflate", || zlib_ng(9)),
        row("zlib-rs 1", "deflate", || zlib_rs(1)),
        row("zlib-rs 2", "deflate", || zlib_rs(2)),
        row("zlib-rs 6", "deflate", || zlib_rs(6)),
        row("zlib-rs 9", "deflate", || zlib_rs(9)),
        row("zlib 1", "deflate", || zlib(1, Strategy::Default)),
        row("zlib 6", "deflate", || zlib(6, Strategy::Default)),
        row("zlib 9", "deflate", || zlib(9, Strategy::Default)),
        row("zlib 1 Huffman only", "deflate", || zlib(1, Strategy::HuffmanOnly)),
        row("zlib 1 runs", "deflate", || zlib(1, Strategy::Runs)),
        row("zlib 1 fixed", "deflate", || zlib(1, Strategy::Fixed)),
        row("lz4", "lz4", lz4),
        row("lzo", "lzo", || Ok(Box::new(Lzo::load()?))),
        row("memcpy", "none", || Ok(Box::new(Memcpy))),
    ];
    ours.chain(libslz()).chain(others).collect()
}
