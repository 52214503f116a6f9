// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of sketches of every kind: as features are polynomials, their Taylor series ends and
// is exact; orders beyond the degree, refusals.
#include "sketch_cases.h"
#include "support/derivatives.h"
#include "support/worst.h"

namespace sketch_derivative_test {
using namespace mercer;
using namespace mercer::feature;
using test::differentiated, test::SketchCase;

using Kind = Derivative::Kind;

/// Every multi-index of two inputs up to that order.
std::vector<MultiIndex> orders_up_to(int64_t most) {
  std::vector<MultiIndex> all;
  for (int64_t a = 0; a <= most; ++a) {
    for (int64_t b = 0; a + b <= most; ++b) {
      MultiIndex p;
      if (a > 0) p.push_back({0, a});
      if (b > 0) p.push_back({1, b});
      all.push_back(p);
    }
  }
  return all;
}

/// v^p/p!.
double taylor_weight(const MultiIndex& p, const double* v) {
  double weight = 1;
  for (const PartialFactor& one : p)
    for (int64_t n = 1; n <= one.order; ++n) weight *= v[one.input] / static_cast<double>(n);
  return weight;
}

int64_t degree_of(const kernel::Kernel& kernel) { return kernel.traits().inner_power->degree; }

/// Of features at x + v from derivatives at x, over the largest of both.
template <class T>
double taylor_error(const FeatureMap& map) {
  const auto X = test::random_matrix<T>(3, 2, 8), V = test::random_matrix<T>(3, 2, 9);
  const Derivative what{Kind::partials, orders_up_to(degree_of(map.kernel()))};
  const auto terms = test::converted<double>(differentiated(map, what, X));
  const auto moved = test::filled(3, 2, [&](int64_t i, int64_t k) {
    return static_cast<double>(X(i, k)) + static_cast<double>(V(i, k));
  });
  const auto Z = test::features_of(map, moved);
  const int64_t width = map.row_length();
  double worst = 0, largest = test::largest(Z.view());
  for (int64_t i = 0; i < 3; ++i) {
    const double v[] = {static_cast<double>(V(i, 0)), static_cast<double>(V(i, 1))};
    for (int64_t j = 0; j < width; ++j) {
      double sum = 0;
      for (size_t b = 0; b < what.partials.size(); ++b) {
        const double term =
            taylor_weight(what.partials[b], v) * terms(i, static_cast<int64_t>(b) * width + j);
        sum += term;
        largest = std::max(largest, std::fabs(term));
      }
      test::keep_worst(worst, std::fabs(sum - Z(i, j)));
    }
  }
  return worst / largest;
}

TEMPLATE_TEST_CASE("sketches: derivatives of all orders are those of a Taylor series that ends", "",
                   float, double) {
  const double rounding = std::is_same_v<TestType, float> ? 2e-5 : 1e-13;
  for (const SketchCase& one : test::sketch_cases()) {
    // Of few inputs and factors there are fewer tuples than columns.
    const bool is_tuple = one.options.kind == test::sketch_kind("tuple");
    for (const int64_t degree : {1, 2, 3, 5}) {
      if (is_tuple && degree < 3) continue;
      INFO(one.label << ", degree " << degree);
      const auto map = test::make(*kernel::make_polynomial(degree, 0.8, 0.3, 1.5), 2, 12, one);
      CHECK(taylor_error<TestType>(*map) <= rounding);
      const auto X = test::random_matrix<TestType>(2, 2, 7);
      const Derivative beyond{Kind::partials, {{{0, 1}, {1, degree}}, {{1, degree + 3}}}};
      const auto nothing = test::converted<double>(differentiated(*map, beyond, X));
      CHECK(test::largest(nothing.view()) == 0);
    }
    if (is_tuple) continue;
    const auto bilinear = test::make(*kernel::make_bilinear(1, 1.5), 2, 12, one);
    INFO(one.label << ", bilinear");
    CHECK(taylor_error<TestType>(*bilinear) <= rounding);
  }
}

TEST_CASE("sketches: a multi-index of more coefficients than a series has is refused") {
  SketchCase srht;
  srht.options.kind = test::sketch_kind("upsampled");
  const auto map = test::make(*kernel::make_polynomial(3, 1, 0.3, 1), 12, 24, srht);
  MultiIndex many;
  for (int64_t k = 0; k < 11; ++k) many.push_back({k, 1});
  const auto X = test::random_matrix(2, 12, 7);
  const auto ask = [&](const MultiIndex& p) { differentiated(*map, {Kind::partials, {p}}, X); };
  CHECK_REFUSED(MERCER_UNSUPPORTED, ask(many), "order 11", "1024");
  many.pop_back();
  CHECK(test::largest(differentiated(*map, {Kind::partials, {many}}, X).view()) == 0);
  CHECK_REFUSED(MERCER_UNSUPPORTED, ask({{0, 33}}), "order 33 of map tensor_srht",
                "expected up to 32");
}

}  // namespace sketch_derivative_test
