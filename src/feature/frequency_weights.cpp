// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A feature f of the angle u = omega'x has f'' = s f, s = -1, 0 or 1, so that
//   d^q f = omega^q f^(|q|)(u), f^(n) = s^(n/2) f for even n, s^((n-1)/2) f' for odd ones
// (of Fourier features: Szabo, Sriperumbudur 2019, eq. 14). Frequencies are the projection's
// transpose of unit vectors, so every projection serves.
#include "feature/frequency_weights.h"

#include <algorithm>
#include <limits>

#include "base/size.h"
#include "feature/tile_loop.h"

namespace mercer::feature {
namespace {

constexpr const char* kWeightsOfDerivatives = "weights of derivatives";

double power(double base, int64_t exponent) noexcept {
  double product = 1;
  for (int64_t k = 0; k < exponent; ++k) product *= base;
  return product;
}

// The factor of f^(order) over f or f'.
double sign_of(int64_t order, double second) noexcept { return power(second, order / 2); }

// Works in blocks of columns, with the frequencies of some columns at a time.
template <class T>
class WeightTiles final : public TileWork {
 public:
  WeightTiles(const projection::Projection& projection, const transform::EpilogueGradient& gradient,
              int reals, const std::vector<MonomialSum>& monomials, MatrixView<T> table)
      : projection_(projection),
        angle_(gradient.angle()),
        second_(gradient.second()),
        reals_(reals),
        monomials_(monomials),
        table_(table),
        shape_(projection.shape(T{})),
        units_(round_up(shape_.rows * shape_.columns)),
        frequencies_(
            round_up(checked_multiply(shape_.rows, projection.inputs(), kWeightsOfDerivatives))) {}

  void prepare(Context& context) const override { projection_.prepare(blocks(), T{}, context); }

  TileCut cut() const override {
    const int64_t own = round_up(shape_.transpose_scratch);
    const int64_t numbers = checked_add(checked_add(units_, frequencies_, kWeightsOfDerivatives),
                                        own, kWeightsOfDerivatives);
    return {1, 1, blocks(), 1, checked_multiply(numbers, sizeof(T), kWeightsOfDerivatives)};
  }

  void run(const Tile& tile) const noexcept override {
    T* const units = reinterpret_cast<T*>(tile.scratch);
    T* const omega = units + units_;
    T* const own = omega + frequencies_;
    const int64_t block = tile.blocks.begin, first = block * shape_.columns,
                  d = projection_.inputs();
    const int64_t count = std::min(shape_.columns, projection_.outputs() - first);
    std::fill_n(units, units_, T{0});
    for (int64_t j0 = 0; j0 < count; j0 += shape_.rows) {
      const int64_t some = std::min(shape_.rows, count - j0);
      const MatrixView<T> W(omega, some, d);
      std::fill_n(omega, some * d, T{0});
      for (int64_t j = 0; j < some; ++j) units[j * shape_.columns + j0 + j] = T{1};
      projection_.project_transpose(units, block, W, own);
      for (int64_t j = 0; j < some; ++j) units[j * shape_.columns + j0 + j] = T{0};
      for (int64_t j = 0; j < some; ++j) put(first + j0 + j, W.row(j));
    }
    clear(first + count, first + shape_.columns);
  }

 private:
  projection::Blocks blocks() const noexcept {
    return {0, (projection_.outputs() - 1) / shape_.columns + 1};
  }

  // Writes all rows of the table for frequency j, in turns or plain.
  void put(int64_t j, const T* omega) const noexcept {
    for (int64_t b = 0; b < table_.rows; ++b) {
      // Limited, since infinity times exp(-omega'x), which is 0 long before, would be NaN.
      constexpr double kMost = std::numeric_limits<T>::max();
      const T value = static_cast<T>(std::clamp(weight(b, omega), -kMost, kMost));
      for (int64_t real = 0; real < reals_; ++real) table_(b, j * reals_ + real) = value;
    }
  }

  double weight(int64_t b, const T* omega) const noexcept {
    double sum = 0;
    for (const MultiIndex& q : monomials_[b]) {
      double product = sign_of(total_order(q), second_);
      for (const PartialFactor& factor : q)
        product *= power(angle_ * static_cast<double>(omega[factor.input]), factor.order);
      sum += product;
    }
    return sum;
  }

  void clear(int64_t begin, int64_t end) const noexcept {
    for (int64_t b = 0; b < table_.rows; ++b)
      std::fill(table_.row(b) + begin * reals_, table_.row(b) + end * reals_, T{0});
  }

  const projection::Projection& projection_;
  double angle_;
  double second_;
  int64_t reals_;
  const std::vector<MonomialSum>& monomials_;
  MatrixView<T> table_;
  projection::BlockShape shape_;
  int64_t units_;        // numbers of some rows of unit cotangents
  int64_t frequencies_;  // and of the frequencies that they give
};

}  // namespace

template <class T>
Matrix<T> frequency_weights(const projection::Projection& projection,
                            const transform::EpilogueGradient& gradient, int reals,
                            const std::vector<MonomialSum>& monomials, Context& context) {
  const int64_t width = projection.shape(T{}).columns;
  const int64_t blocks = (projection.outputs() - 1) / width + 1;
  const int64_t numbers = checked_multiply(checked_multiply(blocks, width, kWeightsOfDerivatives),
                                           reals, kWeightsOfDerivatives);
  Matrix<T> table(std::ssize(monomials), numbers, context, kWeightsOfDerivatives);
  run_tiles(WeightTiles<T>(projection, gradient, reals, monomials, table.view()), context);
  return table;
}

template Matrix<float> frequency_weights(const projection::Projection&,
                                         const transform::EpilogueGradient&, int,
                                         const std::vector<MonomialSum>&, Context&);
template Matrix<double> frequency_weights(const projection::Projection&,
                                          const transform::EpilogueGradient&, int,
                                          const std::vector<MonomialSum>&, Context&);

}  // namespace mercer::feature
