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

}  // namespace

double inverse_trace(MatrixView<const double> L, Context& context) {
  const Matrix<double> V(L.rows, kProbes, context, "the probes of a trace");
  const random::Stream stream(0, random::Tag::probe, 0);
  random::fill_rademacher(stream, 0, {V.data(), static_cast<std::size_t>(L.rows * kProbes)});
  linalg::triangular_solve(L, V.view());
  double sum = 0;
  for (int64_t i = 0; i < L.rows * kProbes; ++i) sum += V.data()[i] * V.data()[i];
  return sum / kProbes;
}

}  // namespace mercer::solver
