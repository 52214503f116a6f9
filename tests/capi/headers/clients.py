# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Every function of the C API is used by the packages of Python, Rust, Go, Julia and R, or stands here with the reason why not; the made
layers of Rust, Julia and Fortran declare all. Usage: clients.py API.json CLIENTS BIND, the folder of bind.py"""
import ast
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
SOURCES = {"rust": "src/*.rs", "go": "*.[gh]*", "julia": "src/*.jl", "r": "src/*.c"}

SPELT_OTHERWISE = {"transform does the same, by views": "map_apply_f32 map_apply_f64"}
OF_MEASURES = "map_derivative map_variance map_kernel_error map_frequencies prediction_score"
OF_FIELDS = "map_multiply map_adjoint kernel_decomposable kernel_derivative"
OF_QUESTIONS = "map_certify map_recommend map_prepare"
OF_CODES = "map_codes codes_hamming codes_kernel simplex_code fwht"
OF_ATTENTION = "attend_vjp attention_create attention_step attention_free attention_read attention_write attention_error"
OF_SUMS = ("statistics_create statistics_add statistics_merge statistics_shape statistics_get statistics_set statistics_free statistics_read "
           "statistics_write ridge_create ridge_shape ridge_solve ridge_error ridge_leverage ridge_leave_one_out ridge_free ridge_weights")
OF_ROWS_SUMS = "rows_sums_create rows_sums_add rows_sums_merge rows_sums_reduce rows_sums_answer rows_sums_free rows_sums_read rows_sums_write"
PARTS = f"{OF_FIELDS} {OF_QUESTIONS} {OF_CODES} {OF_ATTENTION} {OF_SUMS}"
ARROW = {"sources are functions of the language": "arrow_source_create arrow_source_metadata arrow_source_free"}
NOT_USED = {
    "python": {**SPELT_OTHERWISE, **ARROW},
    "rust": {**SPELT_OTHERWISE, **ARROW, "mercer::raw has it, with as_raw of the objects: parts that models are made of": PARTS,
             "mercer::raw has it: rows that are streamed are those of models": OF_ROWS_SUMS,
             "mercer::raw has it: what the command says": "file_info self_test context_threads_used bound",
             "last_error is read on the same thread": "context_error",
             "mercer::raw has it": "attend custom_create custom_free"},
    "go": {**SPELT_OTHERWISE, **ARROW, "a module serves and fits models; their parts are called by cgo": f"{PARTS} map_variance prediction_score",
           "rows that are streamed are those of models": OF_ROWS_SUMS,
           "what the command says": "file_info self_test context_threads_used bound",
           "the goroutine is pinned while last_error is read": "context_error",
           "called by cgo": "attend custom_create custom_free"},
    "julia": {**SPELT_OTHERWISE, **ARROW, "Mercer.mercer_NAME calls it: parts that models are made of": f"{PARTS} {OF_MEASURES}",
              "what the command says": "file_info self_test context_threads_used bound",
              "context_error has the sentence, too": "last_error",
              "a function of Julia would be called from threads that Julia does not know": "custom_create custom_free"},
    "r": {**SPELT_OTHERWISE, **ARROW, "a package of models: their parts have no name in R": f"{PARTS} {OF_MEASURES} attend model_weights model_map map_kernel "
          "map_read map_write map_transform_csr kernel_spec lengthscale_median",
          "map_fit makes every map": "map_from_spec", "R has tests of its own kind": f"rows_test {OF_ROWS_SUMS}", "interrupts end a call from its progress": "context_cancel",
          "what the command says": "version file_info self_test context_threads_used bound",
          "context_error has the sentence, too": "last_error",
          "a function of R may run on R's thread alone": "custom_create custom_free", "data frames are in memory": "model_update"},
}


def of_python(folder):
    """Names as texts, and what the classes do with their _noun."""
    for path in folder.glob("mercer/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.Attribute):
                yield node.attr.removeprefix("mercer_")
            elif isinstance(node, ast.ClassDef):
                nouns = [line.value.value for line in node.body if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "_noun"]
                kept = ("_free", "_read", "_write") if "_Stored" in map(ast.unparse, node.bases) else ("_free",)
                yield from (noun + end for noun in nouns for end in kept)


def of_text(folder, pattern):
    for path in folder.glob(pattern):
        text = re.sub(r"^\s*(//|#(?!include|define)).*", "", path.read_text(), flags=re.M)
        yield from re.findall(r"\bmercer_(\w+)", text)


def main():
    api, clients, bind = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2]), sys.argv[3]
    functions = {name.removeprefix("mercer_") for name in api["functions"]}
    sys.path.insert(0, bind)
    import bind as layers
    wrong = []
    for language, reasons in NOT_USED.items():
        used = functions & set(of_python(clients / language) if language == "python" else of_text(clients / language, SOURCES[language]))
        excused = [name for names in reasons.values() for name in names.split()]
        wrong += [f"{language}: {name} is not used, and no reason is given" for name in sorted(functions - used - set(excused))]
        wrong += [f"{language}: {name} has a reason, but is used or no function" for name in sorted(set(excused) & used | set(excused) - functions)]
        wrong += [f"{language}: {name} has two reasons" for name in sorted(set(excused)) if excused.count(name) > 1]
        print(f"{language}: {len(used)} functions, {len(excused)} with a reason why not")
    for kind in (layers.Rust, layers.Julia, layers.Fortran):
        declared = "\n".join(kind(api).functions())
        wrong += [f"{kind.__name__}: {name} is not declared" for name in sorted(functions) if not re.search(rf"\bmercer_{name}\b", declared)]
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
