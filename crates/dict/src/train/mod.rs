//! Trains dictionaries, and chooses their size and number.
//!
//! | module | content |
//! |---|---|
//! | `training` | training: the best of some contents and tables |
//! | `cover`, `statistics`, `tables` | content; counts of the symbols of blocks with it; tables made of them |
//! | `huffman_table`, `fse_table`, `shrink` | descriptions of tables; coarser FSE tables |
//! | `samples`, `savings` | split into training and holdout samples; bytes that a dictionary saves |
//! | `search` | search over dictionary sizes |
//! | `cluster`, `clusterer`, `prune` | clustering: its options and result, its rounds, pruning |

#[cfg(feature = "train")]
pub(crate) mod cluster;
#[cfg(feature = "train")]
pub(crate) mod clusterer;
#[cfg(feature = "train")]
pub(crate) mod cover;
pub(crate) mod fse_table;
#[cfg(feature = "train")]
pub(crate) mod huffman_table;
#[cfg(feature = "train")]
pub(crate) mod prune;
#[cfg(feature = "train")]
pub(crate) mod samples;
#[cfg(feature = "encode")]
pub(crate) mod savings;
#[cfg(feature = "train")]
pub(crate) mod search;
pub(crate) mod shrink;
#[cfg(feature = "train")]
pub(crate) mod statistics;
#[cfg(feature = "train")]
pub(crate) mod tables;
#[cfg(feature = "train")]
pub(crate) mod training;
