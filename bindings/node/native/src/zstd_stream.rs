//! The class behind `ZstdDecompress`: zstd frames that arrive in pieces and are decoded on the
//! thread pool.

use std::sync::{Arc, Mutex, MutexGuard};

use linerate_core::{Error, Kind, lock};
use linerate_zstd::{Options, Scratch, Status, StreamDecoder};
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::error::{broken, raise};
use crate::memory::{Pool, ReportedMemory, buffer_of};

static SCRATCH: Pool<Scratch> = Pool::new();

/// A decoder and the input that it has not read.
struct State {
    decoder: StreamDecoder,
    input: Vec<u8>,
    read: usize,
    /// Number of bytes of output that are still allowed.
    left: u64,
}

/// A decoder of frames that arrive in pieces.
#[napi]
pub struct ZstdStream {
    state: Arc<Mutex<State>>,
    reported: ReportedMemory,
}

#[napi]
impl ZstdStream {
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, window_log: u8, limit: f64) -> Self {
        let decoder = StreamDecoder::new(Options::new().window_limit(1 << window_log));
        let state = State { decoder, input: Vec::new(), read: 0, left: limit as u64 };
        ZstdStream { state: Arc::new(Mutex::new(state)), reported: ReportedMemory::new(env) }
    }

    /// Copies the next input, which [`step`](Self::step) decodes.
    #[napi(catch_unwind)]
    pub fn write(&mut self, env: Env, data: &[u8]) -> Result<()> {
        let mut state = self.lock(&env)?;
        state.input.clear();
        state.read = 0;
        let no_memory = Error::new(Kind::Limit, 0, "out of memory for the input");
        state.input.try_reserve_exact(data.len()).map_err(|_| raise(&env, no_memory))?;
        state.input.extend_from_slice(data);
        let memory = state.decoder.memory() + state.input.capacity();
        drop(state);
        self.reported.update(memory)
    }

    /// Decodes at most `size` bytes of output on the thread pool. The task's result is this output,
    /// or null once all input is decoded.
    #[napi(catch_unwind)]
    pub fn step(&self, size: u32) -> AsyncTask<Step> {
        AsyncTask::new(Step { state: Arc::clone(&self.state), size: size as usize })
    }

    /// Checks that the input ends between frames.
    #[napi(catch_unwind)]
    pub fn finish(&self, env: Env) -> Result<()> {
        let state = self.lock(&env)?;
        if state.decoder.is_between_frames() {
            return Ok(());
        }
        let what = "the input ends before the frame does";
        Err(raise(&env, Error::new(Kind::Truncated, state.decoder.position(), what)))
    }
}

impl ZstdStream {
    fn lock(&self, env: &Env) -> Result<MutexGuard<'_, State>> {
        self.state.lock().map_err(|_| broken(env))
    }
}

/// The task that decodes the next bytes.
pub struct Step {
    state: Arc<Mutex<State>>,
    size: usize,
}

impl Task for Step {
    type Output = linerate_core::Result<Option<Vec<u8>>>;
    type JsValue = Option<Buffer>;

    fn compute(&mut self) -> Result<Self::Output> {
        let decode = std::panic::AssertUnwindSafe(|| {
            let mut state = lock(&self.state);
            SCRATCH.with(|scratch| state.decode(scratch, self.size))
        });
        std::panic::catch_unwind(decode).map_err(|_| napi::Error::from_reason("an internal error occurred"))
    }

    fn resolve(&mut self, env: Env, output: Self::Output) -> Result<Self::JsValue> {
        let output = output.map_err(|error| raise(&env, error))?;
        output.map(|bytes| buffer_of(&env, bytes)).transpose()
    }
}

impl State {
    /// Decodes at least one and at most `size` bytes of output. Returns `None` if all input is
    /// decoded.
    fn decode(&mut self, scratch: &mut Scratch, size: usize) -> linerate_core::Result<Option<Vec<u8>>> {
        // One byte more than allowed tells whether there is more output.
        let size = size.min(usize::try_from(self.left).unwrap_or(usize::MAX).saturating_add(1));
        let mut out = Vec::new();
        let no_memory = Error::new(Kind::Limit, self.decoder.position(), "out of memory for the output");
        out.try_reserve_exact(size).map_err(|_| no_memory)?;
        out.resize(size, 0);
        let mut len = 0;
        while len < size {
            let input = &self.input[self.read..];
            let progress = match self.decoder.decode(scratch, None, input, &mut out[len..]) {
                Ok(progress) => progress,
                Err(error) if len == 0 => return Err(error),
                Err(_) => break, // the next call gets the same error again
            };
            (self.read, len) = (self.read + progress.read, len + progress.written);
            if progress.status == Status::NeedInput
                || (self.read == self.input.len() && progress.status == Status::FrameEnd)
            {
                break;
            }
        }
        let too_long = Error::new(Kind::Limit, self.decoder.position(), "the content is above the limit");
        self.left = self.left.checked_sub(len as u64).ok_or(too_long)?;
        out.truncate(len);
        Ok((len > 0).then_some(out))
    }
}
