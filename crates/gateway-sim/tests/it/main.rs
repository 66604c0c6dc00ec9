//! The gateway for tests, and clients of it.

mod gateway_client;
mod hostile_clients;
mod server;
