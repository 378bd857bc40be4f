#!/usr/bin/env python3
"""requirements.py [DIR] - checks docs/requirements.md and docs/decisions.md against the files below DIR (this repository unless given).

  - Every id that code, tests or documents cite stands in the first column of a table of one of the two.
  - No id stands there twice.
  - Nothing cites a paper that the repository does not have ("contract section 4", "rulings").
  - Every file that a table names exists, and every test: what stands in `code` behind a file of tests/ stands in that file.

Prints "FILE:LINE: what is wrong" for each, and exits 1 when there is any.
"""
import os
import re
import sys

DOCUMENTS = ("docs/requirements.md", "docs/decisions.md")
SOURCES = (".c", ".h", ".def", ".mjs", ".py", ".sh", ".md", ".txt", ".build")
OTHERS = {".git", "node_modules", "corpus"}
ID = re.compile(r"(?<![\w./-])(?:"
                r"(?:SG-)?(?:FR|EC|SC)-\d{2,3}|SG-(?:[TE]\d|\d\.\d)|BL-(?:[RSI]\d|Q)|IV-\d+(?:\.\d)?|ID-\d"
                r"|P\d{1,2}\.\d{1,2}|R\d\d|W\d\d|D\d\d|X\d|[BCEGI]\d{1,2})(?![\w.-]?\w)")
RANGE = re.compile(rf"({ID.pattern}) to ({ID.pattern})")
CODE = re.compile(r"`([^`]+)`")
FOREIGN = re.compile(r"(?i)\b(?:seeds?[ *\n\t]+00\d|the[ *\n\t]+seed's|(?:contract|supervision)[ *\n\t]+(?:sections?[ *\n\t]+)?\d|rulings?[ *\n\t]+[\dA-Z]|mcp\.md \d)")


def last_number(name):
    head, digits = re.fullmatch(r"(.*?)(\d+)", name).groups()
    return head, int(digits), len(digits)


def ids_in(text):
    """The ids of a text; "FR-014 to FR-021" stands for all between."""
    found = set(ID.findall(text))
    for match in RANGE.finditer(text):
        (head, first, width), (other, last, _) = last_number(match[1]), last_number(match[2])
        if head == other:
            found |= {f"{head}{number:0{width if width > 1 and match[1][-width] == '0' else 1}d}" for number in range(first, last + 1)}
    return found


def sources(top):
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(f for f in folders if f not in OTHERS and not (folder == top and f.startswith("build")))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), top)
            if name.endswith(SOURCES) and path not in DOCUMENTS and path != "scripts/requirements.py":
                yield path


def lines(top, path):
    with open(os.path.join(top, path), encoding="utf-8", errors="replace") as file:
        yield from enumerate(file.read().split("\n"), 1)


def text_of(top, path, cache={}):
    if path not in cache:
        with open(os.path.join(top, path), encoding="utf-8", errors="replace") as file:
            cache[path] = file.read()
    return cache[path]


def wrong_names(top, row):
    """What a row of a table names and is not there."""
    last = None
    for name in CODE.findall(row):
        if "/" in name and " " not in name and not name.startswith(("/", "~", "<")):
            last = name
            if not os.path.exists(os.path.join(top, name)):
                yield f"file {name} is not there"
        elif last and last.startswith("tests/") and os.path.isfile(os.path.join(top, last)) and name not in text_of(top, last):
            yield f"{last} has no test {name}"


def read_tables(top):
    """(ids with their places, problems) of the two documents."""
    places, problems = {}, []
    for path in DOCUMENTS:
        for number, line in lines(top, path):
            if not line.startswith("| ") or line.startswith(("| id ", "| --- ")):
                continue
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            for name in sorted(ids_in(cells[0])):
                if name in places:
                    problems.append(f"{path}:{number}: {name} stands in {places[name]} already")
                places[name] = f"{path}:{number}"
            problems += [f"{path}:{number}: {problem}" for problem in wrong_names(top, " ".join(cells[2:]))]
    return places, problems


def foreign(top, path):
    """What a file cites of papers that the repository does not have."""
    text = text_of(top, path)
    for match in FOREIGN.finditer(text):
        cited = re.sub(r"[ *\n\t]+", " ", match[0])
        yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {cited} is not in the repository: say what it means, or name an id"


def main(top):
    places, problems = read_tables(top)
    for path in [*DOCUMENTS, *sources(top)]:
        problems += foreign(top, path)
        for number, line in lines(top, path):
            problems += [f"{path}:{number}: {name} is in neither document" for name in sorted(ids_in(line) - places.keys())]
    if problems:
        print("\n".join(problems))
    sys.exit(bool(problems))


main(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
