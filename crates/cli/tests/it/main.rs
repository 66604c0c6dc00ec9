//! The integration tests, linked into one program. They run `linerate` with real files and real
//! pipes.

mod contract;
mod damage;
mod dict;
mod documents;
mod gateway;
mod gzip;
#[cfg(unix)]
mod links;
#[cfg(all(target_os = "linux", feature = "mount", feature = "remote", feature = "zstd-compress"))]
mod messages;
mod nx;
mod outcome;
mod pages;
mod plan;
mod rice;
#[cfg(unix)]
mod scripts;
#[cfg(unix)]
mod tar;
mod zstd;
