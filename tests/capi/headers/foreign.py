# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The Julia package against the description of the C headers, without Julia. Of src/raw.jl: structs have the offsets and sizes of C,
and functions take and give its kinds of values. Every file of src is included. Of every file: strings, brackets and blocks are closed;
calls of the C API have as many arguments as it takes, structs are made with fields that they have, and @cfunction finds its function,
which returns what it says; and what julia_names.py finds, which says what nobody looks at.
Types, and methods of Julia's own, are checked by Julia alone, in test/runtests.jl. Usage: foreign.py API.json FOLDER"""
import collections
import json
import pathlib
import re
import sys

import julia_names

KINDS = {"uint32_t": "UInt32", "int32_t": "Int32", "int64_t": "Int64", "uint64_t": "UInt64", "double": "Float64", "float": "Float32",
         "void": "Cvoid"}
SIZES = {"UInt32": 4, "Int32": 4, "Int64": 8, "UInt64": 8, "Float64": 8, "Cstring": 8}
TOKENS = re.compile(r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|#=.*?=#|#[^\n]*|\'(?:\\.|[^\'\\\n])\'|:?[A-Za-z_@]\w*!?|[()\[\]{}"]|.', re.S)
OPENING = {"module", "function", "struct", "if", "for", "while", "try", "let", "begin", "do", "quote", "macro"}
CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


def code(text):
    """Tokens without comments; strings as ""."""
    found = [token for token in TOKENS.findall(text) if not token.startswith("#")]
    return ['""' if token[0] == '"' and len(token) > 1 else token for token in found]


def interpolated(text):
    """What strings hold as code, a line each, but for strings in strings."""
    strings = [token for token in TOKENS.findall(text) if token.startswith('"')]
    for rest in (token[at.end():] for token in strings for at in re.finditer(r"(?<!\\)\$", token)):
        inner = rest[:julia_names.closing(rest, 0) + 1] if rest.startswith("(") else re.match(r"\w*", rest)[0]
        yield "" if unclosed(code(inner)) else inner


def unclosed(tokens):
    """What is not closed, or "". Inside brackets `for` and `if` belong to generators and `end` is an index, but in a block there."""
    stack = []
    for token in tokens:
        bracketed = stack and stack[-1] in CLOSED_BY
        if token in CLOSED_BY or (token in OPENING and not (bracketed and token in ("for", "if"))):
            stack.append(token)
        elif token in CLOSED_BY.values():
            if not stack or CLOSED_BY.get(stack.pop()) != token:
                return f"{token} closes nothing"
        elif token == "end" and not (stack and stack[-1] == "["):
            if not stack or stack.pop() in CLOSED_BY:
                return "an end closes nothing"
        elif token == '"':
            return "a string is not closed"
    return f"{stack[-1]} is not closed" if stack else ""


def calls(tokens):
    """(name, [tokens of each argument], the same of those after a semicolon) of every call of the C API."""
    for at, token in enumerate(tokens):
        if token.startswith("mercer_") and tokens[at + 1] == "(" and (at == 0 or tokens[at - 1] != "."):
            depth, parts, named = 0, [[]], None
            for inner in tokens[at + 2:]:
                depth += (inner in CLOSED_BY) - (inner in CLOSED_BY.values())
                if depth < 0:
                    break
                if depth == 0 and inner in ",;":
                    named = len(parts) if inner == ";" else named
                    parts.append([])
                elif not inner.isspace():
                    parts[-1].append(inner)
            split = named if named is not None else len(parts)
            yield token, [part for part in parts[:split] if part], [part for part in parts[split:] if part]


def same(kind, julia, api):
    """Whether a type of C is that one in Julia: addresses are all alike."""
    if kind.endswith("*") or kind in api["callbacks"]:
        return julia.startswith("Ptr{") or julia == "Cstring"
    return julia == (kind if kind in api["structs"] else "Int32" if kind in api["enums"] else KINDS[kind])


def raw(text, api):
    """What src/raw.jl has otherwise than the description."""
    sizes, wrong = dict(SIZES), []
    for name, body in re.findall(r"^Base\.@kwdef struct (\w+)\n(.*?)\nend", text, re.S | re.M):
        at, aligned, fields, described = 0, 1, re.findall(r"^ {4}(\w+?)_?::(\S+) = ", body, re.M), api["structs"][name]
        for (field, julia), of_c in zip(fields, described["fields"]):
            size = 8 if julia.startswith("Ptr{") else sizes[julia]
            align = min(size, 8)
            at = -(-at // align) * align
            if (field, at) != (of_c["name"], of_c["offset"]) or not same(of_c["type"], julia, api):
                wrong.append(f"{name}.{field}::{julia} at {at}, expected {of_c}")
            at, aligned = at + size, max(aligned, align)
        sizes[name] = -(-at // aligned) * aligned
        if len(fields) != len(described["fields"]) or sizes[name] != described["size"] or f"struct_size::UInt32 = {sizes[name]}\n" not in body:
            wrong.append(f"{name} has {len(fields)} fields and {sizes[name]} bytes, expected {described['size']}")
    called = re.findall(r"@ccall libmercer\.(\w+)\((.*?)\)::(\S+)$", text, re.M)
    for name, arguments, result in called:
        entry = api["functions"][name]
        kinds = [argument.rsplit("::", 1)[1] for argument in arguments.split(", ")] if arguments else []
        expected = [parameter["type"] for parameter in entry["parameters"]]
        if len(kinds) != len(expected) or not all(same(c, j, api) for c, j in zip([*expected, entry["returns"]], [*kinds, result])):
            wrong.append(f"{name}({', '.join(kinds)})::{result}, expected {expected}")
    wrong += [f"{name} is missing" for name in set(api["functions"]) - {name for name, *_ in called} | set(api["structs"]) - set(sizes)]
    return wrong


def used(tokens, api):
    """Calls of the C API with other arguments than it has."""
    for name, given, named in calls(tokens):
        if name in api["functions"] and (named or len(given) != len(api["functions"][name]["parameters"])):
            yield f"{name} is called with {len(given)} arguments"
        elif name in api["structs"]:
            fields = {field["name"] for field in api["structs"][name]["fields"]}
            yield from (f"{name} has no field {part[0]}" for part in given + named if part[0] not in fields)
        elif name not in api["functions"]:
            yield f"{name} is not in the API"


def early(tokens):
    """Functions of which @cfunction takes the address before they are defined, or that do not say that they return its type."""
    words = [word for word in julia_names.words(tokens) if word != "\n"]
    for at in (at for at, word in enumerate(words) if word == "@cfunction"):
        name, result = words[at + 2], words[at + 4]
        said = [words[julia_names.closing(words, i + 2) + 1:][:2] for i in range(at) if words[i:i + 2] == ["function", name]]
        if not said:
            yield f"@cfunction({name}, ...) is above {name}"
        elif any(types != ["::", result] for types in said):
            yield f"@cfunction({name}, {result}, ...) of a function that says {said}"


NESTED = re.compile(r"^module (?!Mercer\b)(\w+)", re.M)  # made modules, at the end of a file


class Package:
    """What the files of src define, and faults of a file that uses it; of modules inside the names are known, and those of their functions."""

    def __init__(self, texts, api):
        self.api, self.methods = api, collections.defaultdict(list)
        parts = [part for text in texts for part in NESTED.split(text)[1:]]
        self.nested = {name: re.findall(r"^(\w+)\(", body, re.M) for name, body in zip(parts[::2], parts[1::2])}
        self.modules = julia_names.MODULES.union(self.nested)
        sources = [julia_names.words(code(NESTED.split(text)[0])) for text in texts]
        for found in sources:
            for name, method, _ in julia_names.methods(found):
                if name is not None:
                    self.methods[name].append(method)
        entries = [api["functions"], api["structs"], api["handles"], *api["enums"].values()]
        self.known = julia_names.JULIA.union(self.methods, *entries, *(re.findall(r"(?:const|struct) (\w+)", text) for text in texts))
        self.fields = {field["name"] + end for struct in api["structs"].values() for field in struct["fields"] for end in ("", "_")}
        self.fields |= julia_names.FIELDS
        self.fields.update(name for found in sources for name, mark in zip(found, found[1:]) if mark == "::")

    def faults(self, text):
        text = NESTED.split(text)[0]
        found = julia_names.words([*code(text), "\n", *"\n".join(interpolated(text))])
        own = {name: methods for name, methods in self.methods.items() if name not in self.api["functions"] and name not in self.api["structs"]}
        known = self.known | julia_names.bound(found)
        absent = [f"{name}.{of} is defined nowhere" for name, dot, of in zip(found, found[1:], found[2:])
                  if name in self.nested and dot == "." and of not in self.nested[name]]
        return [*absent, *julia_names.unknown(found, known, self.fields, self.modules), *julia_names.misfits(found, own),
                *julia_names.foreign_callbacks(found, self.api, self.methods)]


FAULTS = """
f(a; b) = g(a)
f(a; b) = a.nowhere
f(1, 2)
f(1; c = 2)
options = mercer_context_options(; progress = @cfunction(f, Int32, (Ptr{Cvoid}, Int64)))
f("$(g(1))", 1)
options = mercer_context_options(; trial = @cfunction(f, Cvoid, (Ptr{Cvoid}, Cstring)))
Mercer.Inner.g()
"""


def main():
    api, folder = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
    wrong = raw((folder / "src/raw.jl").read_text(), api)
    files = {path: path.read_text() for path in sorted(folder.rglob("*.jl"))}
    sources = {path.name for path in files if path.parent.name == "src"}
    included = re.findall(r'^include\("(.*)"\)$', files[folder / "src/Mercer.jl"], re.M)
    wrong += [f"Mercer.jl includes {included}, expected the rest of {sources}"] if {"Mercer.jl", *included} != sources else []
    package = Package([text for path, text in files.items() if path.parent.name == "src"], api)
    for path, text in files.items():
        tokens = code(text)
        found = [unclosed(tokens)] if unclosed(tokens) else [] if path.name == "raw.jl" else [
            *used(tokens, api), *early(tokens), *package.faults(text)]
        wrong += [f"{path.name}: {one}" for one in found]
    # What has to be noticed.
    notices = [unclosed(code(text)) for text in ("f(x", "if a\n b", "x = \"a", "begin f(]", "end")]
    notices += [*used(code("mercer_map_free()"), api), *used(code("mercer_rows(; number = 1, m = 2)"), api)]
    notices += early(code("f() = @cfunction(watch, Int32, ())\nfunction watch()::Int32\nend"))
    notices += early(code("function watch()::Int64\nend\nf() = @cfunction(watch, Int32, ())"))
    notices += [Package(["f(a; b) = a\nmodule Inner\nf(; b) = b\nend"], api).faults(line) for line in FAULTS.splitlines() if line]
    missed = [f"{len(notices)} of 17 faults were noticed: {notices}"] if len(notices) != 17 or not all(notices) or len(files) < 10 else []
    print("\n".join(wrong + missed) or f"{len(files)} files fit the headers")
    return bool(wrong or missed)


if __name__ == "__main__":
    sys.exit(main())
