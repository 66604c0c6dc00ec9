//! Options of a connection, as passed from Java.

use std::sync::Arc;

use linerate_gateway::{Checks, Dictionaries, Encoding, Limits, Session, Transport};

use crate::recorder::Recorder;

/// The arguments of `Native.create`, and the dictionaries and recorder that are set after it.
pub(crate) struct Options {
    /// The ordinal of the Java enum `Transport`.
    pub(crate) transport: i32,
    pub(crate) max_message: i32,
    pub(crate) window_log: i32,
    /// The ordinal of the Java enum `Checks`.
    pub(crate) checks: i32,
    /// Maximum number of recent messages to keep; 0 keeps none.
    pub(crate) keep_messages: i32,
    /// Maximum number of compressed bytes of all kept messages; 0 keeps none.
    pub(crate) keep_bytes: i32,
    /// Dictionaries of zstd frames.
    pub(crate) dictionaries: Option<Arc<Dictionaries>>,
    /// The recorder of the connection's messages. It stops when nobody holds it.
    pub(crate) recorder: Option<Arc<Recorder>>,
}

impl Options {
    /// Creates a session with these options, whose values Java has checked, but without a recorder.
    pub(crate) fn session(&self) -> Session {
        // The Java enum `Transport` has the order of `Transport::ALL`.
        let transport = Transport::ALL[unsigned(self.transport)];
        let limits = Limits::new()
            .max_message(unsigned(self.max_message))
            .window_log(u8::try_from(self.window_log).unwrap_or(0));
        let mut session = Session::new(transport, limits).checks(self.checks());
        if let Some(dictionaries) = &self.dictionaries {
            session = session.dictionaries(Arc::clone(dictionaries));
        }
        match (unsigned(self.keep_messages), unsigned(self.keep_bytes)) {
            (0, _) | (_, 0) => session,
            (messages, bytes) => session.keep_recent(messages, bytes),
        }
    }

    /// The encoding in which payloads are read: JSON, unless the checks are for another one.
    pub(crate) fn encoding(&self) -> Encoding {
        self.checks().encoding.unwrap_or(Encoding::Json)
    }

    fn checks(&self) -> Checks {
        match self.checks {
            1 => Checks::complete(Encoding::Json),
            2 => Checks::complete(Encoding::Etf),
            3 => Checks::complete(Encoding::Json).sequence(true),
            4 => Checks::complete(Encoding::Etf).sequence(true),
            _ => Checks::NONE,
        }
    }
}

fn unsigned(number: i32) -> usize {
    usize::try_from(number).unwrap_or(0)
}
