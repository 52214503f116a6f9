// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums over pairs by a second route: pair by pair, from the moments of whole sketches and the
// kernel's own values.
#include "feature/degree_allotment.h"
#include "feature/sketch_tree.h"
#include "spec/json.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/refusal.h"

namespace series_error_test {
using namespace mercer;
using namespace mercer::feature;
using namespace mercer::test;
using projection::sketch_kind, projection::SketchField;

std::unique_ptr<kernel::Kernel> kernel_of(const char* spec) {
  return kernel::make_kernel(spec::parse_object(spec));
}

constexpr int64_t kMost = 4, kInputs = 5, kPadded = 8;

/// Means over pairs of f(i, j), i < j.
template <class Function>
double pair_mean(int64_t m, const Function& f) {
  long double sum = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = i + 1; j < m; ++j) sum += f(i, j);
  return static_cast<double>(sum / (static_cast<long double>(m) * (m - 1) / 2));
}

struct Problem {
  const kernel::Kernel& kernel;
  const SeriesSketch& sketch;
  const Matrix<double>& X;

  const double* row(int64_t i) const { return X.view().row(i); }
  double radial(int64_t i, int64_t j) const {
    const PairSums sums = pair_sums(kInputs, row(i), row(j));
    return std::exp(-0.5 * kernel.series()->radial() * (sums.xx + sums.yy));
  }
  /// Of a_n times a sketch of D columns.
  double variance(int64_t n, int64_t D) const {
    const double a = kernel.series()->coefficient(n);
    return pair_mean(X.rows(), [&](int64_t i, int64_t j) {
      const std::vector<PairMoments> factors(static_cast<size_t>(n),
                                             exact_pair(pair_sums(kInputs, row(i), row(j))));
      const bool complex = sketch.field != SketchField::real;
      const PairMoments one = sketch.kind.moments(complex, D, kPadded, factors);
      const double V = sketch.field == SketchField::complex_to_real ? real_variance(one)
                                                                    : one.S - one.mean * one.mean;
      return std::pow(a * radial(i, j), 2) * V;
    });
  }
  double bias(int64_t p) const {
    return pair_mean(X.rows(), [&](int64_t i, int64_t j) {
      const double s = pair_sums(kInputs, row(i), row(j)).s;
      double sum = 0;
      for (int64_t n = 0; n <= p; ++n)
        sum += kernel.series()->coefficient(n) * std::pow(s, static_cast<double>(n));
      return std::pow(kernel.value(kInputs, row(i), row(j)) - radial(i, j) * sum, 2);
    });
  }
};

TEST_CASE("series error: variances, covariances and biases as pair by pair") {
  // More rows than a block of products, more pairs than a strip.
  const Matrix<double> X = random_matrix(150, kInputs, 3);
  Context context;
  for (const char* spec : {R"({"kernel":"gaussian","variance":1.5})", R"({"kernel":"exponential"})",
                           R"({"kernel":"dot_product","coefficients":[0.5,0,1,0.25,0,0.5]})"}) {
    const auto kernel = kernel_of(spec);
    for (const char* kind : {"rademacher", "gaussian", "stacked"}) {
      for (const SketchField field :
           {SketchField::real, SketchField::complex, SketchField::complex_to_real}) {
        INFO(spec << ' ' << kind << ' ' << static_cast<int>(field));
        const SeriesSketch sketch{*sketch_kind(kind), field, kPadded};
        const Problem problem{*kernel, sketch, X};
        const SeriesError error = series_error(*kernel->series(), sketch, kMost, X.view(), context);
        for (int64_t n = 1; n <= kMost; ++n) {
          const double V = error.variance[n - 1], Cov = error.covariance[n - 1];
          const double scale = 1e-12 * (V + kernel->series()->coefficient(n));
          CHECK(std::fabs(V - problem.variance(n, 1)) <= scale);
          // A whole block: V/d + (d - 1) Cov/d; independent columns have no covariance.
          CHECK(std::fabs((V + (kPadded - 1) * Cov) / kPadded - problem.variance(n, kPadded)) <=
                scale);
        }
        for (int64_t p = 0; p <= kMost; ++p)
          CHECK(std::fabs(error.bias[p] - problem.bias(p)) <= 1e-12);
      }
    }
  }
}

TEST_CASE("series error: the same for every number of threads, and refused where it overflows") {
  const Matrix<double> X = random_matrix(200, kInputs, 5);
  const auto kernel = kernel_of(R"({"kernel":"gaussian"})");
  const SeriesSketch sketch{*sketch_kind("stacked"), SketchField::real, kPadded};
  const auto with = [&](int threads) {
    Context context;
    context.threads = threads;
    return series_error(*kernel->series(), sketch, kMost, X.view(), context);
  };
  CHECK(with(1).variance == with(2).variance);
  CHECK(with(1).bias == with(2).bias);
  const Matrix<double> far = filled(3, kInputs, [](int64_t, int64_t) { return 1e40; });
  Context context;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                series_error(*kernel->series(), sketch, kMost, far.view(), context),
                "over pairs of rows is", "centred rows");
}

}  // namespace series_error_test
