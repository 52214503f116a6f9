// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Binary classification by a Gaussian process on features: P(y = 1 | f) = sigma(f), f = z'w + b,
// w ~ N(0, I/precision), b flat. The posterior of (w, b) is the Gaussian q of the largest
//   ELBO = sum_i weight_i E_q log p(y_i | f_i) - KL(q || prior),
// a lower bound of the log of the likelihood integrated over the prior (density 1 of b).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "solver/block_source.h"
#include "solver/latent_processes.h"

namespace mercer::solver {

/// Natural gradient steps on some rows at a time.
struct RowBatches {
  int64_t rows = 0;  // of a step, at least 1
  int64_t epochs = 1;
  uint64_t seed = 0;
};

class VariationalProcess {
 public:
  /// y is 1 where column k of the targets, one-hot codes, is. Rows are referred to. watched: rows
  /// that left_out is to be asked for, ascending.
  VariationalProcess(const BlockSource& rows, int64_t k, bool center,
                     std::vector<int64_t> watched = {});

  /// Steps on all rows, from the q before, none of which lowers the ELBO, until one raises it by
  /// less than tolerance for each row. The process and its ELBO; O((n D^2 + D^3) steps).
  void ascend(double precision, double tolerance, Context& context);
  /// Steps on batches of rows, of a rate that falls; then the ELBO on all rows.
  void follow(double precision, const RowBatches& batches, Context& context);

  const LatentProcess& process() const noexcept { return *process_; }
  double elbo() const noexcept { return elbos_.back(); }
  /// After each step of the last ascend.
  const std::vector<double>& elbos() const noexcept { return elbos_; }
  LatentProcess take() noexcept { return std::move(*process_); }
  /// Calls body(i, mean, variance) of f at each watched row i, left out; `some` are these rows.
  void left_out(const BlockSource& some, Context& context,
                const std::function<void(int64_t row, double mean, double variance)>& body) const;

 private:
  /// What a row says of f: exp(pull f - precision f^2 / 2).
  struct Site {
    double precision = 0, pull = 0;
  };
  struct Sites {
    RowStatistics sums;
    std::vector<Site> watched;

    Sites clone(Context& context) const { return {sums.clone(context), watched}; }
    void scale(double factor);
    /// share of `other` in place of as much of these.
    void mix(Sites&& other, double share);
  };
  struct Pass {
    Sites sites;
    double likelihood = 0, weight = 0;  // of the rows
  };
  /// at: null where there is no q yet: f = 0 for all rows. own: the numbers of `rows`, ascending;
  /// null: they are all.
  Pass pass(const BlockSource& rows, const LatentProcess* at, Context& context,
            const std::vector<int64_t>* own = nullptr) const;
  LatentProcess process_of(const Sites& sites, double precision, Context& context) const;
  double elbo_of(const Pass& pass, const LatentProcess& at, double precision,
                 Context& context) const;

  const BlockSource& rows_;
  int64_t k_;
  bool center_;
  std::vector<int64_t> watched_;
  std::optional<Sites> sites_;  // q = prior times what rows of these weights and targets say
  std::optional<LatentProcess> process_;
  std::vector<double> elbos_;
};

}  // namespace mercer::solver
