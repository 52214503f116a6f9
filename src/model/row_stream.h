// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that are not in memory, read block by block in as many passes as a fit needs.
#pragma once

#include <memory>
#include <span>

#include "model/model.h"
#include "model/rows/targeted_rows.h"

namespace mercer::solver {
class Reduction;
}

namespace mercer::model {

class RowStream {
 public:
  virtual ~RowStream() = default;
  /// Goes back to the first row.
  virtual void rewind() = 0;
  /// Whether rows have weights (which cost a pass to sum) instead of 1 each.
  virtual bool weighted() const { return false; }
  /// The next rows with their targets and, if weighted, weights; valid until the next call. No
  /// rows: the end. Every pass gives the same rows.
  using Block = TargetedRows;
  virtual Block next() = 0;
  /// Null: this process has all rows. Else each process has a stream of its own rows.
  virtual solver::Reduction* reduction() const { return nullptr; }
};

/// fit (model.h) for a stream of d inputs and m targets (classification: m = 1). Passes: one for
/// the standardisation, one for the statistics, one more for leave-one-out, two more for each fold
/// or held-out part, which map only the rows they need; with missing targets these for each output,
/// and some to count them. The same row numbers are held out as from memory. Memory: as fit, and a
/// block. Processes that share the rows by stream.reduction() get the same model, of all rows; each
/// holds out rows of its own. UNSUPPORTED: options that need a whole column in one place. Errors:
/// as fit; INVALID_ARGUMENT if two passes give different numbers of rows.
Model fit_stream(std::shared_ptr<const feature::FeatureMap> map, const Fitting& asked,
                 RowStream& stream, int64_t targets, Context& context);

}  // namespace mercer::model
