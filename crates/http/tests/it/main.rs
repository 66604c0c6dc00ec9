//! The integration tests, linked into one program. Each file beside this folder is another program,
//! since it needs a process of its own for the reason at its top.

mod axum;
mod body;
mod common;
mod layer;
mod tower_http;
