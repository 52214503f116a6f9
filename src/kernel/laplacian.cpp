// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = exp(-||tau||_1); omega has independent Cauchy coordinates (Rahimi, Recht 2007, figure
// 1). Of widths of density w exp(-w), int w exp(-w) max(0, 1 - t/w) dw = exp(-t).
#include <cmath>

#include "kernel/coordinate_kernel.h"
#include "kernel/coordinate_law.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

class CauchyLaw final : public CoordinateLaw<random::fill_cauchy> {
 public:
  // tan(pi (u - 1/2)); in the tails through u and 1 - u themselves, where u - 1/2 would round.
  double quantile(double u) const noexcept override {
    if (u < 0.25) return -1 / random::portable_tan_half_turns(u);
    if (u > 0.75) return 1 / random::portable_tan_half_turns(1 - u);
    return random::portable_tan_half_turns(u - 0.5);
  }
  double density(std::span<const double> omega) const noexcept override {
    double product = 1;
    for (const double w : omega) product *= 0.31830988618379067154 / (1 + w * w);  // 1/pi
    return product;
  }
};

/// w of density w exp(-w), the sum of two exponential numbers (Rahimi, Recht 2007, section 4).
class BinWidthLaw final : public random::Law {
 public:
  void draw(const random::Stream& stream, std::span<double> widths) const noexcept override {
    random::Cursor cursor(stream);
    for (double& w : widths) {
      const random::Words words = cursor.next();
      w = -random::portable_log(random::uniform(words)) -
          random::portable_log(random::second_uniform(words));
    }
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return false; }  // not symmetric about 0
};

class Laplacian final : public SpectralKernel<Laplacian, Sum, CauchyLaw> {
 public:
  explicit Laplacian(const Parameters& canonical) : SpectralKernel(canonical) {}
  double term(double x, double y, double scale) const noexcept {
    return std::fabs((x - y) * scale);
  }
  double finish(double norm) const noexcept { return std::exp(log_finish(norm)); }
  double log_finish(double norm) const noexcept { return -norm; }
  bool falls_with_norm() const noexcept override { return true; }  // the sum of magnitudes
  const random::Law* bin_width_law() const noexcept override { return &widths_; }

 private:
  BinWidthLaw widths_;
};

}  // namespace

KernelEntry laplacian_entry() {
  return entry_of<Laplacian>("laplacian", "exp(-||tau||_1 / l)", {lengthscale_field()});
}

}  // namespace mercer::kernel
