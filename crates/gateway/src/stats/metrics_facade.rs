//! Publishes statistics through the `metrics` facade, to the exporter that the program has
//! installed.

use metrics::{counter, gauge};

use super::record::Verdict;
use super::recorder::StatsRecorder;

impl StatsRecorder {
    /// Sets counters and gauges of the `metrics` facade to the current counts, under the names that
    /// [`prometheus`](Self::prometheus) uses. Quantiles are gauges in seconds; the sum and the
    /// number of decoding times are left out. Call it every few seconds, or whenever an exporter
    /// asks.
    pub fn publish(&self) {
        for (transport, stats) in self.by_name() {
            let name = transport.name();
            for verdict in Verdict::ALL {
                counter!("linerate_gateway_messages_total", "transport" => name, "verdict" => verdict.name())
                    .absolute(stats.with_verdict(verdict));
            }
            counter!("linerate_gateway_compressed_bytes_total", "transport" => name)
                .absolute(stats.compressed_bytes());
            counter!("linerate_gateway_payload_bytes_total", "transport" => name)
                .absolute(stats.payload_bytes());
            for (label, quantile) in [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99), ("0.999", 0.999)] {
                gauge!("linerate_gateway_decode_seconds", "transport" => name, "quantile" => label)
                    .set(stats.quantile_ns(quantile) as f64 / 1e9);
            }
        }
        gauge!("linerate_gateway_connections").set(self.connections() as f64);
        counter!("linerate_gateway_dropped_records_total").absolute(self.dropped());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};

    use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

    use crate::stats::StatsOptions;
    use crate::{Encoder, Limits, Scratch, Session, Transport};

    use super::*;

    /// An exporter that stores the values by name and labels.
    #[derive(Default)]
    struct Kept(Mutex<BTreeMap<String, Arc<AtomicU64>>>);

    impl Kept {
        fn value(&self, key: &Key) -> Arc<AtomicU64> {
            let labels: Vec<&str> = key.labels().map(|label| label.value()).collect();
            let name = format!("{} {}", key.name(), labels.join(" "));
            Arc::clone(self.0.lock().unwrap().entry(name).or_default())
        }
    }

    impl Recorder for Kept {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
            Counter::from_arc(self.value(key))
        }

        fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::from_arc(self.value(key))
        }

        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            Histogram::noop()
        }
    }

    #[test]
    fn exporter_gets_counters_and_quantiles() {
        let recorder = StatsRecorder::start(StatsOptions::new()).unwrap();
        let mut session = Session::new(Transport::Zlib, Limits::new()).record_stats(recorder.connection());
        let mut wire = Vec::new();
        Encoder::new(Transport::Zlib).unwrap().message(b"seven b", &mut wire).unwrap();
        session.message(&wire, &mut Scratch::new()).unwrap().unwrap();
        while recorder.stats().messages() < 1 {
            std::thread::yield_now();
        }
        let kept = Kept::default();
        metrics::with_local_recorder(&kept, || recorder.publish());
        let kept = kept.0.into_inner().unwrap();
        let value = |name: &str| kept[name].load(Ordering::Relaxed);
        assert_eq!(value("linerate_gateway_messages_total zlib-stream decoded"), 1);
        assert_eq!(value("linerate_gateway_payload_bytes_total zlib-stream"), 7);
        assert_eq!(value("linerate_gateway_payload_bytes_total zstd-stream"), 0);
        assert_eq!(f64::from_bits(value("linerate_gateway_connections ")), 1.0);
        assert!(f64::from_bits(value("linerate_gateway_decode_seconds zlib-stream 0.5")) > 0.0);
    }
}
