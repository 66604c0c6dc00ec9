#!/usr/bin/env python3
"""planner-sets.py NAME PATH: writes one of the generated sets on which plans are judged.

    access.log   lines of a web server, 300 MB
    rows.json    orders as JSON lines, with a key, 250 MB
    shop.sqlite  customers, orders and reviews in tables with indexes, 190 MB
    int16.npy    an array of (28800, 4096): pulses of several amplitudes on noise
    int32.npy    an array of (72, 720000): a seismogram of 24 bits
    float.npy    an array of (400, 180, 720): a smooth field in float32
    office       spreadsheets and texts, as zip files of XML, 220 MB

The same versions of Python, SQLite and zlib give the same bytes.
"""

import array
import math
import random
import sqlite3
import sys
import zipfile
from pathlib import Path

NAMES = "adams baker chen diaz evans fischer garcia hughes ito jones khan lopez meyer novak okafor patel".split()
WORDS = (
    "the of and to in is was for on that with as it by from at this are be or an not which have were has "
    "price order late good paper window river signal battery invoice garden sample copper weather simple "
    "north carry measure station yellow report market planet winter engine bridge copy letter minute"
).split()
PATHS = ["/", "/login", "/cart", "/search", "/img/{}.png", "/item/{}", "/item/{}/reviews", "/api/v2/stock/{}", "/static/app.{}.js"]
AGENTS = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "curl/8.5.0",
    "Googlebot/2.1 (+http://www.google.com/bot.html)",
]


def text(rng, words):
    return " ".join(WORDS[min(int(rng.expovariate(0.08)), len(WORDS) - 1)] for _ in range(words))


def access_log(rng, path):
    clients = [".".join(str(rng.randrange(1, 255)) for _ in range(4)) for _ in range(9000)]
    with open(path, "w", newline="\n") as out:
        size, second = 0, 0
        while size < 300_000_000:
            second += rng.random() < 0.2
            day, rest = divmod(second, 86400)
            time = f"{10 + day:02}/Mar/2026:{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02} +0000"
            client = clients[int(rng.paretovariate(0.7)) % len(clients)]
            page = rng.choice(PATHS).format(int(rng.paretovariate(0.6)) % 200_000)
            status = rng.choices([200, 304, 404, 302, 500], [80, 12, 4, 3, 1])[0]
            sent = 0 if status == 304 else int(rng.lognormvariate(8, 1.5))
            size += out.write(f'{client} - - [{time}] "GET {page} HTTP/1.1" {status} {sent} "-" "{rng.choice(AGENTS)}"\n')


def rows_json(rng, path):
    with open(path, "w", newline="\n") as out:
        size, i = 0, 0
        while size < 250_000_000:
            i += 1
            lines = ",".join(
                f'{{"sku":"{rng.randrange(40_000):05}","count":{int(rng.expovariate(0.6)) + 1},"cents":{rng.randrange(99, 25_000)}}}'
                for _ in range(rng.randrange(1, 5))
            )
            note = f'"note":"{text(rng, rng.randrange(3, 12))}",' if rng.random() < 0.3 else ""
            size += out.write(
                f'{{"id":"{i:010}","customer":"{rng.choice(NAMES)}.{rng.randrange(90_000)}@example.org",{note}'
                f'"placed":{1_770_000_000 + i * 3},"lines":[{lines}],"paid":{"true" if rng.random() < 0.9 else "false"}}}\n'
            )


def shop_sqlite(rng, path):
    with sqlite3.connect(path) as base:
        base.executescript(
            "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF;"
            "CREATE TABLE customer (id INTEGER PRIMARY KEY, mail TEXT, token BLOB, joined INTEGER);"
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, sku INTEGER, cents INTEGER, placed INTEGER);"
            "CREATE TABLE review (id INTEGER PRIMARY KEY, sku INTEGER, stars INTEGER, words TEXT);"
        )
        customers = ((i, f"{rng.choice(NAMES)}.{i}@example.org", rng.randbytes(16), 1_600_000_000 + i * 97) for i in range(500_000))
        base.executemany("INSERT INTO customer VALUES (?, ?, ?, ?)", customers)
        orders = ((i, rng.randrange(500_000), rng.randrange(40_000), rng.randrange(99, 25_000), 1_700_000_000 + i * 5) for i in range(2_200_000))
        base.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", orders)
        reviews = ((i, rng.randrange(40_000), rng.randrange(1, 6), text(rng, rng.randrange(5, 60))) for i in range(400_000))
        base.executemany("INSERT INTO review VALUES (?, ?, ?, ?)", reviews)
        base.executescript("CREATE INDEX by_mail ON customer (mail); CREATE INDEX by_customer ON orders (customer, placed);")
    base.close()


def npy(path, kind, shape, numbers):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    if sys.byteorder == "big":
        numbers.byteswap()
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00\x76\x00" + f"{head:<117}\n".encode())
        numbers.tofile(out)


def int16_npy(rng, path):
    rows, columns = 28_800, 4096
    numbers = array.array("h")
    for _ in range(rows):
        start, height, decay = rng.randrange(600, 1400), rng.lognormvariate(6.5, 0.8), rng.uniform(0.995, 0.9995)
        noise, level, base = rng.randbytes(columns * 2), 0.0, rng.gauss(1000, 3)
        for i in range(columns):
            level = min(height, 20_000.0) if i == start else level * decay
            numbers.append(int(base + level) + (noise[i] + noise[i + columns] >> 5) - 8)
    npy(path, "<i2", (rows, columns), numbers)


def int32_npy(rng, path):
    rows, columns = 72, 720_000
    numbers = array.array("i")
    for _ in range(rows):
        noise, x, v, gain = rng.randbytes(columns), 0.0, 0.0, rng.uniform(3, 60)
        quake = rng.randrange(columns)
        for i in range(columns):
            push = (noise[i] - 127.5) * gain
            if 0 <= i - quake < 40_000:
                push *= 1 + 200 * math.exp((quake - i) / 9000)
            v = 0.93 * v - 0.02 * x + push
            x += v
            numbers.append(max(-8_388_608, min(8_388_607, int(x))))
    npy(path, "<i4", (rows, columns), numbers)


def float_npy(rng, path):
    times, rows, columns = 400, 180, 720
    numbers = array.array("f")
    waves = [(rng.randrange(1, 6), rng.randrange(1, 9), rng.uniform(0, 6.28), rng.uniform(0.5, 6)) for _ in range(3)]
    # sin(phase + x) is computed from the sines and cosines of x, which are the same in every row.
    sines = [[math.sin(b * x / 115) for x in range(columns)] for _, b, _, _ in waves]
    cosines = [[math.cos(b * x / 115) for x in range(columns)] for _, b, _, _ in waves]
    for t in range(times):
        for y in range(rows):
            phases = [a * y / 30 + c + t / 20 for a, _, c, _ in waves]
            (p, q, r), (u, v, w) = ([d * f(phase) for phase, (*_, d) in zip(phases, waves)] for f in (math.cos, math.sin))
            parts = zip(*sines, *cosines, rng.randbytes(columns))
            numbers.extend(
                280 + p * a + q * b + r * c + u * d + v * e + w * f + (noise - 128) / 4096 for a, b, c, d, e, f, noise in parts
            )
    npy(path, "<f4", (times, rows, columns), numbers)


def office(rng, path):
    Path(path).mkdir()
    for i in range(880):
        with zipfile.ZipFile(f"{path}/{i:03}.{'xlsx' if i % 3 else 'docx'}", "w", zipfile.ZIP_DEFLATED) as out:
            if i % 3:
                cells = "".join(
                    f'<row r="{r}"><c r="A{r}"><v>{rng.randrange(1 << 20)}</v></c><c r="B{r}"><v>{rng.gauss(100, 9)!r}</v></c></row>'
                    for r in range(1, 9000)
                )
                parts = {"xl/worksheets/sheet1.xml": f"<worksheet><sheetData>{cells}</sheetData></worksheet>"}
            else:
                lines = "".join(f"<w:p><w:r><w:t>{text(rng, 40)}</w:t></w:r></w:p>" for _ in range(4000))
                parts = {"word/document.xml": f"<w:document><w:body>{lines}</w:body></w:document>"}
            for name, body in parts.items():
                # A fixed date, so that the bytes do not depend on the time.
                entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                out.writestr(entry, f'<?xml version="1.0" encoding="UTF-8"?>{body}')


SETS = {
    "access.log": access_log,
    "rows.json": rows_json,
    "shop.sqlite": shop_sqlite,
    "int16.npy": int16_npy,
    "int32.npy": int32_npy,
    "float.npy": float_npy,
    "office": office,
}

if __name__ == "__main__":
    name, path = sys.argv[1:]
    SETS[name](random.Random(f"second {name}"), path)
