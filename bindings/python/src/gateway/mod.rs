//! Message streams of gateways: the class that `pylinerate.gateway.Decompressor` is made of.

mod connection;
mod decompressor;
mod envelope;
mod frame;

pub(crate) use decompressor::GatewayDecompressor;
pub(crate) use envelope::gateway_peek;
