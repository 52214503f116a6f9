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
  const GridMatrix& cross = sums_.cross;
  const auto take = [&](const std::vector<double>& from, int64_t count) {
    for (int64_t k = 0; k < count; ++k)
      for (int64_t i = 0; i < cross.local_rows(); ++i)
        columns_.push_back(from[static_cast<size_t>(cross.row_place(i) * count + k)]);
  };
  all_.each([&] {
    take(weights, targets());
    take(roots, probes_.count());
  });
  ++penalties_;
}

std::vector<double> LeaveOneOut::squares(const std::vector<double>& means, bool centers,
                                         Progress& progress) {
  const Grid& grid = sums_.cross.grid();
  all_.each([&] {
    sums_.move_origin(means);
    squares_.assign(static_cast<size_t>(penalties_ * targets()), 0.0);
  });
  const double work =
      static_cast<double>(penalties_ * width()) / static_cast<double>(sums_.cross.rows());
  int64_t first = 0, count = 0;
  rows_.pass(
      [&](int64_t block) {
        first = block * grid.column() / grid.shape().columns;
        count = block * (grid.column() + 1) / grid.shape().columns - first;
        predict(first, count);
        progress.advance(static_cast<double>(block) * work);
        progress.report();
      },
      [&] {
        grid.sum_of_column(products_, reduced_);
        if (grid.row() == 0) add_errors(first, count, centers);
      });
  all_.sum(squares_);
  return squares_;
}

/// Products of rows less the means with the columns.
void LeaveOneOut::predict(int64_t first, int64_t count) {
  const int64_t columns = penalties_ * width();
  products_.assign(static_cast<size_t>(columns * count), 0.0);
  reduced_.resize(products_.size());
  const Features& features = sums_.centered(rows_, first, count, map_, context_);
  features.multiply(columns_.data(), columns, count, products_.data());
}

void LeaveOneOut::add_errors(int64_t first, int64_t count, bool centers) {
  const TargetSums& y = sums_.y;
  const double unit = y.weight / static_cast<double>(y.rows);
  for (int64_t i = 0; i < count; ++i) {
    const double* const target = rows_.row(first + i) + rows_.inputs();
    const double weight = target[targets()] / unit;
    for (int64_t at = 0; at < penalties_ && weight > 0; ++at) {
      const double* const product = reduced_.data() + (i * penalties_ + at) * width();
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
