// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "row_arguments.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

#include "csr_arguments.h"

namespace mercer::capi {
namespace {

/// A view that is passed by value is never NULL, and is as long as this library knows it.
template <class View>
void check_view(const char* name, const View& view, const char* noun, const char* expected) {
  require(is_given(view), MERCER_INVALID_ARGUMENT, "%s is missing, expected %s", name, noun);
  require(view.struct_size == sizeof view, MERCER_INVALID_ARGUMENT,
          "%s.struct_size = %u, expected %s of %zu bytes", name, view.struct_size, expected,
          sizeof view);
}

template <class T>
RowsArgument dense_rows(const char* name, const mercer_rows& view) {
  const Argument<const T> X{name, {static_cast<const T*>(view.values), view.n, view.d, view.ld}};
  check_view_extent(X.extent(), "values", "n", "ld");
  return {name, Rows(X.view), {X.extent()}};
}

/// Rows of bfloat16 as floats.
RowsArgument wide_rows(const char* name, const mercer_rows& view, Context& context) {
  require(view.index == MERCER_INDEX_NONE, MERCER_UNSUPPORTED,
          "%s.number = MERCER_NUMBER_BF16 of sparse rows, expected dense ones", name);
  const Argument<const uint16_t> X{
      name, {static_cast<const uint16_t*>(view.values), view.n, view.d, view.ld}};
  check_view_extent(X.extent(), "values", "n", "ld");
  const auto wide = std::make_shared<Matrix<float>>(view.n, view.d, context, "rows of bfloat16");
  for (int64_t i = 0; i < view.n; ++i) {
    for (int64_t j = 0; j < view.d; ++j)
      (*wide)(i, j) = std::bit_cast<float>(static_cast<uint32_t>(X.view(i, j)) << 16);
  }
  return {name, Rows(wide->view()), {X.extent()}, wide};
}

/// Runs check(), whose message begins with a member of the rows, and puts the rows' name in front.
template <class Check>
auto named(const char* name, const Check& check) {
  try {
    return check();
  } catch (const Error& error) {
    if (error.status() != MERCER_INVALID_ARGUMENT) throw;
    ErrorFields fields = error.fields();
    fields.argument = std::string(name) + "." + fields.argument;
    throw Error(error.status(), std::move(fields));
  }
}

template <class T, class Index>
RowsArgument csr_rows(const char* name, const mercer_rows& view, Context& context) {
  const auto* offsets = static_cast<const Index*>(view.offsets);
  const auto* indices = static_cast<const Index*>(view.indices);
  const auto* values = static_cast<const T*>(view.values);
  const auto arrays = named(name, [&] {
    const auto checked = csr(view.n, view.nnz, offsets, indices, values);
    check_csr_numbers(view.n, view.d, view.nnz, offsets, indices, context);
    return checked;
  });
  return {name,
          Rows(CsrView<T>{view.n, view.d, offsets, indices, values}),
          {arrays.offsets.extent(), arrays.indices.extent(), arrays.values.extent()}};
}

template <class T>
RowsArgument rows_of(const char* name, const mercer_rows& view, Context& context) {
  if (view.index == MERCER_INDEX_NONE) return dense_rows<T>(name, view);
  if (view.index == MERCER_INDEX_I32) return csr_rows<T, int32_t>(name, view, context);
  return csr_rows<T, int64_t>(name, view, context);
}

void check_member(const char* name, const char* member, int64_t value, int64_t least, int64_t most,
                  const char* expected) {
  require(value >= least && value <= most, MERCER_INVALID_ARGUMENT, "%s.%s = %ld, expected %s",
          name, member, value, expected);
}

void check_shape(const char* name, const mercer_matrix& matrix, int64_t rows, int64_t cols) {
  check_matrix(name, matrix);
  require(matrix.rows == rows && matrix.cols == cols, MERCER_DIMENSION_MISMATCH,
          "%s is %ld x %ld, expected %ld x %ld", name, matrix.rows, matrix.cols, rows, cols);
}

template <class T>
Extent extent_of(const char* name, const mercer_matrix& read, int64_t per_column) {
  constexpr int64_t kMost = INT64_MAX / 2;
  require(read.cols <= kMost && read.ld <= kMost, MERCER_INVALID_ARGUMENT,
          "%s.ld = %ld, expected %s to fit the address space", name, read.ld, name);
  // Counted in the caller's columns, not in reals.
  require(read.rows == 0 || read.cols == 0 || read.ld >= read.cols, MERCER_INVALID_ARGUMENT,
          "%s.ld = %ld, expected at least the %ld columns of %s", name, read.ld, read.cols, name);
  const Extent extent{name,
                      read.data,
                      read.rows,
                      per_column * read.cols,
                      per_column * read.ld,
                      static_cast<int64_t>(sizeof(T))};
  check_view_extent(extent, "data", "rows", "ld");
  return extent;
}

}  // namespace

bool RowsArgument::is_f32() const {
  return rows.visit([](const auto& X) { return std::is_same_v<RowNumberOf<decltype(X)>, float>; });
}

bool is_given(const mercer_rows& rows) {
  const mercer_rows absent{};
  return std::memcmp(&rows, &absent, sizeof absent) != 0;
}

bool is_given(const mercer_matrix& matrix) {
  const mercer_matrix absent{};
  return std::memcmp(&matrix, &absent, sizeof absent) != 0;
}

RowsArgument read_rows(const char* name, const mercer_rows& view, Context& context) {
  check_view(name, view, "rows", "a mercer_rows");
  const bool wide = view.number == MERCER_NUMBER_BF16;
  check_member(name, "number", wide ? MERCER_NUMBER_F32 : view.number, MERCER_NUMBER_F32,
               MERCER_NUMBER_F64, "MERCER_NUMBER_F32, MERCER_NUMBER_F64 or MERCER_NUMBER_BF16");
  check_member(name, "index", view.index, MERCER_INDEX_NONE, MERCER_INDEX_I64, "a mercer_index");
  check_member(name, "reserved", view.reserved, 0, 0, "0");
  check_member(name, "n", view.n, 0, INT64_MAX, "at least 0");
  check_member(name, "d", view.d, 0, INT64_MAX, "at least 0");
  if (wide) return wide_rows(name, view, context);
  return view.number == MERCER_NUMBER_F32 ? rows_of<float>(name, view, context)
                                          : rows_of<double>(name, view, context);
}

RowsArgument read_rows(const char* name, const mercer_rows& rows, int64_t d, const char* columns,
                       Context& context) {
  check_view(name, rows, "rows", "a mercer_rows");
  // This precedes the check of indices of sparse rows, which depends on d.
  require(d == kAnyColumns || rows.d == d, MERCER_DIMENSION_MISMATCH,
          "%s.d = %ld, expected %s, %ld", name, rows.d, columns, d);
  return read_rows(name, rows, context);
}

void check_same_rows(const RowsArgument& a, const RowsArgument& b) {
  require(a.n() == b.n(), MERCER_DIMENSION_MISMATCH, "%s.n = %ld, expected %ld as in %s", a.name,
          a.n(), b.n(), b.name);
}

void check_matrix(const char* name, const mercer_matrix& matrix) {
  check_view(name, matrix, "a matrix", "a mercer_matrix");
}

template <class T>
DenseRows<T>::DenseRows(const RowsArgument& argument, Context& context) {
  argument.rows.visit([&](const auto& X) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(X)>, MatrixView<const T>>) {
      view_ = X;
    } else {
      copy_ = Matrix<T>(X.rows, X.cols, context, "rows made dense");
      copy_.fill(0);
      const MatrixView<T> copy = copy_.view();
      for (int64_t i = 0; i < X.rows; ++i) {
        for_each_stored(X, i, [&](int64_t j, auto value) { copy(i, j) += static_cast<T>(value); });
      }
      view_ = copy;
    }
  });
}

template class DenseRows<float>;
template class DenseRows<double>;

Result::Result(const char* name, const mercer_matrix& read, int64_t rows, int64_t cols,
               Context& context, bool integers) {
  check_shape(name, read, rows, cols);
  const bool whole = integers && read.number == MERCER_NUMBER_I32;
  if (!whole)
    check_member(
        name, "number", read.number, MERCER_NUMBER_F32, MERCER_NUMBER_F64,
        integers ? "MERCER_NUMBER_F32, F64 or I32" : "MERCER_NUMBER_F32 or MERCER_NUMBER_F64");
  if (read.number == MERCER_NUMBER_F64) {
    extent_ = extent_of<double>(name, read, 1);
    view_ = {static_cast<double*>(read.data), rows, cols, read.ld};
    return;
  }
  extent_ = extent_of<float>(name, read, 1);  // as large as int32_t
  if (whole)
    integers_ = {static_cast<int32_t*>(read.data), rows, cols, read.ld};
  else
    narrow_ = {static_cast<float*>(read.data), rows, cols, read.ld};
  copy_ = Matrix<double>(rows, cols, context, "the result in double");
  view_ = copy_.view();
}

void Result::check_apart(const RowsArgument& rows) const { capi::check_apart(extent_, rows); }

void Result::finish() const {
  for (int64_t i = 0; i < narrow_.rows; ++i)
    for (int64_t j = 0; j < narrow_.cols; ++j) narrow_(i, j) = static_cast<float>(view_(i, j));
  for (int64_t i = 0; i < integers_.rows; ++i)
    for (int64_t j = 0; j < integers_.cols; ++j)
      integers_(i, j) = static_cast<int32_t>(view_(i, j));
}

void Result::check(MatrixView<const double> numbers) const {
  check_answers(extent_.name, numbers, narrow_.data != nullptr);
}

void Result::write(MatrixView<const double> numbers) const {
  check(numbers);
  for (int64_t i = 0; i < numbers.rows; ++i)
    std::copy_n(numbers.row(i), numbers.cols, view_.row(i));
  finish();
}

FeatureMatrix read_feature_matrix(const char* name, const mercer_matrix& read, int64_t rows,
                                  int64_t cols, bool f32, bool is_complex) {
  check_shape(name, read, rows, cols);
  constexpr const char* kNames[] = {"MERCER_NUMBER_F32", "MERCER_NUMBER_F64", "MERCER_NUMBER_C32",
                                    "MERCER_NUMBER_C64"};
  const int32_t expected = (is_complex ? MERCER_NUMBER_C32 : MERCER_NUMBER_F32) + (f32 ? 0 : 1);
  check_member(name, "number", read.number, MERCER_NUMBER_F32, MERCER_NUMBER_C64,
               "a mercer_number");
  require(read.number == expected, MERCER_UNSUPPORTED,
          "%s.number = %s, expected %s: the map is %s and the rows are %s", name,
          kNames[read.number], kNames[expected], is_complex ? "complex" : "real",
          f32 ? "f32" : "f64");
  const int64_t per_column = is_complex ? 2 : 1;
  return {
      f32 ? extent_of<float>(name, read, per_column) : extent_of<double>(name, read, per_column),
      read};
}

void check_apart(const Extent& output, const RowsArgument& rows) {
  for (const Extent& array : rows.arrays) check_disjoint(output, array);
}

}  // namespace mercer::capi
