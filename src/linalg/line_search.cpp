// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Bracketing and zooming in one loop (Nocedal, Wright, Numerical Optimization, 2nd edition,
// algorithms 3.5 and 3.6, with their cubic step 3.59), and the approximate Wolfe condition of
// Hager, Zhang 2005 (4.1): the difference of two values loses all digits where slopes still have
// half of theirs.
#include "linalg/line_search.h"

#include <algorithm>
#include <cmath>

namespace mercer::linalg {
namespace {

constexpr double kDecrease = 1e-4;   // c1
constexpr double kCurvature = 0.9;   // c2
constexpr double kExpansion = 4;     // factor on a step that is still steep
constexpr double kLeastShare = 0.1;  // least share of the bracket on either side of a step

bool is_finite(const RayPoint& point) {
  return std::isfinite(point.value) && std::isfinite(point.slope);
}

class Search {
 public:
  Search(const RayPoint& start, double noise)
      : start_(start), low_(start), noise_(noise * std::abs(start.value)) {}

  bool accepts(const RayPoint& p) const {
    if (!is_finite(p) || std::abs(p.slope) > -kCurvature * start_.slope) return false;
    if (p.value <= start_.value + kDecrease * p.step * start_.slope) return true;
    const bool alike = std::abs(p.value - start_.value) <= noise_;
    return alike && p.slope <= (2 * kDecrease - 1) * start_.slope;
  }

  /// A rejected point moves one end of the bracket.
  void narrow(const RayPoint& p) {
    const double line = start_.value + kDecrease * p.step * start_.slope;
    if (!is_finite(p) || p.value > std::min(line, low_.value) + noise_) {
      high_ = p;
      bracketed_ = true;
      return;
    }
    const bool turned = bracketed_ ? p.slope * (high_.step - low_.step) >= 0 : p.slope >= 0;
    if (turned) high_ = low_;
    bracketed_ |= turned;
    low_ = p;
  }

  double next_step() const {
    if (!bracketed_) return kExpansion * low_.step;
    const double width = high_.step - low_.step;
    double share = is_finite(high_) ? minimum() : 0.5;
    if (!std::isfinite(share)) share = 0.5;
    return low_.step + width * std::clamp(share, kLeastShare, 1 - kLeastShare);
  }

  bool closed() const {
    return bracketed_ && std::abs(high_.step - low_.step) <=
                             1e-15 * std::max(std::abs(high_.step), std::abs(low_.step));
  }
  /// The lowest step so far; 0 if no point was lower than the start.
  double lowest() const { return low_.value < start_.value ? low_.step : 0; }

 private:
  /// Minimum of the cubic through both ends, as a share of the way from low to high; from the
  /// slopes alone where the values do not differ.
  double minimum() const {
    const double width = high_.step - low_.step;
    if (std::abs(high_.value - low_.value) <= noise_)
      return low_.slope / (low_.slope - high_.slope);
    const double mean = low_.slope + high_.slope - 3 * (high_.value - low_.value) / width;
    const double root = std::copysign(std::sqrt(mean * mean - low_.slope * high_.slope), width);
    return 1 - (high_.slope + root - mean) / (high_.slope - low_.slope + 2 * root);
  }

  RayPoint start_, low_, high_;
  double noise_;
  bool bracketed_ = false;
};

}  // namespace

RayPoint wolfe_step(const std::function<RayPoint(double)>& phi, const RayPoint& start,
                    const LineSearchOptions& options) {
  Search search(start, options.noise);
  double step = options.first_step;
  for (int64_t k = 0; k < options.most_evaluations && !search.closed(); ++k) {
    const RayPoint point = phi(step);
    if (search.accepts(point)) return point;
    search.narrow(point);
    step = search.next_step();
  }
  // Without a Wolfe step, the lowest point is better than nothing.
  return search.lowest() == 0 ? start : phi(search.lowest());
}

}  // namespace mercer::linalg
