"""Draws four pictures of generated waveforms and of their compression.

    python bindings/python/examples/waveforms.py --out waveforms.png

* a trace
* how often each residual (the difference from the sample before) occurs
* size against m, which shows that a wrong m costs size and that tune() finds the best one
* size against speed, beside zlib of the standard library and three codecs of numcodecs

Needs matplotlib. numcodecs is optional.
"""

import argparse
import time
import zlib

import matplotlib.pyplot as plt
import numpy as np

from pylinerate import rice


def generated(rows, samples, seed=1):
    """Makes one detector pulse per row, in 16 bits: a fast rise, an exponential decay, noise."""
    rng = np.random.default_rng(seed)
    time_in_row = np.arange(samples)
    since = time_in_row - rng.integers(samples // 8, samples // 2, (rows, 1))
    height = rng.exponential(400, (rows, 1)) + 100
    pulse = np.where(since < 0, 0, height * np.exp(-np.maximum(since, 0) / (samples / 6)))
    return np.round(pulse + rng.normal(0, 3, (rows, samples))).clip(-32768, 32767).astype("int16")


def codecs():
    """Yields name, encoder and decoder of each codec to compare."""
    yield "Delta-Rice", rice.encode, rice.decode
    yield "Delta-Rice 2", rice.encode2, rice.decode2
    yield "zlib 1", lambda array: zlib.compress(array, 1), zlib.decompress
    yield "zlib 6", lambda array: zlib.compress(array, 6), zlib.decompress
    try:
        import numcodecs
    except ImportError:
        return
    numcodecs.blosc.set_nthreads(1)
    shuffle = numcodecs.Blosc.BITSHUFFLE
    for name, codec in {
        "Blosc LZ4, bits shuffled": numcodecs.Blosc("lz4", 5, shuffle),
        "Blosc Zstd, bits shuffled": numcodecs.Blosc("zstd", 5, shuffle),
        "Zstd 3": numcodecs.Zstd(3),
    }.items():
        yield name, codec.encode, codec.decode


def fastest(work, argument, times=3):
    """Calls ``work`` a few times. Returns its result and the seconds of its fastest call."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = work(argument)
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def measured(array):
    """Yields for each codec its name, size in % of the array, and MB/s of encoding and of
    decoding."""
    for name, encode, decode in codecs():
        encoded, encoding = fastest(encode, array)
        decoded, decoding = fastest(decode, encoded)
        assert np.array_equal(np.frombuffer(decoded, array.dtype), array.reshape(-1)), name
        megabytes = array.nbytes / 1e6
        yield name, 100 * len(encoded) / array.nbytes, megabytes / encoding, megabytes / decoding


def draw_trace(axes, array):
    axes.plot(array[0], linewidth=0.5)
    axes.set(title="A trace", xlabel="sample", ylabel="ADC counts")


def draw_residuals(axes, array):
    residuals = np.diff(array.astype("int32"), axis=1).reshape(-1)
    values, counts = np.unique(residuals, return_counts=True)
    axes.semilogy(values, counts, ".", markersize=3)
    axes.set(title="Residuals", xlabel="difference from the sample before", ylabel="occurrences")


def draw_sizes(axes, array):
    ms = [2**k for k in range(1, 13)]
    sizes = [100 * len(rice.encode(array, m=m, allow_expansion=True)) / array.nbytes for m in ms]
    best = rice.tune(array).m
    axes.semilogx(ms, sizes, ".-", base=2)
    axes.axvline(best, linestyle=":", label=f"tune: m = {best}")
    axes.axhline(100 * len(rice.encode2(array)) / array.nbytes, linestyle="--", label="version 2")
    axes.set(title="Size against m", xlabel="m", ylabel="size, % of raw", ylim=(0, None))
    axes.legend()


def draw_speeds(axes, rows):
    for name, size, encoding, decoding in rows:
        (line,) = axes.plot([encoding, decoding], [size, size], linewidth=0.8)
        axes.plot(encoding, size, "o", decoding, size, ">", color=line.get_color(), markersize=5)
        axes.annotate(
            name, (min(encoding, decoding), size), fontsize=7, xytext=(0, 4), textcoords="offset points"
        )
    axes.set(
        title="Size against speed (one thread; o encoding, > decoding)",
        xmargin=0.2,
        xlabel="MB/s of samples",
        ylabel="size, % of raw",
        xscale="log",
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=500, help="waveforms (%(default)s)")
    parser.add_argument("--samples", type=int, default=7000, help="samples of each (%(default)s)")
    parser.add_argument("--out", default="waveforms.png", help="picture to write (%(default)s)")
    arguments = parser.parse_args()

    array = generated(arguments.rows, arguments.samples)
    rows = list(measured(array))
    for name, size, encoding, decoding in rows:
        print(f"{name:26} {size:6.1f} %   encode {encoding:7.0f} MB/s   decode {decoding:7.0f} MB/s")
    figure, ((trace, residuals), (sizes, speeds)) = plt.subplots(2, 2, figsize=(12, 8), layout="constrained")
    draw_trace(trace, array)
    draw_residuals(residuals, array)
    draw_sizes(sizes, array)
    draw_speeds(speeds, rows)
    figure.savefig(arguments.out, dpi=120)
    print(arguments.out)


if __name__ == "__main__":
    main()
