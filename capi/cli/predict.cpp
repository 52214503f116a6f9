// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer predict: a model and test rows to a CSV of predictions, and a score where the file holds
// the target.
#include <cinttypes>
#include <cstdio>
#include <utility>
#include <vector>

#include "commands.h"
#include "metadata.h"
#include "output_file.h"
#include "outside.h"
#include "read/csv_fields.h"
#include "read/number.h"
#include "score.h"
#include "session.h"
#include "spooled_file.h"
#include "table_rows.h"
#include "task.h"

namespace mercer::cli {

namespace {

struct LoadedModel {
  Model model;
  int64_t inputs;
  int64_t outputs;
  Metadata metadata;
};

LoadedModel load(const std::string& path) {
  const SpooledFile file(path, SpooledFile::Use::read);
  Model model = file.naming_stream([&] { return Model::load(file.path()); });
  const int64_t inputs = model.inputs(), outputs = model.outputs();
  Metadata metadata = parse_metadata(model.metadata(), model.classes() > 0, outputs);
  return {std::move(model), inputs, outputs, std::move(metadata)};
}

std::string header(const LoadedModel& loaded, bool scores) {
  const Metadata& metadata = loaded.metadata;
  std::string line;
  if (metadata.classification) {
    line = metadata.targets.empty() ? "y" : csv_field(metadata.targets[0]);
    for (size_t k = 0; scores && k < metadata.classes.size(); ++k) {
      line.append(",").append(csv_field(std::string("score_").append(metadata.classes[k])));
    }
    return line + "\n";
  }
  for (int64_t k = 0; k < loaded.outputs; ++k) {
    const bool named = static_cast<int64_t>(metadata.targets.size()) == loaded.outputs;
    if (k > 0) line += ',';
    line += named ? csv_field(metadata.targets[static_cast<size_t>(k)]) : "y";
    if (!named && loaded.outputs > 1) line += std::to_string(k + 1);
  }
  return line + "\n";
}

void write_predictions(const LoadedModel& loaded, const Matrix<double>& scores,
                       const std::vector<int32_t>& classes, int64_t n,
                       const PredictRequest& request) {
  OutputFile file(request.predictions);
  file.write(header(loaded, request.scores));
  std::string line;
  for (int64_t i = 0; i < n; ++i) {
    line.clear();
    if (!classes.empty())
      line =
          csv_field(loaded.metadata.classes[static_cast<size_t>(classes[static_cast<size_t>(i)])]);
    if (classes.empty() || request.scores) {
      for (int64_t k = 0; k < loaded.outputs; ++k) {
        if (!line.empty()) line += ',';
        line += number_text(scores(i, k));
      }
    }
    file.write(line += '\n');
  }
  file.commit();
}

// Y of the test set against the predictions; labels the model never saw count as wrong.
void print_score(const LoadedModel& loaded, Dataset* test, const Matrix<double>& scores,
                 std::FILE* out) {
  if (!loaded.metadata.classification) {
    if (test->m != loaded.outputs) {
      fail_at(
          test->name, 0, 0,
          std::to_string(test->m) + " targets, the model has " + std::to_string(loaded.outputs));
    }
    const double score = prediction_score(scores, targets_of(test->Y, 0, test->n, test->m));
    std::fprintf(out, "test: %s on %" PRId64 " rows\n", score_text(false, score).c_str(), test->n);
    return;
  }
  const int64_t unknown =
      number_known_classes(loaded.metadata.classes, loaded.metadata.text_labels, test);
  const double score =
      prediction_score(scores, targets_of(test->Y, 0, test->n, 1), loaded.model.classes());
  std::fprintf(out, "test: %s on %" PRId64 " rows", score_text(true, score).c_str(), test->n);
  if (unknown > 0) std::fprintf(out, " (%" PRId64 " with labels the model does not know)", unknown);
  std::fputc('\n', out);
}

/// Texts that have no column of their own.
void tell_unknown(const std::vector<int64_t>& unknown, const Metadata& metadata, int64_t n,
                  std::FILE* out) {
  for (size_t e = 0; e < unknown.size(); ++e) {
    if (unknown[e] == 0) continue;
    const Encoding& encoding = metadata.encodings[e];
    const auto j = static_cast<size_t>(encoding.input);
    std::fprintf(
        out,
        "note: input %s: %" PRId64 " of %" PRId64
        " rows hold text that was rare or unknown in training, %s\n",
        j < metadata.inputs.size() ? metadata.inputs[j].c_str() : std::to_string(j + 1).c_str(),
        unknown[e], n, encoding.other ? "taken together" : "taken as none");
  }
}

/// A model that refuses does not get as far as the question.
bool is_clipped(const LoadedModel& loaded, const PredictRequest& request) {
  if (!request.extrapolation.empty()) return request.extrapolation == "clip";
  return loaded.model.spec().find("\"extrapolation\":\"clip\"") != std::string::npos;
}

}  // namespace

void run_predict(const PredictRequest& request) {
  check_output(request.predictions, request.test);
  check_output(request.predictions, request.model);
  if (request.model == "-" && request.test == "-")
    throw Failure("MODEL and TEST cannot both be standard input");
  const LoadedModel loaded = load(request.model);
  if (request.scores && !loaded.metadata.classification) {
    throw Failure("--scores: the model is a regression and has no class scores");
  }
  Dataset test = read_test(request.test, request.labels, loaded.metadata,
                           file_inputs(loaded.metadata, loaded.inputs), request.columns);
  std::FILE* out = is_standard_output(request.predictions) ? stderr : stdout;
  if (test.bytes && loaded.metadata.bytes) scale_bytes(&test);
  if (!test.bytes && loaded.metadata.bytes && !request.quiet) {
    std::fprintf(out, "note: the model was fitted on bytes divided by 255; %s is taken as it is\n",
                 test.name.c_str());
  }
  const std::vector<int64_t> unknown = encode(loaded.metadata.encodings, &test);
  if (!request.quiet) tell_unknown(unknown, loaded.metadata, test.n, out);
  Session session(request.threads, request.quiet);
  OutsideCounts outside(loaded.inputs);
  const Matrix<double> scores = loaded.model.predict(
      rows_of(test.X, 0, test.n, test.d), outside.options(extrapolation_of(request.extrapolation)),
      session.context());
  std::vector<int32_t> classes;
  if (loaded.metadata.classification) classes = classes_of(scores);
  session.clear_bar();
  if (!request.quiet)
    outside.tell(test.n, input_names(loaded.metadata), is_clipped(loaded, request), out);
  write_predictions(loaded, scores, classes, test.n, request);
  if (test.m > 0) print_score(loaded, &test, scores, out);
}

}  // namespace mercer::cli
