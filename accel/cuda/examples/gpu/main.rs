//! `make bench-gpu`: measures Delta-Rice on a GPU, with RAM, device memory and a file as source and
//! target, and the kernels of NVIDIA's nvCOMP if it is installed. Prints JSON Lines.
//!
//! Options: `--rounds N` measures everything N times (default 10). `--chunks ROWS,COUNTxROWS` lists
//! what one call codes: one chunk of ROWS rows of 7000 samples, or COUNT chunks of ROWS rows each.
//! Set the environment variable `LINERATE_NVCOMP` to nvCOMP's library if the system's search does
//! not find it.

mod bench;
mod nvcomp;

use std::error::Error;

use bench::Settings;
use linerate_bench::harness::provenance;
use linerate_bench::records::{Run, Writer};
use linerate_cuda::Context;

fn main() -> Result<(), Box<dyn Error>> {
    let mut settings = Settings::default();
    if let Some(library) = std::env::var_os("LINERATE_NVCOMP").filter(|name| !name.is_empty()) {
        settings.nvcomp = library;
    }
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{option} needs a value"));
        match option.as_str() {
            "--rounds" => settings.rounds = value()?.parse()?,
            "--chunks" => {
                settings.shapes = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            _ => return Err(format!("unknown option {option}: --rounds N, --chunks ROWS,COUNTxROWS").into()),
        }
    }
    let context = Context::new(0)?;
    let driver = context.driver().version()?;
    let mut versions = vec![("CUDA", format!("{}.{}", driver / 1000, driver % 1000 / 10))];
    versions.extend(nvcomp::Nvcomp::load(&settings.nvcomp).ok().map(|nvcomp| ("nvcomp", nvcomp.version())));
    let versions = versions.into_iter().map(|(name, version)| (name.to_owned(), version)).collect();
    let mut lines = Writer::new(None, &Run { versions, ..provenance::run() })?;
    for measurement in bench::run(&context, &settings)? {
        lines.measurement(&measurement)?;
    }
    Ok(())
}
