#!/usr/bin/env python3
"""dist-rows.py --check OUT [ROW...]: follows each row of the README's install table, in an empty folder outside the checkout.

The install line is run as it is written, with options that make it install into the empty folder:
`cargo add` in a new project there, all others in the checkout. Then the first command or example of
the row's page is run in the empty folder, with only what was installed there; of `cargo add` rows,
each whole program of the page, with the crates that the page adds for it. OUT is not used. With
ROWs (or the environment variable ROWS) only rows that contain one of these words are followed. The
environment variable BINARY names a program that `make install` installs in place of one that it
builds.

Status 1 if a row failed, 77 if one could not be tried here.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: The path of the checkout in the pages.
CHECKOUT = "/path/to/linerate"
SECONDS = 3600


class Failed(Exception):
    """The instructions of a row do not work."""


class Missing(Exception):
    """A program that the row needs is missing."""


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"no {program}")


class Row:
    """A row, and the empty folder in which it is followed."""

    def __init__(self, have, install, page, folder):
        self.have, self.install, self.page, self.folder = have, install, page, folder
        self.prefix = folder / "prefix"
        self.text = (ROOT / page).read_text()
        self.environment = dict(os.environ)
        self.environment["PATH"] = f"{self.prefix}/bin{os.pathsep}{os.environ['PATH']}"
        self.environment["PKG_CONFIG_PATH"] = f"{self.prefix}/lib/pkgconfig"

    def run(self, command, where=None, **more):
        """Runs a command line in `where`, by default the row's folder, and returns its output.
        Raises Failed if it fails."""
        print(f"  $ {command}", flush=True)
        environment = {**self.environment, **more}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=where or self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
        if done.returncode:
            tail = "\n".join(done.stdout.splitlines()[-20:])
            raise Failed(f"{command}: status {done.returncode}\n{tail}")
        return done.stdout

    def blocks(self, language):
        """Returns the fenced blocks of a language on the page, in order."""
        found = re.findall(rf"^```{language}\b[^\n]*\n(.*?)^```", self.text, re.MULTILINE | re.DOTALL)
        if not found:
            raise Failed(f"{self.page} has no block of {language}")
        return found

    def write(self, name, text):
        (self.folder / name).write_text(text)


def make_install(row):
    binary = os.environ.get("BINARY")
    row.run(f"{row.install} PREFIX={row.prefix}" + (f" BINARY={binary}" if binary else ""), ROOT)
    samples(row.folder)
    row.run(row.blocks("sh")[0].splitlines()[0])


def samples(folder):
    """Makes files with the names that the pages use."""
    notes = "A line of notes, and another one like it.\n" * 2000
    rows = "".join(f'{{"id": "user-{i}", "score": {i * 2654435761 >> 12}, "state": "ok"}}\n' for i in range(4000))
    for name, text in [
        ("notes.txt", notes),
        ("access.log", "127.0.0.1 - GET /index.html 200\n" * 3000),
        ("rows.json", rows),
        ("mods/textures/wall.dds", notes[:60_000]),
        *((f"mods/items/{i}.json", f'{{"id":{i},"tags":["common","tool"]}},' * (40 + i)) for i in range(20)),
    ]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(ROOT / "testdata/gateway/sample.zst", folder / "connection.zst")
    subprocess.run([folder / "prefix/bin/linerate", "zstd", "-q", "notes.txt", "-o", "logs.zst"], cwd=folder, check=True)


def make_install_c(row):
    need("cc", "pkg-config", "gzip")
    said = row.run(f"{row.install} PREFIX={row.prefix}", ROOT)
    if row.page != "docs/c/index.md":
        # Servers need root. Python, which also uses the system's zlib, is given our library in its
        # place, as servers are.
        row.run("python3 -c 'import zlib; assert zlib.decompress(zlib.compress(bytes(100000))) == bytes(100000)'",
                LD_PRELOAD=f"{row.prefix}/lib/liblinerate_z.so")
        return
    line = next((line for line in row.text.splitlines() if line.startswith("$ cc ")), None)
    if line is None:
        raise Failed(f"{row.page} does not say how to compile")
    row.write(re.search(r"\S+\.c\b", line)[0], row.blocks("c")[0])
    # The system does not search the prefix: the program only starts if it is linked as `make install-c` says.
    rpath = re.search(r"-Wl,-rpath,\S+(?=,)", said)
    if rpath is None:
        raise Failed(f"`{row.install}` does not say how programs find the library:\n{said}")
    row.run(f"{line.removeprefix('$ ')} {rpath[0]}")
    row.write("data", "some data\n" * 1000)
    program = re.search(r"-o (\S+)", line)
    row.run(f"./{program[1] if program else 'a.out'} <data | gzip -dc | cmp - data")


def cargo_add(row):
    need("cargo", "curl")
    programs, line = [], None
    for language, text in re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", row.text, re.MULTILINE | re.DOTALL):
        if language == "console" and text.startswith("$ cargo add "):
            line = text.removeprefix("$ ").strip()
        elif language == "rust" and line and re.search(r"\bfn main\(", text):
            programs.append((line, text))
            line = None
    if not programs:
        raise Failed(f"{row.page} has no whole program after a line `$ cargo add`")
    for number, (line, program) in enumerate(programs):
        project = row.folder / f"user{number}"
        project.mkdir()
        row.run("cargo init --quiet --name user --edition 2024 .", project)
        for add in row.install, line:
            row.run(add.replace(CHECKOUT, str(ROOT)), project)
        (project / "src/main.rs").write_text(program)
        row.run("cargo build --quiet", project, CARGO_TARGET_DIR=str(row.folder / "target"), RUSTFLAGS="-D warnings")
        serve(row, row.folder / "target/debug/user", int(re.search(r"127\.0\.0\.1:(\d+)", program)[1]))


def accepts(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def serve(row, program, port):
    """Starts a server, and sends it each request that the page sends with curl. The answers must be
    those of the page."""
    if accepts(port):
        raise Missing(f"another program serves port {port}")
    server = subprocess.Popen([program], cwd=row.folder, stdin=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while not accepts(port):
            if server.poll() is not None or time.monotonic() > end:
                raise Failed(f"{program.name} does not serve port {port}")
            time.sleep(0.1)
        for command, wanted in re.findall(r"^```console\n\$ (curl [^\n]*)\n(.*?)^```", row.text, re.MULTILINE | re.DOTALL):
            if (found := row.run(command).replace("\r", "")) != wanted:
                raise Failed(f"{command} prints\n{found}")
    finally:
        server.kill()
        server.wait()


def pip_install(row):
    need("python3")
    row.run("python3 -m venv venv")
    python = row.folder / "venv/bin/python"
    install = row.install.replace("pip install", f"{python} -m pip install --quiet --disable-pip-version-check")
    row.run(install, ROOT)
    row.write("example.py", row.blocks("python")[0])
    row.run(f"{python} example.py")


def mvn_install(row):
    need("mvn", "java", "javac")
    repository = row.folder / "m2"
    row.run(f"{row.install} --batch-mode --quiet -Dmaven.repo.local={repository}", ROOT)
    jars = [str(jar) for jar in (repository / "dev/linerate/linerate-gateway").rglob("linerate-gateway-*.jar")]
    jars = [jar for jar in jars if not re.search(r"-(sources|javadoc|tests)\.jar$", jar)]
    if not jars:
        raise Failed("no dev.linerate:linerate-gateway was installed")
    example = next((block for block in row.blocks("java") if "static void main" in block), None)
    if example is None:
        raise Failed(f"{row.page} has no whole program")
    name = re.search(r"class (\w+)", example)[1]
    row.write(f"{name}.java", example)
    row.run(f"java -cp {os.pathsep.join(jars)} {name}.java")


def make_npm(row):
    need("node", "npm")
    row.run(row.install, ROOT)
    row.run("npm init --yes >/dev/null")
    row.run(f"npm install --no-audit --no-fund {ROOT}/target/npm/*.tgz")
    row.write("example.js", row.blocks("js")[0])
    row.run("node example.js")


#: A program that makes a database with one file of zstd blocks.
MAKE_ROWS = """\
#include <rocksdb/db.h>

int main(int, char** argv) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kZSTD;
  std::unique_ptr<rocksdb::DB> database;
  rocksdb::Status status = rocksdb::DB::Open(options, argv[1], &database);
  for (int i = 0; status.ok() && i < 1000; i++)
    status = database->Put({}, "key" + std::to_string(i), std::string(100, 'v') + std::to_string(i));
  if (status.ok()) status = database->Flush({});
  return status.ok() ? 0 : 1;
}
"""


def make_rocksdb_plugin(row):
    need("c++")
    headers = os.environ.get("ROCKSDB_INCLUDE")
    if headers is None:
        # The page names this command for systems with an older RocksDB.
        row.run("scripts/setup.sh rocksdb-11", ROOT)
        headers = ROOT / "target/rocksdb/include"
    row.run(f"{row.install} PREFIX={row.prefix} ROCKSDB_INCLUDE={headers}", ROOT)
    line = next((line for line in re.findall(r"`(c\+\+ [^`]*)`", row.text)), None)
    if line is None:
        raise Failed(f"{row.page} does not say how to compile")
    source = re.search(r"\S+(?=\.cpp\b)", line)[0]
    row.write(f"{source}.cpp", row.blocks("cpp")[0])
    libraries = [row.prefix / "lib", pathlib.Path(headers).parent]
    flags = f"-fno-rtti -I{row.prefix}/include -I{headers} " + " ".join(f"-L{folder}" for folder in libraries)
    row.environment["LD_LIBRARY_PATH"] = os.pathsep.join(map(str, libraries))
    row.write("make_rows.cpp", MAKE_ROWS)
    row.run(f"c++ -std=c++20 make_rows.cpp -lrocksdb -o make_rows {flags}")
    row.run("./make_rows rows")
    row.run(f"{line} -o {source} {flags}")
    row.run(f"./{source} rows 10 | grep '^10 rows alike, [1-9]'")


#: The function that runs the steps of a row of the README's install table, by the beginning of its install line.
WALKS = [
    ("make install-c", make_install_c),
    ("make install", make_install),
    ("make npm", make_npm),
    ("make rocksdb-plugin", make_rocksdb_plugin),
    ("cargo add", cargo_add),
    ("pip install", pip_install),
    ("mvn ", mvn_install),
]


def rows():
    """Yields the first cell, the install line and the page of each row of the README's install
    table."""
    for line in (ROOT / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 3 and (link := re.search(r"\]\((docs/[^)#]+)", cells[2])):
            if install := re.search(r"`([^`]+)`", cells[1]):
                yield cells[0], install[1], link[1]


def walk(have, install, page):
    """Follows a row. Raises Failed if it does not work, and Missing if it cannot be tried here."""
    found = next((how for start, how in WALKS if install.startswith(start)), None)
    if found is None:
        raise Failed(f"no function for `{install}`; add one to WALKS in scripts/dist-rows.py")
    with tempfile.TemporaryDirectory(prefix="linerate-row-") as folder:
        if ROOT in pathlib.Path(folder).resolve().parents:
            raise Failed(f"{folder} is in the checkout")
        found(Row(have, install, page, pathlib.Path(folder)))


def main(arguments):
    if arguments[:1] != ["--check"]:
        sys.exit(__doc__)
    wanted = arguments[2:] or os.environ.get("ROWS", "").split()
    table = [row for row in rows() if not wanted or any(word in part for word in wanted for part in row)]
    if len(table) < (1 if wanted else 12):
        sys.exit(f"dist-rows.py: {len(table)} rows in the README's table")
    failed = missing = 0
    for have, install, page in table:
        print(f"{have}: {install} ({page})", flush=True)
        try:
            walk(have, install, page)
        except (Failed, subprocess.SubprocessError, OSError) as error:
            print(f"  failed: {error}", flush=True)
            failed += 1
        except Missing as error:
            print(f"  not tried: {error}", flush=True)
            missing += 1
    print(f"{len(table)} rows, {failed} failed, {missing} not tried")
    sys.exit(1 if failed else 77 if missing else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
