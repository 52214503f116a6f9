// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourier features of those frequencies of a pool that matter for rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/choice.h"
#include "base/context.h"
#include "base/parameters.h"
#include "base/rows.h"
#include "feature/fourier.h"

namespace mercer::feature {

enum class WeightsFrom { given, leverage };
inline constexpr const char* kWeightsWords[] = {"given", "leverage"};
inline constexpr Choice<WeightsFrom> kWeightsFrom{
    "weights", kWeightsWords,
    "leverage: made from rows, frequencies of a pool by their ridge leverage scores, the kernel's "
    "estimate keeps its mean; given: those of the projection or of the caller, mostly equal"};

struct LeverageOptions {
  double penalty;  // lambda: n lambda is added to Z Z'
  int64_t pool;    // frequencies drawn for each that is kept
};

/// Fields "weights", "penalty" and "pool".
std::vector<Field> leverage_fields();
/// Reads them; nullopt: the weights are given. INVALID_ARGUMENT for a penalty or a pool of these.
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
