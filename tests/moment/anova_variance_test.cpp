// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Second moments of ANOVA features against the mean over every vector of signs.
#include "moment/anova_variance.h"

#include "moment/linear_variance.h"
#include "support/catch.h"
#include "support/dense.h"

using namespace mercer;
using namespace mercer::moment;

namespace {

constexpr int64_t kInputs = 7;

// e_m of w_k x_k, by the definition: over all subsets.
double symmetric(const double* x, int64_t signs, int64_t m) {
  double sum = 0;
  for (int64_t subset = 0; subset < (int64_t{1} << kInputs); ++subset) {
    if (__builtin_popcountll(static_cast<unsigned long long>(subset)) != m) continue;
    double product = 1;
    for (int64_t k = 0; k < kInputs; ++k)
      if ((subset >> k & 1) != 0) product *= (signs >> k & 1) != 0 ? -x[k] : x[k];
    sum += product;
  }
  return sum;
}

template <class Column>
double mean_square(const double* x, const double* y, const Column& column) {
  double mean = 0;
  for (int64_t signs = 0; signs < (int64_t{1} << kInputs); ++signs) {
    const double estimate = column(x, signs) * column(y, signs);
    mean += estimate * estimate / static_cast<double>(int64_t{1} << kInputs);
  }
  return mean;
}

}  // namespace

TEST_CASE("anova: second moments are those over every vector of signs", "[moment]") {
  const Matrix<double> X = test::random_matrix(2, kInputs, 3);
  const double *const x = X.view().row(0), *const y = X.view().row(1);
  std::vector<double> scratch;
  for (int64_t m = 1; m <= kInputs; ++m) {
    const double expected =
        mean_square(x, y, [m](const double* r, int64_t signs) { return symmetric(r, signs, m); });
    INFO("degree " << m);
    CHECK(symmetric_square(kInputs, x, y, m, scratch) == Approx(expected).epsilon(1e-12));
  }
  const double all = mean_square(x, y, [](const double* r, int64_t signs) {
    double product = 1;
    for (int64_t k = 0; k < kInputs; ++k) product *= 1 + ((signs >> k & 1) != 0 ? -r[k] : r[k]);
    return product;
  });
  CHECK(subsets_square(kInputs, x, y) == Approx(all).epsilon(1e-12));
  const PairSums sums = pair_sums(kInputs, x, y);
  CHECK(symmetric_square(kInputs, x, y, 1, scratch) - sums.s * sums.s ==
        Approx(rademacher_entries_variance(sums, 1)).epsilon(1e-12));
}
