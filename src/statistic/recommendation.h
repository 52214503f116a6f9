// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which map of a kernel suits given rows: the errors that closed-form variances predict, or that
// draws have where there are none of dependent columns, and the time a row takes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/numbers.h"
#include "base/parameters.h"
#include "feature/feature_map.h"

namespace mercer::statistic {

/// The requirement on a map: at most this error, with as few features as that takes, or, if error
/// is 0, this number of features.
struct Aim {
  double error = 0;
  int64_t features = 0;      // with an error: at most so many
  bool by_features = false;  // order by the number of features, not by time
};

struct Suggestion {
  Parameters asked;  // canonical parameters of the map
  std::shared_ptr<const feature::FeatureMap> map;
  /// predicted_error; where that is a yardstick alone, the root mean square of three draws.
  double error = 0;
  double seconds =
      kNaN;  // a row of features in single precision; NaN beside maps that reach the error
  bool reached = false;  // the error asked for
};

/// Real maps of `kernel` that have a predicted error on these rows, the best first: of every entry
/// of the table those of its first two choices, with its other defaults. kernel: canonical
/// parameters. Errors: INVALID_ARGUMENT if there is none.
std::vector<Suggestion> recommend(const Parameters& kernel, const Aim& aim, uint64_t seed,
                                  MatrixView<const double> X, Context& context);

}  // namespace mercer::statistic
