// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which columns of a test file are what: by name where both sides have names, else by count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset.h"
#include "metadata.h"

namespace mercer::cli {

struct Layout {
  std::vector<int64_t> inputs;
  std::vector<int64_t> targets;
  std::vector<size_t> known;  // which of the model's targets these are; empty: all, in order
  std::vector<int64_t> ignored;
  bool weights = false;  // those of the fit are among what is ignored
  std::string note;      // what was assumed
};

/// Columns of TEST that the command line names.
struct AskedColumns {
  std::vector<int64_t> left_out;  // with the weights
  int64_t weights = -1;
  std::vector<int64_t> ids;  // that are passed through, known to the model or not
};

/// Fails naming the option.
AskedColumns find_asked(const std::vector<std::string>& names, int64_t columns,
                        const ColumnRequest& wanted);

/// Every input must be there; targets all or none, unless a model takes some; anything else in the
/// file is refused rather than ignored.
Layout layout_by_name(const std::vector<std::string>& names, const Metadata& model,
                      const AskedColumns& wanted, const std::string& file);

/// With target and columns left out as the training file, or without the one, or the inputs alone,
/// beside the columns that are left out by request. `shape`: what else is known of the columns, for
/// the message.
Layout layout_by_count(int64_t columns, const Metadata& model, int64_t inputs,
                       const std::vector<int64_t>& left_out, const std::string& file,
                       const std::string& shape = "");

}  // namespace mercer::cli
