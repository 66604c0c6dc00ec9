//! Chunks are filled to the last byte before a guard page: an access beyond them terminates the
//! process.

use linerate_dict::{Decoder, Id, Job, Order, Store, StoreOptions};
use linerate_zstd::Dictionary;

use crate::common::{compress, rows, train};

/// Number of dictionaries. Their bytes fill pages to the last byte, and the tables of each take 85
/// cache lines.
const COUNT: usize = 64;
const SIZE: usize = 4096;

struct Block {
    id: Id,
    frame: Vec<u8>,
    content: Vec<u8>,
}

/// Makes a store in which the bytes of the last dictionary, and the tables built last, end a chunk.
fn filled() -> (Store, Vec<Block>) {
    let base = train(5, SIZE);
    let head = base.len() - Dictionary::measure(&base).unwrap().content_len();
    let tables = Dictionary::measure(&base).unwrap().compact_len().next_multiple_of(64);
    assert_eq!(COUNT * tables % 4096, 0, "tables of another size do not end with a page");
    let settings = StoreOptions::new().raw_limit(COUNT * SIZE).table_budget(COUNT * tables);
    let store = Store::with_options(settings);
    let blocks: Vec<Block> = (0..COUNT as u64)
        .map(|i| {
            let dictionary = [&base[..head], &rows(100 + i, SIZE - head)].concat();
            // The content repeats the end of the dictionary, and continues after it.
            let content = [&dictionary[SIZE - 7 - i as usize..], &rows(i, 1500)].concat();
            let id = store.insert(&dictionary).unwrap();
            Block { id, frame: compress(&dictionary, [1, 3, 19][i as usize % 3], true, &content), content }
        })
        .collect();
    assert!(store.insert(&base).is_err(), "the chunk is not full");
    (store, blocks)
}

fn jobs<'a>(blocks: &'a [Block], buffers: &'a mut [Vec<u8>]) -> Vec<Job<'a>> {
    blocks.iter().zip(buffers).map(|(block, buffer)| Job::new(block.id, &block.frame, buffer)).collect()
}

#[test]
fn no_access_past_bytes_and_tables() {
    let (store, blocks) = filled();
    let mut decoder = Decoder::new(&store);
    let mut out = vec![0; 2000];
    for block in blocks.iter().chain(blocks.iter().rev()) {
        let n = decoder.decode(block.id, &block.frame, &mut out).unwrap();
        assert!(out[..n] == block.content);
    }
    let stats = store.stats();
    assert_eq!((stats.digested, stats.evictions, decoder.counters().without_tables), (COUNT, 0, 0));
    assert_eq!(stats.raw_bytes + stats.table_bytes, stats.mapped_bytes, "the chunks are full");
    for order in [Order::AsGiven, Order::ByDictionary] {
        let mut buffers: Vec<Vec<u8>> = blocks.iter().map(|block| vec![0; block.content.len()]).collect();
        let mut jobs = jobs(&blocks, &mut buffers);
        decoder.decode_batch(&mut jobs, order);
        assert!(jobs.iter().zip(&blocks).all(|(job, block)| job.content() == Some(&block.content[..])));
    }
    let mut buffers: Vec<Vec<u8>> = blocks.iter().map(|block| vec![0; block.content.len()]).collect();
    let mut pipeline = decoder.pipeline();
    jobs(&blocks, &mut buffers).into_iter().for_each(|job| pipeline.push(job));
    pipeline.finish();
    assert!(blocks.iter().all(|block| pipeline.poll().unwrap().content() == Some(&block.content[..])));
}

/// The blocks are damaged. Their prefetches are enqueued, but their content is not used.
#[test]
fn unused_prefetches_are_harmless() {
    let (store, blocks) = filled();
    let mut decoder = Decoder::new(&store);
    for cut in [0, 1, 9, 20, 60] {
        let mut buffers = vec![vec![0; 2000]; COUNT];
        let mut jobs = jobs(&blocks, &mut buffers);
        for job in jobs.iter_mut().step_by(2) {
            job.block = &job.block[..cut];
        }
        decoder.decode_batch(&mut jobs, Order::AsGiven);
        for (i, (job, block)) in jobs.iter().zip(&blocks).enumerate() {
            assert_eq!(job.content(), (i % 2 == 1).then_some(&block.content[..]));
        }
    }
}
