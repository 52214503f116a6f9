// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The metadata as JSON, {"schema":{...}}; MANUAL.md says what its keys mean.
#include "metadata.h"

#include <algorithm>

#include "failure.h"
#include "json.h"

namespace mercer::cli {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // what mercer_model_set_metadata takes

template <class T>
T value_or(const Json& json, const char* key, T otherwise) {
  const auto found = json.find(key);
  if (found == json.end()) return otherwise;
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    throw Failure(std::string("the model's metadata is damaged: bad value of \"") + key + "\"");
  }
}

std::vector<Encoding> encodings_of(const Json& schema) {
  std::vector<Encoding> encodings;
  for (const Json& one : value_or(schema, "encodings", Json::array())) {
    if (!one.is_object())
      throw Failure("the model's metadata is damaged: bad value of \"encodings\"");
    encodings.push_back({value_or(one, "input", int64_t{-1}),
                         value_or(one, "levels", std::vector<std::string>()),
                         value_or(one, "other", false), value_or(one, "asked", false)});
    std::ranges::sort(encodings.back().levels);
  }
  return encodings;
}

std::vector<ColumnForm> forms_of(const Json& schema) {
  std::vector<ColumnForm> forms;
  for (const Json& one : value_or(schema, "forms", Json::array())) {
    if (!one.is_object()) throw Failure("the model's metadata is damaged: bad value of \"forms\"");
    const auto mark = [&](const char* key, const char* otherwise) {
      return value_or(one, key, std::string(otherwise)).c_str()[0];
    };
    const std::string date = value_or(one, "date", std::string());
    const bool known =
        date.empty() || date == "ymd" || date == "dmy" || date == "mdy" || date == "time";
    if (!known) throw Failure("the model's metadata is damaged: bad value of \"date\"");
    forms.push_back({value_or(one, "input", -1 - value_or(one, "target", int64_t{0})),
                     {value_or(one, "symbol", std::string()), mark("decimal", "."),
                      mark("thousands", ""), date}});
  }
  return forms;
}

Json json_of(const ColumnForm& one) {
  Json json = {
      {one.column < 0 ? "target" : "input", one.column < 0 ? -1 - one.column : one.column}};
  if (!one.form.date.empty()) json["date"] = one.form.date;
  if (!one.form.symbol.empty()) json["symbol"] = one.form.symbol;
  if (one.form.decimal != '.') json["decimal"] = std::string(1, one.form.decimal);
  if (one.form.thousands != 0) json["thousands"] = std::string(1, one.form.thousands);
  return json;
}

Metadata metadata_of(const Json& json) {
  Metadata metadata;
  metadata.inputs = value_or(json, "inputs", metadata.inputs);
  metadata.targets = value_or(json, "targets", metadata.targets);
  metadata.target_columns = value_or(json, "target_columns", metadata.target_columns);
  metadata.classes = value_or(json, "classes", metadata.classes);
  metadata.text_labels = value_or(json, "text_labels", false);
  metadata.missing = value_or(json, "missing", false);
  metadata.ignored = value_or(json, "ignored", metadata.ignored);
  metadata.ignored_columns = value_or(json, "ignored_columns", metadata.ignored_columns);
  metadata.encodings = encodings_of(json);
  metadata.forms = forms_of(json);
  metadata.missing_words = value_or(json, "missing_words", metadata.missing_words);
  metadata.header = value_or(json, "header", metadata.header);
  metadata.decimal = value_or(json, "decimal", metadata.decimal);
  metadata.weights = value_or(json, "weights", metadata.weights);
  metadata.typical = value_or(json, "typical", metadata.typical);
  metadata.first_index = value_or(json, "index_base", metadata.first_index);
  return metadata;
}

}  // namespace

std::string metadata_text(const Metadata& metadata) {
  Json encodings = Json::array();
  for (const Encoding& one : metadata.encodings) {
    encodings.push_back({{"input", one.input}, {"levels", one.levels}, {"other", one.other}});
    if (one.asked) encodings.back()["asked"] = true;
  }
  Json schema = {{"version", 1},
                 {"task", metadata.classification ? "classification" : "regression"},
                 {"inputs", metadata.inputs},
                 {"targets", metadata.targets},
                 {"target_columns", metadata.target_columns},
                 {"classes", metadata.classes},
                 {"text_labels", metadata.text_labels},
                 {"missing", metadata.missing},
                 {"ignored", metadata.ignored},
                 {"ignored_columns", metadata.ignored_columns},
                 {"encodings", encodings}};
  if (!metadata.missing_words.empty()) schema["missing_words"] = metadata.missing_words;
  if (metadata.header != "auto") schema["header"] = metadata.header;
  if (metadata.decimal != "auto") schema["decimal"] = metadata.decimal;
  if (!metadata.weights.empty()) schema["weights"] = metadata.weights;
  if (metadata.first_index >= 0) schema["index_base"] = metadata.first_index;
  for (const ColumnForm& one : metadata.forms) schema["forms"].push_back(json_of(one));
  if (!metadata.typical.empty()) schema["typical"] = metadata.typical;
  const Json json = {{"schema", schema}};
  try {
    std::string text = json_text(json);
    if (text.size() <= kMostBytes) return text;
    throw Failure("the names of columns and labels take " + std::to_string(text.size()) +
                  " bytes, a model keeps at most " + std::to_string(kMostBytes) +
                  ": shorten them, or leave the header out");
  } catch (const Json::exception&) {
    throw Failure("a column name or label is not valid UTF-8: save the file as UTF-8");
  }
}

Metadata parse_metadata(const std::string& text, bool classification, int64_t outputs) {
  const Json json = json_or_discarded(text);
  const Json schema = json.is_object() ? json.value("schema", Json()) : Json();
  Metadata metadata = schema.is_object() ? metadata_of(schema) : Metadata{};
  metadata.classification = classification;
  if (!classification) return metadata;
  if (metadata.classes.empty())
    for (int64_t k = 0; k < outputs; ++k) metadata.classes.push_back(std::to_string(k));
  if (static_cast<int64_t>(metadata.classes.size()) != outputs)
    throw Failure("the model's metadata is damaged: " + std::to_string(metadata.classes.size()) +
                  " class names for " + std::to_string(outputs) + " classes");
  return metadata;
}

int64_t file_inputs(const Metadata& metadata, int64_t model_inputs) {
  int64_t last = -1, inputs = model_inputs;
  bool fits = true;
  for (const Encoding& encoding : metadata.encodings) {
    fits = fits && encoding.input > last && encoding.width() >= 1;
    last = encoding.input;
    inputs -= encoding.width() - 1;
  }
  if (!fits || inputs < 1 || last >= inputs)
    throw Failure("the model's metadata is damaged: encodings that do not fit its inputs");
  return inputs;
}

std::vector<std::string> input_names(const Metadata& metadata) {
  return encoded_names(metadata.inputs, metadata.encodings);
}

}  // namespace mercer::cli
