//! The hot loops, and all `unsafe` code of this crate.
#![allow(unsafe_code)]

pub(crate) mod bits;
pub(crate) mod matcher {
    pub(crate) struct FastTable([u16; 8192]);
    impl FastTable {
        pub(crate) const fn new() -> Self {
            FastTable([0; 8192])
        }
    }
    pub(crate) struct Table([u16; 16384]);
    impl Table {
        pub(crate) const fn new() -> Self {
            Table([0; 16384])
        }
    }
}
pub(crate) mod token {
    pub(crate) struct Tokens([u32; 16384]);
    impl Tokens {
        pub(crate) const fn new() -> Self {
            Tokens([0; 16384])
        }
    }
}
pub(crate) mod trees {
    pub(crate) struct Trees([u32; 512]);
    impl Trees {
        pub(crate) const fn new() -> Self {
            Trees([0; 512])
        }
    }
}
#[cfg(feature = "alloc")]
pub(crate) mod zeroed;
