// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Product rule and chain rule for one input: for logarithms, x d/dx (x d/dx - 1) ... turns powers
// of x d/dx into derivatives (Comtet 1974, chapter V); for Gaussian factors, Hermite polynomials.
#include "transform/row_derivative.h"

#include <cmath>
#include <utility>

namespace mercer::transform {
namespace {

class Plain final : public RowDerivative {
 public:
  int64_t least(int64_t p) const noexcept override { return p; }
  double coefficient(int64_t, int64_t, int64_t, double) const noexcept override { return 1; }
};

class LogShift final : public RowDerivative {
 public:
  LogShift(double shift, int64_t most) : shift_(shift) {
    for (int64_t p = 0; p <= most; ++p)
      for (int64_t q = 0; q <= p; ++q) stirling_.push_back(next(p, q));
  }
  int64_t least(int64_t p) const noexcept override { return p == 0 ? 0 : 1; }
  double coefficient(int64_t, int64_t p, int64_t q, double x) const noexcept override {
    return at(p, q) / std::pow(x + shift_, static_cast<double>(p));
  }

 private:
  double at(int64_t p, int64_t q) const noexcept { return stirling_[p * (p + 1) / 2 + q]; }
  // s(p, q) = s(p - 1, q - 1) - (p - 1) s(p - 1, q).
  double next(int64_t p, int64_t q) const noexcept {
    if (p == 0) return 1;
    const double above = q == 0 ? 0 : at(p - 1, q - 1);
    return q == p ? above : above - static_cast<double>(p - 1) * at(p - 1, q);
  }

  double shift_;
  std::vector<double> stirling_;  // rows p of a triangle
};

class Radial final : public RowDerivative {
 public:
  explicit Radial(std::vector<double> a) : a_(std::move(a)) {}
  int64_t least(int64_t) const noexcept override { return 0; }
  double coefficient(int64_t k, int64_t p, int64_t q, double x) const noexcept override {
    const double a = a_[a_.size() > 1 ? static_cast<size_t>(k) : 0];
    double before = 0, now = 1, choices = 1;
    for (int64_t n = 0; n < p - q; ++n) {
      const double next = -a * (x * now + static_cast<double>(n) * before);
      before = now;
      now = next;
      choices *= static_cast<double>(p - n) / static_cast<double>(n + 1);
    }
    return choices * now;
  }

 private:
  std::vector<double> a_;
};

}  // namespace

std::shared_ptr<const RowDerivative> plain_derivative() {
  static const auto made = std::make_shared<const Plain>();
  return made;
}
std::shared_ptr<const RowDerivative> log_shift_derivative(double shift) {
  constexpr int64_t kMost = 32;  // the highest order supported
  return std::make_shared<const LogShift>(shift, kMost);
}
std::shared_ptr<const RowDerivative> radial_derivative(std::vector<double> a) {
  return std::make_shared<const Radial>(std::move(a));
}

}  // namespace mercer::transform
