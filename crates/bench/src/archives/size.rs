//! Bytes of archives, padding and all, beside a solid tar.zst of the same level.

use super::BenchOptions;
use super::input::pack_options;
use super::programs::TAR_ZSTD;
use super::row::{Row, Target};

/// `vs_base` is the archive's bytes by those of the tar.zst.
pub(super) fn measure(options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    static TAR: super::programs::Program = TAR_ZSTD;
    let mut rows = Vec::new();
    for &level in options.levels {
        progress(&format!("sizes of {} at level {level}", options.input.name));
        let folder = options.folder()?;
        let sized = |contender: String, bytes: u64| Row {
            archive_bytes: Some(bytes),
            ratio: Some(bytes as f64 / options.input.bytes as f64),
            rounds: 1,
            ..options.row("size", contender, 2, "")
        };
        let tar = TAR.packed(&options.input.root, folder.path(), level);
        let name = format!("tar --zstd {level}");
        rows.push(match &tar {
            Ok(tar) => Row { version: tar.version.clone(), ..sized(name.clone(), tar.bytes) },
            Err(missing) => Row { version: missing.clone(), ..options.row("size", name.clone(), 2, "") },
        });
        for (chunk, target) in [(1 << 20, 1.03), (16 << 20, 1.01)] {
            let bytes = options.input.pack(pack_options(level, chunk, 2))?.1.archive_bytes;
            let row = sized(format!("linerate {} MiB zstd {level}", chunk >> 20), bytes);
            rows.push(match &tar {
                Ok(tar) => Row {
                    base: name.clone(),
                    vs_base: Some(bytes as f64 / tar.bytes as f64),
                    target: Some(Target::AtMost(target)),
                    ..row
                },
                Err(_) => row,
            });
        }
    }
    progress("");
    Ok(rows)
}
