// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer fit: data, search, one fit on all rows that are not held out, a model file.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "check_plan.h"
#include "commands.h"
#include "failure.h"
#include "fitting.h"
#include "json.h"
#include "message.h"
#include "operator_option.h"
#include "output_file.h"
#include "outside.h"
#include "read/number.h"
#include "report/document.h"
#include "report/learning_curve.h"
#include "report_text.h"
#include "score.h"
#include "scoring.h"
#include "session.h"
#include "split.h"
#include "spooled_file.h"
#include "streams.h"
#include "table_rows.h"
#include "training_set.h"
#include "words.h"

namespace mercer::cli {

namespace {

double number_or_nan(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// The trials of a search, line by line, as they come.
class SearchTable {
 public:
  /// shaped: of trials with a kernel's share or a weight of outputs, for which there is a column.
  SearchTable(Session& session, std::FILE* out, bool classification, bool shaped)
      : session_(session), out_(out), classification_(classification), shaped_(shaped) {}

  void print(const Json& trial) {
    session_.clear_bar();
    if (!std::exchange(begun_, true)) begin();
    const std::string transform = trial.at("transform").get<std::string>();
    const std::string told = trial.at("stage").get<std::string>();
    const std::string stage =
        (transform == "none" ? "" : transform + " ") + (told == "per_input" ? "by input" : told);
    const std::string kernel = trial.at("kernel").get<std::string>();
    const double lengthscale = number_or_nan(trial.at("lengthscale"));
    // Of a regression the loss that chooses is 1 - R^2.
    const std::string loss =
        classification_ ? score_number(number_or_nan(trial.at("loss")), 8) + " " : std::string();
    const Json& shape = trial.at("shape");
    std::fprintf(out_, "%13s %10s %9" PRId64 " %8" PRId64 " %12s %9.1e %*s%s %s%8.2f\n",
                 stage.c_str(), kernel.substr(0, 10).c_str(), trial.at("features").get<int64_t>(),
                 trial.at("rows").get<int64_t>(),
                 lengthscale > 0 ? rounded(lengthscale, 4).c_str() : "-",
                 number_or_nan(trial.at("lambda")), shaped_ ? kShapeWidth : 0,
                 !shaped_          ? ""
                 : shape.is_null() ? "- "
                                   : (rounded(shape.get<double>(), 3) + " ").c_str(),
                 score_number(number_or_nan(trial.at("score")), 9).c_str(), loss.c_str(),
                 trial.at("seconds").get<double>());
    std::fflush(out_);
  }

 private:
  static constexpr int kShapeWidth = 8;

  void begin() const {
    std::fprintf(
        out_,
        "search (scores that choose: too good for what they chose)\n%13s %10s %9s %8s %12s %9s "
        "%*s%9s %s%8s\n",
        "stage", "kernel", "features", "rows", "lengthscale", "lambda", shaped_ ? kShapeWidth : 0,
        shaped_ ? "shape " : "", classification_ ? "accuracy" : "R^2",
        classification_ ? "    loss " : "", "seconds");
  }

  Session& session_;
  std::FILE* out_;
  bool classification_, shaped_;
  bool begun_ = false;
};

Json prepare_spec(const LearnRequest& request, const TrainingSet& set) {
  const PreparationRequest& wanted = request.preparation;
  Json prepare = {{"standardize", set.standardize},
                  {"missing", wanted.missing},
                  {"transform", wanted.transform},
                  {"target_transform", wanted.target_transform},
                  {"unit_rows", wanted.unit_rows}};
  if (!request.extrapolation.empty()) prepare["extrapolation"] = request.extrapolation;
  if (!wanted.scale.empty() && wanted.scale != kUnscaled) prepare["scale"] = wanted.scale;
  return prepare;
}

Json fit_spec(const FitRequest& request, const Plan& plan, const TrainingSet& set, bool assess) {
  Json spec = {{"model", request.estimator},
               {"map", map_spec(plan.map, request.features)},
               {"class_weight", request.learn.class_weight},
               {"ard", request.ard},
               {"prepare", prepare_spec(request.learn, set)},
               {"seed", request.learn.seed},
               {"assess", assess}};
  if (!request.loss.empty()) spec.update({{"model", "logistic"}, {"loss", request.loss}});
  if (request.tau) spec["tau"] = *request.tau;
  if (request.delta) spec["delta"] = *request.delta;
  if (request.most_features) spec["most_features"] = *request.most_features;
  if (request.learn.ordered) spec["ordered"] = true;
  if (plan.lambda >= 0) spec["lambda"] = plan.lambda;
  if (plan.lengthscale > 0) spec["lengthscale"] = plan.lengthscale;
  if (set.K > 0) spec.update({{"task", "classification"}, {"classes", set.K}});
  add_operator(read_operator(request.operation, specs()), set, &spec);
  return spec;
}

}  // namespace

Json map_spec(const std::string& map, const std::optional<int64_t>& features) {
  Json spec = map.empty() ? Json::object() : json_or_discarded(map);
  if (spec.is_discarded()) spec = {{"map", map}};
  if (features) spec["features"] = *features;
  return spec;
}

Plan plan_of(const FitRequest& request) {
  const OperatorOption joins = read_operator(request.operation, specs());
  Plan plan = read_plan(request.learn.plan, specs());
  if (joins.kernel.is_null()) check_plan(plan, request.features.value_or(kFeatures));
  if (plan.per_input && plan.needs_rows)
    throw Failure("--map: one lengthscale per input is not fitted with a map made from data");
  return plan;
}

Model fit_by_search(const FitRequest& request, const Plan& plan, const TrainingSet& set, int64_t n,
                    bool assess, Session& session, std::FILE* out) {
  if (request.estimator == kEstimatorWords[2] && set.K == 0)
    throw Failure("--estimator logistic: the task is a regression");
  const std::string spec = json_text(fit_spec(request, plan, set, assess));
  SearchTable table(session, out, set.K > 0, !request.operation.empty());
  session.context()->tell_trials(out == nullptr ? Context::Trial() : [&](const std::string& trial) {
    table.print(parse_json(trial));
  });
  const Rows X = rows_of(set.data.X, 0, n, set.data.d);
  const Rows Y = targets_of(set.data.Y, 0, n, set.data.m);
  return in_words_of(
      set.data.name, input_names(set.metadata),
      [&] {
        const Span<const double> weights(set.data.weights.data(), set.data.weights.empty() ? 0 : n);
        Data data = Data(X, Y).weights(weights);
        const std::vector<double>& groups = set.data.groups;
        if (!groups.empty()) std::move(data).groups(MatrixView<const double>(groups.data(), n, 1));
        return Model::fit(spec, data, session.context());
      },
      set.data.file_rows);
}

namespace {

/// ", outputs covariance of weight 0.5"; of what a kernel joins nothing.
std::string outputs_text(const Model& model) {
  const Json spec = parse_json(model.spec());
  const Json outputs = spec.value("outputs", Json::object());
  if (outputs.empty())
    return spec.at("map").at("kernel").contains("scalar") ? "" : ", outputs independent";
  const std::string text = ", outputs " + outputs.value("structure", "");
  return outputs.contains("weight")
             ? text + " of weight " + rounded(outputs["weight"].get<double>(), 3)
             : text;
}

void describe(const Model& model, int64_t n, double seconds, bool joined, std::FILE* out) {
  const Map map = model.map();
  const std::string spec = map.spec();
  std::fprintf(out,
               "fitted: %" PRId64 " rows, kernel %s, %" PRId64
               " features, lengthscale %s, lambda %.3g%s, %.1f s\n",
               n, kernel_name(spec).c_str(), map.features(), lengthscale_text(spec).c_str(),
               model.lambda(), joined ? outputs_text(model).c_str() : "", seconds);
  if (map.inputs() < model.inputs())  // flags of missing inputs make them more
    std::fprintf(out, "%" PRId64 " inputs are hashed to %" PRId64 "\n", model.inputs(),
                 map.inputs());
}

/// Of rows held out: which these are, where they are not any.
std::string held_out_text(const Dataset& data, int64_t first, bool ordered) {
  if (ordered) return ", the last";
  if (data.groups.empty()) return "";
  const std::set<double> groups(data.groups.begin() + first, data.groups.end());
  return " of " + counted(std::ssize(groups), "group") + " that the fit has not seen";
}

void print_test_score(const Model& model, const TrainingSet& set, int64_t first,
                      const std::string& kept_apart, Session& session, std::FILE* out) {
  const Dataset& data = set.data;
  const int64_t rows = data.n - first;
  const Scoring scoring = scoring_of(model);
  const double score =
      model.score(rows_of(data.X, first, rows, data.d), targets_of(data.Y, first, rows, data.m),
                  scoring.options(score_options_of(data.weights, first)), session.context());
  session.clear_bar();
  std::fprintf(out, "test: %s on %" PRId64 " held-out rows%s\n", scoring.text(score).c_str(), rows,
               kept_apart.c_str());
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
  describe(model, n, seconds, !request.operation.empty(), streams.out);
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
  const Plan plan = plan_of(request);
  TrainingSet set = read_training_set(request.learn, streams);
  const std::string metadata = metadata_text(set.metadata);  // what cannot be kept is refused now
  const int64_t n = hold_out(&set.data, set.data.n, request.test_fraction,
                             {request.learn.seed, request.learn.ordered});
  Session session(request.learn.threads, request.learn.quiet);
  const Stopwatch watch;
  Model model = fit_by_search(request, plan, set, n, true, session, streams.out);
  session.clear_bar();
  tell_fit(model, request, set, n, watch.seconds(), streams, scores_out);
  if (n < set.data.n)
    print_test_score(model, set, n, held_out_text(set.data, n, request.learn.ordered), session,
                     scores_out);
  const double seconds = watch.seconds();
  const std::string written = to_stdout ? "standard output" : request.model;
  save(model, metadata, request.model);
  if (streams.out != nullptr) std::fprintf(streams.out, "wrote %s\n", written.c_str());
  if (request.report.empty()) return;
  after_model(written, [&] { write_reports(request, plan, model, &set, n, seconds, session); });
}

}  // namespace mercer::cli
