# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""scikit-learn's own tests of the classes that mercer.kernel_approximation has under their names, from the installed package."""
import pathlib
import sys

try:
    import pytest
    import sklearn.decomposition
    import sklearn.kernel_approximation
    import sklearn.kernel_ridge
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(0)

import mercer.kernel_approximation as ours

# The arrays of scikit-learn's own draws: the map's frequencies are `map_.frequencies`.
INTERNALS = ["test_rbf_sampler_fitted_attributes_dtype", "test_rbf_sampler_dtype_equivalence", "test_skewed_chi2_sampler_fitted_attributes_dtype",
             "test_skewed_chi2_sampler_dtype_equivalence"]

for name in ours.__all__:
    place = {"KernelRidge": sklearn.kernel_ridge, "KernelPCA": sklearn.decomposition}.get(name, sklearn.kernel_approximation)
    setattr(place, name, getattr(ours, name))
folder = pathlib.Path(sklearn.__file__).parent
if not (folder / "tests").is_dir():
    print("SKIPPED: scikit-learn is installed without its tests")
    sys.exit(0)
tests = [str(folder / f"{name}.py") for name in
         ("tests/test_kernel_approximation", "tests/test_kernel_ridge", "decomposition/tests/test_kernel_pca")]
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", " and ".join(f"not {name}" for name in INTERNALS), *tests]))
