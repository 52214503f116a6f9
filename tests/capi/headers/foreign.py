# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Structs and functions as the Julia client declares them, against the description of the C headers: the same fields in the same
order and of the same types, arguments and results likewise. So it is checked where Julia is not installed.
Usage: foreign.py API.json CLIENTS"""
import json
import pathlib
import re
import sys

KINDS = {"uint32_t": "u32", "int32_t": "i32", "int64_t": "i64", "uint64_t": "u64", "double": "f64", "void": "void",
         "mercer_status": "i32", "mercer_rows": "rows", "mercer_matrix": "matrix", "Rows": "rows", "Matrix": "matrix",
         "MatrixView": "matrix", "UInt32": "u32", "Int32": "i32", "Int64": "i64", "UInt64": "u64", "Float64": "f64", "Cstring": "pointer", "Handle": "pointer",
         "Cvoid": "void"}
STRUCTS = {"Rows": "mercer_rows", "Matrix": "mercer_matrix",
           "MatrixView": "mercer_matrix"}


def kind(name):
    name = name.strip()
    return "pointer" if name.endswith("*") or re.match(r"(Ptr|Ref)\{", name) else KINDS.get(name, "another")


def described(api):
    """{struct: [(field, kind)]} and {function: (kinds of arguments, kind of the result)}."""
    structs = {name: [(field["name"], kind(field["type"])) for field in entry["fields"]] for name, entry in api["structs"].items()}
    functions = {name: ([kind(p["type"]) for p in entry["parameters"]], kind(entry["returns"])) for name, entry in api["functions"].items()}
    return structs, functions


def split(text):
    """The arguments of a call: text up to its closing bracket, cut at commas outside of brackets; and the rest."""
    parts, start, depth = [], 0, 0
    for i, letter in enumerate(text):
        if letter in ")]}" and depth == 0:
            return [part for part in parts + [text[start:i]] if part.strip()], text[i + 1:]
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    raise ValueError("a bracket is not closed: " + text[:60])


def julia(text):
    structs = {name: [(field, kind(of)) for field, of in re.findall(r"^ {4}(\w+)::(.*)$", body, re.M)]
               for name, body in re.findall(r"^struct (\w+)\n(.*?)\nend", text, re.S | re.M)}
    calls = []
    for found in re.finditer(r"@ccall libmercer\.(mercer_\w+)\(", text):
        arguments, rest = split(text[found.end():])
        result = re.match(r"::(\w+)", rest)[1]
        calls.append((found[1], [kind(a.rsplit("::", 1)[1]) for a in arguments], kind(result)))
    return structs, calls


def main():
    described_in, clients = sys.argv[1:]
    structs, functions = described(json.loads(pathlib.Path(described_in).read_text()))
    theirs, calls = julia((pathlib.Path(clients) / "julia/ridge.jl").read_text())
    wrong = [] if len(theirs) == 2 and len(calls) >= 10 else [f"found {len(theirs)} structs and {len(calls)} functions"]
    wrong += [f"{name} has {fields}, the header {structs[STRUCTS[name]]}" for name, fields in theirs.items() if fields != structs[STRUCTS[name]]]
    wrong += [f"{name} takes {arguments} and gives {result}, by the header {functions.get(name)}"
              for name, arguments, result in calls if functions.get(name) != (arguments, result)]
    print("\n".join(wrong) or "the same as in the headers")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
