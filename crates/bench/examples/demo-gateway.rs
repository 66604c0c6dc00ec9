//! Gateway connections: the traffic that the project carries, through zlib and zstd, with ours, zlib-rs and
//! libzstd. Part of `make demo`.

use std::path::Path;
use std::process::ExitCode;

use linerate_bench::messages::row::Row;
use linerate_bench::messages::{BenchOptions, Input, measure};
use linerate_bench::pin;
use linerate_gateway::Transport;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gateway/sample");

fn main() -> ExitCode {
    match demo() {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("demo: {what}");
            ExitCode::FAILURE
        }
    }
}

fn demo() -> Result<(), String> {
    pin(None);
    println!("\nWhat a chat gateway sends: one stream for each connection, flushed after each message\n");
    let input = Input::read(&[Path::new(SAMPLE).with_extension("msgs")])?;
    let options = BenchOptions { transports: Transport::ALL.to_vec(), rounds: 9, connections: 1000 };
    let rows = measure(&input, &options, |_| {})?;
    for transport in Transport::ALL {
        let of = |measure: &str| -> Vec<&Row> {
            rows.iter().filter(|row| row.transport == transport.name() && row.measure == measure).collect()
        };
        println!("{transport}: {}", traffic(of("whole")[0]));
        for (whole, many) in of("whole").into_iter().zip(of("many")) {
            println!("  {}", line(whole, many));
        }
    }
    println!("\nEvery message was decoded by everyone and compared with what was sent first.");
    println!("Cold: 1,000 connections that take turns, a message each.");
    Ok(())
}

fn traffic(row: &Row) -> String {
    let (payload, ratio) = (row.payload_bytes as f64, row.ratio.unwrap_or(1.0));
    format!("{} messages, {:.0} KB that come as {:.0} KB", row.messages, payload / 1e3, payload / ratio / 1e3)
}

fn line(whole: &Row, many: &Row) -> String {
    let number = |x: Option<f64>| x.map_or_else(|| "-".into(), |x| format!("{x:.0}"));
    let kib = |bytes: Option<usize>| number(bytes.map(|bytes| bytes as f64 / 1024.0));
    format!(
        "{:<11} {:>5} MB/s, cold {:>5} MB/s, {:>4} KiB of memory per connection",
        whole.contender,
        number(whole.median_mbs),
        number(many.median_mbs),
        kib(many.heap_bytes.or(many.reported_bytes))
    )
}
