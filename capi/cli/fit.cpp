// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer fit: data, search, one fit on all rows that are not held out, a model file.
#include <array>
#include <cinttypes>
#include <cstdio>
#include <set>
#include <utility>

#include "message.h"
#include "output_file.h"
#include "report/document.h"
#include "scoring.h"
#include "split.h"

namespace mercer::cli {
namespace {

/// The trials of a search, line by line, as they come.
class SearchTable {
 public:
  /// shaped: of trials with a kernel's share or a weight of outputs, for which there is a column.
  SearchTable(Session& session, std::FILE* out, bool classification, bool shaped)
      : session_(session), out_(out), classification_(classification), shaped_(shaped) {}

  void print(const Json& trial) {
    session_.clear_bar();
    if (!std::exchange(begun_, true)) {
      std::fputs("search (scores that choose: too good for what they chose)\n", out_);
      line({"stage", "kernel", "features", "rows", "lengthscale", "lambda", "shape",
            classification_ ? "accuracy" : "R^2", "loss", "seconds"});
    }
    const std::string transform = trial.at("transform"), told = trial.at("stage"),
                      stage = told == "per_input" ? "by input" : told;
    const auto number = [&](const char* key, const char* format) {
      char text[64] = "-";
      const Json& value = trial.at(key);
      const bool none = key == std::string("lengthscale") && value == 0;  // of a kernel without one
      if (value.is_number() && !none) std::snprintf(text, sizeof text, format, value.get<double>());
      return std::string(text);
    };
    line({transform == "none" ? stage : transform + " " + stage,
          trial.at("kernel").get<std::string>().substr(0, 10), number("features", "%.0f"),
          number("rows", "%.0f"), number("lengthscale", "%.4g"), number("lambda", "%.1e"),
          number("shape", "%.3g"), number("score", "%.5f"), number("loss", "%.5f"),
          number("seconds", "%.2f")});
  }

 private:
  void line(const std::array<std::string, 10>& cells) const {
    constexpr int kWidths[] = {13, 10, 9, 8, 12, 9, 7, 9, 8, 8};
    for (size_t k = 0; k < cells.size(); ++k) {
      // Of a regression the loss that chooses is 1 - R^2.
      if ((k == 6 && !shaped_) || (k == 8 && !classification_)) continue;
      std::fprintf(out_, "%s%*s", k > 0 ? " " : "", kWidths[k], cells[k].c_str());
    }
    std::fputs("\n", out_);
    std::fflush(out_);
  }

  Session& session_;
  std::FILE* out_;
  bool classification_, shaped_;
  bool begun_ = false;
};

/// ", outputs covariance of weight 0.5"; of what a kernel joins nothing.
std::string outputs_text(const Model& model) {
  const Json spec = parse_json(model.spec()), outputs = spec.value("outputs", Json::object());
  if (outputs.empty())
    return spec.at("map").at("kernel").contains("scalar") ? "" : ", outputs independent";
  const std::string text = ", outputs " + outputs.value("structure", "");
  return outputs.contains("weight")
             ? text + " of weight " + rounded(outputs["weight"].get<double>(), 3)
             : text;
}

void describe(const Model& model, int64_t n, double seconds, bool joined, std::FILE* out) {
  const Map map = model.map();
  const std::string spec = map.spec(), name = parse_json(spec).at("map").get<std::string>();
  std::fprintf(out,
               "fitted: %" PRId64 " rows, kernel %s, %" PRId64
               " features of map %s, lengthscale %s, lambda %.3g%s, %.1f s\n",
               n, kernel_name(spec).c_str(), map.features(), name.c_str(),
               lengthscale_text(spec).c_str(), model.lambda(),
               joined ? outputs_text(model).c_str() : "", seconds);
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

void check_outputs(const FitRequest& request) {
  check_output(request.model, request.learn.train);
  for (const std::string& path : request.report) {
    check_output(path, request.learn.train);
    if (is_one_file(path, request.model))
      throw Failure("--report: " + path + " is the model file, too");
  }
  if (request.checkpoint.empty()) return;
  if (!request.stream)
    throw Failure("--checkpoint without --stream: rows in memory are not read in passes");
  check_output(request.checkpoint, request.learn.train);
  for (const std::string& checkpoint : checkpoints_of(request)) {
    if (is_one_file(checkpoint, request.model))
      throw Failure("--checkpoint: " + checkpoint + " is the model file, too");
    for (const std::string& path : request.report)
      if (is_one_file(checkpoint, path))
        throw Failure("--checkpoint: " + checkpoint + " is the report, too");
  }
}

// With --quiet the score alone, and warnings.
void tell_fit(const Model& model, const FitRequest& request, const TrainingSet& set, int64_t n,
              double seconds, const Streams& streams) {
  const ReportText text =
      report_text(parse_json(model.report()), {input_names(set.metadata), set.metadata.targets,
                                               set.metadata.classes, request.learn.balanced()});
  if (streams.out != nullptr) {
    describe(model, n, seconds, !request.operation.empty(), streams.out);
    std::fputs((text.score + text.shortness).c_str(), streams.out);
  } else if (streams.scores != nullptr) {
    std::fputs(text.score.substr(0, text.score.find('\n') + 1).c_str(), streams.scores);
  }
  std::fputs(text.warnings.c_str(), streams.warnings);
}

/// Null where no rows are held out.
Json tell_test(const Model& model, const TrainingSet& set, int64_t first, bool ordered,
               Session& session, const Streams& streams) {
  const int64_t rows = set.data.n - first;
  if (rows == 0) return nullptr;
  const double score = score_rows(model, set, first, rows, session);
  session.clear_bar();
  if (streams.scores != nullptr)
    std::fprintf(streams.scores, "test: %s on %" PRId64 " held-out rows%s\n",
                 scoring_of(model).text(score).c_str(), rows,
                 held_out_text(set.data, first, ordered).c_str());
  return {{"score", score}, {"rows", rows}};
}

// The rows stand in another order afterwards.
void write_reports(const FitRequest& request, const Model& model, TrainingSet* set, int64_t n,
                   const std::string& written, Json document, Session& session) {
  std::string fault;
  try {
    document["certificate"] = certificate_of(model, set->data, 0, n, session);
    add_errors(request.learn, model, set, n, session, &document);
    session.clear_bar();
    for (const std::string& path : request.report) write_report(path, document);
    return;
  } catch (const Error& error) {
    if (error.status() == MERCER_CANCELLED) throw;
    fault = message_of(error);
  } catch (const std::exception& error) {
    fault = error.what();
  }
  throw Failure("--report: " + fault + " (the model is written: " + written + ")");
}

}  // namespace

void run_fit(const FitRequest& request) {
  const bool to_stdout = is_standard_output(request.model);
  const LearnRequest& learn = request.learn;
  const Streams streams = streams_of(learn.run, to_stdout ? stderr : stdout);
  check_outputs(request);
  const Plan plan = checked_plan(request);
  TrainingSet set =
      request.stream ? read_streamed(request, streams) : read_training_set(learn, streams);
  const std::string metadata = metadata_text(set.metadata);  // what cannot be kept is refused now
  int64_t n = hold_out(&set.data, set.data.n, request.test_fraction, {learn.seed, learn.ordered});
  Session session(learn.run);
  const Stopwatch watch;
  if (streams.out != nullptr && learn.spec.contains("effort"))
    std::fputs(
        "--fast: one lengthscale, no transforms, at most 2048 features, least squares, a score "
        "of rows held out once, where no option says otherwise\n",
        streams.out);
  SearchTable table(session, streams.out, set.K > 0, !request.operation.empty());
  TrialCallback tell;
  if (streams.out != nullptr) tell = [&](const Json& trial) { table.print(trial); };
  const Json spec = fit_spec(request, plan, set, true);
  tell_trials(session, tell);
  Model model = request.stream ? fit_stream(spec, request, &set, session)
                               : fit_rows(spec, set, n, session, tell);
  if (request.stream) n = set.data.n;
  session.clear_bar();
  tell_fit(model, request, set, n, watch.seconds(), streams);
  const Json test = tell_test(model, set, n, learn.ordered, session, streams);
  const double seconds = watch.seconds();
  model.set_metadata(metadata);
  if (processes().is_first()) write_file(model, request.model);
  remove_checkpoint(request);
  const std::string written = to_stdout ? "standard output" : request.model;
  if (streams.out != nullptr) std::fprintf(streams.out, "wrote %s\n", written.c_str());
  Json document = report_document(model, set, seconds);
  document.update({{"rows", n}, {"test", test}});
  Json told = document;
  told["model"] = written;
  streams.print(told);
  if (!request.report.empty()) write_reports(request, model, &set, n, written, document, session);
}

}  // namespace mercer::cli
