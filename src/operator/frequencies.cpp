// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "operator/frequencies.h"

#include <algorithm>

#include "base/error.h"
#include "random/distributions.h"

namespace mercer::operators {
namespace {

class BoundedLaw final : public random::Law {
 public:
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::Cursor cursor(stream);
    random::direction(cursor, omega);
    const double norm = random::chi(cursor, static_cast<double>(omega.size()) + 2);
    for (double& w : omega) w *= norm;
  }
  // As far as directions go; require_bounded keeps away whoever draws in another dimension.
  bool isotropic() const noexcept override { return true; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override {
    random::Cursor cursor(stream);
    return random::chi(cursor, static_cast<double>(d) + 2);
  }
  bool is_product() const noexcept override { return false; }
};

}  // namespace

// The projection of the unit vectors: row k of P is coordinate k of every omega.
Matrix<double> drawn_frequencies(const projection::ProjectionEntry& entry,
                                 const projection::ProjectionArguments& arguments,
                                 Context& context) {
  constexpr const char* kWhat = "frequencies";
  const int64_t d = arguments.d, F = arguments.F;
  const auto projection = entry.make(arguments);
  const projection::BlockShape shape = projection->shape(double{});
  const int64_t blocks = (F - 1) / shape.columns + 1;
  Matrix<double> W(F, d, context, kWhat);
  const Matrix<double> units(std::min(shape.rows, d), d, context, kWhat);
  const AlignedBuffer<double> P(checked_multiply(units.rows(), shape.columns, kWhat), context,
                                kWhat);
  const AlignedBuffer<double> scratch(shape.scratch, context, kWhat);
  units.fill(0);
  Stage stage(context, blocks);
  for (int64_t block = 0; block < blocks; ++block) {
    projection->prepare({block, block + 1}, double{}, context);
    const int64_t first = block * shape.columns, count = std::min(shape.columns, F - first);
    for (int64_t k0 = 0; k0 < d; k0 += units.rows()) {
      const int64_t some = std::min(units.rows(), d - k0);
      for (int64_t k = 0; k < some; ++k) units(k, k0 + k) = 1;
      projection->project(units.view().block_rows(0, some), block, P.data(), scratch.data());
      for (int64_t k = 0; k < some; ++k) {
        units(k, k0 + k) = 0;
        for (int64_t j = 0; j < count; ++j) W(first + j, k0 + k) = P[k * shape.columns + j];
      }
    }
    stage.advance(1);
    context.checkpoint();
  }
  return W;
}

std::shared_ptr<const random::Law> bounded_law() { return std::make_shared<const BoundedLaw>(); }

void require_bounded(const projection::ProjectionEntry& entry, int64_t d) {
  const bool whole = entry.block == nullptr || entry.block(d) == d;
  // Points of a cube become norms through a quantile that knows no dimension; rules have weights.
  const bool draws = !entry.uses_scramble && entry.share == nullptr;
  require(
      whole && draws, MERCER_UNSUPPORTED,
      "bounded = true has no projection = %s at %lld inputs: the norm of its frequencies is "
      "chi with d + 2 degrees, expected dense, orthogonal or, for a power of two of at least 16 "
      "inputs, sorf, fastfood or circulant",
      entry.name, static_cast<long long>(d));
}

}  // namespace mercer::operators
