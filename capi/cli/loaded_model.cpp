// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "loaded_model.h"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "scoring.h"

namespace mercer::cli {
namespace {

/// Texts that have no column of their own.
void tell_unknown(const std::vector<int64_t>& unknown, const Metadata& metadata, int64_t n,
                  std::FILE* out) {
  for (size_t e = 0; e < unknown.size(); ++e) {
    if (unknown[e] == 0) continue;
    const Encoding& encoding = metadata.encodings[e];
    std::fprintf(
        out,
        "%s: input %s: %" PRId64 " of %" PRId64
        " rows hold text that was rare or unknown in training, %s\n",
        2 * unknown[e] > n ? "warning" : "note",
        name_or_number(metadata.inputs, static_cast<size_t>(encoding.input)).c_str(), unknown[e], n,
        encoding.other ? "taken together" : "taken as none of its levels: predictions extrapolate");
  }
}

/// Columns that were matched by their place, where one side has names.
void tell_positions(const LoadedModel& loaded, const Dataset& rows, std::FILE* out) {
  const bool named = !rows.input_names.empty(), model_named = !loaded.metadata.inputs.empty();
  if (rows.format != Format::libsvm && named != model_named)
    std::fprintf(out, "note: %s %s no names of columns, which are taken in the order of the fit\n",
                 named ? "the model" : rows.name.c_str(), named ? "keeps" : "has");
}

/// Auto: by probability, but where classes were balanced, which probabilities are not.
bool decides_by_probability(const LoadedModel& loaded, const ApplyRequest& request) {
  if (!loaded.metadata.classification || request.class_by == "score") return false;
  const bool has = loaded.model.has_probabilities();
  if (request.class_by == "probability" && !has)
    throw Failure("--class probability: the model has no probabilities");
  const bool balanced =
      loaded.model.spec().find("\"class_weight\":\"balanced\"") != std::string::npos;
  return has && (request.class_by == "probability" || !balanced);
}

constexpr int64_t kMany = 20;  // rows

void tell_outside(const RowNotes& notes, const std::vector<std::string>& names, bool clipped,
                  std::FILE* out) {
  if (notes.outside > 0) {
    std::vector<std::string> inputs;
    for (size_t j = 0; j < notes.inputs_outside.size(); ++j)
      if (notes.inputs_outside[j] > 0) inputs.push_back(name_or_number(names, j));
    const bool most = notes.rows >= kMany && 2 * notes.outside > notes.rows;  // other units, say
    std::fprintf(out,
                 "%s: %" PRId64 " of %" PRId64
                 " rows lie outside the training range (inputs: %s), %s\n",
                 most ? "warning" : "note", notes.outside, notes.rows, listed(inputs).c_str(),
                 clipped ? "clipped" : "taken as they are");
  }
  if (notes.limited > 0)
    std::fprintf(out,
                 "note: %" PRId64 " predictions limited to the range of the training targets\n",
                 notes.limited);
}

void add(const std::vector<int64_t>& more, std::vector<int64_t>* to) {
  to->resize(std::max(to->size(), more.size()));
  for (size_t k = 0; k < more.size(); ++k) (*to)[k] += more[k];
}

}  // namespace

mercer_extrapolation extrapolation_of(const std::string& word) {
  return word.empty()     ? MERCER_EXTRAPOLATION_DEFAULT
         : word == "clip" ? MERCER_EXTRAPOLATION_CLIP
         : word == "free" ? MERCER_EXTRAPOLATION_FREE
                          : MERCER_EXTRAPOLATION_REFUSE;
}

bool LoadedModel::clips(const std::string& extrapolation) const {
  if (!extrapolation.empty()) return extrapolation == "clip";
  return model.spec().find("\"extrapolation\":\"clip\"") != std::string::npos;
}

LoadedModel load_model(const std::string& path) {
  Model model = from_file(path, [&](Span<const std::byte> bytes) {
    try {
      return Model::from_bytes(bytes);
    } catch (const Error& error) {  // the words are often given in the other order
      const Json fields = parse_json(error.fields());
      if (path == "-" || fields.value("expected", "") != "a mercer file") throw;
      throw Failure(shown(path) + " is no model, nor any other file of mercer (MODEL comes first)");
    }
  });
  Metadata metadata = parse_metadata(model.metadata(), model.classes() > 0, model.outputs());
  return {std::move(model), std::move(metadata)};
}

Dataset read_rows_for(const LoadedModel& loaded, const ApplyRequest& request, std::FILE* out,
                      RowNotes* notes) {
  Dataset rows = read_test(request.rows, request.labels, loaded.metadata,
                           file_inputs(loaded.metadata, loaded.model.inputs()), request.columns);
  if (notes->rows == 0) {
    tell_positions(loaded, rows, out);
    for (const std::string& note : notes_of_lines(rows))
      std::fprintf(out, "note: %s\n", note.c_str());
    if (!rows.note.empty()) std::fprintf(out, "note: %s\n", rows.note.c_str());
  }
  notes->rows += rows.n;
  const MissingInputs missing = missing_inputs(rows);
  notes->missing.rows += missing.rows;
  add(missing.per_input, &notes->missing.per_input);
  add(encode(loaded.metadata.encodings, &rows), &notes->unknown);
  return rows;
}

void RowNotes::tell(const LoadedModel& loaded, const std::string& extrapolation,
                    std::FILE* out) const {
  if (loaded.metadata.missing) tell_missing(missing, rows, loaded.metadata.inputs, out);
  tell_unknown(unknown, loaded.metadata, rows, out);
  tell_outside(*this, input_names(loaded.metadata), loaded.clips(extrapolation), out);
}

Predictions apply(const LoadedModel& loaded, const Dataset& test, const ApplyRequest& request,
                  Session& session, RowNotes* notes) {
  Predictions applied{Matrix<double>(0, 0)};
  applied.by_probability = decides_by_probability(loaded, request);
  int64_t outside = 0, limited = 0;
  std::vector<int64_t> inputs(loaded.model.inputs());
  mercer_predict_options options = predict_options();
  options.extrapolation = extrapolation_of(request.extrapolation);
  options.rows_outside = &outside;
  options.inputs_outside = inputs.data();
  options.predictions_limited = &limited;
  const Rows X = inputs_of(test, 0, test.n);
  applied.scores = in_words_of(test.name, input_names(loaded.metadata), [&] {
    return loaded.model.predict(X, "value", options, session.context());
  });
  if (applied.by_probability || request.probabilities)
    applied.probabilities = loaded.model.predict(X, "probability", options, session.context());
  session.clear_bar();
  notes->outside += outside;
  notes->limited += limited;
  add(inputs, &notes->inputs_outside);
  return applied;
}

int64_t match_targets(const LoadedModel& loaded, Dataset* test) {
  const Metadata& metadata = loaded.metadata;
  if (metadata.classification)
    return number_known_classes(metadata.classes, metadata.text_labels, test);
  if (test->m != loaded.model.outputs())
    fail_at(test->name, 0, 0,
            std::to_string(test->m) + " targets, the model has " +
                std::to_string(loaded.model.outputs()));
  return 0;
}

}  // namespace mercer::cli
