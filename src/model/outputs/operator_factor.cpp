// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/operator_factor.h"

#include <algorithm>
#include <cmath>

#include "linalg/blas.h"
#include "model/outputs/observed_gram.h"
#include "model/outputs/operator_walk.h"
#include "model/rows/row_sets.h"
#include "solver/jittered_cholesky.h"
#include "solver/work.h"

namespace mercer::model {
namespace {

constexpr int64_t kMostCoefficients = 4096, kHeldOutOneIn = 5;
constexpr double kMostProducts = 2e12;  // in H
constexpr const char* kWhat = "a factor for each lambda";

/// Solves (A + shift I) theta = s in the place of s; A, of which only the lower triangle is read,
/// becomes the factor.
void solve_shifted(MatrixView<double> A, double shift, std::span<double> s, Context& context) {
  for (int64_t j = 0; j < A.rows; ++j) A(j, j) += shift;
  solver::jittered_cholesky(A, context);
  linalg::cholesky_solve(MatrixView<const double>(A), {s.data(), A.rows, 1});
}

/// Of progress, in rows of r^2 products: without gaps those of D^2 each do.
int64_t sums_units(const feature::FieldMap& map, MatrixView<const double> Y) {
  const double ratio =
      static_cast<double>(map.scalar().features()) / static_cast<double>(map.features());
  const double each = is_complete(Y) ? ratio * ratio : static_cast<double>(Y.cols);
  return static_cast<int64_t>(each * static_cast<double>(Y.rows)) + 1;
}

/// Of column l of `found`, n x L p, against what was observed.
double mean_squared_error(MatrixView<const double> found, MatrixView<const double> Y, int64_t l) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k) {
      if (std::isnan(Y(i, k))) continue;
      const double error = found(i, l * Y.cols + k) - Y(i, k);
      sum += error * error;
      ++count;
    }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

bool has_factors(const feature::FieldMap& map, MatrixView<const double> Y, Context& context) {
  const int64_t r = map.features(), D = map.scalar().features();
  const auto rows = static_cast<double>(Y.rows);
  const double products = is_complete(Y)
                              ? rows * static_cast<double>(D * D)
                              : rows * static_cast<double>(Y.cols) * static_cast<double>(r * r);
  return r <= kMostCoefficients && products <= kMostProducts &&
         context.has_room(bytes_of_gram(map, Y) + 8 * r * r);
}

std::vector<double> held_out_errors(const feature::FieldMap& map, const OperatorRowsView& rows,
                                    std::span<const double> lambdas, uint64_t seed,
                                    Context& context) {
  const int64_t n = rows.X.rows, r = map.features(), L = std::ssize(lambdas);
  const auto out = sample_rows(all_rows(n), std::max<int64_t>(1, n / kHeldOutOneIn), seed);
  const PickedRows kept = pick(rows, rows_without(n, out), context);
  const PickedRows held_out = pick(rows, out, context);
  const int64_t of_sums = sums_units(map, kept.Y.view()), factor = solver::cholesky_rows(r);
  Stage stage(context, of_sums + L * factor);
  const Matrix<double> H = stage.part(
      of_sums, [&] { return observed_gram(map, kept.X.view(), kept.Y.view(), context); });
  const std::vector<double> sums = observed_sums(map, kept.X.view(), kept.Y.view(), context);
  const Matrix<double> A(r, r, context, kWhat), theta(r, L, context, kWhat);
  for (int64_t l = 0; l < L; ++l) {
    for (int64_t j = 0; j < r; ++j) std::copy_n(H.view().row(j), j + 1, A.view().row(j));
    std::vector<double> solution = sums;
    const double shift = static_cast<double>(n) * lambdas[static_cast<size_t>(l)];
    stage.part(factor, [&] { solve_shifted(A.view(), shift, solution, context); });
    for (int64_t j = 0; j < r; ++j) theta(j, l) = solution[static_cast<size_t>(j)];
    context.checkpoint();
  }
  const Matrix<double> found(held_out.X.rows(), L * map.outputs(), context, kWhat);
  map.multiply(held_out.X.view(), theta.view(), feature::FieldKind::value, context, found.view());
  std::vector<double> errors;
  for (int64_t l = 0; l < L; ++l)
    errors.push_back(mean_squared_error(found.view(), held_out.Y.view(), l));
  return errors;
}

std::vector<double> factored_solution(const feature::FieldMap& map, const OperatorRowsView& rows,
                                      double lambda, Context& context) {
  const int64_t of_sums = sums_units(map, rows.Y), factor = solver::cholesky_rows(map.features());
  Stage stage(context, of_sums + factor);
  const Matrix<double> H =
      stage.part(of_sums, [&] { return observed_gram(map, rows.X, rows.Y, context); });
  std::vector<double> theta = observed_sums(map, rows.X, rows.Y, context);
  stage.share(factor);
  solve_shifted(H.view(), static_cast<double>(rows.X.rows) * lambda, theta, context);
  return theta;
}

}  // namespace mercer::model
