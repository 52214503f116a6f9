#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The raw layer of the Rust crate from cmake/api.json. Usage: bind_rust.py API.json > capi/clients/rust/src/raw.rs, or
bind_rust.py API.json --check RAW.rs, which fails where they differ."""
import json
import pathlib
import re
import sys

TYPES = {"void": "c_void", "char": "c_char", "int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64", "double": "f64",
         "float": "f32"}
KEYWORDS = {"type", "ref", "move", "loop", "match", "use"}


def bind(api):
    def rust(kind):
        if kind.endswith("*"):
            inner, constant = kind[:-1], kind.startswith("const ") and kind.count("*") == 1
            return f"*{'const' if constant else 'mut'} {rust(inner.removeprefix('const '))}"
        return "i32" if kind in api["enums"] else TYPES.get(kind, kind)

    def arguments(pairs):
        return ", ".join(f"{name + '_' if name in KEYWORDS else name}: {rust(kind)}" for name, kind in pairs)

    def result(kind):
        return "" if kind == "void" else f" -> {rust(kind)}"

    lines = ["// SPDX-License-Identifier: Apache-2.0", "// SPDX-FileCopyrightText: The mercer authors",
             "//! The C API as it is. Made by cmake/bind_rust.py from cmake/api.json.",
             "#![allow(non_camel_case_types, non_snake_case)]", "use std::os::raw::{c_char, c_void};", ""]
    for entries in api["enums"].values():
        lines += [f"pub const {name}: i32 = {number};" for name, number in entries.items()]
    for name in api["handles"]:
        lines += ["", "#[repr(C)]", f"pub struct {name} {{", "    _private: [u8; 0],", "}"]
    lines.append("")
    for name, entry in api["callbacks"].items():
        lines += [f"/// {entry['help']}",
                  f"pub type {name} = Option<unsafe extern \"C\" fn({arguments(entry['parameters'].items())}){result(entry['returns'])}>;"]
    for name, entry in api["structs"].items():
        lines += ["", f"/// {entry['help']}", "#[repr(C)]", "#[derive(Clone, Copy)]", f"pub struct {name} {{"]
        lines += [f"    pub {field['name']}: {rust(field['type'])}," for field in entry["fields"]] + ["}"]
    lines += ["", '#[link(name = "mercer")]', 'extern "C" {']
    for name, entry in api["functions"].items():
        pairs = [(p["name"], p["type"]) for p in entry["parameters"]]
        lines += [f"    /// {entry['help']}", f"    pub fn {name}({arguments(pairs)}){result(entry['returns'])};"]
    return re.sub(r"\*mut \*const", "*mut *mut", "\n".join(lines)) + "\n}\n"


text = bind(json.loads(pathlib.Path(sys.argv[1]).read_text()))
if sys.argv[2:]:
    same = pathlib.Path(sys.argv[3]).read_text() == text
    print(f"{sys.argv[3]} is{'' if same else ' not'} that of {sys.argv[1]}: bind_rust.py {sys.argv[1]} makes it")
    sys.exit(not same)
sys.stdout.write(text)
