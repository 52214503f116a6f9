// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = variance prod_i k_i(x, y) (SPEC section 6), of parts as in sum.cpp.
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "kernel/composed_kernel.h"
#include "kernel/jet.h"

namespace mercer::kernel {
namespace {

// Derivatives of the parts of every order up to p in x and q in y, as jets in both, multiplied.
class ProductDifferential final : public Differential {
 public:
  ProductDifferential(std::span<const std::shared_ptr<const Kernel>> parts, const MultiIndex& p,
                      const MultiIndex& q, double variance)
      : jet_(joint_index(p, q)), variance_(variance) {
    for (int64_t c = 0; c < jet_.count; ++c) {
      const auto [a, b] = apart(jet_.order(c));
      for (const auto& part : parts) differentials_.push_back(part->differential(a, b));
      double factorial = 1;
      for (size_t v = 0; v < jet_.p.size(); ++v)
        for (int64_t n = 2; n <= jet_.exponent(v, c); ++n) factorial *= static_cast<double>(n);
      inverse_.push_back(1 / factorial);
    }
    parts_ = std::ssize(parts);
  }

  double at(int64_t d, const double* x, const double* y) const noexcept override {
    double product[Jet::kMost] = {1}, own[Jet::kMost];
    for (int64_t part = 0; part < parts_; ++part) {
      for (int64_t c = 0; c < jet_.count; ++c) {
        const auto at = static_cast<size_t>(c);
        own[c] = inverse_[at] *
                 differentials_[at * static_cast<size_t>(parts_) + static_cast<size_t>(part)]->at(
                     d, x, y);
      }
      jet_.multiply(product, own);
    }
    return variance_ * jet_.factorial * product[jet_.count - 1];
  }

 private:
  static std::pair<MultiIndex, MultiIndex> apart(const MultiIndex& joint) {
    std::pair<MultiIndex, MultiIndex> two;
    for (const PartialFactor& one : joint) {
      if (one.input < kOfSecond) two.first.push_back(one);
      if (one.input >= kOfSecond) two.second.push_back({one.input - kOfSecond, one.order});
    }
    return two;
  }

  Jet jet_;
  int64_t parts_;
  std::vector<std::unique_ptr<const Differential>> differentials_;  // of a coefficient, every part
  std::vector<double> inverse_;                                     // of its factorials
  double variance_;
};

class ProductKernel final : public ComposedKernel {
 public:
  explicit ProductKernel(const Parameters& canonical)
      : ComposedKernel(canonical, Composition::Rule::product) {}

  // Where a part over- or underflows, other parts may compensate: logarithms are added.
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    double product = 1;
    bool is_extreme = false, is_negative = false;
    for (const auto& part : parts()) {
      const double own = part->value(d, x, y);
      product *= own;
      is_extreme = is_extreme || !std::isnormal(own);
      is_negative = is_negative != (own < 0);
    }
    if (!is_extreme && std::isnormal(product)) return variance() * product;
    const double size = std::exp(log_size(d, x, y));
    return is_negative ? -size : size;
  }
  double log_size(int64_t d, const double* x, const double* y) const noexcept override {
    double sum = std::log(variance());
    for (const auto& part : parts()) sum += part->log_size(d, x, y);
    return sum;
  }

  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    return std::make_unique<const ProductDifferential>(parts(), p, q, variance());
  }
  // Products of the parts before and after each one, so that nothing is divided.
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const size_t count = parts().size();
    double behind[kMostParts + 1];
    behind[count] = factor * variance();
    for (size_t i = count; i-- > 0;) behind[i] = behind[i + 1] * parts()[i]->value(d, x, y);
    double before = 1;
    for (size_t i = 0; i < count; ++i) {
      parts()[i]->add_gradient(before * behind[i + 1], d, x, y, out);
      before *= parts()[i]->value(d, x, y);
    }
  }
};

}  // namespace

KernelEntry product_entry() {
  return composed_entry<ProductKernel>(
      "product", "prod_i k_i(x, y) of the parts",
      "the kernels that are multiplied, each with its own parameters");
}

}  // namespace mercer::kernel
