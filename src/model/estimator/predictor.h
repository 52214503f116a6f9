// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The part of a fitted model that depends on its kind; map, preparation and options are in Model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/numbers.h"
#include "base/views.h"
#include "solver/ridge.h"

namespace mercer::model {

/// Variances of principal components, and their total over all directions; empty: no components.
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
  /// The numbers stored in files, one span for each of the entry's sections.
  virtual std::vector<std::span<const double>> numbers() const = 0;
  /// INVALID_ARGUMENT for numbers that could not be read back.
  virtual void check() const = 0;
  /// The weights, if scores are Z w + intercept, else null.
  virtual const solver::Weights* linear() const { return nullptr; }
  /// As solver::Posterior::share_of_prior, of the processes behind classes; NaN: there are none.
  virtual double share_of_prior(MatrixView<const double>) const { return kNaN; }
};

/// Scores Z w + 1 intercept', for every model that is linear in the features.
std::shared_ptr<const Predictor> make_linear(solver::Weights weights);

}  // namespace mercer::model
