#!/usr/bin/env python3
"""includes.py [--graph] [DIR] - checks the folders of the C sources below DIR: what their files include, their size, their README.

- An include names its file from the top of the tree: #include "common/bus/bus.h".
- No file includes one of a layer above its own (LAYERS, from the ground up).
- No program includes a file of another program; what two of them need is a library.
- The folders do not include each other in a circle.
- A folder holds at most LIMIT sources.
- A folder has a README.md of at most README_LINES lines. Those below tests may leave it to a folder above them.

Looks at the sources below the folders of LAYERS; without DIR, at those of this repository. Prints "FILE:LINE: what is wrong" for
each fault and exits with 1 when there is any.
--graph prints the folders with their number of sources, and which folders they include.
"""
import os
import re
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT = 25
README_LINES = 40

# Tests stand on top: they may include everything, and nothing includes them.
LAYERS = (
    ("config",),
    ("common/base",),
    ("common/settings", "common/confine", "common/loop"),
    ("proto",),
    ("common/bus",),
    ("common/worker", "common/machine", "prompts"),
    ("supervisor", "workers"),
    ("tests",),
)

PROGRAMS = (
    "supervisor/paiged",
    "supervisor/paigectl",
    "workers/agent",
    "workers/fswatch",
    "workers/gateway",
    "workers/guard-engine",
    "workers/llm",
    "workers/llm/demo",
    "workers/mirror",
    "workers/observer",
    "workers/store",
)

# Made by the build, in the top of the build directory.
GENERATED = ("paige-config.h",)

INCLUDE = re.compile(r'\s*#\s*(?:include|define\s+\w+_DEF)\s+"([^"]+)"')
SOURCE = re.compile(r".*\.(c|h|def)")


def below(path, folder):
    return path == folder or path.startswith(folder + "/")


def layer(path):
    """The number of the layer that a file belongs to; None for one of none."""
    return next((i for i, folders in enumerate(LAYERS) if any(below(path, f) for f in folders)), None)


def program(path):
    """The program that a file belongs to: the longest that fits; None for a file of a library."""
    return max((p for p in PROGRAMS if below(path, p)), key=len, default=None)


def sources(top):
    """The C sources below the folders of LAYERS, from the top."""
    for start in sorted({f.split("/")[0] for folders in LAYERS for f in folders}):
        for folder, folders, names in os.walk(os.path.join(top, start)):
            folders[:] = sorted(f for f in folders if f != "node_modules")
            for name in sorted(names):
                if SOURCE.fullmatch(name):
                    yield os.path.relpath(os.path.join(folder, name), top)


def includes(top, path):
    """(line, file) for each include of a file of the tree."""
    with open(os.path.join(top, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found = INCLUDE.match(line)
            if found and found[1] not in GENERATED:
                yield number, found[1]


def fault(top, path, target):
    """What is wrong with one include; None when it is right."""
    if not os.path.exists(os.path.join(top, target)):
        return "there is no such file; name it from the top of the tree"
    if layer(path) is None or layer(target) is None:
        return "one of the two is in no layer"
    if layer(target) > layer(path):
        return f"{os.path.dirname(target)} is above {os.path.dirname(path)}"
    if below(path, "tests") or program(target) in (None, program(path)):
        return None
    return f"it belongs to the program {program(target)}"


def circles(arrows):
    """Groups of folders that reach each other, as sorted lists (Tarjan's algorithm)."""
    order, low, stack, found = {}, {}, [], []

    def visit(folder):
        order[folder] = low[folder] = len(order)
        stack.append(folder)
        for to in sorted(arrows.get(folder, ())):
            if to not in order:
                visit(to)
                low[folder] = min(low[folder], low[to])
            elif to in stack:
                low[folder] = min(low[folder], order[to])
        if low[folder] == order[folder]:
            group = stack[stack.index(folder):]
            del stack[stack.index(folder):]
            if len(group) > 1:
                found.append(sorted(group))

    for folder in sorted(arrows):
        if folder not in order:
            visit(folder)
    return found


def read(top):
    """(counts, arrows, faults): sources of each folder, the folders that each includes, and single faults."""
    counts, arrows, faults = {}, {}, []
    for path in sources(top):
        folder = os.path.dirname(path)
        counts[folder] = counts.get(folder, 0) + 1
        arrows.setdefault(folder, {})
        for number, target in includes(top, path):
            wrong = fault(top, path, target)
            if wrong:
                faults.append(f"{path}:{number}: {target}: {wrong}")
            to = os.path.dirname(target)
            if to != folder:
                arrows[folder].setdefault(to, []).append((path, target))
    return counts, arrows, faults


def in_circle(arrows, group):
    """The includes that make a circle, a line each."""
    return [f"    {path} includes {target}" for folder in group for to in group
            for path, target in arrows[folder].get(to, ())]


def readme(top, folder):
    """The README that describes a folder; None when there is none."""
    path = os.path.join(folder, "README.md")
    if os.path.exists(os.path.join(top, path)):
        return path
    return readme(top, os.path.dirname(folder)) if folder.startswith("tests/") else None


def readme_fault(top, folder):
    """What is wrong with the README of a folder; None when it is right."""
    path = readme(top, folder)
    if path is None:
        return f"{folder}: README.md is not there; it says what the folder owns, who calls it, its files, its invariants"
    with open(os.path.join(top, path), encoding="utf-8") as file:
        lines = len(file.readlines())
    return f"{path}: {lines} lines, {README_LINES} are allowed" if lines > README_LINES else None


def main(arguments):
    graph = arguments[:1] == ["--graph"]
    directories = arguments[graph:]
    if len(directories) > 1:
        sys.exit("usage: includes.py [--graph] [DIR]")
    top = directories[0] if directories else REPOSITORY
    counts, arrows, faults = read(top)
    faults += [f"{folder}: {count} sources, {LIMIT} are allowed" for folder, count in counts.items() if count > LIMIT]
    faults += dict.fromkeys(filter(None, (readme_fault(top, folder) for folder in counts)))
    for group in circles(arrows):
        faults += [f"circle of {', '.join(group)}:"] + in_circle(arrows, group)
    if graph:
        for folder, count in counts.items():
            print(f"{folder} ({count}): {' '.join(sorted(arrows[folder]))}")
    if faults:
        print("\n".join(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(sys.argv[1:])
