//! Checks that the machine has enough memory for a case.

use super::case::{Case, dictionaries};
use crate::kernel::os::told;

/// Bytes of memory for each dictionary beside its content: libzstd's object and the one that is
/// copied, our tables and slot, and rounding by allocators.
const BESIDE: usize = (27 << 10) + (27 << 10) + (9 << 10) + (2 << 10);
/// Number of sets of compressed blocks to allow for: one for each of the five choices in
/// `contenders::CHOICES`, and a second copy of one while it is made. A set is never much larger
/// than its content.
const SETS: usize = 6;
/// Bytes to allow for decoders, data and the program.
const FIXED: usize = 128 << 20;

/// Bytes of memory that measuring a case takes: each dictionary as bytes and in our store, tables
/// for both libraries, and compressed blocks. `least` is the content of a round in bytes.
pub(crate) fn bytes(case: &Case, least: usize) -> usize {
    let dictionary = case.dictionary.saturating_mul(2).saturating_add(BESIDE);
    let blocks = case.blocks(least).saturating_mul(case.block).saturating_mul(SETS);
    case.count.saturating_mul(dictionary).saturating_add(blocks).saturating_add(FIXED)
}

/// Checks that a case takes at most nine tenths of the memory that the system has available. Where
/// the system does not report that, every case passes.
///
/// # Errors
/// A sentence with the memory needed and the memory available.
pub(crate) fn check(case: &Case, least: usize) -> Result<(), String> {
    match told("/proc/meminfo", "MemAvailable:") {
        Some(free) => compare(case, bytes(case, least), free),
        None => Ok(()),
    }
}

fn compare(case: &Case, need: usize, free: usize) -> Result<(), String> {
    // A tenth of the available memory is left to the rest of the system.
    if need > free / 10 * 9 {
        let gib = |bytes: usize| bytes as f64 / f64::from(1 << 30);
        return Err(format!(
            "{} take {:.1} GiB, and {:.1} GiB are free: take fewer (--count)",
            dictionaries(case.count, case.dictionary),
            gib(need),
            gib(free)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_larger_than_memory_is_an_error() {
        let case = |count| Case { block: 4096, dictionary: 110 << 10, count };
        let need = |count| bytes(&case(count), 8 << 20);
        assert!((7 << 30..10 << 30).contains(&need(30_000)), "{}", need(30_000));
        assert_eq!(compare(&case(2500), need(2500), 16 << 30), Ok(()));
        let said = compare(&case(30_000), need(30_000), 4 << 30).unwrap_err();
        assert!(said.starts_with("30,000 dictionaries of 110 KiB take 9."), "{said}");
        assert!(compare(&case(usize::MAX), need(usize::MAX), usize::MAX / 2).is_err());
    }
}
