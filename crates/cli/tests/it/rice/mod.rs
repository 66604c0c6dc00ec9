//! `linerate rice` as a user meets it: the real program, real files, real pipes.

mod arrays;
mod chunks;
mod damage;
pub(crate) mod data;
mod many;
mod pages;
mod reports;
mod streams;
mod v2;
mod wav;
