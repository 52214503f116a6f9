// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The path of lambdas of an operator-valued map: solutions and rows left out are those of fits that
// were made one by one, from coefficients and from targets, with gaps and without.
#include "model/outputs/operator_path.h"

#include <cmath>
#include <limits>

#include "support/field_maps.h"
#include "model/outputs/operator_fit.h"
#include "operator_cases.h"
#include "support/catch.h"
#include "support/dense.h"

using namespace mercer;
using namespace mercer::test;

namespace {

void check_path(const feature::FieldMap& map, int64_t n, bool gaps) {
  const Matrix<double> X = random_matrix(n, 2, 21);
  Matrix<double> Y = random_matrix(n, 2, 22);
  for (int64_t i = 0; gaps && i < n; i += 3) Y(i, i % 2) = kMissing;
  if (gaps) Y(1, 0) = Y(1, 1) = kMissing;
  Context context;
  const model::OperatorPath path(map, X.view(), Y.view(), context);
  const std::vector<double> lambdas = {0.5, 1e-2};
  std::vector<double> theta(static_cast<size_t>(map.features()));
  for (const double lambda : lambdas) {
    path.solve(lambda, context, theta);
    const std::vector<double> other = by_lsqr(map, X, Y, lambda);
    for (size_t j = 0; j < theta.size(); ++j) CHECK(std::abs(theta[j] - other[j]) < 1e-9);
  }
  const std::vector<int64_t> rows = {0, 1, 3, 4};
  const std::vector<double> errors = path.leave_one_out(lambdas, rows, context);
  for (size_t l = 0; l < lambdas.size(); ++l) {
    double sum = 0, count = 0;
    for (const int64_t row : rows) {
      Matrix<double> gone = copy(MatrixView<const double>(Y.view()));
      gone(row, 0) = gone(row, 1) = kMissing;
      const std::vector<double> without = by_lsqr(map, X, gone, lambdas[l]);
      Matrix<double> f(1, 2);
      map.multiply(X.view().block_rows(row, row + 1), {without.data(), std::ssize(without), 1},
                feature::FieldKind::value, context, f.view());
      for (int64_t o = 0; o < 2; ++o) {
        if (std::isnan(Y(row, o))) continue;
        sum += (f(0, o) - Y(row, o)) * (f(0, o) - Y(row, o));
        ++count;
      }
    }
    CHECK(std::abs(errors[l] - sum / count) < 1e-9 * errors[l]);
  }
}

}  // namespace

TEST_CASE("operator path: rows left out are refits, from coefficients and from targets",
          "[model]") {
  const auto free = made_operator({{"operator", "divergence_free"},
                                   {"inputs", int64_t{2}},
                                   {"features", int64_t{20}},
                                   {"root", "orthonormal"}});
  const auto joint = made_operator({{"operator", "decomposable"},
                                    {"gamma", std::vector<double>{2, 1, 1, 1}},
                                    {"inputs", int64_t{2}},
                                    {"features", int64_t{12}}});
  for (const auto* map : {&free, &joint})
    for (const bool gaps : {false, true}) {
      check_path(**map, 40, gaps);  // 80 targets, 20 or 24 coefficients
      check_path(**map, 6, gaps);   // 12 or fewer
    }
}

TEST_CASE("operator path: it keeps to the memory that it says", "[model]") {
  const struct {
    const char* name;
    int64_t rows, outputs, features;
    bool gaps;
  } cases[] = {{"divergence_free", 300, 2, 200, false},
               {"curl_free", 300, 2, 120, true},
               {"decomposable", 200, 60, 16, true},  // one target a row
               {"decomposable", 60, 2, 150, false}};
  for (const auto& one : cases) {
    const int64_t p = one.outputs;
    Parameters spec{{"operator", one.name}, {"inputs", int64_t{2}}, {"features", one.features}};
    if (std::string(one.name) == "decomposable") {
      std::vector<double> gamma(static_cast<size_t>(p * p), 0.5);
      for (int64_t k = 0; k < p; ++k) gamma[static_cast<size_t>(k * (p + 1))] = 1;
      spec.set("gamma", gamma);
    }
    const auto map = made_operator(spec);
    const Matrix<double> X = random_matrix(one.rows, 2, 23);
    Matrix<double> Y = random_matrix(one.rows, p, 24);
    for (int64_t i = 0; one.gaps && i < one.rows; ++i)
      for (int64_t k = 0; k < p; ++k)
        if (k != i % p) Y(i, k) = kMissing;
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < one.rows; ++i) rows.push_back(i);
    Context context;
    context.memory_cap = model::OperatorPath::bytes(*map, Y.view(), one.rows);
    CHECK(context.memory_cap < int64_t{48} << 20);
    const std::vector<double> lambdas(21, 0.1);
    const model::OperatorPath path(*map, X.view(), Y.view(), context);
    CHECK(path.leave_one_out(lambdas, rows, context).size() == 21);
    std::vector<double> theta(static_cast<size_t>(map->features()));
    path.solve(0.1, context, theta);
    CHECK(std::isfinite(theta[0]));
  }
}
