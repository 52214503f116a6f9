# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Kernels, maps and losses by functions of NumPy arrays."""
from __future__ import annotations

import ctypes
import itertools
from typing import Any, Callable

import numpy as np

from ._api import callbacks, encoded, invalid, make, new, raised, whole
from ._objects import _Handle
from ._types import Array

_held: dict[int, Any] = {}  # what C may call, by the number that it is given as user
_keys = itertools.count(1)


def _kept(kind: str, body: Callable[..., object]) -> Any:
    """What C calls: body of the arguments after the first. What it raises is raised by the call that it serves."""
    def mercer_answers(user: Any, *arguments: Any) -> int:
        try:
            body(*arguments)
            return 0
        except BaseException as met:  # nothing may unwind through C
            raised.kept = met
            return 1

    mercer_answers.__qualname__ = mercer_answers.__name__
    return callbacks[kind](mercer_answers)


def _array(address: int, *shape: Any) -> Array:
    return np.ctypeslib.as_array((ctypes.c_double * int(np.prod(shape))).from_address(address)).reshape(shape)


def _fill(address: int, name: str, made: Any, *shape: Any) -> None:
    if np.shape(made) != shape:
        raise invalid(f"{name} returned {type(made).__name__} of shape {np.shape(made)}, expected {shape}")
    _array(address, *shape)[:] = made


_release = callbacks["mercer_custom_release"](lambda user, held=_held: held.pop(user, None) and None)


class Custom(_Handle):
    """A kernel, map or loss by functions of arrays. While the object lives, specs know the kernel {"kernel": "custom", "name": name}, its
    `kernel`; with features the map {"map": "custom", "kernel": ...}; with loss the fits {"model": "logistic", "loss": "custom", "loss_name":
    name}, for classes "custom_class". Kernels, maps and models keep the functions.

    Parameters
    ----------
    name : str
    gram : callable, optional
        ``gram(X, Y)`` gives the n x m values of the kernel for rows X (n x d) and Y (m x d), symmetric and positive semi-definite. Without it
        the kernel is the inner product of the features.
    features : callable, optional
        ``features(X, D, seed)`` gives an n x D array, each row a function of its row, D and seed.
    loss : callable, optional
        ``loss(S, Y)`` gives value, slope and curvature (>= 0) of the loss of each score at its target, three n x p arrays.
    feature_count : int
        How many features there are where there is no gram.
    inputs : int
        d, 0: any.

    Notes
    -----
    Rows reach the functions as they are given. What these raise is raised by the call that they serve.
    """

    _noun = "custom"

    def __init__(self, name: str, gram: Callable[..., Any] | None = None, features: Callable[..., Any] | None = None, *,
                 loss: Callable[..., Any] | None = None, feature_count: int = 0, inputs: int = 0) -> None:
        for word, value in (("gram", gram), ("features", features), ("loss", loss)):
            if value is not None and not callable(value):
                raise invalid(f"{word} = {value!r}, expected a function")
        self.name, self.kernel, options, key = name, {"kernel": "custom", "name": name}, make("custom_options"), next(_keys)
        text = encoded("name", name)
        options.name, options.inputs = text, whole("inputs", inputs)
        options.feature_count, options.user, options.release = whole("feature_count", feature_count), key, _release
        if gram:
            of_gram = gram
            options.gram = _kept("mercer_custom_gram", lambda n, m, d, x, y, k: _fill(
                k, "gram", of_gram(_array(x, n, d).copy(), _array(y, m, d).copy()), n, m))
        if features:
            of_features = features
            options.features = _kept("mercer_custom_features", lambda n, d, x, D, seed, z: _fill(
                z, "features", of_features(_array(x, n, d).copy(), D, seed), n, D))
        if loss:
            of_loss = loss

            def fill_loss(n: int, p: int, s: int, y: int, *out: int) -> None:
                made = of_loss(_array(s, n, p).copy(), _array(y, n, p).copy())
                if not isinstance(made, tuple) or len(made) != 3:
                    raise invalid(f"loss returned {type(made).__name__}, expected a tuple of values, slopes and curvatures")
                for name, address, one in zip(("value", "slope", "curvature"), out, made):
                    _fill(address, f"{name} of loss", one, n, p)

            options.loss = _kept("mercer_custom_loss", fill_loss)
        _held[key] = options, text  # with the functions of C
        try:
            super().__init__(new("custom_create", ctypes.byref(options)))
        except BaseException:
            del _held[key]
            raise

    def __repr__(self) -> str:
        return f"Custom({self.name!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a mercer.Custom belongs to its process and cannot be copied or pickled, expected another of the same functions")
