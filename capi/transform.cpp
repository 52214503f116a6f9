// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/transform.h.
#include "mercer/transform.h"

#include <bit>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "transform/fwht_rows.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

template <class T>
mercer_status transform_rows(const char* function, int64_t rows, int64_t n, T* X, int64_t ldx,
                             mercer_context* context) noexcept {
  return guard_long(function, context, [&](Context& running) {
    require(n >= 1 && std::has_single_bit(static_cast<uint64_t>(n)), MERCER_INVALID_ARGUMENT,
            "n = %lld, expected a power of two", static_cast<long long>(n));
    const auto view = matrix("X", X, "rows", rows, n, "ldx", ldx);
    if (rows > 0) transform::fwht_rows(MatrixView<T>(view), running);
  });
}

}  // namespace

mercer_status mercer_fwht_f32(int64_t rows, int64_t n, float* X, int64_t ldx,
                              mercer_context* context) {
  return transform_rows("mercer_fwht_f32", rows, n, X, ldx, context);
}

mercer_status mercer_fwht_f64(int64_t rows, int64_t n, double* X, int64_t ldx,
                              mercer_context* context) {
  return transform_rows("mercer_fwht_f64", rows, n, X, ldx, context);
}
