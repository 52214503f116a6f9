// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Search for lengthscale and lambda on held-out rows: coarse to fine on a subsample with few
// features, the last candidates at the full D (the lengthscale best for few features is too long
// for many), then one full fit.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "model/model.h"

namespace mercer::model {

struct SearchCandidate {
  int64_t stage;  // 0 coarse, 1 fine, 2 full number of features, 3 all training rows: what is kept
  int64_t features;    // D of this trial
  int64_t rows;        // rows fitted on
  double lengthscale;  // in units of the standardised inputs; 0: the kernel has none
  double lambda;       // the best on the held-out rows
  double score;  // held-out mean squared error over the outputs' variance (1 - R^2; NaN where an
                 // output is constant there), or the error rate
  double seconds;
};

struct SearchOptions {
  FitOptions fit;           // task, standardisation, precision, seed; selection is the search's own
  int64_t features = 2048;  // D of the final map
  double lengthscale = 0;   // > 0: not searched (then lambda alone is)
  double lambda = -1;       // >= 0: not searched
  double held_out_fraction = 0.1;
  int64_t coarse_rows = 8000;  // of the subsample
  int64_t coarse_features = 1024;
  void (*report)(void* user, const SearchCandidate& candidate) =
      nullptr;  // on the calling thread, must not throw
  void* user = nullptr;
};

/// `make(lengthscale, D)` builds the candidate: the caller knows kernel and projection. At x it is
/// make(1, D) at x / lengthscale, so that trials of many lengthscales share one map's draws.
struct MapMaker {
  virtual ~MapMaker() = default;
  /// False: the kernel has no lengthscale, make() ignores its first argument and lambda alone is
  /// searched.
  virtual bool has_lengthscale() const { return true; }
  virtual std::shared_ptr<const feature::FeatureMap> make(double lengthscale,
                                                          int64_t features) const = 0;
  /// True: candidates are made from the standardised rows that they are trained on, by make_from
  /// alone, each for itself.
  virtual bool needs_rows() const { return false; }
  /// The largest D that make_from can make from so many rows.
  virtual int64_t most_features(int64_t) const { return std::numeric_limits<int64_t>::max(); }
  virtual std::shared_ptr<const feature::FeatureMap> make_from(double lengthscale, int64_t features,
                                                               const Rows&, Context&) const {
    return make(lengthscale, features);
  }
};

/// The model is fitted on all rows with the best lengthscale and lambda; its path holds the lambdas
/// of the last stage with their held-out scores. Memory: 2 x 8 D^2 bytes and a row block (n x D for
/// n < D). Errors: as fit.
Model search(const MapMaker& maker, const SearchOptions& options, const Rows& X,
             MatrixView<const double> Y, Context& context);

}  // namespace mercer::model
