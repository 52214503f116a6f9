// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// IDX (the format of MNIST): 0 0 type dimensions, big-endian extents, big-endian elements.
// Source: LeCun, Cortes, Burges, "The MNIST database", file format section.
#include <cstdint>

#include "failure.h"
#include "read/byte_source.h"
#include "read/number_array.h"
#include "read/table.h"

namespace mercer::cli {

namespace {

ElementType element_type(unsigned char code, const std::string& name) {
  switch (code) {
    case 0x08:
      return {'u', 1, true, "unsigned byte"};
    case 0x09:
      return {'i', 1, true, "signed byte"};
    case 0x0b:
      return {'i', 2, true, "short"};
    case 0x0c:
      return {'i', 4, true, "int"};
    case 0x0d:
      return {'f', 4, true, "float"};
    case 0x0e:
      return {'f', 8, true, "double"};
    default:
      fail_at(name, 0, 0, "IDX element type " + std::to_string(code) + " does not exist");
  }
}

}  // namespace

Table read_idx(ByteSource& source) {
  unsigned char magic[4];
  source.read_exactly(reinterpret_cast<char*>(magic), 4, "the IDX header");
  if (magic[0] != 0 || magic[1] != 0)
    fail_at(source.name(), 0, 0, "not an IDX file (it must start with two zero bytes)");
  const ElementType type = element_type(magic[2], source.name());
  if (magic[3] == 0) fail_at(source.name(), 0, 0, "IDX header with 0 dimensions");
  std::vector<uint64_t> shape;
  for (int k = 0; k < magic[3]; ++k) {
    unsigned char extent[4];
    source.read_exactly(reinterpret_cast<char*>(extent), 4, "the IDX header");
    shape.push_back(uint64_t{extent[0]} << 24 | uint64_t{extent[1]} << 16 |
                    uint64_t{extent[2]} << 8 | extent[3]);
  }
  Table table;
  table.format = Format::idx;
  table.bytes = type.kind == 'u' && shape.size() >= 2;
  read_array(source, type, shape, false, &table);
  return table;
}

}  // namespace mercer::cli
