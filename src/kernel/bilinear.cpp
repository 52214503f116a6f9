// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = variance (x1'y1)(x2'y2) on rows x = [x1 | x2]: what compact bilinear pooling estimates
// (Gao, Beijbom, Zhang, Darrell 2016; with two inputs Fukui et al. 2016; SPEC section 6). No
// spectral law: its maps are sketches whose two factors read one part each.
#include <memory>

#include "kernel/entry.h"
#include "kernel/inner_product.h"

namespace mercer::kernel {
namespace {

// A row has 2^31 - 1 inputs at most, one of them right.
constexpr double kMostLeft = 2147483646;

class Bilinear final : public Kernel {
 public:
  explicit Bilinear(const Parameters& canonical)
      : Kernel(canonical), left_(canonical.integer("left")) {}

  int64_t left_inputs() const noexcept override { return left_; }
  std::optional<InnerPower> inner_power() const noexcept override { return InnerPower{2, 1, 0}; }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() *
           (inner_product(left_, x, y) * inner_product(d - left_, x + left_, y + left_));
  }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  // The product of the derivatives of two factors that share no input.
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    return make_differential([this, p, q](int64_t d, const double* x, const double* y) {
      int64_t inputs[2] = {};
      double slopes[2] = {};  // of x1'y1 and x2'y2
      for_each_input(p, q, [&](int64_t k, int64_t a, int64_t b) noexcept {
        const size_t part = k >= left_;
        const double alone = (a == 0 ? x[k] : 1) * (b == 0 ? y[k] : 1);
        slopes[part] = ++inputs[part] > 1 || a > 1 || b > 1 ? 0 : alone;
      });
      if (inputs[0] == 0) slopes[0] = inner_product(left_, x, y);
      if (inputs[1] == 0) slopes[1] = inner_product(d - left_, x + left_, y + left_);
      return variance() * (slopes[0] * slopes[1]);
    });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const double one = factor * variance() * inner_product(d - left_, x + left_, y + left_);
    const double two = factor * variance() * inner_product(left_, x, y);
    for (int64_t k = 0; k < d; ++k) out[k] += (k < left_ ? one : two) * y[k];
  }

 private:
  int64_t left_;
};

}  // namespace

KernelEntry bilinear_entry() {
  return entry_of<Bilinear>("bilinear", "(x1'y1) (x2'y2) of rows [x1 | x2]",
                            {count_field("left", {}, kMostLeft, "inputs of x1; x2 has the others")},
                            "tensor_srht");
}

}  // namespace mercer::kernel
