// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "contract/model_cells.h"

#include "spec/json.h"
#include "spec/spec.h"
#include "support/fit.h"
#include "support/map_calls.h"

namespace mercer::test {

std::span<const OutputsRow> outputs_rows() {
#define MERCER_PLAIN_MAP R"("map":{"kernel":{"kernel":"gaussian"},"inputs":3,"features":24})"
  static constexpr OutputsRow kRows[] = {
      {"{" MERCER_PLAIN_MAP "}", 1},
      {"{" MERCER_PLAIN_MAP "}", 3},
      {.spec = "{" MERCER_PLAIN_MAP R"(,"outputs":"covariance"})", .outputs = 3, .is_learnt = true},
      {.spec = "{" MERCER_PLAIN_MAP R"(,"outputs":"similarity"})", .outputs = 3, .is_learnt = true},
      {.spec = "{" MERCER_PLAIN_MAP
               R"(,"outputs":{"structure":"graph","matrix":[[0,1,0],[1,0,2],[0,2,0]]}})",
       .outputs = 3,
       .is_learnt = true},
      {"{" MERCER_PLAIN_MAP
       R"(,"outputs":{"structure":"given","matrix":[[2,1,0],[1,2,0],[0,0,1]]}})",
       3},
      {R"({"map":{"kernel":{"kernel":"decomposable","gamma":[2,1,1,2]},"inputs":3,"features":48}})",
       2},
      {R"({"map":{"kernel":{"kernel":"curl_free"},"inputs":3,"features":24}})", 3, true, true},
      {R"({"map":{"kernel":{"kernel":"divergence_free"},"inputs":3,"features":48}})", 3, true,
       true},
      {R"({"map":{"kernel":{"kernel":"helmholtz","alpha":0.3},"inputs":3,"features":72}})", 3, true,
       true},
      {R"({"map":{"kernel":{"kernel":"sum","parts":[{"kernel":"curl_free"},{"kernel":"gaussian"}]},)"
       R"("inputs":3,"features":32}})",
       3, true, true},
      {.spec = R"({"map":{"map":"exact","kernel":{"kernel":"gaussian"}}})",
       .outputs = 1,
       .is_exact = true},
      {.spec = R"({"map":{"map":"exact","kernel":{"kernel":"gaussian"}}})",
       .outputs = 3,
       .is_exact = true},
      {.spec = R"({"map":{"map":"exact","kernel":{"kernel":"gaussian"}},"outputs":"covariance"})",
       .outputs = 3,
       .is_learnt = true,
       .is_exact = true},
      {.spec = R"({"map":{"map":"exact","kernel":{"kernel":"decomposable","gamma":[2,1,1,2]}}})",
       .outputs = 2,
       .is_exact = true},
      {.spec = R"({"map":{"map":"exact","kernel":{"kernel":"curl_free"}}})",
       .outputs = 3,
       .is_field = true,
       .is_exact = true},
      {.spec = R"({"map":{"map":"exact","kernel":{"kernel":"helmholtz","alpha":0.3}}})",
       .outputs = 3,
       .is_field = true,
       .is_exact = true}};
#undef MERCER_PLAIN_MAP
  return kRows;
}

Parameters ModelCell::spec() const {
  Parameters all = spec::parse_object(model.spec);
  const Parameters own = spec::parse_object(outputs.spec);
  for (const auto& [key, value] : own.entries()) all.set(key, value);
  if (all.find("lambda") == nullptr) all.set("lambda", 0.01);
  all.set("prepare", std::make_shared<const Parameters>(Parameters{{"standardize", standardize}}));
  if (all.text("model") == "logistic")
    all.set("tolerance", 1e-9), all.set("iterations", int64_t{20000});
  all.set("search", false);
  all.set("lengthscale", 1.0);  // not that of these rows
  all.set("precision", precision);
  return all;
}

bool ModelCell::is_of_squares() const {
  return model::find_model(spec().text("model"))->least_squares;
}

bool ModelCell::sums_over_outputs() const {
  return !is_classification() && model::find_model(spec().text("model"))->sums_over_outputs;
}

bool ModelCell::keeps_posterior() const {
  return model::find_model(spec().text("model"))->keeps_posterior;
}

bool ModelCell::is_local() const {
  const Parameters all = spec();
  const Value* const local = all.find("local");
  return local != nullptr && *local != Value(std::string("off"));
}

mercer_status ModelCell::refused_with() const {
  if (is_classification() && outputs.outputs > 1) return MERCER_DIMENSION_MISMATCH;
  const bool joined = spec().find("outputs") != nullptr ||
                      spec().object("map").object("kernel").text("kernel") != "gaussian";
  if (gaps && is_local() && is_classification() && spec().find("outputs") == nullptr)
    return MERCER_INVALID_ARGUMENT;
  if (is_local() && (joined || outputs.is_exact)) return MERCER_UNSUPPORTED;
  if (spec().text("model") == "sparse_inputs" && joined)
    return gaps && spec().find("outputs") == nullptr ? MERCER_INVALID_ARGUMENT : MERCER_UNSUPPORTED;
  // Of the kernel itself: squares alone, and posteriors of independent outputs.
  const bool of_features = !is_of_squares() || is_iterative();
  if (outputs.is_exact && (of_features || (keeps_posterior() && (joined || gaps))))
    return gaps && !is_of_squares() && !sums_over_outputs() ? MERCER_INVALID_ARGUMENT
                                                            : MERCER_UNSUPPORTED;
  if (is_mixed() && (gaps || outputs.has_roots)) return MERCER_UNSUPPORTED;
  if (gaps && !takes_gaps()) return MERCER_INVALID_ARGUMENT;
  return spec().find("delta") != nullptr && outputs.outputs > 1 ? MERCER_UNSUPPORTED : MERCER_OK;
}

double ModelCell::tolerance() const {
  if (is_iterative()) return 1e-6;  // a residual of 1e-9, over the least eigenvalue's share
  return is_of_squares() ? 1e-8 : spec().find("tau") == nullptr ? 1e-3 : 1e-2;
}

std::string ModelCell::label() const { return print_object(spec()) + (gaps ? ", gaps" : ""); }

Problem problem_of(const ModelCell& cell) {
  Problem problem = smooth_problem(60, 3, cell.outputs.outputs, 0.1, 81);
  for (int64_t i = 0; i < 60 * cell.outputs.outputs; ++i) {
    double& y = problem.Y.data()[i];
    y = cell.gaps && i % 4 == 0 ? std::numeric_limits<double>::quiet_NaN() : y > 0.3 ? 1 : 0;
  }
  return problem;
}

model::Model fitted(const ModelCell& cell, const Rows& X, MatrixView<const double> Y,
                    const std::vector<double>& weights) {
  Context context;
  return test::fit(spec::fit_plan(print_object(cell.spec())), nullptr, X, Y, weights, context);
}

}  // namespace mercer::test
