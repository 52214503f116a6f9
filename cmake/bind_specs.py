# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Typed builders of specs in each language from what `mercer specs --json` says: the part of its file below the line `MARK`; what is above
it is written by hand. bind.py calls this."""
import json
import subprocess
import textwrap

MARK = " Below: made by cmake/bind.py from `mercer specs --json`."
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
        texts = [f"{p['key']}: {', '.join(p['choices'])}" for p in parameters if p["choices"] and p["type"] == "text"]
        required = [p["key"] for p in parameters if p["required"] and needed]
        self.help = ". ".join([help, *(["Needs " + ", ".join(required)] if required else []), *(["; ".join(texts)] if texts else [])])


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
    made = {group: [Entry(title(e["name"]), e["name"], e["help"], e["parameters"], group != "maps") for e in specs[group]]
            for group in GROUPS}
    made["models"] = [Entry(title(e["name"]), e["name"], e["help"], common + e["parameters"])
                      for e in [{"name": "auto", "help": "ridge, or for classes the better of ridge and logistic", "parameters": []},
                                *specs["models"]]]
    of_all = [p for p in specs["maps"][0]["parameters"] if all(p["key"] in map(lambda q: q["key"], e["parameters"]) for e in specs["maps"])]
    made["maps"].insert(0, Entry("Auto", "", "the map that suits the kernel", of_all, False))
    made["others"] = [Entry(title(p["key"]), "", p["help"], p["fields"]) for p in common if p["type"] == "object" and kind(p) not in GROUPS]
    made["others"] += [Entry(title(e["name"]), "", e["help"], e["parameters"]) for e in fits.values()]
    return made.items()


def shared(entries):
    """The fields that every entry has, and those of each besides."""
    first = [(key, kind) for key, kind, _ in entries[0].fields]
    common = [pair for pair in first if len(entries) > 1 and all(pair in [field[:2] for field in e.fields] for e in entries)]
    return common, [[field[:2] for field in e.fields if field[:2] not in common] for e in entries]


def filled(text, indent="", width=140):
    """Lines, which do not end between a key and its kind."""
    lines = textwrap.wrap(text.replace(": ", ":~"), width, initial_indent=indent, subsequent_indent=indent + "    ", break_long_words=False,
                          break_on_hyphens=False)
    return [line.replace(":~", ": ") for line in lines]


def doc(text, mark, indent=""):
    return textwrap.wrap(text, 140, initial_indent=indent + mark, subsequent_indent=indent + mark, break_long_words=False,
                         break_on_hyphens=False)


class RustSpecs:
    comment = "//"
    types = {"number": "f64", "integer": "i64", "seed": "u64", "text": "str", "boolean": "bool", "numbers": "[f64]",
             "number_or_numbers": "Numbers", "numbers_or_lists": "[Numbers]", "kernel": "Kernel", "kernels": "[Kernel]", "map": "Map",
             "maps": "[Map]", "outputs": "Outputs", "selections": "Selection"}

    def keys(self, fields):
        return "{" + ", ".join(f"{key}: {self.types.get(kind) or 'super::others::' + title(kind)}" for key, kind in fields) + "}"

    def group(self, group, entries):
        key, kind = GROUPS.get(group, ("", "Self"))
        common, own = shared(entries)
        lines = ["", "entries! {", *filled(f'{group} {kind} "{key}" {self.keys(common)}', "    ")]
        for entry, fields in zip(entries, own):
            lines += doc(entry.help, "/// ", "    ") + filled(f'{entry.title} "{entry.name}" {self.keys(fields)}', "    ")
        return lines + ["}"]


LANGUAGES = {"rust-specs": RustSpecs}


def text(source, language, path):
    """What the file is to be: its part by hand, and the builders of what the command `source` says."""
    said = json.loads(subprocess.run([source, "specs", "--json"], check=True, capture_output=True, text=True).stdout)
    made = LANGUAGES[language]()
    mark = made.comment + MARK + "\n"
    by_hand, found, _ = path.read_text().partition(mark)
    if not found:
        raise SystemExit(f"{path} has no line {mark}")
    return by_hand + mark + "\n".join(line for group, entries in groups(said) for line in made.group(group, list(entries))) + "\n"
