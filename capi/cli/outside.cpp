// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "outside.h"

#include <cinttypes>

#include "words.h"

namespace mercer::cli {

namespace {

constexpr size_t kNamed = 6;   // inputs that are listed
constexpr int64_t kMany = 20;  // rows

std::string listed(const std::vector<int64_t>& counts, const std::vector<std::string>& names) {
  std::string text;
  size_t met = 0;
  for (size_t j = 0; j < counts.size(); ++j) {
    if (counts[j] == 0 || ++met > kNamed) continue;
    if (met > 1) text += ", ";
    text += names.size() == counts.size() ? names[j] : std::to_string(j + 1);
  }
  if (met > kNamed) text += " and " + std::to_string(met - kNamed) + " more";
  return text;
}

}  // namespace

int32_t extrapolation_of(const std::string& word) {
  return number_of(word, kExtrapolationWords, MERCER_EXTRAPOLATION_CLIP);
}

mercer_predict_options OutsideCounts::options(int32_t extrapolation) {
  mercer_predict_options options{};
  options.struct_size = sizeof options;
  options.extrapolation = extrapolation;
  options.rows_outside = &rows;
  options.inputs_outside = per_input.data();
  options.predictions_limited = &predictions;
  return options;
}

void OutsideCounts::tell(int64_t n, const std::vector<std::string>& names, bool clipped,
                         std::FILE* out) const {
  if (rows > 0) {
    const bool most = n >= kMany && 2 * rows > n;  // other units, or another kind of rows
    std::fprintf(out,
                 "%s: %" PRId64 " of %" PRId64
                 " rows lie outside the training range (inputs: %s), %s\n",
                 most ? "warning" : "note", rows, n, listed(per_input, names).c_str(),
                 clipped ? "clipped" : "taken as they are");
  }
  if (predictions > 0) {
    std::fprintf(out,
                 "note: %" PRId64 " predictions limited to the range of the training targets\n",
                 predictions);
  }
}

}  // namespace mercer::cli
