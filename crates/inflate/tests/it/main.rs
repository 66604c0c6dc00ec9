//! The integration tests, linked into one program.

mod common;
mod gzidx;
mod gzip_file;
mod gzip_header;
mod gztool;
mod oracle;
mod reader_writer;
mod sizes;
mod vectors;
