// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// .npy files, versions 1 to 3: magic, version, header length, dictionary, elements. Source:
// numpy.lib.format.
#include <cstdint>
#include <cstring>

#include "failure.h"
#include "read/byte_source.h"
#include "read/npy_header.h"
#include "read/table.h"

namespace mercer::cli {

namespace {

// As Python writes a tuple.
std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text = "(";
  for (size_t k = 0; k < shape.size(); ++k) {
    if (k > 0) text += ", ";
    text += std::to_string(shape[k]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string header_text(ByteSource& source) {
  unsigned char start[8];
  source.read_exactly(reinterpret_cast<char*>(start), 8, "the npy header");
  if (std::memcmp(start, "\x93NUMPY", 6) != 0)
    fail_at(source.name(), 0, 0, "not an npy file (bad magic)");
  if (start[6] < 1 || start[6] > 3) {
    fail_at(source.name(), 0, 0,
            "npy version " + std::to_string(start[6]) + ", expected 1, 2 or 3");
  }
  unsigned char size[4] = {0, 0, 0, 0};
  source.read_exactly(reinterpret_cast<char*>(size), start[6] == 1 ? 2 : 4, "the npy header");
  const uint32_t length =
      size[0] | uint32_t{size[1]} << 8 | uint32_t{size[2]} << 16 | uint32_t{size[3]} << 24;
  constexpr uint32_t kLongest = 1 << 20;  // a header of plain numbers has 128 bytes
  if (length > kLongest)
    fail_at(source.name(), 0, 0, "npy header of " + std::to_string(length) + " bytes");
  std::string text(length, '\0');
  source.read_exactly(text.data(), length, "the npy header");
  return text;
}

}  // namespace

Table read_npy(ByteSource& source, bool missing) {
  const NpyHeader header = parse_npy_header(header_text(source), source.name());
  const std::string shape = shape_text(header.shape);
  if (header.shape.size() > 2) {
    fail_at(source.name(), 0, 0,
            "shape " + shape + ", expected (rows, columns), or (rows,) for a single column");
  }
  Table table;
  table.format = Format::npy;
  table.lacking = missing;
  table.shape = " in an array of shape " + shape;
  read_array(source, header.type, header.shape, header.fortran_order, &table);
  return table;
}

}  // namespace mercer::cli
