// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer fit: data, search, one fit on all rows that are not held out, a model file.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>

#include "check_plan.h"
#include "commands.h"
#include "failure.h"
#include "fitting.h"
#include "message.h"
#include "output_file.h"
#include "outside.h"
#include "read/number.h"
#include "report/document.h"
#include "report/learning_curve.h"
#include "report_text.h"
#include "score.h"
#include "session.h"
#include "split.h"
#include "spooled_file.h"
#include "streams.h"
#include "table_rows.h"
#include "training_set.h"
#include "words.h"

namespace mercer::cli {

namespace {

const std::string kTransforms[] = {"", "log ", "rank "};  // of the inputs
constexpr const char* kStages[] = {"coarse", "fine", "by input", "final"};

struct SearchTable {
  Session* session;
  std::FILE* out;
  bool classification;
  bool begun = false;
};

void print_candidate(void* user, const mercer_search_candidate* candidate) {
  auto& table = *static_cast<SearchTable*>(user);
  table.session->clear_bar();
  if (!table.begun) {
    std::fprintf(table.out,
                 "search (scores that choose: too good for what they chose)\n%13s %9s %8s %12s %9s "
                 "%9s %s%8s\n",
                 "stage", "features", "rows", "lengthscale", "lambda",
                 table.classification ? "accuracy" : "R^2", table.classification ? "    loss " : "",
                 "seconds");
    table.begun = true;
  }
  const bool known =
      candidate->stage >= 0 && candidate->stage < static_cast<int32_t>(std::size(kStages));
  const std::string stage = kTransforms[candidate->transform] +
                            (known ? kStages[candidate->stage] : std::to_string(candidate->stage));
  const std::string lengthscale =
      candidate->lengthscale > 0 ? rounded(candidate->lengthscale, 4) : "-";
  // Of a regression the loss that chooses is 1 - R^2.
  const std::string loss =
      table.classification ? score_number(candidate->loss, 8) + " " : std::string();
  std::fprintf(table.out, "%13s %9" PRId64 " %8" PRId64 " %12s %9.1e %s %s%8.2f\n", stage.c_str(),
               candidate->features, candidate->rows, lengthscale.c_str(), candidate->lambda,
               score_number(1 - candidate->score, 9).c_str(), loss.c_str(), candidate->seconds);
  std::fflush(table.out);
}

template <class Options>
void prepare(const LearnRequest& request, const TrainingSet& set, Options* options) {
  const PreparationRequest& wanted = request.preparation;
  options->standardize = set.standardize ? 1 : 0;
  options->scale = number_of(wanted.scale, kScales);
  options->missing = number_of(wanted.missing, kMissingWords);
  options->transform = number_of(wanted.transform, kTransformWords);
  options->target_transform = number_of(wanted.target_transform, kTargetTransformWords);
  options->unit_rows = wanted.unit_rows ? 1 : 0;
  options->extrapolation = extrapolation_of(request.extrapolation);
}

}  // namespace

Plan plan_of(const FitRequest& request) {
  Plan plan = read_plan(request.learn.plan, specs());
  check_plan(plan, request.features.value_or(kFeatures));
  if (plan.per_input && plan.needs_rows)
    throw Failure("--map: one lengthscale per input is not fitted with a map made from data");
  return plan;
}

Model fit_by_search(const FitRequest& request, const Plan& plan, const TrainingSet& set, int64_t n,
                    bool assess, Session& session, std::FILE* out) {
  mercer_search_options options = search_options();
  prepare(request.learn, set, &options);
  options.features = request.features.value_or(0);
  options.lengthscale = plan.lengthscale;
  options.lambda = plan.lambda;
  options.estimator = number_of(request.estimator, kEstimatorWords);
  if (options.estimator == MERCER_ESTIMATOR_LOGISTIC && set.K == 0)
    throw Failure("--estimator logistic: the task is a regression");
  options.ard = number_of(request.ard, kArdWords);
  options.class_weight = number_of(request.learn.class_weight, kClassWeightWords);
  if (!set.data.weights.empty()) options.weights = set.data.weights.data();
  options.seed = request.learn.seed;
  options.map = plan.map.c_str();
  options.assess = assess ? 1 : 0;
  SearchTable table{&session, out, set.K > 0};
  if (out != nullptr) {
    options.report = print_candidate;
    options.user = &table;
  }
  const Rows X = rows_of(set.data.X, 0, n, set.data.d);
  const Rows Y = targets_of(set.data.Y, 0, n, set.data.m);
  return in_words_of(
      set.data.name, input_names(set.metadata),
      [&] { return Model::search(X, Y, set.K, options, session.context()); }, set.data.file_rows);
}

namespace {

void describe(const Model& model, int64_t n, double seconds, std::FILE* out) {
  const Map map = model.map();
  const std::string spec = map.spec();
  std::fprintf(out,
               "fitted: %" PRId64 " rows, kernel %s, %" PRId64
               " features, lengthscale %s, lambda %.3g, %.1f s\n",
               n, kernel_name(spec).c_str(), map.features(), lengthscale_text(spec).c_str(),
               model.lambda(), seconds);
  if (map.inputs() < model.inputs())  // flags of missing inputs make them more
    std::fprintf(out, "%" PRId64 " inputs are hashed to %" PRId64 "\n", model.inputs(),
                 map.inputs());
}

void print_test_score(const Model& model, const TrainingSet& set, int64_t first, Session& session,
                      std::FILE* out) {
  const Dataset& data = set.data;
  const int64_t rows = data.n - first;
  const double score =
      model.score(rows_of(data.X, first, rows, data.d), targets_of(data.Y, first, rows, data.m),
                  score_options_of(data.weights, first), session.context());
  session.clear_bar();
  std::fprintf(out, "test: %s on %" PRId64 " held-out rows\n", score_text(set.K > 0, score).c_str(),
               rows);
}

void save(Model& model, const std::string& metadata, const std::string& path) {
  model.set_metadata(metadata);
  SpooledFile file(path, SpooledFile::Use::write);
  model.save(file.path());
  file.send();
}

void check_outputs(const FitRequest& request) {
  check_output(request.model, request.learn.train);
  for (const std::string& path : request.report) {
    check_output(path, request.learn.train);
    if (path == request.model) throw Failure("--report: " + path + " is the model file, too");
  }
}

// Of --quiet the score, and what has to be known all the same.
void tell_fit(const Model& model, const FitRequest& request, const TrainingSet& set, int64_t n,
              double seconds, const Streams& streams, std::FILE* scores_out) {
  const ReportNames names{input_names(set.metadata), set.metadata.targets, set.metadata.classes,
                          request.learn.class_weight == "balanced"};
  if (streams.out == nullptr) {
    std::fputs(honest_score_text(model.report(), names).c_str(), scores_out);
    std::fputs(warnings_text(model.report(), names).c_str(), streams.warnings);
    return;
  }
  describe(model, n, seconds, streams.out);
  std::fputs(report_text(model.report(), names).c_str(), streams.out);
}

// The rows stand in another order afterwards.
void write_reports(const FitRequest& request, const Plan& plan, const Model& model,
                   TrainingSet* set, int64_t n, double seconds, Session& session) {
  const std::string document =
      report_document(model, *set, learning_curve(request, plan, model, set, n, session), seconds);
  session.clear_bar();
  for (const std::string& path : request.report) write_report(path, document);
}

}  // namespace

void run_fit(const FitRequest& request) {
  const bool to_stdout = is_standard_output(request.model);
  std::FILE* scores_out = to_stdout ? stderr : stdout;
  const Streams streams = streams_of(request.learn.quiet, scores_out);
  check_outputs(request);
  if (!request.operation.empty()) return run_operator_fit(request);
  const Plan plan = plan_of(request);
  TrainingSet set = read_training_set(request.learn, streams);
  const std::string metadata = metadata_text(set.metadata);  // what cannot be kept is refused now
  const int64_t n = hold_out(&set.data, request.test_fraction, request.learn.seed);
  Session session(request.learn.threads, request.learn.quiet);
  const Stopwatch watch;
  Model model = fit_by_search(request, plan, set, n, true, session, streams.out);
  session.clear_bar();
  tell_fit(model, request, set, n, watch.seconds(), streams, scores_out);
  if (n < set.data.n) print_test_score(model, set, n, session, scores_out);
  const double seconds = watch.seconds();
  const std::string written = to_stdout ? "standard output" : request.model;
  save(model, metadata, request.model);
  if (streams.out != nullptr) std::fprintf(streams.out, "wrote %s\n", written.c_str());
  if (request.report.empty()) return;
  after_model(written, [&] { write_reports(request, plan, model, &set, n, seconds, session); });
}

}  // namespace mercer::cli
