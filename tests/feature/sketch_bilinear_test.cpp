// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sketches of the bilinear kernel: rows [x | y] and pairs of rows, sums over locations.
#include "sketch_cases.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::feature;
using test::SketchCase;

namespace {

constexpr int64_t kLeft = 5, kRight = 3, kFeatures = 34;

std::unique_ptr<FeatureMap> map_of(const SketchCase& one, int64_t right = kRight) {
  return test::make(*kernel::make_bilinear(kLeft, 1.7), kLeft + right, kFeatures, one);
}

template <class T>
Matrix<T> apply_pair(const FeatureMap& map, MatrixView<const T> X, MatrixView<const T> Y,
                     int64_t locations, int threads = 1) {
  Matrix<T> Z(X.rows / locations, map.row_length());
  Context context;
  context.threads = threads;
  map.apply_pair(X, Y, locations, {0, map.features()}, context, Z.view());
  return Z;
}

template <class T>
void check_locations(const SketchCase& one, int64_t n, int64_t locations) {
  const auto map = map_of(one);
  const int64_t all = n * locations;
  const Matrix<T> X = test::random_matrix<T>(all, kLeft, 1),
                  Y = test::random_matrix<T>(all, kRight, 2);
  const Matrix<T> each = apply_pair<T>(*map, X.view(), Y.view(), 1);
  const Matrix<T> Z = apply_pair<T>(*map, X.view(), Y.view(), locations);
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    long double row = 0;
    for (int64_t l = i * locations; l < (i + 1) * locations; ++l) {
      for (int64_t j = 0; j < Z.cols(); ++j) row += std::fabs(each(l, j));
    }
    for (int64_t j = 0; j < Z.cols(); ++j) {
      long double sum = 0, magnitude = 0;
      for (int64_t l = i * locations; l < (i + 1) * locations; ++l) {
        sum += each(l, j);
        magnitude += std::fabs(each(l, j));
      }
      // One rounding per location; sums in the Fourier domain err relative to the whole row, by
      // less than 64 roundings for three transforms of 34 numbers at most.
      const bool fourier = one.options.kind == projection::sketch_kind("tensor_sketch");
      const long double unit = std::numeric_limits<T>::epsilon() / 2;
      const long double bound =
          unit * (static_cast<long double>(locations) * magnitude + (fourier ? 64 * row : 0));
      test::keep_worst(worst, static_cast<double>(std::fabs(Z(i, j) - sum) / bound));
    }
  }
  CAPTURE(one.label, n, locations, sizeof(T));
  CHECK(worst <= 1);
  CHECK(test::equal_bytes(Z, apply_pair<T>(*map, X.view(), Y.view(), locations, 3)));
  const Matrix<T> pieces(n, map->row_length());
  const int64_t reals = map->is_complex() ? 2 : 1;
  Context context;
  for (const auto& [j0, j1] : {std::pair{0, 15}, {15, 20}, {20, 34}}) {
    for (int64_t i = 0; i < n; ++i) {
      map->apply_pair(MatrixView<const T>(X.view().block_rows(i * locations, (i + 1) * locations)),
                      MatrixView<const T>(Y.view().block_rows(i * locations, (i + 1) * locations)),
                      locations, {j0, j1}, context,
                      pieces.view().block_rows(i, i + 1).block_cols(j0 * reals, j1 * reals));
    }
  }
  CHECK(test::equal_bytes(Z, pieces));
}

}  // namespace

TEST_CASE("bilinear sketches: locations are summed") {
  for (const SketchCase& one : test::sketch_cases()) {
    check_locations<float>(one, 3, 5);
    check_locations<double>(one, 3, 5);
    check_locations<double>(one, 2, 110);  // more than a tile of rows
  }
}

TEST_CASE("bilinear sketches: rows that start at one address with other leading dimensions") {
  for (const SketchCase& one : test::sketch_cases()) {
    const auto map = map_of(one, kLeft);
    const Matrix<double> all = test::random_matrix(40, kLeft, 3);
    // Every row, and every second one.
    const MatrixView<const double> X(all.data(), 20, kLeft, kLeft),
        Y(all.data(), 20, kLeft, 2 * kLeft);
    Matrix<double> second(20, kLeft);
    for (int64_t i = 0; i < 20; ++i) std::copy_n(Y.row(i), kLeft, second.view().row(i));
    CAPTURE(one.label);
    CHECK(test::equal_bytes(apply_pair<double>(*map, X, Y, 1),
                            apply_pair<double>(*map, X, second.view(), 1)));
  }
}

TEST_CASE("bilinear sketches: sparse rows hold both parts") {
  for (const SketchCase& one : test::sketch_cases()) {
    const auto map = map_of(one);
    const auto rows = test::sparse_rows<double>(21, kLeft + kRight, 6, 3);
    const Matrix<double> Z(21, map->row_length());
    Context context;
    map->apply(rows.view(), {0, kFeatures}, context, Z.view());
    CAPTURE(one.label);
    // Made dense tile by tile: the same bytes.
    CHECK(test::equal_bytes(Z, test::features_of<double>(*map, rows.dense().view())));
  }
}

TEST_CASE("bilinear sketches: no rows, no locations; maps of one matrix refuse pairs") {
  for (const SketchCase& one : test::sketch_cases()) {
    const auto map = map_of(one);
    Context context;
    const Matrix<double> Z(2, map->row_length());
    map->apply_pair(MatrixView<const double>(nullptr, 0, kLeft),
                    MatrixView<const double>(nullptr, 0, kRight), 4, {0, kFeatures}, context,
                    MatrixView<double>(nullptr, 0, map->row_length()));
    Z.fill(5);
    map->apply_pair(MatrixView<const double>(nullptr, 0, kLeft),
                    MatrixView<const double>(nullptr, 0, kRight), 0, {0, kFeatures}, context,
                    Z.view());
    CAPTURE(one.label);
    CHECK(test::largest(Z.view()) == 0);
    const auto single = test::make(*kernel::make_polynomial(2, 1, 0, 1), kLeft, kFeatures, one);
    CHECK(single->right_inputs() == 0);
    const Matrix<double> X = test::random_matrix(2, kLeft, 1);
    CHECK_REFUSED(MERCER_UNSUPPORTED, single->apply_pair(MatrixView<const double>(X.view()),
                                                         MatrixView<const double>(X.view()), 1,
                                                         {0, kFeatures}, context, Z.view()));
  }
}
