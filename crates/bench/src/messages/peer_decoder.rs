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
    /// Names of the peers, also of those that this build lacks: help texts are the same in every build.
    pub const NAMES: [&str; 5] = ["libzstd", "libzstd 8K", "zlib", "zlib-ng", "zlib-rs"];

    /// Opens the peer `name` for payloads of at most `max_message` bytes (1 GiB at most).
    ///
    /// # Errors
    /// A sentence: it has no memory, does not know this transport, or is not in this build.
    pub fn open(name: &str, transport: Transport, max_message: usize) -> Result<PeerDecoder, String> {
        let known = || CONTENDERS.iter().filter(|c| c.name == name);
        let contender = known().find(|c| c.transport == transport).ok_or_else(|| {
            match known().next().is_some() || !PeerDecoder::NAMES.contains(&name) {
                true => format!("{name} does not decode {transport}"),
                false => format!("built without the feature `{name}`"),
            }
        })?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_of_this_build_has_its_name_in_the_list() {
        for peer in CONTENDERS.iter().filter(|c| c.name != "linerate") {
            assert!(PeerDecoder::NAMES.contains(&peer.name), "{}", peer.name);
            assert!(PeerDecoder::open(peer.name, peer.transport, 100).is_ok(), "{}", peer.name);
        }
    }

    #[test]
    fn a_peer_that_cannot_be_opened_says_why() {
        let error = |name, transport| PeerDecoder::open(name, transport, 100).err();
        assert_eq!(error("libzstd", Transport::Zlib).as_deref(), Some("libzstd does not decode zlib-stream"));
        #[cfg(not(feature = "zlib-ng"))]
        assert_eq!(error("zlib-ng", Transport::Zlib).as_deref(), Some("built without the feature `zlib-ng`"));
    }
}
