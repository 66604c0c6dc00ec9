//! Encodes generated detector waveforms with Delta-Rice and times decoding them, beside libzstd.

use std::num::NonZeroU32;

use linerate_bench::harness::{Clock, Contender, Rounds, measure, row};
use linerate_bench::waveforms::Set;
use linerate_rice::{Options, v2};

/// Number of waveforms, all from [`Set::Nab`]. They take 4.2 MB.
const ROWS: usize = 300;
const ROUNDS: usize = 5;
const ZSTD_LEVEL: i32 = 3;

pub(super) fn run() -> Result<String, String> {
    let set = Set::Nab;
    let samples = set.samples(ROWS);
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let settings = v2::StreamOptions::new().row(NonZeroU32::new(set.row_samples() as u32));

    let mut rice = vec![0; v2::bound::<i16>(&settings, samples.len())];
    let n = v2::encode_into(&settings, &samples, &mut rice, Options::new()).map_err(|e| e.to_string())?;
    rice.truncate(n);
    let mut zstd = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    zstd_safe::compress(&mut zstd, &bytes, ZSTD_LEVEL).map_err(zstd_error)?;

    let (mut samples_back, mut bytes_back) = (vec![0_i16; samples.len()], vec![0_u8; bytes.len()]);
    let ours = Contender::timed(row("rice", "nab", "linerate"), Clock::Cpu, |_| {
        v2::decode_into(&rice, &mut samples_back, Options::new()).map(drop).map_err(|e| e.to_string())
    });
    let peer = Contender::timed(row("rice", "nab", "libzstd"), Clock::Cpu, |_| {
        zstd_safe::decompress(&mut bytes_back[..], &zstd).map(drop).map_err(zstd_error)
    });
    let both = vec![ours.bytes(bytes.len()).base(1, "libzstd"), peer.bytes(bytes.len())];
    let found = measure(both, Rounds::warm(ROUNDS))?;
    if samples_back != samples || bytes_back != bytes {
        return Err("the decoder returns different samples".into());
    }
    let percent = |size: usize| 100.0 * size as f64 / bytes.len() as f64;
    Ok(format!(
        "{ROWS} waveforms: Delta-Rice keeps {:.0} % of the bytes and decodes {:.0} MB/s, libzstd {ZSTD_LEVEL} keeps \
         {:.0} % and decodes {:.0} MB/s: {:.1} times as fast.",
        percent(rice.len()),
        super::metric(&found, "linerate", "speed")?,
        percent(zstd.len()),
        super::metric(&found, "libzstd", "speed")?,
        super::metric(&found, "linerate", "speed_by_base")?
    ))
}

fn zstd_error(code: usize) -> String {
    zstd_safe::get_error_name(code).into()
}
