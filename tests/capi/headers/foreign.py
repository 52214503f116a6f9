# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Structs and functions as the Rust and Julia clients declare them, against the C headers: the same fields in the same
order and of the same types, arguments and results likewise. So a client is checked where its compiler is not installed.
Usage: foreign.py CC INCLUDE CLIENTS"""
import pathlib
import re
import subprocess
import sys

try:
    from pycparser import CParser, c_ast
except ImportError:
    print("SKIPPED: python3-pycparser is not installed")
    sys.exit(0)

KINDS = {"uint32_t": "u32", "int32_t": "i32", "int64_t": "i64", "uint64_t": "u64", "double": "f64", "void": "void",
         "mercer_status": "i32", "mercer_rows": "rows", "mercer_matrix": "matrix", "Rows": "rows", "Matrix": "matrix",
         "MatrixView": "matrix",
         "u32": "u32", "i32": "i32", "i64": "i64", "u64": "u64", "f64": "f64", "Status": "i32", "Handle": "pointer",
         "UInt32": "u32", "Int32": "i32", "Int64": "i64", "UInt64": "u64", "Float64": "f64", "Cstring": "pointer",
         "Cvoid": "void"}
STRUCTS = {"Rows": "mercer_rows", "Matrix": "mercer_matrix",
           "MatrixView": "mercer_matrix"}


def kind(name):
    name = name.strip()
    return "pointer" if re.match(r"\*(const|mut) |(Ptr|Ref)\{", name) else KINDS[name]


def kind_of_node(node):
    if isinstance(node, c_ast.PtrDecl):
        return "pointer"
    return KINDS.get(node.type.names[0], "another") if isinstance(node.type, c_ast.IdentifierType) else "another"


def header(text):
    """{struct: [(field, kind)]} and {function: (kinds of arguments, kind of the result)}."""
    structs, functions = {}, {}
    for node in CParser().parse(text).ext:
        if isinstance(node, c_ast.Typedef) and isinstance(node.type.type, c_ast.Struct) and node.type.type.decls:
            structs[node.name] = [(field.name, kind_of_node(field.type)) for field in node.type.type.decls]
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            arguments = [kind_of_node(p.type) for p in node.type.args.params] if node.type.args else []
            functions[node.name] = ([a for a in arguments if a != "void"], kind_of_node(node.type.type))
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


def rust(text):
    structs = {name: [(field, kind(of)) for field, of in re.findall(r"^ {4}(\w+): (.*),$", body, re.M)
                      if not of.startswith("PhantomData")]
               for name, body in re.findall(r"#\[repr\(C\)\]\nstruct (\w+)(?:<'a>)? \{\n(.*?)\n\}", text, re.S)}
    calls = []
    for found in re.finditer(r"fn (mercer_\w+)\(", text):
        arguments, rest = split(text[found.end():])
        result = re.match(r" -> ([^;]*);", rest)
        calls.append((found[1], [kind(a.split(":", 1)[1]) for a in arguments], kind(result[1]) if result else "void"))
    return structs, calls


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
    compiler, include, clients = sys.argv[1:]
    text = subprocess.run([compiler, "-E", f"-I{include}", f"{include}/mercer/mercer.h"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    structs, functions = header(text)
    wrong = []
    for path, read in (("rust/ridge.rs", rust), ("julia/ridge.jl", julia)):
        theirs, calls = read((pathlib.Path(clients) / path).read_text())
        if len(theirs) != 2 or len(calls) < 10:
            wrong.append(f"{path}: found {len(theirs)} structs and {len(calls)} functions")
        wrong += [f"{path}: {name} has {fields}, the header {structs[STRUCTS[name]]}" for name, fields in theirs.items()
                  if fields != structs[STRUCTS[name]]]
        wrong += [f"{path}: {name} takes {arguments} and gives {result}, by the header {functions.get(name)}"
                  for name, arguments, result in calls if functions.get(name) != (arguments, result)]
    print("\n".join(wrong) or "the same as in the headers")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
