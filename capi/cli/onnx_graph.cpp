// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "onnx_graph.h"

#include <bit>

namespace mercer::cli {
namespace {

constexpr uint64_t kDouble = 11, kInteger = 2;  // types of tensors and attributes

/// A value of rows, any number of them.
ProtoMessage value_of(const char* name, int64_t columns) {
  ProtoMessage rows, numbers, shape, tensor, type, value;
  rows.bytes(2, "rows");
  numbers.number(1, static_cast<uint64_t>(columns));
  shape.message(1, rows).message(1, numbers);
  tensor.number(1, kDouble).message(2, shape);
  type.message(1, tensor);
  return value.bytes(1, name).message(2, type);
}

/// Little-endian whatever the machine.
std::string raw_of(const double* values, int64_t count) {
  std::string raw;
  raw.reserve(static_cast<size_t>(8 * count));
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint64_t>(values[i]);
    for (int shift = 0; shift < 64; shift += 8) raw += static_cast<char>(bits >> shift & 0xff);
  }
  return raw;
}

}  // namespace

void ProtoMessage::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

ProtoMessage& ProtoMessage::number(int field, uint64_t value) {
  varint(static_cast<uint64_t>(field) << 3);
  varint(value);
  return *this;
}

ProtoMessage& ProtoMessage::bytes(int field, std::string_view value) {
  varint(static_cast<uint64_t>(field) << 3 | 2);
  varint(value.size());
  bytes_ += value;
  return *this;
}

OnnxGraph::OnnxGraph(int64_t d) { inputs_.message(11, value_of("x", d)); }

void OnnxGraph::constant(const char* name, std::initializer_list<int64_t> shape,
                         const double* values) {
  ProtoMessage tensor;
  int64_t count = 1;
  for (const int64_t size : shape) {
    tensor.number(1, static_cast<uint64_t>(size));
    count *= size;
  }
  tensor.number(2, kDouble).bytes(8, name).bytes(9, raw_of(values, count));
  constants_.message(5, tensor);
}

void OnnxGraph::node(const char* op, const std::vector<std::string>& inputs, const char* output,
                     int64_t axis) {
  ProtoMessage node;
  for (const std::string& input : inputs) node.bytes(1, input);
  node.bytes(2, output).bytes(3, output).bytes(4, op);
  ProtoMessage attribute;
  attribute.bytes(1, "axis").number(3, static_cast<uint64_t>(axis)).number(20, kInteger);
  if (axis >= 0) node.message(5, attribute);
  nodes_.message(1, node);
}

void OnnxGraph::output(const char* name, int64_t columns) {
  outputs_.message(12, value_of(name, columns));
}

std::string OnnxGraph::bytes() const {
  constexpr uint64_t kFormat = 7, kOperators = 13;
  ProtoMessage name, graph, operators, model;
  name.bytes(2, "model");
  operators.bytes(1, "").number(2, kOperators);
  const std::string parts =
      nodes_.bytes() + name.bytes() + constants_.bytes() + inputs_.bytes() + outputs_.bytes();
  model.number(1, kFormat).bytes(2, "mercer").bytes(7, parts).message(8, operators);
  return model.bytes();
}

}  // namespace mercer::cli
