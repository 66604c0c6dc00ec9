//! `linerate zstd` as a user meets it: the real program, real files, real pipes.

mod compress;
mod damage;
mod data;
mod files;
mod interop;
mod many_frames;
mod options;
mod pages;
mod streams;
