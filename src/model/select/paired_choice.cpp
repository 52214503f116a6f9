// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Keeps second moments of all pairs instead of every row's losses. The error of a difference that
// is 1e-6 of the losses keeps four digits.
#include "model/select/paired_choice.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace mercer::model {
namespace {

// A huge loss in one row has a standard error as large as its excess, so the error alone would not
// exclude it.
constexpr double kMostExcess = 1;  // of the least loss

}  // namespace

PairedLosses::PairedLosses(int64_t candidates)
    : sums_(static_cast<size_t>(candidates), 0.0),
      weighted_sums_(candidates, 0.0),
      products_(candidates, candidates) {
  products_.fill(0);
}

void PairedLosses::add(const double* losses, double weight) {
  if (weight == 0) return;
  const double square = weight * weight;
  counts_[0] += 1;
  counts_[1] += weight;
  counts_[2] += square;
  for (int64_t a = 0; a < candidates(); ++a) {
    sums_[a] += weight * losses[a];
    weighted_sums_[a] += square * losses[a];
    const double factor = square * losses[a];
    double* const row = products_.view().row(a);
    for (int64_t b = 0; b <= a; ++b) row[b] += factor * losses[b];
  }
}

void PairedLosses::reduce(const solver::BlockSource& rows) {
  solver::reduce(rows, counts_);
  solver::reduce(rows, sums_);
  solver::reduce(rows, weighted_sums_);
  solver::reduce(rows, {products_.data(), sums_.size() * sums_.size()});
}

double PairedLosses::mean(int64_t k) const { return sums_[k] / counts_[1]; }

double PairedLosses::error_of_difference(int64_t a, int64_t b) const {
  const double n = counts_[0], weight = counts_[1];
  if (n < 2) return kInfinity;
  const double mean_difference = mean(a) - mean(b);
  const double first = weighted_sums_[a] - weighted_sums_[b];
  const double second =
      products_(a, a) - 2 * products_(std::max(a, b), std::min(a, b)) + products_(b, b);
  const double squares = second - mean_difference * (2 * first - mean_difference * counts_[2]);
  return std::sqrt(std::max(squares, 0.0) * n / (n - 1)) / weight;
}

int64_t least_loss(const PairedLosses& losses) {
  int64_t best = 0;
  for (int64_t k = 1; k < losses.candidates(); ++k) {
    const double old = losses.mean(best);
    if (losses.mean(k) < old || (!std::isfinite(old) && std::isfinite(losses.mean(k)))) best = k;
  }
  return best;
}

int64_t paired_choice(const PairedLosses& losses, std::span<const double> dimensions) {
  const int64_t best = least_loss(losses);
  const auto dimension = [&](int64_t k) { return dimensions[k]; };
  const double least = losses.mean(best);
  const double bound = least > 0 ? kMostExcess * least : kInfinity;
  int64_t chosen = best;
  for (int64_t k = 0; k < losses.candidates(); ++k) {
    const double excess = losses.mean(k) - losses.mean(best);
    if (!(excess <= losses.error_of_difference(k, best)) || excess > bound) continue;
    if (dimension(k) < dimension(chosen)) chosen = k;
  }
  return chosen;
}

}  // namespace mercer::model
