// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "onnx_graph.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

namespace mercer::cli {
namespace {

constexpr const char* kInput = "x";
constexpr uint64_t kDouble = 11, kInteger = 2;  // types of tensors and attributes

const std::map<std::string_view, double (*)(double)> kOfOne = {
    {"Abs", std::abs},
    {"Cos", std::cos},
    {"Exp", std::exp},
    {"Log", std::log},
    {"Sqrt", std::sqrt},
    {"Sin", std::sin},
    {"Sign", [](double x) { return x > 0   ? 1.0
                                   : x < 0 ? -1.0
                                           : x; }}};
const std::map<std::string_view, double (*)(double, double)> kOfTwo = {
    {"Add", [](double a, double b) { return a + b; }},
    {"Sub", [](double a, double b) { return a - b; }},
    {"Mul", [](double a, double b) { return a * b; }},
    {"Div", [](double a, double b) { return a / b; }},
    {"Max", [](double a, double b) { return a < b ? b : a; }},
    {"Min", [](double a, double b) { return a > b ? b : a; }},
    {"Pow", std::pow}};

Matrix<double> each(double (*of)(double, double), const Matrix<double>& a,
                    const Matrix<double>& b) {
  Matrix<double> out(std::max(a.rows(), b.rows()), std::max(a.cols(), b.cols()));
  const auto at = [](const Matrix<double>& m, int64_t i, int64_t j) {
    return m(m.rows() > 1 ? i : 0, m.cols() > 1 ? j : 0);
  };
  for (int64_t i = 0; i < out.rows(); ++i)
    for (int64_t j = 0; j < out.cols(); ++j) out(i, j) = of(at(a, i, j), at(b, i, j));
  return out;
}

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
std::string raw_of(const Matrix<double>& numbers) {
  std::string raw;
  raw.reserve(static_cast<size_t>(8 * numbers.rows() * numbers.cols()));
  for (int64_t i = 0; i < numbers.rows() * numbers.cols(); ++i) {
    const auto bits = std::bit_cast<uint64_t>(numbers.view().data[i]);
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

Value of_one(const char* op, const Value& a) {
  Matrix<double> out = *a.probes;
  for (int64_t i = 0; i < out.rows() * out.cols(); ++i)
    out.view().data[i] = kOfOne.at(op)(out.view().data[i]);
  return a.graph->node(op, {a}, std::move(out));
}

Value of_two(const char* op, const Value& a, const Value& b) {
  OnnxGraph& graph = a.graph != nullptr ? *a.graph : *b.graph;
  return graph.node(op, {a, b}, each(kOfTwo.at(op), *a.probes, *b.probes));
}

Value where_missing(const Value& a, const Value& b, const Value& c) {
  const auto is_missing = [](double x, double) { return std::isnan(x) ? 1.0 : 0.0; };
  const Value missing = a.graph->node("IsNaN", {a}, each(is_missing, *a.probes, *b.probes));
  const Value weighed = a.graph->node("Where", {missing, b, c}, Matrix<double>(*missing.probes));
  for (int64_t i = 0; i < weighed.probes->rows(); ++i)
    for (int64_t j = 0; j < weighed.cols(); ++j) {
      const Matrix<double>& from = (*missing.probes)(i, j) != 0 ? *b.probes : *c.probes;
      (*weighed.probes)(i, j) = from(from.rows() > 1 ? i : 0, from.cols() > 1 ? j : 0);
    }
  return weighed;
}

Value product(const Value& a, const Value& b) {
  const Matrix<double>&A = *a.probes, &B = *b.probes;
  Matrix<double> out(A.rows(), B.cols());
  for (int64_t i = 0; i < A.rows(); ++i)
    for (int64_t k = 0; k < A.cols(); ++k)
      for (int64_t j = 0; j < B.cols(); ++j) out(i, j) += A(i, k) * B(k, j);
  return a.graph->node("MatMul", {a, b}, std::move(out));
}

Value column(const Value& a, int64_t k) {
  Matrix<double> unit(a.cols(), 1);
  unit(k, 0) = 1;
  return product(a, unit);
}

Value beside(const std::vector<Value>& parts) {
  int64_t columns = 0;
  for (const Value& part : parts) columns += part.cols();
  Matrix<double> out(parts[0].probes->rows(), columns);
  for (int64_t i = 0; i < out.rows(); ++i) {
    int64_t to = 0;
    for (const Value& part : parts)
      for (int64_t j = 0; j < part.cols(); ++j) out(i, to++) = (*part.probes)(i, j);
  }
  return parts[0].graph->node("Concat", parts, std::move(out), 1);
}

Value softmax(const Value& a) {
  Matrix<double> out = *a.probes;
  for (int64_t i = 0; i < out.rows(); ++i) {
    double sum = 0;
    const double first = out(i, 0);  // scores of a row are not far apart
    for (int64_t k = 0; k < out.cols(); ++k) sum += out(i, k) = std::exp(out(i, k) - first);
    for (int64_t k = 0; k < out.cols(); ++k) out(i, k) /= sum;
  }
  return a.graph->node("Softmax", {a}, std::move(out), 1);
}

OnnxGraph::OnnxGraph(const Matrix<double>& probes) : x_(probes) {
  x_.graph = this;
  x_.name = kInput;
  inputs_.message(11, value_of(kInput, probes.cols()));
}

void OnnxGraph::make_constant(Value* value) {
  value->name = "c" + std::to_string(made_++);
  const Matrix<double>& numbers = *value->probes;
  ProtoMessage tensor;
  for (const int64_t size : {numbers.rows(), numbers.cols()})
    tensor.number(1, static_cast<uint64_t>(size));
  tensor.number(2, kDouble).bytes(8, value->name).bytes(9, raw_of(numbers));
  constants_.message(5, tensor);
}

Value OnnxGraph::node(const char* op, std::vector<Value> of, Matrix<double>&& probes, int axis) {
  ProtoMessage node, attribute;
  for (Value& value : of) {
    if (value.name.empty()) make_constant(&value);
    node.bytes(1, value.name);
  }
  Value made(probes);
  made.graph = this;
  made.name = "v" + std::to_string(made_++);
  node.bytes(2, made.name).bytes(3, made.name).bytes(4, op);
  attribute.bytes(1, "axis").number(3, static_cast<uint64_t>(axis)).number(20, kInteger);
  nodes_.message(1, axis < 0 ? node : node.message(5, attribute));
  return made;
}

void OnnxGraph::output(const char* name, const Value& value) {
  ProtoMessage node;
  nodes_.message(1, node.bytes(1, value.name).bytes(2, name).bytes(4, "Identity"));
  outputs_.message(12, value_of(name, value.cols()));
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
