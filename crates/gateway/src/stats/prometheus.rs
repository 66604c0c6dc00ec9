//! Statistics in Prometheus' text format, version 0.0.4.

use std::fmt::Write;

use super::record::Verdict;
use super::recorder::StatsRecorder;
use super::totals::Stats;

/// The quantiles of decoding times that are reported.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Reads a byte count from statistics.
type OfBytes = fn(&Stats) -> u64;

impl StatsRecorder {
    /// Statistics of all connections in Prometheus' text format, version 0.0.4
    /// (`text/plain; version=0.0.4`): the answer to a request for `/metrics`.
    pub fn prometheus(&self) -> String {
        let transports = self.by_name();
        let mut text = String::new();
        let mut family = |name: &str, help: &str, kind: &str, lines: &mut dyn FnMut(&mut String, &str)| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            lines(&mut text, name);
        };
        family("linerate_gateway_messages_total", "Messages, by verdict.", "counter", &mut |text, name| {
            for (transport, stats) in &transports {
                for verdict in Verdict::ALL {
                    let (count, verdict) = (stats.with_verdict(verdict), verdict.name());
                    let _ =
                        writeln!(text, "{name}{{transport=\"{transport}\",verdict=\"{verdict}\"}} {count}");
                }
            }
        });
        let bytes: [(&str, &str, OfBytes); 2] = [
            (
                "linerate_gateway_compressed_bytes_total",
                "Compressed bytes of messages.",
                Stats::compressed_bytes,
            ),
            ("linerate_gateway_payload_bytes_total", "Bytes of payloads.", Stats::payload_bytes),
        ];
        for (name, help, of) in bytes {
            family(name, help, "counter", &mut |text, name| {
                for (transport, stats) in &transports {
                    let _ = writeln!(text, "{name}{{transport=\"{transport}\"}} {}", of(stats));
                }
            });
        }
        family(
            "linerate_gateway_decode_seconds",
            "Time to decode a message, measured for one message in 16.",
            "summary",
            &mut |text, name| {
                for (transport, stats) in &transports {
                    for quantile in QUANTILES {
                        let value = seconds(stats.quantile_ns(quantile));
                        let _ = writeln!(
                            text,
                            "{name}{{transport=\"{transport}\",quantile=\"{quantile}\"}} {value}"
                        );
                    }
                    let (sum, count) = (seconds(stats.decode_ns()), stats.timed());
                    let _ = writeln!(text, "{name}_sum{{transport=\"{transport}\"}} {sum}");
                    let _ = writeln!(text, "{name}_count{{transport=\"{transport}\"}} {count}");
                }
            },
        );
        family(
            "linerate_gateway_connections",
            "Connections with statistics of their own.",
            "gauge",
            &mut |text, name| {
                let _ = writeln!(text, "{name} {}", self.connections());
            },
        );
        family(
            "linerate_gateway_dropped_records_total",
            "Messages whose records were dropped; they are missing from these statistics.",
            "counter",
            &mut |text, name| {
                let _ = writeln!(text, "{name} {}", self.dropped());
            },
        );
        text
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
