"""Decodes each NAME.gz of a folder with zlib-ng and compares it with the file `plain`."""

import pathlib
import sys

from zlib_ng import zlib_ng

folder = pathlib.Path(sys.argv[1])
wanted = (folder / "plain").read_bytes()
names = sorted(folder.glob("*.gz"))
for name in names:
    # A name that begins with w and two digits gives the window that must be enough.
    window = int(name.name[1:3]) if name.name.startswith("w") else 15
    decoder = zlib_ng.decompressobj(wbits=16 + window)
    # Output comes in small pieces, so that matches are copied from the window.
    plain, rest = b"", name.read_bytes()
    while rest:
        plain += decoder.decompress(rest, 64)
        rest = decoder.unconsumed_tail
    plain += decoder.flush()
    if plain != wanted or not decoder.eof or decoder.unused_data:
        sys.exit(f"{name.name} differs")
print(len(names))
