//! `linerate nx` as a user meets it: the real program, real files, real folders.

mod bench;
mod data;
#[cfg(target_os = "linux")]
mod disk_full;
mod edit;
mod extract;
mod filters;
mod forge;
mod killed;
mod list;
#[cfg(unix)]
mod metadata;
#[cfg(all(feature = "mount", target_os = "linux"))]
mod mount;
#[allow(unreachable_pub)]
mod pack;
mod pages;
mod r3a;
#[cfg(feature = "remote")]
mod remote;
mod tree;
#[cfg(windows)]
mod windows;
