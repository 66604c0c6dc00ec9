//! [`Job`]: a block to decode, and [`Order`]: the decoding order of a batch.

use linerate_core::{Error, Kind, Result};

use crate::id::Id;

/// One block to decode.
#[derive(Debug)]
pub struct Job<'a> {
    /// ID of the dictionary.
    pub id: Id,
    /// The block: one zstd frame.
    pub block: &'a [u8],
    /// Output buffer.
    pub dst: &'a mut [u8],
    /// Bytes written to `dst`, or the error. Before decoding, an error of kind
    /// [`Kind::BadArgument`].
    pub result: Result<usize>,
}

impl<'a> Job<'a> {
    /// Creates a job that is not decoded yet.
    pub fn new(id: Id, block: &'a [u8], dst: &'a mut [u8]) -> Self {
        let result = Err(Error::new(Kind::BadArgument, 0, "the block was not decoded yet"));
        Job { id, block, dst, result }
    }

    /// Returns the content, after successful decoding.
    pub fn content(&self) -> Option<&[u8]> {
        self.result.ok().and_then(|n| self.dst.get(..n))
    }
}

/// The order in which the jobs of a batch are decoded. The jobs and their results stay in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The given order.
    AsGiven,
    /// Grouped by dictionary, in the given order within a group.
    ByDictionary,
    /// Grouped by dictionary if there are at least two jobs for each on average, else as given.
    #[default]
    Any,
}

impl Order {
    /// Writes the indexes of `jobs` into `order`, in decoding order.
    pub(crate) fn arrange(self, jobs: &[Job<'_>], order: &mut Vec<u32>) {
        order.clear();
        order.extend(0..jobs.len() as u32);
        if self == Order::AsGiven {
            return;
        }
        order.sort_unstable_by_key(|&i| (jobs[i as usize].id, i));
        let changes = order.windows(2).filter(|w| jobs[w[0] as usize].id != jobs[w[1] as usize].id).count();
        if self == Order::Any && jobs.len() < 2 * (changes + 1) {
            order.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(order: Order, ids: &[u64]) -> Vec<u32> {
        let jobs: Vec<Job<'_>> = ids.iter().map(|&id| Job::new(Id::from_raw(id), &[], &mut [])).collect();
        let mut into = vec![7; 3];
        order.arrange(&jobs, &mut into);
        into
    }

    #[test]
    fn any_groups_jobs_if_there_are_two_for_each_dictionary() {
        let few = [3, 1, 2, 1];
        assert_eq!(arranged(Order::AsGiven, &few), [0, 1, 2, 3]);
        assert_eq!(arranged(Order::ByDictionary, &few), [1, 3, 2, 0]);
        assert_eq!(arranged(Order::Any, &few), [0, 1, 2, 3]);
        assert_eq!(arranged(Order::Any, &[3, 1, 3, 1]), [1, 3, 0, 2]);
        assert!(arranged(Order::Any, &[]).is_empty());
    }
}
