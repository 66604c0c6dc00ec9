//! The runner of the program and the sample data of `linerate-testkit`, under short names.
#![allow(unused_imports, reason = "it is a module of several tests")]

pub(crate) use linerate_testkit::data::mixed as sample;
pub(crate) use linerate_testkit::program::{Folder, Run};
