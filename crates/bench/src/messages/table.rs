//! Terminal tables: one per transport and measure.

use super::row::Row;
use crate::report::aligned;

/// Describes a measure.
fn description(row: &Row) -> String {
    let Row { connections, messages, .. } = row;
    match row.measure.as_str() {
        "whole" => format!("{connections} connections, one after the other, {messages} messages"),
        "encode" => format!("{messages} messages, encoded and flushed one by one"),
        "live" => format!("the same after the guilds, {messages} messages"),
        _ => format!("{connections} connections that take turns, {messages} messages in a round"),
    }
}

/// Rows of one transport and shape each.
pub(crate) fn groups(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|a, b| (&a.transport, &a.measure, &a.data) == (&b.transport, &b.measure, &b.data))
}

/// Tables of rows.
pub fn table(rows: &[Row]) -> String {
    groups(rows).map(one).collect::<Vec<_>>().join("\n")
}

fn one(rows: &[Row]) -> String {
    let first = &rows[0];
    let text = format!(
        "{}: {}, {:.1} MB of payload, ratio {:.2}, {} rounds\n",
        first.transport,
        description(first),
        first.payload_bytes as f64 / 1e6,
        first.ratio.unwrap_or(0.0),
        first.rounds
    );
    let has_memory = rows.iter().any(|row| row.heap_bytes.is_some() || row.resident_bytes.is_some());
    let mut heads =
        vec!["", "MB/s", "median", "ns/message"].into_iter().map(String::from).collect::<Vec<_>>();
    heads.push(format!("/ {}", first.base));
    // Every encoder has a ratio of its own.
    let has_ratios = first.measure == "encode";
    if has_ratios {
        heads.push("ratio".into());
    }
    if has_memory {
        heads.extend(["heap KiB", "resident KiB"].map(String::from));
    }
    let mut cells = vec![heads];
    cells.extend(rows.iter().map(|row| {
        let number =
            |x: Option<f64>, digits: usize| x.map_or_else(|| "-".into(), |x| format!("{x:.digits$}"));
        let kib = |bytes: Option<usize>| number(bytes.map(|bytes| bytes as f64 / 1024.0), 1);
        let mut line = vec![
            row.contender.clone(),
            number(row.best_mbs, 0),
            number(row.median_mbs, 0),
            number(row.median_ns, 0),
            number(row.speed_vs_base, 2),
        ];
        if has_ratios {
            line.push(number(row.ratio, 3));
        }
        if has_memory {
            line.extend([kib(row.heap_bytes), kib(row.resident_bytes)]);
        }
        line
    }));
    text + &aligned(&cells, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_has_a_table_and_memory_only_where_it_was_measured() {
        let row = |measure: &str, contender: &str, heap| Row {
            measure: measure.into(),
            transport: "zstd-stream".into(),
            contender: contender.into(),
            base: "libzstd".into(),
            median_mbs: Some(1234.5),
            speed_vs_base: Some(1.1),
            heap_bytes: heap,
            ..Row::default()
        };
        let rows = [
            row("whole", "linerate", None),
            row("whole", "libzstd", None),
            row("many", "linerate", Some(71_680)),
        ];
        let text = table(&rows);
        assert_eq!(text.matches("zstd-stream: ").count(), 2, "{text}");
        assert_eq!(text.matches("heap KiB").count(), 1, "{text}");
        assert!(text.contains("/ libzstd") && text.contains("1234") && text.contains("70.0"), "{text}");
    }
}
