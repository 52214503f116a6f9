// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Binary arrays (npy, IDX): element types and how a stream of them becomes a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "read/table.h"

namespace mercer::cli {

class ByteSource;

struct ElementType {
  char kind;  // 'u' unsigned, 'i' signed, 'f' floating
  int bytes;  // 1, 2, 4, 8
  bool big_endian;
  std::string name;  // as the file spells it, for messages
};

/// Reads the elements of an array of `shape` (the first extent counts rows, the others are
/// flattened) to the end of the source. column_major: Fortran order, of at most two dimensions.
/// Sizes are checked against overflow and grow with the data that really arrives. Fails for a
/// truncated file, trailing bytes, infinity, and NaN unless the table may lack values (naming row
/// and column).
void read_array(ByteSource& source, const ElementType& type, const std::vector<uint64_t>& shape,
                bool column_major, Table* table);

}  // namespace mercer::cli
