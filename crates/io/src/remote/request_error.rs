//! Errors of requests: their cause, and whether to retry.

use core::fmt;
use std::io;
use std::time::Duration;

use linerate_core::{Error, Kind};

/// The error of one attempt.
#[derive(Clone, Debug)]
pub(super) struct RequestError {
    kind: Kind,
    message: &'static str,
    /// Delay before the next attempt that the server asks for, or 0. Only transient errors have
    /// one.
    pub(super) retry_after: Option<Duration>,
    /// Whether every later request for this file must fail too.
    pub(super) is_final: bool,
}

impl RequestError {
    const fn new(kind: Kind, message: &'static str) -> RequestError {
        RequestError { kind, message, retry_after: None, is_final: false }
    }

    /// An error of the connection or the server that another attempt would not mend.
    pub(super) const fn io(message: &'static str) -> RequestError {
        RequestError::new(Kind::Read, message)
    }

    /// An invalid response.
    pub(super) const fn corrupt(message: &'static str) -> RequestError {
        RequestError::new(Kind::Corrupt, message)
    }

    /// The server has another version of the file at the same URL, no byte of which may be used.
    pub(super) const fn changed() -> RequestError {
        RequestError {
            is_final: true,
            ..RequestError::corrupt("the file on the server changed while it was read")
        }
    }

    /// The file has 0 bytes, and therefore no range to request.
    pub(super) const fn empty() -> RequestError {
        RequestError::new(Kind::Truncated, "the file on the server is empty")
    }

    /// Returns whether the file is empty or ends before the range begins.
    pub(super) fn is_past_the_end(&self) -> bool {
        self.kind == Kind::Truncated
    }

    /// A transient error.
    pub(super) const fn transient(message: &'static str, pause: Duration) -> RequestError {
        RequestError { retry_after: Some(pause), ..RequestError::io(message) }
    }

    /// Makes the error of a request for credentials from the error that a file would have.
    #[cfg(feature = "s3")]
    pub(super) fn of_credentials(self) -> RequestError {
        let message = match self.retry_after {
            Some(_) => "the server of the S3 credentials cannot be reached, or cannot answer at the moment",
            None => "the server of the S3 credentials gives none out, or its address is wrong",
        };
        RequestError { retry_after: self.retry_after, ..RequestError::io(message) }
    }

    /// Makes the error of a read at `offset`.
    pub(super) fn at(&self, offset: u64) -> Error {
        Error::new(self.kind, offset, self.message)
    }

    /// Makes the error of a response without a range. `pause` is its `Retry-After`, or 0.
    pub(super) fn from_status(status: u16, pause: Duration) -> RequestError {
        match status {
            200 => RequestError::io("the server does not serve ranges of the file"),
            401 | 403 | 407 => RequestError::io("the server denies access to the file"),
            404 | 410 => RequestError::io("the server has no such file"),
            408 | 429 | 500 | 502 | 503 | 504 => {
                RequestError::transient("the server cannot answer at the moment", pause)
            }
            301 | 302 | 303 | 307 | 308 => {
                RequestError::io("the file is at another address: another region or endpoint")
            }
            412 => RequestError::changed(),
            416 => {
                RequestError::new(Kind::Truncated, "the file on the server ends before the range asked for")
            }
            _ => RequestError::io("the server refuses the request"),
        }
    }

    /// Makes the error of a request that got no response, or not all of it.
    pub(super) fn from_transport(error: &ureq::Error) -> RequestError {
        use ureq::Error as E;
        let transient = |message| RequestError::transient(message, Duration::ZERO);
        match error {
            E::Timeout(_) => transient("the server takes too long"),
            E::Io(error) => RequestError::from_connection(error),
            E::ConnectionFailed => transient("the server cannot be reached"),
            E::HostNotFound => RequestError::io(NO_HOST),
            E::TooManyRedirects | E::RedirectFailed => RequestError::io("the server redirects too often"),
            E::RequireHttpsOnly(_) => RequestError::io("the server redirects from https to http"),
            E::InvalidProxyUrl | E::ConnectProxyFailed(_) => RequestError::io("the proxy cannot be used"),
            E::Tls(_) | E::Rustls(_) | E::Pem(_) => RequestError::io(UNTRUSTED),
            E::BadUri(_) | E::Http(_) => RequestError::new(Kind::BadArgument, "the URL cannot be read"),
            _ => RequestError::corrupt("the server's answer is not HTTP"),
        }
    }

    /// Makes the error of a failed or broken connection.
    pub(super) fn from_connection(error: &io::Error) -> RequestError {
        let transient = |message| RequestError::transient(message, Duration::ZERO);
        if let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
            return RequestError::from_transport(inner);
        }
        if let Some(failure) = RequestError::from_lookup(error) {
            return failure;
        }
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => transient("the server takes too long"),
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable => transient("the server cannot be reached"),
            io::ErrorKind::InvalidData => RequestError::io(UNTRUSTED),
            _ => transient("the connection to the server broke"),
        }
    }

    /// Makes the error of looking up the server's name, if `error` is one. The standard library has
    /// no kind for it.
    fn from_lookup(error: &io::Error) -> Option<RequestError> {
        const WSATRY_AGAIN: i32 = 11_002;
        let code = error.raw_os_error().filter(|code| cfg!(windows) && (11_001..=11_004).contains(code));
        let text = error.to_string();
        let reason = text.strip_prefix("failed to lookup address information");
        // Only EAI_AGAIN of getaddrinfo's errors is transient. These are its texts in glibc, musl
        // and other C libraries.
        let again = ["Temporary failure in name resolution", "Try again", "Name server failure"];
        let is_transient = reason.is_some_and(|reason| again.iter().any(|words| reason.contains(words)));
        match (code, reason) {
            (None, None) => None,
            (Some(code), _) if code != WSATRY_AGAIN => Some(RequestError::io(NO_HOST)),
            (None, Some(_)) if !is_transient => Some(RequestError::io(NO_HOST)),
            _ => Some(RequestError::transient("the name of the server cannot be looked up", Duration::ZERO)),
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl core::error::Error for RequestError {}

/// Message for a name that the system cannot look up.
const NO_HOST: &str = "there is no server of that name";

const UNTRUSTED: &str = "no trusted connection to the server: its certificate or its TLS is not accepted";
