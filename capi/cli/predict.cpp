// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer predict: a model and rows to a CSV of predictions, and a score where there are targets.
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "gaps.h"
#include "loaded_model.h"
#include "output_file.h"
#include "read/csv.h"
#include "relevance.h"
#include "row_parts.h"
#include "scoring.h"

namespace mercer::cli {
namespace {

/// Columns behind the predictions.
struct FurtherColumns {
  std::vector<std::string> names;
  Matrix<double> numbers;
};

/// The name of each target, y or y1, y2, ... where the file had none.
std::vector<std::string> target_names(const LoadedModel& loaded) {
  const std::vector<std::string>& targets = loaded.metadata.targets;
  if (static_cast<int64_t>(targets.size()) == loaded.model.outputs()) return targets;
  std::vector<std::string> names;
  for (int64_t k = 0; k < loaded.model.outputs(); ++k)
    names.push_back(loaded.model.outputs() > 1 ? "y" + std::to_string(k + 1) : "y");
  return names;
}

/// Fails where options ask for what the model does not have.
void check_uncertainty(const LoadedModel& loaded, const ApplyRequest& request) {
  if (request.seed != 0 && request.samples == 0) throw Failure("--seed: is of --samples");
  const char* const asked = request.variance       ? "--variance"
                            : request.interval > 0 ? "--interval"
                            : request.samples > 0  ? "--samples"
                                                   : nullptr;
  if (asked != nullptr && loaded.model.spec().find("\"model\":\"gp\"") == std::string::npos)
    throw Failure(std::string(asked) +
                  ": the model does not know how sure it is: fit it with "
                  "--estimator gp");
}

/// What options ask for: variances of new targets, ends of intervals, draws of the function.
std::vector<FurtherColumns> uncertainty_of(const LoadedModel& loaded, const Dataset& rows,
                                           const ApplyRequest& request, Session& session) {
  const Rows X = inputs_of(rows, 0, rows.n);
  const std::vector<std::string> targets = target_names(loaded);
  std::vector<FurtherColumns> all;
  const auto ask = [&](const char* what, const std::vector<std::string>& columns,
                       const mercer_predict_options& options) {
    FurtherColumns further{columns, Matrix<double>(rows.n, static_cast<int64_t>(columns.size()))};
    loaded.model.predict(X, what, further.numbers, options, session.context());
    all.push_back(std::move(further));
  };
  const auto named = [&](const std::vector<std::string>& prefixes) {
    std::vector<std::string> names;
    for (const std::string& target : targets)
      for (const std::string& prefix : prefixes) names.push_back(prefix + target);
    return names;
  };
  if (request.variance) ask("predictive_variance", named({"variance_"}), predict_options());
  mercer_predict_options options = predict_options();
  if (request.interval > 0) {
    const double levels[] = {(1 - request.interval) / 2, (1 + request.interval) / 2};
    options.quantiles = levels;
    options.quantile_count = 2;
    ask("quantile", named({"lower_", "upper_"}), options);
  }
  if (request.samples > 0) {
    options = predict_options();
    options.sample_count = request.samples;
    options.seed = request.seed;
    std::vector<std::string> draws;
    for (int64_t s = 1; s <= request.samples; ++s)
      for (const std::string& target : targets)
        draws.push_back("sample" + std::to_string(s) + "_" + target);
    ask("sample", draws, options);
  }
  return all;
}

bool has_name(const FurtherColumns& part, const std::string& name) {
  return std::ranges::find(part.names, name) != part.names.end();
}

/// The response of a typical row, and what each input adds to that of a row: of numbers to each
/// target, of classes to the one that is predicted.
std::vector<FurtherColumns> parts_columns(const LoadedModel& loaded, const Dataset& test,
                                          const Predictions& applied, const ApplyRequest& request,
                                          Session& session) {
  mercer_predict_options options = predict_options();
  options.extrapolation = extrapolation_of(request.extrapolation);
  const bool classes = loaded.metadata.classification;
  std::vector<FurtherColumns> all;
  const int64_t targets = classes ? 1 : loaded.model.outputs();
  for (int64_t o = 0; o < targets; ++o) {
    std::vector<int64_t> columns(test.n, o);
    if (classes) std::ranges::copy(classes_of(applied.deciding()), columns.begin());
    const Parts parts = parts_of(loaded.model, loaded.metadata, test, columns, options, session);
    const std::string of = targets > 1 ? "_" + target_names(loaded)[o] : "";
    FurtherColumns further{{"typical" + of}, Matrix<double>(test.n, parts.moved.cols() + 1)};
    for (int64_t j = 0; j < parts.moved.cols(); ++j)
      further.names.push_back("by_" + name_or_number(loaded.metadata.inputs, j, "x") + of);
    for (std::string& name : further.names)
      while (std::ranges::any_of(all, [&](const auto& part) { return has_name(part, name); }))
        name += "_";  // by_a_b of u and by_a of b_u
    for (int64_t i = 0; i < test.n; ++i) {
      further.numbers(i, 0) = parts.typical[i];
      for (int64_t j = 0; j < parts.moved.cols(); ++j)
        further.numbers(i, j + 1) = parts.moved(i, j);
    }
    all.push_back(std::move(further));
  }
  return all;
}

std::string header(const LoadedModel& loaded, const Dataset& test,
                   const std::vector<FurtherColumns>& further) {
  std::vector<std::string> names = test.id_names, targets = target_names(loaded);
  if (loaded.metadata.classification) {
    targets = loaded.metadata.targets;
    targets.resize(1, "y");
  }
  names.insert(names.end(), targets.begin(), targets.end());
  for (const FurtherColumns& part : further)
    names.insert(names.end(), part.names.begin(), part.names.end());
  std::string line;
  for (const std::string& name : names)
    line.append(line.empty() ? "" : ",").append(csv_field(name));
  return line + "\n";
}

FurtherColumns of_classes(const LoadedModel& loaded, const char* prefix,
                          const Matrix<double>& numbers) {
  FurtherColumns further{{}, numbers};
  for (const std::string& name : loaded.metadata.classes) further.names.push_back(prefix + name);
  return further;
}

void append(const Matrix<double>& numbers, int64_t i, std::string* line) {
  for (int64_t k = 0; k < numbers.cols(); ++k) {
    if (!line->empty()) *line += ',';
    *line += number_text(numbers(i, k));
  }
}

/// Of each row what --explain writes, by the names of its columns.
Json explained(const std::vector<FurtherColumns>& columns) {
  Json rows = Json::array();
  for (const FurtherColumns& part : columns)
    for (size_t k = 0; k < part.names.size(); ++k)
      for (int64_t i = 0; i < part.numbers.rows(); ++i)
        if (part.names[k].starts_with("typical") || part.names[k].starts_with("by_"))
          rows[i][part.names[k]] = part.numbers(i, static_cast<int64_t>(k));
  return rows;
}

/// The lines of some rows, the first with the names of the columns above them.
void write_predictions(const LoadedModel& loaded, const Dataset& test, const Predictions& applied,
                       const std::vector<FurtherColumns>& columns, bool first, OutputFile* file) {
  const bool classification = loaded.metadata.classification;
  std::vector<int32_t> classes;
  if (classification) classes = classes_of(applied.deciding());
  const Matrix<double> scores = scoring_of(loaded.model).means(applied.scores);
  if (first) file->write(header(loaded, test, columns));
  std::string line;
  for (int64_t i = 0; i < scores.rows(); ++i) {
    line.clear();
    if (classification) {
      line = csv_field(loaded.metadata.classes[classes[i]]);
    } else {
      append(scores, i, &line);
    }
    for (const FurtherColumns& part : columns) append(part.numbers, i, &line);
    for (const std::vector<std::string>& ids : test.ids) file->write(csv_field(ids[i]) + ",");
    file->write(line += '\n');
  }
}

/// Y of the test set against the predictions; labels the model never saw count as wrong.
Json tell_score(const LoadedModel& loaded, Dataset* test, const Predictions& applied,
                const Streams& streams) {
  const int64_t unknown = match_targets(loaded, test);
  const TargetRows known = rows_with_targets(applied.deciding(), *test, kAnyTarget);
  if (known.rows() == 0) {
    std::fputs("no score: no row holds a target\n", streams.warnings);
    return nullptr;
  }
  const Scoring scoring = scoring_of(loaded.model);
  const double score = prediction_score(known.numbers, known.truth(), loaded.model.classes(),
                                        scoring.options(known.options()));
  if (streams.scores != nullptr) {
    std::fprintf(streams.scores, "test: %s on %" PRId64 " rows", scoring.text(score).c_str(),
                 known.rows());
    if (unknown > 0)
      std::fprintf(streams.scores, " (%" PRId64 " with labels the model does not know)", unknown);
    std::fprintf(streams.scores, "%s\n", known.text(*test).c_str());
  }
  return {{"score", score}, {"rows", known.rows()}, {"unknown_labels", unknown}};
}

void check_streamed(const ApplyRequest& request) {
  for (const auto& [given, option] : {std::pair{!request.labels.empty(), "--labels"},
                                      {request.explain, "--explain"},
                                      {request.samples > 0, "--samples"}})
    if (given && request.stream)
      throw Failure(std::string(option) + " with --stream: it needs all rows at once");
}

void check_class_columns(const LoadedModel& loaded, const ApplyRequest& request) {
  const char* asked = request.scores               ? "--scores"
                      : request.probabilities      ? "--probabilities"
                      : request.class_by != "auto" ? "--class"
                                                   : nullptr;
  if (asked != nullptr && !loaded.metadata.classification)
    throw Failure(std::string(asked) + ": the model is a regression and has no classes");
  if (request.probabilities && !loaded.model.has_probabilities())
    throw Failure(
        "--probabilities: the model has none: it was fitted by an earlier version, or "
        "its lambda lets it pass through the rows");
}

/// Predictions of the rows of one read, and what options ask for beside them.
struct Predicted {
  Dataset test;
  Predictions applied;
  std::vector<FurtherColumns> columns;
};
Predicted predict(const LoadedModel& loaded, const ApplyRequest& request, Session& session,
                  std::FILE* warnings, RowNotes* notes) {
  Dataset test = read_rows_for(loaded, request, warnings, notes);
  Predictions applied = apply(loaded, test, request, session, notes);
  std::vector<FurtherColumns> columns = uncertainty_of(loaded, test, request, session);
  if (request.scores) columns.push_back(of_classes(loaded, "score_", applied.scores));
  if (request.probabilities)
    columns.push_back(of_classes(loaded, "probability_", applied.probabilities));
  if (request.explain)
    for (FurtherColumns& parts : parts_columns(loaded, test, applied, request, session))
      columns.push_back(std::move(parts));
  session.clear_bar();
  return {std::move(test), std::move(applied), std::move(columns)};
}

/// Block by block; of targets in the file nothing is said.
void predict_stream(const LoadedModel& loaded, ApplyRequest request, Session& session,
                    const Streams& streams, RowNotes* notes, OutputFile* file) {
  bool first = true;
  for_each_block(request.rows, request.columns, [&](const ColumnRequest& columns) {
    request.columns = columns;
    const Predicted some = predict(loaded, request, session, streams.warnings, notes);
    write_predictions(loaded, some.test, some.applied, some.columns, std::exchange(first, false),
                      file);
    file->flush();
    return BlockHead{some.test};
  });
}

}  // namespace

void run_predict(const ApplyRequest& request) {
  check_output(request.output, request.rows);
  check_output(request.output, request.model);
  const LoadedModel loaded = load_model(request.model);
  check_class_columns(loaded, request);
  check_uncertainty(loaded, request);
  check_streamed(request);
  const Streams streams =
      streams_of(request.run, is_standard_output(request.output) ? stderr : stdout);
  Session session(request.run);
  RowNotes notes;
  OutputFile file(request.output);
  Json told = {{"predictions", request.output}, {"test", nullptr}};
  if (request.stream) {
    predict_stream(loaded, request, session, streams, &notes, &file);
    notes.tell(loaded, request.extrapolation, streams.warnings);
    file.commit();
  } else {
    Predicted all = predict(loaded, request, session, streams.warnings, &notes);
    notes.tell(loaded, request.extrapolation, streams.warnings);
    write_predictions(loaded, all.test, all.applied, all.columns, true, &file);
    file.commit();
    if (all.test.m > 0) told["test"] = tell_score(loaded, &all.test, all.applied, streams);
    if (request.explain && streams.json != nullptr) told["explained"] = explained(all.columns);
  }
  told["rows"] = notes.rows;
  streams.print(told);
}

}  // namespace mercer::cli
