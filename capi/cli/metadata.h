// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Task, labels as class numbers, inputs of text as columns of 0 and 1, and what a model keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset.h"

namespace mercer::cli {

/// Input `input` stands in a column for each level, in order, and one for rare ones if there were.
struct Encoding {
  int64_t input = 0;
  std::vector<std::string> levels;  // ascending; "" for missing fields
  bool other = false;
  bool asked = false;  // by --text: NA and its like are levels

  int64_t width() const { return static_cast<int64_t>(levels.size()) + (other ? 1 : 0); }
};

/// Of text inputs of training data the most frequent levels, at most 64 of at least so many rows;
/// the rest share one column. Fails at file:line:field, unless --text names the column, for dates,
/// times, currencies, units and the like, and for text nearly all distinct, as ids are.
/// least: rows of a level.
inline constexpr int64_t kLeastRowsOfLevel = 5;
std::vector<Encoding> choose_encodings(const Dataset& data, int64_t least = kLeastRowsOfLevel);

/// As above, for a target of text.
void refuse_target_text(const Dataset& data);

/// Inputs after encoding.
int64_t encoded_inputs(int64_t inputs, const std::vector<Encoding>& encodings);
std::vector<std::string> encoded_names(const std::vector<std::string>& names,
                                       const std::vector<Encoding>& encodings);

/// Each encoded input to its columns; how many fields of each have an unknown or rare level.
std::vector<int64_t> encode(const std::vector<Encoding>& encodings, Dataset* data);

struct Task {
  bool classification = false;
  std::string reason;        // the reason, in one clause
  std::string warning = {};  // empty: none
};

/// wanted: "auto", "regression" or "classification". auto is classification iff labels are text, or
/// integers covering exactly 0..K-1, 1..K or {-1,1} with 2 <= K <= 100 and n >= 20K (10 for {0,1}
/// and {-1,1}), unless frequencies are those of counts: K >= 6, rising to one mode and falling from
/// it, at one end below a twentieth. Fails where targets do not allow what is wanted.
Task choose_task(const Dataset& data, const std::string& wanted);

/// Replaces Y by class numbers 0..K-1 and returns the label of each class: texts sorted by bytes,
/// numbers by value. Fails for fewer than two classes and for numbers that are not whole.
std::vector<std::string> number_classes(Dataset* data);

/// Y as class numbers of the model, -1 for labels it does not know, which are counted; NaN stays.
int64_t number_known_classes(const std::vector<std::string>& classes, bool text_labels,
                             Dataset* data);

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
  int64_t first_index = -1;              // of libsvm files; -1: of another file
  bool missing = false;                  // missing inputs are filled
  std::vector<ColumnForm> forms = {};    // of inputs by place; of targets -1 less their place
  std::vector<double> typical = {};      // a row of the model's inputs; empty: none is kept
};

/// Fails when a name is not UTF-8, or all of them are more than a model keeps.
std::string metadata_text(const Metadata& metadata);
/// Inputs of the file for a model of so many. Fails where the encodings do not fit them.
int64_t file_inputs(const Metadata& metadata, int64_t model_inputs);
/// Names of the model's inputs, for people; empty without a header.
std::vector<std::string> input_names(const Metadata& metadata);
/// Of no text, or another program's, empty; `classification` and `outputs` are the model's.
Metadata parse_metadata(const std::string& text, bool classification, int64_t outputs);

}  // namespace mercer::cli
