"""Measures `linerate nx` on a folder of very many small files and on one of several gigabytes, and prints JSON Lines.

    python bench/large_folders.py --linerate target/release/linerate --folder DIR

Both folders are made below DIR from a seed, like mods: texts, textures, models and sounds. Each
folder is packed with progress on a terminal, beside mksquashfs and tar with zstd if they are
installed, and packed again until Ctrl-C halfway. The archive is updated, verified, extracted whole,
and extracted until Ctrl-C and then to the end. It is mounted, read by several programs, replaced
while it is mounted, and unmounted while it is busy; the program of a second mount is killed. Every
result is compared with the folder; a difference ends the program with an error. DIR needs room for
three times the size of the larger folder; everything is removed at the end. If DIR is on ext4
without a journal, leave six minutes between two runs (see `set_aside_output`).
"""

from __future__ import annotations

import argparse
import hashlib
import mmap
import os
import pty
import random
import re
import select
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import lines
from large_files import version

SHAPE = "large-folders"
SEED = "large folders"
PIECE = 64 << 10
# Seconds after which a program that should have ended counts as hanging.
PATIENCE = 60


class Contents:
    """Contents of files by kind, from pools made from a seed."""

    def __init__(self) -> None:
        rng = random.Random(SEED)
        words = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 10))) for _ in range(3000)]
        pick = lambda count: rng.choices(words, k=count)
        self.texts = [
            '    "{}_{}": {{ "{}": {}, "{}": "{}" }},\n'.format(*pick(3), rng.randint(0, 9999), *pick(2)).encode()
            for _ in range(20_000)
        ]
        # Each block of texels has two random colours, and indices of few values. The floats of
        # models are near one another.
        blocks = [rng.randbytes(4) + bytes(rng.choices((0, 85, 170, 255, 0x50, 0xAA), k=4)) for _ in range(4000)]
        self.pools = {
            "dds": b"".join(rng.choices(blocks, k=32 * PIECE // 8)),
            "mesh": b"".join(bytes((rng.getrandbits(8), rng.getrandbits(6), 0x80 | rng.getrandbits(3), 0x3F)) for _ in range(4 * PIECE)),
        }

    def pieces(self, kind: str, size: int, rng: random.Random) -> Iterator[bytes]:
        """Yields the content of a file of `size` bytes in pieces."""
        while size > 0:
            if kind in ("json", "lua"):
                piece = b"".join(rng.choices(self.texts, k=min(size, PIECE) // 36 + 1))
            elif kind == "ogg":
                piece = rng.randbytes(min(size, PIECE))
            else:
                pool = self.pools[kind]
                at = rng.randrange(0, len(pool) - PIECE, 8)
                # Every piece maps its bytes to others, which keeps the statistics, so that pieces
                # do not repeat one another.
                piece = pool[at : at + PIECE].translate(bytes(rng.sample(range(256), 256)))
            yield piece[:size]
            size -= len(piece[:size])


def make(folder: Path, sizes: Callable[[random.Random], int], total: int, count: int, per_mod: int) -> None:
    """Makes files until there are `count` files or `total` bytes. About one in 30 is a copy of an
    earlier one."""
    contents, rng = Contents(), random.Random(f"{SEED} {folder.name}")
    made: list[Path] = []
    done = 0
    while len(made) < count and done < total:
        kind = rng.choice(("json", "lua", "dds", "dds", "mesh", "ogg"))
        path = folder / f"mod {len(made) // per_mod:03}" / kind / f"{rng.getrandbits(40):010x}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if made and rng.random() < 1 / 30:
            shutil.copyfile(rng.choice(made), path)
        else:
            with path.open("wb") as file:
                file.writelines(contents.pieces(kind, sizes(rng), rng))
        made.append(path)
        done += path.stat().st_size


def digest(path: str) -> bytes:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").digest()


def tree(folder: Path) -> dict[str, bytes]:
    """Returns the hash of each file, by its path below the folder."""
    paths = [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names]
    with ProcessPoolExecutor() as pool:
        return dict(zip((os.path.relpath(path, folder) for path in paths), pool.map(digest, paths, chunksize=64)))


def ensure(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"failed: {what}")


def finish(*arguments: object, **options: float) -> dict[str, float]:
    """Calls `on_terminal` in a small process, because the peak memory of a child is at least that
    of the process that starts it."""
    with ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as pool:
        return pool.submit(on_terminal, *arguments, **options).result()


def on_terminal(words: Sequence[str], interrupt_after: float | None = None, status: int = 0) -> dict[str, float]:
    """Runs a command on its own terminal, and ends this program unless the command ends with
    `status`. Returns elapsed and CPU seconds, the peak of resident bytes, and the longest time in
    seconds in which the command printed nothing. Ctrl-C is pressed `interrupt_after` seconds after
    the start; elapsed then counts from there."""
    begun = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        # If a shell runs this program in the background, its children would ignore Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execvp(words[0], list(words))
    last, silence, said = begun, 0.0, b""
    while True:
        wait = None
        if interrupt_after is not None:
            wait = max(0, begun + interrupt_after - time.perf_counter())
        if not select.select([terminal], [], [], wait)[0]:
            os.write(terminal, b"\x03")
            begun, interrupt_after = time.perf_counter(), None
            continue
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            part = b""
        now = time.perf_counter()
        silence, last, said = max(silence, now - last), now, (said + part)[-2000:]
        if not part:
            break
    _, found, usage = os.wait4(child, 0)
    elapsed = time.perf_counter() - begun
    os.close(terminal)
    found = os.waitstatus_to_exitcode(found)
    ensure(found == status, f"{' '.join(words)}: status {found}, not {status}: {said.decode(errors='replace')}")
    cpu = usage.ru_utime + usage.ru_stime
    return {"elapsed": elapsed, "cpu": cpu, "peak": usage.ru_maxrss << 10, "silence": silence}


class Study:
    """Makes the measurements of one folder, `source`."""

    def __init__(self, args: argparse.Namespace, name: str, source: Path) -> None:
        self.args, self.name, self.source = args, name, source
        self.place = source.parent
        self.archive, self.out = self.place / "a.nx", self.place / "out"
        self.threads = f"-p{args.threads}"
        self.files = tree(source)
        self.content = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())

    def tell(self, step: str, metrics: dict[str, float], contender: str = "linerate") -> None:
        params = {"step": step, "files": len(self.files), "threads": self.args.threads}
        lines.measurement(SHAPE, self.name, contender, params, {"content": self.content, **metrics})

    def nx(self, *words: str | Path, **options: float) -> dict[str, float]:
        return finish([self.args.linerate, "nx", *map(str, words)], **options)

    def set_aside_output(self) -> None:
        """Empties the extracted files and renames their folder. They are not removed before the end: ext4 without a journal does
        not reuse an inode for up to six minutes after its file was removed, and the next program that creates files would search
        past all of these inodes for each file."""
        for path in self.out.rglob("*"):
            if path.is_file():
                os.truncate(path, 0)
        self.out.rename(tempfile.mkdtemp(dir=self.place))

    def holds(self, folder: Path, what: str) -> None:
        ensure(tree(folder) == self.files, f"{self.name}: {what} differs from the folder")

    def pack(self) -> None:
        words = ("pack", self.threads, self.source, "-o", self.archive)
        packed = self.nx(*words)
        output = {"output": self.archive.stat().st_size}
        self.tell("pack", packed | output)
        self.archive.unlink()
        cancelled = self.nx(*words, interrupt_after=packed["elapsed"] / 2, status=-signal.SIGINT)
        self.tell("pack, Ctrl-C", {"elapsed": cancelled["elapsed"]})
        ensure(not self.archive.exists() and os.listdir(self.place) == [self.source.name], "Ctrl-C leaves files")
        self.nx(*words)
        peers = {
            "squashfs": ("mksquashfs", f"mksquashfs SOURCE OUT -comp zstd -processors {self.args.threads} -quiet -no-progress"),
            "tar, zstd -9": ("zstd", f"tar -cC SOURCE . | zstd -9 -q -T{self.args.threads} -o OUT"),
        }
        for name, (program, line) in peers.items():
            target = self.place / "peer"
            if shutil.which(program):
                line = line.replace("SOURCE", f"'{self.source}'").replace("OUT", f"'{target}'")
                found = finish(["sh", "-c", line])
                del found["silence"]  # says nothing: the options make these programs quiet
                self.tell("pack", {**found, "output": target.stat().st_size}, name)
                target.unlink()

    def extract(self) -> None:
        self.tell("verify", self.nx("verify", self.threads, self.archive))
        words = ("extract", self.threads, self.archive, "-o", self.out)
        extracted = self.nx(*words)
        self.tell("extract", extracted)
        self.holds(self.out, "what was extracted")
        self.set_aside_output()
        # Ctrl-C comes early, since this extraction may take less than half as long as the first:
        # the disk has less to write.
        cancelled = self.nx(*words, interrupt_after=extracted["elapsed"] / 5, status=-signal.SIGINT)
        self.tell("extract, Ctrl-C", {"elapsed": cancelled["elapsed"]})
        ensure(tree(self.out).items() <= self.files.items(), "Ctrl-C leaves half files")
        self.tell("extract, going on", self.nx(*words, "--overwrite", "skip"))
        self.holds(self.out, "what was extracted in two parts")
        self.set_aside_output()

    def update(self) -> None:
        """Changes every hundredth file, and updates the archive."""
        for path in sorted(self.files)[::100]:
            path = self.source / path
            path.write_bytes(path.read_bytes()[:-1] + b"!")
        self.files = tree(self.source)
        self.tell("update", self.nx("update", self.threads, self.archive, self.source))

    def mount(self) -> None:
        mount = Mount(self)
        self.tell("mount", {"elapsed": mount.begun})
        for step, words in {
            "cp -a": ["cp", "-a", f"{mount.folder}/.", str(self.out)],
            "grep -r": ["grep", "-rqF", "no file contains this line", str(mount.folder)],
        }.items():
            cpu = mount.cpu()
            # grep ends with 1 if it finds no line.
            found = finish(words, status=int(step != "cp -a"))
            self.tell(step, {"elapsed": found["elapsed"], "cpu": mount.cpu() - cpu, "peak": mount.peak()})
        self.holds(self.out, "what was copied out of the mount")
        self.set_aside_output()
        self.maps(mount)
        self.replace(mount)
        self.busy(mount)
        self.kill()

    def maps(self, mount: Mount) -> None:
        """Lets several processes map files of the mount, read pages at random places, and compare
        them with the folder."""
        large = sorted(self.files, key=lambda path: (self.source / path).stat().st_size)[-200:]
        work = [(str(mount.folder / path), str(self.source / path)) for path in large]
        begun, cpu = time.perf_counter(), mount.cpu()
        with ProcessPoolExecutor(4) as pool:
            same = list(pool.map(same_pages, work))
        metrics = {"elapsed": time.perf_counter() - begun, "cpu": mount.cpu() - cpu, "peak": mount.peak()}
        ensure(all(same), "a mapped page differs")
        self.tell("mmap, 4 processes", metrics)

    def replace(self, mount: Mount) -> None:
        """Checks that a mount still shows its archive after the archive's file was replaced."""
        path = max(self.files)
        (self.source / path).write_bytes(b"other bytes")
        self.nx("update", self.threads, self.archive, self.source)
        mount.forget()
        ensure(digest(str(mount.folder / path)) == self.files[path], "a mount shows what replaced its archive")
        self.files[path] = digest(str(self.source / path))

    def busy(self, mount: Mount) -> None:
        """Checks that a signal ends a mount in which a file is open."""
        with (mount.folder / max(self.files)).open("rb"):
            begun = time.perf_counter()
            ensure(mount.end(signal.SIGTERM) == 0, "a busy mount does not end well")
            self.tell("unmount, busy", {"elapsed": time.perf_counter() - begun})
        ensure(os.listdir(mount.folder) == [], "a busy mount stays")

    def kill(self) -> None:
        """Checks that readers get an error if the program of their mount is killed, and that the
        mount can then be removed."""
        mount = Mount(self)
        reader = subprocess.Popen(["grep", "-rqF", "no file contains this line", mount.folder], stderr=subprocess.DEVNULL)
        time.sleep(0.2)
        begun = time.perf_counter()
        mount.end(signal.SIGKILL)
        ensure(reader.wait(PATIENCE) == 2, "a reader of a killed mount has no error")
        self.tell("kill", {"elapsed": time.perf_counter() - begun})
        subprocess.run(["umount", mount.folder], check=True)


class Mount:
    """An archive that is mounted, and the program that serves it."""

    def __init__(self, study: Study) -> None:
        self.folder = study.place / "mnt"
        self.folder.mkdir(exist_ok=True)
        words = [study.args.linerate, "nx", "mount", study.threads, study.archive, self.folder]
        begun = time.perf_counter()
        self.program = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        ensure(self.program.stdout.readline().startswith("mounted on "), "nothing is mounted")
        self.begun = time.perf_counter() - begun

    def cpu(self) -> float:
        """Returns the CPU seconds of the mounting program."""
        fields = Path(f"/proc/{self.program.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak(self) -> int:
        """Returns the peak of resident bytes of the mounting program."""
        status = Path(f"/proc/{self.program.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) << 10

    def forget(self) -> None:
        """Makes the system drop its cached pages of the mount's files."""
        for root, _, names in os.walk(self.folder):
            for name in names:
                with open(os.path.join(root, name), "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def end(self, by: signal.Signals) -> int:
        self.program.send_signal(by)
        return self.program.wait(PATIENCE)


def same_pages(paths: tuple[str, str]) -> bool:
    """Maps two files, and returns whether 4 KiB are equal at each of 50 random places."""
    rng = random.Random(paths[0].rsplit("/", 1)[1])
    with open(paths[0], "rb") as one, open(paths[1], "rb") as other:
        with mmap.mmap(one.fileno(), 0, prot=mmap.PROT_READ) as one, mmap.mmap(other.fileno(), 0, prot=mmap.PROT_READ) as other:
            places = [rng.randrange(len(one)) for _ in range(50)]
            return all(one[at : at + 4096] == other[at : at + 4096] for at in places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--linerate", default="target/release/linerate", help="the program")
    parser.add_argument("--folder", type=Path, required=True, help="where everything is written")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--files", type=int, default=100_000, help="number of files in the first folder, of 1.7 KB on average")
    parser.add_argument("--bytes", type=int, default=5_000_000_000, help="bytes in the second folder")
    args = parser.parse_args()
    args.linerate = os.path.abspath(args.linerate)

    folders = {
        "small files": (lambda rng: min(int(rng.lognormvariate(6.74, 1.2)) + 1, 1 << 20), 1 << 62, args.files, 200),
        "large files": (lambda rng: int(2 ** rng.uniform(14, 26)), args.bytes, 1 << 62, 20),
    }
    command = lines.command("large_folders.py", sys.argv[1:])
    versions = {"squashfs": version("mksquashfs", "-version"), "zstd": version("zstd")}
    lines.run(command, {name: said for name, said in versions.items() if said})
    made: list[Path] = []
    try:
        for name, (sizes, total, count, per_mod) in folders.items():
            place = args.folder.absolute() / name
            place.mkdir(parents=True)
            made.append(place)
            print(f"{name}: making files", file=sys.stderr)
            make(place / "mods", sizes, total, count, per_mod)
            study = Study(args, name, place / "mods")
            for step in (study.pack, study.update, study.extract, study.mount):
                if step == study.mount and not os.access("/dev/fuse", os.R_OK | os.W_OK):
                    print("note: nothing can be mounted here", file=sys.stderr)
                    continue
                print(f"{name}: {step.__name__}", file=sys.stderr)
                step()
    finally:
        for place in made:
            shutil.rmtree(place)


if __name__ == "__main__":
    main()
