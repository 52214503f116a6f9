// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "random/law.h"

#include <cmath>

#include "base/numbers.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::random {
namespace {

class NormalLaw final : public Law {
 public:
  void draw(const Stream& stream, std::span<double> omega) const noexcept override {
    fill_normal(stream, 0, omega);
  }
  bool isotropic() const noexcept override { return true; }
  double radius(const Stream& stream, int64_t d) const noexcept override {
    Cursor cursor(stream);
    return chi(cursor, static_cast<double>(d));
  }
  double fixed_radius(int64_t d) const noexcept override {
    return std::sqrt(static_cast<double>(d));
  }
  double scale_quantile(double) const noexcept override { return 1; }
  bool is_product() const noexcept override { return true; }
  double quantile(double u) const noexcept override { return normal_quantile(u); }
  double density(std::span<const double> omega) const noexcept override {
    double squares = 0, factor = 1;
    for (const double w : omega) {
      squares += w * w;
      factor *= 0.39894228040143267794;  // 1/sqrt(2 pi)
    }
    return factor * portable_exp(-0.5 * squares);
  }
};

class SignLaw final : public Law {
 public:
  void draw(const Stream& stream, std::span<double> omega) const noexcept override {
    fill_rademacher(stream, 0, omega);
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return true; }
  double quantile(double u) const noexcept override { return u < 0.5 ? -1 : 1; }
};

}  // namespace

double Law::radius(const Stream&, int64_t) const noexcept { return kNaN; }

double Law::fixed_radius(int64_t) const noexcept { return kNaN; }

double Law::scale_quantile(double) const noexcept { return kNaN; }

double Law::quantile(double) const noexcept { return kNaN; }

double Law::quantile_given(double m, int64_t, double u) const noexcept {
  return m * normal_quantile(u);
}

double Law::density(std::span<const double>) const noexcept { return kNaN; }

std::shared_ptr<const Law> normal_law() { return std::make_shared<const NormalLaw>(); }

std::shared_ptr<const Law> sign_law() { return std::make_shared<const SignLaw>(); }

}  // namespace mercer::random
