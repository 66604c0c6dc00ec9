//! The regions of a filtered block: the parts of its content that were filtered before it was
//! compressed.
//!
//! The table of regions precedes the compressed data. It has the number of regions (u8, at least
//! 1), then for each region the number of its [`Filter`] (u8), its offset in the content and its
//! length (u32 each). Regions are in ascending order and do not overlap. Bytes outside of all
//! regions are not filtered.

use linerate_core::{Error, Kind, Result};

use crate::filter::Filter;

/// Maximum number of regions of a block.
pub(crate) const MAX_REGIONS: usize = 255;

/// Length of a region's entry in the table, in bytes.
const ENTRY: usize = 9;

/// Length of the table's first field, the number of regions, in bytes.
const COUNT: usize = 1;

/// Length of a table with [`MAX_REGIONS`] regions, in bytes.
pub(crate) const MAX_TABLE: usize = COUNT + MAX_REGIONS * ENTRY;

/// A part of a block's content that was filtered before it was compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The filter.
    pub filter: Filter,
    /// Offset in the content of the block, in bytes.
    pub start: u32,
    /// Length in bytes, at least 1.
    pub len: u32,
}

impl Region {
    /// Returns the offset after the last byte.
    fn end(&self) -> u64 {
        u64::from(self.start) + u64::from(self.len)
    }

    fn parse(bytes: &[u8; ENTRY]) -> Result<Region> {
        let [id, s0, s1, s2, s3, l0, l1, l2, l3] = *bytes;
        let unknown = Error::new(Kind::Unsupported, 0, "a block with an unknown filter");
        let filter = Filter::from_id(id).ok_or(unknown)?;
        Ok(Region {
            filter,
            start: u32::from_le_bytes([s0, s1, s2, s3]),
            len: u32::from_le_bytes([l0, l1, l2, l3]),
        })
    }
}

/// Parses the table at the start of a block. Returns the regions and the length of the table.
///
/// # Errors
///
/// Returns [`Kind::Corrupt`] if the block ends within the table, or a region is empty or begins
/// before the end of the previous region; [`Kind::Unsupported`] for an unknown filter. The offset
/// is that of the region in `block`, or 0 if there is no region or the table is cut short.
pub(crate) fn parse(block: &[u8]) -> Result<(Vec<Region>, usize)> {
    let corrupt = |at: usize, what| Error::new(Kind::Corrupt, at as u64, what);
    let count = usize::from(*block.first().ok_or(corrupt(0, "a block without its filters"))?);
    if count == 0 {
        return Err(corrupt(0, "a filtered block without regions"));
    }
    let end = COUNT + count * ENTRY;
    let table = block.get(COUNT..end).ok_or(corrupt(0, "a block without its filters"))?;
    let mut regions: Vec<Region> = Vec::with_capacity(count);
    for (i, bytes) in table.as_chunks().0.iter().enumerate() {
        let at = COUNT + i * ENTRY;
        let region = Region::parse(bytes).map_err(|e| e.with_offset(at as u64))?;
        let reached = regions.last().map_or(0, Region::end);
        if region.len == 0 || u64::from(region.start) < reached {
            return Err(corrupt(at, "filtered regions that are empty or overlap"));
        }
        regions.push(region);
    }
    Ok((regions, end))
}

/// Appends the table of 1 to [`MAX_REGIONS`] regions, in ascending order.
pub(crate) fn write(regions: &[Region], out: &mut Vec<u8>) {
    debug_assert!((1..=MAX_REGIONS).contains(&regions.len()));
    out.push(regions.len() as u8);
    for region in regions {
        out.push(region.filter.id());
        out.extend_from_slice(&region.start.to_le_bytes());
        out.extend_from_slice(&region.len.to_le_bytes());
    }
}

/// Checks that no region crosses the end of the content that files refer to, which has `len` bytes.
/// Regions after this end belong to files that are no longer in the archive.
///
/// # Errors
///
/// Returns [`Kind::Corrupt`] if a region crosses this end. The offset is that of the table.
pub(crate) fn check(regions: &[Region], len: usize) -> Result<()> {
    let len = len as u64;
    match regions.iter().any(|region| u64::from(region.start) < len && region.end() > len) {
        true => Err(Error::new(Kind::Corrupt, 0, "a filtered region that no file contains")),
        false => Ok(()),
    }
}

/// Restores the content from the filtered bytes, which have the same length. The regions must have
/// been [checked](check) against this length.
pub(crate) fn invert(regions: &[Region], filtered: &[u8], content: &mut [u8]) {
    let (mut done, len) = (0, content.len() as u64);
    for region in regions.iter().filter(|region| region.end() <= len) {
        let (start, end) = (region.start as usize, region.end() as usize);
        content[done..start].copy_from_slice(&filtered[done..start]);
        region.filter.invert(&filtered[start..end], &mut content[start..end]);
        done = end;
    }
    content[done..].copy_from_slice(&filtered[done..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILTER: Filter = Filter::ALL[0];

    fn region(start: u32, len: u32) -> Region {
        Region { filter: FILTER, start, len }
    }

    fn table(regions: &[Region]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(regions, &mut bytes);
        bytes
    }

    #[test]
    fn worked_example_round_trips() {
        let bytes = [2, FILTER.id(), 128, 0, 0, 0, 0, 16, 0, 0, FILTER.id(), 128, 16, 0, 0, 1, 0, 0, 0];
        let regions = [region(128, 4096), region(4224, 1)];
        assert_eq!(table(&regions), bytes);
        assert_eq!(parse(&bytes), Ok((regions.to_vec(), 19)));
        assert_eq!(parse(&[&bytes[..], b"data"].concat()), Ok((regions.to_vec(), 19)));
        for len in 0..bytes.len() {
            assert_eq!(parse(&bytes[..len]).unwrap_err().kind, Kind::Corrupt, "{len} bytes");
        }
    }

    #[test]
    fn longest_table_round_trips() {
        let regions: Vec<Region> = (0..255).map(|i| region(i * 16, 16)).collect();
        let bytes = table(&regions);
        assert_eq!(bytes.len(), MAX_TABLE);
        assert_eq!(parse(&bytes), Ok((regions, MAX_TABLE)));
    }

    #[test]
    fn bad_table_is_an_error_at_its_region() {
        let error = |bytes: &[u8]| parse(bytes).map_err(|e| (e.kind, e.offset));
        assert_eq!(error(&[0, 1, 2, 3]), Err((Kind::Corrupt, 0)), "no region");
        for bad in [region(15, 8), region(20, 0), region(0, 1), region(u32::MAX, 0)] {
            assert_eq!(error(&table(&[region(0, 16), bad])), Err((Kind::Corrupt, 10)), "{bad:?}");
        }
        let mut unknown = table(&[region(0, 16), region(16, 16)]);
        unknown[10] = 255;
        assert_eq!(error(&unknown), Err((Kind::Unsupported, 10)));
        assert!(parse(&table(&[region(u32::MAX, u32::MAX)])).is_ok());
    }

    #[test]
    fn region_across_the_end_of_the_content_is_an_error_and_one_after_it_is_not() {
        for (start, len, fits) in [(0, 16, true), (0, 17, false), (15, 2, false), (16, 100, true)] {
            assert_eq!(check(&[region(start, len)], 16).is_ok(), fits, "{start}, {len}");
        }
        assert!(check(&[region(u32::MAX, u32::MAX)], usize::MAX).is_ok());
        assert!(check(&[region(1, u32::MAX)], 2).is_err());
    }

    #[test]
    fn content_outside_of_regions_stays() {
        let content: Vec<u8> = (0..=255).cycle().take(5000).collect();
        let regions = [region(3, 1000), region(1003, 8), region(2000, 2900), region(5000, 77)];
        let mut filtered = content.clone();
        for region in &regions[..3] {
            let range = region.start as usize..region.end() as usize;
            region.filter.apply(&content[range.clone()], &mut filtered[range]);
        }
        assert_ne!(filtered, content);
        let mut found = vec![0xAA; 5000];
        check(&regions, 5000).unwrap();
        invert(&regions, &filtered, &mut found);
        assert_eq!(found, content);
    }
}
