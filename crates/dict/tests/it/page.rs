//! The example of docs/dict/index.md for storage engines, run.

use linerate_dict::{Decoder, Job, Order, Result, Store, StoreOptions};

use crate::common::{compress, rows, train};

#[rustfmt::skip]
fn read(dictionary: &[u8], block: &[u8], wanted: &[&[u8]], buffers: &mut [Vec<u8>]) -> Result<usize> {
    let store = Store::with_options(StoreOptions::new().table_budget(256 << 20)); // one for all threads
    let id = store.insert(dictionary)?;                            // a table is opened: its dictionary block
    let mut decoder = Decoder::new(&store);                        // one per thread
    let n = decoder.decode(id, block, &mut buffers[0])?;           // Get: one block
    println!("{}", String::from_utf8_lossy(&buffers[0][..n]));

    let jobs = wanted.iter().zip(buffers);                         // MultiGet: blocks of any tables
    let mut jobs: Vec<Job> = jobs.map(|(block, buffer)| Job::new(id, block, buffer)).collect();
    decoder.decode_batch(&mut jobs, Order::Any);                   // prefetches the next while one is decoded
    store.release(id)?;                                            // a table is closed; current readers are unaffected
    Ok(jobs.iter().filter_map(Job::content).map(<[u8]>::len).sum())
}

#[test]
fn a_storage_engine_reads_as_the_page_says() -> Result<()> {
    let dictionary = train(1, 4 << 10);
    let contents = [rows(2, 4 << 10), rows(3, 3 << 10)];
    let blocks = contents.each_ref().map(|content| compress(&dictionary, 3, false, content));
    let mut buffers = vec![vec![0; 4 << 10]; 3];
    let n = read(&dictionary, &blocks[1], &[&blocks[0], b"damaged", &blocks[1]], &mut buffers)?;
    assert_eq!(n, contents[0].len() + contents[1].len());
    assert!(buffers[0] == contents[0] && buffers[2].starts_with(&contents[1]));
    Ok(())
}

#[test]
fn example_matches_the_page() {
    let page = include_str!("../../../../docs/dict/index.md");
    let (_, section) = page.split_once("## In a storage engine\n").expect("a section");
    let (_, example) = section.split_once("```rust\n").expect("an example");
    let (example, _) = example.split_once("```\n").expect("its end");
    let mut lines = include_str!("page.rs").lines().map(str::trim);
    for line in example.lines() {
        assert!(lines.any(|ours| ours == line.trim()), "{line}");
    }
    assert!(example.lines().count() > 10);
}
