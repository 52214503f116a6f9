// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Leave-one-out errors of ridge regression by one more pass over the rows: the residual of a row left
// out is that of the fit over 1 - h, h its leverage z'A^{-1}z with A = Z'Z + n lambda I. With a
// root R R' = A^{-1} that is |R'z|^2, which (RS)'z estimates without bias for random signs S over
// the root of their columns: features still do not travel.
#pragma once

#include <cstdint>
#include <vector>

#include "normal_sums.h"
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
  /// Refers to all of them.
  LeaveOneOut(Processes& all, SharedRows& rows, NormalSums& sums, const mercer_map* map,
              mercer_context* context, const Probes& probes)
      : all_(all), rows_(rows), sums_(sums), map_(map), context_(context), probes_(probes) {}

  const Probes& probes() const noexcept { return probes_; }
  /// One penalty more: D x m weights and D x probes of RS, row-major in the order of places.
  void add(const std::vector<double>& weights, const std::vector<double>& roots);
  /// For each penalty and target the sum of squared errors, rows weighted as in the sums. means: of
  /// features less the origin.
  std::vector<double> squares(const std::vector<double>& means, bool centers, Progress& progress);

 private:
  int64_t width() const noexcept { return targets() + probes_.count(); }  // of a penalty
  int64_t targets() const noexcept { return static_cast<int64_t>(sums_.y.sum.size()); }
  void predict(int64_t first, int64_t count);
  void add_errors(int64_t first, int64_t count, bool centers);

  Processes& all_;
  SharedRows& rows_;
  NormalSums& sums_;
  const mercer_map* map_;
  mercer_context* context_;
  const Probes& probes_;
  int64_t penalties_ = 0;
  // Columns of all penalties at this process row's places, column-major; their products with rows,
  // of this process row and of all, a column for each row.
  std::vector<double> columns_, products_, reduced_;
  std::vector<double> squares_;
};

}  // namespace mercer::scalapack
