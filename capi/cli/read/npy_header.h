// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The header of a .npy file: a Python dictionary literal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "read/number_array.h"

namespace mercer::cli {

struct NpyHeader {
  ElementType type;
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

/// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }; fails naming what is wrong.
NpyHeader parse_npy_header(std::string_view text, const std::string& name);

}  // namespace mercer::cli
