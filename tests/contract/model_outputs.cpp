// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every model of the contract's table with every kind of outputs, of weighted rows and of targets
// that are missing, in both precisions: what is fitted keeps what weights and gaps mean.
#include "contract/model_cells.h"
#include "io/object_file.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace mercer::test::model_outputs {
namespace {

using Cell = ModelCell;

template <class Body>
void for_each_cell(const Body& body) {
  for_each_model_cell([&](Cell cell) {
    for (const char* precision : {"f64", "f32"}) {
      cell.precision = precision;
      body(cell);
    }
  });
}

model::Model fitted(const Cell& cell, const Problem& problem,
                    const std::vector<double>& weights = {}) {
  return test::fitted(cell, problem.x(), problem.y(), weights);
}

template <class Body>
void for_each_fit(const Body& body) {
  for_each_cell([&](const Cell& cell) {
    if (cell.refused_with() != MERCER_OK) return;
    INFO(cell.label());
    body(cell, problem_of(cell));
  });
}

/// The rows of a problem, some of them again.
Problem with_rows(const Problem& problem, const std::vector<int64_t>& again) {
  std::vector<int64_t> rows(problem.X.rows());
  std::iota(rows.begin(), rows.end(), int64_t{0});
  rows.insert(rows.end(), again.begin(), again.end());
  return {rows_of(problem.X, rows), rows_of(problem.Y, rows)};
}

}  // namespace

TEST_CASE("contract: models take the outputs, gaps and precisions that they are said to") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  int64_t fits = 0, refusals = 0;
  for_each_cell([&](const Cell& cell) {
    INFO(cell.label());
    const Problem problem = problem_of(cell);
    if (const mercer_status status = cell.refused_with(); status != MERCER_OK) {
      CHECK_REFUSED(status, fitted(cell, problem), "expected");
      ++refusals;
      return;
    }
    const model::Model model = fitted(cell, problem);
    CHECK(model.outputs() == (cell.is_classification() ? 2 : cell.outputs.outputs));
    const Matrix<double> scores = predictions(model, problem.x());
    int64_t wrong = 0;
    for (int64_t i = 0; i < scores.rows() * scores.cols(); ++i)
      wrong += !std::isfinite(scores.data()[i]);
    CHECK(wrong == 0);
    io::save(model, path);
    CHECK(equal_bytes(predictions(*io::load_model(path), problem.x()), scores));
    ++fits;
  });
  CHECK((fits > 80 && refusals > 200));
}

TEST_CASE("contract: models do not depend on the order of their rows") {
  std::vector<int64_t> order(60);
  for (int64_t i = 0; i < 60; ++i) order[i] = (7 * i + 5) % 60;
  for_each_fit([&](const Cell& cell, const Problem& problem) {
    if (cell.precision != std::string("f64")) return;
    const Problem moved{rows_of(problem.X, order), rows_of(problem.Y, order)};
    CHECK(largest_difference(predictions(fitted(cell, moved), problem.x()),
                             predictions(fitted(cell, problem), problem.x())) <= cell.tolerance());
  });
}

TEST_CASE("contract: a row of weight 2 of any outputs is two equal rows") {
  std::vector<double> weights(60, 1.0);
  std::vector<int64_t> again;
  for (int64_t i = 0; i < 60; i += 3) {
    weights[i] = 2;
    again.push_back(i);
  }
  for_each_fit([&](const Cell& cell, const Problem& problem) {
    if (cell.precision != std::string("f64") || cell.model.counts_rows) return;
    const Matrix<double> weighed = predictions(fitted(cell, problem, weights), problem.x());
    const Matrix<double> twice = predictions(fitted(cell, with_rows(problem, again)), problem.x());
    const Matrix<double> plain = predictions(fitted(cell, problem), problem.x());
    CHECK(largest_difference(weighed, twice) <= cell.tolerance());
    CHECK(largest_difference(weighed, plain) > cell.tolerance());
  });
}

TEST_CASE("contract: a row without any target counts for nothing") {
  for_each_fit([&](const Cell& cell, const Problem& problem) {
    if (!cell.takes_gaps() || cell.precision != std::string("f64")) return;
    Problem more = with_rows(problem, {7, 8});
    for (int64_t k = 0; k < more.Y.cols(); ++k)
      more.Y(60, k) = more.Y(61, k) = std::numeric_limits<double>::quiet_NaN();
    CHECK(largest_difference(predictions(fitted(cell, more), problem.x()),
                             predictions(fitted(cell, problem), problem.x())) <= 1e-8);
  });
}

TEST_CASE("contract: models of single features are near those of double ones") {
  for_each_fit([&](const Cell& cell, const Problem& problem) {
    if (cell.precision == std::string("f64")) return;
    const Cell wide{cell.model, cell.outputs, cell.gaps, "f64"};
    CHECK(largest_difference(predictions(fitted(cell, problem), problem.x()),
                             predictions(fitted(wide, problem), problem.x())) <=
          std::max(1e-3, cell.tolerance()));
  });
}

}  // namespace mercer::test::model_outputs
