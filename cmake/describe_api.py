#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The C API as JSON, from its headers by pycparser: functions with the role of each parameter, structs with offsets and sizes
on 64-bit machines, enumerators, callbacks, and the first sentence of each comment. Bindings are made from it.

Usage: describe_api.py CC INCLUDE > api.json, or CC INCLUDE --check API.json SYMBOLS.txt, which fails and says why where API.json or the list
of exported functions is not that of the headers, or the C compiler has other sizes and offsets."""
import json
import pathlib
import re
import subprocess
import sys

try:
    from pycparser import CParser, c_ast
except ImportError:
    print("SKIPPED: python3-pycparser is not installed")
    sys.exit(0)

SIZES = {"int32_t": 4, "uint32_t": 4, "float": 4, "int64_t": 8, "uint64_t": 8, "double": 8}


def written(node):
    """A type as C has it."""
    if isinstance(node, c_ast.PtrDecl):
        return written(node.type) + "*"
    if isinstance(node.type, c_ast.Struct):
        return f"struct {node.type.name}"  # of Arrow
    return " ".join([*(q for q in node.quals), *node.type.names])


def is_callback(node):
    return isinstance(node, c_ast.PtrDecl) and isinstance(node.type, c_ast.FuncDecl)


def signature(declared):
    """Parameters (name, type) and the type of the result."""
    parameters = [(p.name, written(p.type)) for p in declared.args.params] if declared.args else []
    return [p for p in parameters if p[1] != "void"], written(declared.type)


def role(name, kind, handles):
    """What a parameter is for, which its name and type tell throughout the API (mercer/base.h)."""
    bare = kind.replace("const ", "").rstrip("*")
    if kind == "mercer_context*":
        return "context, may be NULL"
    if bare in handles:
        return "new handle" if kind.endswith("**") else "handle, shared" if kind.startswith("const") else "handle, alone"
    fixed = {"mercer_rows": "rows", "mercer_matrix": "result", "const char*": "text"}
    if kind in fixed:
        return fixed[kind]
    by_name = {"buffer": "text out", "capacity": "its bytes", "needed": "bytes of a text", "user": "of the callback's own"}
    if name in by_name:
        return by_name[name]
    if not kind.endswith("*"):
        return "number"
    if kind.startswith("const"):
        return "options" if bare.startswith("mercer_") else "array"
    return "struct out" if bare.startswith("mercer_") else "numbers out"


def layout(fields, structs):
    """Offsets, size and alignment by the rules of the System V and Windows 64-bit ABIs."""
    at, largest, rows = 0, 1, []
    for name, kind in fields:
        inner = structs.get(kind)
        size = inner["size"] if inner else SIZES.get(kind, 8)
        align = 8 if inner else size
        at = -(-at // align) * align
        rows.append({"name": name, "type": kind, "offset": at})
        at, largest = at + size, max(largest, align)
    return {"size": -(-at // largest) * largest, "fields": rows}


def sentences(include):
    """The first sentence before each declaration."""
    found = {}
    for path in sorted((include / "mercer").glob("*.h")):
        for comment, code in re.findall(r"/\*\*(.*?)\*/\s*((?:(?!/\*\*).)*)", path.read_text(), re.S):
            text = " ".join(re.sub(r"\n\s*\*", "\n", comment).split())
            sentence = re.match(r".*?[.:;](?= |$)", text)
            for name in re.findall(r"(?:typedef struct |typedef enum |\(\*|MERCER_API [\w *]*?\b(?=\w+\())(mercer_\w+)", code):
                found.setdefault(name, (sentence[0] if sentence else text).rstrip(":;"))
    return found


def describe(compiler, include):
    text = subprocess.run([compiler, "-E", "-P", f"-I{include}", f"{include}/mercer/mercer.h"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    said, api = sentences(include), {"handles": [], "enums": {}, "callbacks": {}, "structs": {}, "functions": {}}
    for node in CParser().parse(text).ext:
        if isinstance(node, c_ast.Typedef) and node.name.startswith("mercer_"):
            if is_callback(node.type):
                parameters, result = signature(node.type.type)
                api["callbacks"][node.name] = {"help": said.get(node.name, ""), "parameters": dict(parameters), "returns": result}
                continue
            body = node.type.type
            if isinstance(body, c_ast.Enum):
                api["enums"][node.name] = {e.name: int(e.value.value) for e in body.values.enumerators}
            elif isinstance(body, c_ast.Struct) and body.decls:
                fields = [(f.name, written(f.type)) for f in body.decls]
                api["structs"][node.name] = {"help": said.get(node.name, ""), **layout(fields, api["structs"])}
            elif isinstance(body, c_ast.Struct):
                api["handles"].append(node.name)
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            parameters, result = signature(node.type)
            api["functions"][node.name] = {
                "help": said.get(node.name, ""), "returns": result,
                "parameters": [{"name": n, "type": t, "role": role(n, t, api["handles"])} for n, t in parameters]}
    return api


def printed(api):
    """One line for each entry, so that changes are read."""
    parts = []
    for key, entries in api.items():
        if isinstance(entries, list):
            parts.append(f'"{key}":{json.dumps(sorted(entries))}')
        else:
            lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(entry, ensure_ascii=False)}" for name, entry in entries.items())
            parts.append(f'"{key}":{{\n{lines}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


def asserts(api):
    """C that compiles where offsets and sizes are right."""
    lines = ["#include <stddef.h>", "#include <mercer/mercer.h>"]
    for name, struct in api["structs"].items():
        lines.append(f"typedef char size_of_{name}[sizeof({name}) == {struct['size']} ? 1 : -1];")
        lines += [f"typedef char offset_of_{name}_{f['name']}[offsetof({name}, {f['name']}) == {f['offset']} ? 1 : -1];"
                  for f in struct["fields"]]
    return "\n".join(lines) + "\n"


def check(compiler, include, api, kept_in, symbols):
    kept = json.loads(pathlib.Path(kept_in).read_text())
    wrong = [f"{kept_in} does not describe the headers' {name}: describe_api.py CC INCLUDE > {kept_in} makes it"
             for kind in api if kind != "handles" for name in {*api[kind], *kept[kind]} if api[kind].get(name) != kept[kind].get(name)]
    wrong += [f"no comment of {name} was found in the headers" for kind in ("functions", "structs", "callbacks")
              for name, entry in api[kind].items() if not entry["help"]]
    wrong += [f"{name} is declared or exported, not both" for name in set(api["functions"]) ^ set(pathlib.Path(symbols).read_text().split())]
    sizes = subprocess.run([compiler, "-x", "c", "-fsyntax-only", f"-I{include}", "-"], input=asserts(api), text=True, stderr=subprocess.PIPE)
    print("\n".join(wrong) or f"{len(api['functions'])} functions, {len(api['structs'])} structs", sizes.stderr)
    return bool(wrong or sizes.returncode)


def main():
    compiler, include, *rest = sys.argv[1:]
    api = describe(compiler, pathlib.Path(include))
    if rest:
        return check(compiler, include, api, *rest[1:])
    sys.stdout.write(printed(api))
    return 0


if __name__ == "__main__":
    sys.exit(main())
