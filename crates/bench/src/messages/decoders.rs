//! Decoders of gateway messages, ours and those of other libraries, each with the state of one
//! connection.

use linerate_gateway::stats::{StatsOptions, StatsRecorder};
use linerate_gateway::{Limits, Scratch, Session, Transport};
use zlib_rs::Inflate;
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name};

use crate::harness::message;
#[cfg(any(feature = "zlib", feature = "zlib-ng"))]
use crate::kernel::inflate;
use crate::kernel::inflate::{Given, Resumable};

/// Bytes of output in each call of `libzstd 8K`.
const STEP: usize = 8 << 10;

/// Buffers shared by all connections of a thread.
pub(crate) struct Shared {
    scratch: Scratch,
    /// Output buffer, larger than any payload.
    out: Vec<u8>,
    step: Vec<u8>,
    /// The payload of a message that is decoded in several steps.
    gathered: Vec<u8>,
    /// Counts the messages of connections that record statistics. The first such connection starts
    /// the recorder.
    recorder: Option<StatsRecorder>,
}

impl Shared {
    pub(crate) fn new(longest: usize) -> Shared {
        // One extra byte, because a buffer that is full means an error.
        let capacity = longest + 1;
        Shared {
            scratch: Scratch::new(),
            out: vec![0; capacity],
            step: vec![0; STEP],
            gathered: Vec::with_capacity(capacity),
            recorder: None,
        }
    }

    /// Number of records that the running recorder has dropped so far; 0 if none is running.
    pub(crate) fn dropped(&self) -> u64 {
        self.recorder.as_ref().map_or(0, StatsRecorder::dropped)
    }

    /// Stops the recorder and its thread, if they are running, and returns the number of records
    /// that it dropped. The next connection that records starts another one.
    pub(crate) fn stop_recording(&mut self) -> Result<u64, String> {
        let Some(recorder) = self.recorder.take() else { return Ok(0) };
        recorder.stop().map_err(message)?;
        Ok(recorder.dropped())
    }
}

/// The decoder of one connection.
pub(crate) trait Decoder {
    /// Decodes the next message of the connection and returns its payload.
    fn message<'s>(&mut self, frame: &[u8], shared: &'s mut Shared) -> Result<&'s [u8], String>;

    /// Bytes that the connection holds, as reported by the library; `None` if it does not report
    /// them.
    fn reported_memory(&self) -> Option<usize> {
        None
    }
}

/// A contender: the name of a decoder, its transport, and a function that makes the decoder of a
/// connection.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) transport: Transport,
    pub(crate) open: Open,
}

/// Makes the decoder of a connection.
type Open = fn(&mut Shared) -> Result<Box<dyn Decoder>, String>;

/// Name of the contender whose session records each message for statistics, which costs time of the
/// decoding thread and of another one.
const RECORDED: &str = "linerate, recorded";

impl Contender {
    /// Whether this contender records statistics, for which another thread works.
    pub(crate) fn is_recorded(&self) -> bool {
        self.name == RECORDED
    }
}

const fn row(name: &'static str, transport: Transport, open: Open) -> Contender {
    Contender { name, transport, open }
}

/// All contenders of this build.
pub(crate) const CONTENDERS: &[Contender] = &[
    row("linerate", Transport::Zlib, |_| Ok(Box::new(Session::new(Transport::Zlib, Limits::new())))),
    row("zlib-rs", Transport::Zlib, |_| Ok(Box::new(Inflate::new(true, 15)))),
    row(RECORDED, Transport::Zlib, |shared| Ok(Box::new(recorded(Transport::Zlib, shared)?))),
    #[cfg(feature = "zlib")]
    row("zlib", Transport::Zlib, |_| Ok(Box::new(inflate::Zlib::new()?))),
    #[cfg(feature = "zlib-ng")]
    row("zlib-ng", Transport::Zlib, |_| Ok(Box::new(inflate::ZlibNg::new()?))),
    row("linerate", Transport::Zstd, |_| Ok(Box::new(Session::new(Transport::Zstd, Limits::new())))),
    row(RECORDED, Transport::Zstd, |shared| Ok(Box::new(recorded(Transport::Zstd, shared)?))),
    row("libzstd", Transport::Zstd, |_| Ok(Box::new(Libzstd(context()?)))),
    row("libzstd 8K", Transport::Zstd, |_| Ok(Box::new(LibzstdSteps(context()?)))),
];

/// A session that records statistics as programs with live statistics do: the size and verdict of
/// each message, and the decoding time of one in 16.
fn recorded(transport: Transport, shared: &mut Shared) -> Result<Session, String> {
    if shared.recorder.is_none() {
        shared.recorder = Some(StatsRecorder::start(StatsOptions::new()).map_err(message)?);
    }
    let session = Session::new(transport, Limits::new());
    Ok(match &shared.recorder {
        Some(recorder) => session.record_stats(recorder.connection()),
        None => session,
    })
}

/// Name of the contender that others of its transport are compared with.
pub(crate) fn base(transport: Transport) -> &'static str {
    if transport == Transport::Zstd { "libzstd" } else { "zlib-rs" }
}

impl Decoder for Session {
    fn message<'s>(&mut self, frame: &[u8], shared: &'s mut Shared) -> Result<&'s [u8], String> {
        match Session::message(self, frame, &mut shared.scratch) {
            Ok(Some(message)) => Ok(message.payload),
            Ok(None) => Err("the message is incomplete".into()),
            Err(fault) => Err(fault.to_string()),
        }
    }

    fn reported_memory(&self) -> Option<usize> {
        Some(self.memory())
    }
}

impl<D: Resumable> Decoder for D {
    fn message<'s>(&mut self, frame: &[u8], shared: &'s mut Shared) -> Result<&'s [u8], String> {
        let step = self.call(frame, &mut shared.out, Given::Message)?;
        whole(!step.ends && step.read == frame.len(), step.written, &shared.out)
    }
}

/// Returns the payload, if all input was `read` and the buffer is not full.
fn whole(read: bool, written: usize, out: &[u8]) -> Result<&[u8], String> {
    match read && written < out.len() {
        true => Ok(&out[..written]),
        false => Err("the message was not decoded whole".into()),
    }
}

fn context() -> Result<DCtx<'static>, String> {
    let mut context = DCtx::try_create().ok_or("libzstd has no memory for a context")?;
    context.set_parameter(DParameter::WindowLogMax(16)).map_err(get_error_name)?;
    Ok(context)
}

/// libzstd, with an output buffer that has room for the whole payload.
struct Libzstd(DCtx<'static>);

impl Decoder for Libzstd {
    fn message<'s>(&mut self, frame: &[u8], shared: &'s mut Shared) -> Result<&'s [u8], String> {
        let mut input = InBuffer::around(frame);
        let mut output = OutBuffer::around(&mut shared.out[..]);
        self.0.decompress_stream(&mut output, &mut input).map_err(get_error_name)?;
        let (read, written) = (input.pos(), output.pos());
        whole(read == frame.len(), written, &shared.out)
    }

    fn reported_memory(&self) -> Option<usize> {
        Some(self.0.sizeof())
    }
}

/// libzstd, used for payloads of unknown size: each call writes at most 8 KiB, which are collected.
struct LibzstdSteps(DCtx<'static>);

impl Decoder for LibzstdSteps {
    fn message<'s>(&mut self, frame: &[u8], shared: &'s mut Shared) -> Result<&'s [u8], String> {
        shared.gathered.clear();
        let mut input = InBuffer::around(frame);
        loop {
            let mut output = OutBuffer::around(&mut shared.step[..]);
            self.0.decompress_stream(&mut output, &mut input).map_err(get_error_name)?;
            let written = output.pos();
            shared.gathered.extend_from_slice(&shared.step[..written]);
            if shared.gathered.len() >= shared.out.len() {
                return Err("the message was not decoded whole".into());
            }
            if input.pos() == frame.len() && written < STEP {
                return Ok(&shared.gathered);
            }
        }
    }

    fn reported_memory(&self) -> Option<usize> {
        Some(self.0.sizeof())
    }
}
