// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives: of every map that says it has them, the differential along a direction against a
// difference quotient, the gradient and the pull-back against it; a map that has none says so.
#include <cmath>

#include "contract/cells.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/refusal.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::test;

namespace {

constexpr int64_t n = 3;

Matrix<double> pushed(const FeatureMap& map, const Matrix<double>& X, const Matrix<double>& V) {
  Matrix<double> out(n, map.row_length());
  Context context;
  map.push_forward(X.view(), V.view(), context, out.view());
  return out;
}

/// Steps so short that frequencies turn by 1e-4 at the most: an error of 2e-9 of the slopes, and of
/// rounding, for angles below 1e5, 1e-7.
double quotient_error(const FeatureMap& map, const Matrix<double>& X, const Matrix<double>& V,
                      const Matrix<double>& slopes) {
  const double steepest = largest(slopes.view()),
               h = 1e-4 * largest(features_of(map, X).view()) / steepest;
  const auto moved = [&](double by) {
    return features_of(
        map, filled(n, X.cols(), [&](int64_t i, int64_t k) { return X(i, k) + by * V(i, k); }));
  };
  const auto above = moved(h), below = moved(-h);
  double worst = 0;
  for (int64_t k = 0; k < n * map.row_length(); ++k)
    keep_worst(worst, std::fabs((above.data()[k] - below.data()[k]) / (2 * h) - slopes.data()[k]));
  return worst / steepest;
}

void check_derivatives(const FeatureMap& map, const Matrix<double>& X) {
  const int64_t d = X.cols(), width = map.row_length();
  const auto V = random_matrix(n, d, 3), G = random_matrix(n, width, 4);
  const auto slopes = pushed(map, X, V);
  CHECK(quotient_error(map, X, V, slopes) <= 1e-5);
  Matrix<double> gradient(n, d * width), back(n, d);
  Context context;
  map.differentiate({feature::Derivative::Kind::gradient}, MatrixView<const double>(X.view()),
                    context, gradient.view());
  map.pull_back(X.view(), G.view(), context, back.view());
  double along = 0, adjoint = 0, size = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < d; ++k) sum += V(i, k) * gradient(i, k * width + j);
      keep_worst(along, std::fabs(sum - slopes(i, j)));
      adjoint += G(i, j) * slopes(i, j);
      size += std::fabs(G(i, j) * slopes(i, j));
    }
    for (int64_t k = 0; k < d; ++k) {
      adjoint -= V(i, k) * back(i, k);
      size += std::fabs(V(i, k) * back(i, k));
    }
  }
  CHECK(along <= 1e-12 * largest(slopes.view()));
  CHECK(std::fabs(adjoint) <= 1e-12 * size);
}

}  // namespace

TEST_CASE("contract: derivatives are those of the features, or refused", "[contract]") {
  size_t number = 0, differentiable = 0;
  for (const Cell& cell : made_cells()) {
    const int64_t d = cell.inputs(cycled({5, 17, 2, 16, 3}, ++number));
    const std::optional<int64_t> D = cell.features(d, 20);
    if (!D) continue;
    INFO(cell.label() << ", d = " << d << ", D = " << *D);
    const auto map = cell.make(d, *D, 3);
    const Matrix<double> X = rows_for(cell.row(), n, d, 8);
    if (map->has_gradient()) {
      ++differentiable;
      check_derivatives(*map, X);
    } else {
      const auto V = random_matrix(n, d, 3);
      CHECK(refusal_fault(
                MERCER_UNSUPPORTED, [&] { pushed(*map, X, V); }, std::string(map->name())) == "");
    }
  }
  CHECK(differentiable > 50);
}
