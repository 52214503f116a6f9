// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "transform/row_prologue.h"

#include <cmath>
#include <limits>
#include <utility>

namespace mercer::transform {
namespace {

// Product rule and chain rule for one input: for logarithms, x d/dx (x d/dx - 1) ... turns powers
// of x d/dx into derivatives (Comtet 1974, chapter V); for Gaussian factors, Hermite polynomials.

class Plain final : public RowDerivative {
 public:
  int64_t least(int64_t p) const noexcept override { return p; }
  double coefficient(int64_t, int64_t, int64_t, double) const noexcept override { return 1; }
};

class LogShift final : public RowDerivative {
 public:
  LogShift(std::vector<double> shift, int64_t most) : shift_(std::move(shift)) {
    for (int64_t p = 0; p <= most; ++p)
      for (int64_t q = 0; q <= p; ++q) stirling_.push_back(next(p, q));
  }
  int64_t least(int64_t p) const noexcept override { return p == 0 ? 0 : 1; }
  double coefficient(int64_t k, int64_t p, int64_t q, double x) const noexcept override {
    const double shift = shift_[shift_.size() > 1 ? static_cast<size_t>(k) : 0];
    return at(p, q) / std::pow(x + shift, static_cast<double>(p));
  }

 private:
  double at(int64_t p, int64_t q) const noexcept { return stirling_[p * (p + 1) / 2 + q]; }
  // s(p, q) = s(p - 1, q - 1) - (p - 1) s(p - 1, q).
  double next(int64_t p, int64_t q) const noexcept {
    if (p == 0) return 1;
    const double above = q == 0 ? 0 : at(p - 1, q - 1);
    return q == p ? above : above - static_cast<double>(p - 1) * at(p - 1, q);
  }

  std::vector<double> shift_;
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

std::shared_ptr<const RowPrologue> log_shift_prologue(const std::vector<double>& shift) {
  return make_prologue(
      {.rewrites = true},
      [shift]<class T>(const T* x, int64_t count, T* out, T*) noexcept {
        const int64_t step = shift.size() > 1 ? 1 : 0;
        for (int64_t k = 0; k < count; ++k)
          out[k] = static_cast<T>(std::log(static_cast<double>(x[k]) + shift[k * step]));
      },
      log_shift_derivative(shift));
}

std::shared_ptr<const RowPrologue> half_line_prologue() {
  return make_prologue(
      {.rewrites = true, .keeps_zeros = true},
      []<class T>(const T* x, int64_t count, T* out, T*) noexcept {
        for (int64_t k = 0; k < count; ++k) {
          const bool inside = x[k] >= 0 && x[k] <= std::numeric_limits<T>::max();
          out[k] = inside ? x[k] : std::numeric_limits<T>::quiet_NaN();
        }
      },
      plain_derivative());
}

std::shared_ptr<const RowPrologue> unit_norm_prologue() {
  return make_prologue({.rewrites = true, .keeps_zeros = true, .needs_entries = true},
                       []<class T>(const T* x, int64_t count, T* out, T*) noexcept {
                         const double inverse = inverse_norm(count, x);
                         for (int64_t k = 0; k < count; ++k)
                           out[k] = static_cast<T>(static_cast<double>(x[k]) * inverse);
                       });
}

std::shared_ptr<const RowPrologue> binary_prologue(double threshold) {
  return make_prologue({.rewrites = true, .keeps_zeros = threshold >= 0},
                       [threshold]<class T>(const T* x, int64_t count, T* out, T*) noexcept {
                         for (int64_t k = 0; k < count; ++k) {
                           const bool above = static_cast<double>(x[k]) > threshold;
                           out[k] = std::isfinite(x[k]) ? static_cast<T>(above)
                                                        : std::numeric_limits<T>::quiet_NaN();
                         }
                       });
}

std::shared_ptr<const RowDerivative> plain_derivative() {
  static const auto made = std::make_shared<const Plain>();
  return made;
}
std::shared_ptr<const RowDerivative> log_shift_derivative(std::vector<double> shift) {
  constexpr int64_t kMost = 32;  // the highest order supported
  return std::make_shared<const LogShift>(std::move(shift), kMost);
}
std::shared_ptr<const RowDerivative> radial_derivative(std::vector<double> a) {
  return std::make_shared<const Radial>(std::move(a));
}

}  // namespace mercer::transform
