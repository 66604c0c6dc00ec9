//! The two sample types of version 1. A chunk does not record which one it holds.

mod sealed {
    pub trait Sealed {}
    impl Sealed for i16 {}
    impl Sealed for u16 {}
}

/// A 16-bit sample: `i16` or `u16`. Both are coded as the same 16-bit words.
pub trait Sample: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    #[doc(hidden)]
    fn words(samples: &[Self]) -> &[i16];
    #[doc(hidden)]
    fn words_mut(samples: &mut [Self]) -> &mut [i16];
}

impl Sample for i16 {
    fn words(samples: &[i16]) -> &[i16] {
        samples
    }
    fn words_mut(samples: &mut [i16]) -> &mut [i16] {
        samples
    }
}

impl Sample for u16 {
    fn words(samples: &[u16]) -> &[i16] {
        bytemuck::cast_slice(samples)
    }
    fn words_mut(samples: &mut [u16]) -> &mut [i16] {
        bytemuck::cast_slice_mut(samples)
    }
}
