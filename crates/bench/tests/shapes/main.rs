//! The shapes, their records and inputs, on small data. One program, since each is a link of all engines;
//! tests that measure the heap of their process are programs of their own.

mod archives;
mod cold;
mod contenders;
mod inflate;
mod inputs;
mod messages;
mod threads;
mod waveforms;
