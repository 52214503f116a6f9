# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The preprocessed C headers, by the C compiler's default standard, can be read by pycparser, on which cffi and other
makers of bindings rest; what it finds declared is what the library exports. Usage: parse.py CC INCLUDE symbols.txt"""
import pathlib
import subprocess
import sys

try:
    from pycparser import CParser, c_ast
except ImportError:
    print("SKIPPED: python3-pycparser is not installed")
    sys.exit(0)

compiler, include, symbols = sys.argv[1:]
text = subprocess.run([compiler, "-E", f"-I{include}", f"{include}/mercer/mercer.h"], check=True, text=True,
                      stdout=subprocess.PIPE).stdout
declared = {node.name for node in CParser().parse(text).ext
            if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl)}
exported = set(pathlib.Path(symbols).read_text().split())
print(f"{len(declared)} functions; not exported: {declared - exported}; not declared: {exported - declared}")
sys.exit(declared != exported)
