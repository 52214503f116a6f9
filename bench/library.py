# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The library by ctypes, and the images of the data sets, for the scripts beside this one."""
import ctypes
import gzip
import json

import numpy as np

size, address = ctypes.c_int64, ctypes.c_void_p


class Rows(ctypes.Structure):
    """mercer_rows."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("number", ctypes.c_int32), ("index", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("n", size), ("d", size), ("ld", size), ("nnz", size),
                ("values", address), ("offsets", address), ("indices", address)]


class Matrix(ctypes.Structure):
    """mercer_matrix."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("number", ctypes.c_int32), ("rows", size), ("cols", size),
                ("ld", size), ("data", address)]


class MapData(ctypes.Structure):
    """mercer_map_data."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_int32), ("kernel", address), ("X", Rows),
                ("Y", Rows), ("frequencies", Rows), ("weights", Rows), ("roots", Rows)]


NUMBERS = {np.dtype(np.float32): 0, np.dtype(np.float64): 1, np.dtype(np.complex64): 2, np.dtype(np.complex128): 3}
INDICES = {np.dtype(np.int32): 1, np.dtype(np.int64): 2}


def rows(X):
    """A view of the rows of an array, or of a scipy.sparse.csr_matrix, which must outlive it."""
    if isinstance(X, np.ndarray):
        return Rows(ctypes.sizeof(Rows), NUMBERS[X.dtype], 0, 0, *X.shape, X.strides[0] // X.itemsize, 0, X.ctypes.data)
    return Rows(ctypes.sizeof(Rows), NUMBERS[X.dtype], INDICES[X.indices.dtype], 0, *X.shape, 0, X.nnz,
                X.data.ctypes.data, X.indptr.ctypes.data, X.indices.ctypes.data)


def matrix(Z):
    return Matrix(ctypes.sizeof(Matrix), NUMBERS[Z.dtype], *Z.shape, Z.strides[0] // Z.itemsize, Z.ctypes.data)


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.mercer_last_error.restype = ctypes.c_char_p

    def map(self, spec):
        """A map from its spec, or None with the library's reason if it is refused."""
        made = ctypes.c_void_p()
        if self.library.mercer_map_from_spec(json.dumps(spec).encode(), ctypes.byref(made)) != 0:
            return None, self.library.mercer_last_error().decode()
        return made, ""

    def fit(self, spec, X):
        """A map made from rows."""
        made = ctypes.c_void_p()
        data = MapData(struct_size=ctypes.sizeof(MapData), X=rows(X))
        status = self.library.mercer_map_fit(json.dumps(spec).encode(), ctypes.byref(data), None, ctypes.byref(made))
        assert status == 0, self.library.mercer_last_error()
        return made

    def spec(self, made):
        """What the map says of itself."""
        needed = size()
        self.library.mercer_map_spec(made, None, size(0), ctypes.byref(needed))
        text = ctypes.create_string_buffer(needed.value)
        status = self.library.mercer_map_spec(made, text, needed, ctypes.byref(needed))
        assert status == 0, self.library.mercer_last_error()
        return json.loads(text.value)

    def apply(self, made, X, Z):
        """Z = the features of the rows of X, dense or sparse, of one precision."""
        status = self.library.mercer_map_transform(made, rows(X), None, None, matrix(Z))
        assert status == 0, self.library.mercer_last_error()

    def variance(self, made, X, Y):
        """Of the estimate of k(x_i, y_i), in closed form."""
        variance = np.empty(len(X))
        status = self.library.mercer_map_variance(made, rows(X), rows(Y), 0, None,
                                                  address(variance.ctypes.data))
        assert status == 0, self.library.mercer_last_error()
        return variance

    def free(self, made):
        self.library.mercer_map_free(made)


def read_images(path):
    raw = np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8)
    return raw[16:].reshape(-1, 784).astype(np.float64) / 255
