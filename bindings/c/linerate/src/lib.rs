//! `liblinerate`: the engines behind one C interface. The comments of this crate become the
//! documentation in `linerate.h`.
//!
//! The caller owns the memory, functions return errors by value, nothing unwinds, and the library's
//! own state is behind handles.
//!
//! | module | content |
//! |---|---|
//! | [`error`] | `linerate_error`, and its messages as C strings |
//! | `border` | turns pointers of the caller into slices, and panics into errors |
//! | `handles` | tables of the objects behind handles; detect freed handles and handles in use |
//! | [`scratch`] | working memory of a thread, for all engines |
//! | [`deflate`], [`session`] | deflate streams of 16 bytes; flushed messages with a window |
//! | [`controller`] | chooses the level of deflate calls by load |
//! | [`inflate`] | whole streams, and streams in pieces |
//! | [`gzip`] | gzip files, read from any position on several threads |
//! | [`zstd`] | zstd: whole frames, and frames in pieces; dictionaries |
//! | [`store`] | batches of small zstd blocks through thousands of dictionaries |
//! | [`gateway`] | messages of long-lived connections |
//! | [`rice`] | Delta-Rice, versions 1 and 2 |
//! | [`archive`], [`pack`], [`pack_update`] | Nx archives: read, packed, updated and merged |

#![allow(unsafe_code)]
#![allow(non_camel_case_types, reason = "names of C")]
#![allow(
    clippy::missing_safety_doc,
    reason = "linerate.h states once what every function requires of its pointers"
)]

pub mod archive;
mod border;
pub mod controller;
pub mod deflate;
pub mod error;
pub mod gateway;
pub mod gzip;
mod handles;
pub mod inflate;
pub mod pack;
pub mod pack_update;
mod reporter;
pub mod rice;
pub mod scratch;
pub mod session;
pub mod store;
pub mod zstd;
