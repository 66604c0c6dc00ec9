//! Finds a device for tests: a GPU if there is one, otherwise that of the test double of the driver
//! library, which `build-shim.sh` compiles for the CPU.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

use linerate_cuda::{Codec, Context, Driver, Error, Stream};
use linerate_rice::v2::{ElementType, StreamOptions};
use linerate_testkit::testdata::files_below;
use linerate_testkit::tools::{has_program, skip};

/// Returns the path of the test double of the driver library, which is built if its sources have
/// changed. All test programs share it. Without g++ returns `None`, and reports the test as
/// skipped.
pub(crate) fn double() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build).as_deref()
}

fn build() -> Option<PathBuf> {
    if !has_program("g++") {
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda-shim");
    fs::create_dir_all(&folder).expect("a folder for the test double");
    let lock = File::create(folder.join("lock")).expect("a lock file");
    lock.lock().expect("another test program finishes building");
    let built = folder.join("built");
    if modified(&built).is_none_or(|built| newest_source() >= built) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/build-shim.sh");
        let output = Command::new(script).arg(&folder).output().expect("bash runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        File::create(&built).expect("a file that tells when it was built");
    }
    Some(folder.join("libcuda-shim.so"))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Returns the latest time at which any source of the test double was changed.
fn newest_source() -> SystemTime {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let below = ["kernels", "shim"].into_iter().flat_map(|folder| files_below(&root.join(folder)));
    let scripts = ["build-shim.sh", "flags.sh"].map(|name| root.join(name));
    below.chain(scripts).filter_map(|path| modified(&path)).max().expect("sources")
}

/// Returns the context of a GPU if the driver finds one, otherwise that of the test double, or
/// `None` without g++. `LINERATE_CUDA_DRIVER` may name the driver.
pub(crate) fn context() -> Option<Context> {
    static CONTEXT: OnceLock<Option<Context>> = OnceLock::new();
    let find = || {
        if let Ok(context) = Context::new(0) {
            return Some(context);
        }
        let driver = Driver::load(double()?.as_os_str()).expect("the test double is loaded");
        Some(Context::on(driver, 0).expect("the test double has a device"))
    };
    CONTEXT.get_or_init(find).clone()
}

/// Returns a new codec and a new stream in the context that [`context`] returns.
pub(crate) fn codec() -> Option<(Codec, Stream)> {
    let context = context()?;
    Some((Codec::new(&context), Stream::new(&context).expect("a stream")))
}

/// Whether there are kernels that encode version 2. If not, reports the test as skipped.
pub(crate) fn encodes_streams(codec: &Codec, stream: &Stream) -> bool {
    let options = StreamOptions::new();
    let encoded = codec.encode_stream_batch(ElementType::I16, &options, &[], stream);
    let is_missing = matches!(encoded, Err(Error::NoKernel(_)));
    if is_missing {
        skip("there are no kernels yet that encode version 2");
    }
    !is_missing
}

/// Returns samples as little-endian bytes.
pub(crate) fn bytes(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Returns pulses at regular distances over noise that depends on `seed`.
pub(crate) fn waves(seed: u64, samples: usize) -> Vec<i16> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut pulse = 0.0f64;
    let sample = |i: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        pulse = if i % 997 == 100 { 3000.0 } else { pulse * 0.99 };
        (pulse + (state >> 58) as f64) as i16
    };
    (0..samples).map(sample).collect()
}
