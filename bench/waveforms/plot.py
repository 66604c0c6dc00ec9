"""Size against decoding speed, one SVG for each set and shape, from a CSV file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import record
from record import Record

_OURS, _PEERS = "#c43020", "#3c5a82"


def newest(records: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    """For each set and shape, the last record of each method from the newest day and machine."""
    groups: dict[tuple[str, str], dict[str, Record]] = {}
    same = ("date", "cpu", "linerate", "bytes")
    for r in records:
        if r["note"]:
            continue
        group = groups.setdefault((r["corpus"], r["shape"]), {})
        if group and any(r[column] != next(reversed(group.values()))[column] for column in same):
            group.clear()
        group.pop(r["contender"], None)
        group[r["contender"]] = r
    return {key: list(group.values()) for key, group in groups.items() if group}


def draw(records: Sequence[Record], path: Path) -> None:
    """Draws one group, without methods that hardly compress, which would stretch the axis."""
    import matplotlib

    matplotlib.use("agg")  # it measures text
    matplotlib.rcParams["svg.hashsalt"] = "linerate"  # deterministic output
    from matplotlib import pyplot, ticker

    points = [r for r in records if float(r["size_percent"]) < 95] or list(records)
    figure, axes = pyplot.subplots(figsize=(9.6, 6.4))
    first = points[0]
    where = "through h5py and HDF5" if first["shape"] == "hdf5" else "in memory"
    axes.set(
        title=f"{first['corpus']}, {where}: {first['cpu']}",
        xlabel="decode, MB/s of wall time (best round)",
        ylabel="size, % of raw",
        xscale="log",
    )
    axes.grid(alpha=0.2, which="both")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.margins(0.12)
    places = [(float(r["decode_best_mb_s"]), float(r["size_percent"])) for r in points]
    colours = [_OURS if r["contender"].startswith("linerate") else _PEERS for r in points]
    axes.scatter(*zip(*places, strict=True), c=colours, s=24)
    figure.tight_layout()
    label(axes, [r["contender"] for r in points], places, colours)
    figure.savefig(path, format="svg", metadata={"Date": None})
    pyplot.close(figure)


#: Candidate label offsets in points, right and up from the marker, nearest first.
_SPOTS = [
    (side * (5 + far), up * (4 + far))
    for far in (0, 8, 16, 26, 38, 52)
    for side in (1, -1)
    for up in (1, -1, 0)
]


def label(
    axes: Any, names: Sequence[str], places: Sequence[tuple[float, float]], colours: Sequence[str]
) -> None:
    """Writes each name near its marker where it overlaps the fewest markers and names."""
    from matplotlib.transforms import Bbox

    renderer = axes.figure.canvas.get_renderer()
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in axes.transData.transform(places)]
    inside = axes.get_window_extent()
    for name, place, colour in zip(names, places, colours, strict=True):
        text = axes.annotate(
            name, place, (0, 0), textcoords="offset points", color=colour, size=8, va="center"
        )

        def cost(spot: tuple[int, int], text: Any = text) -> float:
            text.set_position(spot)
            text.set_horizontalalignment("left" if spot[0] > 0 else "right")
            box = text.get_window_extent(renderer)
            covered = sum(
                shared.width * shared.height for b in taken if (shared := Bbox.intersection(box, b))
            )
            outside = box.width - max(0, min(box.x1, inside.x1) - max(box.x0, inside.x0))
            return covered + 100 * outside + 0.1 * (abs(spot[0]) + abs(spot[1]))

        cost(min(_SPOTS, key=cost))
        taken.append(text.get_window_extent(renderer))


def draw_all(csv: Path, folder: Path) -> list[Path]:
    """Draws every group of a file as waveforms-SET-SHAPE.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for (set, shape), group in newest(record.read(csv)).items():
        made.append(folder / f"waveforms-{set}-{shape}.svg".replace(" ", "-"))
        draw(group, made[-1])
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=Path, help="a file that bench/waveforms wrote")
    parser.add_argument("folder", type=Path, help="where the SVG files go")
    arguments = parser.parse_args()
    try:
        print(*draw_all(arguments.csv, arguments.folder), sep="\n")
    except (OSError, ValueError) as e:
        print(f"plot: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
