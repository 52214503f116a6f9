# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Specs by keywords, made from what the loaded library says: groups kernels, maps, models, outputs, selections, bounds, tests and others,
with a function for each entry, which gives a dict.

    matern = spec.kernels.matern(nu=1.5, lengthscale=[2, 1, 0.5])
    mercer.Map(spec.maps.fourier(kernel=matern, inputs=3, features=512))

`help(spec.maps.fourier)` says what keys mean. A key that is a word of Python has a _ behind it: `lambda_`. None leaves a
key out."""
from __future__ import annotations

import inspect
import keyword
import types
from typing import Any

# The key that names an entry.
_KEYS = {"kernels": "kernel", "maps": "map", "models": "model", "outputs": "structure", "selections": "by", "bounds": "bound", "tests": "test"}


def _word(key: str) -> str:
    return f"{key}_" if keyword.iskeyword(key) else key


class _Group(types.SimpleNamespace):
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no {name!r} in this group of specs, expected {', '.join(vars(self))}")


def _builder(group: str, name: str, about: str, fields: Any, key: str | None = None) -> Any:
    """The function of an entry; of maps nothing is required, since fits and rows fill in what is missing."""
    needed = [_word(field["key"]) for field in fields if field["required"] and group != "maps"]
    keys = {_word(field["key"]): field["key"] for field in fields}

    def build(**values: Any) -> dict[str, Any]:
        for word in values:
            if word not in keys:
                raise TypeError(f"spec.{group}.{name} has no key {word!r}, expected {', '.join(keys) or 'none'}")
        values = {word: value for word, value in values.items() if value is not None}
        missing = [word for word in needed if word not in values]
        if missing:
            raise TypeError(f"spec.{group}.{name} needs {', '.join(missing)}")
        return {**({key: name} if key else {}), **{keys[word]: value for word, value in values.items()}}

    build.__name__, build.__qualname__, build.__module__ = name, f"{group}.{name}", __name__
    default = {word: inspect.Parameter.empty if word in needed else field["default"] for word, field in zip(keys, fields)}
    setattr(build, "__signature__", inspect.Signature([inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=default[word]) for word in keys]))
    build.__doc__ = "\n".join([about, "", *(f"{word}: {field['help']} ({field['expected']})" for word, field in zip(keys, fields))])
    return build


def _groups() -> dict[str, _Group]:
    from ._objects import specs
    said = specs()
    fits = {entry["name"]: entry for entry in said["fits"]}
    common = [field for field in fits.pop("fit")["parameters"] if field["key"] != "model"]
    first = said["maps"][0]["parameters"]
    of_maps = [field for field in first if all(field in entry["parameters"] for entry in said["maps"])]
    made = {group: {e["name"]: _builder(group, e["name"], e["help"], e["parameters"] + common * (group == "models"), key)
                    for e in said[group]} for group, key in _KEYS.items()}
    made["maps"]["auto"] = _builder("maps", "auto", "the map that suits the kernel", of_maps)
    made["models"]["auto"] = _builder("models", "auto", "ridge, or for classes the better of ridge and logistic", common, "model")
    made["others"] = {name: _builder("others", name, entry["help"], entry["parameters"]) for name, entry in fits.items()}
    for field in common:
        if "fields" in field and field["fields"][0]["key"] not in _KEYS.values():
            made["others"][field["key"]] = _builder("others", field["key"], field["help"], field["fields"])
    return {group: _Group(**entries) for group, entries in made.items()}


def __getattr__(name: str) -> Any:
    if name in __dir__():
        globals().update(_groups())
        return globals()[name]
    raise AttributeError(f"mercer.spec has no group {name!r}, expected {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return [*_KEYS, "others"]
