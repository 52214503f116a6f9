// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The parts of a Fourier map, with drawn or supplied frequencies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "feature/fourier.h"
#include "feature/frequency_grid.h"

namespace mercer::feature {

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

  /// The frequencies are the caller's: no spec makes them again.
  bool needs_data() const noexcept { return supplied != nullptr && grid == nullptr; }
};

std::unique_ptr<FeatureMap> make_fourier_map(FourierParts parts);

/// What a map of a kernel's stand-in says of its bias: the largest, and the root of the mean square,
/// over the distances that occur.
inline constexpr const char* kBiasKeys[] = {"largest_bias", "rms_bias"};

/// The limit of specs, and so of files: BLAS counts in 32 bits.
inline constexpr int64_t kMostFourierColumns = (int64_t{1} << 31) - 1;
/// F of D columns. INVALID_ARGUMENT for a D that the form does not have.
int64_t fourier_frequencies(int64_t D, FourierForm form);
void check_fourier_sizes(const kernel::Kernel& kernel, int64_t d, int64_t F);

}  // namespace mercer::feature
