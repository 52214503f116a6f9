#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The guide's tables of what exists, made from mercer_specs: checks that they are up to date, or writes them.

Usage: tables.py LIBMERCER.so GUIDE.md [--write]
A table stands between the lines `<!-- table: KIND -->` and `<!-- end of table -->`; each KIND of KINDS has one.
"""
import ctypes
import json
import pathlib
import re
import sys

KINDS = ["kernels", "maps", "projections", "models"]
# What every map has, said once in the text.
OF_MAPS = {"kernel", "inputs", "features", "seed"}


def specs(path):
    library = ctypes.CDLL(path)
    needed = ctypes.c_int64()
    library.mercer_specs(None, None, ctypes.c_int64(0), ctypes.byref(needed))
    buffer = ctypes.create_string_buffer(needed.value)
    if library.mercer_specs(None, buffer, needed, ctypes.byref(needed)) != 0:
        sys.exit("mercer_specs failed")
    return json.loads(buffer.value)


def cell(text):
    return text.replace("|", "\\|")


def default(parameter):
    value = parameter["default"]
    if parameter["required"]:
        return "required"
    if isinstance(value, dict):
        return value.get("map") or value["kernel"]
    return "none" if value is None else json.dumps(value).strip('"')


def parameter(entry):
    first = default(entry)
    others = [choice for choice in entry["choices"] if choice != first]
    return cell(", ".join([f"`{entry['key']}` {first}", *others]))


def rows(kind, entries):
    for entry in entries:
        own = [p for p in entry.get("parameters", []) if kind != "maps" or p["key"] not in OF_MAPS]
        yield [f"`{entry['name']}`", cell(entry["help"]), "; ".join(parameter(p) for p in own) or "–"]


def table(kind, entries):
    head = [kind[:-1], "what it is", "parameters, default first"]
    if kind == "projections":
        head[2:] = ["distributions it serves"]
        lines = [[f"`{e['name']}`", cell(e["help"]), cell(e["serves"])] for e in entries]
    else:
        lines = list(rows(kind, entries))
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def with_tables(text, described):
    pattern = re.compile(r"(<!-- table: (\w+) -->\n)(?:(?!<!--).)*(<!-- end of table -->)", re.DOTALL)
    kinds = [match[2] for match in pattern.finditer(text)]
    if sorted(kinds) != sorted(KINDS):
        sys.exit(f"the guide's tables are of {', '.join(kinds) or 'nothing'}; expected one each of {', '.join(KINDS)}")
    return pattern.sub(lambda m: m[1] + table(m[2], described[m[2]]) + "\n" + m[3], text)


def main():
    guide = pathlib.Path(sys.argv[2])
    text = guide.read_text(encoding="utf-8")
    fresh = with_tables(text, specs(sys.argv[1]))
    if "--write" in sys.argv[3:]:
        guide.write_text(fresh, encoding="utf-8")
    elif fresh != text:
        sys.exit(f"{guide}: the tables are not those of mercer_specs; {sys.argv[0]} LIBMERCER.so {guide} --write makes them")


if __name__ == "__main__":
    main()
