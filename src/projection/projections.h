// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The projections of random matrices of a given distribution: one entry for each name in specs,
// defined in the file of its projection.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/choice.h"
#include "projection/projection.h"
#include "random/law.h"
#include "random/scramble.h"

namespace mercer::projection {

/// Row norms of structured blocks: drawn from the law, or all equal (laws with a fixed_radius).
enum class Radius { drawn, fixed };
inline constexpr const char* kRadii[] = {"drawn", "fixed"};
inline constexpr Choice<Radius> kRadius{
    "radius", kRadii, "norms of the columns of sorf and fastfood; fixed: normal spectra only"};

/// Randomisation of low-discrepancy points.
using random::Scramble;
inline constexpr const char* kScrambles[] = {"owen", "digital_shift"};
inline constexpr Choice<Scramble> kScramble{"scramble", kScrambles,
                                            "randomisation of sobol and halton points"};

struct ProjectionArguments {
  std::shared_ptr<const random::Law> law;
  std::vector<double>
      lengthscale;  // coordinate k of a column is divided by number k: none, one, or d
  Unit unit;
  int64_t d;
  int64_t F;
  uint64_t seed;
  Radius radius = Radius::drawn;
  Scramble scramble = Scramble::owen;
  std::string subject = "the matrix";  // whose distribution it is, in messages
};

/// What a projection can draw from.
enum class LawNeed {
  any,
  isotropic,
  product,
  isotropic_or_product,
  product_or_mixture,
  normal_mixture  // isotropic, with a scale_quantile
};

/// In words, such as "isotropic laws".
const char* served_laws(LawNeed need) noexcept;

struct ProjectionEntry {
  const char* name;
  const char* help;
  LawNeed need = LawNeed::any;
  bool independent = false;  // the columns
  bool uses_radius = false;
  bool uses_scramble = false;
  /// Columns from a product distribution that is not isotropic are strongly correlated: the
  /// variance of i.i.d. columns does not apply.
  bool product_columns_correlate = false;
  int64_t (*block)(int64_t d) = nullptr;  // size of blocks of dependent columns; null: independent
  /// The weight of column j in an estimate; they add up to 1. Null: 1/F each.
  double (*share)(const ProjectionArguments&, int64_t j) = nullptr;
  /// ||omega_j||^2 of column j at lengthscale 1, without its block; null: only with it.
  double (*squared_norm)(const ProjectionArguments&, int64_t j) = nullptr;
  /// Gets arguments that make() has checked.
  std::unique_ptr<Projection> (*maker)(const ProjectionArguments&) = nullptr;

  /// Whether it can draw from this distribution.
  bool serves(const random::Law& law) const noexcept;
  /// UNSUPPORTED, naming option and projection, where an option that this one does not use has
  /// another value than its default.
  void check_options(Radius radius, Scramble scramble) const;
  /// UNSUPPORTED, too, naming projection and subject, if the distribution is of the wrong kind.
  std::unique_ptr<Projection> make(const ProjectionArguments& arguments) const;
};

std::span<const ProjectionEntry* const> projection_table();
/// The entry of that name; INVALID_ARGUMENT listing the names.
const ProjectionEntry& find_projection(std::string_view name);

// The entries in the order in which they are listed: kNAME is in the file of its name, Sobol' and
// Halton points in low_discrepancy.cpp. A new projection is a line here.
#define MERCER_PROJECTIONS(entry)                                                       \
  entry(Dense) entry(Orthogonal) entry(Sorf) entry(Fastfood) entry(Sobol) entry(Halton) \
      entry(Circulant) entry(Quadrature) entry(Simplex)
// clang-format on
#define MERCER_DECLARE_PROJECTION(Name) extern const ProjectionEntry k##Name;
MERCER_PROJECTIONS(MERCER_DECLARE_PROJECTION)

}  // namespace mercer::projection
