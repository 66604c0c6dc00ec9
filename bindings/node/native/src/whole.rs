//! Functions for a whole buffer, in the calling thread and on the thread pool.

use linerate_core::{Error, Kind};
use linerate_deflate::Level;
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::error::raise;
use crate::memory::{Pool, buffer_of};

static ZSTD_SCRATCH: Pool<linerate_zstd::Scratch> = Pool::new();

/// The operation on a buffer.
#[derive(Clone, Copy)]
enum Job {
    Deflate(linerate_deflate::Format, Level),
    Inflate(linerate_inflate::Format, usize),
    Zstd(usize),
}

impl Job {
    fn run(self, input: &[u8]) -> linerate_core::Result<Vec<u8>> {
        match self {
            Job::Deflate(format, level) => deflate(format, level, input),
            Job::Inflate(format, limit) => linerate_inflate::decode_to_vec(format, input, limit),
            Job::Zstd(limit) => ZSTD_SCRATCH.with(|scratch| {
                linerate_zstd::FrameDecoder::default().decode_into_vec(scratch, None, input, limit)
            }),
        }
    }

    fn now(self, env: &Env, input: &[u8]) -> Result<Buffer> {
        let output = self.run(input).map_err(|error| raise(env, error))?;
        buffer_of(env, output)
    }

    /// Copies the input, since the caller may change it before the task runs.
    fn later(self, input: &[u8]) -> AsyncTask<Later> {
        AsyncTask::new(Later { job: self, input: input.to_vec() })
    }
}

fn deflate(format: linerate_deflate::Format, level: Level, input: &[u8]) -> linerate_core::Result<Vec<u8>> {
    linerate_deflate::with_thread_scratch(linerate_deflate::compress_bound(input.len()), |scratch, out| {
        let n = linerate_deflate::compress(format, level, scratch, input, out)?;
        Ok(out[..n].to_vec())
    })
}

/// A job on the thread pool.
pub struct Later {
    job: Job,
    input: Vec<u8>,
}

impl Task for Later {
    type Output = linerate_core::Result<Vec<u8>>;
    type JsValue = Buffer;

    fn compute(&mut self) -> Result<Self::Output> {
        std::panic::catch_unwind(|| self.job.run(&self.input))
            .map_err(|_| napi::Error::from_reason("an internal error occurred"))
    }

    fn resolve(&mut self, env: Env, output: Self::Output) -> Result<Buffer> {
        buffer_of(&env, output.map_err(|error| raise(&env, error))?)
    }
}

fn deflate_job(env: &Env, format: &str, level: u8) -> Result<Job> {
    use linerate_deflate::Format::{Deflate, Gzip, Zlib};
    let format =
        [("zlib", Zlib), ("gzip", Gzip), ("raw", Deflate)].into_iter().find(|(name, _)| *name == format);
    let (_, format) = format.ok_or_else(|| no_format(env))?;
    Ok(Job::Deflate(format, Level::from_number(level).map_err(|error| raise(env, error))?))
}

fn inflate_job(env: &Env, format: &str, limit: f64) -> Result<Job> {
    use linerate_inflate::Format::{Deflate, Gzip, Zlib};
    let format =
        [("zlib", Zlib), ("gzip", Gzip), ("raw", Deflate)].into_iter().find(|(name, _)| *name == format);
    let (_, format) = format.ok_or_else(|| no_format(env))?;
    Ok(Job::Inflate(format, limit as usize))
}

fn no_format(env: &Env) -> napi::Error {
    raise(env, Error::new(Kind::BadArgument, 0, "the format must be \"zlib\", \"gzip\" or \"raw\""))
}

#[napi(catch_unwind)]
pub fn deflate_sync(env: Env, data: &[u8], format: String, level: u8) -> Result<Buffer> {
    deflate_job(&env, &format, level)?.now(&env, data)
}

#[napi(catch_unwind)]
pub fn deflate_task(env: Env, data: &[u8], format: String, level: u8) -> Result<AsyncTask<Later>> {
    Ok(deflate_job(&env, &format, level)?.later(data))
}

#[napi(catch_unwind)]
pub fn inflate_sync(env: Env, data: &[u8], format: String, limit: f64) -> Result<Buffer> {
    inflate_job(&env, &format, limit)?.now(&env, data)
}

#[napi(catch_unwind)]
pub fn inflate_task(env: Env, data: &[u8], format: String, limit: f64) -> Result<AsyncTask<Later>> {
    Ok(inflate_job(&env, &format, limit)?.later(data))
}

#[napi(catch_unwind)]
pub fn zstd_decompress_sync(env: Env, data: &[u8], limit: f64) -> Result<Buffer> {
    Job::Zstd(limit as usize).now(&env, data)
}

#[napi(catch_unwind)]
pub fn zstd_decompress_task(data: &[u8], limit: f64) -> AsyncTask<Later> {
    Job::Zstd(limit as usize).later(data)
}
