#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What bindings of a build are made of: in OUT/clients the Rust crate, the Go module, the Julia package and the modules of Fortran, that is, their files of FOLDER,
raw layers from cmake/api.json, whose types are told apart here once, and builders of specs from what SPECS prints, the answer of mercer_specs;
the raw module of Fortran; in OUT/include mercer/spec.hpp. (Python reads api.json itself, cgo and R the headers.) Usage: bind.py API.json SPECS FOLDER OUT"""
import json
import pathlib
import shutil
import subprocess
import sys
import textwrap

import bind_specs

LICENCE = ["SPDX-License-Identifier: Apache-2.0", "SPDX-FileCopyrightText: The mercer authors"]


class Language:
    """What a language calls the types of C, and how it writes what the description holds."""

    def __init__(self, api):
        self.api = api

    def pairs(self, entry):
        """(name, type) of each parameter, of a function or callback."""
        found = entry["parameters"]
        named = found.items() if isinstance(found, dict) else [(p["name"], p["type"]) for p in found]
        return [(name + "_" * (name in self.reserved), self.type(kind)) for name, kind in named]

    def type(self, kind):
        if kind in self.texts:
            return self.texts[kind]
        if kind.endswith("*"):
            inner = kind[:-1]
            constant = inner.startswith("const ") and "*" not in inner
            return self.pointer(self.type(inner.removeprefix("const ") if constant else inner), constant)
        kind = kind.removeprefix("const ")
        if kind.startswith("struct "):  # of Arrow, which has bindings of its own
            kind = "void"
        return self.scalars["int32_t"] if kind in self.api["enums"] else self.scalars.get(kind) or self.named(kind)

    def file(self):
        lines = self.head()
        for entries in self.api["enums"].values():
            lines += [self.constant(name, number) for name, number in entries.items()]
        for kind in ("handles", "callbacks", "structs"):
            entries = self.api[kind]
            for name in entries:
                lines += getattr(self, kind)(name, entries[name] if isinstance(entries, dict) else None)
        return lines + self.functions()


class Rust(Language):
    reserved = {"type", "ref", "move", "loop", "match", "use"}
    texts = {}
    scalars = {"void": "c_void", "char": "c_char", "int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64",
               "double": "f64", "float": "f32"}

    def named(self, kind):
        return kind

    def pointer(self, inner, constant):
        return f"*{'const' if constant else 'mut'} {inner}"

    def head(self):
        return ["//! The C API as it is.", "#![allow(non_camel_case_types, non_snake_case, rustdoc::broken_intra_doc_links)]",
                "use std::os::raw::{c_char, c_void};", ""]

    def constant(self, name, number):
        return f"pub const {name}: i32 = {number};"

    def taken(self, entry):
        result = "" if entry["returns"] == "void" else f" -> {self.type(entry['returns'])}"
        return f"({', '.join(f'{name}: {kind}' for name, kind in self.pairs(entry))}){result}"

    def handles(self, name, _):
        return ["", "#[repr(C)]", f"pub struct {name} {{", "    _private: [u8; 0],", "}"]

    def callbacks(self, name, entry):
        return [f"/// {entry['help']}", f"pub type {name} = Option<unsafe extern \"C\" fn{self.taken(entry)}>;"]

    def structs(self, name, entry):
        return ["", f"/// {entry['help']}", "#[repr(C)]", "#[derive(Clone, Copy, Debug)]", f"pub struct {name} {{",
                *(f"    pub {field['name']}: {self.type(field['type'])}," for field in entry["fields"]), "}"]

    def functions(self):
        lines = ["", '#[link(name = "mercer")]', 'extern "C" {']
        for name, entry in self.api["functions"].items():
            lines += [f"    /// {entry['help']}", f"    pub fn {name}{self.taken(entry)};"]
        return lines + ["}"]


class Julia(Language):
    reserved = {"begin", "end", "function", "module", "type", "quote", "let", "local", "global"}
    texts = {"const char*": "Cstring"}
    scalars = {"void": "Cvoid", "char": "UInt8", "int32_t": "Int32", "uint32_t": "UInt32", "int64_t": "Int64", "uint64_t": "UInt64",
               "double": "Float64", "float": "Float32"}

    def named(self, kind):
        return "Ptr{Cvoid}" if kind in self.api["callbacks"] else kind

    def pointer(self, inner, _):
        return f"Ptr{{{inner}}}"

    def head(self):
        return ["# The C API as it is, structs with the defaults that zeros are.", ""]

    def constant(self, name, number):
        return f"const {name} = Int32({number})"

    def handles(self, name, _):
        return ["", f"mutable struct {name} end"]

    def callbacks(self, name, entry):
        kinds = "".join(f"{kind}, " for _, kind in self.pairs(entry))
        return ["", f"# {entry['help'].rstrip('.')}: @cfunction(f, {self.type(entry['returns'])}, ({kinds.rstrip()})) as {name}."]

    def default(self, field, size):
        kind = self.type(field["type"])
        if field["name"] == "struct_size":
            return str(size)
        return f"{kind}(struct_size = 0)" if kind in self.api["structs"] else "C_NULL" if kind == "Cstring" or "{" in kind else "0"

    def structs(self, name, entry):
        return ["", json.dumps(entry["help"], ensure_ascii=False).replace("$", "\\$"), f"Base.@kwdef struct {name}",
                *(f"    {self.field(field)}::{self.type(field['type'])} = {self.default(field, entry['size'])}" for field in entry["fields"]),
                "end"]

    def field(self, field):
        return field["name"] + "_" * (field["name"] in self.reserved)

    def functions(self):
        lines = []
        for name, entry in self.api["functions"].items():
            pairs = self.pairs(entry)
            typed = ", ".join(f"{parameter}::{kind}" for parameter, kind in pairs)
            lines += ["", json.dumps(entry["help"], ensure_ascii=False).replace("$", "\\$"),
                      f"{name}({', '.join(parameter for parameter, _ in pairs)}) =",
                      f"    @ccall libmercer.{name}({typed})::{self.type(entry['returns'])}"]
        return lines


class Fortran(Language):
    """Pointers that may be NULL are arguments that may be absent, except handles, which are c_ptr by value."""

    reserved = set()
    texts = {}
    scalars = {"void": "type(c_ptr)", "char": "character(kind=c_char)", "int32_t": "integer(c_int32_t)", "uint32_t": "integer(c_int32_t)",
               "int64_t": "integer(c_int64_t)", "uint64_t": "integer(c_int64_t)", "double": "real(c_double)", "float": "real(c_float)"}

    def named(self, kind):
        return "type(c_funptr)" if kind in self.api["callbacks"] else f"type({kind})" if kind in self.api["structs"] else "type(c_ptr)"

    def pointer(self, inner, constant):
        return "type(c_ptr)"

    def head(self):
        return ["!> The C API as it is. Texts end with c_null_char.", "module mercer_api", "  use, intrinsic :: iso_c_binding", "  implicit none", "  public",
                ""]

    def constant(self, name, number):
        return f"  integer(c_int32_t), parameter :: {name} = {number}"

    def handles(self, name, _):
        return []

    def callbacks(self, name, entry):
        kinds = ", ".join(f"{kind} {parameter}" for parameter, kind in entry["parameters"].items())
        return ["", *self.wrapped(f"  ! {name}: {entry['help'].rstrip('.')}: {entry['returns']} of ({kinds}), a bind(C) function.", "  ! ")]

    def structs(self, name, entry):
        return ["", *self.wrapped(f"  !> {entry['help']}", "  !! "), f"  type, bind(C) :: {name}",
                *(f"    {self.type(field['type'])} :: {field['name']}{self.default(field, entry['size'])}" for field in entry["fields"]), f"  end type {name}"]

    def default(self, field, size):
        kind = self.type(field["type"])
        if field["name"] == "struct_size":
            return f" = {size}"
        if kind in ("type(c_ptr)", "type(c_funptr)"):
            return " = c_null_" + kind[7:-1]
        return f" = {field['type']}(struct_size=0)" if kind.startswith("type(") else " = 0"  # absent

    def declared(self, name, kind):
        """A dummy argument. Of a pointer to one number or struct and of an array alike the address is what C gets."""
        inner = kind.removeprefix("const ").removesuffix("*")
        if not kind.endswith("*") or inner == "void" or inner.startswith("struct ") or inner in self.api["handles"]:
            return f"{self.type(kind)}, value :: {name}"
        if inner.endswith("*"):  # where a handle or a text is put
            return f"type(c_ptr), intent({'out' if inner[:-1] in self.api['handles'] else 'inout'}) :: {name}"
        array = inner in self.scalars and not kind.startswith("int64_t")
        return f"{self.type(inner)}, intent({'in' if kind.startswith('const ') else 'inout'}), optional :: {name}{'(*)' * array}"

    def wrapped(self, text, mark):
        return textwrap.wrap(text, 120, subsequent_indent=mark, break_long_words=False, break_on_hyphens=False)

    def functions(self):
        lines = ["", "  interface"]
        for name, entry in self.api["functions"].items():
            pairs = [(p["name"], p["type"]) for p in entry["parameters"]]
            word = "subroutine" if entry["returns"] == "void" else "function"
            call = f"    {word} {name}({', '.join(parameter for parameter, _ in pairs)}) bind(C)"
            continued = [f"{line} &" for line in self.wrapped(call, "        ")]
            lines += ["", *self.wrapped(f"    !> {entry['help']}", "    !! "), *continued[:-1], continued[-1].removesuffix(" &"), "      import",
                      *(f"      {self.declared(parameter, kind)}" for parameter, kind in pairs),
                      *[f"      {self.type(entry['returns'])} :: {name}"] * (word == "function"), f"    end {word} {name}"]
        return lines + ["", "  end interface", "", "end module mercer_api"]


def write(path, lines):
    """Where it is not there already: what was compiled with it is not old then."""
    mark = {".jl": "#", ".f90": "!"}.get(path.suffix, "//")
    text = "\n".join([*(f"{mark} {line}" for line in LICENCE), "", f"{mark} Code generated by cmake/bind.py. DO NOT EDIT.", *lines, ""])
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    api, specs, folder, out = sys.argv[1:]
    api, out = json.loads(pathlib.Path(api).read_text()), pathlib.Path(out)
    specs = json.loads(subprocess.run([specs], check=True, capture_output=True, text=True).stdout)
    shutil.rmtree(out / "clients", ignore_errors=True)
    for name in ("fortran", "go", "julia", "rust"):
        shutil.copytree(pathlib.Path(folder) / name, out / "clients" / name)
    files = {"clients/rust/src/raw.rs": Rust(api).file(), "clients/julia/src/raw.jl": Julia(api).file(),
             "clients/fortran/mercer_api.f90": Fortran(api).file(), **bind_specs.builders(specs)}
    for name, lines in files.items():
        write(out / name, lines)


if __name__ == "__main__":
    main()
