//! Detects closed standard streams; on Unix by code that runs before `main`.

#![allow(unsafe_code)]

pub(crate) mod closed;
