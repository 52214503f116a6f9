// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the command keeps with a model: names of columns and classes, the task, how text is encoded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoding.h"

namespace mercer::cli {

struct Metadata {
  std::vector<std::string> inputs;   // names; empty without a header
  std::vector<std::string> targets;  // names; empty without a header
  std::vector<int64_t> target_columns;
  bool classification = false;
  std::vector<std::string> classes;  // label of class k; numbers as text unless text_labels
  bool text_labels = false;
  std::vector<Encoding> encodings;                // of text inputs; `inputs` are those of the file
  std::vector<std::string> missing_words;         // of all columns, as it was asked for
  std::string header = "auto", decimal = "auto";  // as they were asked for
  std::vector<std::string> ignored;      // names of columns left out; empty without a header
  std::vector<int64_t> ignored_columns;  // their places
  std::string weights;                   // name of their column, or its number; empty: none
  bool missing = false;                  // missing inputs are filled
};

/// Fails when a name is not UTF-8, or all of them are more than a model keeps.
std::string metadata_text(const Metadata& metadata);
/// Inputs of the file for a model of so many. Fails where the encodings do not fit them.
int64_t file_inputs(const Metadata& metadata, int64_t model_inputs);
/// Names of the model's inputs, for people; empty without a header.
std::vector<std::string> input_names(const Metadata& metadata);
/// Text that another program stored, or none, gives an empty Metadata; `classification` and
/// `outputs` are the model's.
Metadata parse_metadata(const std::string& text, bool classification, int64_t outputs);

}  // namespace mercer::cli
