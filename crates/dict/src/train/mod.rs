//! Training of dictionaries, and choosing their size and number.
//!
//! | module | content |
//! |---|---|
//! | [`training`], [`fse_table`] | training; coarser FSE tables |
//! | `samples`, `savings` | split into training and holdout samples; bytes that a dictionary saves |
//! | `search` | search over dictionary sizes |
//! | `cluster`, `clusterer`, `prune` | clustering: its options and result, its rounds, pruning |

#[cfg(feature = "train")]
pub(crate) mod cluster;
#[cfg(feature = "train")]
pub(crate) mod clusterer;
pub(crate) mod fse_table;
#[cfg(feature = "train")]
pub(crate) mod prune;
#[cfg(feature = "train")]
pub(crate) mod samples;
#[cfg(feature = "encode")]
pub(crate) mod savings;
#[cfg(feature = "train")]
pub(crate) mod search;
pub(crate) mod training;
