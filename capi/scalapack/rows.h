// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows as doubles, x, y and weight side by side: of one process, in memory or by a source, and those
// of all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mercer/data.h"
#include "processes.h"

namespace mercer::scalapack {

class OwnRows {
 public:
  /// The arrays of `data` are referred to. Throws Failure (grid.h): what the rows are not.
  explicit OwnRows(const mercer_data* data);

  int64_t inputs() const noexcept { return inputs_; }
  int64_t targets() const noexcept { return targets_; }
  /// Numbers of a row.
  int64_t width() const noexcept { return inputs_ + targets_ + 1; }
  /// Rows in memory, -1 for a source.
  int64_t count() const noexcept { return is_source_ ? -1 : X_.n; }

  /// Before the first row.
  void rewind();
  /// The next rows, as many as there are up to `most`; fewer are the last. Throws Failure: a number
  /// that is not finite, by row and column.
  int64_t read(int64_t most, double* to);

 private:
  void take_source(const mercer_row_source& given);
  void take_memory(const mercer_data& data);
  bool fetch();
  void copy(int64_t i, double* to) const;

  mercer_row_source source_{};
  bool is_source_ = false, is_weighted_ = false;
  int64_t inputs_ = 0, targets_ = 0;
  mercer_rows X_{}, Y_{};            // in memory, or the source's block
  const double* weights_ = nullptr;  // in memory
  int64_t at_ = 0;                   // in X_
  int64_t before_ = 0;               // rows of earlier blocks
};

/// Blocks of the rows of all processes, the same in each: every process that has rows left gives as
/// many.
class SharedRows {
 public:
  /// Refers to both. block_rows: one for each process at least.
  SharedRows(Processes& all, OwnRows& own, int64_t block_rows);
  /// Buffers of a block.
  void allocate();
  /// All rows from the first on, block by block: of each block `body` in every process by itself,
  /// with the number of its rows, then `after` in all together.
  template <class Body, class After>
  void pass(const Body& body, const After& after) {
    std::fill(has_left_.begin(), has_left_.end(), true);
    int64_t count = 0;
    all_.each([&] { own_.rewind(); });
    do {
      all_.each([&] {
        if (count > 0) body(count);
        own_count_ = own_.read(quota(all_.rank()), sent_.data());
      });
      all_.each([&] {
        if (count > 0) after();
        count = exchange();
      });
    } while (count > 0);
  }
  const double* row(int64_t i) const noexcept { return rows_.data() + i * own_.width(); }
  int64_t width() const noexcept { return own_.width(); }
  int64_t inputs() const noexcept { return own_.inputs(); }
  int64_t targets() const noexcept { return own_.targets(); }
  /// That came from other processes.
  int64_t bytes() const noexcept { return bytes_; }

 private:
  /// The rows that all have read, which all get; 0: there are no more.
  int64_t exchange();
  int64_t quota(int rank) const;
  void mark_ended();

  Processes& all_;
  OwnRows& own_;
  int64_t block_rows_, own_count_ = 0, bytes_ = 0;
  std::vector<int64_t> counts_;
  std::vector<int> lengths_, starts_;
  std::vector<bool> has_left_;
  std::vector<double> sent_, rows_;
};

}  // namespace mercer::scalapack
