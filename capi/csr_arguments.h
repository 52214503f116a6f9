// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checks of sparse rows that a caller passes, before anything is read from them.
#pragma once

#include "arguments.h"
#include "base/context.h"
#include "base/views.h"

namespace mercer::capi {

/// The three arrays of n rows of d columns, remembered so that overlap can be reported.
template <class T, class Index>
struct CsrArgument {
  Argument<const Index> offsets;
  Argument<const Index> indices;
  Argument<const T> values;
};

/// Offsets ascend within [0, nnz] and indices are in [0, d), else INVALID_ARGUMENT naming the first
/// row or position that is not, with its value. Uses the context's threads.
void check_csr_numbers(int64_t n, int64_t d, int64_t nnz, IntegerView offsets, IntegerView indices,
                       Context& context);

/// The arrays themselves: sizes, NULL, alignment.
template <class T, class Index>
CsrArgument<T, Index> csr(int64_t n, int64_t nnz, const Index* offsets, const Index* indices,
                          const T* values) {
  check_at_least("n", n, 0);
  check_at_least("nnz", nnz, 0);
  require(n < INT64_MAX, MERCER_INVALID_ARGUMENT,
          "n = %ld, expected offsets to fit the address space", n);
  // Rows without offsets would have no end; no rows need none.
  const int64_t count = n == 0 && offsets == nullptr ? 0 : n + 1;
  return {vector("offsets", offsets, "n + 1", count), vector("indices", indices, "nnz", nnz),
          vector("values", values, "nnz", nnz)};
}

}  // namespace mercer::capi
