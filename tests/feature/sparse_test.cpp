// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sparse rows through every kind of map: the dense rows' features within the bound, bits
// independent of threads, splits and slices, rows without entries, columns named twice, NaN in its
// row.
#include "support/sparse.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "feature/fourier.h"
#include "feature/linear.h"
#include "projection/projections.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/refusal.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::feature;

namespace {

struct MapCase {
  std::string label;
  std::unique_ptr<FeatureMap> map;
  double weight;  // bounds |w_kj| in turns (Fourier), or in plain numbers times the scale (linear)
};

// Every form, every projection of the table (most of which read dense tiles), a kernel with a warp,
// and linear maps.
std::vector<MapCase> map_cases(int64_t d, int64_t D) {
  std::vector<MapCase> cases;
  const auto gaussian = kernel::make_gaussian({1.0}, 1.0);
  for (const projection::ProjectionEntry* entry : projection::projection_table()) {
    for (const FourierForm form : {FourierForm::pair, FourierForm::phase, FourierForm::complex}) {
      FourierOptions options{entry->name, form, 3};
      try {
        cases.push_back({std::string(entry->name) + " " + std::to_string(static_cast<int>(form)),
                         make_fourier(*gaussian, d, D, options), 2.0});
      } catch (const Error& error) {
        // A projection may have a limit on d; nothing else is a reason.
        if (error.status() != MERCER_UNSUPPORTED && error.status() != MERCER_INVALID_ARGUMENT)
          throw;
      }
    }
  }
  cases.push_back(
      {"skewed chi2", make_fourier(*kernel::make_skewed_chi2(1.5, 1.0), d, D, {}), 2.0});
  const auto inner = kernel::make_polynomial(1, 1, 0, 1);
  int number = 0;
  for (const LinearProjection projection :
       {LinearProjection::gaussian, LinearProjection::rademacher, LinearProjection::srht,
        LinearProjection::countsketch}) {
    cases.push_back(
        {"linear " + std::to_string(number++), make_linear(*inner, d, D, {projection, 3}), 7.0});
  }
  return cases;
}

template <class T>
Matrix<T> apply_sparse(const FeatureMap& map, const CsrView<T>& X, int threads = 1) {
  Matrix<T> Z(X.rows, map.row_length());
  Context context;
  context.threads = threads;
  map.apply(X, {0, map.features()}, context, Z.view());
  return Z;
}

template <class T>
bool equal_bytes(const Matrix<T>& a, const Matrix<T>& b) {
  return std::memcmp(a.data(), b.data(), static_cast<size_t>(a.rows() * a.cols()) * sizeof(T)) == 0;
}

template <class T>
void check_against_dense(int64_t n, int64_t d, int64_t D, int64_t most) {
  const auto rows = test::sparse_rows<T>(n, d, most, static_cast<uint64_t>(d));
  const Matrix<T> X = rows.dense();
  for (const MapCase& c : map_cases(d, D)) {
    const Matrix<T> sparse = apply_sparse(*c.map, rows.view());
    Matrix<T> dense(n, c.map->row_length());
    Context context;
    c.map->apply(MatrixView<const T>(X.view()), {0, c.map->features()}, context, dense.view());
    double worst = 0;
    for (int64_t i = 0; i < sparse.rows() * sparse.cols(); ++i) {
      const double a = static_cast<double>(sparse.data()[i]);
      const double b = static_cast<double>(dense.data()[i]);
      // Inputs outside the skewed chi^2's domain are NaN by either route.
      if (std::isnan(a) && std::isnan(b)) continue;
      test::keep_worst(worst, std::fabs(a - b));
    }
    // Angles (or sums) differ by (m + d + 2) u sum |x w|, m <= most entries of at most 1; 2 pi
    // turns them to radians, two sines of equal angles differ by twice their error 4u, scales are
    // at most sqrt(2).
    const double u = std::numeric_limits<T>::epsilon() / 2;
    const double sum = static_cast<double>(most) * c.weight;
    const double bound = 1.5 * (6.3 * static_cast<double>(most + d + 2) * u * sum + 8 * u);
    CAPTURE(c.label, n, d, D, sizeof(T));
    CHECK(worst <= bound);
  }
}

template <class T>
void check_bits(int64_t n, int64_t d, int64_t D) {
  const auto rows = test::sparse_rows<T>(n, d, 20, 9);
  const auto wide = test::sparse_rows<T, int64_t>(n, d, 20, 9);
  const CsrView<T> X = rows.view();
  for (const MapCase& c : map_cases(d, D)) {
    const Matrix<T> Z = apply_sparse(*c.map, X);
    CAPTURE(c.label, n, d, D, sizeof(T));
    CHECK(equal_bytes(Z, apply_sparse(*c.map, wide.view())));
    for (const int threads : {2, 7}) CHECK(equal_bytes(Z, apply_sparse(*c.map, X, threads)));
    const int64_t reals = c.map->is_complex() ? 2 : 1;
    Context context;
    Matrix<T> pieces(n, c.map->row_length());
    const int64_t cuts[] = {0, D / 5, D / 5 + 1, D / 2 + 1, D};
    for (int s = 0; s + 1 < 5; ++s) {
      for (const auto& [i0, i1] : {std::pair{int64_t{0}, n / 3}, std::pair{n / 3, n}}) {
        c.map->apply(
            X.block_rows(i0, i1), {cuts[s], cuts[s + 1]}, context,
            pieces.view().block_rows(i0, i1).block_cols(cuts[s] * reals, cuts[s + 1] * reals));
      }
    }
    CHECK(equal_bytes(Z, pieces));
  }
}

}  // namespace

TEST_CASE("sparse rows: the features of the dense rows, within the bound") {
  for (const int64_t d : {1, 5, 33, 300}) {
    check_against_dense<float>(70, d, 66, 12);
    check_against_dense<double>(70, d, 66, 12);
  }
  check_against_dense<float>(40, 20, 130, 60);  // more entries than columns: many are named twice
}

TEST_CASE(
    "sparse rows: bits do not depend on index width, threads, splits of rows or slices of "
    "columns") {
  check_bits<float>(101, 33, 66);
  check_bits<double>(101, 33, 66);
  check_bits<float>(1700, 50, 160);  // more than two tiles of rows
}

TEST_CASE("sparse rows: none, and rows without entries") {
  for (const MapCase& c : map_cases(4, 34)) {
    CAPTURE(c.label);
    Context context;
    const int32_t none = 0;
    c.map->apply(CsrView<float>{0, 4, &none, static_cast<const int32_t*>(nullptr), nullptr},
                 {0, 34}, context, MatrixView<float>(nullptr, 0, c.map->row_length()));
    test::SparseRows<float> rows;
    rows.cols = 4;
    for (int i = 0; i < 5; ++i) rows.end_row();
    Matrix<float> zeros(5, 4), dense(5, c.map->row_length());
    zeros.fill(0);
    c.map->apply(MatrixView<const float>(zeros.view()), {0, 34}, context, dense.view());
    CHECK(equal_bytes(apply_sparse(*c.map, rows.view()), dense));
  }
}

TEST_CASE("sparse rows: a column named twice counts as the sum") {
  test::SparseRows<double> twice, once;
  twice.cols = once.cols = 40;
  for (int64_t i = 0; i < 10; ++i) {
    twice.add(3 * i, 0.5);
    twice.add(3 * i, 0.25);
    twice.add(3 * i, -0.5);
    once.add(3 * i, 0.25);
    twice.end_row();
    once.end_row();
  }
  for (const MapCase& c : map_cases(40, 66)) {
    const Matrix<double> a = apply_sparse(*c.map, twice.view()),
                         b = apply_sparse(*c.map, once.view());
    double worst = 0;
    for (int64_t i = 0; i < a.rows() * a.cols(); ++i)
      test::keep_worst(worst, std::fabs(a.data()[i] - b.data()[i]));
    CAPTURE(c.label);
    // Three roundings of 0.5 w, w < 7, to angles of 2 pi.
    CHECK(worst <= 6.3 * 4 * 0x1p-53 * 7 + 8 * 0x1p-53);
  }
}

TEST_CASE("sparse rows: NaN and Inf stay in their row") {
  auto rows = test::sparse_rows<float>(200, 30, 8, 21);
  for (const MapCase& c : map_cases(30, 66)) {
    auto damaged = rows;
    const int64_t bad = 17;
    REQUIRE(rows.offsets[bad + 1] > rows.offsets[bad]);
    damaged.values[static_cast<size_t>(rows.offsets[bad])] = NAN;
    const Matrix<float> clean = apply_sparse(*c.map, rows.view()),
                        Z = apply_sparse(*c.map, damaged.view());
    int64_t wrong = 0, nans = 0;
    for (int64_t i = 0; i < 200; ++i) {
      for (int64_t j = 0; j < Z.cols(); ++j) {
        nans += i == bad && std::isnan(Z(i, j));
        wrong += i != bad && std::memcmp(&Z(i, j), &clean(i, j), sizeof(float)) != 0;
      }
    }
    CAPTURE(c.label);
    CHECK(wrong == 0);
    CHECK(nans == (c.label == "linear 3" ? 1 : Z.cols()));  // CountSketch: one bucket
  }
}

TEST_CASE("sparse rows: a memory cap that dense tiles exceed is said before any work") {
  const auto map = make_fourier(*kernel::make_skewed_chi2(1.5, 1.0), 30, 66, {});
  const auto rows = test::sparse_rows<float>(200, 30, 8, 21);
  Matrix<float> Z(200, 66);
  Context context;
  context.memory_cap = 1000;
  CHECK(test::refusal_fault(
            MERCER_OUT_OF_MEMORY,
            [&] {
              map->apply(rows.view(), {0, 66}, context, Z.view());
            },
            "memory_cap = 1000", "24000") == "");
}
