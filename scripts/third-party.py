#!/usr/bin/env python3
"""third-party.py TRIPLE PACKAGE [CARGO-ARGUMENT...]: prints the licences of the crates that PACKAGE links, and of the C code within them."""

import json
import os
import subprocess
import sys
from pathlib import Path

#: Folders of a crate whose sources, and so whose licences, do not become part of a program.
UNUSED = {"tests", "examples", "programs", "contrib"}


def cargo(*arguments):
    return subprocess.run([os.environ.get("CARGO", "cargo"), *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(triple, package, arguments):
    """Returns name and version of each linked crate, without those that only help to compile (macros, build scripts)."""
    tree = ["tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}", "--target", triple]
    lines = cargo(*tree, "--package", package, *arguments).splitlines()
    return {tuple(line.split()[:2]) for line in lines if line}


def licence_files(folder):
    found = [file for file in folder.iterdir() if file.name.upper().startswith(("LICEN", "COPYING", "COPYRIGHT", "NOTICE"))]
    found += folder.glob("*/**/LICENSE*")
    return sorted(file for file in found if file.is_file() and not UNUSED & set(file.relative_to(folder).parts))


def main(triple, package, *arguments):
    crates = linked(triple, package, arguments)
    metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1"))
    printed = {}
    print("Licences of what is linked beside Linerate itself. Rust's standard library is under MIT or Apache-2.0", end="")
    print(", musl under MIT." if triple.endswith("-musl") else ".")
    for crate in sorted(metadata["packages"], key=lambda crate: (crate["name"], crate["version"])):
        if crate["source"] is None or (crate["name"], "v" + crate["version"]) not in crates:
            continue
        print(f"\n{'=' * 20} {crate['name']} {crate['version']}: {crate['license']}, {crate['repository'] or 'crates.io'}")
        folder = Path(crate["manifest_path"]).parent
        for file in licence_files(folder):
            text = file.read_text(errors="replace").rstrip()
            name = f"{crate['name']} {file.relative_to(folder)}"
            first = printed.setdefault("".join(text.split()), name)
            print(f"\n--- {name}" + (f"\n\n{text}" if first == name else f": the text of {first}"))


main(*sys.argv[1:])
