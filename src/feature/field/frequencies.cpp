// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/field/frequencies.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/error.h"
#include "feature/projection_choice.h"
#include "random/distributions.h"

namespace mercer::feature {
namespace {

class BoundedLaw final : public random::Law {
 public:
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::Cursor cursor(stream);
    random::direction(cursor, omega);
    const double norm = random::chi(cursor, static_cast<double>(omega.size()) + 2);
    for (double& w : omega) w *= norm;
  }
  // Its directions are isotropic; require_bounded refuses projections that draw in another
  // dimension.
  bool isotropic() const noexcept override { return true; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override {
    random::Cursor cursor(stream);
    return random::chi(cursor, static_cast<double>(d) + 2);
  }
  bool is_product() const noexcept override { return false; }
};

// The projections of unit vectors: row k of P is coordinate k of every omega. The caller charges
// what it keeps.
Matrix<double> drawn_frequencies(const projection::ProjectionEntry& entry,
                                 const projection::ProjectionArguments& arguments,
                                 Context& context) {
  constexpr const char* kWhat = "frequencies";
  const int64_t d = arguments.d, F = arguments.F;
  const auto projection = entry.make(arguments);
  const projection::BlockShape shape = projection->shape(double{});
  const int64_t blocks = (F - 1) / shape.columns + 1;
  Matrix<double> W(F, d);
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

void require_bounded(const projection::ProjectionEntry& entry, int64_t d) {
  const bool whole = entry.block == nullptr || entry.block(d) == d;
  // Low-discrepancy points get their norms from a quantile that is the same in all dimensions;
  // rules have weights.
  const bool draws = !entry.uses_scramble && entry.share == nullptr;
  require(
      whole && draws, MERCER_UNSUPPORTED,
      "bounded = true has no projection = %s at %ld inputs: the norm of its frequencies is "
      "chi with d + 2 degrees, expected dense, orthogonal or, for a power of two of at least 16 "
      "inputs, sorf, fastfood or circulant",
      entry.name, d);
}

void require_drawable(const kernel::Kernel& kernel, bool bounded) {
  const std::string name(kernel.name());
  require(kernel.spectral_law() != nullptr, MERCER_UNSUPPORTED,
          "kernel %s is not shift-invariant: it has no frequencies", name.c_str());
  require_plain_inputs(kernel);
  require(!bounded || (kernel.is_gaussian() && kernel.lengthscale().size() == 1),
          MERCER_UNSUPPORTED,
          "bounded = true of kernel %s with %zu lengthscales, expected gaussian with one",
          name.c_str(), kernel.lengthscale().size());
}

}  // namespace

void require_plain_inputs(const kernel::Kernel& kernel) {
  require(kernel.prologue() == nullptr, MERCER_UNSUPPORTED,
          "kernel %s warps its inputs: its frequencies are not those of the inputs",
          std::string(kernel.name()).c_str());
}

FrequencyDraw::FrequencyDraw(std::shared_ptr<const kernel::Kernel> kernel,
                             const ProjectionChoice& choice, int64_t d, int64_t F, uint64_t seed,
                             bool bounded) {
  require_drawable(*kernel, bounded);
  kernel->check_dimension(d);
  choice.check();
  entry_ = &projection::find_projection(choice.projection);
  if (bounded) require_bounded(*entry_, d);
  arguments_ = {bounded ? std::make_shared<const BoundedLaw>()
                        : std::shared_ptr<const random::Law>(kernel, kernel->spectral_law()),
                {kernel->lengthscale().begin(), kernel->lengthscale().end()},
                projection::Unit::plain,
                d,
                F,
                seed,
                choice.radius,
                choice.scramble,
                bounded ? "bounded = true" : "kernel " + std::string(kernel->name())};
  entry_->make(arguments_);  // refuses what it cannot draw
}

Matrix<double> FrequencyDraw::operator()(Context& context) const {
  return drawn_frequencies(*entry_, arguments_, context);
}

MatrixView<const double> Frequencies::prepared(Context& context) const {
  constexpr const char* kWhat = "frequencies";
  const int64_t bytes =
      checked_multiply(checked_multiply(F_, d_, kWhat), int64_t{sizeof(double)}, kWhat);
  drawn_.prepare(0, {bytes, 0, kWhat}, context, [&](int64_t) { return draw_(context); });
  return drawn_[0].view();
}

void Frequencies::fill(int64_t j0, Context& context, MatrixView<double> omega) const {
  const MatrixView<const double> W = prepared(context);
  for (int64_t i = 0; i < omega.rows; ++i) std::copy_n(W.row(j0 + i), d_, omega.row(i));
}

}  // namespace mercer::feature
