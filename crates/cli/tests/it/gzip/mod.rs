//! `linerate gzip` as a user meets it: the real program, real files, real pipes.

mod damage;
mod files;
mod index;
mod interop;
#[cfg(unix)]
mod leftovers;
mod many;
mod options;
#[cfg(unix)]
#[allow(unreachable_pub)]
mod pages;
#[cfg(feature = "remote")]
mod remote;
mod round_trip;
mod streams;
#[cfg(target_os = "linux")]
mod system_calls;
