//! Working memory of a thread, behind one handle for all engines.

use crate::border::{place, run};
use crate::error::{Call, linerate_error};
use crate::handles::{Alone, Table};

/// Engines that need working memory. The sum of some of these values selects the engines that a
/// linerate_scratch is for.
#[repr(u32)]
pub enum linerate_engine {
    /// Deflate streams and sessions: at most 600 KiB. Levels 0 to 3 touch only 127 KiB of it; level
    /// 3 touches another 320 KiB if the data is 16-bit samples. The first call at level 8 or 9 with
    /// this memory allocates another 7 MiB, which stay allocated. Sessions do not need them.
    LINERATE_ENGINE_DEFLATE = 1,
    /// Inflate: about 12 KiB.
    LINERATE_ENGINE_INFLATE = 2,
    /// zstd frames and streams: at most 320 KiB.
    LINERATE_ENGINE_ZSTD = 4,
    /// Gateway sessions: a buffer for payloads, which grows to the largest one. It keeps up to 1
    /// MiB for good, and frees what is above after 256 payloads in a row of at most 1 MiB. The
    /// memory of inflate and zstd is added when it is first needed.
    LINERATE_ENGINE_GATEWAY = 8,
}

use linerate_engine::{
    LINERATE_ENGINE_DEFLATE, LINERATE_ENGINE_GATEWAY, LINERATE_ENGINE_INFLATE, LINERATE_ENGINE_ZSTD,
};

/// Working memory. No result depends on earlier calls, so one per thread serves any number of
/// streams. One thread at a time may use it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_scratch {
    /// The handle.
    pub id: u64,
}

/// Working memory of the engines that the caller selected. The others are `None`.
pub(crate) struct Scratch {
    deflate: Option<Box<linerate_deflate::Scratch>>,
    inflate: Option<Box<linerate_inflate::Scratch>>,
    zstd: Option<linerate_zstd::Scratch>,
    gateway: Option<linerate_gateway::Scratch>,
}

static SCRATCHES: Table<Scratch> = Table::new(1);

const ABSENT: linerate_error = linerate_error::bad_argument(c"the scratch was not made for this engine");

impl linerate_scratch {
    pub(crate) fn lock(self) -> Call<Alone<'static, Scratch>> {
        SCRATCHES.lock(self.id)
    }
}

impl Scratch {
    fn new(engines: u32) -> Call<Scratch> {
        let known =
            [LINERATE_ENGINE_DEFLATE, LINERATE_ENGINE_INFLATE, LINERATE_ENGINE_ZSTD, LINERATE_ENGINE_GATEWAY];
        let known = known.into_iter().fold(0, |sum, engine| sum | engine as u32);
        if engines == 0 || engines & !known != 0 {
            return Err(linerate_error::bad_argument(c"not a sum of engines"));
        }
        let has = |engine: linerate_engine| engines & engine as u32 != 0;
        Ok(Scratch {
            deflate: has(LINERATE_ENGINE_DEFLATE).then(linerate_deflate::Scratch::boxed),
            inflate: has(LINERATE_ENGINE_INFLATE).then(Box::default),
            zstd: has(LINERATE_ENGINE_ZSTD).then(linerate_zstd::Scratch::new),
            gateway: has(LINERATE_ENGINE_GATEWAY).then(linerate_gateway::Scratch::new),
        })
    }

    pub(crate) fn deflate(&mut self) -> Call<&mut linerate_deflate::Scratch> {
        self.deflate.as_deref_mut().ok_or(ABSENT)
    }

    pub(crate) fn inflate(&mut self) -> Call<&mut linerate_inflate::Scratch> {
        self.inflate.as_deref_mut().ok_or(ABSENT)
    }

    pub(crate) fn zstd(&mut self) -> Call<&mut linerate_zstd::Scratch> {
        self.zstd.as_mut().ok_or(ABSENT)
    }

    pub(crate) fn gateway(&mut self) -> Call<&mut linerate_gateway::Scratch> {
        self.gateway.as_mut().ok_or(ABSENT)
    }
}

/// Allocates working memory for the engines whose linerate_engine values add up to engines. A
/// function of another engine then fails with LINERATE_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_scratch_new(
    engines: u32,
    scratch: *mut linerate_scratch,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let scratch = unsafe { place!(scratch) }?;
        let id = SCRATCHES.insert(Scratch::new(engines)?)?;
        scratch.write(linerate_scratch { id });
        Ok(())
    })
}

/// Frees working memory. Ignores a scratch whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_scratch_free(scratch: linerate_scratch) -> linerate_error {
    run(|| SCRATCHES.free_unless_zero(scratch.id))
}
