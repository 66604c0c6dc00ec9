#!/usr/bin/env python3
"""Compile the CUDA kernels to PTX with NVRTC, or report their registers, spills and shared memory.

    ptx.py            write ptx/rice.ptx and ptx/sources.sha256
    ptx.py --check    hash and compile the kernels again, and compare with both files
    ptx.py --report   compile for sm_80 and sm_90, and print a table from the assembler's log

NVRTC is that of the wheel nvidia-cuda-nvrtc-cu12 12.4.127 (PTX 8.4, for drivers from 550 on).
Other versions write other PTX, so all but --report need 12.4. The hash covers comments of the
sources, too: after a change of a comment, run ptx.py again.
"""

import argparse
import ctypes
import hashlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE / "kernels"
PTX = HERE / "ptx" / "rice.ptx"
HASH = HERE / "ptx" / "sources.sha256"
VERSION = (12, 4)
# Without fused multiply-adds, since the encoder's choice of a predictor must round as on every CPU.
OPTIONS = ["--std=c++17", "--fmad=false", "-default-device"]
BASE = "compute_70"


def sources():
    """The source files of the kernels, sorted by name."""
    return sorted(path for path in KERNELS.iterdir() if path.suffix in (".h", ".cuh", ".cu"))


def source_hash():
    """SHA-256 of the names and contents of the sources, and of BASE and OPTIONS."""
    digest = hashlib.sha256(" ".join([BASE, *OPTIONS]).encode())
    for path in sources():
        text = path.read_bytes()
        digest.update(f"\n{path.name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


class Nvrtc:
    """NVRTC from the installed wheel nvidia-cuda-nvrtc-cu12."""

    def __init__(self):
        try:
            import nvidia.cuda_nvrtc
        except ImportError:
            sys.exit("ptx.py: nvidia-cuda-nvrtc-cu12 is not installed: pip install nvidia-cuda-nvrtc-cu12==12.4.127")
        folder = pathlib.Path(next(iter(nvidia.cuda_nvrtc.__path__))) / "lib"
        self.library = ctypes.CDLL(str(next(folder.glob("libnvrtc.so.*"))))
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.version = (major.value, minor.value)

    def call(self, name, *arguments):
        """Calls a function of NVRTC. An error ends this program."""
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            sys.exit(f"ptx.py: {name}: NVRTC error {status}")

    def text(self, program, of):
        """The ProgramLog, PTX or CUBIN of a program, whichever `of` names, as bytes."""
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{of}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{of}", program, buffer)
        return buffer.raw

    def compile(self, architecture, extra=()):
        """The PTX for an architecture compute_XX, or the cubin for an sm_XX, as bytes, and the log.

        If the kernels do not compile, prints the log and ends the program.
        """
        headers = [path for path in sources() if path.suffix != ".cu"]
        contents = (ctypes.c_char_p * len(headers))(*(path.read_bytes() for path in headers))
        names = (ctypes.c_char_p * len(headers))(*(path.name.encode() for path in headers))
        program = ctypes.c_void_p()
        source = (KERNELS / "rice.cu").read_bytes()
        self.call("nvrtcCreateProgram", ctypes.byref(program), source, b"rice.cu", len(headers), contents, names)
        options = [f"--gpu-architecture={architecture}", *OPTIONS, *extra]
        status = self.library.nvrtcCompileProgram(
            program, len(options), (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        )
        log = self.text(program, "ProgramLog").rstrip(b"\0").decode()
        if status != 0:
            sys.exit(log)
        result = self.text(program, "PTX" if architecture.startswith("compute") else "CUBIN")
        self.call("nvrtcDestroyProgram", ctypes.byref(program))
        return result, log


def compile_ptx():
    """The PTX for BASE, without empty lines and NVRTC's comments, which name its build.

    Any version of NVRTC but 12.4 ends the program.
    """
    nvrtc = Nvrtc()
    if nvrtc.version != VERSION:
        sys.exit(f"ptx.py: NVRTC {nvrtc.version[0]}.{nvrtc.version[1]}: 12.4 is needed")
    ptx, log = nvrtc.compile(BASE)
    if log:
        print(log, file=sys.stderr)
    lines = (line.rstrip() for line in ptx.rstrip(b"\0").decode().splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"


def report():
    """Prints registers per thread, and stack, spills and shared memory in bytes, of each kernel."""
    nvrtc = Nvrtc()
    print(f"NVRTC {nvrtc.version[0]}.{nvrtc.version[1]}")
    print(f"{'kernel':<22}" + "".join(f"{a + ' regs':>12}{'stack':>8}{'spill':>8}{'shared':>8}" for a in ("sm_80", "sm_90")))
    rows = {}
    for architecture in ("sm_80", "sm_90"):
        _, log = nvrtc.compile(architecture, ["--ptxas-options=-v"])
        name = None
        for line in log.splitlines():
            if found := re.search(r"Compiling entry function '(\w+)'", line):
                name = found[1]
            elif found := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
                frame = found
            elif name and (found := re.search(r"Used (\d+) registers", line)):
                shared = re.search(r"(\d+) bytes smem", line)
                row = (found[1], frame[1], str(int(frame[2]) + int(frame[3])), shared[1] if shared else "0")
                rows.setdefault(name, []).append(row)
    for name, row in sorted(rows.items()):
        print(f"{name:<22}" + "".join(f"{r:>12}{s:>8}{p:>8}{m:>8}" for r, s, p, m in row))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="hash and compile again, and compare with the files")
    parser.add_argument("--report", action="store_true", help="print registers, stack, spills and shared memory")
    arguments = parser.parse_args()
    if arguments.report:
        return report()
    if not arguments.check:
        PTX.parent.mkdir(exist_ok=True)
        PTX.write_text(compile_ptx())
        HASH.write_text(source_hash() + "\n")
        return None
    if HASH.read_text().strip() != source_hash():
        sys.exit("ptx.py: the sources are not those of ptx/: run accel/cuda/ptx.py")
    if PTX.read_text() != compile_ptx():
        sys.exit("ptx.py: ptx/rice.ptx is not what NVRTC makes of the sources: run accel/cuda/ptx.py")
    print("ptx/rice.ptx is what NVRTC makes of the sources")
    return None


if __name__ == "__main__":
    main()
