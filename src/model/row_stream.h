// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that are not in memory, block by block, as often as a fit needs them.
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
  /// Begins again at the first row.
  virtual void rewind() = 0;
  /// Whether rows have weights, which are summed in a pass of their own; else they weigh 1 each.
  virtual bool weighted() const { return false; }
  /// The next rows, as many rows of targets, and where it is weighted as many weights; valid until
  /// the next call; no rows: the end. Every pass gives the same rows.
  using Block = TargetedRows;
  virtual Block next() = 0;
  /// Null: this process has all rows. Else each process has a stream of rows of its own.
  virtual solver::Reduction* reduction() const { return nullptr; }
};

/// fit of rows that come from a stream of d inputs and m targets (classification: m = 1): a pass
/// for the standardisation, which counts the rows, one for the statistics, one more for
/// leave-one-out, two more for each fold or held-out part, each of which maps the rows it needs
/// alone; of rows that miss targets these for each output, and some that count them. The same row numbers are held out as of rows in memory. Memory: as fit, and a block.
/// Processes that share the rows by stream.reduction() get one model, that of all their rows. Each
/// holds out rows of its own. UNSUPPORTED: what would need a column's numbers in one place.
/// Errors: as fit; INVALID_ARGUMENT if two passes give different numbers of rows.
Model fit_stream(std::shared_ptr<const feature::FeatureMap> map, const Fitting& asked,
                 RowStream& stream, int64_t targets, Context& context);

}  // namespace mercer::model
