//! Small zstd blocks through thousands of dictionaries: a store, and decoders of batches.

use linerate_core::{Error, Kind};
use linerate_dict::{Decoder, Id, Job, Order, Store, StoreOptions};

use crate::border::{buffers, input, output, place, run, value_or};
use crate::error::linerate_error;
use crate::handles::Table;

/// A store of zstd dictionaries, each of which has a number. Many threads may use it. Decoders keep
/// its content alive, so it may be freed before them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_store {
    /// The handle.
    pub id: u64,
}

/// A decoder of blocks that use the dictionaries of a store. It takes about 290 KiB. One thread at
/// a time may use it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_block_decoder {
    /// The handle.
    pub id: u64,
}

/// Options of a store. linerate_store_defaults fills them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_store_options {
    /// Memory for decoding tables, in bytes. If it is used up, the store evicts tables that were
    /// not used lately; if it cannot, it builds tables for one block alone. Default: no limit.
    pub table_budget: usize,
    /// Largest total size of the dictionaries, in bytes, each rounded up to a multiple of 64.
    /// Beyond it, insertions fail with LINERATE_LIMIT. Default: no limit.
    pub raw_limit: usize,
    /// If not 0, the store uses huge pages where the system has them. Default: 1.
    pub huge_pages: u8,
    /// Reserved: 0.
    pub reserved: [u8; 7],
}

/// Counters of a store.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_store_stats {
    /// Number of dictionaries.
    pub dictionaries: usize,
    /// Total size of the dictionaries in bytes, each rounded up to a multiple of 64.
    pub raw_bytes: usize,
    /// Number of trained dictionaries whose decoding tables are built and kept. Raw content needs
    /// none.
    pub digested: usize,
    /// Total size of these tables in bytes, those of each dictionary rounded up to a multiple of
    /// 64.
    pub table_bytes: usize,
    /// Number of times that the tables of a dictionary were built and kept.
    pub digests: u64,
    /// Number of times that the tables of a dictionary were evicted.
    pub evictions: u64,
}

/// One block of a batch.
#[repr(C)]
pub struct linerate_job {
    /// The dictionary of the block: a number from linerate_store_insert, or 0 for none.
    pub dictionary: u64,
    /// The block, a zstd frame.
    pub block: *const u8,
    /// Size of the block in bytes.
    pub len: usize,
    /// Buffer for the content. It must not overlap a block, or a buffer of another job of the
    /// batch.
    pub out: *mut u8,
    /// Size of that buffer in bytes.
    pub capacity: usize,
    /// Result: size of the content in bytes, or 0 after an error.
    pub written: usize,
    /// Result: the error of this block. It does not affect other blocks.
    pub error: linerate_error,
}

/// Orders in which the jobs of a batch are decoded. The jobs keep their places in the array.
#[repr(i32)]
pub enum linerate_order {
    /// Grouped by dictionary if there are on average at least two jobs for each dictionary,
    /// otherwise in the given order.
    LINERATE_ORDER_ANY = 0,
    /// The order of the array.
    LINERATE_ORDER_AS_GIVEN = 1,
    /// Grouped by dictionary in any case: all jobs of one dictionary one after another, in the
    /// order of the array.
    LINERATE_ORDER_BY_DICTIONARY = 2,
}

/// Checks that a job of the engine takes 72 bytes, which the comment of
/// [`linerate_block_decoder_batch`] states.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Job<'_>>() == 72);

static STORES: Table<Store> = Table::new(8);
static DECODERS: Table<Decoder> = Table::new(9);

/// Returns the default options.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_store_defaults() -> linerate_store_options {
    linerate_store_options {
        table_budget: usize::MAX,
        raw_limit: usize::MAX,
        huge_pages: 1,
        reserved: [0; 7],
    }
}

/// Allocates an empty store.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_store_new(
    options: *const linerate_store_options,
    store: *mut linerate_store,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, store) = unsafe { (value_or!(options, linerate_store_defaults())?, place!(store)?) };
        let options = StoreOptions::new()
            .table_budget(options.table_budget)
            .raw_limit(options.raw_limit)
            .huge_pages(options.huge_pages != 0);
        store.write(linerate_store { id: STORES.insert(Store::with_options(options))? });
        Ok(())
    })
}

/// Frees a store. Its dictionaries are freed together with the last decoder that uses the store.
/// Ignores a store whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_store_free(store: linerate_store) -> linerate_error {
    run(|| STORES.free_unless_zero(store.id))
}

/// Copies a dictionary into the store and stores its number in dictionary. The bytes are a trained
/// dictionary, or raw content of at least 8 bytes. Inserting the same bytes again gives the same
/// number; each insertion needs its own linerate_store_release.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_store_insert(
    store: linerate_store,
    bytes: *const u8,
    len: usize,
    dictionary: *mut u64,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (bytes, dictionary) = unsafe { (input!(bytes, len)?, place!(dictionary)?) };
        dictionary.write(STORES.share(store.id)?.insert(bytes)?.get());
        Ok(())
    })
}

/// Undoes one insertion of a dictionary. When all its insertions are undone, the store frees it,
/// and its number is unknown and never used again.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_store_release(store: linerate_store, dictionary: u64) -> linerate_error {
    run(|| {
        STORES.share(store.id)?.release(Id::from_raw(dictionary))?;
        Ok(())
    })
}

/// Stores the counters of a store.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_store_get_stats(
    store: linerate_store,
    stats: *mut linerate_store_stats,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let stats = unsafe { place!(stats) }?;
        let now = STORES.share(store.id)?.stats();
        stats.write(linerate_store_stats {
            dictionaries: now.dictionaries,
            raw_bytes: now.raw_bytes,
            digested: now.digested,
            table_bytes: now.table_bytes,
            digests: now.digests,
            evictions: now.evictions,
        });
        Ok(())
    })
}

/// Allocates a decoder for blocks that use the dictionaries of a store.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_block_decoder_new(
    store: linerate_store,
    decoder: *mut linerate_block_decoder,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let decoder = unsafe { place!(decoder) }?;
        let new = Decoder::new(&*STORES.share(store.id)?);
        decoder.write(linerate_block_decoder { id: DECODERS.insert(new)? });
        Ok(())
    })
}

/// Frees a decoder. Ignores one whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_block_decoder_free(decoder: linerate_block_decoder) -> linerate_error {
    run(|| DECODERS.free_unless_zero(decoder.id))
}

/// Decodes one block, which is exactly one zstd frame, with a dictionary of the store, or with none
/// if dictionary is 0. If the store has no tables for the dictionary, it allocates and builds them
/// first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_block_decoder_decode(
    decoder: linerate_block_decoder,
    dictionary: u64,
    block: *const u8,
    len: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let ((block, out), written) = unsafe { (buffers!(block, len, out, capacity)?, place!(written)?) };
        written.write(DECODERS.lock(decoder.id)?.decode(Id::from_raw(dictionary), block, out)?);
        Ok(())
    })
}

/// Decodes a batch of count jobs, and prefetches the memory of each job while it decodes the job
/// before. order is a linerate_order. Stores the results in the jobs. The function fails, and then
/// changes no job, only if the decoder, the order or the pointers of a job are invalid, or if memory
/// runs out. While it runs, it allocates memory for as many jobs; on 64-bit systems a job takes 72
/// bytes. The decoder keeps another 4 bytes for each job of its largest batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_block_decoder_batch(
    decoder: linerate_block_decoder,
    jobs: *mut linerate_job,
    count: usize,
    order: i32,
) -> linerate_error {
    run(|| {
        let order = match order {
            0 => Order::Any,
            1 => Order::AsGiven,
            2 => Order::ByDictionary,
            _ => return Err(linerate_error::bad_argument(c"unknown order")),
        };
        // SAFETY: the caller's promise.
        let jobs = unsafe { output!(jobs, count) }?;
        let mut decoder = DECODERS.lock(decoder.id)?;
        let mut running = Vec::new();
        let no_memory = Error::new(Kind::Limit, 0, "out of memory for the jobs");
        running.try_reserve_exact(jobs.len()).map_err(|_| no_memory)?;
        for job in &*jobs {
            // SAFETY: the caller's promises.
            let (block, out) = unsafe { buffers!(block: job.block, job.len, out: job.out, job.capacity) }?;
            running.push(Job::new(Id::from_raw(job.dictionary), block, out));
        }
        decoder.decode_batch(&mut running, order);
        for (job, done) in jobs.iter_mut().zip(running) {
            match done.result {
                Ok(written) => (job.written, job.error) = (written, linerate_error::OK),
                Err(error) => (job.written, job.error) = (0, error.into()),
            }
        }
        Ok(())
    })
}
