// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Standardised inputs as features: ridge on them is the linear model.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/prepare/coding.h"
#include "model/prepare/preparation.h"
#include "model/rows/targeted_rows.h"
#include "solver/block_source.h"

namespace mercer::model {

class InputRows final : public solver::BlockSource {
 public:
  /// References are kept.
  InputRows(const Preparation& preparation, const Coding& coding, const TargetedRows& rows);
  int64_t features() const override { return preparation_.prepared(data_.X.cols()); }
  int64_t outputs() const override;
  int64_t rows() const override { return set_.count; }
  int64_t block_rows() const override;
  bool is_complete() const override;
  void for_each(Context& context, const Body& body) const override;
  std::unique_ptr<solver::BlockSource> subset(solver::RowSet rows) const override;

 private:
  const Preparation& preparation_;
  Coding coding_;
  TargetedRows data_;
  solver::ChosenRows set_;
};

}  // namespace mercer::model
