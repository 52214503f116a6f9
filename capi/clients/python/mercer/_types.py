# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What arguments may be, for type checkers."""
import os
from typing import Any, Callable, Iterable, Mapping, Optional, Protocol, Union

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Sparse(Protocol):
    """A sparse matrix or array of SciPy."""

    @property
    def nnz(self) -> int: ...

    def tocsr(self) -> Any: ...


RowsLike = Union[npt.ArrayLike, Sparse]
Spec = Union[str, Mapping[str, Any]]
Path = Union[str, bytes, "os.PathLike[str]"]
Sum = Callable[[np.ndarray[Any, np.dtype[np.float64]]], Optional[npt.ArrayLike]]
Source = Callable[[], Iterable[Any]]
