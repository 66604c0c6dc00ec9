//! Decodes the messages of 1,000 gateway connections over zlib that take turns, beside zlib-rs.

use std::path::PathBuf;

use linerate_bench::messages::{Input, measure};
use linerate_gateway::Transport;

const SAMPLE: &str = "testdata/gateway/sample.msgs";
const PEER: &str = "zlib-rs";

pub(super) fn run() -> Result<String, String> {
    let input = Input::read(&[PathBuf::from(SAMPLE)])?;
    let mut found = measure(&input, Transport::Zlib, 5, 1000)?;
    found.retain(|measurement| measurement.params["mode"] == "many");
    let speed = |name: &str| super::metric(&found, name, "speed");
    let memory = |name: &str| {
        let bytes = super::metric(&found, name, "heap").or_else(|_| super::metric(&found, name, "told"));
        bytes.map_or_else(|_| String::new(), |bytes| format!(" in {:.0} KiB each", bytes / 1024.0))
    };
    Ok(format!(
        "1,000 connections that take turns: linerate decodes {:.0} MB/s{}, {PEER} {:.0} MB/s{}: {:.1} times as fast.",
        speed("linerate")?,
        memory("linerate"),
        speed(PEER)?,
        memory(PEER),
        super::metric(&found, "linerate", "speed_by_base")?
    ))
}
