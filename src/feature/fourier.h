// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random Fourier features (Rahimi, Recht 2007).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/fields.h"
#include "feature/feature_map.h"
#include "feature/frequency_grid.h"
#include "feature/projected_map.h"
#include "projection/dense.h"

namespace mercer::feature {

enum class FourierForm { pair, phase, complex };
inline constexpr const char* kFourierForms[] = {"pair", "phase", "complex"};
inline constexpr Choice<FourierForm> kFourierForm{"form", kFourierForms,
                                                  "pair: [cos | sin], features even; phase: "
                                                  "sqrt(2) cos(. + b); complex: exp(i .)"};

/// The name of the projection where the caller supplies the frequencies.
inline constexpr const char* kSupplied = "supplied";

/// The form of the features, and how frequencies are drawn.
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

/// At most D/2 frequencies on a grid (options.projection == kGrid), form pair. Errors: those of the
/// grid; UNSUPPORTED for options that do not apply.
std::unique_ptr<FeatureMap> make_fourier_on_grid(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                                 const FourierOptions& options,
                                                 GridRequest request);

/// The map with F frequencies of a source, which draws them when they are first used; weights 1/F,
/// form pair.
std::unique_ptr<FeatureMap> make_fourier_from(
    const kernel::Kernel& kernel, int64_t d, int64_t F,
    std::shared_ptr<const projection::FrequencySource> source);

// The parts of a Fourier map, with drawn or supplied frequencies.

struct FourierParts {
  std::shared_ptr<const kernel::Kernel> kernel;
  FourierOptions options;
  int64_t d;
  int64_t F;
  std::shared_ptr<const projection::FrequencySource> supplied;  // null: drawn as options say
  std::vector<double> weights;                          // of supplied frequencies; empty: 1/F each
  std::optional<kernel::StandIn> stand_in = {};         // for a kernel without a law
  std::shared_ptr<const FrequencyGrid> grid = nullptr;  // what was supplied, if it is that

  /// The kernel that drawn frequencies estimate.
  const std::shared_ptr<const kernel::Kernel>& drawn() const noexcept {
    return stand_in ? stand_in->kernel : kernel;
  }

  /// Whether the frequencies are the caller's, so that no spec makes them again.
  bool needs_data() const noexcept { return supplied != nullptr && grid == nullptr; }
};

/// Keys of the bias of a map of a kernel's stand-in: the largest, and the root of the mean square,
/// over the distances that occur.
inline constexpr const char* kBiasKeys[] = {"largest_bias", "rms_bias"};

/// The limit of specs, and so of files: BLAS counts in 32 bits.
inline constexpr int64_t kMostFourierColumns = (int64_t{1} << 31) - 1;
void check_fourier_sizes(const kernel::Kernel& kernel, int64_t d, int64_t F);

// Closed-form variances of random Fourier features with i.i.d. frequencies of a symmetric law, from
// three values of the kernel: they hold for every shift-invariant kernel and any amplitude.

/// k(0), k(tau), k(2 tau).
struct StationaryValues {
  double zero;
  double once;
  double twice;
};

/// Variance of the estimate with D columns: (k(0)^2 + k(0)k(2 tau) - 2k(tau)^2)/D.
double fourier_pair_variance(const StationaryValues& k, int64_t D) noexcept;
/// (k(0)^2 + k(0)k(2 tau)/2 - k(tau)^2)/D.
double fourier_phase_variance(const StationaryValues& k, int64_t D) noexcept;
/// E(k^ - k)^2 = (k(0)k(2 tau) - k(tau)^2)/D with D complex columns.
double fourier_complex_pseudo_variance(const StationaryValues& k, int64_t D) noexcept;
/// The variance of the real part, which is half that of pairs.
double fourier_complex_real_variance(const StationaryValues& k, int64_t D) noexcept;

}  // namespace mercer::feature
