#!/usr/bin/env python3
"""corpus.py - the inputs that the fuzz targets begin with, an archive for each target.

    corpus.py unpack ARCHIVE DIR     writes them into a new directory
    corpus.py pack DIR ARCHIVE       makes the archive anew: the same inputs give the same bytes

To keep what a run has found, let libFuzzer choose what adds coverage, and pack that:

    build-fuzz/tests/fuzz/fuzz_gateway_ws -merge=1 KEPT build-fuzz/tests/fuzz/gateway_ws-found build-fuzz/tests/fuzz/gateway_ws-kept
    tests/fuzz/corpus.py pack KEPT tests/fuzz/corpus/gateway_ws.zip
"""
import os
import sys
import zipfile


def unpack(archive, directory):
    os.makedirs(directory, exist_ok=True)
    with zipfile.ZipFile(archive) as inputs:
        inputs.extractall(directory)


def pack(directory, archive):
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for name in sorted(os.listdir(directory)):
            with open(os.path.join(directory, name), "rb") as file:
                out.writestr(zipfile.ZipInfo(name), file.read(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    (pack if sys.argv[1] == "pack" else unpack)(sys.argv[2], sys.argv[3])
