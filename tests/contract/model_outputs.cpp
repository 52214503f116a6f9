// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every model of the contract's table with every kind of outputs, of weighted rows and of targets
// that are missing, in both precisions: what is fitted keeps what weights and gaps mean.
#include "contract/model_rows.h"
#include "io/object_file.h"
#include "model/model_problem.h"
#include "spec/fit_plan.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace mercer::test {
namespace {

struct OutputsRow {
  const char* spec;  // "map" and "outputs"
  int64_t outputs;
  bool has_roots = false;  // of each feature its own
};
#define MERCER_PLAIN_MAP R"("map":{"kernel":{"kernel":"gaussian"},"inputs":3,"features":24})"
constexpr OutputsRow kOutputs[] = {
    {"{" MERCER_PLAIN_MAP "}", 1},
    {"{" MERCER_PLAIN_MAP "}", 3},
    {"{" MERCER_PLAIN_MAP R"(,"outputs":"covariance"})", 3},
    {"{" MERCER_PLAIN_MAP R"(,"outputs":"similarity"})", 3},
    {"{" MERCER_PLAIN_MAP R"(,"outputs":{"structure":"graph","matrix":[[0,1,0],[1,0,2],[0,2,0]]}})",
     3},
    {"{" MERCER_PLAIN_MAP R"(,"outputs":{"structure":"given","matrix":[[2,1,0],[1,2,0],[0,0,1]]}})",
     3},
    {R"({"map":{"kernel":{"kernel":"decomposable","gamma":[2,1,1,2]},"inputs":3,"features":48}})",
     2},
    {R"({"map":{"kernel":{"kernel":"curl_free"},"inputs":3,"features":24}})", 3, true},
    {R"({"map":{"kernel":{"kernel":"divergence_free"},"inputs":3,"features":48}})", 3, true},
    {R"({"map":{"kernel":{"kernel":"helmholtz","alpha":0.3},"inputs":3,"features":72}})", 3, true}};

struct Cell {
  const ModelRow& model;
  const OutputsRow& outputs;
  bool gaps = false;
  const char* precision = "f64";

  Parameters spec() const {
    Parameters all = spec::parse_object(model.spec);
    const Parameters own = spec::parse_object(outputs.spec);
    for (const auto& [key, value] : own.entries()) all.set(key, value);
    if (all.find("lambda") == nullptr) all.set("lambda", 0.01);
    all.set("prepare", std::make_shared<const Parameters>(Parameters{{"standardize", false}}));
    if (all.text("model") == "logistic")
      all.set("tolerance", 1e-9), all.set("iterations", int64_t{20000});
    all.set("search", false);
    all.set("precision", precision);
    return all;
  }
  bool is_classification() const { return spec().find("class_weight") != nullptr; }
  bool is_iterative() const { return spec().find("solver") != nullptr && !is_classification(); }
  bool is_of_squares() const { return model::find_model(spec().text("model"))->least_squares; }
  /// Of losses and classes every target is observed.
  bool takes_gaps() const { return !is_classification() && is_of_squares() && !is_iterative(); }
  std::string label() const { return print_object(spec()) + (gaps ? ", gaps" : ""); }
};

template <class Body>
void for_each_cell(const Body& body) {
  for (const ModelRow& model : model_rows()) {
    const std::string name = spec::parse_object(model.spec).text("model");
    if (model::find_model(name)->targets != nullptr) continue;  // it has no targets
    for (const OutputsRow& outputs : kOutputs)
      for (const bool gaps : {false, true})
        for (const char* precision : {"f64", "f32"}) body(Cell{model, outputs, gaps, precision});
  }
}

/// Targets 0 and 1, of which every fourth may be missing; no column is constant.
Problem problem_of(const Cell& cell) {
  Problem problem = smooth_problem(60, 3, cell.outputs.outputs, 0.1, 81);
  for (int64_t i = 0; i < 60 * cell.outputs.outputs; ++i) {
    double& y = problem.Y.data()[i];
    y = cell.gaps && i % 4 == 0 ? std::numeric_limits<double>::quiet_NaN() : y > 0.3 ? 1 : 0;
  }
  return problem;
}

model::Model fitted(const Cell& cell, const Problem& problem,
                    const std::vector<double>& weights = {}) {
  spec::FitPlan plan = spec::fit_plan(print_object(cell.spec()));
  const MatrixView<const double> Y = problem.y();
  spec::set_classes(plan, Y.cols, &Y);
  Context context;
  return spec::fit(std::move(plan), nullptr, problem.x(), Y, weights, context);
}

/// What a cell is refused with; MERCER_OK: it is fitted.
mercer_status refused_with(const Cell& cell) {
  if (cell.is_classification() && cell.outputs.outputs > 1) return MERCER_DIMENSION_MISMATCH;
  if (cell.is_iterative() && (cell.gaps || cell.outputs.has_roots)) return MERCER_UNSUPPORTED;
  if (cell.gaps && !cell.takes_gaps()) return MERCER_INVALID_ARGUMENT;
  return cell.spec().find("delta") != nullptr && cell.outputs.outputs > 1 ? MERCER_UNSUPPORTED
                                                                          : MERCER_OK;
}

template <class Body>
void for_each_fit(const Body& body) {
  for_each_cell([&](const Cell& cell) {
    if (refused_with(cell) != MERCER_OK) return;
    INFO(cell.label());
    body(cell, problem_of(cell));
  });
}

/// The rows of a problem, some of them again.
Problem with_rows(const Problem& problem, const std::vector<int64_t>& again) {
  std::vector<int64_t> rows(static_cast<size_t>(problem.X.rows()));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  rows.insert(rows.end(), again.begin(), again.end());
  return {rows_of(problem.X, rows), rows_of(problem.Y, rows)};
}

/// Iterations end near the minimum, closed forms at it.
double tolerance(const Cell& cell) { return cell.is_of_squares() ? 1e-8 : 2e-2; }

}  // namespace

TEST_CASE("contract: models take the outputs, gaps and precisions that they are said to") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  int64_t fits = 0, refusals = 0;
  for_each_cell([&](const Cell& cell) {
    INFO(cell.label());
    const Problem problem = problem_of(cell);
    if (const mercer_status status = refused_with(cell); status != MERCER_OK) {
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

TEST_CASE("contract: a row of weight 2 of any outputs is two equal rows") {
  std::vector<double> weights(60, 1.0);
  std::vector<int64_t> again;
  for (int64_t i = 0; i < 60; i += 3) {
    weights[static_cast<size_t>(i)] = 2;
    again.push_back(i);
  }
  for_each_fit([&](const Cell& cell, const Problem& problem) {
    if (cell.precision != std::string("f64")) return;
    const Matrix<double> weighed = predictions(fitted(cell, problem, weights), problem.x());
    const Matrix<double> twice = predictions(fitted(cell, with_rows(problem, again)), problem.x());
    const Matrix<double> plain = predictions(fitted(cell, problem), problem.x());
    CHECK(largest_difference(weighed, twice) <= tolerance(cell));
    CHECK(largest_difference(weighed, plain) > tolerance(cell));
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
          std::max(1e-3, tolerance(cell)));
  });
}

}  // namespace mercer::test
