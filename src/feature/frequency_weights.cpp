// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A Fourier feature is a function of the angle u = omega'x with f'' = -f, so that
//   d^p f = omega^p f^(|p|)(u), f^(n) = f, f', -f, -f' for n mod 4 = 0, 1, 2, 3
// (Szabo, Sriperumbudur 2019, eq. 14); of a linear feature all beyond the first are 0. Frequencies
// come from the projection itself, as its transpose of unit vectors: whatever it is made of.
#include "feature/frequency_weights.h"

#include <algorithm>

#include "base/size.h"
#include "feature/tile_loop.h"

namespace mercer::feature {
namespace {

constexpr const char* kWhat = "weights of derivatives";

int64_t round_up(int64_t count) noexcept { return (count + 15) / 16 * 16; }

double power(double base, int64_t exponent) noexcept {
  double product = 1;
  for (int64_t k = 0; k < exponent; ++k) product *= base;
  return product;
}

// Which sign f^(order) has, or whether it is 0.
double sign_of(int64_t order, bool in_turns) noexcept {
  if (!in_turns) return order <= 1 ? 1 : 0;
  return order % 4 <= 1 ? 1 : -1;
}

std::vector<uint8_t> odd_blocks(const Derivative& what, int64_t d) {
  using Kind = Derivative::Kind;
  std::vector<uint8_t> odd(static_cast<size_t>(what.blocks(d)), what.kind == Kind::gradient);
  if (what.kind == Kind::partials)
    for (size_t b = 0; b < odd.size(); ++b) odd[b] = total_order(what.partials[b]) % 2 != 0;
  return odd;
}

// Blocks of columns, each with the frequencies of some columns at a time.
template <class T>
class WeightTiles final : public TileWork {
 public:
  WeightTiles(const projection::Projection& projection, const transform::EpilogueGradient& gradient,
              int reals, const Derivative& what, MatrixView<T> table)
      : projection_(projection),
        angle_(gradient.angle()),
        in_turns_(gradient.in_turns()),
        reals_(reals),
        what_(what),
        table_(table),
        shape_(projection.shape(T{})),
        units_(round_up(shape_.rows * shape_.columns)),
        frequencies_(round_up(checked_multiply(shape_.rows, projection.inputs(), kWhat))) {}

  void prepare(Context& context) const override { projection_.prepare(blocks(), T{}, context); }

  TileCut cut() const override {
    const int64_t own = round_up(shape_.transpose_scratch);
    const int64_t numbers = checked_add(checked_add(units_, frequencies_, kWhat), own, kWhat);
    return {1, 1, blocks(), 1, checked_multiply(numbers, sizeof(T), kWhat)};
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

  // Of frequency j, in turns or plain, all rows of the table.
  void put(int64_t j, const T* omega) const noexcept {
    for (int64_t b = 0; b < table_.rows; ++b) {
      const T value = static_cast<T>(weight(b, omega));
      for (int64_t real = 0; real < reals_; ++real) table_(b, j * reals_ + real) = value;
    }
  }

  double weight(int64_t b, const T* omega) const noexcept {
    const auto at = [&](int64_t k) { return angle_ * static_cast<double>(omega[k]); };
    switch (what_.kind) {
      case Derivative::Kind::gradient:
        return at(b);
      case Derivative::Kind::hessian_diagonal:
        return sign_of(2, in_turns_) * at(b) * at(b);
      case Derivative::Kind::laplacian: {
        double sum = 0;
        for (int64_t k = 0; k < projection_.inputs(); ++k) sum += at(k) * at(k);
        return sign_of(2, in_turns_) * sum;
      }
      case Derivative::Kind::partials:
        break;
    }
    const MultiIndex& p = what_.partials[static_cast<size_t>(b)];
    double product = sign_of(total_order(p), in_turns_);
    for (const PartialFactor& factor : p) product *= power(at(factor.input), factor.order);
    return product;
  }

  void clear(int64_t begin, int64_t end) const noexcept {
    for (int64_t b = 0; b < table_.rows; ++b)
      std::fill(table_.row(b) + begin * reals_, table_.row(b) + end * reals_, T{0});
  }

  const projection::Projection& projection_;
  double angle_;
  bool in_turns_;
  int64_t reals_;
  const Derivative& what_;
  MatrixView<T> table_;
  projection::BlockShape shape_;
  int64_t units_;        // numbers of some rows of unit cotangents
  int64_t frequencies_;  // and of the frequencies that they give
};

}  // namespace

template <class T>
FrequencyWeights<T> frequency_weights(const projection::Projection& projection,
                                      const transform::EpilogueGradient& gradient, int reals,
                                      const Derivative& what, Context& context) {
  const int64_t width = projection.shape(T{}).columns, d = projection.inputs();
  const int64_t blocks = (projection.outputs() - 1) / width + 1;
  const int64_t numbers = checked_multiply(checked_multiply(blocks, width, kWhat), reals, kWhat);
  FrequencyWeights<T> weights{Matrix<T>(what.blocks(d), numbers, context, kWhat),
                              odd_blocks(what, d)};
  run_tiles(WeightTiles<T>(projection, gradient, reals, what, weights.table.view()), context);
  return weights;
}

template FrequencyWeights<float> frequency_weights(const projection::Projection&,
                                                   const transform::EpilogueGradient&, int,
                                                   const Derivative&, Context&);
template FrequencyWeights<double> frequency_weights(const projection::Projection&,
                                                    const transform::EpilogueGradient&, int,
                                                    const Derivative&, Context&);

}  // namespace mercer::feature
