//! Why a request failed, and whether it is worth another try.

use std::io;
use std::time::Duration;

use linerate_core::{Error, Kind};

/// A failed try.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    kind: Kind,
    what: &'static str,
    /// Whether it may pass, and the shortest pause before the next try.
    pub(super) again: Option<Duration>,
}

impl Fault {
    const fn new(kind: Kind, what: &'static str) -> Fault {
        Fault { kind, what, again: None }
    }

    /// Of the connection, or of what the server offers.
    pub(super) const fn io(what: &'static str) -> Fault {
        Fault::new(Kind::Read, what)
    }

    /// Of what the server sent.
    pub(super) const fn corrupt(what: &'static str) -> Fault {
        Fault::new(Kind::Corrupt, what)
    }

    /// One that may pass after a pause.
    pub(super) const fn passing(what: &'static str, pause: Duration) -> Fault {
        Fault { again: Some(pause), ..Fault::io(what) }
    }

    /// As an error of the read at `at`.
    pub(super) fn at(&self, at: u64) -> Error {
        Error::new(self.kind, at, self.what)
    }

    /// Of an answer that is no range. `pause` is what the server asks for.
    pub(super) fn of_status(status: u16, pause: Duration) -> Fault {
        match status {
            200 => Fault::io("the server does not serve ranges of the file"),
            401 | 403 | 407 => Fault::io("the server denies access to the file"),
            404 | 410 => Fault::io("the server has no such file"),
            408 | 429 | 500 | 502 | 503 | 504 => {
                Fault::passing("the server cannot answer at the moment", pause)
            }
            301 | 302 | 303 | 307 | 308 => {
                Fault::io("the file is at another address: another region or endpoint")
            }
            412 => Fault::corrupt(CHANGED),
            416 => Fault::new(Kind::Truncated, "the file on the server ends before the range asked for"),
            _ => Fault::io("the server refuses the request"),
        }
    }

    /// Of a request without an answer.
    pub(super) fn of_request(error: &ureq::Error) -> Fault {
        use ureq::Error as E;
        let passing = |what| Fault::passing(what, Duration::ZERO);
        match error {
            E::Timeout(_) => passing("the server takes too long"),
            E::Io(error) => Fault::of_connection(error),
            E::ConnectionFailed => passing("the server cannot be reached"),
            E::HostNotFound => Fault::io("no server of that name is known"),
            E::TooManyRedirects | E::RedirectFailed => Fault::io("the server redirects too often"),
            E::RequireHttpsOnly(_) => Fault::io("the server redirects from https to http"),
            E::InvalidProxyUrl | E::ConnectProxyFailed(_) => Fault::io("the proxy cannot be used"),
            E::Tls(_) | E::Rustls(_) | E::Pem(_) => Fault::io(UNTRUSTED),
            E::BadUri(_) | E::Http(_) => Fault::new(Kind::BadArgument, "the URL cannot be read"),
            _ => Fault::corrupt("the server's answer is not HTTP"),
        }
    }

    /// Of a connection that was not made, or that broke.
    pub(super) fn of_connection(error: &io::Error) -> Fault {
        let passing = |what| Fault::passing(what, Duration::ZERO);
        if let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
            return Fault::of_request(inner);
        }
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => passing("the server takes too long"),
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable => passing("the server cannot be reached"),
            io::ErrorKind::InvalidData => Fault::io(UNTRUSTED),
            _ => passing("the connection to the server broke"),
        }
    }
}

/// Said of another file at the same address.
pub(super) const CHANGED: &str = "the file on the server changed while it was read";

const UNTRUSTED: &str = "no trusted connection to the server: its certificate or its TLS is not accepted";
