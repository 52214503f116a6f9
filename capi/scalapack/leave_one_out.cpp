// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "leave_one_out.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mercer::scalapack {
namespace {

constexpr double kInterpolates = 1e-8;  // 1 - h is rounding error

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
uint64_t mixed(uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Probes::Probes(int64_t features, int64_t probes) noexcept
    : count_(std::min(features, probes)),
      is_exact_(probes >= features),
      scale_(1 / std::sqrt(static_cast<double>(count_))) {}

double Probes::at(int64_t row, int64_t column) const noexcept {
  if (is_exact_) return row == column ? 1 : 0;
  const auto place = static_cast<uint64_t>(row * count_ + column);
  return (mixed(place * 0x9e3779b97f4a7c15u) >> 63) != 0 ? scale_ : -scale_;
}

void LeaveOneOut::add(const std::vector<double>& weights, const std::vector<double>& roots) {
  const GridMatrix& cross = rows_.sums().cross;
  const auto take = [&](const std::vector<double>& from, int64_t count) {
    for (int64_t k = 0; k < count; ++k)
      for (int64_t i = 0; i < cross.local_rows(); ++i)
        vectors_.push_back(from[static_cast<size_t>(cross.row_place(i) * count + k)]);
  };
  rows_.all().each([&] {
    take(weights, targets());
    take(roots, probes_.count());
  });
  ++penalties_;
}

std::vector<double> LeaveOneOut::squares(bool centers) {
  const int64_t count = penalties_ * width();
  rows_.all().each([&] { squares_.assign(static_cast<size_t>(penalties_ * targets()), 0.0); });
  const double work = static_cast<double>(count) / static_cast<double>(rows_.sums().features());
  rows_.multiply(vectors_, count, work, 1,
                 [&](int64_t first, int64_t rows, const std::vector<double>& products) {
                   if (rows_.grid().row() == 0) add_errors(first, rows, products, centers);
                 });
  rows_.all().sum(squares_);
  return squares_;
}

void LeaveOneOut::add_errors(int64_t first, int64_t count, const std::vector<double>& products,
                             bool centers) {
  const TargetSums& y = rows_.sums().y;
  for (int64_t i = 0; i < count; ++i) {
    const double* const target = rows_.rows().row(first + i) + rows_.rows().inputs();
    const double weight = rows_.weight(first + i);
    for (int64_t at = 0; at < penalties_ && weight > 0; ++at) {
      const double* const product = products.data() + (i * penalties_ + at) * width();
      double leverage = centers ? 1 / static_cast<double>(y.rows) : 0;
      for (int64_t k = targets(); k < width(); ++k) leverage += product[k] * product[k];
      const double left = 1 - weight * leverage;
      for (int64_t k = 0; k < targets(); ++k) {
        const auto o = static_cast<size_t>(k);
        const double mean = centers ? y.origin[o] + y.sum[o] / y.weight : 0;
        const double error = (target[k] - mean - product[k]) / left;
        squares_[static_cast<size_t>(at * targets() + k)] +=
            left > kInterpolates ? weight * error * error : std::numeric_limits<double>::infinity();
      }
    }
  }
}

}  // namespace mercer::scalapack
