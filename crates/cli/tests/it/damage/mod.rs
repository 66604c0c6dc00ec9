//! The effects of killing and of a full disk on commands that write, and of damaged input on
//! commands that read.
//!
//! `make test` tries a few moments and places for each command. `LINERATE_DAMAGE=200` tries 200,
//! and `LINERATE_DAMAGE_CSV=FILE` writes a row for each command to FILE: `make assure` does both,
//! and SECURITY.md has the table.

mod readers;
mod sources;
mod writers;
