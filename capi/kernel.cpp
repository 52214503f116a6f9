// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/kernel.h: kernels, Gram matrices, lengthscales.
#include "mercer/kernel.h"

#include <memory>
#include <vector>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "kernel/median_heuristic.h"
#include "row_arguments.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

/// The rows of a square matrix, one after the other.
std::vector<double> square(const char* name, const mercer_rows& rows, Context& context) {
  const auto read = read_rows(name, rows, context);
  require(read.n() == read.d() && read.n() >= 1, MERCER_DIMENSION_MISMATCH,
          "%s is %ld x %ld, expected a square matrix", name, read.n(), read.d());
  const DoubleRows dense(read, context);
  std::vector<double> numbers;
  for (int64_t i = 0; i < read.n(); ++i)
    numbers.insert(numbers.end(), dense.view().row(i), dense.view().row(i) + read.d());
  return numbers;
}

}  // namespace

mercer_status mercer_kernel_decomposable(const mercer_kernel* scalar, mercer_rows gamma,
                                         double cutoff, mercer_kernel** out) {
  return guard_create("mercer_kernel_decomposable", out, [&] {
    Context context;
    const kernel::Kernel& k = *checked("scalar", scalar).impl;
    const kernel::CustomPin pin(k);
    return mercer_kernel{
        kernel::make_kernel({{"kernel", "decomposable"},
                             {"scalar", std::make_shared<const Parameters>(k.parameters())},
                             {"gamma", square("gamma", gamma, context)},
                             {"cutoff", cutoff}})};
  });
}

mercer_status mercer_kernel_from_spec(const char* json, mercer_kernel** out) {
  return guard_create("mercer_kernel_from_spec", out, [&] {
    return mercer_kernel{spec::kernel_from_spec(check_text("json", json))};
  });
}

mercer_status mercer_kernel_spec(const mercer_kernel* kernel, char* buffer, int64_t capacity,
                                 int64_t* needed) {
  return guard("mercer_kernel_spec", [&] {
    copy_text(spec::to_spec(*checked("kernel", kernel).impl), buffer, capacity, needed);
  });
}

mercer_status mercer_kernel_gram(const mercer_kernel* kernel, mercer_rows X, mercer_rows Y,
                                 mercer_rows U, mercer_context* context, mercer_matrix K) {
  return guard_long("mercer_kernel_gram", context, [&](Context& running) {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    const auto x = read_rows("X", X, running);
    check_at_least("X.d", x.d(), 1);
    const auto y = read_rows("Y", Y, x.d(), "the columns of X", running);
    const int64_t p = k.outputs(x.d());
    const bool product = is_given(U);
    const RowsArgument u = product ? read_rows("U", U, running) : RowsArgument();
    const Result result("K", K, product ? x.n() : checked_multiply(p, x.n(), "K"),
                        product ? u.d() : checked_multiply(p, y.n(), "K"), running);
    for (const RowsArgument* rows : {&x, &y, &u}) result.check_apart(*rows);
    if (product)
      kernel::gram_multiply(k, x, y, DoubleRows(u, running).view(), running, result.view());
    else
      kernel::gram(k, x, y, running, result.view());
    result.finish();
  });
}

void mercer_kernel_free(mercer_kernel* kernel) { delete kernel; }

mercer_status mercer_lengthscale_median(mercer_rows X, int64_t max_pairs, uint64_t seed,
                                        mercer_context* context, double* lengthscale) {
  return guard_long("mercer_lengthscale_median", context, [&](Context& running) {
    check_place("lengthscale", lengthscale);
    const auto rows = read_rows("X", X, running);
    check_at_least("X.n", rows.n(), 2);
    check_at_least("X.d", rows.d(), 1);
    check_at_least("max_pairs", max_pairs, 1);
    *lengthscale = kernel::median_heuristic(rows, max_pairs, seed, running);
  });
}
