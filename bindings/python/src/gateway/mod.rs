//! The native classes of `pylinerate.gateway`: the decompressor of a message stream, its
//! dictionaries and statistics.

mod connection;
mod decompressor;
mod dictionaries;
mod envelope;
mod stats;
mod trim;

pub(crate) use decompressor::GatewayDecompressor;
pub(crate) use dictionaries::GatewayDictionaries;
pub(crate) use envelope::gateway_peek;
pub(crate) use stats::{GatewayStats, GatewayStatsRecorder};
pub(crate) use trim::gateway_trim;
