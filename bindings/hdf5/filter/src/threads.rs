//! How many threads a filter uses.

use linerate_rice::Exec;

/// Most threads that are taken seriously: the environment is not a place for `1e9`.
const MAX: usize = 256;

/// As many threads as `LINERATE_THREADS` says, from 1 to 256; 1 if it says anything else.
pub(crate) fn exec() -> Exec {
    Exec::threads(count(std::env::var("LINERATE_THREADS").ok().as_deref()))
}

fn count(variable: Option<&str>) -> usize {
    variable.and_then(|text| text.trim().parse().ok()).filter(|n| (1..=MAX).contains(n)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn only_sensible_counts_are_used() {
        for (text, n) in [("1", 1), ("4", 4), (" 16 ", 16), ("256", 256)] {
            assert_eq!(count(Some(text)), n, "{text:?}");
        }
        for text in ["", "0", "-2", "257", "four", "2.5", "99999999999999999999999"] {
            assert_eq!(count(Some(text)), 1, "{text:?}");
        }
        assert_eq!(count(None), 1);
    }
}
