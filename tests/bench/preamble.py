# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What every test of bench/ begins with: skipped without NumPy, SciPy and matplotlib, the scripts' folder among the modules; and how it
writes data and runs scripts. Arguments: BENCH LIBMERCER.so SCRATCH"""
import contextlib
import gzip
import io
import pathlib
import runpy
import sys

try:
    import matplotlib  # noqa: F401
    import numpy as np
    import scipy  # noqa: F401
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(0)

bench, library, scratch = (pathlib.Path(text).resolve() for text in sys.argv[1:])
sys.path.insert(0, str(bench))


def write(name, *columns):
    path = scratch / name
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, np.column_stack(columns), delimiter=",", header="header", comments="")


def write_images(name, images, labels):
    """Rows of 784 numbers and their labels as PATH-images-idx3-ubyte.gz and PATH-labels-idx1-ubyte.gz."""
    (scratch / name).parent.mkdir(parents=True, exist_ok=True)
    for kind, size, body in (("images-idx3", 16, images.astype(np.uint8)), ("labels-idx1", 8, labels.astype(np.uint8))):
        with gzip.open(scratch / f"{name}-{kind}-ubyte.gz", "wb", 1) as file:
            file.write(bytes(size) + body.tobytes())


def printed_by(name, *options):
    """The exit code of a script, and what it prints."""
    sys.argv, code = [name, str(library), *map(str, options)], 0
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            runpy.run_path(str(bench / f"{name}.py"), run_name="__main__")
        except SystemExit as ended:
            code = ended.code or 0
    return code, printed.getvalue()


def has_shape(name, claims, *options, but=(), plot="--plot"):
    """As many claims as announced, all of which hold but those with one of these words; the exit code tells."""
    drawn = [] if plot is None else [plot, scratch / f"{name}.png"]
    if drawn:
        drawn[1].unlink(missing_ok=True)
    code, text = printed_by(name, *options, *drawn)
    told = [line for line in text.splitlines() if line.startswith(("holds: ", "DOES NOT HOLD: "))]
    failed = [line for line in told if line.startswith("DOES")]
    assert len(told) == claims and code == (1 if failed else 0), text
    assert all(any(word in line for word in but) for line in failed), text
    assert not drawn or drawn[1].stat().st_size > 0
    return text
