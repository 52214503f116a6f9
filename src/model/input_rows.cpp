// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/input_rows.h"

#include <algorithm>

#include "model/feature_rows.h"
#include "model/row_coding.h"

namespace mercer::model {

InputRows::InputRows(const Preparation& preparation, const FitOptions& options, const Rows& X,
                     MatrixView<const double> Y, std::span<const double> weights)
    : preparation_(preparation),
      options_(options),
      X_(X),
      Y_(Y),
      weights_(weights),
      set_(X.rows()) {}

int64_t InputRows::outputs() const { return coded_outputs(options_, Y_.cols); }

int64_t InputRows::block_rows() const { return std::min(model::block_rows(0, features()), rows()); }

std::unique_ptr<solver::BlockSource> InputRows::subset(solver::RowSet rows) const {
  auto part = std::make_unique<InputRows>(preparation_, options_, X_, Y_, weights_);
  part->composed_ = solver::composed(set_, rows);
  part->set_ = set_.index == nullptr ? rows : solver::RowSet(part->composed_);
  return part;
}

void InputRows::for_each(Context& context, const Body& body) const {
  const int64_t size = block_rows();
  const Matrix<double> Z(size, features(), context, "a block of inputs");
  const Matrix<double> Y(size, outputs(), context, "a block of targets");
  std::vector<double> weights;
  for (int64_t first = 0; first < rows(); first += size) {
    context.checkpoint();
    const int64_t count = std::min(size, rows() - first);
    X_.visit([&](const auto& X) {
      for (int64_t i = 0; i < count; ++i)
        standardize_row(preparation_, X, set_[first + i], Z.view().row(i));
    });
    for (int64_t i = 0; i < count; ++i)
      code_target(options_, preparation_, Y_.cols, Y_.row(set_[first + i]), Y.view().row(i));
    weights.clear();
    for (int64_t i = 0; i < count && !weights_.empty(); ++i)
      weights.push_back(weights_[static_cast<size_t>(set_[first + i])]);
    body({first, {}, Z.view().block_rows(0, count), Y.view().block_rows(0, count), weights});
  }
}

}  // namespace mercer::model
