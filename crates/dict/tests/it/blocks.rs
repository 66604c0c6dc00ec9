//! Round trips of blocks compressed by libzstd.

use linerate_dict::{Decoder, Encoder, Id, Job, Kind, Order, Store, StoreOptions};

use crate::common::{Noise, compress, distinct, libzstd, rows, train};

struct Block {
    id: Id,
    frame: Vec<u8>,
    content: Vec<u8>,
}

/// Makes dictionaries of all kinds and sizes.
fn dictionaries() -> Vec<Vec<u8>> {
    let mut all = vec![rows(50, 8), rows(51, 1000), rows(52, 100_000)];
    all.extend([2 << 10, 8 << 10, 110 << 10].map(|size| train(60, size)));
    all.extend((0..6).map(|i| distinct(i, 3000 + 700 * i as usize)));
    all
}

fn blocks(store: &Store) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (i, dictionary) in dictionaries().iter().enumerate() {
        let id = store.insert(dictionary).unwrap();
        for (j, (size, level)) in
            [(0, 3), (1, 1), (300, 3), (1024, 19), (4096, 3), (4096, 9), (8192, 1), (200_000, 3)]
                .into_iter()
                .enumerate()
        {
            let content = rows((7 * i + j) as u64, size);
            let frame = compress(dictionary, level, j % 2 == 0, &content);
            assert_eq!(libzstd(dictionary, &frame, size).as_ref(), Some(&content));
            blocks.push(Block { id, frame, content });
        }
    }
    let content = rows(99, 5000);
    blocks.push(Block { id: Id::NONE, frame: compress(&[], 3, true, &content), content });
    // Shuffle, so that neighbours have different dictionaries, and some the same.
    let mut noise = Noise::new(3);
    for i in (1..blocks.len()).rev() {
        blocks.swap(i, noise.below(i + 1));
    }
    blocks
}

fn budgets() -> [StoreOptions; 5] {
    let all = StoreOptions::new();
    [all, all.huge_pages(false), all.table_budget(0), all.table_budget(9 << 10), all.table_budget(40 << 10)]
}

#[test]
fn single_blocks_round_trip() {
    for settings in budgets() {
        let store = Store::with_options(settings);
        let blocks = blocks(&store);
        let mut decoder = Decoder::new(&store);
        let mut out = vec![0; 200_000];
        for block in blocks.iter().chain(&blocks) {
            let n = decoder.decode(block.id, &block.frame, &mut out).unwrap();
            assert!(out[..n] == block.content);
        }
        let counters = decoder.counters();
        assert_eq!((counters.blocks, counters.errors), (2 * blocks.len() as u64, 0));
        let stats = store.stats();
        assert!(stats.table_bytes <= settings.table_budget);
        // A single thread always finds tables to evict, if the budget holds any.
        match settings.table_budget {
            // Three dictionaries are raw content, which needs no tables, with eight blocks each.
            0 => assert_eq!(counters.with_tables, 2 * 3 * 8),
            budget => assert!(counters.without_tables == 0 || budget == 9 << 10),
        }
    }
}

#[test]
fn batches_and_pipelines_match_single_decoding() {
    for settings in budgets() {
        let store = Store::with_options(settings);
        let blocks = blocks(&store);
        let mut decoder = Decoder::new(&store);
        for order in [Order::AsGiven, Order::ByDictionary, Order::Any] {
            for count in [0, 1, 2, 3, blocks.len()] {
                let mut buffers: Vec<Vec<u8>> = blocks.iter().map(|b| vec![0; b.content.len()]).collect();
                let mut jobs: Vec<Job<'_>> = blocks[..count]
                    .iter()
                    .zip(&mut buffers)
                    .map(|(block, buffer)| Job::new(block.id, &block.frame, buffer))
                    .collect();
                decoder.decode_batch(&mut jobs, order);
                for (job, block) in jobs.iter().zip(&blocks) {
                    assert!(job.content() == Some(&block.content[..]), "{:?}", job.result);
                }
            }
        }
        let mut buffers: Vec<Vec<u8>> = blocks.iter().map(|b| vec![0; b.content.len()]).collect();
        let mut pipeline = decoder.pipeline();
        let mut polled = 0;
        for (block, buffer) in blocks.iter().zip(&mut buffers) {
            pipeline.push(Job::new(block.id, &block.frame, buffer));
            assert!(pipeline.len() <= 2);
            if let Some(job) = pipeline.poll() {
                assert!(job.content() == Some(&blocks[polled].content[..]));
                polled += 1;
            }
        }
        assert_eq!((pipeline.len(), polled), (1, blocks.len() - 1));
        pipeline.finish();
        assert!(pipeline.poll().unwrap().content() == Some(&blocks[polled].content[..]));
        assert!(pipeline.is_empty() && pipeline.poll().is_none());
    }
}

/// The dictionary ends directly before a guard page.
#[test]
fn no_read_past_the_end_of_a_dictionary() {
    for size in [8 << 10, 64 << 10] {
        let base = train(5, 4 << 10);
        let head = base.len() - linerate_zstd::Dictionary::measure(&base).unwrap().content_len();
        let dictionary = [&base[..head], &rows(6, size - head)].concat();
        let settings = StoreOptions::new().raw_limit(size).table_budget(12 << 10);
        let store = Store::with_options(settings);
        let id = store.insert(&dictionary).unwrap();
        let mut decoder = Decoder::new(&store);
        // Blocks that repeat the end of the content, and continue after it.
        for back in 1..200 {
            let content = [&dictionary[size - back..], &rows(back as u64, 2000)].concat();
            let frame = compress(&dictionary, 19, true, &content);
            let mut out = vec![0; content.len()];
            assert_eq!(decoder.decode(id, &frame, &mut out), Ok(content.len()));
            assert!(out == content);
        }
    }
}

#[test]
fn libzstd_decodes_encoded_blocks() {
    let store = Store::new();
    let mut encoder = Encoder::new(&store).checksum(true);
    let mut decoder = Decoder::new(&store);
    let all = dictionaries();
    let ids: Vec<Id> = all.iter().map(|bytes| store.insert(bytes).unwrap()).collect();
    for turn in 0..40 {
        let (id, dictionary) = match turn * 5 % (all.len() + 1) {
            0 => (Id::NONE, &[][..]),
            at => (ids[at - 1], &all[at - 1][..]),
        };
        let content = rows(turn as u64, 200 + 300 * turn);
        let mut frame = vec![0; Encoder::bound(content.len())];
        let n = encoder.encode(id, &content, &mut frame).unwrap();
        assert_eq!(libzstd(dictionary, &frame[..n], content.len()).as_ref(), Some(&content));
        let mut out = vec![0; content.len()];
        assert_eq!(decoder.decode(id, &frame[..n], &mut out), Ok(content.len()));
        assert!(out == content);
        let short = encoder.encode(id, &content, &mut frame[..n / 2]);
        assert_eq!(short.unwrap_err().kind, Kind::OutputTooSmall);
    }
    store.release(ids[0]).unwrap();
    assert_eq!(encoder.encode(ids[0], b"row", &mut [0; 99]).unwrap_err().kind, Kind::BadArgument);
    assert_eq!(Encoder::new(&store).level(23).err().unwrap().kind, Kind::BadArgument);
}

#[test]
fn higher_levels_compress_smaller() {
    let store = Store::new();
    let id = store.insert(&train(1, 8 << 10)).unwrap();
    let content = rows(2, 8 << 10);
    let size = |level| {
        let mut frame = vec![0; Encoder::bound(content.len())];
        Encoder::new(&store).level(level).unwrap().encode(id, &content, &mut frame).unwrap()
    };
    assert!(size(19) < size(3) && size(3) < size(-7));
}
