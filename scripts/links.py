#!/usr/bin/env python3
"""links.py [DIR] - checks that what the Markdown files below DIR (this repository unless given) refer to is there.

Looked at are links to files and headings, and paths in `code` that begin with a folder of DIR. Addresses of the web are not asked.
Prints "FILE:LINE: what is missing" for each, and exits 1 when there is any.
"""
import os
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\s]+)`")
PATH = re.compile(r"[\w.@-]+(/[\w.@-]+)*/?")
OTHERS = {".git", "node_modules"}


def markdown_files(top):
    for folder, folders, names in os.walk(top):
        folders[:] = [f for f in folders if f not in OTHERS and not (folder == top and f.startswith("build"))]
        yield from (os.path.join(folder, name) for name in names if name.endswith(".md"))


def prose(text):
    """The lines outside of fenced code, numbered."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(path):
    """The names by which the headings of a file are linked to, as GitHub makes them."""
    with open(path, encoding="utf-8") as file:
        headings = [line.lstrip("#") for _, line in prose(file.read()) if re.match(r"#{1,6} ", line)]
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}


def missing(top, path):
    """(line, what) for each reference of one file that leads nowhere."""
    folder = os.path.dirname(path)
    folders = {name for name in os.listdir(top) if os.path.isdir(os.path.join(top, name)) and not name.startswith("build")}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for number, line in prose(text):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            name, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            to = os.path.join(folder, name) if name else path
            if not os.path.exists(to):
                yield number, f"link to {target}"
            elif anchor and to.endswith(".md") and anchor not in anchors(to):
                yield number, f"heading #{anchor} in {os.path.relpath(to, top)}"
        for target in CODE.findall(line):
            if "/" not in target or not PATH.fullmatch(target) or target.split("/")[0] not in folders:
                continue
            if not any(os.path.exists(os.path.join(base, target)) for base in (top, folder)):
                yield number, f"path {target}"


def main(top):
    found = [f"{os.path.relpath(path, top)}:{number}: {what} is not there"
             for path in sorted(markdown_files(top)) for number, what in missing(top, path)]
    if found:
        print("\n".join(found))
    sys.exit(bool(found))


main(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
