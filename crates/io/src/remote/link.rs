//! Asking a server for a range until it is there, or the tries are used up.

use core::fmt::Debug;
use core::ops::Range;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use linerate_core::Result;

use super::HttpOptions;
use super::answer::Known;
use super::fault::{CHANGED, Fault};

/// How a range is asked for.
pub(super) trait Ask: Debug + Send + Sync {
    /// Sends one request, and checks that a range of a file comes back: of the file that is
    /// `known`, where the server can be asked for that one.
    fn ask(&self, wanted: Range<u64>, known: Option<&Known>) -> core::result::Result<Answer, Fault>;
}

/// What came back, not yet read.
pub(super) struct Answer {
    pub(super) range: Range<u64>,
    pub(super) known: Known,
    pub(super) body: Box<dyn Read + Send>,
}

/// The longest pause between two tries, whatever the server asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A file on a server.
#[derive(Debug)]
pub(super) struct Link {
    asks: Box<dyn Ask>,
    options: HttpOptions,
    /// Since when it is left alone, and why.
    given_up: Mutex<Option<(Instant, Fault)>>,
}

impl Link {
    pub(super) fn new(asks: impl Ask + 'static, options: HttpOptions) -> Link {
        Link { asks: Box::new(asks), options, given_up: Mutex::default() }
    }

    pub(super) fn options(&self) -> &HttpOptions {
        &self.options
    }

    /// Fills `out` with the bytes from `start` on, fewer if the file ends before; how many is
    /// returned. `known` is what is known of the file: `None` before the first answer.
    pub(super) fn fetch(&self, start: u64, out: &mut [u8], known: &mut Option<Known>) -> Result<usize> {
        let (mut done, mut tries, mut pause) = (0, 1, self.options.retry_delay);
        loop {
            if let Some((since, fault)) = &*self.given_up()
                && since.elapsed() < self.options.cooldown
            {
                return Err(fault.at(start + done as u64));
            }
            let fault = match self.attempt(start, out, &mut done, known) {
                Ok(()) => return Ok(done),
                Err(fault) => fault,
            };
            let Some(asked) = fault.again.filter(|_| tries < self.options.max_attempts) else {
                let error = fault.at(start + done as u64);
                *self.given_up() = fault.again.map(|_| (Instant::now(), fault));
                return Err(error);
            };
            std::thread::sleep(asked.max(pause).min(LONGEST_PAUSE));
            pause = pause.saturating_mul(2);
            tries += 1;
        }
    }

    fn given_up(&self) -> MutexGuard<'_, Option<(Instant, Fault)>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One try, which goes on after the first `done` bytes of `out` and counts what comes.
    fn attempt(
        &self,
        start: u64,
        out: &mut [u8],
        done: &mut usize,
        known: &mut Option<Known>,
    ) -> core::result::Result<(), Fault> {
        let from = start + *done as u64;
        let to = start + out.len() as u64;
        if from == to {
            return Ok(());
        }
        let mut answer = self.asks.ask(from..to, known.as_ref())?;
        let known = known.get_or_insert_with(|| answer.known.clone());
        if *known != answer.known {
            return Err(Fault::corrupt(CHANGED));
        }
        let to = to.min(known.len);
        if answer.range != (from..to) {
            return Err(Fault::corrupt("the server sends another range than it was asked for"));
        }
        // No more than `out` is long.
        let out = &mut out[..(to - start) as usize];
        while *done < out.len() {
            match answer.body.read(&mut out[*done..]) {
                Ok(0) => return Err(Fault::passing("the server broke off its answer", Duration::ZERO)),
                Ok(n) => *done += n,
                Err(e) => return Err(Fault::of_connection(&e)),
            }
        }
        // Reading its end also frees the connection for the next request.
        match answer.body.read(&mut [0]) {
            Ok(1..) => Err(Fault::corrupt("the server sends more than the range")),
            _ => Ok(()),
        }
    }
}
