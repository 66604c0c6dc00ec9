//! Sets of texture filters, by their names.

use crate::filter::{Filter, TextureFormat};

/// A set of texture filters that blocks are tried with.
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
    /// One bit for each of [`Filter::ALL`], by its position, and [`FAST`].
    u64,
);

/// The bit that says that decoding time counts.
const FAST: u64 = 1 << 63;

const _: () = assert!(Filter::ALL.len() < u64::BITS as usize);

impl Filters {
    /// No filters: archives that every reader of Nx reads.
    pub const NONE: Filters = Filters(0);

    /// All filters that are written: the smallest archives.
    pub fn all() -> Filters {
        written().fold(Filters::NONE, Filters::with)
    }

    /// All filters, chosen by size and by the estimated time of decoding. A block that would take a third longer to decode than
    /// without filters stays plain. The estimate follows from the compressed data, so that archives depend on no CPU.
    pub fn fast() -> Filters {
        Filters(Filters::all().0 | FAST)
    }

    /// Whether the time of decoding counts, not size alone.
    pub(super) fn is_fast(self) -> bool {
        self.0 & FAST != 0
    }

    /// The set and one filter more.
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

    /// Parses `none`, `all`, `fast`, or a list of formats and filters by their names, separated by commas.
    ///
    /// # Errors
    /// A message with all names, if one is not known or no longer written.
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

/// The filters that packing may use.
fn written() -> impl Iterator<Item = Filter> {
    TextureFormat::ALL.iter().flat_map(|format| format.filters()).copied()
}

/// All names of formats and filters that are written.
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
