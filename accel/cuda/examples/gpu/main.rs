//! `make bench-gpu`: Delta-Rice on a GPU, with RAM, device memory and a file as source and target.
//!
//! Options: `--csv FILE` (appended to), `--rounds N`, `--rows N,N` (of 7000 samples each). The environment variable
//! `LINERATE_NVCOMP` names nvCOMP's library where the system's search does not find it.

mod bench;
mod nvcomp;

use std::error::Error;

use bench::Settings;
use linerate_cuda::Context;

fn main() -> Result<(), Box<dyn Error>> {
    let mut settings = Settings::new(std::env::args().skip(1).collect::<Vec<_>>().join(" "));
    if let Some(library) = std::env::var_os("LINERATE_NVCOMP").filter(|name| !name.is_empty()) {
        settings.nvcomp = library;
    }
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{option} needs a value"));
        match option.as_str() {
            "--csv" => settings.csv = Some(value()?.into()),
            "--rounds" => settings.rounds = value()?.parse()?,
            "--rows" => {
                settings.rows = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            _ => return Err(format!("unknown option {option}: --csv FILE, --rounds N, --rows N,N").into()),
        }
    }
    let text = bench::run(&Context::new(0)?, &settings)?;
    print!("{text}");
    Ok(())
}
