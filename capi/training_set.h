// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a fit is given: rows, and as many rows of targets.
#pragma once

#include "row_arguments.h"

namespace mercer::capi {

struct TrainingSet {
  TrainingSet(const mercer_rows* rows, const mercer_rows* targets, Context& context)
      : X(read_rows("X", rows, context)), Y(read_rows("Y", targets, context)), y(Y, context) {
    check_at_least("X->n", X.n(), 2);
    check_at_least("X->d", X.d(), 1);
    check_at_least("Y->d", Y.d(), 1);
    check_same_rows(Y, X);
  }
  RowsArgument X, Y;
  DoubleRows y;  // Y in double
};

}  // namespace mercer::capi
