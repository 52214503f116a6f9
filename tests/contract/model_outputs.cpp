// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every model of the contract's table with every kind of outputs, of weighted rows and of targets
// that are missing, in both precisions: what is fitted keeps what weights and gaps mean.
#include <optional>

#include "contract/model_cells.h"
#include "io/object_file.h"
#include "support/fit.h"
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

model::Model fitted(const Parameters& asked, const Problem& problem) {
  const model::FitPlan plan = spec::fit_plan(print_object(asked));
  const MatrixView<const double> Y = problem.y();
  Context context;
  return test::fit(plan, nullptr, problem.x(), Y, {}, context);
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

TEST_CASE("contract: without an intercept a large penalty leaves nothing of targets far from 0") {
  for_each_fit([&](const Cell& cell, Problem problem) {
    if (cell.precision != std::string("f64")) return;
    for (int64_t i = 0; i < 60 * problem.Y.cols() && !cell.is_classification(); ++i)
      problem.Y.data()[i] += 5;
    Parameters asked = cell.spec();
    asked.set("lambda", 1e7), asked.set("center", false);
    asked.set("prepare", std::make_shared<const Parameters>(Parameters{
                             {"standardize", false}, {"extrapolation", std::string("free")}}));
    const Matrix<double> scores = predictions(fitted(asked, problem), problem.x());
    double apart = 0;  // from 0, or of two classes from each other
    for (int64_t i = 0; i < 60; ++i)
      for (int64_t o = 0; o < scores.cols(); ++o)
        apart =
            std::max(apart, std::abs(scores(i, o) - (cell.is_classification() ? scores(i, 0) : 0)));
    CHECK(apart < 1e-2);
  });
}

TEST_CASE(
    "contract: classes with kernels of several outputs come back from files, or are refused") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  int64_t fits = 0, refusals = 0;
  for_each_model_cell([&](const Cell& cell) {
    if (!cell.is_classification() || cell.gaps || cell.outputs.outputs == 1) return;
    INFO(cell.label());
    Problem problem = smooth_problem(60, 3, 1, 0.1, 81);
    for (int64_t i = 0; i < 60; ++i)
      problem.Y(i, 0) = static_cast<double>(i % cell.outputs.outputs);
    const Parameters asked = cell.spec();
    const bool separate = model::find_model(asked.text("model"))->separate_classes;
    // One score of two classes has no other to be learnt with.
    const bool single =
        asked.text("model") == "logistic" && cell.outputs.outputs == 2 && !cell.outputs.is_exact;
    const bool joined = cell.outputs.is_field || asked.find("outputs") != nullptr || single ||
                        asked.object("map").object("kernel").text("kernel") != "gaussian";
    if (joined && (separate || single)) {
      CHECK_REFUSED(single ? MERCER_DIMENSION_MISMATCH : MERCER_UNSUPPORTED, fitted(asked, problem),
                    "expected");
      ++refusals;
      return;
    }
    std::optional<model::Model> model;
    try {
      model.emplace(fitted(asked, problem));
    } catch (const Error& error) {
      // Of regressions alone, or not of the kernel itself.
      CHECK((asked.find("outputs") != nullptr || cell.outputs.is_exact));
      CHECK(error.status() == MERCER_UNSUPPORTED);
      return;
    }
    io::save(*model, path);
    CHECK(equal_bytes(predictions(*io::load_model(path), problem.x()),
                      predictions(*model, problem.x())));
    ++fits;
  });
  CHECK((fits >= 18 && refusals >= 18));
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
    const double most = cell.is_of_squares() ? 1e-8 : cell.tolerance();
    Problem more = with_rows(problem, {7, 8});
    for (int64_t k = 0; k < more.Y.cols(); ++k)
      more.Y(60, k) = more.Y(61, k) = std::numeric_limits<double>::quiet_NaN();
    CHECK(largest_difference(predictions(fitted(cell, more), problem.x()),
                             predictions(fitted(cell, problem), problem.x())) <= most);
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
