# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The library by ctypes, and the images of the data sets, for the scripts beside this one."""
import ctypes
import gzip
import json

import numpy as np

size = ctypes.c_int64


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


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

    def apply(self, made, X, Z):
        status = self.library.mercer_map_apply_f32(made, size(len(X)), pointer(X), size(X.shape[1]), pointer(Z),
                                                   size(Z.shape[1]))
        assert status == 0, self.library.mercer_last_error()

    def apply_csr(self, made, X, Z):
        """X: a scipy.sparse.csr_matrix of float32 with 32-bit indices."""
        status = self.library.mercer_map_apply_csr32_f32(made, size(X.shape[0]), size(X.nnz), pointer(X.indptr),
                                                         pointer(X.indices), pointer(X.data), None, pointer(Z),
                                                         size(Z.shape[1]))
        assert status == 0, self.library.mercer_last_error()

    def variance(self, made, X, Y):
        """Of the estimate of k(x_i, y_i), in closed form."""
        X, Y = np.ascontiguousarray(X, np.float64), np.ascontiguousarray(Y, np.float64)
        variance = np.empty(len(X))
        status = self.library.mercer_map_variance_f64(made, size(len(X)), pointer(X), size(X.shape[1]), pointer(Y),
                                                      size(Y.shape[1]), pointer(variance))
        assert status == 0, self.library.mercer_last_error()
        return variance

    def free(self, made):
        self.library.mercer_map_free(made)


def read_images(path):
    raw = np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8)
    return raw[16:].reshape(-1, 784).astype(np.float64) / 255
