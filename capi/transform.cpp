// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/transform.h.
#include "mercer/transform.h"

#include <bit>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "row_arguments.h"
#include "transform/hadamard.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

template <class T>
void transform_rows(const mercer_matrix& X, Context& context) {
  const Argument<T> view{"X", {static_cast<T*>(X.data), X.rows, X.cols, X.ld}};
  check_view_extent(view.extent(), "data", "rows", "ld");
  if (X.rows > 0) transform::fwht_rows(view.view, context);
}

}  // namespace

mercer_status mercer_fwht(mercer_matrix X, mercer_context* context) {
  return guard_long("mercer_fwht", context, [&](Context& running) {
    check_matrix("X", X);
    require(X.cols >= 1 && std::has_single_bit(static_cast<uint64_t>(X.cols)),
            MERCER_INVALID_ARGUMENT, "X.cols = %ld, expected a power of two", X.cols);
    check_range("X.number", X.number, MERCER_NUMBER_F32, MERCER_NUMBER_F64);
    if (X.number == MERCER_NUMBER_F32) return transform_rows<float>(X, running);
    transform_rows<double>(X, running);
  });
}
