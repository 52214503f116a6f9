// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Moments of a map's estimate of the kernel in closed form: a capability (FeatureMap::moments()).
#pragma once

#include <optional>

#include "moment/column_products.h"

namespace mercer::feature {

class FeatureMap;
using moment::ColumnMoments;

/// At one pair of rows of inputs() numbers; the estimate is Re z(x) z(y)^H.
class Moments {
 public:
  virtual ~Moments() = default;
  virtual double variance_at(const double* x, const double* y) const = 0;
  /// False: it is that of independent columns, and the map's own depend on each other.
  virtual bool is_exact() const { return true; }
  /// For a real map the variance.
  virtual double pseudo_variance_at(const double* x, const double* y) const {
    return variance_at(x, y);
  }
  /// The estimate's mean less FeatureMap::estimated_kernel.
  virtual double bias_at(const double* /*x*/, const double* /*y*/) const { return 0; }
  /// The covariance of the estimates at (x, y) and (x, z), for i.i.d. columns.
  virtual std::optional<double> covariance_at(const double* /*x*/, const double* /*y*/,
                                              const double* /*z*/) const {
    return std::nullopt;
  }
  /// Moments of the columns, where they are i.i.d., or treated as such as in variance_at, or depend
  /// on each other in blocks.
  virtual std::optional<ColumnMoments> columns_at(const double* /*x*/, const double* /*y*/) const {
    return std::nullopt;
  }
};

/// columns_at for i.i.d. columns, from variance and pseudo-variance.
ColumnMoments independent_columns(const FeatureMap& map, const double* x, const double* y);

}  // namespace mercer::feature
