//! Message streams of gateways: the class that `linerate.gateway.Decompressor` is made of.

mod connection;
mod decompressor;
mod frame;

pub(crate) use decompressor::GatewayDecompressor;
