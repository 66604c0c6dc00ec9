//! The shapes, their records and inputs, on small data.

mod archives;
mod cold;
mod contenders;
mod inflate;
mod inputs;
mod messages;
mod threads;
mod waveforms;
