//! Range requests with retries, exponential backoff, and a cooldown after failure.

use core::fmt::Debug;
use core::ops::Range;
use std::io::Read;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use linerate_core::{Error, Result, lock};

use super::HttpOptions;
use super::request_error::RequestError;
use super::response::FileVersion;

/// Sends range requests.
pub(super) trait RangeRequester: Debug + Send + Sync {
    /// Sends one request for `wanted`, and checks that the response is a range, but not which.
    /// Requests this `version` of the file (`If-Match`), if it has a validator that the protocol
    /// can use.
    fn request(
        &self,
        wanted: Range<u64>,
        version: Option<&FileVersion>,
    ) -> core::result::Result<RangeResponse, RequestError>;
}

/// A range response whose body is not read yet.
pub(super) struct RangeResponse {
    pub(super) range: Range<u64>,
    pub(super) version: FileVersion,
    pub(super) body: Box<dyn Read + Send>,
}

/// Longest delay between two attempts, whatever the server or the options ask for.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// Fetches ranges of one file on a server.
#[derive(Debug)]
pub(super) struct RetryClient {
    requester: Box<dyn RangeRequester>,
    options: HttpOptions,
    /// Time and error of the last fetch that failed, if the error is transient or final. Fetches
    /// fail with this error during the cooldown, or always if it is final. [`fail`](Self::fail)
    /// sets the field; a fetch that succeeds does not clear it.
    unavailable_since: Mutex<Option<(Instant, RequestError)>>,
}

impl RetryClient {
    pub(super) fn new(requester: impl RangeRequester + 'static, options: HttpOptions) -> RetryClient {
        RetryClient { requester: Box::new(requester), options, unavailable_since: Mutex::default() }
    }

    pub(super) fn options(&self) -> &HttpOptions {
        &self.options
    }

    /// Fills `out` with the bytes from `start`, or fewer if the file ends before. Returns their
    /// number. `version` is the version of the file; it is `None` before the first response.
    pub(super) fn fetch(
        &self,
        start: u64,
        out: &mut [u8],
        version: &mut Option<FileVersion>,
    ) -> Result<usize> {
        let (mut done, mut attempt, mut delay) = (0, 1, self.options.retry_delay);
        loop {
            if let Some((since, error)) = &*self.unavailable_since()
                && (error.is_final || since.elapsed() < self.options.cooldown)
            {
                return Err(error.at(start + done as u64));
            }
            let error = match self.attempt(start, out, &mut done, version) {
                Ok(()) => return Ok(done),
                Err(error) => error,
            };
            let Some(retry_after) = error.retry_after.filter(|_| attempt < self.options.max_attempts) else {
                let failure = error.at(start + done as u64);
                self.fail(error);
                return Err(failure);
            };
            std::thread::sleep(retry_after.max(delay).min(MAX_RETRY_DELAY));
            delay = delay.saturating_mul(2);
            attempt += 1;
        }
    }

    /// Stores a transient or final error for later reads. An error of another kind clears what is
    /// stored. A final error is never replaced or cleared.
    fn fail(&self, error: RequestError) {
        let mut unavailable = self.unavailable_since();
        if !matches!(&*unavailable, Some((_, earlier)) if earlier.is_final) {
            let stays = error.is_final || error.retry_after.is_some();
            *unavailable = stays.then(|| (Instant::now(), error));
        }
    }

    /// Returns the final error, at offset 0, with which all later fetches fail, if there was one.
    pub(super) fn end(&self) -> Option<Error> {
        let unavailable = self.unavailable_since();
        unavailable.as_ref().filter(|(_, error)| error.is_final).map(|(_, error)| error.at(0))
    }

    fn unavailable_since(&self) -> MutexGuard<'_, Option<(Instant, RequestError)>> {
        lock(&self.unavailable_since)
    }

    /// Makes one attempt: continues after the first `done` bytes of `out`, and adds the number of
    /// bytes received to `done`.
    fn attempt(
        &self,
        start: u64,
        out: &mut [u8],
        done: &mut usize,
        version: &mut Option<FileVersion>,
    ) -> core::result::Result<(), RequestError> {
        let from = start + *done as u64;
        let to = start + out.len() as u64;
        if from == to {
            return Ok(());
        }
        let mut response =
            self.requester.request(from..to, version.as_ref()).map_err(|error| match version {
                None if from == 0 && error.is_past_the_end() => RequestError::empty(),
                Some(version) if from < version.len && error.is_past_the_end() => RequestError::changed(),
                _ => error,
            })?;
        let version = version.get_or_insert_with(|| response.version.clone());
        if *version != response.version {
            return Err(RequestError::changed());
        }
        let to = to.min(version.len);
        if response.range != (from..to) {
            return Err(RequestError::corrupt("the server sends another range than it was asked for"));
        }
        // The file may end before `out` is full.
        let out = &mut out[..(to - start) as usize];
        while *done < out.len() {
            match response.body.read(&mut out[*done..]) {
                Ok(0) => {
                    return Err(RequestError::transient("the server broke off its answer", Duration::ZERO));
                }
                Ok(n) => *done += n,
                Err(e) => return Err(RequestError::from_connection(&e)),
            }
        }
        // Reading the end of the body also frees the connection for the next request.
        match response.body.read(&mut [0]) {
            Ok(1..) => Err(RequestError::corrupt("the server sends more than the range")),
            _ => Ok(()),
        }
    }
}
