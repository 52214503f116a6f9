// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A uniform sample of rows that are not in memory, from one pass over all of them: those of the
// smallest hash of seed, process and row number. Processes that share the rows get one sample. A
// search of it chooses for the fit of all rows.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "model/fit.h"
#include "model/row_stream.h"
#include "model/rows/row_sets.h"

namespace mercer::model {

/// Rows of one process: those of the smallest hash among all that are added.
class RowReservoir {
 public:
  struct Row {
    uint64_t hash = 0;
    int64_t number = 0;  // in the stream
    double weight = 1;
    std::vector<int64_t> columns = {};  // of a sparse row
    std::vector<double> x = {}, y = {};
  };

  /// At most so many rows; the context is kept and charged for them. shared: other processes have
  /// rows, too, whose hashes are others. first_row: as of RowStream.
  RowReservoir(int64_t most, uint64_t seed, bool shared, int64_t first_row, Context& context)
      : most_(most), seed_(seed), shared_(shared), first_row_(first_row), context_(context) {}

  /// The next rows of the stream. Those of weight 0, or without any target, are passed over.
  void add(const RowStream::Block& block);
  /// The `count` rows of the smallest hash, in the order of the hash; they leave the reservoir.
  std::vector<Row> take(int64_t count);
  std::vector<uint64_t> hashes() const;
  /// Writes or reads all of it. inputs, targets: of a row.
  void keep(StateBytes& state, int64_t inputs, int64_t targets);
  bool sparse() const { return sparse_; }
  /// A hash of the rows that are kept and of how many there were: others have another.
  uint64_t fingerprint() const;

 private:
  bool keeps(uint64_t hash) const;
  void insert(Row row);
  void charge();

  int64_t most_;
  uint64_t seed_;
  bool shared_;
  int64_t first_row_;
  Context& context_;
  uint64_t stream_ = 0;  // index of the stream of hashes; 0 before the first row
  bool sparse_ = false;
  int64_t rows_ = 0;       // that were added, of any weight
  std::vector<Row> kept_;  // a heap, the largest hash first
  int64_t numbers_ = 0;    // that they hold
  int64_t charged_ = 0;    // of these
  MemoryCharge held_;
};

/// How much is sampled. Of more than `most` rows the share `unseen`, but at most `most_unseen`, are
/// marked in the sample: no choice and no sum is to see them.
struct SampleSize {
  int64_t most = 0;
  double unseen = 0;
  int64_t most_unseen = 0;
};

/// What the rows of all processes come to.
struct StreamCounts {
  double rows = 0;           // of positive weight with a target
  double largest_class = 0;  // of class numbers: the largest, and how many are 0
  double of_class_0 = 0;
  double missing = 0;  // targets that are NaN, of
  double targets = 0;  // those of rows of positive weight, of this process
};

/// The sample, in memory: in the order of the stream; of several processes one after the other, in
/// the order of their first rows where these are known, else in one that their own rows decide, so
/// that it is the same in all.
class StreamSample {
 public:
  /// One pass over a stream, whose checks need no map. Errors: those of the stream;
  /// INVALID_ARGUMENT if two processes deliver the same rows, or more than first rows say;
  /// UNSUPPORTED for sparse rows of several
  /// processes.
  StreamSample(const CheckedStream& stream, const SampleSize& size, uint64_t seed,
               Context& context);

  /// Views of this object.
  TargetedRows rows() const;
  const StreamCounts& counts() const { return counts_; }
  /// Of targets that all rows miss; processes that share rows tell of those they fit.
  void warn(FitReport& report) const;
  bool has_all_rows() const { return counts_.rows <= static_cast<double>(size_.most); }
  /// The marked rows: their places in the sample, and the numbers in the stream of those that are
  /// this process's; both ascending, and empty if the sample has all rows.
  const std::vector<int64_t>& unseen() const { return unseen_; }
  const std::vector<int64_t>& own_unseen() const { return own_unseen_; }
  /// Rows that this process delivered, of any weight.
  int64_t own_rows() const { return own_rows_; }

 private:
  struct Places;
  void count(const RowStream::Block& block);
  Places share(solver::Reduction* reduction, const RowReservoir& reservoir, int64_t first_row);
  Places numbered_places(solver::Reduction& reduction, const std::vector<uint64_t>& hashes,
                         int64_t own, int64_t processes, int64_t first_row, int64_t unseen) const;
  void store(std::vector<RowReservoir::Row> rows, const Places& places, Context& context);
  void store_sparse(const std::vector<RowReservoir::Row>& rows);
  void sum(solver::Reduction& reduction);

  SampleSize size_;
  int64_t inputs_, targets_;
  bool weighted_, shared_, classes_;
  StreamCounts counts_;
  int64_t own_rows_ = 0;
  std::vector<int64_t> unseen_, own_unseen_;
  Matrix<double> table_;  // of each row x, if dense, then y, the weight, and 1 if it is unseen
  std::vector<int64_t> offsets_, columns_;  // of sparse rows
  std::vector<double> values_, weights_;
};

// The search of the sample, and the fit of all rows as it has chosen.

/// One pass, checked as a search checks rows.
StreamSample sample_of(const FitPlan& plan, const FitData& data, Context& context);
/// What an earlier run of the fit has found, whose trials are told again, or what `search` finds.
Model kept_search(const SearchOptions& asked, RowStream& source,
                  const std::function<Model()>& search);
/// Lambda of least squares is chosen again, from the sums of many rows per feature, else by
/// leave-one-out. Other losses keep n lambda: they would read all rows for each lambda.
SelectionOptions selection_of_all(const FitPlan& plan, const Model& found,
                                  const StreamSample& sample);
/// Adds to the model of all rows what the search has found and reports, the score of rows that
/// neither has seen, and the trial of the fit, which began at `start`.
void join_search(const FitPlan& plan, const StreamSample& sample, Model found,
                 std::chrono::steady_clock::time_point start, Context& context, Model& model);

}  // namespace mercer::model
