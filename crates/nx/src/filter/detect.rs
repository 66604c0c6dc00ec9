//! Finds texel data by the header of a file: DDS and KTX 2.0.
//!
//! Sources: Microsoft, "DDS" (programming guide: `DDS_HEADER`, `DDS_HEADER_DXT10`, `DXGI_FORMAT`);
//! Khronos, "KTX File Format Specification", version 2.0, and the Vulkan enumeration `VkFormat`.

use super::TextureFormat;

/// The texel data of a file: blocks of `format` that begin at `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// The format of the texels.
    pub format: TextureFormat,
    /// Offset of the first block in the file, in bytes.
    pub start: usize,
    /// Length of the texel data in bytes by the header, with all mip levels, layers and faces, and
    /// in KTX with the padding between levels. `None` if a DDS header's sizes are invalid. The file
    /// may be shorter or longer.
    pub len: Option<u64>,
}

/// Finds texel data by the header at the start of a file. Knows DDS with the fourCC or DXGI format
/// of a [`TextureFormat`], and KTX 2.0 with the Vulkan format of one and without supercompression.
/// The first [`MAX_HEAD`] bytes are enough. Returns `None` for anything else, for invalid offsets
/// in KTX, and if the header is cut short.
///
/// ```
/// assert_eq!(linerate_nx::filter::detect(b"no texture"), None);
/// ```
pub fn detect(head: &[u8]) -> Option<Texture> {
    if head.starts_with(b"DDS ") { dds(head) } else { ktx2(head) }
}

/// Maximum number of bytes at the start of a file that [`detect`] reads.
pub const MAX_HEAD: usize = KTX2_LEVELS + MAX_LEVELS as usize * 24;

/// Maximum number of mip levels: that of a texture with 32-bit sides.
const MAX_LEVELS: u32 = 32;

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// Texels along a side of a block.
const BLOCK_SIDE: u32 = 4;

/// Sizes of a texture in texels, and its number of surfaces.
struct Shape {
    width: u32,
    height: u32,
    depth: u32,
    levels: u32,
    /// Layers times faces.
    layers: u64,
}

impl Shape {
    /// Returns the total size in bytes of all levels and layers. `None` if a side is 0, there are
    /// too many levels, or the size exceeds 64 bits.
    fn bytes(&self, format: TextureFormat) -> Option<u64> {
        let block = format.block_bytes() as u64;
        let blocks = |texels: u32, level: u32| u64::from((texels >> level).max(1).div_ceil(BLOCK_SIDE));
        if self.width == 0 || self.height == 0 || self.levels > MAX_LEVELS {
            return None;
        }
        let mut total = 0u64;
        for level in 0..self.levels.max(1) {
            let slices = u64::from((self.depth.max(1) >> level.min(31)).max(1));
            let level = level.min(31);
            let plane = blocks(self.width, level).checked_mul(blocks(self.height, level))?;
            total = total.checked_add(plane.checked_mul(slices)?.checked_mul(block)?)?;
        }
        total.checked_mul(self.layers)
    }
}

/// Length of the magic and `DDS_HEADER`, in bytes.
const DDS_HEADER: usize = 4 + 124;
/// Length of the magic, `DDS_HEADER` and `DDS_HEADER_DXT10`, in bytes.
const DDS_HEADER_DX10: usize = DDS_HEADER + 20;
/// `DDS_PIXELFORMAT.dwFlags`: the fourCC is valid.
const DDPF_FOURCC: u32 = 0x4;
/// `DDS_HEADER.dwFlags`: the depth is valid.
const DDSD_DEPTH: u32 = 0x80_0000;
/// `DDS_HEADER.dwCaps2`: the texture is a cube map.
const DDSCAPS2_CUBEMAP: u32 = 0x200;
/// `DDS_HEADER.dwCaps2`: the flags of the six faces of a cube map.
const DDSCAPS2_FACES: u32 = 0xfc00;
/// `DDS_HEADER_DXT10.miscFlag`: the texture is a cube map.
const MISC_TEXTURECUBE: u32 = 0x4;

fn dds(head: &[u8]) -> Option<Texture> {
    let field = |offset| u32_at(head, offset);
    let (size, pixel_format_size, caps2) = (field(4)?, field(76)?, field(112)?);
    head.get(..DDS_HEADER)?;
    if size != 124 || pixel_format_size != 32 {
        return None;
    }
    let depth = if field(8)? & DDSD_DEPTH != 0 { field(24)? } else { 1 };
    let mut shape = Shape { width: field(16)?, height: field(12)?, depth, levels: field(28)?, layers: 1 };
    let flags = field(80)?;
    if flags & DDPF_FOURCC == 0 {
        return None;
    }
    let four_cc = head.get(84..88)?;
    if four_cc == b"DX10" {
        let (dxgi, misc, array) = (field(128)?, field(136)?, field(140)?);
        head.get(..DDS_HEADER_DX10)?;
        let format = from_dxgi(dxgi)?;
        let cube = if misc & MISC_TEXTURECUBE != 0 { 6 } else { 1 };
        shape.layers = u64::from(array.max(1)) * cube;
        return Some(Texture { format, start: DDS_HEADER_DX10, len: shape.bytes(format) });
    }
    let format = from_four_cc(four_cc)?;
    shape.layers = faces(caps2);
    Some(Texture { format, start: DDS_HEADER, len: shape.bytes(format) })
}

fn faces(caps2: u32) -> u64 {
    if caps2 & DDSCAPS2_CUBEMAP != 0 { u64::from((caps2 & DDSCAPS2_FACES).count_ones().max(1)) } else { 1 }
}

fn from_four_cc(four_cc: &[u8]) -> Option<TextureFormat> {
    Some(match four_cc {
        b"DXT1" => TextureFormat::Bc1,
        b"DXT2" | b"DXT3" => TextureFormat::Bc2,
        b"DXT4" | b"DXT5" | b"RXGB" => TextureFormat::Bc3,
        b"ATI1" | b"BC4U" | b"BC4S" => TextureFormat::Bc4,
        b"ATI2" | b"BC5U" | b"BC5S" => TextureFormat::Bc5,
        _ => return None,
    })
}

/// Returns the texture format of a `DXGI_FORMAT`. Each range has the typeless form and two others,
/// such as UNORM and sRGB.
fn from_dxgi(format: u32) -> Option<TextureFormat> {
    Some(match format {
        70..=72 => TextureFormat::Bc1,
        73..=75 => TextureFormat::Bc2,
        76..=78 => TextureFormat::Bc3,
        79..=81 => TextureFormat::Bc4,
        82..=84 => TextureFormat::Bc5,
        94..=96 => TextureFormat::Bc6h,
        97..=99 => TextureFormat::Bc7,
        _ => return None,
    })
}

const KTX2_IDENTIFIER: &[u8; 12] = b"\xabKTX 20\xbb\r\n\x1a\n";
/// Offset of the level index in bytes, after the identifier, nine fields of 4 bytes and the index
/// of the other parts.
const KTX2_LEVELS: usize = 80;

fn ktx2(head: &[u8]) -> Option<Texture> {
    if !head.starts_with(KTX2_IDENTIFIER) {
        return None;
    }
    let format = from_vulkan(u32_at(head, 12)?)?;
    let (levels, supercompression) = (u32_at(head, 40)?.max(1), u32_at(head, 44)?);
    if supercompression != 0 || levels > MAX_LEVELS {
        return None;
    }
    let header = KTX2_LEVELS + 24 * levels as usize;
    head.get(..header)?;
    let (mut start, mut end) = (u64::MAX, 0);
    for level in 0..levels as usize {
        let (offset, len) =
            (u64_at(head, KTX2_LEVELS + 24 * level)?, u64_at(head, KTX2_LEVELS + 8 + 24 * level)?);
        start = start.min(offset);
        end = end.max(offset.checked_add(len)?);
    }
    let start = usize::try_from(start).ok().filter(|&start| start >= header)?;
    Some(Texture { format, start, len: end.checked_sub(start as u64) })
}

/// Returns the texture format of a `VkFormat`.
fn from_vulkan(format: u32) -> Option<TextureFormat> {
    Some(match format {
        131..=134 => TextureFormat::Bc1,
        135 | 136 => TextureFormat::Bc2,
        137 | 138 => TextureFormat::Bc3,
        139 | 140 => TextureFormat::Bc4,
        141 | 142 => TextureFormat::Bc5,
        143 | 144 => TextureFormat::Bc6h,
        145 | 146 => TextureFormat::Bc7,
        _ => return None,
    })
}
