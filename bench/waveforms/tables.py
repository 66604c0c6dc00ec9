"""Records as text: a Markdown table for each shape, and ratios compared with goals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from record import Record


def table(records: Sequence[Record], shape: str, clock: str = "", statistic: str = "best") -> str:
    """Methods down, sets across; a cell has size % · encode/decode in MB/s."""
    records = [r for r in records if r["shape"] == shape]
    names = list(dict.fromkeys(r["contender"] for r in records))
    sets = list(dict.fromkeys(r["corpus"] for r in records))
    cells = {(r["contender"], r["corpus"]): _cell(r, clock, statistic) for r in records}
    lines = [["method", *sets]]
    lines += [[name, *(cells.get((name, set), "-") for set in sets)] for name in names]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rule = ["-" * width for width in widths]
    padded = (
        " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True))
        for line in [lines[0], rule, *lines[1:]]
    )
    return "\n".join(f"| {line} |" for line in padded)


def failures(records: Sequence[Record]) -> str:
    """A line for each method and set that could not be measured."""
    lines = (f"{r['shape']} {r['contender']}, {r['corpus']}: {r['note']}" for r in records if r["note"])
    return "\n".join(lines)


def _cell(r: Record, clock: str, statistic: str) -> str:
    if r["note"]:
        return "failed"
    encode, decode = (float(r[f"{what}_{clock}{statistic}_mb_s"]) for what in ("encode", "decode"))
    return f"{float(r['size_percent']):.1f} · {encode:.0f}/{decode:.0f}"


class _Rows:
    """The records of one set by shape and method."""

    def __init__(self, records: Sequence[Record], clock: str) -> None:
        self._rows = {(r["shape"], r["contender"]): r for r in records if not r["note"]}
        self._clock = clock

    def _number(self, shape: str, name: str, column: str) -> float:
        return float(self._rows[shape, name][column])

    def size(self, shape: str, name: str) -> float:
        return self._number(shape, name, "size_percent")

    def speed(self, shape: str, name: str, what: str) -> float:
        return self._number(shape, name, f"{what}_{self._clock}best_mb_s")

    def names(self, shape: str, start: str) -> list[str]:
        return [name for s, name in self._rows if s == shape and name.startswith(start)]


#: Name, goal and computation of each ratio, all with one thread.
GOALS: Sequence[tuple[str, str, Callable[[_Rows], float]]] = (
    ("encode, times the other filter", ">= 2.5", lambda r: _against(r, "encode")),
    ("decode, times the other filter", ">= 5 (nab: 8)", lambda r: _against(r, "decode")),
    ("v1 auto size, points above the best m's", "<= 0.1", lambda r: _above_best(r)),
    ("v1 m=8 read, times its parts", "<= 1.3", lambda r: _through(r, "linerate v1 m=8", "decode")),
    ("v1 m=8 write, times its parts", "<= 1.3", lambda r: _through(r, "linerate v1 m=8", "encode")),
    ("v2 read, times its parts", "<= 1.3", lambda r: _through(r, "linerate v2", "decode")),
    ("v2 write, times its parts", "<= 1.3", lambda r: _through(r, "linerate v2", "encode")),
    ("v2 size, times szip's", "<= 1", lambda r: r.size("hdf5", "linerate v2") / _szip(r)),
    ("v2 size, times aec's", "<= 1", lambda r: r.size("memory", "linerate v2") / _aec(r)),
    ("v2 size, times FLAC 5's", "<= 1.02", lambda r: _to(r, "linerate v2", "flac 5")),
    ("v2 decode, times FLAC 5's", ">= 10", lambda r: _speed_to(r, "linerate v2", "flac 5")),
    ("v2 decode, times pco 8's", ">= 1", lambda r: _speed_to(r, "linerate v2", "pco 8")),
    ("v1 m=8 decode, times pco 8's", ">= 1", lambda r: _speed_to(r, "linerate v1 m=8", "pco 8")),
    ("v1 m=8 decode, times aec's", ">= 5", lambda r: _speed_to(r, "linerate v1 m=8", "aec nn 16")),
)


def _against(r: _Rows, what: str) -> float:
    other = r.names("memory", "against")[0]
    return r.speed("memory", "linerate v1 m=8, filter call", what) / r.speed("memory", other, what)


def _through(r: _Rows, name: str, what: str) -> float:
    """Time through HDF5 by the time in memory and the time of the same call without a filter."""
    time = lambda shape, name: 1 / r.speed(shape, name, what)
    return time("hdf5", name) / (time("memory", name) + time("hdf5", "none"))


def _above_best(r: _Rows) -> float:
    """Requires the sizes with all 15 values of m (`--every-m`)."""
    with_m = [name for name in r.names("memory", "linerate v1 m=") if name[14:].isdigit()]
    if len(with_m) < 15:
        raise KeyError("sizes with some m are missing")
    return r.size("memory", "linerate v1 auto") - min(r.size("memory", name) for name in with_m)


def _szip(r: _Rows) -> float:
    return min(r.size("hdf5", name) for name in ("szip nn 16", "szip nn 32"))


def _aec(r: _Rows) -> float:
    return min(r.size("memory", name) for name in ("aec nn 16", "aec nn 32"))


def _to(r: _Rows, name: str, other: str) -> float:
    return r.size("memory", name) / r.size("memory", other)


def _speed_to(r: _Rows, name: str, other: str) -> float:
    return r.speed("memory", name, "decode") / r.speed("memory", other, "decode")


def goals(records: Sequence[Record], clock: str = "") -> str:
    """A Markdown table of the ratios that the records allow; empty if none."""
    sets = list(dict.fromkeys(r["corpus"] for r in records))
    rows = [_Rows([r for r in records if r["corpus"] == set], clock) for set in sets]
    lines = [["ratio", "goal", *sets], ["---"] * (2 + len(sets))]
    for name, goal, ratio in GOALS:
        cells = [_ratio(ratio, r) for r in rows]
        if any(cell != "-" for cell in cells):
            lines.append([name, goal, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if len(lines) > 2 else ""


def _ratio(ratio: Callable[[_Rows], float], rows: _Rows) -> str:
    try:
        return f"{ratio(rows):.3g}"
    except (KeyError, IndexError, ValueError, ZeroDivisionError):
        return "-"  # a method is missing
