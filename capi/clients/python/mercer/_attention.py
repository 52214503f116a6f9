# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Linear attention by the features of a map, of all tokens in one call or token by token."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from ._api import call, chosen, invalid, make, new, parsed, text, whole
from ._arrays import Rows, matrix, real, result
from ._context import Context, given_or_new
from ._objects import Map, _Stored, handle_of
from ._types import Array


class _Tokens:
    """Queries, keys and values (..., tokens, numbers) as rows of sequences, one after the other, for one call."""

    def __init__(self, Q: npt.ArrayLike | None, K: npt.ArrayLike | None, V: npt.ArrayLike | None, causal: bool,
                 key_weights: npt.ArrayLike | None) -> None:
        self.arrays: list[Any] = [None if part is None else real(part, name) for name, part in zip("QKV", (Q, K, V))]
        given = [part for part in self.arrays if part is not None]
        if any(part.ndim < 2 for part in given) or len({part.shape[:-2] for part in given}) != 1:
            raise invalid(f"Q, K and V of shapes {', '.join(str(part.shape) for part in given)}, expected equal leading axes before (tokens, numbers)")
        lead = given[0].shape[:-2]
        self.view, self.parts = make("tokens"), [Rows(None if part is None else part.reshape(-1, part.shape[-1])) for part in self.arrays]
        self.view.causal, self.view.batch, self.view.heads = int(causal), int(np.prod(lead, dtype=int)), 1
        self.view.Q, self.view.K, self.view.V = (part.view for part in self.parts)
        if key_weights is not None:
            weights = np.empty((*self.arrays[1].shape[:-1], 1))
            weights[..., 0] = key_weights
            self.parts.append(Rows(weights.reshape(-1, 1)))
            self.view.weights = self.parts[3].view

    @property
    def dtype(self) -> Any:
        return self.parts[0].dtype

    def out(self, width: int) -> tuple[Array, tuple[int, ...]]:
        """Rows of an answer to each query, and their shape."""
        return result(None, self.view.Q.n, width, self.dtype), (*self.arrays[0].shape[:-1], width)


def attend(map: Map, Q: npt.ArrayLike, K: npt.ArrayLike, V: npt.ArrayLike, causal: bool = False, context: Context | None = None, *,
           key_weights: npt.ArrayLike | None = None) -> Array:
    """Linear attention by the features of a map: row i is sum_j phi(q_i)'phi(k_j) v_j / sum_j phi(q_i)'phi(k_j).

    Parameters
    ----------
    map : Map
    Q, K, V : array_like
        (..., queries, d), (..., keys, d) and (..., keys, d_v) with equal leading axes, such as batch and heads.
    causal : bool
        Whether sums are over j <= i.
    context : Context, optional
    key_weights : array_like, optional
        (..., keys), repeated along missing axes: numbers >= 0 that the terms are multiplied by, 0 for masked keys.
    """
    tokens = _Tokens(Q, K, V, causal, key_weights)
    out, shape = tokens.out(tokens.arrays[2].shape[-1])
    with given_or_new(context).running() as running:
        call("attend", handle_of("map", map, Map), ctypes.byref(tokens.view), running, matrix(out))
    return out.reshape(shape)


def attend_vjp(map: Map, Q: npt.ArrayLike, K: npt.ArrayLike, V: npt.ArrayLike, G: npt.ArrayLike, causal: bool = False, context: Context | None = None,
               *, key_weights: npt.ArrayLike | None = None) -> tuple[Array, ...]:
    """dL/dQ, dL/dK, dL/dV of a real L with dL/dout = G of `attend`, in the shapes of Q, K and V."""
    tokens, g = _Tokens(Q, K, V, causal, key_weights), real(G, "G")
    rows = Rows(np.asarray(g.reshape(-1, g.shape[-1]), tokens.dtype))
    outs = [np.empty((part.view.n, part.view.d), tokens.dtype) for part in tokens.parts[:3]]
    with given_or_new(context).running() as running:
        call("attend_vjp", handle_of("map", map, Map), ctypes.byref(tokens.view), rows.view, running, *(matrix(out) for out in outs))
    return tuple(out.reshape(array.shape) for out, array in zip(outs, tokens.arrays))


def attention_error(map: Map, Q: npt.ArrayLike, K: npt.ArrayLike, V: npt.ArrayLike, which: str = "measured", causal: bool = False,
                    context: Context | None = None, *, key_weights: npt.ArrayLike | None = None) -> float:
    """||out - exact||_F / ||exact||_F, exact by the map's kernel, or ("predicted") its root mean square over seeds; of some hundred tokens."""
    tokens, error = _Tokens(Q, K, V, causal, key_weights), ctypes.c_double()
    with given_or_new(context).running() as running:
        call("attention_error", handle_of("map", map, Map), ctypes.byref(tokens.view), chosen("kernel_error", "which", which), running, ctypes.byref(error))
    return error.value


class Attention(_Stored):
    """The sums over the keys so far, however many, of attention token by token.

    Parameters
    ----------
    map : Map
    values : int
        d_v, numbers of a value.
    batch : int
        Sequences, all leading axes together.
    """

    _noun = "attention"

    def __init__(self, map: Map, values: int, batch: int = 1) -> None:
        super().__init__(new("attention_create", handle_of("map", map, Map), whole("batch", batch), 1, whole("values", values)))
        self._values = values

    def __repr__(self) -> str:
        return f"Attention(values={self._width()})"

    def _width(self) -> int:
        if not hasattr(self, "_values"):  # from a file
            data = self.__getstate__()
            self._values = int(parsed(text("file_info", None, data, len(data)))["values"])
        return self._values

    def step(self, Q: npt.ArrayLike | None = None, K: npt.ArrayLike | None = None, V: npt.ArrayLike | None = None, causal: bool = False,
             context: Context | None = None, *, key_weights: npt.ArrayLike | None = None) -> Array | None:
        """Adds keys K with their values V, then answers queries Q over all keys so far; causal: key i, then query i. Without Q keys are only
        added (None is returned), without K and V queries only answered. Shapes are those of `attend`."""
        tokens = _Tokens(Q, K, V, causal, key_weights)
        made = None if Q is None else tokens.out(self._width())
        with given_or_new(context).running() as running:
            call("attention_step", self.handle, ctypes.byref(tokens.view), running, matrix(made and made[0]))
        return None if made is None else made[0].reshape(made[1])
