// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that are not in memory, block by block, as often as a fit needs them.
#pragma once

#include "model/model.h"

namespace mercer::model {

class RowStream {
 public:
  virtual ~RowStream() = default;
  /// Begins again at the first row.
  virtual void rewind() = 0;
  /// The next rows and as many rows of targets, valid until the next call; none: the end. Every
  /// pass gives the same rows.
  struct Block {
    Rows X;
    MatrixView<const double> Y;
  };
  virtual Block next() = 0;
};

/// fit of rows that come from a stream of d inputs and m targets (classification: m = 1): a pass
/// for the standardisation, one for the statistics, one more for leave-one-out. Selection fixed,
/// gcv and loo; held-out rows and folds are UNSUPPORTED. Memory: as fit's primal form for any n,
/// and a block. Errors: as fit; INVALID_ARGUMENT if two passes give different numbers of rows.
Model fit_stream(std::shared_ptr<const feature::FeatureMap> map, const FitOptions& options,
                 RowStream& stream, int64_t targets, Context& context);

}  // namespace mercer::model
