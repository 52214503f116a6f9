// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The metadata as JSON: {"command":"mercer","inputs":[...],...}.
#include "metadata.h"

#include <nlohmann/json.hpp>

#include "failure.h"

namespace mercer::cli {

namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

std::string metadata_text(const Metadata& metadata) {
  const Json json = {{"command", "mercer"},
                     {"task", metadata.classification ? "classification" : "regression"},
                     {"inputs", metadata.inputs},
                     {"targets", metadata.targets},
                     {"target_columns", metadata.target_columns},
                     {"classes", metadata.classes},
                     {"text_labels", metadata.text_labels},
                     {"bytes", metadata.bytes}};
  try {
    std::string text = json.dump();
    if (text.size() <= kMostBytes) return text;
    throw Failure("the names of columns and labels take " + std::to_string(text.size()) +
                  " bytes, a model keeps at most " + std::to_string(kMostBytes) +
                  ": shorten them, or leave the header out");
  } catch (const Json::exception&) {
    throw Failure("a column name or label is not valid UTF-8");
  }
}

Metadata parse_metadata(const std::string& text, bool classification, int64_t outputs) {
  Metadata metadata;
  metadata.classification = classification;
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_object() && json.value("command", Json()) == "mercer") {
    metadata.inputs = value_or(json, "inputs", metadata.inputs);
    metadata.targets = value_or(json, "targets", metadata.targets);
    metadata.target_columns = value_or(json, "target_columns", metadata.target_columns);
    metadata.classes = value_or(json, "classes", metadata.classes);
    metadata.text_labels = value_or(json, "text_labels", false);
    metadata.bytes = value_or(json, "bytes", false);
  }
  if (!classification) return metadata;
  if (metadata.classes.empty()) {
    for (int64_t k = 0; k < outputs; ++k) metadata.classes.push_back(std::to_string(k));
  }
  if (static_cast<int64_t>(metadata.classes.size()) != outputs) {
    throw Failure("the model's metadata is damaged: " + std::to_string(metadata.classes.size()) +
                  " class names for " + std::to_string(outputs) + " classes");
  }
  return metadata;
}

}  // namespace mercer::cli
