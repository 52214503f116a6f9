// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random Fourier features (Rahimi, Recht 2007; SPEC section 3).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/choice.h"
#include "feature/feature_map.h"
#include "feature/frequency_grid.h"
#include "feature/projection_choice.h"
#include "projection/dense.h"

namespace mercer::feature {

enum class FourierForm { pair, phase, complex };
inline constexpr const char* kFourierForms[] = {"pair", "phase", "complex"};
inline constexpr Choice<FourierForm> kFourierForm{"form", kFourierForms,
                                                  "pair: [cos | sin], features even; phase: "
                                                  "sqrt(2) cos(. + b); complex: exp(i .)"};

/// The name of the projection where the caller supplies the frequencies.
inline constexpr const char* kSupplied = "supplied";

/// The form, and how frequencies are drawn.
struct FourierOptions : ProjectionChoice {
  FourierForm form = FourierForm::pair;
  uint64_t seed = 0;
};

/// D counts output columns; pair needs an even D (F = D/2 frequencies), phase and complex have F =
/// D.
std::unique_ptr<FeatureMap> make_fourier(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                         const FourierOptions& options);

/// The caller's frequencies: row j of `frequencies` (F x d) is omega_j, with weight w_j >= 0
/// (empty: 1/F each). The estimate is k(x, y) = k(0) sum_j w_j cos(omega_j'(x - y)) with k(0) of
/// `kernel`, which names what is approximated. The frequencies are taken as they are, without
/// division by a lengthscale. Phases of form phase come from options.seed.
std::unique_ptr<FeatureMap> make_fourier_supplied(const kernel::Kernel& kernel,
                                                  MatrixView<const double> frequencies,
                                                  std::span<const double> weights,
                                                  const FourierOptions& options);

/// At most D/2 frequencies on a grid (options.projection == kGrid), form pair. Errors: those of the grid;
/// UNSUPPORTED for options that do not apply.
std::unique_ptr<FeatureMap> make_fourier_on_grid(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                                 const FourierOptions& options,
                                                 GridRequest request);

/// The same with F frequencies of a source, which is asked when they are first used; weights 1/F,
/// form pair.
std::unique_ptr<FeatureMap> make_fourier_from(
    const kernel::Kernel& kernel, int64_t d, int64_t F,
    std::shared_ptr<const projection::FrequencySource> source);

}  // namespace mercer::feature
