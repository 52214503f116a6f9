// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Inputs of text as columns of 0 and 1, one for each level.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset.h"

namespace mercer::cli {

/// Input `input` of a file stands in one column for each level, in this order, and one more for all
/// other levels where there were rare ones in training.
struct Encoding {
  int64_t input = 0;
  std::vector<std::string> levels;  // ascending; "" for missing fields
  bool other = false;

  int64_t width() const { return static_cast<int64_t>(levels.size()) + (other ? 1 : 0); }
};

/// Of the text inputs of training data: the most frequent levels, at most 64 of at least 5 rows
/// each; the rest share one column. Fails for a column, unless --text names it, of dates, times,
/// currencies, units and the like, and of text that is nearly all distinct, as ids are: at
/// file:line:field, naming a value and what to do.
std::vector<Encoding> choose_encodings(const Dataset& data);

/// The same for a target of text.
void refuse_target_text(const Dataset& data);

/// Inputs after encoding.
int64_t encoded_inputs(int64_t inputs, const std::vector<Encoding>& encodings);
std::vector<std::string> encoded_names(const std::vector<std::string>& names,
                                       const std::vector<Encoding>& encodings);

/// Replaces each encoded input by its columns. The fields whose level has no column of its own nor
/// a shared one, or was unknown in training: they are counted for each encoding, and are zeros or
/// in the shared column.
std::vector<int64_t> encode(const std::vector<Encoding>& encodings, Dataset* data);

}  // namespace mercer::cli
