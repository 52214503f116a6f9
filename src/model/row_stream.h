// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that are not in memory, read block by block, and as blocks of features.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/fit_checks.h"
#include "model/model.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_summary.h"
#include "model/rows/feature_rows.h"
#include "model/rows/row_sets.h"
#include "solver/block_source.h"
#include "solver/row_weights.h"

namespace mercer::model {

/// Keeps how far a fit of a stream is, so that the same fit in another process goes on there and
/// ends with the same bits: the passes in their order, whose states are of this process alone,
/// before any sum over processes, and what a search has chosen.
class FitKeeper {
 public:
  /// Where a pass is: blocks that were read, their rows, and those of them that it is about.
  struct Place {
    int64_t blocks = 0, read = 0, rows = 0;
    bool over = false;
  };
  virtual ~FitKeeper() = default;
  /// The next pass begins: where the kept one is, whose state has been read. Refers to the state.
  virtual Place begin(const solver::PassState& state) = 0;
  /// The pass has come there, between two blocks. It is kept if it is time to.
  virtual void reach(const Place& place) = 0;
  /// The call ends before the pass does: it is kept now.
  virtual void stop() noexcept = 0;
  /// Null: nothing is kept of the search.
  virtual std::unique_ptr<Model> searched() = 0;
  /// Returns what searched() will.
  virtual std::unique_ptr<Model> keep_search(const Model& found) = 0;
};

/// Rows that are not in memory, read block by block in as many passes as a fit needs.
class RowStream {
 public:
  virtual ~RowStream() = default;
  /// Goes back to the first row.
  virtual void rewind() = 0;
  /// After a rewind: over that many blocks.
  virtual void skip(int64_t blocks) {
    for (; blocks > 0; --blocks) next();
  }
  /// Whether rows have weights (which cost a pass to sum) instead of 1 each.
  virtual bool weighted() const { return false; }
  /// The next rows with their targets and, if weighted, weights; valid until the next call. No
  /// rows: the end. Every pass gives the same rows.
  using Block = TargetedRows;
  virtual Block next() = 0;
  /// Null: this process has all rows. Else each process has a stream of its own rows.
  virtual solver::Reduction* reduction() const { return nullptr; }
  /// The number, from 1, of its first row among those of all processes; 0 in all: not known.
  virtual int64_t first_row() const { return 0; }
  /// Null: nothing is kept.
  virtual FitKeeper* keeper() { return nullptr; }
  /// Told before the first pass that there is a search, and what is fitted, once that is known:
  /// processes that share rows must agree on both.
  virtual void agree_on_search() {}
  virtual void agree(const feature::FeatureMap&, const FitOptions&) {}
};

// A stream of rows as blocks of features.

/// How the search of a sample has prepared rows, and which rows of the stream are left out of the
/// fit for its honest score.
struct SampledChoice {
  const Preparation& preparation;
  std::vector<int64_t> without;  // numbers in the stream of this process, ascending
  int64_t rows;                  // of this process, with those
  bool is_complete;              // no target was missing
};

/// The blocks of a stream, checked like rows in memory. Error messages name the block's position.
class CheckedStream {
 public:
  /// For a map. References are kept. One pass over a weighted stream, to sum its weights over all
  /// processes. choice: null, or what a search has found, whose rows are left out.
  CheckedStream(const feature::FeatureMap& map, const FitOptions& asked,
                const PreparationFacts& found, RowStream& stream, int64_t targets, Context& context,
                const SampledChoice* choice = nullptr);
  /// Before there is a map: weights stay as they are, and inputs in no kernel's domain.
  CheckedStream(const FitOptions& asked, RowStream& stream, int64_t inputs, int64_t targets)
      : asked_(asked), stream_(stream), inputs_(inputs), targets_(targets) {}

  using Body = std::function<void(int64_t first, const RowStream::Block&)>;
  /// Calls body(first, block) for every block, with relative weights (row_weights.h). Returns the
  /// number of rows. state: what the body adds up; a pass without starts anew in another process.
  int64_t pass(Context& context, const Body& body, const solver::PassState& state = {}) const;

  const feature::FeatureMap& map() const { return *map_; }
  const TargetOptions& coding() const { return asked_.coding; }
  feature::Precision precision() const { return asked_.estimate.precision; }
  int64_t inputs() const { return inputs_; }
  int64_t targets() const { return targets_; }
  bool weighted() const { return stream_.weighted(); }
  double weight_unit() const { return unit_.mean(); }  // of the given weights
  solver::Reduction* reduction() const { return stream_.reduction(); }
  int64_t first_row() const { return stream_.first_row(); }

 private:
  void read_on(Context& context, const Body& body, FitKeeper* keeper,
               FitKeeper::Place& place) const;
  RowStream::Block next_of(Context& context, FitKeeper* keeper, int64_t before) const;
  RowStream::Block next(int64_t before) const;
  void check(const RowStream::Block& block, int64_t before) const;
  void check_inside(const Rows& X) const;

  const feature::FeatureMap* map_ = nullptr;
  const FitOptions& asked_;
  PreparationFacts found_;
  RowStream& stream_;
  int64_t inputs_, targets_;
  const SampledChoice* choice_ = nullptr;
  solver::WeightUnit unit_;
};

/// What the first pass finds.
struct StreamSummary {
  /// The context is kept.
  StreamSummary(const FitOptions& asked, const PreparationFacts& found, int64_t inputs,
                int64_t targets, Context& context);
  void add(const RowStream::Block& block);
  /// After the last block. reduction: null, or of the processes that share the rows; the classes
  /// stay those of this one.
  void finish(solver::Reduction* reduction);
  /// Writes or reads all of it, before finish.
  void keep(StateBytes& state);

  RowSummary rows;
  ObservedTargets observed;
  int64_t own_rows = 0;         // of this process
  std::vector<double> classes;  // of the rows, for stratified splits, where some are held out

 private:
  TargetOptions coding_;
  bool holds_out_;
  Context& context_;
  MemoryCharge held_;  // of the classes
};

class StreamRows final : public solver::BlockSource {
 public:
  /// References are kept. Later passes must have as many rows as the first.
  StreamRows(const CheckedStream& stream, const Preparation& preparation,
             const StreamSummary& summary)
      : stream_(stream), preparation_(preparation), summary_(summary), set_(summary.own_rows) {}

  int64_t features() const override { return stream_.map().scalar().row_length(); }
  int64_t outputs() const override;
  int64_t rows() const override { return set_.count; }
  int64_t block_rows() const override;
  std::vector<double> classes() const override;
  bool is_complete() const override { return summary_.observed.is_complete(); }
  bool is_sequential() const override { return true; }
  bool is_complex() const override { return !real_parts_ && stream_.map().is_complex(); }
  void take_real_parts() { real_parts_ = true; }  // as of FeatureRows
  solver::Reduction* reduction() const override { return stream_.reduction(); }
  void for_each(Context& context, const Body& body) const override;
  void for_each_target(Context& context, const TargetBody& body) const override;
  bool add_to(solver::RowStatistics& statistics, Context& context, const solver::RowsDone& done,
              const Weigh& weigh) const override;
  std::unique_ptr<solver::NormalSums> normal_sums(Context& context,
                                                  const solver::RowsDone& done) const override;
  bool for_each_product(MatrixView<const double> W, Context& context,
                        const ProductBody& body) const override;
  std::unique_ptr<solver::BlockSource> subset(solver::RowSet rows) const override;
  std::unique_ptr<solver::BlockSource> input_rows() const override;
  void keep_next_pass(solver::PassState state) const override { state_ = std::move(state); }

 private:
  TargetOptions coding() const;
  /// For each block its rows that are in the set; `begin` is the first one's number in the set.
  void for_each_part(Context& context,
                     const std::function<void(int64_t begin, const FeatureRows&)>& body,
                     const solver::PassState& state = {}) const;

  const CheckedStream& stream_;
  const Preparation& preparation_;
  const StreamSummary& summary_;
  bool real_parts_ = false, gives_inputs_ = false;
  solver::ChosenRows set_;
  mutable solver::PassState state_;  // of the next pass
};

}  // namespace mercer::model
