// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = variance (x1'y1)(x2'y2) on rows x = [x1 | x2]: what compact bilinear pooling estimates
// (Gao, Beijbom, Zhang, Darrell 2016; with two inputs Fukui et al. 2016; SPEC section 6). No
// spectral law: its maps are sketches whose two factors read one part each.
#include <string>

#include "base/error.h"
#include "kernel/inner_product.h"
#include "kernel/kernel.h"

namespace mercer::kernel {
namespace {

class Bilinear final : public Kernel {
 public:
  Bilinear(int64_t left, double variance) : Kernel(variance, {}), left_(left) {}
  std::string_view name() const noexcept override { return "bilinear"; }

  Parameters parameters() const override {
    Parameters all;
    all.set("kernel", std::string(name()));
    all.set("left", left_);
    all.set("variance", variance_);
    return all;
  }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance_ *
           (inner_product(left_, x, y) * inner_product(d - left_, x + left_, y + left_));
  }

  void check_dimension(int64_t d) const override {
    Kernel::check_dimension(d);
    require(d > left_, MERCER_DIMENSION_MISMATCH,
            "d = %lld, expected more than the %lld inputs of the left part",
            static_cast<long long>(d), static_cast<long long>(left_));
  }

 private:
  int64_t left_;
};

}  // namespace

std::unique_ptr<Kernel> make_bilinear(int64_t left, double variance) {
  require(left >= 1 && left <= kMostLeft, MERCER_INVALID_ARGUMENT,
          "left = %lld, expected 1 to %lld", static_cast<long long>(left),
          static_cast<long long>(kMostLeft));
  return std::make_unique<Bilinear>(left, variance);
}

}  // namespace mercer::kernel
