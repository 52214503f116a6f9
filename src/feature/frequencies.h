// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The frequencies omega_j of maps as numbers, which B(omega_j) needs: drawn by any
// projection, when first used.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/fields.h"
#include "base/parameters.h"
#include "base/views.h"
#include "feature/fourier.h"
#include "feature/projected_map.h"
#include "kernel/kernel.h"
#include "projection/dense.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"

namespace mercer::feature {

/// UNSUPPORTED for a kernel that warps its inputs: its frequencies belong to the warped ones.
void require_plain_inputs(const kernel::Kernel& kernel);

/// How F frequencies of d inputs are drawn, the same as by the map fourier: from the kernel's
/// spectral density, or, if `bounded`, from a density proportional to ||omega||^2 times that of a
/// gaussian kernel of one lengthscale: uniform direction, norm chi_{d+2}/l.
class FrequencyDraw {
 public:
  /// Errors: UNSUPPORTED for kernels without a spectral density or that warp their inputs, and for
  /// projections that cannot draw it. The norm of the bounded one depends on the dimension, so
  /// blocks that pad d would draw another distribution, and its coordinates are dependent.
  FrequencyDraw(std::shared_ptr<const kernel::Kernel> kernel, const ProjectionChoice& choice,
                int64_t d, int64_t F, uint64_t seed, bool bounded);
  const projection::ProjectionEntry& entry() const noexcept { return *entry_; }
  /// F x d, row j is omega_j. Cost: d rows of the projection, and F d numbers in addition to the
  /// result. Errors: CANCELLED, OUT_OF_MEMORY.
  Matrix<double> operator()(Context& context) const;

 private:
  const projection::ProjectionEntry* entry_;
  projection::ProjectionArguments arguments_;
};

/// F x d numbers, drawn all together when first used, then kept. Thread-safe.
class Frequencies final : public projection::FrequencySource {
 public:
  using Draw = std::function<Matrix<double>(Context&)>;
  Frequencies(int64_t F, int64_t d, Draw draw) : F_(F), d_(d), draw_(std::move(draw)), drawn_(1) {}
  int64_t count() const noexcept { return F_; }
  int64_t inputs() const noexcept { return d_; }
  /// All frequencies, drawn if they have not been. If that fails, for memory or in `draw`, it may
  /// be retried.
  MatrixView<const double> prepared(Context& context) const;
  /// The frequency omega_j; prepared() has been called.
  const double* operator[](int64_t j) const noexcept { return drawn_[0].view().row(j); }
  void fill(int64_t j0, Context& context, MatrixView<double> omega) const override;

 private:
  int64_t F_;
  int64_t d_;
  Draw draw_;
  mutable projection::LazyGroups<Matrix<double>> drawn_;
};

// Fourier features of those frequencies of a pool that matter for rows.

enum class WeightSource { given, leverage };
inline constexpr const char* kWeightsWords[] = {"given", "leverage"};
inline constexpr Choice<WeightSource> kWeightSource{
    "weights", kWeightsWords,
    "leverage: made from rows, frequencies of a pool by their ridge leverage scores, the kernel's "
    "estimate keeps its mean; given: those of the projection or of the caller, mostly equal"};

struct LeverageOptions {
  double penalty;  // lambda: n lambda is added to Z Z'
  int64_t pool;    // frequencies drawn for each that is kept
};

/// Fields "weights", "penalty" and "pool".
std::vector<Field> leverage_fields();
/// Reads these fields; nullopt: the weights are given. INVALID_ARGUMENT for a penalty or a pool
/// beside given weights.
std::optional<LeverageOptions> read_leverage(const Parameters& own);

/// z_j'(Z Z' + n lambda I)^{-1} z_j of each frequency (rows of W), its cosine and sine added, for Z
/// the map of these frequencies, weights 1/M, at n rows, all finite. Their sum is the effective
/// dimension Tr Z Z'(Z Z' + n lambda I)^{-1}. O(n^2 (n + M)); 8 n^2 bytes.
/// NOT_POSITIVE_DEFINITE for a lambda below rounding.
std::vector<double> frequency_scores(const kernel::Kernel& kernel, MatrixView<const double> W,
                                     const Rows& rows, double lambda, Context& context);

/// min(1, c score_j), c so that they add up to `count`, which is below the number of scores.
std::vector<double> kept_probabilities(std::span<const double> scores, int64_t count);

/// F frequencies out of a pool, drawn as the options say. At most 2048 of the rows, drawn
/// uniformly, are read.
std::unique_ptr<FeatureMap> make_fourier_by_leverage(const kernel::Kernel& kernel, const Rows& rows,
                                                     int64_t F, const FourierOptions& options,
                                                     const LeverageOptions& leverage,
                                                     Context& context);

}  // namespace mercer::feature
