// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/rows/input_rows.h"

#include <algorithm>

#include "model/prepare/row_coding.h"
#include "model/rows/feature_rows.h"

namespace mercer::model {

InputRows::InputRows(const Preparation& preparation, const Coding& coding, const TargetedRows& rows)
    : preparation_(preparation), coding_(coding), data_(rows), set_(rows.X.rows()) {}

int64_t InputRows::outputs() const { return coded_outputs(coding_, data_.Y.cols); }

int64_t InputRows::block_rows() const { return std::min(model::block_rows(0, features()), rows()); }

bool InputRows::is_complete() const {
  return coding_.task == Task::classification || model::is_complete(data_.Y, set_);
}

std::unique_ptr<solver::BlockSource> InputRows::subset(solver::RowSet rows) const {
  auto part = std::make_unique<InputRows>(preparation_, coding_, data_);
  part->set_ = set_.choose(rows);
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
    data_.X.visit([&](const auto& X) {
      for (int64_t i = 0; i < count; ++i)
        standardize_row(preparation_, X, set_[first + i], Z.view().row(i));
    });
    for (int64_t i = 0; i < count; ++i)
      code_target(coding_, preparation_, data_.Y.cols, data_.Y.row(set_[first + i]),
                  Y.view().row(i));
    weights.clear();
    for (int64_t i = 0; i < count && !data_.weights.empty(); ++i)
      weights.push_back(data_.weights[set_[first + i]]);
    body({first, {}, Z.view().block_rows(0, count), Y.view().block_rows(0, count), weights});
  }
}

}  // namespace mercer::model
