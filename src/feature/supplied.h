// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourier features of the caller's own frequencies.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/parameters.h"
#include "feature/feature_map.h"
#include "feature/field/field_makers.h"

namespace mercer::feature {

/// Row j of W (F x d) is omega_j; weights: F numbers, or none (1/F each).
struct SuppliedFrequencies {
  MatrixView<const double> W;
  std::span<const double> weights = {};
  std::optional<SuppliedRoots> roots = {};
};

/// The map of a spec, whose "map", "inputs" and "features" may be left out. Errors:
/// DIMENSION_MISMATCH where these differ from the frequencies'; UNSUPPORTED for a map or a
/// projection that takes none; those of make_fourier_supplied and make_field_supplied.
std::unique_ptr<FeatureMap> make_supplied(Parameters given, const kernel::Kernel* kernel,
                                          const SuppliedFrequencies& supplied);

}  // namespace mercer::feature
