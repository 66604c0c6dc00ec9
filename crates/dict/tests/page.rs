//! The example of docs/dict/index.md for storage engines, run.

mod common;

use common::{compress, rows, train};
use linerate_dict::{Decoder, Id, Job, Order, Store, StoreOptions};

struct Wanted<'a> {
    id: Id,
    block: &'a [u8],
}

#[test]
#[rustfmt::skip]
fn a_storage_engine_reads_as_the_page_says() -> linerate_dict::Result<()> {
    let dictionary = train(1, 4 << 10);
    let content = rows(2, 4 << 10);
    let block = compress(&dictionary, 3, false, &content);
    let mut buffer = vec![0; 4 << 10];
    let mut buffers = vec![vec![0; 4 << 10]; 2];

    let store = Store::with_options(StoreOptions::new().table_budget(256 << 20)); // one for all threads
    let id = store.insert(&dictionary)?;                           // a table is opened: its dictionary block
    let mut decoder = Decoder::new(&store);                        // one per thread
    let n = decoder.decode(id, &block, &mut buffer)?;              // Get: one block

    let wanted = [Wanted { id, block: &block }, Wanted { id: Id::NONE, block: b"damaged" }];
    let jobs = wanted.iter().zip(&mut buffers);                    // MultiGet: blocks of any tables
    let mut jobs: Vec<Job> = jobs.map(|(w, buffer)| Job::new(w.id, w.block, buffer)).collect();
    decoder.decode_batch(&mut jobs, Order::Any);                   // prefetches the next while one is decoded
    let found: Vec<Option<&[u8]>> = jobs.iter().map(Job::content).collect();
    store.release(id)?;                                            // a table is closed; current readers are unaffected

    assert!(buffer[..n] == content);
    assert!(found == [Some(&content[..]), None]);
    Ok(())
}

#[test]
fn example_matches_the_page() {
    let page = include_str!("../../../docs/dict/index.md");
    let (_, section) = page.split_once("## In a storage engine\n").expect("a section");
    let (_, example) = section.split_once("```rust\n").expect("an example");
    let (example, _) = example.split_once("```\n").expect("its end");
    let mut lines = include_str!("page.rs").lines().map(str::trim);
    // In this order, with other lines between.
    for line in example.lines().filter(|line| !line.is_empty() && !line.starts_with("use ")) {
        assert!(lines.any(|ours| ours == line.trim()), "{line}");
    }
    assert!(example.lines().count() > 10);
}
