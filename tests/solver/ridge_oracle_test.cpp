// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The reference numbers of tests/oracle/ridge.json, to 1e-10 of the largest number compared: every
// normal matrix there has a condition below 1e5, so 1e-10 leaves five digits for rounding.
#include <algorithm>
#include <cmath>
#include <vector>

#include "solver/dual_system.h"
#include "solver/primal_system.h"
#include "solver/row_statistics.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/reference.h"

namespace ridge_oracle_test {
using namespace mercer;
using solver::PrimalSystem;
using solver::RowStatistics;

Matrix<double> matrix(const test::Reference& rows) {
  const auto n = static_cast<int64_t>(rows.size());
  const bool flat = n == 0 || !rows[0].is_array();  // a vector is a column
  Matrix<double> A(n, flat ? 1 : static_cast<int64_t>(rows[0].size()));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < A.cols(); ++j) {
      const test::Reference& row = rows[i];
      A(i, j) = flat ? row.get<double>() : row[j].get<double>();
    }
  return A;
}

std::string off(MatrixView<const double> found, const test::Reference& expected,
                bool lower = false) {
  const Matrix<double> reference = matrix(expected);
  return test::difference(found, reference.view(),
                          1e-10 * std::max(1e-300, test::largest(reference.view())), lower);
}

std::string off(std::span<const double> found, const test::Reference& expected) {
  return off(MatrixView<const double>(found.data(), static_cast<int64_t>(found.size()), 1),
             expected);
}

RowStatistics block_statistics(MatrixView<const double> Z, MatrixView<const double> Y) {
  Context context;
  RowStatistics statistics(Z.cols, Y.cols);
  statistics.add(Z, Y, context);
  return statistics;
}

// Relative. The path has the residuals' squares from statistics alone: as the difference of sums as
// large as that of y^2, each of n or D terms, which cancel where the fit is close.
double gcv_bound(MatrixView<const double> Z, MatrixView<const double> Y,
                 MatrixView<const double> fitted, std::size_t output) {
  double squares = 0, residual = 0;
  const auto j = static_cast<int64_t>(output);
  for (int64_t i = 0; i < Y.rows; ++i) {
    squares += Y(i, j) * Y(i, j);
    residual += (Y(i, j) - fitted(i, j)) * (Y(i, j) - fitted(i, j));
  }
  return 1e-10 + 4 * static_cast<double>(Z.rows + Z.cols) * 0x1p-53 * squares / residual;
}

void check_statistics(const RowStatistics& statistics, const test::Reference& expected) {
  CHECK(statistics.rows() == expected["n"].get<int64_t>());
  Matrix<double> gram(statistics.features(), statistics.features());
  Matrix<double> cross(statistics.features(), statistics.outputs());
  solver::write_plain_gram(statistics, gram.view());
  solver::write_plain_cross(statistics, cross.view());
  CHECK(off(gram.view(), expected["gram"]) == "");
  CHECK(off(cross.view(), expected["cross"]) == "");
  CHECK(off(solver::plain_sum_squared_outputs(statistics), expected["sum_y2"]) == "");
}

TEST_CASE("the path agrees with the reference numbers") {
  Context context;
  const test::Reference cases = test::oracle("ridge")["cases"];
  REQUIRE(cases.size() == 3);
  for (const test::Reference& reference : cases) {
    const Matrix<double> Z = matrix(reference["Phi"]), Y = matrix(reference["Y"]);
    const PrimalSystem path(block_statistics(Z.view(), Y.view()), false, context);
    const Matrix<double> Zt = test::transposed(Z.view());
    for (const test::Reference& point : reference["path"]) {
      const double lambda = point["lambda"].get<double>();
      CAPTURE(Z.rows(), Z.cols(), lambda);
      const solver::Weights weights = path.solve(lambda);
      CHECK(off(weights.w.view(), point["weights"]) == "");
      CHECK(*std::max_element(weights.intercept.begin(), weights.intercept.end()) == 0);
      CHECK(off(test::product(Z.view(), weights.w.view()).view(), point["fitted"]) == "");
      CHECK(off(test::left_out(path, lambda, Z.view(), Y.view(), context).view(),
                point["loo_residuals"]) == "");
      CHECK(off(path.leverage(lambda), point["leverage_columns"]) == "");
      const std::vector<double> scores = path.gcv(lambda);
      for (std::size_t j = 0; j < scores.size(); ++j) {
        const double expected = point["gcv"][j].get<double>();
        CHECK(std::fabs(scores[j] - expected) <=
              gcv_bound(Z.view(), Y.view(), matrix(point["fitted"]).view(), j) * expected);
      }
      CHECK(path.effective_dimension(lambda) ==
            Approx(point["effective_dimension"].get<double>()).epsilon(1e-10));

      const solver::Weights direct =
          solver::ridge_cholesky(block_statistics(Z.view(), Y.view()), false, lambda, context);
      CHECK(off(direct.w.view(), point["weights"]) == "");
      const solver::Weights dual = solver::ridge_dual(Z.view(), Y.view(), false, lambda, context);
      CHECK(off(dual.w.view(), point["weights"]) == "");
      const Matrix<double> K = test::product(Z.view(), Zt.view());
      CHECK(off(solver::kernel_ridge(K.view(), Y.view(), lambda, static_cast<double>(K.rows()),
                                     context)
                    .view(),
                point["dual"]) == "");
    }
  }
}

TEST_CASE("block statistics agree with the reference numbers and add up") {
  const test::Reference cases = test::oracle("ridge")["cases"];
  REQUIRE(cases.size() == 3);
  for (const test::Reference& reference : cases) {
    const Matrix<double> Z = matrix(reference["Phi"]), Y = matrix(reference["Y"]);
    const test::Reference& merge = reference["merge"];
    const auto split = merge["split_at"].get<int64_t>();
    RowStatistics first =
        block_statistics(Z.view().block_rows(0, split), Y.view().block_rows(0, split));
    const RowStatistics second = block_statistics(Z.view().block_rows(split, Z.rows()),
                                                  Y.view().block_rows(split, Z.rows()));
    check_statistics(first, merge["first"]);
    check_statistics(second, merge["second"]);
    first.merge(second);
    check_statistics(first, merge["total"]);
  }
}

TEST_CASE("weighted rows agree with the reference numbers") {
  Context context;
  const test::Reference& cases = test::oracle("ridge")["weighted"];
  REQUIRE(cases.size() == 1);
  for (const test::Reference& reference : cases) {
    const Matrix<double> Z = matrix(reference["Phi"]), Y = matrix(reference["y"]);
    RowStatistics statistics(Z.cols(), 1);
    const std::vector<double> row_weights = reference["row_weights"];
    statistics.add(Z.view(), Y.view(), context, row_weights);
    // There n is the number of rows, here the sum of their weights.
    const double lambda =
        reference["lambda"].get<double>() * static_cast<double>(Z.rows()) / statistics.weight();
    CHECK(off(PrimalSystem(statistics.clone(context), false, context).solve(lambda).w.view(),
              reference["weights"]) == "");
    CHECK(off(solver::ridge_cholesky(std::move(statistics), false, lambda, context).w.view(),
              reference["weights"]) == "");
  }
}

TEST_CASE("sums without a fold agree with the reference numbers of k-fold errors") {
  Context context;
  const test::Reference& reference = test::oracle("ridge")["kfold"];
  const Matrix<double> Z = matrix(reference["Phi"]), Y = matrix(reference["y"]);
  REQUIRE((reference["folds"].size() == 3 && reference["path"].size() == 2));
  for (const test::Reference& point : reference["path"]) {
    double squares = 0;
    for (const std::vector<int64_t> fold : reference["folds"]) {
      RowStatistics rest = block_statistics(Z.view(), Y.view());
      for (const int64_t i : fold)
        rest.remove(Z.view().block_rows(i, i + 1), Y.view().block_rows(i, i + 1), context);
      const solver::Weights weights =
          PrimalSystem(std::move(rest), false, context).solve(point["lambda"].get<double>());
      const Matrix<double> fitted = test::product(Z.view(), weights.w.view());
      for (const int64_t i : fold) squares += std::pow(Y(i, 0) - fitted(i, 0), 2);
    }
    CHECK(squares / static_cast<double>(Z.rows()) ==
          Approx(point["mean_squared_error"].get<double>()).epsilon(1e-10));
  }
}

}  // namespace ridge_oracle_test
