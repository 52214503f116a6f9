// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "tell_training.h"

#include "failure.h"
#include "read/number.h"
#include "suspicious.h"

namespace mercer::cli {

namespace {

std::string target_text(const Dataset& data) {
  if (!data.labels_name.empty()) return data.labels_name;
  std::string text;
  for (const std::string& name : data.target_names) text += (text.empty() ? "" : ", ") + name;
  if (!text.empty() || data.format == Format::libsvm) return text.empty() ? "the labels" : text;
  for (const int64_t column : data.target_columns) {
    text += (text.empty() ? "column " : ", ") + std::to_string(column + 1);
  }
  return text;
}

void describe(const Encoding& encoding, const Metadata& metadata, std::FILE* out) {
  const auto j = static_cast<size_t>(encoding.input);
  const std::string name =
      j < metadata.inputs.size() ? metadata.inputs[j] : std::to_string(encoding.input + 1);
  std::fprintf(out, "input %s: text in %s of 0 and 1%s\n", name.c_str(),
               counted(encoding.width(), "column").c_str(),
               encoding.other ? ", rare levels in one" : "");
}

void describe(const TrainingSet& set, const Task& task, const Reading& reading, std::FILE* out) {
  const Dataset& data = set.data;
  std::fprintf(out, "%s: %s, %s, target %s (read in %.2f s)\n", data.name.c_str(),
               counted(reading.rows, "row").c_str(), counted(data.d, "input").c_str(),
               target_text(data).c_str(), reading.seconds);
  if (task.classification) {
    std::fprintf(out, "task: classification, %lld classes", static_cast<long long>(set.K));
  } else {
    std::fprintf(out, "task: regression, %lld output%s", static_cast<long long>(data.m),
                 data.m == 1 ? "" : "s");
  }
  std::fprintf(out, reading.task_chosen ? " (%s; --task chooses)\n" : " (%s)\n",
               task.reason.c_str());
  for (const Encoding& encoding : set.metadata.encodings) describe(encoding, set.metadata, out);
  if (data.bytes)
    std::fputs("inputs: bytes divided by 255, not standardised, since all share one unit\n", out);
}

void describe(const char* what, const std::string& name, const ColumnForm& form, std::FILE* out) {
  std::fprintf(out, "%s %s: numbers such as %s, read as %s\n", what, name.c_str(),
               shown(form.example).c_str(), number_text(form.value).c_str());
}

void describe_forms(const Dataset& data, std::FILE* out) {
  for (const ColumnForm& form : data.forms)
    describe("input", input_name(data, form.column), form, out);
  for (const ColumnForm& form : data.target_forms) {
    const auto k = static_cast<size_t>(form.column);
    describe("target",
             k < data.target_names.size() ? data.target_names[k]
                                          : std::to_string(data.target_columns[k] + 1),
             form, out);
  }
}

// How rows and lines of the file were taken.
void tell_lines(const Dataset& data, const Reading& reading, std::FILE* out) {
  if (reading.weightless > 0)
    std::fprintf(out, "%lld of %lld rows have weight 0 and are left out\n",
                 static_cast<long long>(reading.weightless), static_cast<long long>(reading.rows));
  if (data.words_first)
    std::fputs("the first line was taken as a row: --header yes takes it as names\n", out);
  if (data.numbers_first)
    std::fputs("the first line was taken as names: --header no takes it as a row\n", out);
  if (data.comments > 0)
    std::fprintf(out, "%s before the first row passed by\n",
                 counted(data.comments, "comment").c_str());
}

// Of all rows of the file, those of weight 0 among them: how it is read.
void warn_of_words(const Dataset& data, int64_t rows, std::FILE* out) {
  for (const ColumnWords& one : data.words) {
    const std::string name = input_name(data, one.column);
    std::fprintf(
        out,
        "warning: input %s: %s, where the others hold numbers, taken as missing (--text %s "
        "takes the column as text)\n",
        name.c_str(), words_text(one.words, rows).c_str(), typed(name).c_str());
  }
}

void warn_of_numbers_in_text(const Dataset& data, int64_t rows, std::FILE* out) {
  for (const TextColumn& text : data.text_inputs) {
    if (text.words.empty()) continue;
    std::string options;
    for (const WordRows& one : text.words)
      options.append(options.empty() ? "" : " ").append("--missing-word=").append(typed(one.word));
    std::fprintf(
        out,
        "warning: input %s: %s, where more hold numbers, taken as text (%s takes the column "
        "as numbers, some missing)\n",
        input_name(data, text.column).c_str(), words_text(text.words, rows).c_str(),
        options.c_str());
  }
}

void warn_of_units(const Dataset& data, std::FILE* out) {
  for (const TextColumn& text : data.text_inputs) {
    const std::string first = first_with_unit(text);
    if (!first.empty())
      std::fprintf(
          out,
          "warning: input %s: text such as %s is a number with text behind it; without the "
          "text it would be read as one\n",
          input_name(data, text.column).c_str(), shown(first).c_str());
  }
}

void warn(const Dataset& data, const Task& task, int64_t rows, std::FILE* out) {
  if (!data.index.empty()) std::fprintf(out, "note: %s: it is no input\n", data.index.c_str());
  if (!task.warning.empty()) std::fprintf(out, "warning: %s\n", task.warning.c_str());
  warn_of_words(data, rows, out);
  warn_of_numbers_in_text(data, rows, out);
  warn_of_units(data, out);
  for (const std::string& warning : suspicious_inputs(data))
    std::fprintf(out, "warning: %s\n", warning.c_str());
}

}  // namespace

void tell_training(const TrainingSet& set, const Task& task, const Reading& reading,
                   const Streams& streams) {
  if (streams.out != nullptr) {
    describe(set, task, reading, streams.out);
    tell_lines(set.data, reading, streams.out);
    describe_forms(set.data, streams.out);
    if (!reading.targets.empty())
      std::fprintf(streams.out, "targets: %s\n", reading.targets.c_str());
    if (set.metadata.missing)
      tell_missing(reading.missing, set.data.n, set.metadata.inputs, streams.out);
  }
  warn(set.data, task, reading.rows, streams.warnings);
}

}  // namespace mercer::cli
