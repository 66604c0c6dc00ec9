//! The recent messages of a connection as a recording.

use std::time::{SystemTime, UNIX_EPOCH};

use linerate_gateway::{Entry, Recorder, Session};

/// A recording of what is kept, `None` if nothing is kept or a message is too long for it. When the
/// messages came is not known any more: all of them have the time of now.
pub(crate) fn recording(session: &Session) -> Option<Vec<u8>> {
    let recent = session.recent()?;
    let mut recorder = Recorder::new(Vec::new(), session.transport()).ok()?;
    let time = now();
    for frame in recent.frames() {
        recorder.add(&Entry::Frame { time, payload: None, wire: frame.to_vec() }).ok()?;
    }
    recorder.finish().ok()
}

/// Nanoseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
