// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features whose rows are divided by a number each, and these numbers: a capability
// (FeatureMap::row_scales()).
#pragma once

#include <span>

#include "base/context.h"
#include "base/matrix_view.h"
#include "base/result_view.h"
#include "base/rows.h"

namespace mercer::feature {

class Moments;

class RowScales {
 public:
  virtual ~RowScales() = default;
  /// Z as FeatureMap::apply gives all its columns; exp(logs[i]) Z(i, :) estimate the kernel. X is
  /// dense. NaN where a row is not finite.
  virtual void apply_scaled(const Rows& X, Context& context, const ResultView& Z,
                            std::span<double> logs) const = 0;
  /// dL/dX of a real loss L from Z and from G(i, :) = exp(logs[i]) dL/dphi(x_i), phi the features that
  /// estimate the kernel: those of Z times exp(logs).
  virtual void pull_scaled_back(MatrixView<const float> X, MatrixView<const float> Z,
                                MatrixView<const float> G, Context& context,
                                MatrixView<float> out) const = 0;
  virtual void pull_scaled_back(MatrixView<const double> X, MatrixView<const double> Z,
                                MatrixView<const double> G, Context& context,
                                MatrixView<double> out) const = 0;
  /// Of the features that estimate the kernel.
  virtual const Moments& scaled_moments() const = 0;
};

}  // namespace mercer::feature
