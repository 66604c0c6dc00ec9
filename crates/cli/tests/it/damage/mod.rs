//! What killing, a full disk and damaged input do to commands that write, and to commands that read.
//!
//! `make test` tries a few moments and places of each. `LINERATE_DAMAGE=200` tries as many, and `LINERATE_DAMAGE_CSV=FILE`
//! gets a row of each: `make assure` does so, and SECURITY.md has the table.

mod readers;
mod sources;
mod writers;
