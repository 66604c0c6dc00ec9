# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares the components of delta_rice.vhd with the Verilog modules: names, directions, widths, defaults, order."""

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
VERILOG = FOLDER.parent / "rtl"
#: Parameters of the modules that are results and not settings, which the components lack.
DERIVED = {"MAX_SEGMENT_SAMPLES"}


def verilog(name: str) -> tuple[list, list]:
    text = re.sub(r"//.*", "", (VERILOG / f"{name}.v").read_text())
    head = text[text.index(f"module {name}") : text.index(");", text.index(f"module {name}"))]
    generics = [(n, v.strip()) for n, v in re.findall(r"parameter (\w+) = ([^,\n]+)", head) if n not in DERIVED]
    ports = re.findall(r"(input|output) +(?:wire|reg) +(?:\[(\S+):0\])? *(\w+)", head)
    return generics, [(n, d.removesuffix("put"), high) for d, high, n in ports]


def vhdl() -> dict[str, tuple[list, list]]:
    found = {}
    for name, body in re.findall(r"component (\w+) is(.*?)end component", (FOLDER / "delta_rice.vhd").read_text(), re.S):
        generics, ports = body.split("port (")
        generics = re.findall(r"(\w+) +: \w+ := (\w+)", generics)
        ports = re.findall(r"(\w+) +: (in|out) +std_logic(?:_vector\((\S+) downto 0\))?", ports)
        found[name] = generics, ports
    return found


def main() -> None:
    components = vhdl()
    if len(components) < 6:
        sys.exit(f"failed: vhdl: {len(components)} components")
    for name, (generics, ports) in components.items():
        wanted = verilog(name)
        if (generics, ports) != wanted:
            sys.exit(f"failed: vhdl: {name}: {generics, ports}, but the module has {wanted}")
    print(f"ok: vhdl: {len(components)} components match the modules")


main()
