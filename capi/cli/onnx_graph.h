// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A graph of ONNX (operator set 13) on rows of doubles, as the bytes of its file: messages of
// Protocol Buffers, whose numbers of fields are those of onnx.proto. Each operator is also applied
// to probes as it is added, so that the graph can be compared.
#pragma once

#include <cstdint>
#include <memory>
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

class OnnxGraph;

/// A value of a graph: its name, and what it is for the probes. Numbers and matrices become
/// constants where an operator reads them; a row, column or number serves all rows and columns.
struct Value {
  Value(double number) : probes(std::make_shared<Matrix<double>>(1, 1)) {
    (*probes)(0, 0) = number;
  }
  Value(const Matrix<double>& numbers) : probes(std::make_shared<Matrix<double>>(numbers)) {}
  int64_t cols() const { return probes->cols(); }

  OnnxGraph* graph = nullptr;
  std::string name;
  std::shared_ptr<Matrix<double>> probes;
};

/// Operators of ONNX by element.
Value of_one(const char* op, const Value& a);
Value of_two(const char* op, const Value& a, const Value& b);
inline Value operator+(const Value& a, const Value& b) { return of_two("Add", a, b); }
inline Value operator-(const Value& a, const Value& b) { return of_two("Sub", a, b); }
inline Value operator*(const Value& a, const Value& b) { return of_two("Mul", a, b); }
inline Value operator/(const Value& a, const Value& b) { return of_two("Div", a, b); }
/// Of matrices.
Value product(const Value& a, const Value& b);
Value column(const Value& a, int64_t k);
Value beside(const std::vector<Value>& parts);
Value softmax(const Value& a);
/// b where a is NaN, else c.
Value where_missing(const Value& a, const Value& b, const Value& c);

/// Of an input "x", any number of rows as long as the probes.
class OnnxGraph {
 public:
  explicit OnnxGraph(const Matrix<double>& probes);
  const Value& x() const { return x_; }
  /// axis < 0: the operator has none.
  Value node(const char* op, std::vector<Value> of, Matrix<double>&& probes, int axis = -1);
  void output(const char* name, const Value& value);
  /// Of the file.
  std::string bytes() const;

 private:
  void make_constant(Value* value);

  ProtoMessage nodes_, constants_, inputs_, outputs_;
  int64_t made_ = 0;
  Value x_;
};

}  // namespace mercer::cli
