"""Makes sets with several channels and with 32 bits from public recordings, and one with SpikeInterface's generator.

Run as `python bench/waveforms/recordings.py SOURCE CORPUS`. SOURCE is a folder with the files named below, and the
arrays are written to CORPUS. docs/reference/bench-waveforms.md says where the files come from. Seismic traces are part
of the installed package obspy, and spikeinterface simulates the probe. A set whose package is missing is left out.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

#: Samples per row of seismic traces, which are cut into rows.
ROW = 4096


def raw(file: Path, channels: int, dtype: str = "<i2") -> NDArray[np.int16]:
    """Returns the (time, channel) array of a WFDB signal file of format 16, or with ">i2" of format 61."""
    return np.fromfile(file, dtype).reshape(-1, channels).astype(np.int16)


def heart(source: Path) -> Iterator[tuple[str, NDArray]]:
    """Yields electrocardiograms from the examples of wfdb-python."""
    leads = np.hstack([raw(source / "s0010_re.dat", 12), raw(source / "s0010_re.xyz", 3)])
    yield "ecg15", leads
    yield "ecg15_i32", leads.T.astype(np.int32)
    yield "fetal_p10143", raw(source / "p10143.dat", 2, ">i2")
    yield "monitor_a103l", np.fromfile(source / "a103l.mat", "<i2")[12:].reshape(-1, 3)  # MATLAB 4: a head of 24 bytes


def sound(source: Path) -> Iterator[tuple[str, NDArray]]:
    """Yields sound from two test files of pydub."""
    import soundfile

    yield "stereo", soundfile.read(source / "test1.wav", dtype="int16")[0]
    stereo = soundfile.read(source / "test1-24bit.wav", dtype="int32")[0] >> 8  # left-justified
    upper = (stereo >> 8).astype(np.int16)
    yield "stereo24", stereo
    yield "audio24", stereo[:, 0].reshape(1, -1)
    yield "stereo44_16", upper
    yield "mono44_16", upper[:, 0].reshape(1, -1)


def seismic() -> Iterator[tuple[str, NDArray]]:
    """Yields an array of traces from obspy's test data: of each station and channel, the first
    trace with at least 2 `ROW` samples of 32 bits. Traces are cut into rows of `ROW` samples; the
    rest of a trace is dropped."""
    import obspy

    traces = {}
    for file in sorted(Path(obspy.__file__).parent.glob("io/*/tests/data/*")):
        if file.is_file() and file.stat().st_size >= 20_000:
            try:
                with warnings.catch_warnings(action="ignore"):
                    read = obspy.read(file)
            except Exception:  # not a recording: each reader has exceptions of its own
                continue
            for trace in read:
                if trace.data.dtype == np.int32 and len(trace.data) >= 2 * ROW:
                    traces.setdefault(trace.id, trace.data)
    rows = [data[: len(data) // ROW * ROW].reshape(-1, ROW) for data in traces.values()]
    yield "seismic_i32", np.concatenate(rows)


#: Microvolts per bit of a Neuropixels 1.0 probe in the action potential band: 1.2 V in 2^10 steps, with a gain of 500.
STEP = 1.2e6 / 1024 / 500


def probe() -> Iterator[tuple[str, NDArray]]:
    """Yields two seconds of spikes of 200 units, and noise, at the sites of a Neuropixels 1.0 probe. Half of the noise
    is white and independent for each channel. The other half is common to all channels, as in recordings from which
    no common reference has been subtracted."""
    import spikeinterface.core as core

    rng = np.random.default_rng(1)
    recording, _ = core.generate_ground_truth_recording(
        durations=[2.0],
        sampling_frequency=30_000.0,
        num_channels=384,
        num_units=200,
        generate_probe_kwargs={
            "num_columns": 2,
            "xpitch": 32,
            "ypitch": 20,
            "contact_shapes": "square",
            "contact_shape_params": {"width": 12},
        },
        generate_sorting_kwargs={"firing_rates": 6.0, "refractory_period_ms": 4.0},
        noise_kwargs={"noise_levels": 7.0, "strategy": "on_the_fly"},
        seed=1,
    )
    traces = recording.get_traces()
    shared = rng.normal(0, 7, len(traces))
    yield "probe384", np.round((traces + shared[:, None]) / STEP).astype(np.int16)


def main(source: Path, corpus: Path) -> None:
    corpus.mkdir(parents=True, exist_ok=True)
    for sets in (heart(source), sound(source), seismic(), probe()):
        try:
            for name, array in sets:
                np.save(corpus / f"{name}.npy", np.ascontiguousarray(array))
                print(name, array.dtype, *array.shape)
        except ImportError as e:
            print(f"left out: {e}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print("usage: python bench/waveforms/recordings.py SOURCE CORPUS", file=sys.stderr)
        sys.exit(2)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
