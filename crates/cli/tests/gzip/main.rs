//! `linerate gzip` as a user meets it: the real program, real files, real pipes.

mod damage;
mod files;
mod interop;
mod pages;
mod round_trip;
mod streams;
mod support;
