// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "loaded_model.h"

#include <cinttypes>
#include <utility>
#include <vector>

#include "encoding.h"
#include "failure.h"
#include "gaps.h"
#include "spooled_file.h"

namespace mercer::cli {

namespace {

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

/// The words are often given in the other order.
Model load(const std::string& file, const std::string& path) {
  try {
    return Model::load(file);
  } catch (const Error& error) {
    if (path == "-" || std::string(error.what()).find("does not begin as") == std::string::npos)
      throw;
    throw Failure(shown(path) + " is no model, nor any other file of mercer (MODEL comes first)");
  }
}

}  // namespace

bool LoadedModel::clips(const std::string& extrapolation) const {
  if (!extrapolation.empty()) return extrapolation == "clip";
  return model.spec().find("\"extrapolation\":\"clip\"") != std::string::npos;
}

LoadedModel load_model(const std::string& path) {
  const SpooledFile file(path, SpooledFile::Use::read);
  Model model = file.naming_stream([&] { return load(file.path(), path); });
  const int64_t inputs = model.inputs(), outputs = model.outputs();
  Metadata metadata = parse_metadata(model.metadata(), model.classes() > 0, outputs);
  return {std::move(model), inputs, outputs, std::move(metadata)};
}

Dataset read_rows_for(const LoadedModel& loaded, const std::string& test, const std::string& labels,
                      const ColumnRequest& columns, std::FILE* out) {
  Dataset rows = read_test(test, labels, loaded.metadata,
                           file_inputs(loaded.metadata, loaded.inputs), columns);
  if (rows.bytes && loaded.metadata.bytes) scale_bytes(&rows);
  if (!rows.bytes && loaded.metadata.bytes) {
    std::fprintf(out, "note: the model was fitted on bytes divided by 255; %s is taken as it is\n",
                 rows.name.c_str());
  }
  if (!rows.note.empty()) std::fprintf(out, "note: %s\n", rows.note.c_str());
  if (loaded.metadata.missing)
    tell_missing(missing_inputs(rows), rows.n, loaded.metadata.inputs, out);
  const std::vector<int64_t> unknown = encode(loaded.metadata.encodings, &rows);
  tell_unknown(unknown, loaded.metadata, rows.n, out);
  return rows;
}

void tell_unused_weights(const LoadedModel& loaded, const Dataset& test, std::FILE* out) {
  if (!test.weights_unused) return;
  std::fprintf(
      out,
      "note: the model was fitted with weights, the score counts all rows alike: --weights "
      "%s counts them by theirs\n",
      typed(loaded.metadata.weights).c_str());
}

void check_targets(const LoadedModel& loaded, const Dataset& test) {
  if (loaded.metadata.classification || test.m == loaded.outputs) return;
  fail_at(test.name, 0, 0,
          std::to_string(test.m) + " targets, the model has " + std::to_string(loaded.outputs));
}

}  // namespace mercer::cli
