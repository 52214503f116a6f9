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

struct CodedType {
  unsigned char code;
  ElementType type;
};
const CodedType kTypes[] = {
    {0x08, {'u', 1, true, "unsigned byte"}}, {0x09, {'i', 1, true, "signed byte"}},
    {0x0b, {'i', 2, true, "short"}},         {0x0c, {'i', 4, true, "int"}},
    {0x0d, {'f', 4, true, "float"}},         {0x0e, {'f', 8, true, "double"}}};

ElementType element_type(unsigned char code, const std::string& name) {
  for (const CodedType& known : kTypes) {
    if (known.code == code) return known.type;
  }
  fail_at(name, 0, 0, "IDX element type " + std::to_string(code) + " does not exist");
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
