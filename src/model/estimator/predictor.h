// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a kind of model has learnt. All else that a fitted model holds, its map, preprocessing and
// options, is the same for every kind and lies in Model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/matrix_view.h"
#include "solver/ridge.h"

namespace mercer::model {

/// Variances of principal components, and of the features in all directions; empty: there are none.
struct Components {
  std::vector<double> variances;
  double total = 0;
};

class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual int64_t features() const = 0;  // of the map that it was fitted on
  virtual int64_t outputs() const = 0;   // scores per row
  /// scores (rows x outputs) of a block of features. Called many times: no allocation.
  virtual void predict(MatrixView<const double> Z, MatrixView<double> scores) const = 0;
  /// The numbers that files keep, one span for each of the entry's sections.
  virtual std::vector<std::span<const double>> numbers() const = 0;
  /// INVALID_ARGUMENT for numbers that could not be read back.
  virtual void check() const = 0;
  /// The weights, if scores are Z w + intercept, else null.
  virtual const solver::Weights* linear() const { return nullptr; }
};

/// Scores Z w + 1 intercept': of ridge, and of every model that is linear in the features.
std::shared_ptr<const Predictor> make_linear(solver::Weights weights);

}  // namespace mercer::model
