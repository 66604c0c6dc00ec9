//! Other decoders than ours for one connection, for those who want to know what they say of it.

use linerate_gateway::Transport;

use super::decoders::{CONTENDERS, Contender, Decoder, Shared};

/// Bytes that a zlib message ends with.
const SUFFIX: [u8; 4] = [0, 0, 0xff, 0xff];
/// The largest room that is made for payloads.
const MOST: usize = 1 << 30;

/// The decoder of one connection, by somebody else.
pub struct Other {
    contender: &'static Contender,
    decoder: Box<dyn Decoder>,
    shared: Shared,
    /// Parts of a message that is not whole.
    parts: Vec<u8>,
}

impl Other {
    /// Their names, of this build.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<_> =
            CONTENDERS.iter().map(|c| c.name).filter(|name| *name != "linerate").collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Opens one with room for payloads of at most so many bytes, 1 GiB at most.
    ///
    /// # Errors
    /// A sentence: it has no memory, or does not know this transport.
    pub fn open(name: &str, transport: Transport, max_message: usize) -> Result<Other, String> {
        let contender = CONTENDERS.iter().find(|c| c.name == name && c.transport == transport);
        let contender = contender.ok_or_else(|| format!("{name} does not decode {transport}"))?;
        Ok(Other {
            contender,
            decoder: (contender.open)()?,
            shared: Shared::new(max_message.min(MOST)),
            parts: Vec::new(),
        })
    }

    /// Decodes what one websocket message brought; `None` if the rest of the message is still to come. The
    /// four bytes at the end of a zlib message are taken as its end wherever they stand.
    ///
    /// # Errors
    /// What the decoder says.
    pub fn message(&mut self, frame: &[u8]) -> Result<Option<&[u8]>, String> {
        if self.contender.transport == Transport::Zstd {
            return self.decoder.message(frame, &mut self.shared).map(Some);
        }
        self.parts.extend_from_slice(frame);
        if !self.parts.ends_with(&SUFFIX) {
            return Ok(None);
        }
        let decoded = self.decoder.message(&self.parts, &mut self.shared);
        self.parts.clear();
        decoded.map(Some)
    }

    /// Begins a new connection.
    ///
    /// # Errors
    /// A sentence: it has no memory.
    pub fn reset(&mut self) -> Result<(), String> {
        self.parts.clear();
        self.decoder = (self.contender.open)()?;
        Ok(())
    }

    /// Bytes that it says it holds, if it does.
    pub fn memory(&self) -> Option<usize> {
        self.decoder.told()
    }
}
