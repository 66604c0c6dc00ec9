//! Sets of texture filters, parsed from names.

use crate::filter::{Filter, TextureFormat};

/// A set of texture filters to try on blocks.
///
/// ```
/// use linerate_nx::filter::TextureFormat;
/// use linerate_nx::pack::Filters;
///
/// let some = Filters::parse("bc1,bc3")?;
/// assert!(TextureFormat::Bc1.filters().iter().all(|&filter| some.contains(filter)));
/// assert!(!some.contains(TextureFormat::Bc7.filters()[0]));
/// assert_eq!(Filters::parse("none")?, Filters::NONE);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filters(
    /// One bit for each filter, at its position in [`Filter::ALL`]; and the bit [`FAST`].
    u64,
);

/// The bit of a set that chooses filters by size and decoding time, instead of size alone.
const FAST: u64 = 1 << 63;

const _: () = assert!(Filter::ALL.len() < u64::BITS as usize);

impl Filters {
    /// No filters. Every reader of Nx reads the archives, unless files of a filtered archive were
    /// added.
    pub const NONE: Filters = Filters(0);

    /// Returns all filters that packing writes. Gives the smallest archives.
    pub fn all() -> Filters {
        written().fold(Filters::NONE, Filters::with)
    }

    /// Returns all filters that packing writes, chosen by size and by estimated decoding time. A
    /// block stays unfiltered if filters would make its decoding more than 1/3 slower. The estimate
    /// depends on the compressed data alone, so that archives do not depend on the CPU.
    pub fn fast() -> Filters {
        Filters(Filters::all().0 | FAST)
    }

    /// Whether decoding time counts, not size alone.
    pub(super) fn is_fast(self) -> bool {
        self.0 & FAST != 0
    }

    /// Adds a filter to the set.
    #[must_use]
    pub fn with(self, filter: Filter) -> Filters {
        let at = Filter::ALL.iter().position(|other| *other == filter);
        Filters(self.0 | at.map_or(0, |at| 1 << at))
    }

    /// Whether the filter is in the set.
    pub fn contains(self, filter: Filter) -> bool {
        self.with(filter) == self
    }

    /// Whether there is no filter in the set.
    pub fn is_empty(self) -> bool {
        self == Filters::NONE
    }

    /// Parses `none`, `all`, `fast`, or names of formats and filters, separated by commas.
    ///
    /// # Errors
    /// Returns a message that lists all valid names, if a name is unknown or its filter is no
    /// longer written.
    pub fn parse(list: &str) -> Result<Filters, String> {
        match list {
            "none" => return Ok(Filters::NONE),
            "all" => return Ok(Filters::all()),
            "fast" => return Ok(Filters::fast()),
            _ => {}
        }
        list.split(',').try_fold(Filters::NONE, |set, name| {
            match (TextureFormat::from_name(name), Filter::from_name(name)) {
                (Some(format), _) if !format.filters().is_empty() => {
                    Ok(format.filters().iter().copied().fold(set, Filters::with))
                }
                (None, Some(filter)) if written().any(|written| written == filter) => Ok(set.with(filter)),
                _ => Err(format!("`{name}` is no texture format or filter to write; {}", names())),
            }
        })
    }
}

/// Returns the filters that packing may use.
fn written() -> impl Iterator<Item = Filter> {
    TextureFormat::ALL.iter().flat_map(|format| format.filters()).copied()
}

/// Returns the names of all formats and filters that packing may use.
fn names() -> String {
    let formats = TextureFormat::ALL.iter().filter(|format| !format.filters().is_empty());
    let formats: Vec<&str> = formats.map(|format| format.name()).collect();
    let filters: Vec<&str> = written().map(Filter::name).collect();
    format!("formats are {}, filters {}", formats.join(", "), filters.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_their_names_say() {
        assert!(Filters::parse("none").unwrap().is_empty());
        assert_eq!(Filters::parse("all"), Ok(Filters::all()));
        assert_eq!(Filters::parse("fast"), Ok(Filters::fast()));
        assert!(!Filters::fast().is_empty() && Filters::fast() != Filters::all());
        for filter in written() {
            assert!(Filters::all().contains(filter) && !Filters::NONE.contains(filter));
            assert_eq!(Filters::parse(filter.name()), Ok(Filters::NONE.with(filter)));
        }
        assert_eq!(Filters::parse("bc1,bc3,bc4,bc5,bc6h,bc7"), Ok(Filters::all()));
    }

    #[test]
    fn unknown_name_is_an_error_with_the_known_ones() {
        for bad in ["", "bc9", "bc1,", "bc1 ,bc3", "none,bc1", "bc2", "bc1,bc2-ycocg"] {
            let error = Filters::parse(bad).unwrap_err();
            assert!(error.contains("bc1") && error.contains(Filter::ALL[0].name()), "{error}");
        }
    }
}
