# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What a type checker has to take, and, where it is told to ignore an error, to refuse: an ignored line without one is an error itself."""
import numpy as np
import numpy.typing as npt

import mercer

X: npt.NDArray[np.float64] = np.zeros((4, 2))
model: mercer.Model = mercer.Model({"lambda": 1.0}, X, [0, 1, 0, 1], groups=["a", "a", "b", "b"])
again: mercer.Model = mercer.Model.load("file")
features: mercer.Map = mercer.Map(mercer.spec.maps.fourier(inputs=2, features=8))
Z: npt.NDArray[np.float32] = features.transform(X)
error: float = features.kernel_error(X)
w, intercept = mercer.Ridge(mercer.Statistics(8, 1)).solve(1e-3)
(w + intercept).sum()
text: str = features.kernel_error(X)  # type: ignore[assignment]
mercer.Model({}, X, progress=print)  # type: ignore[call-arg]
mercer.Map.load(7)  # type: ignore[arg-type]
features.transfrom(X)  # type: ignore[attr-defined]
