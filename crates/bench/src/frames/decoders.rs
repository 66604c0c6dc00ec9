//! Decoders of the shape "frames": ours, libzstd, and with feature `ruzstd` that crate.

use linerate_zstd::{Dictionary, FrameDecoder, Options, Scratch, StreamDecoder};
use zstd_safe::{CCtx, CParameter, DCtx, DDict, InBuffer, OutBuffer, get_error_name};

use crate::decoding::Decode;

/// All that this build has, with the dictionary digested.
pub(crate) fn contenders(dictionary: Option<&[u8]>) -> Result<Vec<Box<dyn Decode>>, String> {
    Ok(vec![
        Box::new(Ours::new(dictionary)?),
        Box::new(Libzstd::new(dictionary)),
        #[cfg(feature = "ruzstd")]
        Box::new(ruzstd::Ruzstd::new(dictionary)?),
    ])
}

struct Ours {
    dictionary: Option<Dictionary<'static>>,
    scratch: Scratch,
}

impl Ours {
    fn new(dictionary: Option<&[u8]>) -> Result<Self, String> {
        let dictionary = dictionary.map(Dictionary::new).transpose().map_err(|e| e.to_string())?;
        Ok(Ours { dictionary, scratch: Scratch::new() })
    }
}

impl Decode for Ours {
    fn name(&self) -> &'static str {
        "linerate"
    }

    fn version(&self) -> String {
        format!("{} {}", env!("CARGO_PKG_VERSION"), linerate_core::cpu::tier().name())
    }

    fn decode(&mut self, frame: &[u8], out: &mut [u8]) -> Result<usize, String> {
        let decoder = FrameDecoder::new(Options::new());
        decoder.decode(&mut self.scratch, self.dictionary.as_ref(), frame, out).map_err(|e| e.to_string())
    }

    /// With a window of 64 KiB.
    fn state_bytes(&self) -> Option<usize> {
        let (stream, _) = messages()?;
        let mut decoder = StreamDecoder::new(Options::new());
        let (mut scratch, mut out) = (Scratch::new(), vec![0; 1 << 20]);
        decoder.decode(&mut scratch, None, &stream, &mut out).ok()?;
        Some(decoder.memory())
    }

    fn scratch_bytes(&self) -> Option<usize> {
        Some(self.scratch.memory())
    }
}

struct Libzstd {
    dictionary: Option<DDict<'static>>,
    context: DCtx<'static>,
}

impl Libzstd {
    fn new(dictionary: Option<&[u8]>) -> Self {
        Libzstd { dictionary: dictionary.map(DDict::create), context: DCtx::create() }
    }
}

impl Decode for Libzstd {
    fn name(&self) -> &'static str {
        "libzstd"
    }

    fn version(&self) -> String {
        zstd_safe::version_string().into()
    }

    fn decode(&mut self, frame: &[u8], out: &mut [u8]) -> Result<usize, String> {
        match &self.dictionary {
            Some(dictionary) => self.context.decompress_using_ddict(out, frame, dictionary),
            None => self.context.decompress(out, frame),
        }
        .map_err(|e| get_error_name(e).into())
    }

    /// With a window of 64 KiB.
    fn state_bytes(&self) -> Option<usize> {
        let (stream, content) = messages()?;
        let mut context = DCtx::create();
        let mut input = InBuffer::around(&stream);
        let mut out = vec![0; content];
        let mut output = OutBuffer::around(&mut out[..]);
        while input.pos() < stream.len() {
            context.decompress_stream(&mut output, &mut input).ok()?;
        }
        Some(context.sizeof())
    }

    /// Contexts share nothing.
    fn scratch_bytes(&self) -> Option<usize> {
        Some(0)
    }
}

/// A stream of flushed messages with a window of 64 KiB that has not ended, and the length of its content.
fn messages() -> Option<(Vec<u8>, usize)> {
    use zstd_safe::zstd_sys::ZSTD_EndDirective::ZSTD_e_flush;
    let rows = crate::corpus::Corpus::rows(300_000).files.concat();
    let mut context = CCtx::create();
    context.set_parameter(CParameter::WindowLog(16)).ok()?;
    let mut stream = Vec::with_capacity(2 * rows.len());
    for message in rows.chunks(1000) {
        let at = stream.len();
        let mut output = OutBuffer::around_pos(&mut stream, at);
        let mut input = InBuffer::around(message);
        while context.compress_stream2(&mut output, &mut input, ZSTD_e_flush).ok()? > 0 {}
    }
    Some((stream, rows.len()))
}

#[cfg(feature = "ruzstd")]
mod ruzstd {
    use ruzstd::decoding::{Dictionary, FrameDecoder};

    pub(super) struct Ruzstd {
        decoder: FrameDecoder,
    }

    impl Ruzstd {
        pub(super) fn new(dictionary: Option<&[u8]>) -> Result<Self, String> {
            let mut decoder = FrameDecoder::new();
            if let Some(bytes) = dictionary {
                let dictionary = Dictionary::decode_dict(bytes).map_err(|e| e.to_string())?;
                decoder.add_dict(dictionary).map_err(|e| e.to_string())?;
            }
            Ok(Ruzstd { decoder })
        }
    }

    impl crate::decoding::Decode for Ruzstd {
        fn name(&self) -> &'static str {
            "ruzstd"
        }

        fn version(&self) -> String {
            env!("BENCH_VERSION_RUZSTD").into()
        }

        fn decode(&mut self, frame: &[u8], out: &mut [u8]) -> Result<usize, String> {
            self.decoder.decode_all(frame, out).map_err(|e| e.to_string())
        }

        fn state_bytes(&self) -> Option<usize> {
            None
        }

        fn scratch_bytes(&self) -> Option<usize> {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_stream_of_ours_is_much_smaller() {
        let [ours, theirs] = [&Ours::new(None).unwrap() as &dyn Decode, &Libzstd::new(None)]
            .map(|contender| contender.state_bytes().unwrap());
        assert!(ours <= 80_000, "{ours}");
        assert!(theirs > 3 * ours, "{theirs}");
    }
}
