# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""scikit-learn's own tests of the classes that mercer has under their names, from the installed package."""
import inspect
import pathlib
import sys

try:
    import pytest
    import sklearn.decomposition
    import sklearn.gaussian_process
    import sklearn.kernel_approximation
    import sklearn.kernel_ridge
    import sklearn.linear_model
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(0)

import mercer.gaussian_process
import mercer.kernel_approximation

# Tests that make no sense here, with the reason.
EXCLUDED = {
    **dict.fromkeys(["test_rbf_sampler_fitted_attributes_dtype", "test_rbf_sampler_dtype_equivalence",
                     "test_skewed_chi2_sampler_fitted_attributes_dtype", "test_skewed_chi2_sampler_dtype_equivalence"],
                    "the arrays of scikit-learn's own draws: the map's frequencies are `map_.frequencies`"),
}
PLACES = {"KernelRidge": sklearn.kernel_ridge, "KernelPCA": sklearn.decomposition, "RidgeCV": sklearn.linear_model,
          **dict.fromkeys(mercer.gaussian_process.__all__, sklearn.gaussian_process)}
FILES = ["tests/test_kernel_approximation", "tests/test_kernel_ridge", "decomposition/tests/test_kernel_pca", "gaussian_process/tests/test_gpr",
         "gaussian_process/tests/test_gpc", "linear_model/tests/test_ridge"]


class Selection:
    """Of the tests of all ridges those that make a RidgeCV themselves or by the function that they are given."""

    def pytest_collection_modifyitems(self, items):
        def of_ours(item):
            given = getattr(item, "callspec", None)
            functions = [item.function, *(filter(inspect.isfunction, given.params.values()) if given else [])]
            return "test_ridge.py" not in str(item.path) or any("RidgeCV" in inspect.getsource(one) for one in functions) or \
                (given is not None and any(isinstance(one, PLACES["RidgeCV"].RidgeCV) for one in given.params.values()))
        items[:] = [item for item in items if item.originalname not in EXCLUDED and of_ours(item)]


for module in (mercer.gaussian_process, mercer.kernel_approximation):
    for name in module.__all__:
        setattr(PLACES.get(name, sklearn.kernel_approximation), name, getattr(module, name))
folder = pathlib.Path(sklearn.__file__).parent
if not (folder / "tests").is_dir():
    print("SKIPPED: scikit-learn is installed without its tests")
    sys.exit(0)
sys.exit(pytest.main(["-q", "-W", "ignore", "-p", "no:cacheprovider", *(str(folder / f"{name}.py") for name in FILES), *sys.argv[1:]], [Selection()]))
