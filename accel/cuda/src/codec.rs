//! The codec of a device: its kernels, loaded once, and the workspaces that calls reuse. The
//! functions that decode and encode are in `kernel` (queued on a stream, output in device memory)
//! and in `host` (they wait, and the output is in host memory).

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, OnceLock};

use linerate_core::lock;

use crate::Result;
use crate::kernel::{module, v1, v2};
use crate::sys::{Context, Module};
use crate::workspace::Workspace;

/// Workspaces that are not in use.
type Pool = Mutex<Vec<Workspace>>;

/// The kernels of a device, and workspaces to reuse. Threads may share it.
///
/// The first call that decodes or encodes loads the kernels: the driver compiles them and caches
/// the result on disk. If that fails, later calls return the same error.
///
/// [`decode`](Codec::decode), [`encode`](Codec::encode), [`decode_streams`](Codec::decode_streams)
/// and [`encode_streams`](Codec::encode_streams) queue the work of a batch on a stream and return;
/// [`Workspace::outcomes`] waits for it. Functions that end in `_batch` take and return host memory
/// and wait themselves.
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
    /// Creates the codec of the context's device. The kernels are not loaded yet.
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

    /// The context in which the kernels and the workspaces of this codec are.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns a workspace that is not in use, or creates one. It goes back to the codec when it is
    /// dropped.
    ///
    /// # Errors
    /// Errors of the driver, if a workspace has to be created.
    pub fn workspace(&self) -> Result<PooledWorkspace> {
        let pooled = lock(&self.pool).pop();
        let workspace = match pooled {
            Some(workspace) => workspace,
            None => Workspace::new(&self.context)?,
        };
        Ok(PooledWorkspace { pool: Arc::clone(&self.pool), workspace: Some(workspace) })
    }

    /// Frees the memory of the workspaces that nobody holds. Waits for calls that still use it.
    pub fn release_workspaces(&self) {
        lock(&self.pool).clear();
    }

    fn module(&self) -> Result<&Arc<Module>> {
        let load = || module(&self.context).map(Arc::new);
        self.module.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    /// Returns the kernels of version 1. The first call loads them; later calls return the same
    /// kernels, or the same error.
    pub(crate) fn v1(&self) -> Result<&v1::Kernels> {
        self.v1.get_or_init(|| v1::Kernels::find(self.module()?)).as_ref().map_err(Clone::clone)
    }

    /// Returns the kernels that decode version 2. Loads them like [`Codec::v1`].
    pub(crate) fn v2_decode(&self) -> Result<&v2::DecodeKernels> {
        let find = || v2::DecodeKernels::find(self.module()?);
        self.v2_decode.get_or_init(find).as_ref().map_err(Clone::clone)
    }

    /// Returns the kernels that encode version 2. Loads them like [`Codec::v1`].
    pub(crate) fn v2_encode(&self) -> Result<&v2::EncodeKernels> {
        let find = || v2::EncodeKernels::find(self.module()?);
        self.v2_encode.get_or_init(find).as_ref().map_err(Clone::clone)
    }
}

/// A [`Workspace`] that goes back to its codec's pool when it is dropped. It may outlive the codec.
#[derive(Debug)]
pub struct PooledWorkspace {
    pool: Arc<Pool>,
    /// `None` only while this value is dropped.
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
        let mut pool = lock(&self.pool);
        pool.extend(self.workspace.take());
    }
}
