// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives: of every map that says it has them, the differential along a direction against a
// difference quotient, the gradient and the pull-back against it, higher orders against quotients
// of those below; both precisions, rows that are no numbers; a map that has none says so.
#include "support/derivatives.h"

#include "contract/cells.h"
#include "feature/derivatives.h"
#include "support/dense.h"
#include "support/worst.h"

namespace derivatives {
using namespace mercer;
using namespace mercer::test;

using feature::Derivative;
using Kind = Derivative::Kind;

constexpr int64_t n = 3;

Matrix<double> moved(const Matrix<double>& X, const Matrix<double>& V, double by) {
  return filled(n, X.cols(), [&](int64_t i, int64_t k) { return X(i, k) + by * V(i, k); });
}

double difference(const Matrix<double>& A, const Matrix<double>& B) {
  double worst = 0;
  for (int64_t k = 0; k < A.rows() * A.cols(); ++k)
    keep_worst(worst, std::fabs(A.data()[k] - B.data()[k]));
  return worst;
}

/// Steps are so short that frequencies turn by as much: quotients of order 4 err by step^4 / 30 of
/// the slopes, and by rounding over the step, for angles below 1e5 1e-7. What nystroem learns is a
/// root that magnifies rounding by up to cutoff^{-1/2} = 1e6: a step 10 times as long. Features
/// that have one derivative only may have a kink in between, and take a shorter one.
double step_of(const FeatureMap& map) {
  if (!map.numbers().empty()) return 1e-3;
  return derivatives_of(map).most_order() > 1 ? 1e-4 : 1e-6;
}

/// Of slopes along V that at(X) is said to have.
template <class At>
double quotient_error(const At& at, const Matrix<double>& X, const Matrix<double>& V,
                      const Matrix<double>& slopes, double step) {
  const double steepest = largest(slopes.view());
  if (steepest == 0)
    return difference(at(moved(X, V, 0.125)), at(X));  // beyond a polynomial's degree
  const double h = step * std::min(1.0, largest(at(X).view()) / steepest);
  const auto above = at(moved(X, V, h)), below = at(moved(X, V, -h));
  const auto far_above = at(moved(X, V, 2 * h)), far_below = at(moved(X, V, -2 * h));
  double worst = 0;
  for (int64_t k = 0; k < slopes.rows() * slopes.cols(); ++k) {
    const double near = above.data()[k] - below.data()[k];
    const double far = far_above.data()[k] - far_below.data()[k];
    keep_worst(worst, std::fabs((8 * near - far) / (12 * h) - slopes.data()[k]));
  }
  return worst / steepest;
}

void check_first(const FeatureMap& map, const Matrix<double>& X) {
  const int64_t d = X.cols(), width = map.row_length();
  const auto V = random_matrix(n, d, 3), G = random_matrix(n, width, 4);
  const auto slopes = pushed(map, X, V);
  // What nystroem learns is a root that magnifies rounding by up to cutoff^{-1/2} = 1e6.
  const bool learnt = !map.numbers().empty();
  CHECK(quotient_error([&](const auto& at) { return features_of(map, at); }, X, V, slopes,
                       step_of(map)) <= (learnt ? 1e-5 : 1e-6));
  const auto gradient = differentiated(map, {Kind::gradient}, X), back = pulled(map, X, G);
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
  const double rounding = learnt ? 1e-9 : 1e-12;
  CHECK(along <= rounding * largest(gradient.view()));
  CHECK(std::fabs(adjoint) <= rounding * size);
}

/// Of order 2, and 3 over two inputs, against quotients of those of one order less.
void check_higher(const FeatureMap& map, const Matrix<double>& X) {
  const int64_t d = X.cols(), width = map.row_length();
  const auto hessian = differentiated(map, {Kind::hessian_diagonal}, X);
  const auto laplacian = differentiated(map, {Kind::laplacian}, X);
  const auto sum = filled(n, width, [&](int64_t i, int64_t j) {
    double total = 0;
    for (int64_t k = 0; k < d; ++k) total += hessian(i, k * width + j);
    return total;
  });
  // Sums in another order; the root of nystroem magnifies their rounding.
  CHECK(difference(laplacian, sum) <= 1e-10 * largest(hessian.view()) * static_cast<double>(d));
  const int64_t last = d - 1;
  const kernel::MultiIndex below =
      last > 0 ? kernel::MultiIndex{{0, 1}, {last, 1}} : kernel::MultiIndex{{0, 2}};
  kernel::MultiIndex above = below;
  ++above.back().order;
  const Derivative lower{Kind::partials, {{{last, 1}}, below}},
      higher{Kind::partials, {{{last, 2}}, above}};
  const auto V = filled(n, d, [&](int64_t, int64_t k) { return static_cast<double>(k == last); });
  const int64_t orders = derivatives_of(map).most_order() > 2 ? 2 : 1;
  const auto some = [&](const Matrix<double>& all, int64_t b) {
    return filled(n, width, [&](int64_t i, int64_t j) { return all(i, b * width + j); });
  };
  for (int64_t b = 0; b < orders; ++b) {
    const auto first = [&](const Derivative& what) {
      return Derivative{Kind::partials, {what.partials[b]}};
    };
    const auto slopes = differentiated(map, first(higher), X);
    CHECK(quotient_error([&](const auto& at) { return differentiated(map, first(lower), at); }, X,
                         V, slopes, step_of(map)) <= 1e-6);
  }
  for (int64_t k = 0; k < d; ++k) {
    const auto twice = differentiated(map, {Kind::partials, {{{k, 2}}}}, X);
    CHECK(difference(twice, some(hessian, k)) <= 1e-13 * largest(twice.view()));
  }
}

/// Rows 0 and 2 keep their bits when row 1 holds a NaN, and then is NaN all over.
template <class T>
void check_damage(const FeatureMap& map, const Matrix<T>& X) {
  const auto V = random_matrix<T>(n, X.cols(), 3), G = random_matrix<T>(n, map.row_length(), 4);
  const auto calls = [&](const Matrix<T>& at) {
    std::vector<Matrix<T>> made;
    made.push_back(differentiated(map, {Kind::gradient}, at));
    made.push_back(pushed(map, at, V));
    made.push_back(pulled(map, at, G));
    if (derivatives_of(map).most_order() > 1)
      made.push_back(differentiated(map, {Kind::laplacian}, at));
    return made;
  };
  const auto clean = calls(X);
  const auto bytes = [](const Matrix<T>& A) { return sizeof(T) * static_cast<size_t>(A.cols()); };
  const Matrix<T> damaged = converted<T>(X);
  damaged(1, X.cols() - 1) = std::numeric_limits<T>::quiet_NaN();
  const auto after = calls(damaged);
  for (size_t call = 0; call < clean.size(); ++call) {
    const auto &before = clean[call], &now = after[call];
    for (const int64_t i : {0, 2})
      CHECK(std::memcmp(before.view().row(i), now.view().row(i), bytes(now)) == 0);
    CHECK(std::all_of(now.view().row(1), now.view().row(1) + now.cols(),
                      [](T z) { return std::isnan(z); }));
  }
}

/// Single precision is that of the features themselves, times what a derivative multiplies them by.
void check_single(const FeatureMap& map, const Matrix<double>& X) {
  const auto X32 = converted<float>(X);
  const auto at = converted<double>(X32);
  const double features =
      difference(features_of(map, at), converted<double>(features_of(map, X32))) /
      largest(features_of(map, at).view());
  const auto gradient = differentiated(map, {Kind::gradient}, at);
  const auto single = converted<double>(differentiated(map, {Kind::gradient}, X32));
  CHECK(difference(gradient, single) <= (20 * features + 1e-5) * largest(gradient.view()));
}

/// The same map, with the same seed, of other lengthscales, e^by times as long, or of a polynomial
/// kernel with another gamma (parameter 0) or offset.
std::unique_ptr<FeatureMap> with_parameter(const FeatureMap& map, size_t parameter, double by) {
  Parameters spec = map.parameters(), kernel = map.kernel().parameters();
  if (map.kernel().traits().inner_power) {
    const char* const key = parameter == 0 ? "gamma" : "offset";
    kernel.set(key, kernel.number(key) * std::exp(by));
  } else {
    const auto given = map.kernel().lengthscale();
    std::vector<double> lengthscale(given.begin(), given.end());
    for (double& l : lengthscale) l *= std::exp(by);
    kernel.set(lengthscale_key(map.kernel()), std::move(lengthscale));
  }
  spec.set("kernel", std::make_shared<const Parameters>(std::move(kernel)));
  return feature::make_map(feature::canonical_map(spec, "", feature::Data::refused));
}

/// Of the slope in one parameter, or in all lengthscales.
void check_slope(const FeatureMap& map, const Matrix<double>& X, const Matrix<double>& G,
                 size_t parameter, double slope) {
  const auto V = filled(n, X.cols(), [&](int64_t i, int64_t k) { return -X(i, k); });
  const double features = largest(features_of(map, X).view());
  double steepest = largest(pushed(map, X, V).view());
  const double h = step_of(map) * std::min(1.0, features / steepest);
  if (const auto power = map.kernel().traits().inner_power)
    steepest += static_cast<double>(power->degree) * features;
  const auto above = features_of(*with_parameter(map, parameter, h), X),
             below = features_of(*with_parameter(map, parameter, -h), X);
  double difference = 0, size = 0;
  for (int64_t j = 0; j < n * map.row_length(); ++j) {
    difference += G.data()[j] * (above.data()[j] - below.data()[j]) / (2 * h);
    size += std::fabs(G.data()[j]) * steepest;
  }
  CHECK(std::fabs(slope - difference) <= 1e-6 * size);
}

/// In log parameters, against maps made with others: steps and errors as of slopes along -X. False:
/// refused.
bool check_parameters(const FeatureMap& map, const Matrix<double>& X) {
  if (!map.numbers().empty()) return false;  // tests/feature/landmarks_test.cpp
  size_t count = 0;
  try {
    count = static_cast<size_t>(feature::log_parameter_count(map));
  } catch (const Error& error) {
    CHECK(error.status() == MERCER_UNSUPPORTED);
    return false;
  }
  const auto G = random_matrix(n, map.row_length(), 4);
  std::vector<double> gradient(count);
  Context context;
  feature::pull_back_to_log_parameters<double>(map, X.view(), G.view(), context, gradient);
  if (map.kernel().parameters().find("gamma") == nullptr) {
    check_slope(map, X, G, 0, std::accumulate(gradient.begin(), gradient.end(), 0.0));
    return true;
  }
  for (size_t k = 0; k < count; ++k) check_slope(map, X, G, k, gradient[k]);
  return true;
}

TEST_CASE("contract: derivatives are those of the features, or refused") {
  size_t differentiable = 0, twice = 0, scaled = 0;
  for (const Cell& cell : made_cells()) {
    const int64_t d = cell.inputs(cycled({5, 17, 2, 16, 3}, cell.number()));
    const std::optional<int64_t> D = cell.features(d, 20);
    if (!D) continue;
    INFO(cell.label() << ", d = " << d << ", D = " << *D);
    const auto map = cell.make(d, *D, 3);
    const Matrix<double> X = rows_for(cell.row(), n, d, 8);
    if (map->derivatives() != nullptr) {
      ++differentiable;
      check_first(*map, X);
      check_single(*map, X);
      scaled += check_parameters(*map, X);
      check_damage(*map, X);
      check_damage(*map, converted<float>(X));
      if (derivatives_of(*map).most_order() > 1) {
        ++twice;
        check_higher(*map, X);
      }
    } else {
      const auto V = random_matrix(n, d, 3);
      CHECK_REFUSED(MERCER_UNSUPPORTED, pushed(*map, X, V), std::string(map->name()));
    }
  }
  CHECK(differentiable > 50);
  CHECK(twice > 50);
  CHECK(scaled > 30);
}

}  // namespace derivatives
