//! Gateway message streams: the native base class of `pylinerate.gateway.Decompressor`.

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
