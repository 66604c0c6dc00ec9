//! The decoder that the features choose. It is made once, and each call decodes a file in memory
//! into a slice.

pub(crate) use chosen::Decoder;

#[cfg(feature = "linerate")]
mod chosen {
    use linerate_zstd::{FrameDecoder, Options, Scratch};

    pub(crate) struct Decoder(Scratch);

    impl Decoder {
        pub(crate) fn new() -> Self {
            Decoder(Scratch::new())
        }

        /// Returns the number of bytes written.
        pub(crate) fn decode(&mut self, frames: &[u8], out: &mut [u8]) -> Option<usize> {
            FrameDecoder::new(Options::default()).decode(&mut self.0, None, frames, out).ok()
        }
    }
}

#[cfg(feature = "ruzstd")]
mod chosen {
    use ruzstd::decoding::FrameDecoder;

    pub(crate) struct Decoder(FrameDecoder);

    impl Decoder {
        pub(crate) fn new() -> Self {
            Decoder(FrameDecoder::new())
        }

        pub(crate) fn decode(&mut self, frames: &[u8], out: &mut [u8]) -> Option<usize> {
            self.0.decode_all(frames, out).ok()
        }
    }
}

#[cfg(feature = "libzstd")]
mod chosen {
    use zstd_sys::{ZSTD_DCtx, ZSTD_createDCtx, ZSTD_decompressDCtx, ZSTD_isError};

    pub(crate) struct Decoder(*mut ZSTD_DCtx);

    impl Decoder {
        pub(crate) fn new() -> Self {
            // SAFETY: the function takes nothing, and returns a new context or null, which means
            // that there is no memory; decoding with null would be an error of libzstd's caller.
            Decoder(unsafe { ZSTD_createDCtx() })
        }

        pub(crate) fn decode(&mut self, frames: &[u8], out: &mut [u8]) -> Option<usize> {
            // SAFETY: input and output are valid for the lengths of their slices; the context is
            // from `new`.
            unsafe {
                let len = ZSTD_decompressDCtx(
                    self.0,
                    out.as_mut_ptr().cast(),
                    out.len(),
                    frames.as_ptr().cast(),
                    frames.len(),
                );
                (ZSTD_isError(len) == 0).then_some(len)
            }
        }
    }
}

#[cfg(not(any(feature = "linerate", feature = "ruzstd", feature = "libzstd")))]
mod chosen {
    pub(crate) struct Decoder;

    impl Decoder {
        pub(crate) fn new() -> Self {
            Decoder
        }

        pub(crate) fn decode(&mut self, bytes: &[u8], out: &mut [u8]) -> Option<usize> {
            let len = bytes.len().min(out.len());
            out[..len].copy_from_slice(&bytes[..len]);
            Some(out.len())
        }
    }
}
