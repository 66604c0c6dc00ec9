//! Message streams of gateways: made-up [`traffic`].

mod events;
mod guild;
mod people;
mod source;
pub mod traffic;
mod words;
