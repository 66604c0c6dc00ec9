//! `linerate rice` as a user meets it: the real program, real files, real pipes.

mod arrays;
mod chunks;
mod damage;
mod data;
mod pages;
mod reports;
mod streams;
mod v2;
mod wav;
