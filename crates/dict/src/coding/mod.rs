//! Decodes and encodes blocks with the dictionaries of a store.
//!
//! | module | content |
//! |---|---|
//! | [`decoder`], [`pipeline`] | decodes single blocks and batches; jobs that arrive one by one |
//! | [`job`] | a block to decode; the order of a batch |
//! | [`worker`] | decodes one block while the memory of the next one is prefetched |
//! | `encoder` | compression through libzstd |

pub(crate) mod decoder;
#[cfg(feature = "encode")]
pub(crate) mod encoder;
pub(crate) mod job;
pub(crate) mod pipeline;
pub(crate) mod worker;
