// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Degrees of a power series drawn at random, one for each column (Kar, Karnick, "Random feature
// maps for dot product kernels", AISTATS 2012), and the variance that this adds.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace mercer::feature {

/// A term a_n (x'y)^n, a_n > 0.
struct SeriesTerm {
  int64_t degree;
  double coefficient;
};

/// Degrees n_1, ..., n_D i.i.d. from mu(n) proportional to 2^-(n + 1) over the given terms, at least
/// one; of more than 2^16 columns the others are shared out by mu. With D_n columns for degree n,
/// sum_n a_n D_n/(D mu(n)) (x'y)^n has the mean sum_n a_n (x'y)^n.
class RandomDegrees {
 public:
  /// block: columns of a block of dependent ones, 1 where all are independent; 0: others.
  RandomDegrees(std::vector<SeriesTerm> terms, int64_t D, int64_t block);

  const std::vector<SeriesTerm>& terms() const noexcept { return terms_; }
  /// D_n of each term: the same on every machine.
  std::vector<int64_t> draw(uint64_t seed) const;
  double mu(size_t term) const noexcept { return mu_[term]; }
  /// a_n k/(D mu(n)).
  double weight(size_t term, int64_t k) const noexcept {
    return terms_[term].coefficient * static_cast<double>(k) /
           (static_cast<double>(D_) * mu_[term]);
  }

  /// Of the estimate at x, y with x'y = s and ||x||^2 ||y||^2 = N; of(term, k): the variance of k
  /// columns' sketch of (x'y)^n.
  double variance(double s, double N,
                  const std::function<double(size_t term, int64_t k)>& of) const;

 private:
  double mean_square(size_t term, const std::function<double(size_t, int64_t)>& of) const;
  size_t terms_that_count(double N) const;

  std::vector<SeriesTerm> terms_;
  std::vector<double> mu_;
  int64_t D_;
  std::vector<int64_t> shared_;  // columns of each term that are not drawn
  int64_t drawn_;                // those that are
  std::vector<double> chances_;  // of each term in a draw
  int64_t block_;
  std::vector<double> pairs_;  // mean number of pairs of columns of one block
};

}  // namespace mercer::feature
