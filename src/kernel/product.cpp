// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = variance prod_i k_i(x, y) (SPEC section 6), of parts as in sum.cpp.
#include "kernel/composed_kernel.h"

namespace mercer::kernel {
namespace {

class ProductKernel final : public ComposedKernel {
 public:
  explicit ProductKernel(const Parameters& canonical)
      : ComposedKernel(canonical, Composition::Rule::product) {}

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    double product = 1;
    for (const auto& part : parts()) product *= part->value(d, x, y);
    return variance() * product;
  }
};

}  // namespace

KernelEntry product_entry() {
  return entry_of<ProductKernel>(
      "product", "prod_i k_i(x, y) of the parts",
      {parts_field("the kernels that are multiplied, each with its own parameters")},
      "product");
}

}  // namespace mercer::kernel
