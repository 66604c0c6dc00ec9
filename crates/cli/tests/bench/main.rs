//! `linerate bench` as a user meets it: the real program, small data.

mod archives;
mod cold;
mod records;
#[allow(dead_code)]
#[path = "../gzip/support.rs"]
mod support;
mod waveforms;
