// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = variance (gamma x'y + offset)^degree (SPEC section 4). No spectral law: its maps are
// sketches, and for degree 1 without offset, which is the plain inner product, the linear map.
#include <cmath>
#include <string>

#include "base/error.h"
#include "kernel/domain.h"
#include "kernel/inner_product.h"
#include "kernel/kernel.h"

namespace mercer::kernel {
namespace {

class Polynomial final : public Kernel {
 public:
  Polynomial(int64_t degree, double gamma, double offset, double variance)
      : Kernel(variance, {}), degree_(degree), gamma_(gamma), offset_(offset) {}
  std::string_view name() const noexcept override { return "polynomial"; }

  Parameters parameters() const override {
    Parameters all;
    all.set("kernel", std::string(name()));
    all.set("degree", degree_);
    all.set("gamma", gamma_);
    all.set("offset", offset_);
    all.set("variance", variance_);
    return all;
  }

  // A power of an integral exponent takes a negative base, too.
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance_ *
           std::pow(gamma_ * inner_product(d, x, y) + offset_, static_cast<double>(degree_));
  }

 private:
  int64_t degree_;
  double gamma_;
  double offset_;
};

}  // namespace

std::unique_ptr<Kernel> make_polynomial(int64_t degree, double gamma, double offset,
                                        double variance) {
  require(degree >= 1 && degree <= kMostDegree, MERCER_INVALID_ARGUMENT,
          "degree = %lld, expected 1 to %lld", static_cast<long long>(degree),
          static_cast<long long>(kMostDegree));
  require_positive("gamma", gamma);
  require(std::isfinite(offset) && offset >= 0, MERCER_INVALID_ARGUMENT,
          "offset = %g, expected a finite number >= 0", offset);
  return std::make_unique<Polynomial>(degree, gamma, offset, variance);
}

}  // namespace mercer::kernel
