// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Precision: float against double and sparse against dense rows within a bound, double no coarser
// than it says.
//
// The bound knows no map. Rounding moves a column of Z like a relative change of each input, and of
// each factor of a product, by a few units u for every number that is summed. How far a column goes
// when every input changes by +-h, the signs at random, is measured on the map itself in double,
// over all rows and several choices of signs: its largest is no less than the root of the sum of
// squares of the partial changes, for most signs, and sqrt(d) times that is the worst. What is not
// an input (phases, offsets, scales, further factors) moves Z by units of its largest entry. Hence
//   |Z - Z'| <= 4 u (d + 64) (sqrt(d) change / h + largest).
#include <random>

#include "contract/cells.h"
#include "contract/row_kinds.h"
#include "feature/feature_map.h"

namespace precision {
using namespace mercer;
using namespace mercer::test;

constexpr double kChange = 0x1p-24;

Matrix<double> moved(const Matrix<double>& X, double h, uint64_t seed) {
  std::mt19937_64 words(seed);
  Matrix<double> out(X.rows(), X.cols());
  for (int64_t i = 0; i < X.rows() * X.cols(); ++i)
    out.data()[i] = X.data()[i] * (1 + (words() >> 63 == 0 ? h : -h));
  return out;
}

// One bound for each column of Z, over u.
std::vector<double> bounds(const FeatureMap& map, const Matrix<double>& X) {
  const Matrix<double> Z = features_of(map, X);
  const auto d = static_cast<double>(X.cols());
  std::vector<double> change(Z.cols());
  double largest = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Matrix<double> other = features_of(map, moved(X, kChange, seed));
    for (int64_t i = 0; i < Z.rows(); ++i) {
      for (int64_t j = 0; j < Z.cols(); ++j) {
        double& most = change[j];
        most = std::max(most, std::fabs(other(i, j) - Z(i, j)));
        largest = std::max(largest, std::fabs(Z(i, j)));
      }
    }
  }
  for (double& most : change) most = 4 * (d + 64) * (std::sqrt(d) * most / kChange + largest);
  return change;
}

// The largest |a - b| in bounds.
template <class T>
double worst(const Matrix<T>& a, const Matrix<double>& b, const std::vector<double>& bound) {
  const double u = std::numeric_limits<T>::epsilon() / 2;
  double most = 0;
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.cols(); ++j) {
      if (static_cast<double>(a(i, j)) == b(i, j)) continue;  // of a bound of 0, too
      const double share = std::fabs(static_cast<double>(a(i, j)) - b(i, j)) / (u * bound[j]);
      if (!(share <= most)) most = share;
    }
  }
  return most;
}

// The share of entries that differ by more than rounding: their own, or their column's bound.
template <class T>
double jumped(const Matrix<T>& a, const Matrix<double>& b, const std::vector<double>& bound) {
  const auto u = static_cast<double>(std::numeric_limits<T>::epsilon());
  int64_t jumps = 0;
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < a.cols(); ++j)
      jumps += !(std::fabs(static_cast<double>(a(i, j)) - b(i, j)) <=
                 u * std::max(4 * std::fabs(b(i, j)), bound[j]));
  return static_cast<double>(jumps) / static_cast<double>(a.rows() * a.cols());
}

// Of jumping columns few may differ: those where P is 0 but for rounding, as sorf has them at few
// inputs.
template <class T>
void check_kinds(const Cell& cell, const FeatureMap& map, const RowKinds<T>& kinds,
                 const Matrix<double>& exact, const std::vector<double>& bound) {
  for (const auto& kind : kinds.all(right_inputs_of(map))) {
    INFO(kind.name << ", bytes " << sizeof(T));
    const Matrix<T> Z = features_of(map, kind.rows);
    if (cell.is_among(jumping_columns())) {
      CHECK(jumped(Z, exact, bound) <= 0.1);
    } else {
      CHECK(worst(Z, exact, bound) <= 1);
    }
  }
}

TEST_CASE("contract: float and sparse rows give the features of dense doubles") {
  for (const Cell& cell : made_cells()) {
    const int64_t d = cell.inputs(cycled({5, 17, 2, 16, 3, 33}, cell.number()));
    const std::optional<int64_t> D = cell.features(d, 50);
    if (!D) continue;
    INFO(cell.label() << ", d = " << d << ", D = " << *D);
    const auto map = cell.make(d, *D, 3);
    // Both have the same entries: those of float.
    const RowKinds<float> single(cell, 12, d, 8);
    const Matrix<double> X = converted<double>(single.dense());
    const Matrix<double> exact = features_of(*map, X);
    const std::vector<double> bound = bounds(*map, X);
    check_kinds(cell, *map, single, exact, bound);
    const RowKinds<double> doubles(cell, 12, d, 8);
    check_kinds(cell, *map, doubles, features_of(*map, doubles.dense()),
                bounds(*map, doubles.dense()));
    // Nor is double a float inside: it sees what a float cannot, unless all is 0.
    if (!cell.is_among(jumping_columns()) &&
        std::any_of(exact.data(), exact.data() + exact.rows() * exact.cols(),
                    [](double z) { return z != 0; }))
      CHECK(!equal_bytes(exact, features_of(*map, moved(X, 0x1p-40, 1))));
  }
}

}  // namespace precision
