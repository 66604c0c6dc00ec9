//! Decodes whole frames in memory, with the names of the `zstd` crate.

use std::io;

use crate::decoder::FrameDecoder;
use crate::dict::DecoderDictionary;
use crate::dictionary::Dictionary;
use crate::frame::{Format, frame_extent};
use crate::options::Options;
use crate::scratch::Scratch;
use crate::stream::{AnyDictionary, window_of};

/// Decodes whole frames, and keeps its working memory for the next ones.
pub struct Decompressor<'a> {
    options: Options,
    scratch: Scratch,
    dictionary: AnyDictionary<'a>,
}

impl Decompressor<'static> {
    /// Makes a decompressor without a dictionary.
    ///
    /// # Errors
    /// Never fails. The signature is that of the `zstd` crate.
    pub fn new() -> io::Result<Self> {
        Self::with_dictionary(&[])
    }

    /// Makes a decompressor with a dictionary, trained or raw content, and copies the dictionary.
    /// An empty dictionary counts as none.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`].
    pub fn with_dictionary(dictionary: &[u8]) -> io::Result<Self> {
        let dictionary = AnyDictionary::copy(dictionary)?;
        Ok(Decompressor { options: Options::new(), scratch: Scratch::new(), dictionary })
    }
}

impl<'a> Decompressor<'a> {
    /// Makes a decompressor with a digested dictionary.
    ///
    /// # Errors
    /// Never fails. The signature is that of the `zstd` crate.
    pub fn with_prepared_dictionary<'b: 'a>(dictionary: &'a DecoderDictionary<'b>) -> io::Result<Self> {
        let dictionary = AnyDictionary::prepared(dictionary);
        Ok(Decompressor { options: Options::new(), scratch: Scratch::new(), dictionary })
    }

    /// Replaces the dictionary.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`].
    pub fn set_dictionary(&mut self, dictionary: &[u8]) -> io::Result<()> {
        self.dictionary = AnyDictionary::copy(dictionary)?;
        Ok(())
    }

    /// Replaces the dictionary by a digested one.
    ///
    /// # Errors
    /// Never fails. The signature is that of the `zstd` crate.
    pub fn set_prepared_dictionary<'b: 'a>(
        &mut self,
        dictionary: &'a DecoderDictionary<'b>,
    ) -> io::Result<()> {
        self.dictionary = AnyDictionary::prepared(dictionary);
        Ok(())
    }

    /// Sets whether frames begin with their magic number. Default: yes.
    ///
    /// # Errors
    /// Never fails. The signature is that of the `zstd` crate.
    pub fn include_magicbytes(&mut self, include: bool) -> io::Result<()> {
        self.options = self.options.format(if include { Format::Standard } else { Format::Magicless });
        Ok(())
    }

    /// Checks that a window logarithm is within 10 to 31. It limits nothing, because whole frames
    /// need no window.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::InvalidInput`] if `log` is not 10 to 31.
    pub fn window_log_max(&mut self, log: u32) -> io::Result<()> {
        window_of(log).map(|_| ())
    }

    /// Decodes all frames of `source` into `destination`, and returns the number of bytes. The
    /// destination is a slice, an array, or the capacity of a vector, whose length is set.
    ///
    /// # Errors
    /// Returns the errors of [`FrameDecoder::decode`](crate::FrameDecoder::decode).
    pub fn decompress_to_buffer<D: Destination + ?Sized>(
        &mut self,
        source: &[u8],
        destination: &mut D,
    ) -> io::Result<usize> {
        let dictionary: Option<&Dictionary<'_>> = self.dictionary.get();
        let (decoder, scratch) = (FrameDecoder::new(self.options), &mut self.scratch);
        destination.fill(|out| Ok(decoder.decode(scratch, dictionary, source, out)?))
    }

    /// Decodes all frames of `source` into a vector of at most `capacity` bytes.
    ///
    /// # Errors
    /// Returns the errors of
    /// [`FrameDecoder::decode_into_vec`](crate::FrameDecoder::decode_into_vec).
    pub fn decompress(&mut self, source: &[u8], capacity: usize) -> io::Result<Vec<u8>> {
        let decoder = FrameDecoder::new(self.options);
        Ok(decoder.decode_into_vec(&mut self.scratch, self.dictionary.get(), source, capacity)?)
    }

    /// Returns an upper bound of the content of all frames, computed from their headers, or `None`
    /// if they are damaged or the bound does not fit a `usize`.
    pub fn upper_bound(source: &[u8]) -> Option<usize> {
        let (mut at, mut bound) = (0, 0_usize);
        while at < source.len() {
            let extent = frame_extent(&source[at..], Format::Standard).ok()?;
            bound = bound.checked_add(usize::try_from(extent.bound).ok()?)?;
            at += extent.compressed;
        }
        Some(bound)
    }
}

/// Calls [`Decompressor::decompress_to_buffer`] without a dictionary.
///
/// # Errors
/// Returns the errors of [`Decompressor::decompress_to_buffer`].
pub fn decompress_to_buffer<D: Destination + ?Sized>(
    source: &[u8],
    destination: &mut D,
) -> io::Result<usize> {
    Decompressor::new()?.decompress_to_buffer(source, destination)
}

/// Calls [`Decompressor::decompress`] without a dictionary.
///
/// # Errors
/// Returns the errors of [`Decompressor::decompress`].
pub fn decompress(source: &[u8], capacity: usize) -> io::Result<Vec<u8>> {
    Decompressor::new()?.decompress(source, capacity)
}

/// Memory that [`Decompressor::decompress_to_buffer`] writes to.
pub trait Destination {
    /// Calls `write` with the memory, and keeps as many bytes as `write` returns.
    ///
    /// # Errors
    /// Returns the errors of `write`.
    fn fill(&mut self, write: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize>;
}

impl Destination for [u8] {
    fn fill(&mut self, write: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        write(self)
    }
}

impl<const N: usize> Destination for [u8; N] {
    fn fill(&mut self, write: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        write(self)
    }
}

impl Destination for Vec<u8> {
    fn fill(&mut self, write: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        self.clear();
        self.resize(self.capacity(), 0);
        let result = write(self);
        self.truncate(result.as_ref().map_or(0, |n| *n));
        result
    }
}
