// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that are no numbers, or outside the kernel's domain: NaN in that row, and not a byte of any
// other changes.
#include "contract/cells.h"
#include "contract/row_kinds.h"

namespace damage {
using namespace mercer;
using namespace mercer::test;

constexpr int64_t kRows = 24, kNan = 17, kInfinite = 5, kOutside = 11;

// The columns of Z that change with input j, in any of several rows.
std::vector<int64_t> columns_of_input(const FeatureMap& map, const Matrix<double>& X, int64_t j,
                                      bool bounded) {
  const Matrix<double> Z = features_of(map, X);
  std::vector<int64_t> columns;
  for (const double factor : {bounded ? 0.0 : -1.0, 0.7, 1.9, 5.0}) {
    Matrix<double> moved = converted<double>(X);
    for (int64_t i = 0; i < X.rows(); ++i) moved(i, j) *= factor;
    const Matrix<double> other = features_of(map, moved);
    for (int64_t c = 0; c < Z.cols(); ++c)
      for (int64_t i = 0; i < Z.rows(); ++i)
        if (other(i, c) != Z(i, c)) columns.push_back(c);
  }
  return columns;
}

// "" if row i of Z is not finite in these columns, of which there are some; for NaN inputs NaN.
template <class T>
std::string damage_fault(MatrixView<T> Z, int64_t i, const std::vector<int64_t>& columns,
                         bool nan) {
  if (columns.empty()) return "no column changes with this input";
  for (const int64_t c : columns)
    if (nan ? !std::isnan(Z(i, c)) : std::isfinite(Z(i, c)))
      return "column " + std::to_string(c) + " is not damaged";
  return "";
}

template <class T>
void check(const Cell& cell) {
  const int64_t d = kInputs;
  const std::optional<int64_t> D = cell.features(d, 34);
  INFO(cell.label() << ", bytes " << sizeof(T));
  REQUIRE(D.has_value());
  const auto map = cell.make(d, *D, 3);
  const Matrix<T> clean = converted<T>(rows_for(cell.row(), kRows, d, 4));
  Matrix<T> X = converted<T>(clean);
  const bool bounded = std::isfinite(cell.row().domain);
  X(kNan, d - 1) = static_cast<T>(NAN);
  X(kInfinite, 1) = static_cast<T>(INFINITY);
  if (bounded) X(kOutside, 0) = static_cast<T>(cell.row().domain - 0.25);
  SparseRows<T> sparse;
  sparse.cols = d;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < d; ++j) sparse.add(j, X(i, j));
    sparse.end_row();
  }
  const Matrix<double> undamaged = converted<double>(clean);
  const auto reached = [&](int64_t j) { return columns_of_input(*map, undamaged, j, bounded); };
  const auto first = reached(0), second = reached(1), last = reached(d - 1);
  for (const Input<T>& rows : {Input<T>(X), Input<T>(sparse.view())}) {
    const Matrix<T> Z = features_of(*map, rows);
    CHECK(damage_fault(Z.view(), kNan, last, true) == "");
    // At infinity stationary kernels are 0: what is made of their values may well be finite.
    if (cell.is_estimate() || cell.law().law == Law::same)
      CHECK(damage_fault(Z.view(), kInfinite, second, false) == "");
    if (bounded) CHECK(damage_fault(Z.view(), kOutside, first, true) == "");
    // The others: those of the same rows without the damaged ones' neighbours.
    for (int64_t i = 0; i < kRows; ++i) {
      if (i == kNan || i == kInfinite || (bounded && i == kOutside)) continue;
      const Matrix<T> alone = features_of(*map, rows.block_rows(i, i + 1));
      const bool same = std::memcmp(alone.data(), Z.view().row(i),
                                    static_cast<size_t>(Z.cols()) * sizeof(T)) == 0;
      if (!same || std::any_of(Z.view().row(i), Z.view().row(i) + Z.cols(),
                               [](T z) { return !std::isfinite(z); }))
        FAIL_CHECK("row " << i << " is damaged");
    }
  }
  const double outside = cell.row().domain - 0.25, inside = 1;
  if (bounded) CHECK(std::isnan(cell.kernel().value(1, &outside, &inside)));
}

TEST_CASE("contract: NaN, Inf and inputs outside the domain stay in their row") {
  for (const Cell& cell : made_cells()) {
    check<float>(cell);
    check<double>(cell);
  }
}

}  // namespace damage
