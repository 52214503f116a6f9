// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/inverse_trace.h"

#include "base/aligned.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::solver {
namespace {

constexpr int64_t kProbes = 16;
constexpr int64_t kExact = 256;  // up to here the exact trace costs no more than the factor

}  // namespace

double inverse_trace(MatrixView<const double> L, Context& context) {
  const bool exact = L.rows <= kExact;
  const int64_t probes = exact ? L.rows : kProbes;
  const Matrix<double> V(L.rows, probes, context, "the probes of a trace");
  if (exact) {
    V.fill(0);
    for (int64_t j = 0; j < L.rows; ++j) V(j, j) = 1;
  } else {
    const random::Stream stream(0, random::Tag::probe, 0);
    random::fill_rademacher(stream, 0, {V.data(), static_cast<std::size_t>(L.rows * probes)});
  }
  linalg::triangular_solve(L, V.view());
  double sum = 0;
  for (int64_t i = 0; i < L.rows * probes; ++i) sum += V.data()[i] * V.data()[i];
  return exact ? sum : sum / kProbes;
}

}  // namespace mercer::solver
