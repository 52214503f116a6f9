// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A fit of a CSV file that is not read whole.
#pragma once

#include <cstdint>
#include <string>

#include "fitting.h"
#include "read/record_blocks.h"

namespace mercer::cli {

/// Fails for options that need all rows in memory.
void check_stream(const FitRequest& request);

/// The file, and the text of a sample of its lines.
struct StreamedFile {
  explicit StreamedFile(const LearnRequest& request);
  /// What read_training_set makes of the sample.
  TrainingSet training_set(const LearnRequest& request, const Streams& streams) const;

  RecordBlocks blocks;
  std::string sample;
};

/// As fit_rows, of all rows of the file. set: of its sample.
Model fit_stream(const Json& spec, const LearnRequest& request, const TrainingSet& set,
                 StreamedFile& file, Session& session, const TrialCallback& tell);

/// How many rows the last fit of a search had.
int64_t rows_fitted(const Model& model);

}  // namespace mercer::cli
