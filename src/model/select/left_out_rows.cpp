// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Processes few rows at a time, so that lambdas times classes times rows stay bounded.
#include "model/select/left_out_rows.h"

#include <algorithm>

namespace mercer::model {
namespace {

constexpr int64_t kBlockNumbers = int64_t{1} << 21;  // residuals of a chunk

int64_t rows_of_chunk(std::span<const double> lambdas, int64_t outputs) {
  return std::max<int64_t>(1, kBlockNumbers / std::max<int64_t>(1, std::ssize(lambdas) * outputs));
}

/// leave_out: computes the residuals of a block.
template <class LeaveOut>
void for_each_chunk(const solver::BlockSource& rows, std::span<const double> lambdas,
                    Context& context, const LeftOutRow& body, const solver::RowsDone& done,
                    const LeaveOut& leave_out) {
  const int64_t size = rows_of_chunk(lambdas, rows.outputs());
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    for (int64_t first = 0; first < block.Z.rows; first += size) {
      const int64_t last = std::min(first + size, block.Z.rows);
      const auto weights =
          block.weights.empty() ? block.weights : block.weights.subspan(first, last - first);
      const solver::WideBlock chunk{block.first + first, block.Z.block_rows(first, last),
                                    block.Y.block_rows(first, last), weights};
      const Matrix<double> residuals = leave_out(chunk);
      for (int64_t i = 0; i < chunk.Z.rows; ++i)
        body(chunk.first + i, chunk.Y.row(i), chunk.weight(i), residuals.view().row(i));
    }
    if (done) done(block.Z.rows);
  });
}

}  // namespace

void for_each_left_out(const solver::BlockSource& rows, const solver::RidgePath& path,
                       std::span<const double> lambdas, Context& context, const LeftOutRow& body,
                       const solver::RowsDone& done) {
  for_each_chunk(rows, lambdas, context, body, done, [&](const solver::WideBlock& chunk) {
    return path.leave_one_out(lambdas, chunk.Z, chunk.Y, context, chunk.weights);
  });
}

void for_each_left_out(const solver::BlockSource& rows, const solver::CoupledPath& path,
                       std::span<const double> lambdas, Context& context, const LeftOutRow& body,
                       const solver::RowsDone& done) {
  for_each_chunk(rows, lambdas, context, body, done, [&](const solver::WideBlock& chunk) {
    return path.leave_one_out(lambdas, chunk, context);
  });
}

void for_each_left_out(const solver::BlockSource& rows, const solver::RidgeFactor& factor,
                       const solver::Weights& weights, Context& context, const LeftOutRow& body) {
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    const Matrix<double> residuals =
        factor.leave_one_out(weights, block.Z, block.Y, context, block.weights);
    for (int64_t i = 0; i < block.Z.rows; ++i)
      body(block.first + i, block.Y.row(i), block.weight(i), residuals.view().row(i));
  });
}

void for_each_left_out(const solver::DualSystem& system, std::span<const double> lambdas,
                       Context& context, const LeftOutRow& body) {
  const int64_t size = rows_of_chunk(lambdas, system.outputs());
  for (int64_t first = 0; first < system.rows(); first += size) {
    const int64_t last = std::min(first + size, system.rows());
    const Matrix<double> residuals = system.leave_one_out(lambdas, first, last, context);
    for (int64_t i = first; i < last; ++i)
      body(i, system.targets().row(i), system.weight_of(i), residuals.view().row(i - first));
    context.checkpoint();
  }
}

}  // namespace mercer::model
