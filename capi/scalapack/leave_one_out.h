// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Leave-one-out errors of ridge regression by one more pass over the rows: the residual of a row left
// out is that of the fit over 1 - h, h its leverage z'A^{-1}z with A = Z'Z + n lambda I. With a
// root R R' = A^{-1} that is |R'z|^2, which (RS)'z estimates without bias for random signs S over
// the root of their columns: features still do not travel.
#pragma once

#include <cstdint>
#include <vector>

#include "centered_rows.h"
#include "processes.h"

namespace mercer::scalapack {

/// S: D x probes; the unit matrix if there are as many probes as D, when leverages are exact.
class Probes {
 public:
  Probes(int64_t features, int64_t probes) noexcept;
  int64_t count() const noexcept { return count_; }
  double at(int64_t row, int64_t column) const noexcept;

 private:
  int64_t count_;
  bool is_exact_;
  double scale_;
};

class LeaveOneOut {
 public:
  /// Refers to both.
  LeaveOneOut(CenteredRows& rows, const Probes& probes) : rows_(rows), probes_(probes) {}

  const Probes& probes() const noexcept { return probes_; }
  /// One penalty more: D x m weights and D x probes of RS, row-major in the order of places.
  void add(const std::vector<double>& weights, const std::vector<double>& roots);
  /// For each penalty and target the sum of squared errors, rows weighted as in the sums, of rows
  /// that are centered.
  std::vector<double> squares(bool centers);

 private:
  int64_t width() const noexcept { return targets() + probes_.count(); }  // of a penalty
  int64_t targets() const noexcept { return static_cast<int64_t>(rows_.sums().y.sum.size()); }
  void add_errors(int64_t first, int64_t count, const std::vector<double>& products, bool centers);

  CenteredRows& rows_;
  const Probes& probes_;
  int64_t penalties_ = 0;
  std::vector<double> vectors_;  // of all penalties
  std::vector<double> squares_;
};

}  // namespace mercer::scalapack
