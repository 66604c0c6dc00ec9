//! Named sets of options, one row each.

use super::filters::Filters;
use super::options::{Coding, PackOptions, Zstd};

/// A named set of [`PackOptions`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// The purpose, in one line.
    pub purpose: &'static str,
    chunk: u64,
    solid: Coding,
    chunked: Coding,
    textures: Option<Coding>,
    /// [`PackOptions::fit_search`]. It changes nothing at the levels and minMatch of `archive` and
    /// `web`, and matters if a caller sets another coding.
    fit_search: bool,
    dictionaries: bool,
    /// Whether filters are chosen by size and decoding time, instead of size alone.
    loads: bool,
}

const fn zstd(level: i32, min_match: u32, literals: bool, long: bool) -> Coding {
    Coding::Zstd(Zstd { level, min_match, literals, long })
}

/// All presets. The solid limit of each is one byte less than its chunk size.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "archive",
        purpose: "smallest for keeping: 16 MiB blocks, zstd 16 with short and long matches",
        chunk: 16 << 20,
        solid: zstd(16, 4, true, true),
        chunked: zstd(16, 4, true, true),
        textures: None,
        fit_search: true,
        dictionaries: false,
        loads: false,
    },
    Preset {
        name: "fast-load",
        purpose: "decodes fastest for its size: 1 MiB blocks, zstd 12, textures without coded literals",
        chunk: 1 << 20,
        solid: zstd(12, 0, true, false),
        chunked: zstd(12, 0, true, false),
        textures: Some(zstd(12, 4, false, false)),
        fit_search: false,
        dictionaries: false,
        loads: true,
    },
    Preset {
        name: "vfs",
        purpose: "random access to many small files: 128 KiB blocks, zstd 12",
        chunk: 128 << 10,
        solid: zstd(12, 0, true, false),
        chunked: zstd(12, 0, true, false),
        textures: Some(zstd(12, 4, false, false)),
        fit_search: false,
        dictionaries: true,
        loads: true,
    },
    Preset {
        name: "web",
        purpose: "smallest to fetch whole or in part: 4 MiB blocks, zstd 19",
        chunk: 4 << 20,
        solid: zstd(19, 0, true, true),
        chunked: zstd(19, 0, true, true),
        textures: None,
        fit_search: true,
        dictionaries: false,
        loads: false,
    },
];

impl Preset {
    /// Looks up a preset by name.
    pub fn from_name(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns the filters for this purpose: all of them, chosen by size, or by size and decoding
    /// time. [`Preset::options`] does not include them, since other programs cannot read filtered
    /// archives.
    pub fn filters(&self) -> Filters {
        if self.loads { Filters::fast() } else { Filters::all() }
    }

    /// Returns the options of this preset, without filters, with both kinds of deduplication and
    /// one thread.
    pub fn options(&self) -> PackOptions {
        PackOptions {
            chunk: self.chunk,
            solid_limit: self.chunk - 1,
            solid: self.solid,
            chunked: self.chunked,
            textures: self.textures,
            fit_search: self.fit_search,
            dictionaries: self.dictionaries,
            ..PackOptions::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_and_found_by_name() {
        for preset in PRESETS {
            preset.options().check().expect(preset.name);
            let found = Preset::from_name(preset.name).expect(preset.name);
            assert_eq!(found.options(), preset.options());
        }
        assert!(Preset::from_name("Archive").is_none());
    }
}
