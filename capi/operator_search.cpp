// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator_learn.h: the search for a model, and what is known of one.
#include "model/outputs/operator_search.h"

#include <optional>
#include <string>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "io/operator_model_file.h"
#include "mercer/operator_learn.h"
#include "reporter.h"
#include "row_arguments.h"
#include "spec/json.h"
#include "spec/report_spec.h"
#include "spec/utf8.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr uint32_t kSearchFirstSize = 104;
constexpr size_t kMostMetadata = size_t{1} << 20;

mercer_operator_candidate told_of(const model::OperatorCandidate& candidate) {
  return {sizeof(mercer_operator_candidate),
          candidate.left_out ? 1 : 0,
          candidate.features,
          candidate.rows,
          candidate.lengthscale,
          candidate.lambda,
          candidate.shape,
          1 - candidate.error};
}

std::vector<double> read_list(const char* name, const double* numbers, int64_t count) {
  check_at_least((std::string(name) + "_count").c_str(), count, 0);
  require((numbers == nullptr) == (count == 0), MERCER_INVALID_ARGUMENT,
          "%ss is %s and %s_count = %lld, expected numbers and how many, or NULL and 0", name,
          numbers == nullptr ? "NULL" : "given", name, static_cast<long long>(count));
  check_aligned((std::string(name) + "s").c_str(), numbers, sizeof(double));
  return {numbers, numbers + count};
}

model::OperatorSearchOptions read_options_of(const mercer_operator_search& read) {
  model::OperatorSearchOptions options;
  options.lengthscales =
      read_list("search->lengthscale", read.lengthscales, read.lengthscale_count);
  options.lambdas = read_list("search->lambda", read.lambdas, read.lambda_count);
  options.shapes = read_list("search->shape", read.shapes, read.shape_count);
  check_range("search->assess", read.assess, 0, 1);
  require(read.reserved == 0, MERCER_INVALID_ARGUMENT, "search->reserved = %lld, expected 0",
          static_cast<long long>(read.reserved));
  options.assess = read.assess == 1;
  return options;
}

model::OutputStructure structure_of(const mercer_operator_search& read) {
  check_range("search->structure", read.structure, MERCER_STRUCTURE_COVARIANCE,
              MERCER_STRUCTURE_SIMILARITY);
  const bool graph = read.structure == MERCER_STRUCTURE_LAPLACIAN;
  require(graph == (read.graph != nullptr), MERCER_INVALID_ARGUMENT,
          "search->graph is %s, expected %s: structure = %d", graph ? "NULL" : "given",
          graph ? "p x p weights" : "NULL", read.structure);
  return read.structure == MERCER_STRUCTURE_COVARIANCE ? model::OutputStructure::covariance
         : graph                                       ? model::OutputStructure::laplacian
                                                       : model::OutputStructure::similarity;
}

std::string read_metadata(const char* text) {
  if (text == nullptr) return {};
  std::string metadata(text);
  require(metadata.size() <= kMostMetadata && spec::is_utf8(metadata), MERCER_INVALID_ARGUMENT,
          "search->metadata holds %zu bytes, expected at most %zu of valid UTF-8", metadata.size(),
          kMostMetadata);
  return metadata;
}

}  // namespace

mercer_status mercer_operator_model_search(const char* json, const mercer_rows* X,
                                           const mercer_rows* Y,
                                           const mercer_operator_search* search,
                                           mercer_context* context, mercer_operator_model** out) {
  return guard_create_long("mercer_operator_model_search", context, out, [&](Context& running) {
    const auto read = read_required("search", search, "a mercer_operator_search",
                                    mercer_operator_search_of(0), kSearchFirstSize);
    model::OperatorSearchOptions options = read_options_of(read);
    model::OperatorPlan plan{spec::parse_object(check_text("json", json)), structure_of(read)};
    plan.seed = read.seed;
    const auto x = read_rows("X", X, running), y = read_rows("Y", Y, running);
    check_same_rows(x, y);
    check_at_least("X->n", x.n(), 1);
    check_at_least("Y->d", y.d(), 1);
    std::optional<DoubleRows> graph;
    if (read.graph != nullptr)
      plan.graph = graph.emplace(read_rows("search->graph", read.graph, running), running).view();
    Reporter<mercer_operator_candidate> reporter{read.report, read.user};
    if (read.report != nullptr) {
      options.report = Reporter<mercer_operator_candidate>::forward<told_of>;
      options.user = &reporter;
    }
    const std::string metadata = read_metadata(read.metadata);
    model::OperatorReport report;
    model::OperatorModel learnt =
        model::search_operator(plan, options, DoubleRows(x, running).view(),
                               DoubleRows(y, running).view(), running, report);
    learnt.report = spec::print_report(report);
    learnt.metadata = metadata;
    return mercer_operator_model{std::move(learnt)};
  });
}

mercer_status mercer_operator_model_report(const mercer_operator_model* model, char* buffer,
                                           int64_t capacity, int64_t* needed) {
  return guard("mercer_operator_model_report", [&] {
    const model::OperatorModel& m = checked("model", model).impl;
    Parameters known = io::described(m);
    if (!m.metadata.empty()) known.set("metadata", m.metadata);
    std::string text = print_object(known);
    if (!m.report.empty()) text.replace(text.size() - 1, 1, ",\"report\":" + m.report + "}");
    copy_text(text, buffer, capacity, needed);
  });
}
