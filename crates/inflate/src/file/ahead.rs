//! [`Ahead`]: a thread that decodes a file ahead of its reader.

use std::io::{self, ErrorKind, Read, Write};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use linerate_core::Error;

use super::serial::Serial;
use crate::index::{self, Index};
use crate::options::Format;
use crate::parallel;
use crate::stream_decoder::DataEnd;

/// Size in bytes of the batches of content that are handed over.
const BATCH: usize = 256 << 10;
/// Maximum number of batches that wait for the reader.
const WAITING: usize = 8;
/// Minimum number of threads that decode together without an index, which takes about twice the CPU
/// time of one. With fewer, one thread decodes alone.
const TOGETHER: usize = 3;

/// The file, and its index if there is one.
pub(super) type Indexed<R> = (R, Option<Index>);

pub(super) struct Ahead<R> {
    batches: Option<Receiver<Vec<u8>>>,
    free: Sender<Vec<u8>>,
    thread: Option<JoinHandle<(Indexed<R>, io::Result<()>)>>,
    batch: Vec<u8>,
    /// Number of bytes of the batch that have been read.
    at: usize,
    pub(super) has_index: bool,
}

impl<R: Read + Send + 'static> Ahead<R> {
    /// Starts decoding a file from its beginning. Returns the file if no thread can be started.
    pub(super) fn start(file: Indexed<R>, threads: usize) -> Result<Self, Indexed<R>> {
        let has_index = file.1.is_some();
        let (give, batches) = sync_channel(WAITING);
        let (free, used) = channel();
        // The file is sent once the thread has started, so that it is not lost if none can start.
        let (hand_over, take) = channel::<Indexed<R>>();
        let work = move || {
            let (mut source, index) = take.recv().expect("the file follows");
            let mut writer = Batches { give, used, batch: Vec::new() };
            let result = match &index {
                Some(index) => index::decode(&mut source, index, &mut writer, threads).map(|_| ()),
                None => decode(&mut source, &mut writer, if threads < TOGETHER { 1 } else { threads }),
            };
            // Content before an error comes first.
            let result = writer.hand_over().and(result);
            ((source, index), result)
        };
        match Builder::new().name("linerate-gzip".into()).spawn(work) {
            Ok(thread) => {
                hand_over.send(file).expect("the thread takes it");
                let (batches, thread) = (Some(batches), Some(thread));
                Ok(Ahead { batches, free, thread, batch: Vec::new(), at: 0, has_index })
            }
            Err(_) => Err(file),
        }
    }

    /// Returns 0 only at the end and at an error, which [`stop`](Self::stop) returns, unless `dst`
    /// is empty.
    pub(super) fn read(&mut self, dst: &mut [u8]) -> io::Result<usize> {
        while !dst.is_empty() && self.at == self.batch.len() {
            let batches = self.batches.as_ref().expect("not stopped");
            let Ok(batch) = batches.recv() else { return Ok(0) };
            // The thread may have ended.
            let _ = self.free.send(std::mem::replace(&mut self.batch, batch));
            self.at = 0;
        }
        let len = dst.len().min(self.batch.len() - self.at);
        dst[..len].copy_from_slice(&self.batch[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }

    /// Ends the thread. Returns the file and the result of decoding it.
    pub(super) fn stop(mut self) -> (Indexed<R>, io::Result<()>) {
        self.batches = None;
        let thread = self.thread.take().expect("it is stopped once");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl<R> Drop for Ahead<R> {
    /// Waits for the thread, because it uses the file.
    fn drop(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Decodes all members on `threads` threads, with the same result as [`Serial`].
fn decode(source: &mut impl Read, writer: &mut impl Write, threads: usize) -> io::Result<()> {
    let mut serial = Serial::new(source)?;
    let Some((at, read)) = serial.first_data()? else { return Ok(()) };
    let read = read.to_vec();
    let options = parallel::Options::new(Format::Gzip).threads(threads);
    let end = parallel::decode_data(read.chain(&mut serial.source), &mut *writer, &options);
    let end = end.map_err(|error| match error.downcast::<Error>() {
        Ok(error) => error.shifted(at).into(),
        Err(error) => error,
    })?;
    let parallel::DataEnd { totals, check, len, rest, .. } = end;
    serial.go_on(DataEnd { at: at + totals.bytes_in, check, len }, rest);
    let mut content = vec![0; BATCH];
    loop {
        match serial.read(&mut content)? {
            0 => return Ok(()),
            n => writer.write_all(&content[..n])?,
        }
    }
}

/// Hands over content in batches. If the reader is gone, writing fails and decoding ends.
struct Batches {
    give: SyncSender<Vec<u8>>,
    /// Memory of batches that have been read.
    used: Receiver<Vec<u8>>,
    batch: Vec<u8>,
}

impl Batches {
    fn hand_over(&mut self) -> io::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let mut next = self.used.try_recv().unwrap_or_default();
        next.clear();
        let batch = std::mem::replace(&mut self.batch, next);
        self.give.send(batch).map_err(|_| ErrorKind::BrokenPipe.into())
    }
}

impl Write for Batches {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(BATCH - self.batch.len());
        self.batch.reserve_exact(BATCH - self.batch.len());
        self.batch.extend_from_slice(&bytes[..len]);
        if self.batch.len() == BATCH {
            self.hand_over()?;
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
