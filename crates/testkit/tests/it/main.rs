//! The integration tests of the test kit, linked into one program.

mod documents;
mod import_rule;
mod packages;
mod source_rules;
mod without_c;
