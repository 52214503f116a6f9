// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// phi(t) = int cos(w t) exp(-w^{2q}) dw / int exp(-w^{2q}) dw as Taylor polynomials about the
// multiples of 1/2. Their coefficients phi^{(m)}(t_i)/m! = E w^m cos(w t_i + m pi/2)/m! come from
// the trapezoidal rule, whose error for so smooth a density is the characteristic function itself
// at 2 pi/step - t (Poisson summation), here beyond the table's end.
#include <cmath>

#include "kernel/even_power_law.h"

namespace mercer::kernel {
namespace {

constexpr double kSpacing = 0.5;
constexpr int kTerms = 12;          // remainder (1/4)^12/12! E w^12 < 2e-16 for q >= 2
constexpr double kNegligible = 40;  // e^{-40} < 1e-17

// Where |phi| falls below e^{-40}: the saddle point of i w t - w^{2q} gives its decay exponent
// (1 - 1/2q) t (t/2q)^{1/(2q-1)} sin(pi/(2(2q-1))).
double table_end(int64_t order) {
  const double two_q = 2 * static_cast<double>(order);
  const double pi = std::acos(-1.0);
  double t = 0;
  double decay = 0;
  while (decay < kNegligible) {
    t += kSpacing;
    decay = (1 - 1 / two_q) * t * std::pow(t / two_q, 1 / (two_q - 1)) *
            std::sin(pi / (2 * (two_q - 1)));
  }
  return t;
}

}  // namespace

EvenPowerCharacteristic::EvenPowerCharacteristic(int64_t order) : limit_(table_end(order)) {
  const double two_q = 2 * static_cast<double>(order);
  const double step = std::acos(-1.0) / limit_;
  const double reach = std::pow(kNegligible, 1 / two_q);
  std::vector<double> node = {0};
  std::vector<double> weight = {0.5};
  double mass = 0.5;
  for (double w = step; w < reach; w = step * static_cast<double>(node.size())) {
    node.push_back(w);
    weight.push_back(std::exp(-std::pow(w, two_q)));
    mass += weight.back();
  }
  const auto centres = static_cast<size_t>(std::lround(limit_ / kSpacing)) + 1;
  coefficients_.assign(centres * kTerms, 0.0);
  for (size_t i = 0; i < centres; ++i) {
    double* coefficient = &coefficients_[i * kTerms];
    for (size_t k = 0; k < node.size(); ++k) {
      const double angle = node[k] * (kSpacing * static_cast<double>(i));
      const double c = std::cos(angle);
      const double s = std::sin(angle);
      const double derivative[4] = {c, -s, -c, s};
      double power = weight[k] / mass;
      for (int m = 0; m < kTerms; ++m) {
        coefficient[m] += power * derivative[m % 4];
        power *= node[k] / (m + 1);
      }
    }
  }
  coefficients_[0] = 1;  // phi(0), whatever the sum's rounding
}

double EvenPowerCharacteristic::operator()(double t) const noexcept {
  t = std::fabs(t);
  if (!(t < limit_)) return std::isnan(t) ? t : 0;
  const auto i = static_cast<size_t>(t / kSpacing + 0.5);
  const double s = t - kSpacing * static_cast<double>(i);
  const double* coefficient = &coefficients_[i * kTerms];
  double sum = coefficient[kTerms - 1];
  for (int m = kTerms - 2; m >= 0; --m) sum = sum * s + coefficient[m];
  return sum;
}

}  // namespace mercer::kernel
