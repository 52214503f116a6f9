// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ranges and round ticks.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "report/chart.h"

namespace mercer::cli {

namespace {

constexpr double kMargin = 0.04;  // of the range, at both ends
constexpr int kMostTicks = 7;
// Narrower ranges, as a part of the values, count as one value: their ticks would not be told apart
// in double.
constexpr double kNarrowest = 0x1p-46;

/// At 1, 2 or 5 times a power of ten.
std::vector<double> even_ticks(double low, double high) {
  const double least = (high - low) / kMostTicks * (1 - 1e-9);
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {2.0, 2.5, 2.0})
    if (step < least) step *= factor;
  std::vector<double> result;
  for (double k = std::ceil(low / step); k * step <= high; ++k) result.push_back(k * step);
  return result;
}

std::string with_digits(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

}  // namespace

Axis::Axis(const std::vector<double>& values, bool logarithmic) : logarithmic_(logarithmic) {
  bool any = false;
  for (const double value : values) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
    const double at = logarithmic ? std::log10(value) : value;
    low_ = any ? std::min(low_, at) : at;
    high_ = any ? std::max(high_, at) : at;
    any = true;
  }
  if (!any) low_ = 0, high_ = 1;
  const double size = std::max({logarithmic ? 1.0 : 0.0, std::abs(low_), std::abs(high_)});
  const double narrowest = std::max(kNarrowest * size, std::numeric_limits<double>::min());
  const double range = high_ - low_;
  const double wide = range > narrowest ? range : std::max(1e-3, std::abs(low_) * 0.1);
  low_ -= kMargin * wide;
  high_ += kMargin * wide;
}

double Axis::place(double value) const {
  return ((logarithmic_ ? std::log10(value) : value) - low_) / (high_ - low_);
}

bool Axis::shows(double value) const {
  if (!std::isfinite(value) || (logarithmic_ && value <= 0)) return false;
  const double at = place(value);
  return at >= -1e-9 && at <= 1 + 1e-9;
}

/// Of a long logarithmic axis powers of ten.
std::vector<double> Axis::ticks() const {
  if (!logarithmic_) return even_ticks(low_, high_);
  if (high_ - low_ < 2) return even_ticks(std::pow(10.0, low_), std::pow(10.0, high_));
  std::vector<double> result;
  const double decades = std::ceil((high_ - low_) / kMostTicks);
  for (double k = std::ceil(low_ / decades); k * decades <= high_; ++k)
    result.push_back(std::pow(10.0, k * decades));
  return result;
}

std::vector<std::string> tick_texts(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  std::vector<std::string> texts(values.size());
  constexpr int kFew = 6, kAll = 17;
  for (int digits = kFew; digits <= kAll; ++digits) {
    bool apart = true;
    for (size_t k = 0; k < values.size(); ++k) {
      const bool zero = std::abs(values[k]) < 1e-12 * largest;  // rounding of k * step
      texts[k] = with_digits(zero ? 0 : values[k], digits);
      apart = apart && (k == 0 || texts[k] != texts[k - 1]);
    }
    if (apart) break;
  }
  return texts;
}

}  // namespace mercer::cli
