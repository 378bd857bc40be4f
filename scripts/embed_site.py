#!/usr/bin/env python3
"""Makes the web client a part of a program: embed_site.py OUTPUT.c OUTPUT.bin PAGE CLIENT_FILE... -- LIBRARY=FILE[,FILE...]...

OUTPUT.c is the table `site_files` of workers/gateway/web/site.h, OUTPUT.bin the content of the files, as they are and compressed.

- PAGE becomes "/". In it @NAME@ stands for the address of a library, @client@ for the folder of the client's files, @modules@ for
  links that have every module fetched at once that the page needs to begin, instead of one after the other as imports are found.
- The client's files lie in a folder named by the hash of all of them, so that they may include each other by relative names.
- A library is one file, joined from those that are named.
"""
import gzip
import hashlib
import os
import re
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

# The frame of the page, and the view that it always makes.
BEGINS = ("main.js", "view_work.js")
IMPORT = re.compile(r"^import [^;]*?from '\./([^']+)';$", re.MULTILINE)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()[:16]


def needed(module, contents, found):
    """The module and all that it imports when it is read, in `found`; not what it imports later."""
    if module in found:
        return
    found.append(module)
    for name in IMPORT.findall(contents[module].decode()):
        needed(name, contents, found)


def collect(page, client, libraries):
    """(path, immutable, content) of each file."""
    files, names = [], {}
    contents = {os.path.basename(path): read(path) for path in client}
    folder = "/page/" + digest(*(part for name in sorted(contents) for part in (name.encode(), contents[name])))
    for name, content in contents.items():
        files.append((f"{folder}/{name}", True, content))
    for library in libraries:
        name, sources = library.split("=", 1)
        content = b"\n".join(read(source) for source in sources.split(","))
        stem, ending = os.path.splitext(name)
        names[name] = f"/page/{stem}-{digest(content)}{ending}"
        files.append((names[name], True, content))
    html = read(page).decode()
    modules = []
    for name in BEGINS:
        needed(name, contents, modules)
    html = html.replace("@modules@", "\n".join(f'<link rel="modulepreload" href="{folder}/{name}">' for name in modules))
    for name, address in {**names, "client": folder}.items():
        html = html.replace(f"@{name}@", address)
    files.append(("/", False, html.encode()))
    return sorted(files, key=lambda file: file[0].encode())


def ending_of(path):
    return ".html" if path == "/" else os.path.splitext(path)[1]


def write(source, binary, files):
    rows, blob = [], b""
    for path, immutable, content in files:
        packed = gzip.compress(content, 9, mtime=0)
        rows.append(
            f'\t{{"{path}", "{TYPES[ending_of(path)]}", "\\"{digest(content)}\\"", {str(immutable).lower()}, '
            f"site_bytes + {len(blob)}, site_bytes + {len(blob) + len(content)}, {len(content)}, {len(packed)}}},\n"
        )
        blob += content + packed
    with open(binary, "wb") as out:
        out.write(blob)
    with open(source, "w", encoding="ascii") as out:
        out.write('#include "workers/gateway/web/site.h"\n\n')
        out.write(f"/* The assembler reads it: {digest(blob)}. */\n")
        out.write('__asm__(".section .rodata\\n"\n\t".global site_bytes\\n"\n\t".hidden site_bytes\\n"\n\t"site_bytes:\\n"\n')
        out.write(f'\t".incbin \\"{os.path.abspath(binary)}\\"\\n"\n\t".byte 0\\n"\n\t".previous\\n");\n\n')
        out.write('extern const unsigned char site_bytes[] __attribute__((visibility("hidden")));\n\n')
        out.write("const struct site_file site_files[] = {\n" + "".join(rows) + "};\n")
        out.write(f"const size_t site_file_count = {len(files)};\n")


def main():
    source, binary, page, *rest = sys.argv[1:]
    middle = rest.index("--")
    write(source, binary, collect(page, rest[:middle], rest[middle + 1 :]))


main()
