// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One axis of a chart: the range of some values, its ticks, and where a value lies on it.
#pragma once

#include <string>
#include <vector>

namespace mercer::cli {

class Axis {
 public:
  /// Finite values count; of a logarithmic axis those above 0. Without any: [0, 1] or [1, 10].
  /// Values that differ by their last digits in double alone are shown as one.
  Axis(const std::vector<double>& values, bool logarithmic);
  /// 0 at the low end, 1 at the high one.
  double place(double value) const;
  bool shows(double value) const;
  /// At 1, 2, 5 times powers of ten; of a long logarithmic axis at powers of ten alone,
  /// of a short one at even steps.
  std::vector<double> ticks() const;

 private:
  bool logarithmic_;
  double low_ = 0, high_ = 1;  // logarithms where logarithmic
};

/// A number as short as six digits allow: 0.05, 20, 1e-07.
std::string tick_text(double value);

/// Ticks, or other numbers of one axis, with as many digits as tell them apart.
std::vector<std::string> tick_texts(const std::vector<double>& values);

}  // namespace mercer::cli
