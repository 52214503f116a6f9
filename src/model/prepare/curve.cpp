// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/prepare/curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "random/scalar_math.h"

namespace mercer::model {
namespace {

using Normal = std::array<double, kRankKnots>;

double share(size_t k) noexcept {
  return (static_cast<double>(k) + 0.5) / static_cast<double>(kRankKnots);
}

/// Normal quantiles of the knots.
const Normal& normal_knots() noexcept {
  static const Normal knots = [] {
    Normal made{};
    for (size_t k = 0; k < kRankKnots; ++k) made[k] = random::normal_quantile(share(k));
    return made;
  }();
  return knots;
}

/// Linear interpolation through (from, a) and (to, b), from < to.
double between(double x, double from, double to, double a, double b) noexcept {
  return a + (b - a) * ((x - from) / (to - from));
}

double rank_of(const std::vector<double>& knots, double x) noexcept {
  const Normal& z = normal_knots();
  const auto lower = static_cast<size_t>(std::ranges::lower_bound(knots, x) - knots.begin());
  const auto upper = static_cast<size_t>(std::ranges::upper_bound(knots, x) - knots.begin());
  if (lower < upper) return 0.5 * (z[lower] + z[upper - 1]);
  if (upper == 0) return z.front();
  if (lower == kRankKnots) return z.back();
  return between(x, knots[lower - 1], knots[lower], z[lower - 1], z[lower]);
}

double number_of(const std::vector<double>& knots, double t) noexcept {
  const Normal& z = normal_knots();
  if (t <= z.front()) return knots.front();
  if (t >= z.back()) return knots.back();
  const auto upper = static_cast<size_t>(std::ranges::upper_bound(z, t) - z.begin());
  return between(t, z[upper - 1], z[upper], knots[upper - 1], knots[upper]);
}

/// The median of |x| over x != 0; 0 if there is none.
double typical_size(const SortedColumn& column) {
  std::vector<std::pair<double, double>> sizes;
  double total = 0;
  column.for_each([&](double x, double weight) {
    if (x == 0) return;
    sizes.emplace_back(std::abs(x), weight);
    total += weight;
  });
  std::ranges::sort(sizes);
  double sum = 0;
  for (const auto& [size, weight] : sizes)
    if ((sum += weight) >= 0.5 * total) return size;
  return 0;
}

}  // namespace

double Curve::operator()(double x) const noexcept {
  if (kind == Transform::none || std::isnan(x)) return x;
  if (kind == Transform::rank) return rank_of(knots, x);
  return std::copysign(std::log1p(std::abs(x) / knots[0]), x);
}

double Curve::inverse(double t) const noexcept {
  if (kind == Transform::none || std::isnan(t)) return t;
  if (kind == Transform::rank) return number_of(knots, t);
  return std::copysign(knots[0] * std::expm1(std::abs(t)), t);
}

Curve make_curve(Transform kind, const SortedColumn& column) {
  Curve curve{kind, {}};
  if (kind == Transform::log) curve.knots = {typical_size(column)};
  if (kind == Transform::log && !(curve.knots[0] > 0)) return {};
  for (size_t k = 0; kind == Transform::rank && k < kRankKnots; ++k)
    curve.knots.push_back(column.quantile(share(k)));
  return curve;
}

bool is_skewed(const SortedColumn& column) {
  double total = 0, mean = 0, squares = 0, cubes = 0;
  column.for_each([&](double x, double weight) {
    total += weight;
    mean += weight * (x - mean) / total;
  });
  column.for_each([&](double x, double weight) {
    const double t = x - mean;
    squares += weight * t * t;
    cubes += weight * t * t * t;
  });
  const double deviation = std::sqrt(squares / total);
  return std::abs(cubes / total) > deviation * deviation * deviation;
}

size_t knot_count(Transform kind) noexcept {
  if (kind == Transform::none) return 0;
  return kind == Transform::log ? 1 : kRankKnots;
}

void check_curve(const Curve& curve, const char* what) {
  const bool finite = std::ranges::all_of(curve.knots, [](double x) { return std::isfinite(x); });
  require(curve.knots.size() == knot_count(curve.kind) && finite &&
              std::ranges::is_sorted(curve.knots) &&
              (curve.kind != Transform::log || curve.knots[0] > 0),
          MERCER_INVALID_ARGUMENT, "%s: a curve with knots that are not finite or in order", what);
}

}  // namespace mercer::model
