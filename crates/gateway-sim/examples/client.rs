//! Prints the events of a gateway. The client is [`linerate_gateway_sim::Client`]: it identifies
//! itself, sends heartbeats, decompresses, and resumes its session after an error or a lost
//! connection.
//!
//! ```text
//! linerate gateway serve --close-after 20 &
//! cargo run --package linerate-gateway-sim --example client -- ws://127.0.0.1:PORT 41
//! ```
//!
//! The second argument is the number of events to wait for after READY (default: 41). The third is
//! `zlib-stream` or `zstd-stream` (the default).

use std::error::Error;
use std::ops::ControlFlow;

use linerate_gateway::Transport;
use linerate_gateway_sim::Client;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url =
        arguments.next().ok_or("usage: client ws://127.0.0.1:PORT [EVENTS [zlib-stream|zstd-stream]]")?;
    let wanted: u64 = arguments.next().map_or(Ok(41), |n| n.parse())?;
    let transport = match arguments.next().as_deref() {
        None | Some("zstd-stream") => Transport::Zstd,
        Some("zlib-stream") => Transport::Zlib,
        Some(other) => return Err(format!("{other} is not zlib-stream or zstd-stream").into()),
    };
    let mut client = Client::new(&url, transport);
    let mut left = wanted;
    client.run(|envelope, payload| {
        println!(
            "{} {} ({} bytes)",
            envelope.sequence.unwrap_or(0),
            envelope.event.unwrap_or(""),
            payload.len()
        );
        if !matches!(envelope.event, Some("READY" | "RESUMED")) {
            left = left.saturating_sub(1);
        }
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    println!("{:?}", client.counts());
    Ok(())
}
