//! Tests of the server, by clients of several kinds.

mod gateway_client;
mod hostile_clients;
mod server;
