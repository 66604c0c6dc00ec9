"""Measures nginx, Apache and HAProxy with several encoders: CPU time per request, bytes, memory.

Run as `python bench/servers/measure.py SERVER NAME=FILE...`. If SERVER is nginx or apache, each
FILE is a library that is loaded before zlib, or empty for zlib itself. If SERVER is haproxy, each
FILE is a program that `scripts/haproxy-slz.sh` has built. Prints JSON Lines. Servers run on the
loopback interface with one process, as the current user (Apache as `nobody` if that is root), and
wrk sends requests for some seconds. Options: --seconds, --rounds, --levels, --pages (bytes),
--servers (folder of unpacked packages, as `scripts/setup.sh servers` makes it). Linux only.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
import lines

CORPUS = ["theory.html", "zic.c", "earthquakes.json", "northamerica.tz", "seattle-weather.csv"]
CONNECTIONS = 50
SLOW_CLIENTS = 500
SLOW_PAGE = 1_000_000
HAPROXY_PAGE = 76_800
HAPROXY_USERS = 500


def page(size: int) -> bytes:
    """Returns a page of `size` bytes: HTML, then other text, from files of the bench's corpus, one
    after the other."""
    text = b"".join((lines.REPOSITORY / "crates/bench/corpus" / name).read_bytes() for name in CORPUS)
    return (text * (size // len(text) + 1))[:size]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@dataclass
class Server:
    """A server that runs in its own temporary folder until the context (`with`) ends."""

    command: list[str]
    configuration: str
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)

    def __enter__(self) -> Server:
        self.temporary = tempfile.TemporaryDirectory()
        folder = self.folder = Path(self.temporary.name)
        folder.chmod(0o755)
        (folder / "html").mkdir()
        text = self.configuration.format(folder=folder, port=self.port)
        (folder / "server.conf").write_text(text)
        command = [part.format(folder=folder) for part in self.command]
        self.output = (folder / "output").open("wb")
        self.process = subprocess.Popen(
            command, env=os.environ | self.environment, stdout=self.output, stderr=self.output
        )
        self.wait()
        return self

    def wait(self) -> None:
        for _ in range(500):
            if self.process.poll() is not None:
                sys.exit(f"{self.command[0]} ended: {(self.folder / 'output').read_text()}")
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
            except ConnectionRefusedError:
                time.sleep(0.02)
            else:
                return
        sys.exit(f"{self.command[0]} does not answer")

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.output.close()
        self.temporary.cleanup()

    def write_page(self, size: int) -> str:
        """Puts a page into the folder of pages, and returns its address."""
        (self.folder / "html" / f"{size}.html").write_bytes(page(size))
        return f"http://127.0.0.1:{self.port}/{size}.html"

    def cpu_seconds(self) -> float:
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def resident(self) -> int:
        """Returns the resident memory in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"VmRSS:\s*(\d+)", status)[1])

    def alerts(self) -> int:
        log = self.folder / "error.log"
        return log.read_text(errors="replace").count("[alert]") if log.exists() else 0


def body_bytes(url: str, size: int) -> int:
    """Requests a page, checks what comes, and returns the size of the compressed page in bytes."""
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request) as response:
        body = response.read()
    assert response.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body) == page(size)
    return len(body)


def load(url: str, connections: int, seconds: float) -> int:
    """Lets wrk send requests for some seconds, and returns the number of answered ones."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s"]
    command += ["-H", "Accept-Encoding: gzip", url]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Socket errors" not in output and "Non-2xx" not in output, output
    return int(re.search(r"(\d+) requests in", output)[1])


def slow_client(server: Server, url: str) -> int:
    """Returns the server's resident memory, in bytes, for each client that has read only a few bytes of a large page."""
    before = server.resident()
    path = "/" + url.split("/", 3)[3]
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n".encode()
    clients = []
    for _ in range(SLOW_CLIENTS):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.sendall(request)
        clients.append(client)
    for client in clients:
        client.recv(100)
    time.sleep(1)
    held = (server.resident() - before) // SLOW_CLIENTS
    for client in clients:
        client.close()
    return held


def nginx(servers: Path, level: int, library: str, *, compresses: bool = True, send_buffer: str = "") -> Server:
    kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    temporary = " ".join(f"{kind}_temp_path {{folder}}/{kind};" for kind in kinds)
    coding = f"gzip on; gzip_comp_level {level}; gzip_min_length 1;" if compresses else ""
    configuration = (
        "daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log warn;\n"
        "events {{ worker_connections 4096; }}\n"
        f"http {{{{ {temporary} access_log off; default_type text/html; {coding}\n"
        f"keepalive_requests 1000000; server {{{{ listen 127.0.0.1:{{port}} {send_buffer}; root {{folder}}/html; }}}} }}}}\n"
    )
    command = [find(servers, "nginx"), "-p", "{folder}", "-e", "{folder}/error.log", "-c", "{folder}/server.conf"]
    return Server(command, configuration, preload(library))


def apache(servers: Path, level: int, library: str) -> Server:
    program = find(servers, "apache2")
    root = Path(program).parents[1]
    names = ["mpm_event", "authz_core", "filter", "deflate"]
    modules = "".join(f"LoadModule {name}_module {root}/lib/apache2/modules/mod_{name}.so\n" for name in names)
    configuration = (
        "ServerRoot {folder}\nServerName localhost\nListen 127.0.0.1:{port}\nPidFile {folder}/pid\n"
        "DefaultRuntimeDir {folder}\nErrorLog {folder}/error.log\nLogLevel warn\nUser nobody\nGroup nogroup\n"
        "DocumentRoot {folder}/html\nMaxKeepAliveRequests 0\nThreadsPerChild 64\nMaxRequestWorkers 64\n"
        f"ServerLimit 1\n{modules}DeflateCompressionLevel {level}\nSetOutputFilter DEFLATE\n"
    )
    environment = preload(library) | unpacked_libraries(program)
    return Server([program, "-X", "-f", "{folder}/server.conf"], configuration, environment)


def unpacked_libraries(program: str) -> dict[str, str]:
    """Returns the environment in which an unpacked program finds the libraries of its package."""
    folders = (Path(program).parents[1] / "lib").iterdir()
    return {"LD_LIBRARY_PATH": ":".join(str(path) for path in folders if path.is_dir())}


def haproxy(program: str, backend: Server, *, limited: bool, level: int) -> Server:
    limit = "maxcompcpuusage 85\n" if limited else ""
    configuration = (
        f"global\nnbthread 1\ncpu-map 1 0\ntune.bufsize 16384\nmaxconn 4000\n{limit}"
        "stats socket {folder}/stats mode 600\n"
        "defaults\nmode http\ntimeout connect 30s\ntimeout client 30s\ntimeout server 30s\n"
        "frontend f\nbind 127.0.0.1:{port}\ncompression algo gzip\ncompression type text/html\n"
        f"default_backend b\nbackend b\nhttp-reuse always\nserver s 127.0.0.1:{backend.port}\n"
    )
    environment = {"LINERATE_SLZ_LEVEL": str(level)} if has_levels(program) else {}
    return Server([program, "-f", "{folder}/server.conf"], configuration, environment)


def has_levels(program: str) -> bool:
    """Returns whether the level of HAProxy's encoder can be chosen, as only Linerate's libslz
    allows it."""
    return "linerate" in Path(program).name


def find(servers: Path, name: str) -> str:
    for folder in (servers / "usr/sbin", Path("/usr/sbin")):
        if (folder / name).exists():
            return str(folder / name)
    sys.exit(f"no {name}: scripts/setup.sh servers")


def preload(library: str) -> dict[str, str]:
    return {"LD_PRELOAD": str(Path(library).resolve())} if library else {}


def statistics(server: Server) -> dict[str, str]:
    """Returns the row of the frontend in HAProxy's own statistics."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(server.folder / "stats"))
        client.sendall(b"show stat\n")
        text = b"".join(iter(lambda: client.recv(65536), b"")).decode()
    rows = csv.DictReader(text.lstrip("# ").splitlines())
    return next(row for row in rows if row["svname"] == "FRONTEND")


def server_version(options: argparse.Namespace) -> str:
    """Returns the version that the server prints."""
    if options.server == "haproxy":
        program, libraries = options.contenders[0][1], {}
    else:
        program = find(options.servers, {"nginx": "nginx", "apache": "apache2"}[options.server])
        libraries = unpacked_libraries(program)
    run = subprocess.run(
        [program, "-v"], env=os.environ | libraries, capture_output=True, text=True, check=True
    )
    return re.search(r"\d+(\.\d+)+", run.stdout + run.stderr)[0]


def measure_web(options: argparse.Namespace) -> None:
    """Measures nginx or Apache: each library and level with each page."""
    start = nginx if options.server == "nginx" else apache
    rows: dict[tuple[str, int, int], dict[str, Any]] = {}
    for _ in range(options.rounds):
        for library, file in options.contenders:
            for level in options.levels:
                with start(options.servers, level, file) as server:
                    for size in options.pages:
                        url = server.write_page(size)
                        got = body_bytes(url, size)
                        before = server.cpu_seconds()
                        answered = load(url, CONNECTIONS, options.seconds)
                        spent = (server.cpu_seconds() - before) / answered * 1e6
                        row = rows.setdefault((library, level, size), {"output": got, "time": []})
                        row["time"].append(spent)
                        row["requests"] = answered
                    alerts = server.alerts()
                held = None
                if options.server == "nginx":
                    with nginx(options.servers, level, file, send_buffer="sndbuf=4k") as server:
                        held = slow_client(server, server.write_page(SLOW_PAGE))
                for size in options.pages:
                    rows[library, level, size] |= {"slow_client": held, "alerts": alerts}
    for (library, level, size), metrics in rows.items():
        lines.measurement("servers", options.server, library, {"level": level, "page": size}, metrics)


def measure_haproxy(options: argparse.Namespace) -> None:
    """Measures HAProxy between users and nginx, without a limit on CPU usage for compression and
    with one."""
    rows: dict[tuple[str, int, bool], dict[str, list[float]]] = {}
    with nginx(options.servers, 1, "", compresses=False) as backend:
        backend.write_page(HAPROXY_PAGE)
        os.sched_setaffinity(backend.process.pid, {os.cpu_count() - 1})
        os.sched_setaffinity(0, {os.cpu_count() - 1})
        for _ in range(options.rounds):
            for library, program in options.contenders:
                for level in options.levels if has_levels(program) else [1]:
                    for limited in [False, True]:
                        row = rows.setdefault((library, level, limited), {})
                        for name, value in haproxy_round(options, backend, program, level, limited=limited).items():
                            row.setdefault(name, []).append(value)
    for (library, level, limited), metrics in rows.items():
        limit = "maxcompcpuusage 85" if limited else "none"
        params = {"level": level, "limit": limit, "users": HAPROXY_USERS, "page": HAPROXY_PAGE}
        lines.measurement("haproxy", "haproxy", library, params, metrics)


def haproxy_round(
    options: argparse.Namespace, backend: Server, program: str, level: int, *, limited: bool
) -> dict[str, float]:
    with haproxy(program, backend, limited=limited, level=level) as server:
        url = f"http://127.0.0.1:{server.port}/{HAPROXY_PAGE}.html"
        got = body_bytes(url, HAPROXY_PAGE)
        before = server.cpu_seconds()
        answered = load(url, HAPROXY_USERS, options.seconds)
        spent = server.cpu_seconds() - before
        row = statistics(server)
        # `bout` counts the bytes of responses before compression. Those of requests in progress
        # count too, because with many users they are a large part of what a few seconds bring.
        came = max(int(row["bout"]), int(row["comp_in"]))
        saved = int(row["comp_in"]) - int(row["comp_out"])
        pages = came / HAPROXY_PAGE
        return {
            "time": spent / pages * 1e6,
            "requests": answered,
            "requests_per_cpu": pages / spent,
            "content": came,
            "output": came - saved,
            "saved": saved / came,
            "ratio": came / (came - saved),
            "resident": server.resident(),
            "body": got,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", choices=["nginx", "apache", "haproxy"])
    parser.add_argument("contenders", nargs="+", type=lambda text: tuple(text.split("=", 1)))
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--levels", type=lambda text: [int(level) for level in text.split(",")], default=[1, 6])
    parser.add_argument(
        "--pages",
        type=lambda text: [int(size) for size in text.split(",")],
        default=[1_000, 4_000, 16_000, 71_000, 250_000, 1_000_000],
    )
    target = Path(os.environ.get("CARGO_TARGET_DIR") or lines.REPOSITORY / "target")
    parser.add_argument("--servers", type=Path, default=target / "servers")
    options = parser.parse_args()
    lines.run(lines.command("bench/servers/measure.py", sys.argv[1:]), {options.server: server_version(options)})
    (measure_haproxy if options.server == "haproxy" else measure_web)(options)


if __name__ == "__main__":
    main()
