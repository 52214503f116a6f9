// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = variance (x1'y1)(x2'y2) on rows x = [x1 | x2]: what compact bilinear pooling estimates
// (Gao, Beijbom, Zhang, Darrell 2016; with two inputs Fukui et al. 2016; SPEC section 6). No
// spectral law: its maps are sketches whose two factors read one part each.
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
