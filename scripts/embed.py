#!/usr/bin/env python3
"""Makes a C source that holds files as text: embed.py OUTPUT SYMBOL=FILE...

Each becomes `const char SYMBOL[]`, ended by NUL, and `const size_t SYMBOL_len`.
"""
import sys


def literal(data):
    lines = []
    for i in range(0, len(data), 20):
        # Character constants, since char may be signed or not.
        lines.append("\t" + ", ".join(f"'\\{b:03o}'" for b in data[i : i + 20]) + ",")
    return "\n".join(lines)


def main():
    output, pairs = sys.argv[1], sys.argv[2:]
    with open(output, "w", encoding="ascii") as out:
        out.write("#include <stddef.h>\n")
        for pair in pairs:
            symbol, file = pair.split("=", 1)
            with open(file, "rb") as source:
                data = source.read()
            out.write(f"extern const char {symbol}[];\nextern const size_t {symbol}_len;\n")
            out.write(f"const char {symbol}[] = {{\n{literal(data)}\n\t0,\n}};\n")
            out.write(f"const size_t {symbol}_len = {len(data)};\n")


main()
