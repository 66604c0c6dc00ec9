//! Asking a server for a range until it is there, or the tries are used up.

use core::ops::Range;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use linerate_core::Result;
use ureq::http::header::{ACCEPT_ENCODING, RANGE, RETRY_AFTER};
use ureq::{Agent, BodyReader};

use super::HttpOptions;
use super::answer::{self, Known};
use super::fault::Fault;

/// Redirects that one request follows.
const REDIRECTS: u32 = 5;

/// The longest pause between two tries, whatever the server asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// What is added to the time of day has to stay one.
const LONGEST_SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Connections to one server, and the URL there.
#[derive(Debug)]
pub(super) struct Link {
    agent: Agent,
    url: String,
    options: HttpOptions,
    /// Since when it is left alone, and why.
    given_up: Mutex<Option<(Instant, Fault)>>,
}

/// What came back, not yet read.
struct Answer {
    range: Range<u64>,
    known: Known,
    body: BodyReader<'static>,
}

impl Link {
    pub(super) fn new(url: &str, mut options: HttpOptions) -> Link {
        options.silence = options.silence.min(LONGEST_SILENCE);
        let secure = url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("linerate-nx/", env!("CARGO_PKG_VERSION")))
            .https_only(secure)
            .max_redirects(REDIRECTS)
            .timeout_connect(Some(options.silence))
            .timeout_recv_response(Some(options.silence))
            .timeout_per_read(Some(options.silence))
            .timeout_per_write(Some(options.silence));
        if !options.proxies {
            config = config.proxy(None);
        }
        let agent = config.build().new_agent();
        Link { agent, url: url.to_owned(), options, given_up: Mutex::default() }
    }

    pub(super) fn options(&self) -> &HttpOptions {
        &self.options
    }

    /// Fills `out` with the bytes from `start` on, fewer if the archive ends before; how many is
    /// returned. `known` is what is known of the archive: `None` before the first answer.
    pub(super) fn fetch(&self, start: u64, out: &mut [u8], known: &mut Option<Known>) -> Result<usize> {
        let (mut done, mut tries, mut pause) = (0, 1, self.options.pause);
        loop {
            if let Some((since, fault)) = &*self.given_up()
                && since.elapsed() < self.options.rest
            {
                return Err(fault.at(start + done as u64));
            }
            let fault = match self.attempt(start, out, &mut done, known) {
                Ok(()) => return Ok(done),
                Err(fault) => fault,
            };
            let Some(asked) = fault.again.filter(|_| tries < self.options.tries) else {
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
        let mut answer = self.ask(from..to)?;
        let known = known.get_or_insert_with(|| answer.known.clone());
        if *known != answer.known {
            return Err(Fault::corrupt("the archive on the server changed while it was read"));
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

    /// Sends one request, and checks that a range of the archive comes back.
    fn ask(&self, wanted: Range<u64>) -> core::result::Result<Answer, Fault> {
        let len = wanted.end - wanted.start;
        let patience = Duration::from_secs(len / self.options.slowest.max(1));
        let request = self
            .agent
            .get(&self.url)
            .header(RANGE, format!("bytes={}-{}", wanted.start, wanted.end - 1))
            // A compressed answer would have other ranges.
            .header(ACCEPT_ENCODING, "identity")
            .config()
            .timeout_global(Some(patience.saturating_add(self.options.silence.saturating_mul(2))))
            .build();
        let response = request.call().map_err(|e| Fault::of_request(&e))?;
        let (parts, body) = response.into_parts();
        if parts.status != 206 {
            let after = parts.headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
            return Err(Fault::of_status(parts.status.as_u16(), Duration::from_secs(after.unwrap_or(0))));
        }
        let (range, known) = answer::read(&parts.headers)?;
        if body.content_length().is_some_and(|said| said != range.end - range.start) {
            return Err(Fault::corrupt("the server's Content-Length is not that of its range"));
        }
        Ok(Answer { range, known, body: body.into_reader() })
    }
}
