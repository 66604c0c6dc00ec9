#!/usr/bin/env python3
"""encode-textures.py FORMAT STEP PATTERN IMAGES OUT: encodes PNG and JPEG files below IMAGES to DDS files with mips in OUT, as bc4 (the
red channel) or bc7: every STEP-th, by path, of those whose names match. Needs the packages that scripts/corpora.sh names."""

import struct
import sys
from pathlib import Path

import ispc_texcomp as encoder
from PIL import Image

# The number in DXGI_FORMAT and the size of a block of 4 by 4 texels in bytes.
FORMATS = {"bc4": (80, 8), "bc7": (98, 16)}


def blocks(image, form):
    """Encodes one level of an image, which is repeated at its right and lower edge up to whole
    blocks."""
    width, height = (side + 3 & ~3 for side in image.size)
    whole = Image.new("RGBA", (width, height))
    for y in range(0, height, image.height):
        for x in range(0, width, image.width):
            whole.paste(image, (x, y))
    surface = encoder.RGBASurface(whole.tobytes(), width, height)
    if form == "bc7":
        opaque = whole.getchannel("A").getextrema()[0] == 255
        settings = encoder.BC7EncSettings.from_profile("basic" if opaque else "alpha_basic")
        return bytes(encoder.compress_blocks_bc7(surface, settings))
    return bytes(encoder.compress_blocks_bc4(surface))


def dds(image, form):
    """Encodes an image to a DDS file with a full chain of mips."""
    dxgi, block = FORMATS[form]
    levels = max(image.size).bit_length()
    texels = b""
    for level in range(levels):
        size = tuple(max(side >> level, 1) for side in image.size)
        texels += blocks(image if level == 0 else image.resize(size, Image.Resampling.BOX), form)
    width, height = image.size
    first = (width + 3) // 4 * ((height + 3) // 4) * block
    head = struct.pack("<4s7I44x", b"DDS ", 124, 0xA1007, height, width, first, 1, levels)
    head += struct.pack("<2I4s20x5I", 32, 4, b"DX10", 0x401008, 0, 0, 0, 0)
    return head + struct.pack("<5I", dxgi, 3, 0, 1, 0) + texels


def main():
    form, step, pattern = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    images, out = Path(sys.argv[4]), Path(sys.argv[5])
    out.mkdir(parents=True, exist_ok=True)
    paths = sorted(path for path in images.rglob(pattern) if path.suffix in (".png", ".jpg"))
    for path in paths[step - 1 :: step]:
        name = "_".join(path.relative_to(images).parts) + ".dds"
        (out / name).write_bytes(dds(Image.open(path).convert("RGBA"), form))


main()
