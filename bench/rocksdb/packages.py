"""Reads a Debian package list from standard input and prints its stanzas as JSON objects, one on each line."""

import json
import sys


def main() -> None:
    fields: dict[str, str] = {}
    last = ""
    for line in sys.stdin:
        if line == "\n":
            if fields:
                print(json.dumps(fields, separators=(",", ":")))
            fields = {}
        elif line[0] == " ":
            fields[last] += line.rstrip("\n")
        else:
            last, _, value = line.rstrip("\n").partition(": ")
            fields[last] = value
    if fields:
        print(json.dumps(fields, separators=(",", ":")))


main()
