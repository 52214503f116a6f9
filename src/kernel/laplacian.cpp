// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = exp(-||tau||_1); omega has independent Cauchy coordinates (Rahimi, Recht 2007, figure
// 1).
#include <cmath>
#include <utility>

#include "kernel/coordinate_kernel.h"
#include "kernel/domain.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

class CauchyLaw final : public random::Law {
 public:
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::fill_cauchy(stream, 0, omega);
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return true; }
  // tan(pi (u - 1/2)); in the tails through u and 1 - u themselves, where u - 1/2 would round.
  double quantile(double u) const noexcept override {
    if (u < 0.25) return -1 / random::portable_tan_half_turns(u);
    if (u > 0.75) return 1 / random::portable_tan_half_turns(1 - u);
    return random::portable_tan_half_turns(u - 0.5);
  }
};

class Laplacian final : public CoordinateKernel<Laplacian, Sum> {
 public:
  Laplacian(std::vector<double> lengthscale, double variance)
      : CoordinateKernel(variance, std::move(lengthscale)) {}
  std::string_view name() const noexcept override { return "laplacian"; }
  const random::Law* spectral_law() const noexcept override { return &law_; }

  void add_own(Parameters&) const {}
  double term(double x, double y, double scale) const noexcept {
    return std::fabs((x - y) * scale);
  }
  double finish(double norm) const noexcept { return std::exp(-norm); }

 private:
  CauchyLaw law_;
};

}  // namespace

std::unique_ptr<Kernel> make_laplacian(std::vector<double> lengthscale, double variance) {
  return std::make_unique<Laplacian>(checked_lengthscale(std::move(lengthscale)), variance);
}

}  // namespace mercer::kernel
