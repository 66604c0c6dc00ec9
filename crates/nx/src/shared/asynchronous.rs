//! [`AsyncFile`]: an asynchronous reader. An executor decodes while the task waits.

use std::future::Future;
use std::io::{self, BufRead, Seek, SeekFrom};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use linerate_core::{Error, Kind, Result, lock};
use linerate_io::ReadAt;

use super::SharedArchive;
use super::executor::Executor;
use super::open_file::OpenFile;
use super::pending::Pending;
use crate::error::PathError;

/// A file of a [`SharedArchive`] as an asynchronous reader. It implements `AsyncRead`,
/// `AsyncBufRead` and `AsyncSeek`: those of tokio with the feature `tokio`, those of `futures-io`
/// with the feature `futures-io`. The crate starts no runtime and depends on none.
///
/// Decoding needs CPU time, and reading the source blocks the thread. Both run on the executor of
/// the archive, as one job for each block, or for each 128 KiB of a stored block of a local source.
/// The task is woken when the job is done. Under tokio, use [`Executor::threads`] or
/// `Executor::new(n, move |job| drop(handle.spawn_blocking(job)))`. With [`Executor::inline`], the
/// default, jobs run in the task's own thread while it polls. A cached block is never sent to the
/// executor; if hashes are checked, its hash is computed while polling.
///
/// Dropping the future of a read loses no bytes: the position moves only when bytes are handed
/// over. Errors and hash checks are as in [`OpenFile`]. If the executor drops a job or a job
/// panics, all later reads fail with [`io::ErrorKind::Other`].
pub struct AsyncFile<S: ReadAt + 'static> {
    executor: Executor,
    state: LoadState<S>,
    /// The seek that tokio has started.
    #[cfg(feature = "tokio")]
    requested: Option<SeekFrom>,
}

enum LoadState<S: ReadAt + 'static> {
    Idle(Box<OpenFile<S>>),
    Loading(Pending<Option<Load<S>>>),
    /// The executor dropped a job, or the job panicked, and the file is gone with it.
    Lost,
}

/// The result of a job: the file, and whether it was loaded.
type Load<S> = (Box<OpenFile<S>>, Result<()>);

impl<S: ReadAt + 'static> SharedArchive<S> {
    /// Opens a file of exactly this path for asynchronous reading.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`SharedArchive::open`].
    pub fn open_async(&self, path: &str) -> core::result::Result<AsyncFile<S>, PathError> {
        self.open(path).map(OpenFile::into_async)
    }
}

impl<S: ReadAt + 'static> OpenFile<S> {
    /// Converts the file to an asynchronous reader at the same position.
    fn into_async(self) -> AsyncFile<S> {
        AsyncFile {
            executor: self.executor().clone(),
            state: LoadState::Idle(Box::new(self)),
            #[cfg(feature = "tokio")]
            requested: None,
        }
    }
}

impl<S: ReadAt + 'static> AsyncFile<S> {
    /// Waits for the running job, if there is one.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<io::Result<&mut OpenFile<S>>> {
        if let LoadState::Loading(pending) = &mut self.state {
            match ready!(Pin::new(pending).poll(context)) {
                Some((file, result)) => {
                    self.state = LoadState::Idle(file);
                    result?;
                }
                None => self.state = LoadState::Lost,
            }
        }
        Poll::Ready(match &mut self.state {
            LoadState::Idle(file) => Ok(file),
            LoadState::Loading(_) | LoadState::Lost => Err(lost().into()),
        })
    }

    /// Returns the bytes at the position; none at the end of the file.
    pub(super) fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        while !ready!(self.poll_idle(context))?.is_ready() {
            self.start_loading();
        }
        match &mut self.state {
            LoadState::Idle(file) => Poll::Ready(file.fill_buf()),
            LoadState::Loading(_) | LoadState::Lost => Poll::Ready(Err(lost().into())),
        }
    }

    pub(super) fn poll_copy(&mut self, context: &mut Context<'_>, out: &mut [u8]) -> Poll<io::Result<usize>> {
        if out.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let bytes = ready!(self.poll_bytes(context))?;
        let len = bytes.len().min(out.len());
        out[..len].copy_from_slice(&bytes[..len]);
        self.advance(len);
        Poll::Ready(Ok(len))
    }

    pub(super) fn advance(&mut self, count: usize) {
        if let LoadState::Idle(file) = &mut self.state {
            file.consume(count);
        }
    }

    pub(super) fn poll_seek_to(&mut self, context: &mut Context<'_>, to: SeekFrom) -> Poll<io::Result<u64>> {
        // An error of the block at the old position does not matter.
        let _ = ready!(self.poll_idle(context));
        Poll::Ready(match &mut self.state {
            LoadState::Idle(file) => file.seek(to),
            LoadState::Loading(_) | LoadState::Lost => Err(lost().into()),
        })
    }

    #[cfg(feature = "tokio")]
    pub(super) fn request_seek(&mut self, to: SeekFrom) {
        self.requested = Some(to);
    }

    /// Completes the requested seek. If none was requested, waits for the position.
    #[cfg(feature = "tokio")]
    pub(super) fn poll_requested_seek(&mut self, context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let to = self.requested.unwrap_or(SeekFrom::Current(0));
        let position = ready!(self.poll_seek_to(context, to));
        self.requested = None;
        Poll::Ready(position)
    }

    /// Hands the file to a job, which loads the bytes at its position and brings it back.
    fn start_loading(&mut self) {
        let LoadState::Idle(file) = core::mem::replace(&mut self.state, LoadState::Lost) else { return };
        let (asked, loaded) = (Mutex::new(Some(file)), Arc::new(Mutex::new(None)));
        let result = Arc::clone(&loaded);
        let work = move |_: &AtomicBool| {
            let file = lock(&asked).take();
            let load = file.map(|mut file| {
                let result = file.load();
                (file, result)
            });
            *lock(&loaded) = load;
        };
        let finish = move || lock(&result).take();
        self.state = LoadState::Loading(self.executor.run(1, work, finish));
    }
}

const fn lost() -> Error {
    Error::new(Kind::Read, 0, "the executor dropped a job, and the file with it")
}
