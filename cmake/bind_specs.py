# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Typed builders of specs in each language from what mercer_specs says. bind.py calls this. (Python makes its own at run time.)"""
import json
import textwrap

# The key that names an entry, where it has one, and the kind of spec that the entries of a group are.
GROUPS = {"kernels": ("kernel", "Kernel"), "maps": ("map", "Map"), "models": ("model", "Model"), "outputs": ("structure", "Outputs"),
          "selections": ("by", "Selection"), "bounds": ("bound", "Bound"), "tests": ("test", "Test")}


def title(name):
    return "".join(part.capitalize() for part in name.split("_"))


class Entry:
    """name ("": none is written), help, and fields: (key, kind of value, what `mercer specs` says of it)."""

    def __init__(self, title, name, help, parameters, needed=True):
        self.title, self.name = title, name
        self.fields = [(p["key"], kind(p), p) for p in parameters]
        self.texts = [f"{p['key']}: {', '.join(p['choices'])}" for p in parameters if p["choices"] and p["type"] == "text"]
        required = [p["key"] for p in parameters if p["required"] and needed]
        self.help = f"{help}. Needs {', '.join(required)}" if required else help

    def about(self, said):
        """Its help, and the choices of texts that are not said of its group."""
        return ". ".join([self.help, *filter(None, ["; ".join(text for text in self.texts if text not in said)])])


def kind(parameter):
    """The kind of a value: a type of `mercer specs`, but that objects are those of a group or have an entry of their own."""
    if parameter["type"] != "object":
        return {"sketch": "map"}.get(parameter["type"], parameter["type"])
    first = parameter["fields"][0]["key"]
    return next((group for group, (key, _) in GROUPS.items() if key == first), parameter["key"])


def groups(specs):
    """[(group, entries)]; entries of the group "others" have no key that names them."""
    fits = {entry["name"]: entry for entry in specs["fits"]}
    common = [p for p in fits.pop("fit")["parameters"] if p["key"] != "model"]
    found = {group: [Entry(title(e["name"]), e["name"], e["help"], e["parameters"], group != "maps") for e in specs[group]]
            for group in GROUPS}
    found["models"] = [Entry(title(e["name"]), e["name"], e["help"], common + e["parameters"])
                      for e in [{"name": "auto", "help": "ridge, or for classes the better of ridge and logistic", "parameters": []},
                                *specs["models"]]]
    of_all = [p for p in specs["maps"][0]["parameters"] if all(p["key"] in map(lambda q: q["key"], e["parameters"]) for e in specs["maps"])]
    found["maps"].insert(0, Entry("Auto", "", "the map that suits the kernel", of_all, False))
    others = [Entry(title(p["key"]), "", p["help"], p["fields"]) for p in common if p["type"] == "object" and kind(p) not in GROUPS]
    others += [Entry(title(e["name"]), "", e["help"], e["parameters"]) for e in fits.values()]
    return [("others", others), *found.items()]


def shared(entries):
    """The fields that every entry has, and those of each besides."""
    first = [(key, kind) for key, kind, _ in entries[0].fields]
    common = [pair for pair in first if len(entries) > 1 and all(pair in [field[:2] for field in e.fields] for e in entries)]
    return common, [[field[:2] for field in e.fields if field[:2] not in common] for e in entries]


def about(group):
    return f"`mercer specs`: {group}" if group in GROUPS else "Further specs"


def texts(entries):
    """Choices of texts that several entries have."""
    found = [text for entry in entries for text in entry.texts]
    return sorted({text for text in found if found.count(text) > 1})


def filled(text, indent=""):
    """Lines, which do not end at a ~, written for a space."""
    lines = textwrap.wrap(text, 150, initial_indent=indent, subsequent_indent=indent + "    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("~", " ").split("\n")


def doc(text, mark, indent=""):
    return textwrap.wrap(text, 150, initial_indent=indent + mark, subsequent_indent=indent + mark, break_long_words=False,
                         break_on_hyphens=False)


def text_of(text):
    """A string of Julia."""
    return json.dumps(text, ensure_ascii=False).replace("$", "\\$")


class RustSpecs:
    types = {"number": "f64", "integer": "i64", "seed": "u64", "text": "str", "boolean": "bool", "numbers": "[f64]",
             "number_or_numbers": "Numbers", "numbers_or_lists": "[Numbers]", "kernel": "Kernel", "kernels": "[Kernel]", "map": "Map",
             "maps": "[Map]", "outputs": "Outputs", "selections": "Selection"}


    def keys(self, fields):
        return "{" + ", ".join(f"{key}:~{self.types.get(kind) or 'super::others::' + title(kind)}" for key, kind in fields) + "}"

    def group(self, group, entries):
        key, kind = GROUPS.get(group, ("", "Self"))
        common, own = shared(entries)
        said = texts(entries)
        lines = ["", "entries! {", *doc("; ".join([about(group), *said]), "/// ", "    "),
                 *filled(f'{group} {kind} "{key}" {self.keys(common)}', "    ")]
        for entry, fields in zip(entries, own):
            lines += doc(entry.about(said), "/// ", "    ") + filled(f'{entry.title} "{entry.name}" {self.keys(fields)}', "    ")
        return lines + ["}"]


class CppSpecs:
    head = """
// Specs by typed setters in place of JSON text; `mercer specs NAME` says what keys mean.
//
// Example: 512 features of a Matern kernel; nu of another kernel would not compile.
//
//   namespace spec = mercer::spec;
//   const auto kernel = spec::kernels::Matern().nu(1.5).lengthscale({2.0, 1.0, 0.5});
//   const auto features = spec::maps::Fourier().kernel(kernel).inputs(3).features(512);
//   const mercer::Map map = mercer::Map::from_spec(features);
#ifndef MERCER_SPEC_HPP
#define MERCER_SPEC_HPP

#include "mercer/spec_value.hpp"

namespace mercer {
inline namespace hpp {
namespace spec {""".splitlines()[1:]
    tail = ["", "}  // namespace spec", "}  // namespace hpp", "}  // namespace mercer", "#endif"]
    types = {"number": "Number", "integer": "Integer", "seed": "Integer", "text": "Text", "boolean": "Boolean", "numbers": "List<Number>",
             "number_or_numbers": "Numbers", "numbers_or_lists": "List<Numbers>", "kernel": "Of<Kernel>", "kernels": "List<Of<Kernel>>",
             "map": "Of<Map>", "maps": "List<Of<Map>>", "outputs": "Of<Outputs>", "selections": "Of<Selection>"}

    def group(self, group, entries):
        lines = ["", f"/// {about(group)}", f"namespace {group} {{"]
        for entry in entries:
            name, (key, kind) = entry.title, GROUPS.get(group, ("", entry.title))
            lines += [*doc(entry.about([]), "/// "), f"struct {name} : Of<{kind}> {{", f'  {name}() : Of("{key}", "{entry.name}") {{}}']
            for key, kind, _ in entry.fields:
                taken = self.types.get(kind) or f"Of<others::{title(kind)}>"
                lines += [f'  [[nodiscard]] {name} {key}(const {taken}& value) const {{ return with(*this, "{key}", value); }}']
            lines += ["};"]
        return lines + [f"}}  // namespace {group}"]


class GoSpecs:
    """Structs as gofmt has them. A field is its value where zero is no value or the default, else a pointer."""

    types = {"text": "string", "numbers": "[]float64", "number_or_numbers": "Numbers", "numbers_or_lists": "[]Numbers",
             "kernel": "Of[Kernel]", "kernels": "[]Of[Kernel]", "map": "Of[Map]", "maps": "[]Of[Map]", "outputs": "Of[outputs]",
             "selections": "Of[selection]", "number": "float64", "integer": "int", "seed": "uint64", "boolean": "bool"}
    own = {"kernels": "Kernel", "maps": "Map", "models": "Model"}

    def type(self, kind, said):
        made = self.types.get(kind) or "*" + title(kind)
        zero = said["least"] is not None and (said["least"] > 0 or said["least"] == 0 and said["least_open"])
        return "*" * (kind in ("number", "integer", "boolean") and not zero and not said["default"] in (0, False)) + made

    def struct(self, name, help, embedded, fields):
        kinds = {}
        for key, kind, said in fields:
            kinds.setdefault(self.type(kind, said), []).append(title(key))
        names = [", ".join(keys) for keys in kinds.values()]
        width = max(map(len, names), default=0)
        return [*doc(f"{name}: {help}.", "\t// "), f"\t{name} struct {{", *(f"\t\t{part}" for part in embedded),
                *(f"\t\t{keys:{width}} {kind}" for keys, kind in zip(names, kinds)), "\t}"]

    def group(self, group, entries):
        _, suffix = GROUPS.get(group, ("", ""))
        common, said = shared(entries)[0], texts(entries)
        lines = ["", *doc("; ".join([about(group), *said]) + ".", "// "), "type ("]
        if group == "models":
            lines += self.struct("Fit", "what every model has", [], [f for f in entries[0].fields if f[:2] in common])
        for entry in entries:
            kind = self.own.get(group) or (suffix or "other").lower()
            fields = [field for field in entry.fields if group != "models" or field[:2] not in common]
            lines += self.struct(entry.title + suffix, entry.about(said), [f"is[{kind}]", *["Fit"] * (group == "models")], fields)
        return lines + [")"]

    @property
    def head(self):
        keys = [(f'"{suffix}":', f'"{key}"') for key, suffix in GROUPS.values()]
        width = max(len(key) for key, _ in keys)
        own = [suffix.lower() for group, (_, suffix) in GROUPS.items() if group not in self.own] + ["other"]
        return ["", "package mercer", "", "// The key that the type of an entry names, by the end of its own name.", "var named = map[string]string{", *(f"\t{key:{width}} {value}," for key, value in keys), "}", "", "type (",
                *(f"\t{kind:{max(map(len, own))}} struct{{}}" for kind in own), ")"]


class JuliaSpecs:
    types = {"number": "Real", "integer": "Integer", "seed": "Integer", "text": "AbstractString", "boolean": "Bool", "numbers": "Numbers",
             "number_or_numbers": "NumberOrNumbers", "numbers_or_lists": "Lists", "kernel": "OfKernel", "kernels": "Vector{OfKernel}",
             "map": "Spec{:Map}", "maps": "Vector{Spec{:Map}}", "outputs": "Spec{:Outputs}", "selections": "Spec{:Selection}"}
    reserved = {"begin", "end", "function", "module", "quote", "let", "local", "global"}

    def keys(self, fields):
        return [f"{key + '_' * (key in self.reserved)}~=~{self.types.get(kind) or f'Spec{{:{title(kind)}}}'}" for key, kind in fields]

    def group(self, group, entries):
        key, kind = GROUPS.get(group, ("", ""))
        common, own = shared(entries)
        said = texts(entries)
        lines = ["", text_of("; ".join([about(group), *said])), f"module {title(group)}",
                 "import ..Mercer: Lists, NumberOrNumbers, Numbers, OfKernel, Spec, entry"]
        if key:
            lines += self.filled(f'of(name, values, kinds = NamedTuple()) = entry(:{kind}, "{key}", name, values', self.keys(common) + ["kinds..."])
        for entry, fields in zip(entries, own):
            maker = f'of("{entry.name}", values' if key else f'entry(:{entry.title}, "", "", values'
            lines += [text_of(entry.about(said)),
                      *self.filled(f"{entry.name or entry.title.lower()}(; values...) = {maker}", self.keys(fields))]
        return lines + ["end"]

    def filled(self, text, keys):
        return filled(f"{text}, (; {', '.join(keys)}))" if keys else text + ")")


FILES = {"clients/rust/src/entries.rs": RustSpecs, "include/mercer/spec.hpp": CppSpecs, "clients/go/entries.go": GoSpecs,
         "clients/julia/src/entries.jl": JuliaSpecs}


def builders(specs):
    """{file: its lines} of what mercer_specs says."""
    found = groups(specs)
    return {name: [*getattr(language, "head", []), *(line for group, entries in found for line in language.group(group, entries)),
                   *getattr(language, "tail", [])] for name, language in ((name, kind()) for name, kind in FILES.items())}
