// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum over S, |S| = degree, of prod_{j in S} x_j y_j (Stitson et al. 1999), by the
// recursion e_t += e_{t-1} x_j y_j of elementary symmetric polynomials; or over all S: prod_j (1 +
// x_j y_j).
#include <algorithm>
#include <memory>

#include "base/choice.h"
#include "base/error.h"
#include "kernel/entry.h"
#include "kernel/lane_fold.h"
#include "kernel/leave_one_out.h"

namespace mercer::kernel {
namespace {

constexpr int64_t kMostSubset = 16;

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
            "degree = %ld, expected it left out: subsets = all has every degree",
            canonical.integer("degree"));
  }

  std::optional<int64_t> subset_degree() const noexcept override { return degree_; }
  int64_t least_inputs() const noexcept override { return std::max<int64_t>(degree_, 1); }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() *
           (degree_ > 0 ? symmetric(d, x, y)
                        : lane_fold<Product>(d, [x, y](int64_t j) { return 1 + x[j] * y[j]; }));
  }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  // Linear in every input of x and of y: only subsets with all inputs of p and q remain, with one
  // factor for each of these.
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    return make_differential([this, p, q](int64_t d, const double* x, const double* y) {
      double factor = variance();
      int64_t j = 0;
      Sums sums{degree_};
      for_each_input(p, q, [&](int64_t k, int64_t a, int64_t b) noexcept {
        if (a > 1 || b > 1) factor = 0;
        if (b == 0) factor *= y[k];
        if (a == 0) factor *= x[k];
        for (; j < k; ++j) sums.join(x[j] * y[j]);
        ++j;
        if (!sums.take_one()) factor = 0;
      });
      for (; j < d && factor != 0; ++j) sums.join(x[j] * y[j]);
      return factor == 0 ? 0 : factor * sums.e[sums.degree];
    });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    Sums sums{degree_};
    sums.take_one();
    leave_one_out(
        0, d, sums, [=](Sums& own, int64_t j) noexcept { own.join(x[j] * y[j]); },
        [&](int64_t k, const Sums& own) noexcept {
          out[k] += factor * variance() * y[k] * own.e[own.degree];
        });
  }

 private:
  /// Sums over subsets of the inputs so far, by size; with degree 0 over all subsets.
  struct Sums {
    int64_t degree;
    bool all = degree == 0;
    double e[kMostSubset + 1] = {1};

    void join(double product) noexcept {
      for (int64_t t = degree; t > 0; --t) e[t] += e[t - 1] * product;
      if (all) e[0] *= 1 + product;
    }
    /// Requires one input in every subset; false if no subset is left.
    bool take_one() noexcept {
      if (all) return true;
      return --degree >= 0;
    }
  };

  double symmetric(int64_t d, const double* x, const double* y) const noexcept {
    Sums sums{degree_};
    for (int64_t j = 0; j < d; ++j) sums.join(x[j] * y[j]);
    return sums.e[degree_];
  }

  int64_t degree_;  // 0: all
};

}  // namespace

KernelEntry anova_entry() {
  return entry_of<Anova>(
      "anova",
      "sum over subsets S of `degree` inputs of prod_{j in S} x_j y_j; all: prod_j (1 + x_j y_j)",
      {count_field("degree", int64_t{2}, kMostSubset, "inputs in a subset"), kSubsets.field()},
      "anova");
}

}  // namespace mercer::kernel
