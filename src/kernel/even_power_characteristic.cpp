// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// phi(t) = int cos(w t) exp(-w^{2q}) dw / int exp(-w^{2q}) dw as Taylor polynomials about the
// multiples of 1/2, and its derivatives likewise. Their coefficients
//   phi^{(m)}(t_i)/m! = E w^m cos(w t_i + m pi/2)/m!
// come from the trapezoidal rule, whose error for so smooth a density is the characteristic function itself
// at 2 pi/step - t (Poisson summation), here beyond the table's end.
#include <algorithm>
#include <cmath>

#include "kernel/even_power_law.h"

namespace mercer::kernel {
namespace {

constexpr double kSpacing = 0.5;
// Remainder (1/4)^12/12! E w^12 < 2e-16 for q >= 2; of derivative 64, (1/4)^18/18! E w^82 / E w^64
// < 1e-18.
constexpr size_t kTerms = 12, kDerivativeTerms = 18;
constexpr double kNegligible = 40;  // e^{-40} < 1e-17

// The t from which |phi| is below e^{-40}: the saddle point of i w t - w^{2q} gives its decay
// exponent (1 - 1/2q) t (t/2q)^{1/(2q-1)} sin(pi/(2(2q-1))). A derivative has the power of the
// saddle's |w| as a further factor.
double table_end(int64_t order, int64_t derivative) {
  const double two_q = 2 * static_cast<double>(order);
  const double pi = std::acos(-1.0);
  double t = 0;
  double decay = 0;
  while (decay < kNegligible) {
    t += kSpacing;
    const double saddle = std::pow(t / two_q, 1 / (two_q - 1));
    decay = (1 - 1 / two_q) * t * saddle * std::sin(pi / (2 * (two_q - 1)));
    if (derivative > 0) decay -= static_cast<double>(derivative) * std::log(std::max(saddle, 1.0));
  }
  return t;
}

// w^2q beyond which w^derivative exp(-w^2q) is negligible: G - derivative/2q log G = kNegligible.
double reach_power(double two_q, int64_t derivative) {
  double G = kNegligible;
  for (int step = 0; derivative > 0 && step < 20; ++step)
    G = kNegligible + static_cast<double>(derivative) / two_q * std::log(G);
  return G;
}

}  // namespace

EvenPowerCharacteristic::EvenPowerCharacteristic(int64_t order, int64_t derivative)
    : terms_(derivative == 0 ? kTerms : kDerivativeTerms),
      is_odd_(derivative % 2 != 0),
      limit_(table_end(order, derivative)) {
  const double two_q = 2 * static_cast<double>(order);
  const double step = std::acos(-1.0) / limit_;
  const double reach = std::pow(reach_power(two_q, derivative), 1 / two_q);
  std::vector<double> node = {0};
  std::vector<double> weight = {derivative == 0 ? 0.5 : 0};
  double mass = 0.5;
  for (double w = step; w < reach; w = step * static_cast<double>(node.size())) {
    const double density = std::exp(-std::pow(w, two_q));
    node.push_back(w);
    mass += density;
    weight.push_back(derivative == 0 ? density
                                     : density * std::pow(w, static_cast<double>(derivative)));
  }
  // A node times a centre is a whole multiple of pi over the last centre's number.
  const auto last = static_cast<size_t>(std::lround(limit_ / kSpacing)), centres = last + 1;
  std::vector<double> cosine(2 * last), sine(2 * last);
  for (size_t k = 0; k < 2 * last; ++k) {
    const double angle = std::acos(-1.0) * static_cast<double>(k) / static_cast<double>(last);
    cosine[k] = std::cos(angle);
    sine[k] = std::sin(angle);
  }
  std::vector<double> powers;  // of each node, over factorials
  for (size_t k = 0; k < node.size(); ++k) {
    double power = weight[k] / mass;
    for (size_t m = 0; m < terms_; ++m) {
      powers.push_back(power);
      power *= node[k] / static_cast<double>(m + 1);
    }
  }
  coefficients_.assign(centres * terms_, 0.0);
  for (size_t i = 0; i < centres; ++i) {
    double* coefficient = &coefficients_[i * terms_];
    for (size_t k = 0; k < node.size(); ++k) {
      const double c = cosine[k * i % (2 * last)], s = sine[k * i % (2 * last)];
      const double turned[4] = {c, -s, -c, s};
      for (size_t m = 0; m < terms_; ++m)
        coefficient[m] +=
            powers[k * terms_ + m] * turned[(static_cast<size_t>(derivative) + m) % 4];
    }
  }
  if (derivative == 0) coefficients_[0] = 1;  // phi(0), whatever the sum's rounding
}

const double* EvenPowerCharacteristic::polynomial(double t, double* s) const noexcept {
  const auto i = static_cast<size_t>(t / kSpacing + 0.5);
  *s = t - kSpacing * static_cast<double>(i);
  return &coefficients_[i * terms_];
}

double EvenPowerCharacteristic::operator()(double t) const noexcept {
  const double sign = is_odd_ && t < 0 ? -1 : 1;
  t = std::fabs(t);
  if (!(t < limit_)) return std::isnan(t) ? t : 0;
  double s;
  const double* const coefficient = polynomial(t, &s);
  double sum = coefficient[terms_ - 1];
  for (size_t m = terms_ - 1; m-- > 0;) sum = sum * s + coefficient[m];
  return sign * sum;
}

double EvenPowerCharacteristic::slope(double t) const noexcept {
  const double sign = !is_odd_ && t < 0 ? -1 : 1;
  t = std::fabs(t);
  if (!(t < limit_)) return std::isnan(t) ? t : 0;
  double s;
  const double* const coefficient = polynomial(t, &s);
  double sum = 0;
  for (size_t m = terms_ - 1; m > 0; --m) sum = sum * s + static_cast<double>(m) * coefficient[m];
  return sign * sum;
}

}  // namespace mercer::kernel
