// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A graph of ONNX (operator set 13) on rows of doubles, as the bytes of its file: messages of Protocol Buffers, whose numbers
// of fields are those of onnx.proto.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/view.hpp"

namespace mercer::cli {

/// Fields in the order in which they are added.
class ProtoMessage {
 public:
  ProtoMessage& number(int field, uint64_t value);
  ProtoMessage& bytes(int field, std::string_view value);
  ProtoMessage& message(int field, const ProtoMessage& value) { return bytes(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value);
  std::string bytes_;
};

/// Of an input "x", any number of rows of d numbers.
class OnnxGraph {
 public:
  explicit OnnxGraph(int64_t d);
  void constant(const char* name, std::initializer_list<int64_t> shape, const double* values);
  void constant(const char* name, const Matrix<double>& values) {
    constant(name, {values.rows(), values.cols()}, values.view().data);
  }
  /// axis < 0: the operator has none.
  void node(const char* op, const std::vector<std::string>& inputs, const char* output,
            int64_t axis = -1);
  void output(const char* name, int64_t columns);
  /// Of the file.
  std::string bytes() const;

 private:
  ProtoMessage nodes_, constants_, inputs_, outputs_;
};

}  // namespace mercer::cli
