// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum over S, |S| = degree, of prod_{j in S} x_j y_j (Stitson et al. 1999), by the
// recursion e_t += e_{t-1} x_j y_j of elementary symmetric polynomials; or over all S: prod_j (1 +
// x_j y_j).
#include <algorithm>

#include "base/choice.h"
#include "base/error.h"
#include "kernel/entry.h"
#include "kernel/lane_fold.h"

namespace mercer::kernel {
namespace {

constexpr int64_t kMostDegree = 16;

enum class Subsets { of_degree, all };
constexpr const char* kSubsetWords[] = {"of_degree", "all"};
constexpr Choice<Subsets> kSubsets{
    "subsets", kSubsetWords, "all: of every size, the empty one included; degree is then left out"};

class Anova final : public Kernel {
 public:
  explicit Anova(const Parameters& canonical)
      : Kernel(canonical),
        degree_(kSubsets.read(canonical) == Subsets::all ? 0 : canonical.integer("degree")) {
    require(degree_ > 0 || canonical.integer("degree") == 2, MERCER_INVALID_ARGUMENT,
            "degree = %lld, expected it left out: subsets = all has every degree",
            static_cast<long long>(canonical.integer("degree")));
  }

  std::optional<int64_t> subset_degree() const noexcept override { return degree_; }
  int64_t least_inputs() const noexcept override { return std::max<int64_t>(degree_, 1); }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() *
           (degree_ > 0 ? symmetric(d, x, y)
                        : lane_fold<Product>(d, [x, y](int64_t j) { return 1 + x[j] * y[j]; }));
  }

 private:
  double symmetric(int64_t d, const double* x, const double* y) const noexcept {
    double e[kMostDegree + 1] = {1};
    for (int64_t j = 0; j < d; ++j) {
      const double product = x[j] * y[j];
      for (int64_t t = degree_; t > 0; --t) e[t] += e[t - 1] * product;
    }
    return e[degree_];
  }

  int64_t degree_;  // 0: all
};

}  // namespace

KernelEntry anova_entry() {
  return entry_of<Anova>(
      "anova",
      "sum over subsets S of `degree` inputs of prod_{j in S} x_j y_j; all: prod_j (1 + x_j y_j)",
      {count_field("degree", int64_t{2}, kMostDegree, "inputs in a subset"), kSubsets.field()},
      "anova");
}

}  // namespace mercer::kernel
