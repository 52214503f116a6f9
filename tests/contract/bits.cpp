// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Bits: the bytes of a row of Z depend on the map and that row alone. Threads, splits of rows,
// slices of columns (each by a map that has drawn nothing yet), leading dimensions, kinds of rows,
// no rows at all.
#include "contract/cells.h"
#include "contract/row_kinds.h"
#include "feature/feature_map.h"

namespace bits {
using namespace mercer;
using namespace mercer::test;

struct Shape {
  int64_t n;
  int64_t d;
  int64_t D;
};

// Every slice of columns and piece of rows by a map of its own, into a Z with room behind its rows.
template <class T>
std::string pieces_fault(const Cell& cell, const Shape& shape, const Input<T>& X,
                         const Matrix<T>& Z) {
  const auto any = cell.make(shape.d, shape.D, 3);
  const int64_t n = shape.n, D = any->features(), reals = any->is_complex() ? 2 : 1;
  const T untouched = static_cast<T>(-1234.5);
  Matrix<T> room(n, Z.cols() + 5);
  room.fill(untouched);
  // Slices with a half of the columns, across the middle, and where few columns of both halves are
  // asked for.
  const std::vector<int64_t> all_cuts[] = {{0, D / 5, D - 3, D}, {0, 1, D / 2, D / 2 + 3, D}};
  for (const std::vector<int64_t>& cuts : all_cuts) {
    for (size_t c = 0; c + 1 < cuts.size(); ++c) {
      const int64_t j0 = std::clamp<int64_t>(cuts[c], 0, D);
      const int64_t j1 = std::clamp<int64_t>(cuts[c + 1], j0, D);
      if (j0 == j1) continue;
      const auto map = cell.make(shape.d, shape.D, 3);
      Context context;
      context.threads = 1 + static_cast<int>(c % 2);
      for (const auto& [i0, i1] : {std::pair{int64_t{0}, n / 3}, std::pair{n / 3, n}}) {
        X.block_rows(i0, i1).apply(
            *map, {j0, j1}, context,
            room.view().block_rows(i0, i1).block_cols(j0 * reals, j1 * reals));
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    if (std::memcmp(room.view().row(i), Z.view().row(i),
                    static_cast<size_t>(Z.cols()) * sizeof(T)) != 0)
      return "pieces";
    if (std::any_of(room.view().row(i) + Z.cols(), room.view().row(i) + room.cols(),
                    [&](T z) { return z != untouched; }))
      return "behind a row";
  }
  return "";
}

template <class T>
std::string bits_fault(const Cell& cell, const Shape& shape, const RowKinds<T>& kinds) {
  const auto map = cell.make(shape.d, shape.D, 3);
  Matrix<T> dense, sparse;
  for (const auto& kind : kinds.all(right_inputs_of(*map))) {
    Matrix<T>& expected = kind.sparse ? sparse : dense;
    const Matrix<T> Z = features_of(*map, kind.rows);
    // Of the other kinds, which have the same bytes, few rows are taken in pieces: that takes long.
    const bool in_pieces = expected.rows() == 0 || shape.n < 200;
    if (expected.rows() == 0) expected = features_of(*map, kind.rows);
    if (!equal_bytes(Z, expected)) return kind.name;
    for (const int threads : {2, 7}) {
      if (!equal_bytes(Z, features_of(*map, kind.rows, threads))) return kind.name + ": threads";
    }
    const std::string fault = in_pieces ? pieces_fault(cell, shape, kind.rows, Z) : "";
    if (!fault.empty()) return kind.name + ": " + fault;
    const Matrix<T> one = features_of(*map, kind.rows.block_rows(shape.n / 2, shape.n / 2 + 1));
    if (std::memcmp(one.data(), Z.view().row(shape.n / 2),
                    static_cast<size_t>(Z.cols()) * sizeof(T)) != 0)
      return kind.name + ": one row";
    Context context;
    kind.rows.block_rows(0, 0).apply(*map, {0, map->features()}, context, {nullptr, 0, Z.cols()});
  }
  return "";
}

template <class T>
void check(const Cell& cell, int64_t n, int64_t asked, int64_t wanted) {
  const int64_t d = cell.inputs(asked);
  const std::optional<int64_t> D = cell.features(d, wanted);
  if (!D) return;
  INFO(cell.label() << ", n = " << n << ", d = " << d << ", D = " << *D << ", bytes " << sizeof(T));
  const Shape shape{n, d, *D};
  CHECK(bits_fault(cell, shape, RowKinds<T>(cell, n, d, 5)) == "");
}

TEST_CASE("contract: bits depend on the row alone, small sizes") {
  for (const Cell& cell : made_cells()) {
    if (!cell.has_first_parts()) continue;
    const size_t number = cell.number();
    const int64_t d = cycled({1, 2, 3, 5, 16, 17}, number);
    check<float>(cell, 19, d, cycled({1, 37, 64, 70}, number));
    check<double>(cell, 19, d, cycled({37, 1, 70, 64}, number));
  }
}

TEST_CASE("contract: bits depend on the row alone, several tiles and threads") {
  // 230 * 17 * 290 multiply-adds wake workers; 230 rows are three tiles of dense rows, 1,600 of
  // sparse ones. Every second cell: the slow run has all of them.
  size_t number = 0;
  for (const Cell& cell : made_cells()) {
    if (!cell.is_sampled() || ++number % 2 == 0) continue;
    const bool tall = number % 5 == 0;
    const int64_t n = tall ? 1600 : 230, D = tall ? 40 : 290;
    if (number % 4 == 1) {
      check<float>(cell, n, 17, D);
    } else {
      check<double>(cell, n, 17, D);
    }
  }
}

TEST_CASE("contract: bits depend on the row alone, every size", "[slow]") {
  for (const Cell& cell : made_cells()) {
    for (const int64_t d : {1, 2, 3, 5, 16, 17}) {
      for (const int64_t D : {37, 130}) {
        check<float>(cell, 101, d, D);
        check<double>(cell, 101, d, D);
      }
    }
    if (cell.is_sampled()) check<float>(cell, 120, 33, 1100);
    if (cell.is_sampled()) check<float>(cell, 230, 17, 290);
    if (cell.is_sampled()) check<double>(cell, 1600, 17, 40);
  }
}

TEST_CASE("contract: a sparse row without entries is a row of zeros") {
  for (const Cell& cell : made_cells()) {
    const int64_t d = cell.inputs(5);
    const std::optional<int64_t> D = cell.features(d, 8);
    if (!D || !cell.has_first_parts()) continue;
    INFO(cell.label());
    Matrix<double> X = rows_for(cell.row(), 3, d, 5);
    SparseRows<double> sparse;
    sparse.cols = d;
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < d; ++j) i == 1 ? X(i, j) = 0 : (sparse.add(j, X(i, j)), 0.0);
      sparse.end_row();
    }
    const auto map = cell.make(d, *D, 3);
    Matrix<double> dense, empty;
    const Outcome of_zeros = outcome([&] { dense = features_of(*map, X); });
    const Outcome of_none = outcome([&] { empty = features_of<double>(*map, sparse.view()); });
    CHECK(of_none.status == of_zeros.status);
    for (int64_t j = 0; j < dense.cols() && dense.rows() == empty.rows(); ++j)
      if (std::isnan(dense(1, j)) != std::isnan(empty(1, j)) ||
          std::fabs(dense(1, j) - empty(1, j)) > 1e-9 * (1 + std::fabs(dense(1, j))))
        FAIL_CHECK("column " << j << ": " << dense(1, j) << ", of no entries " << empty(1, j));
  }
}

}  // namespace bits
