//! Peer decoders of one connection, for `linerate gateway replay --decoder`.

use linerate_gateway::Transport;

use super::decoders::{CONTENDERS, Contender, Decoder, Shared};

/// Bytes that a zlib message ends with.
const SUFFIX: [u8; 4] = [0, 0, 0xff, 0xff];
/// Largest buffer for a payload, in bytes.
const MAX_BUFFER: usize = 1 << 30;

/// A peer's decoder of one connection.
pub struct PeerDecoder {
    contender: &'static Contender,
    decoder: Box<dyn Decoder>,
    shared: Shared,
    /// Parts of a message that is not whole.
    parts: Vec<u8>,
}

impl PeerDecoder {
    /// Names of the peers in this build, sorted.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<_> =
            CONTENDERS.iter().map(|c| c.name).filter(|name| *name != "linerate").collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Opens the peer `name` for payloads of at most `max_message` bytes (1 GiB at most).
    ///
    /// # Errors
    /// A sentence: it has no memory, or does not know this transport.
    pub fn open(name: &str, transport: Transport, max_message: usize) -> Result<PeerDecoder, String> {
        let contender = CONTENDERS.iter().find(|c| c.name == name && c.transport == transport);
        let contender = contender.ok_or_else(|| format!("{name} does not decode {transport}"))?;
        Ok(PeerDecoder {
            contender,
            decoder: (contender.open)()?,
            shared: Shared::new(max_message.min(MAX_BUFFER)),
            parts: Vec::new(),
        })
    }

    /// Decodes what one websocket message brought; `None` if the rest of the message is still to come. The
    /// four bytes at the end of a zlib message are taken as its end wherever they stand.
    ///
    /// # Errors
    /// The decoder's message.
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

    /// Bytes held, if the library reports them.
    pub fn memory(&self) -> Option<usize> {
        self.decoder.reported_memory()
    }
}
