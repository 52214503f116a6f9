// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows as a kernel sees them: prepared, in double. Sparse rows stay sparse unless centred.
#pragma once

#include "base/csr_rows.h"
#include "base/views.h"
#include "model/prepare/preparation.h"

namespace mercer::model {

class PreparedRows {
 public:
  PreparedRows() = default;
  /// Charged to the context as long as this lives.
  PreparedRows(const Preparation& preparation, const Rows& X, Context& context, const char* what);
  Rows view() const;

 private:
  bool sparse_ = false;
  ListedRows listed_;
  Matrix<double> dense_;
};

/// The same, dense.
Matrix<double> dense_prepared_rows(const Preparation& preparation, const Rows& X, Context& context,
                                   const char* what);

}  // namespace mercer::model
