//! The codec: batches of chunks on a stream, from device or host memory.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use linerate_rice::Params;
use linerate_rice::v2::{ElementType, StreamOptions};

use crate::kernel::{module, v1, v2};
use crate::sys::{Context, Module, Stream};
use crate::workspace::Workspace;
use crate::{DecodeJob, EncodeJob, Result};

/// Workspaces that are not in use.
type Pool = Mutex<Vec<Workspace>>;

/// The kernels of a device, and workspaces to reuse. Threads may share it.
///
/// The kernels are loaded by the first call, for which the driver compiles them; it keeps the result in its cache on
/// disk.
pub struct Codec {
    module: OnceLock<Result<Arc<Module>>>,
    v1: OnceLock<Result<v1::Kernels>>,
    v2_decode: OnceLock<Result<v2::DecodeKernels>>,
    v2_encode: OnceLock<Result<v2::EncodeKernels>>,
    pool: Arc<Pool>,
    context: Context,
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec").field("device", &self.context.ordinal()).finish_non_exhaustive()
    }
}

impl Codec {
    /// A codec of a device.
    pub fn new(context: &Context) -> Codec {
        Codec {
            module: OnceLock::new(),
            v1: OnceLock::new(),
            v2_decode: OnceLock::new(),
            v2_encode: OnceLock::new(),
            pool: Arc::default(),
            context: context.clone(),
        }
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// A workspace that goes back to the codec when it is dropped.
    ///
    /// # Errors
    /// The driver's, if there is none to reuse.
    pub fn workspace(&self) -> Result<PooledWorkspace> {
        let pooled = self.pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let workspace = match pooled {
            Some(workspace) => workspace,
            None => Workspace::new(&self.context)?,
        };
        Ok(PooledWorkspace { pool: Arc::clone(&self.pool), workspace: Some(workspace) })
    }

    /// Frees the memory of the workspaces that are not in use.
    pub fn release_workspaces(&self) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn module(&self) -> Result<&Arc<Module>> {
        let load = || module(&self.context).map(Arc::new);
        self.module.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    fn v1(&self) -> Result<&v1::Kernels> {
        self.v1.get_or_init(|| v1::Kernels::find(self.module()?)).as_ref().map_err(Clone::clone)
    }

    fn v2_decode(&self) -> Result<&v2::DecodeKernels> {
        let find = || v2::DecodeKernels::find(self.module()?);
        self.v2_decode.get_or_init(find).as_ref().map_err(Clone::clone)
    }

    fn v2_encode(&self) -> Result<&v2::EncodeKernels> {
        let find = || v2::EncodeKernels::find(self.module()?);
        self.v2_encode.get_or_init(find).as_ref().map_err(Clone::clone)
    }
}

/// Calls on a stream. They return once the work is queued; [`Workspace::outcomes`] waits for it.
#[allow(unsafe_code)]
impl Codec {
    /// Queues the decoding of version 1 chunks to 16-bit samples.
    ///
    /// # Safety
    /// The device addresses of `jobs` are valid in the codec's context for as many bytes as the jobs say, outputs
    /// overlap nothing else, and all of it is left alone by others until `stream` has done the work.
    ///
    /// # Errors
    /// The driver's, or [`Error::BadArgument`](crate::Error::BadArgument) for addresses that are not aligned and for
    /// batches above 2^32 segments. Damage is an [outcome](Workspace::outcomes) of its chunk.
    pub unsafe fn decode(
        &self,
        params: &Params,
        jobs: &[DecodeJob<'_>],
        stream: &Stream,
        workspace: &mut Workspace,
    ) -> Result<()> {
        // SAFETY: by the caller.
        unsafe { self.v1()?.decode(params, jobs, stream, workspace) }
    }

    /// Queues the encoding of 16-bit samples as version 1 chunks. The bytes are those of [`linerate_rice::encode`].
    ///
    /// # Safety
    /// As for [`Codec::decode`].
    ///
    /// # Errors
    /// As for [`Codec::decode`]; also for parameters that lose data, and for an odd number of bytes.
    pub unsafe fn encode(
        &self,
        params: &Params,
        jobs: &[EncodeJob<'_>],
        stream: &Stream,
        workspace: &mut Workspace,
    ) -> Result<()> {
        // SAFETY: by the caller.
        unsafe { self.v1()?.encode(params, jobs, stream, workspace) }
    }

    /// Queues the decoding of version 2 streams of samples of type `element`.
    ///
    /// `min_segment`: at least so many samples per segment have the streams in device memory; others are outcomes of
    /// kind [`Limit`](linerate_core::Kind::Limit). Of streams in host memory the header tells.
    ///
    /// # Safety
    /// As for [`Codec::decode`].
    ///
    /// # Errors
    /// As for [`Codec::decode`].
    pub unsafe fn decode_streams(
        &self,
        element: ElementType,
        min_segment: usize,
        jobs: &[DecodeJob<'_>],
        stream: &Stream,
        workspace: &mut Workspace,
    ) -> Result<()> {
        // SAFETY: by the caller.
        unsafe { self.v2_decode()?.decode(element, min_segment, jobs, stream, workspace) }
    }

    /// Queues the encoding of samples of type `element` as version 2 streams. The bytes are those of
    /// [`linerate_rice::v2::encode`].
    ///
    /// # Safety
    /// As for [`Codec::decode`].
    ///
    /// # Errors
    /// As for [`Codec::decode`]; also for a shape or a segment that the samples do not have.
    pub unsafe fn encode_streams(
        &self,
        element: ElementType,
        options: &StreamOptions,
        jobs: &[EncodeJob<'_>],
        stream: &Stream,
        workspace: &mut Workspace,
    ) -> Result<()> {
        // SAFETY: by the caller.
        unsafe { self.v2_encode()?.encode(element, options, jobs, stream, workspace) }
    }
}

/// A [`Workspace`] of a codec's pool, which it may outlive.
#[derive(Debug)]
pub struct PooledWorkspace {
    pool: Arc<Pool>,
    /// `None` only while it is dropped.
    workspace: Option<Workspace>,
}

impl Deref for PooledWorkspace {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.workspace.as_ref().expect("there until the drop")
    }
}

impl DerefMut for PooledWorkspace {
    fn deref_mut(&mut self) -> &mut Workspace {
        self.workspace.as_mut().expect("there until the drop")
    }
}

impl Drop for PooledWorkspace {
    fn drop(&mut self) {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.extend(self.workspace.take());
    }
}
