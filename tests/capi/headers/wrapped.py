# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Every function of the C API is called by mercer.hpp, or stands here with the reason why not. Usage: wrapped.py API.json INCLUDE"""
import json
import pathlib
import re
import sys

PLAIN = "takes views and numbers alone, so that it is called as it is, with check(), Rows(X).get() and Result(Z).get()"
NOT_WRAPPED = {
    "mercer_status_name": "mercer::Error has the status and the text",
    "mercer_map_apply_f32": "Map::apply is the transform",
    "mercer_map_apply_f64": "Map::apply is the transform",
    "mercer_fwht": PLAIN,
    "mercer_map_transform_csr": "called with map.get(): three arrays of the caller, no view",
    "mercer_lengthscale_median": PLAIN,
    "mercer_ridge_weights": PLAIN,
    "mercer_ridge_leverage": "called with ridge.get(): a step of a search for features",
    "mercer_arrow_source_create": "called as it is: what it fills in goes into Data",
    "mercer_arrow_source_metadata": "called as it is",
    "mercer_arrow_source_free": "called as it is",
    "mercer_ridge_leave_one_out": "called with ridge.get(): fits choose lambda",
}

functions = set(json.loads(pathlib.Path(sys.argv[1]).read_text())["functions"])
text = "\n".join(re.sub(r"//.*", "", path.read_text()) for path in pathlib.Path(sys.argv[2]).glob("mercer/*.hpp"))
called = functions & set(re.findall(r"\bmercer_\w+", text))
wrong = [f"{name} is not in mercer.hpp" for name in sorted(functions - called - set(NOT_WRAPPED))]
wrong += [f"{name} is in mercer.hpp, or no function" for name in sorted(set(NOT_WRAPPED) & called | set(NOT_WRAPPED) - functions)]
print("\n".join(wrong) or f"{len(called)} functions are in mercer.hpp, {len(NOT_WRAPPED)} are called as they are")
sys.exit(bool(wrong) or len(called) < 70)
