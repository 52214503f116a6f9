// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Active sets (Lawson, Hanson, "Solving least squares problems", 1974, chapter 23): the entry of the
// steepest gradient becomes free, the free entries are solved for, and those that would pass 0 on
// the way are fixed there again.
#include "linalg/non_negative.h"

#include <algorithm>
#include <cmath>

namespace mercer::linalg {
namespace {

constexpr double kLeastPivot = 1e-14;  // of the diagonal: below, rounding
constexpr int kMostSteps = 1000;       // a bound only: rounding could make the sets go round

class ActiveSets {
 public:
  ActiveSets(MatrixView<const double> G, std::span<const double> b)
      : G_(G), b_(b), x_(b.size(), 0.0), barred_(b.size(), false) {}

  std::vector<double> solve(double tolerance) {
    for (int step = 0; step < kMostSteps; ++step) {
      const int64_t entering = steepest(tolerance);
      if (entering < 0) break;
      free_.push_back(entering);
      if (!factor() || solved().back() <= 0) {
        free_.pop_back();
        barred_[entering] = true;
        continue;
      }
      settle();
      std::fill(barred_.begin(), barred_.end(), false);
    }
    return x_;
  }

 private:
  int64_t steepest(double tolerance) const noexcept {
    int64_t best = -1;
    for (int64_t j = 0; j < G_.rows; ++j) {
      if (barred_[j] || std::find(free_.begin(), free_.end(), j) != free_.end()) continue;
      double gradient = b_[j];
      for (const int64_t k : free_) gradient -= G_(j, k) * x_[k];
      if (gradient > tolerance) best = j, tolerance = gradient;
    }
    return best;
  }

  /// Cholesky's factor of the free part of G, row by row; false where it is singular.
  bool factor() {
    const size_t n = free_.size();
    L_.assign(n * n, 0.0);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        double sum = G_(free_[i], free_[j]);
        for (size_t k = 0; k < j; ++k) sum -= L_[i * n + k] * L_[j * n + k];
        if (i == j && !(sum > kLeastPivot * G_(free_[i], free_[i]))) return false;
        L_[i * n + j] = i == j ? std::sqrt(sum) : sum / L_[j * n + j];
      }
    }
    return true;
  }

  std::vector<double> solved() const {
    const size_t n = free_.size();
    std::vector<double> z(n);
    for (size_t i = 0; i < n; ++i) {
      double sum = b_[free_[i]];
      for (size_t k = 0; k < i; ++k) sum -= L_[i * n + k] * z[k];
      z[i] = sum / L_[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
      for (size_t k = i + 1; k < n; ++k) z[i] -= L_[k * n + i] * z[k];
      z[i] /= L_[i * n + i];
    }
    return z;
  }

  /// Goes towards the solution on the free entries, fixing those that reach 0 on the way.
  void settle() {
    do {
      const std::vector<double> z = solved();
      double step = 1;
      int64_t blocking = -1;
      for (size_t i = 0; i < free_.size(); ++i) {
        const double x = x_[free_[i]], until = z[i] > 0 ? 1 : x / (x - z[i]);
        if (until < step) step = until, blocking = free_[i];
      }
      for (size_t i = 0; i < free_.size(); ++i) x_[free_[i]] += step * (z[i] - x_[free_[i]]);
      if (blocking < 0) return;
      x_[blocking] = 0;
      std::erase_if(free_, [this](int64_t k) { return !(x_[k] > 0); });
    } while (factor());
  }

  MatrixView<const double> G_;
  std::span<const double> b_;
  std::vector<double> x_;
  std::vector<bool> barred_;
  std::vector<int64_t> free_;
  std::vector<double> L_;
};

}  // namespace

std::vector<double> non_negative_least_squares(MatrixView<const double> G,
                                               std::span<const double> b, double tolerance) {
  return ActiveSets(G, b).solve(tolerance);
}

}  // namespace mercer::linalg
