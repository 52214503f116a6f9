// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator.h: where Gamma comes from.
#include "arguments.h"
#include "guard.h"
#include "mercer/operator.h"
#include "model/outputs/output_structure.h"
#include "row_arguments.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

using Long = long long;

/// What a structure of `data` has: p, and rows of the result (columns are p).
Matrix<double> structure_of(int32_t kind, MatrixView<const double> data, double scale,
                            Context& context) {
  const int64_t p = data.cols;
  Matrix<double> gamma(p, p, context, "Gamma");
  switch (kind) {
    case MERCER_STRUCTURE_COVARIANCE:
      model::output_covariance(data, context, gamma.view());
      return gamma;
    case MERCER_STRUCTURE_LAPLACIAN:
      require(data.rows == p, MERCER_DIMENSION_MISMATCH,
              "data is %lld x %lld, expected the p x p weights of a graph", Long{data.rows},
              Long{p});
      model::laplacian_pseudo_inverse(data, context, gamma.view());
      return gamma;
    default:
      model::task_similarity(data, scale, context, gamma.view());
      return gamma;
  }
}

void write_simplex(const mercer_matrix* out, Context& context) {
  check_struct("out", out, "a mercer_matrix");
  const mercer_matrix& shape = *out;
  check_matrix("out", shape);
  const Result result("out", out, shape.rows, shape.cols, context);
  model::simplex_code(result.view());
  result.finish();
}

}  // namespace

mercer_status mercer_output_structure(int32_t kind, const mercer_rows* data, double scale,
                                      mercer_context* context, const mercer_matrix* out) {
  return guard_long("mercer_output_structure", context, [&](Context& running) {
    check_range("kind", kind, MERCER_STRUCTURE_COVARIANCE, MERCER_STRUCTURE_SIMPLEX);
    require(kind == MERCER_STRUCTURE_SIMILARITY || scale == 0, MERCER_INVALID_ARGUMENT,
            "scale = %g of kind %d, expected 0: SIMILARITY alone reads it", scale, kind);
    if (kind == MERCER_STRUCTURE_SIMPLEX) {
      require(data == nullptr, MERCER_INVALID_ARGUMENT,
              "data is given, expected NULL: a simplex code is its number of classes");
      return write_simplex(out, running);
    }
    const auto rows = read_rows("data", data, running);
    check_at_least("data->d", rows.d(), 1);
    const Result result("out", out, rows.d(), rows.d(), running);
    result.check_apart(rows);
    const auto gamma = structure_of(kind, DoubleRows(rows, running).view(), scale, running);
    result.write(gamma.view());
  });
}
