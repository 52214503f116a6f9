// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Functions of all pairs of rows: two sets of them in, a matrix out.
#pragma once

#include "row_arguments.h"

namespace mercer::capi {

/// body(X, Y, K): X and Y, Rows as they are, of as many columns, one at least, K n x m in double,
/// which shares no element with them and is rounded to the caller's floats.
template <class Body>
void with_pairs(const mercer_rows& X, const mercer_rows& Y, const mercer_matrix& K,
                Context& context, const Body& body) {
  const auto x = read_rows("X", X, context);
  check_at_least("X.d", x.d(), 1);
  const auto y = read_rows("Y", Y, x.d(), "the columns of X", context);
  const Result result("K", K, x.n(), y.n(), context);
  result.check_apart(x);
  result.check_apart(y);
  body(x, y, result.view());
  result.finish();
}

}  // namespace mercer::capi
