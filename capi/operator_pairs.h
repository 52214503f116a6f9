// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Answers about pairs of rows, a p x p block for each.
#pragma once

#include "base/size.h"
#include "operator/operator_map.h"
#include "row_arguments.h"

namespace mercer::capi {

/// fill(x, y, blocks) of rows of doubles, as many in X as in Y, of the map's inputs.
template <class Fill>
void answer_pairs(const operators::OperatorMap& map, const mercer_rows* X, const mercer_rows* Y,
                  const mercer_matrix* out, Context& running, const Fill& fill) {
  const auto x = read_rows("X", X, map.inputs(), "the map's inputs", running);
  const auto y = read_rows("Y", Y, map.inputs(), "the map's inputs", running);
  check_same_rows(y, x);
  const Result result("out", out, x.n(), checked_multiply(map.outputs(), map.outputs(), "variance"),
                      running);
  result.check_apart(x);
  result.check_apart(y);
  fill(DoubleRows(x, running).view(), DoubleRows(y, running).view(), result.view());
  result.finish();
}

}  // namespace mercer::capi
