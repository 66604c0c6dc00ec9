//! Generates the short messages of feeds: server-sent events, and JSON rows of one kind.

use super::source::Source;
use super::text::words;

/// Generates two feeds of `count` messages each, the same on every machine: prices as server-sent
/// events, and orders as JSON rows.
pub fn feeds(count: usize) -> [Vec<Vec<u8>>; 2] {
    let mut source = Source::new(1, 0);
    [event, row]
        .map(|make: fn(&mut Source, usize) -> Vec<u8>| (0..count).map(|i| make(&mut source, i)).collect())
}

/// A price, as a server-sent event.
fn event(source: &mut Source, number: usize) -> Vec<u8> {
    let symbol = source.pick(&["BTC-USD", "ETH-USD", "SOL-EUR", "XRP-USD", "ADA-EUR"]);
    let (whole, cents, size) = (source.between(90, 99_000), source.below(100), source.below(10_000));
    let text = format!(
        "id: {number}\nevent: trade\ndata: {{\"symbol\":\"{symbol}\",\"price\":\"{whole}.{cents:02}\",\"size\":\"0.{size:04}\",\"time\":\"{}\"}}\n\n",
        source.time()
    );
    text.into_bytes()
}

/// An order with its items, as a feed of changes to a table reports it.
fn row(source: &mut Source, number: usize) -> Vec<u8> {
    let items: Vec<String> = (0..1 + source.below(4))
        .map(|_| {
            format!(
                r#"{{"sku":"{:06}","name":"{}","quantity":{},"unit_price":{}.{:02},"discount":null}}"#,
                source.below(1_000_000),
                words(source, 2, 4),
                source.between(1, 10),
                source.below(500),
                source.below(100)
            )
        })
        .collect();
    let text = format!(
        concat!(
            r#"{{"type":"order.updated","sequence":{number},"timestamp":"{time}","order":{{"id":"{id}","#,
            r#""customer_id":{customer},"status":"{status}","currency":"EUR","items":[{items}],"#,
            r#""shipping":{{"method":"standard","address_id":{address},"tracking":null}},"total":{total}.00}},"#,
            r#""source":{{"service":"orders","region":"eu-central-1","instance":"i-{instance:08x}"}}}}"#
        ),
        number = number,
        time = source.time(),
        id = source.id(),
        customer = source.below(1_000_000),
        status = source.pick(&["open", "paid", "shipped", "closed"]),
        items = items.join(","),
        address = source.below(1_000_000),
        total = source.below(5_000),
        instance = source.below(1 << 30),
    );
    text.into_bytes()
}
