// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A learnt function of several outputs, f(x) = offset + scale * Phi(x)'theta. A constant field has
// neither divergence nor curl, so that the offset leaves fields what they are; their one scale is
// part of theta.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result_view.h"
#include "base/rows.h"
#include "feature/field/field_map.h"
#include "solver/loss.h"

namespace mercer::model {

struct OperatorModel {
  std::shared_ptr<const feature::FieldMap> map;
  std::vector<double> theta;           // r
  double lambda = 0;                   // it was learnt with
  const solver::Loss* loss = nullptr;  // null: squares
  std::vector<double> offset = {};     // p; empty: zeros
  std::vector<double> scale = {};      // p > 0; empty: ones
  std::string metadata = {};           // the caller's
  std::string report = {};             // of the search, a JSON object; empty: none
  int64_t rows = 0;                    // N of N lambda; 0: a file that does not say

  MatrixView<const double> coefficients() const {
    return {theta.data(), static_cast<int64_t>(theta.size()), 1};
  }
};

/// FieldMap::multiply of the model. Of the stream function of divergence_free and the potential of
/// any other kernel the offset is a part, which grows with x and is 0 at the origin. Errors:
/// UNSUPPORTED for what sums over outputs where each has a scale of its own.
void predict(const OperatorModel& model, const Rows& X, feature::FieldKind kind, Context& context,
             const ResultView& out);

}  // namespace mercer::model
