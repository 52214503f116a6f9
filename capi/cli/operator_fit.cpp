// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer fit --operator: targets that are learnt together.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <optional>
#include <regex>
#include <string_view>

#include "commands.h"
#include "failure.h"
#include "gaps.h"
#include "json.h"
#include "message.h"
#include "operator_graph.h"
#include "operator_request.h"
#include "output_file.h"
#include "read/number.h"
#include "report/document.h"
#include "report_text.h"
#include "score.h"
#include "session.h"
#include "split.h"
#include "spooled_file.h"
#include "streams.h"
#include "table_rows.h"
#include "training_set.h"

namespace mercer::cli {

namespace {

struct SearchTable {
  Session* session;
  std::FILE* out;
  std::string shape;  // what it is called; "-": the kind has none
  bool begun = false;
};

std::string number_or_dash(double value) { return value > 0 ? rounded(value, 4) : "-"; }

void print_candidate(void* user, const mercer_operator_candidate* candidate) {
  auto& table = *static_cast<SearchTable*>(user);
  table.session->clear_bar();
  if (!table.begun)
    std::fprintf(
        table.out,
        "search (scores that choose: too good for what they chose; pooled: 1 - squared errors of "
        "all targets over their variance, other scores are means over targets)\n"
        "%9s %8s %12s %9s %9s %10s\n",
        "features", "rows", "lengthscale", "lambda", table.shape.c_str(), "pooled R^2");
  table.begun = true;
  const bool shaped = table.shape != "-";
  std::fprintf(table.out, "%9" PRId64 " %8" PRId64 " %12s %9.1e %9s %s\n", candidate->features,
               candidate->rows, number_or_dash(candidate->lengthscale).c_str(), candidate->lambda,
               shaped ? rounded(candidate->shape, 3).c_str() : "-",
               score_number(candidate->score, 10).c_str());
  std::fflush(table.out);
}

/// Says which targets rows lack; a target without any number cannot be learnt.
void tell_target_gaps(const TrainingSet& set, std::FILE* out) {
  const Dataset& data = set.data;
  std::string text;
  for (int64_t k = 0; k < data.m; ++k) {
    int64_t missing = 0;
    for (int64_t i = 0; i < data.n; ++i)
      missing += std::isnan(data.Y[static_cast<size_t>(i * data.m + k)]);
    const auto at = static_cast<size_t>(k);
    const std::string name =
        at < set.metadata.targets.size() ? set.metadata.targets[at] : std::to_string(k + 1);
    if (missing == data.n) fail_at(data.name, 0, 0, "target " + name + " has no values");
    if (missing > 0)
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(missing) + " of " +
              std::to_string(data.n) + " missing";
  }
  if (out != nullptr && !text.empty()) std::fprintf(out, "targets: %s\n", text.c_str());
}

/// Where inputs are missing plain fits fill them; --missing does not go with --operator.
TrainingSet read_rows(const LearnRequest& learn, const Streams& streams) {
  try {
    return read_training_set(learn, streams);
  } catch (const Failure& failure) {
    std::string text = failure.what();
    constexpr std::string_view kAdvice = "a fit with --missing flag fills and flags them";
    const size_t at = text.find(kAdvice);
    if (at == text.npos) throw;
    throw Failure(text.replace(at, kAdvice.size(),
                               "with --operator fill inputs first, or leave columns out: "
                               "--ignore"));
  }
}

void check_data(const OperatorRequest& wanted, const TrainingSet& set, const std::string& text) {
  const Dataset& data = set.data;
  if (data.X.sparse)
    throw Failure("--operator: " + data.name + " holds sparse rows, expected dense ones");
  if (!wanted.field && data.m < 2)
    throw Failure("--operator " + shown(text) + ": 1 target, expected at least 2 (--target)");
  if (wanted.field && data.m != data.d)
    throw Failure("--operator " + shown(text) + ": " + counted(data.m, "target") + " and " +
                  counted(data.d, "input") +
                  ", a field has as many targets as inputs (--target, --ignore)");
}

/// The option, or else the file, that an error of a search is of.
std::string blamed(const std::string& text, const std::string& file) {
  static const std::regex of_spec(
      R"(^((unknown |missing )?key |(projection|radius|scramble|whole_blocks|bounded|root|alpha|gamma|kernel)\b))");
  if (text.starts_with("features = ")) return "--features";
  if (text.starts_with("lambda")) return "--lambda";
  if (text.find("lengthscales") < 4) return "--lengthscale";
  return std::regex_search(text, of_spec) ? "--operator" : file;
}

/// Of what a search calls shape.
std::string shape_name(const OperatorRequest& wanted, int64_t m) {
  const Json spec = parse_json(wanted.spec).at("kernel");
  if (!wanted.shape.empty()) return spec.contains(wanted.shape) ? "-" : wanted.shape;
  if (!wanted.separable || spec.contains("gamma")) return "-";
  if (!wanted.graph.empty() || wanted.similarity) return m > 1 ? "gamma" : "-";
  return m > 1 ? "weight w" : "-";
}

OperatorModel search(const FitRequest& request, const OperatorRequest& wanted,
                     const TrainingSet& set, int64_t n, Session& session, std::FILE* out) {
  mercer_operator_search how = operator_search(request.learn.seed);
  const std::string metadata = metadata_text(set.metadata);
  how.metadata = metadata.c_str();
  how.structure = wanted.similarity ? MERCER_STRUCTURE_SIMILARITY : MERCER_STRUCTURE_COVARIANCE;
  const int64_t m = set.data.m;
  std::vector<double> weights;
  std::optional<Rows> graph;
  if (!wanted.graph.empty()) {
    weights = read_graph(wanted.graph, set.metadata.targets, m);
    graph.emplace(MatrixView<const double>{weights.data(), m, m, m});
    how.graph = graph->get();
    how.structure = MERCER_STRUCTURE_LAPLACIAN;
  }
  if (!wanted.lengthscales.empty()) how.lengthscales = wanted.lengthscales.data();
  if (!wanted.lambdas.empty()) how.lambdas = wanted.lambdas.data();
  how.lengthscale_count = static_cast<int64_t>(wanted.lengthscales.size());
  how.lambda_count = static_cast<int64_t>(wanted.lambdas.size());
  SearchTable table{&session, out, shape_name(wanted, m)};
  if (out != nullptr) {
    how.report = print_candidate;
    how.user = &table;
  }
  const Rows X = rows_of(set.data.X, 0, n, set.data.d);
  const Rows Y = targets_of(set.data.Y, 0, n, m);
  try {
    return OperatorModel::search(wanted.spec, X, Y, how, session.context());
  } catch (const Error& error) {
    if (error.status() != MERCER_INVALID_ARGUMENT && error.status() != MERCER_UNSUPPORTED) throw;
    const std::string text = message_of(error, input_names(set.metadata), set.data.file_rows);
    throw Failure(blamed(text, set.data.name) + ": " + text);
  }
}

void describe(const Json& known, const std::string& shape, int64_t n, double seconds,
              std::FILE* out) {
  const Json& kernel = known.at("spec").at("map").at("kernel");
  const Json& chosen = known.at("report").at("chosen");
  std::fprintf(
      out, "fitted: %" PRId64 " rows, %s of %s, %" PRId64 " features, lengthscale %s, lambda %.3g",
      n, kernel.value("kernel", "").c_str(), kernel.at("scalar").value("kernel", "").c_str(),
      chosen.value("features", int64_t{0}),
      chosen.at("lengthscale").is_null() ? "-" : rounded(chosen["lengthscale"], 4).c_str(),
      known.at("spec").at("lambda").get<double>());
  if (chosen.contains("shape"))
    std::fprintf(out, ", %s %s", shape.c_str(), rounded(chosen["shape"], 4).c_str());
  std::fprintf(out, ", %.1f s\n", seconds);
}

void print_test_score(const OperatorModel& model, const TrainingSet& set, int64_t first,
                      Session& session, std::FILE* out) {
  const Dataset& data = set.data;
  const int64_t rows = data.n - first;
  Matrix<double> predicted(rows, data.m);
  model.predict(rows_of(data.X, first, rows, data.d), predicted, MERCER_FIELD_VALUE,
                session.context());
  session.clear_bar();
  const MeanR2 mean = mean_r2(predicted, data, set.metadata.targets, first);
  std::fprintf(out, "test: %s on %" PRId64 " held-out rows%s\n",
               score_text(false, mean.value).c_str(), rows, mean.left_out.c_str());
}

}  // namespace

void run_operator_fit(const FitRequest& request) {
  const bool to_stdout = is_standard_output(request.model);
  std::FILE* scores_out = to_stdout ? stderr : stdout;
  const Streams streams = streams_of(request.learn.quiet, scores_out);
  const OperatorRequest wanted = read_operator(request, specs());
  LearnRequest learn = request.learn;
  learn.task = "regression";
  learn.gaps = true;
  TrainingSet set = read_rows(learn, streams);
  check_data(wanted, set, request.operation);
  tell_target_gaps(set, streams.out);
  const int64_t n = hold_out(&set.data, request.test_fraction, request.learn.seed);
  Session session(request.learn.threads, request.learn.quiet);
  const Stopwatch watch;
  const OperatorModel model = search(request, wanted, set, n, session, streams.out);
  session.clear_bar();
  const Json known = parse_json(model.report());
  const std::string report = json_text(known.at("report"));
  if (streams.out != nullptr) {
    describe(known, shape_name(wanted, set.data.m), n, watch.seconds(), streams.out);
    std::fputs(report_text(report, {.targets = set.metadata.targets}).c_str(), streams.out);
  } else {
    std::fputs(honest_score_text(report).c_str(), scores_out);
    std::fputs(warnings_text(report, {.targets = set.metadata.targets}).c_str(), streams.warnings);
  }
  if (n < set.data.n) print_test_score(model, set, n, session, scores_out);
  const std::string written = to_stdout ? "standard output" : request.model;
  SpooledFile file(request.model, SpooledFile::Use::write);
  model.save(file.path());
  file.send();
  if (streams.out != nullptr) std::fprintf(streams.out, "wrote %s\n", written.c_str());
  after_model(written, [&] {
    for (const std::string& path : request.report) write_report(path, json_text(known));
  });
}

}  // namespace mercer::cli
