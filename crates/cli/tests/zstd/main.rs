//! `linerate zstd` as a user meets it: the real program, real files, real pipes.

mod damage;
mod data;
mod files;
mod interop;
mod pages;
mod streams;
