// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = variance sum_i k_i(x, y) (SPEC section 6): the Gram matrix costs those of the parts,
// each value of which is added where it is computed. Outside the domain of a part it is NaN.
#include "kernel/composed_kernel.h"

namespace mercer::kernel {
namespace {

class SumKernel final : public ComposedKernel {
 public:
  explicit SumKernel(const Parameters& canonical)
      : ComposedKernel(canonical, Composition::Rule::sum) {}

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    double sum = 0;
    for (const auto& part : parts()) sum += part->value(d, x, y);
    return variance() * sum;
  }

  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    std::vector<std::shared_ptr<const Differential>> own;
    for (const auto& part : parts()) own.push_back(part->differential(p, q));
    return make_differential(
        [this, own = std::move(own)](int64_t d, const double* x, const double* y) {
          double sum = 0;
          for (const auto& part : own) sum += part->at(d, x, y);
          return variance() * sum;
        });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    for (const auto& part : parts()) part->add_gradient(factor * variance(), d, x, y, out);
  }
};

}  // namespace

KernelEntry sum_entry() {
  return composed_entry<SumKernel>("sum", "sum_i k_i(x, y) of the parts",
                                   "the kernels that are added, each with its own parameters");
}

}  // namespace mercer::kernel
