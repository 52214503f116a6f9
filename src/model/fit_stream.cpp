// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A model from rows that come block by block: the standardisation and the statistics add up, so
// that one decomposition at the end sees all rows.
#include <string>
#include <utility>

#include "base/error.h"
#include "base/finite.h"
#include "base/size.h"
#include "model/column_moments.h"
#include "model/feature_rows.h"
#include "model/fit_checks.h"
#include "model/row_stream.h"
#include "model/selection.h"

namespace mercer::model {
namespace {

using Long = long long;

class StreamFit {
 public:
  StreamFit(const feature::FeatureMap& map, const FitOptions& options, RowStream& stream,
            int64_t targets, Context& context)
      : map_(map), options_(options), stream_(stream), targets_(targets), context_(context) {}

  /// One pass; body(block) sees blocks that were checked. Rows that came.
  template <class Body>
  int64_t pass(const Body& body) {
    stream_.rewind();
    int64_t rows = 0;
    for (;;) {
      context_.checkpoint();
      const RowStream::Block block = next(rows);
      if (block.X.rows() == 0) return rows;
      body(block);
      rows = checked_add(rows, block.X.rows(), "rows of a stream");
    }
  }

  void standardize() {
    ColumnMoments moments(map_.inputs());
    rows_ = pass([&](const RowStream::Block& block) { moments.add(block.X); });
    if (options_.standardize) standardizer_ = moments.standardizer();
  }

  solver::RowStatistics statistics() {
    solver::RowStatistics sums(map_.features(), coded_outputs(options_, targets_));
    same_rows(pass([&](const RowStream::Block& block) {
      features_of(block).add_to(sums, RowSet(block.X.rows()), context_);
    }));
    return sums;
  }

  void score_left_out(const solver::RidgePath& path, std::vector<PathPoint>& points) {
    std::vector<double> lambdas;
    for (const PathPoint& point : points) lambdas.push_back(point.lambda);
    const auto n = static_cast<double>(rows_);
    same_rows(pass([&](const RowStream::Block& block) {
      const FeatureRows rows = features_of(block);
      rows.for_each_wide(RowSet(block.X.rows()), context_, [&](const WideBlock& wide) {
        const Matrix<double> squares =
            path.leave_one_out_squares(lambdas, wide.Z, wide.Y, context_);
        for (int64_t k = 0; k < squares.rows(); ++k)
          for (int64_t o = 0; o < squares.cols(); ++o)
            points[static_cast<size_t>(k)].score += squares(k, o) / n;
      });
    }));
  }

  int64_t rows() const { return rows_; }
  Standardizer take_standardizer() { return std::move(standardizer_); }

 private:
  /// The block after so many rows, checked; refusals say where it is.
  RowStream::Block next(int64_t before) {
    try {
      const RowStream::Block block = stream_.next();
      if (block.X.rows() > 0) check(block, before);
      return block;
    } catch (const Error& error) {
      if (error.status() != MERCER_INVALID_ARGUMENT) throw;
      throw Error(error.status(), std::string(error.what()) + ", in the block after " +
                                      std::to_string(before) + " rows");
    }
  }
  void check(const RowStream::Block& block, int64_t before) const {
    require(block.X.cols() == map_.inputs() && block.Y.cols == targets_ &&
                block.Y.rows == block.X.rows(),
            MERCER_DIMENSION_MISMATCH,
            "a block after row %lld has %lld rows of %lld inputs and %lld rows of %lld targets, "
            "expected as many rows of %lld inputs and %lld targets",
            static_cast<Long>(before), static_cast<Long>(block.X.rows()),
            static_cast<Long>(block.X.cols()), static_cast<Long>(block.Y.rows),
            static_cast<Long>(block.Y.cols), static_cast<Long>(map_.inputs()),
            static_cast<Long>(targets_));
    require_summable("X", block.X);
    check_targets(options_, block.Y);
  }
  void same_rows(int64_t rows) const {
    require(rows == rows_, MERCER_INVALID_ARGUMENT,
            "the stream gave %lld rows, and %lld when it began again: expected the same",
            static_cast<Long>(rows_), static_cast<Long>(rows));
  }
  FeatureRows features_of(const RowStream::Block& block) const {
    return {map_, standardizer_, options_, block.X, block.Y};
  }

  const feature::FeatureMap& map_;
  const FitOptions& options_;
  RowStream& stream_;
  int64_t targets_;
  Context& context_;
  Standardizer standardizer_;
  int64_t rows_ = 0;
};

void check_stream(const FitOptions& options, const feature::FeatureMap& map, int64_t targets) {
  check_options(options);
  require(options.selection != Selection::held_out && options.selection != Selection::kfold,
          MERCER_UNSUPPORTED,
          "selection by held-out rows or folds of a stream, expected fixed, gcv or loo: its rows "
          "come in order, and their number is known at the end alone");
  require(targets >= 1, MERCER_INVALID_ARGUMENT, "targets = %lld, expected at least 1",
          static_cast<Long>(targets));
  require(options.task == Task::regression || targets == 1, MERCER_DIMENSION_MISMATCH,
          "targets = %lld, expected 1 column of class numbers for classification",
          static_cast<Long>(targets));
  check_map(map, map.inputs());
}

/// Weights, lambda and path from all statistics.
Selected select(StreamFit& fit, const FitOptions& options, Context& context) {
  solver::RowStatistics statistics = fit.statistics();
  if (options.selection == Selection::fixed) {
    return {solver::ridge_cholesky(std::move(statistics), options.center, options.lambda, context),
            options.lambda,
            {}};
  }
  const solver::RidgePath path(std::move(statistics), options.center, context);
  Selected selected{{}, 0, empty_path(options)};
  if (options.selection == Selection::gcv) {
    for (PathPoint& point : selected.path) point.score = total_gcv(path, point.lambda);
  } else {
    fit.score_left_out(path, selected.path);
  }
  selected.lambda = best_point(selected.path).lambda;
  selected.weights = path.solve(selected.lambda);
  return selected;
}

}  // namespace

Model fit_stream(std::shared_ptr<const feature::FeatureMap> map, const FitOptions& options,
                 RowStream& stream, int64_t targets, Context& context) {
  check_stream(options, *map, targets);
  context.require_memory(primal_bytes(options, map->features()), "the fit");
  StreamFit fit(*map, options, stream, targets, context);
  fit.standardize();
  require(fit.rows() >= 2, MERCER_INVALID_ARGUMENT, "the stream has %lld rows, expected at least 2",
          static_cast<Long>(fit.rows()));
  Selected selected = select(fit, options, context);
  Model model;
  model.map = std::move(map);
  model.standardizer = fit.take_standardizer();
  model.options = options;
  model.options.lambda = selected.lambda;
  model.rows = fit.rows();
  model.weights = std::move(selected.weights);
  model.path = std::move(selected.path);
  return model;
}

}  // namespace mercer::model
