// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of projections, and what all have in common.
#include "projection/projection.h"

#include <algorithm>
#include <cmath>

#include "base/aligned.h"
#include "base/error.h"

namespace mercer::projection {
namespace {

// In the order in which they are listed.
constexpr const ProjectionEntry* kTable[] = {&kDense,     &kOrthogonal, &kSorf,
                                             &kFastfood,  &kSobol,      &kHalton,
                                             &kCirculant, &kQuadrature, &kSimplex};

bool meets(LawNeed need, const random::Law& law) noexcept {
  switch (need) {
    case LawNeed::isotropic:
      return law.isotropic();
    case LawNeed::product:
      return law.is_product();
    case LawNeed::isotropic_or_product:
      return law.isotropic() || law.is_product();
    case LawNeed::product_or_mixture:
      return law.is_product() || law.is_mixture();
    case LawNeed::normal_mixture:
      return law.isotropic() && !std::isnan(law.scale_quantile(0.5));
    case LawNeed::uniform_direction:
      return law.has_uniform_direction();
    case LawNeed::any:
      break;
  }
  return true;
}

constexpr const char* kNeedTexts[] = {"",
                                      "isotropic",
                                      "a product of its coordinates'",
                                      "isotropic or a product of its coordinates'",
                                      "a product of its coordinates', or a mixture of such",
                                      "a mixture of normal distributions",
                                      "isotropic"};

constexpr const char* kServedLaws[] = {
    "any distribution",
    "isotropic distributions",
    "distributions of independent coordinates",
    "isotropic distributions, and distributions of independent coordinates",
    "distributions of independent coordinates, and their mixtures",
    "isotropic mixtures of normal distributions",
    "isotropic distributions, be they of one number of inputs alone"};

}  // namespace

void Projection::frequencies(int64_t j0, Context& context, MatrixView<double> omega) const {
  constexpr const char* kWhat = "frequencies";
  const BlockShape own = shape(double{});
  const AlignedBuffer<double> unit(own.columns, context, kWhat);
  const AlignedBuffer<double> scratch(own.transpose_scratch, context, kWhat);
  for (double& number : unit) number = 0;
  for (int64_t i = 0; i < omega.rows; ++i) {
    const int64_t block = (j0 + i) / own.columns, within = (j0 + i) % own.columns;
    prepare({block, block + 1}, double{}, context);
    unit[within] = 1;
    std::fill_n(omega.row(i), omega.cols, 0.0);
    project_transpose(unit.data(), block, omega.block_rows(i, i + 1), scratch.data());
    unit[within] = 0;
    for (int64_t k = 0; k < omega.cols; ++k) omega(i, k) /= factor_of(Unit::turns);
    context.checkpoint();
  }
}

const char* served_laws(LawNeed need) noexcept { return kServedLaws[static_cast<int>(need)]; }

bool ProjectionEntry::serves(const random::Law& law) const noexcept { return meets(need, law); }

void ProjectionEntry::check_options(Radius radius, Scramble scramble) const {
  const auto check = [this](bool uses, const auto& choice, auto value) {
    require(uses || value == choice.fallback, MERCER_UNSUPPORTED,
            "%s = %s does not apply to projection = %s", choice.key, choice.word(value), name);
  };
  check(uses_radius, kRadius, radius);
  check(uses_scramble, kScramble, scramble);
}

std::unique_ptr<Projection> ProjectionEntry::make(const ProjectionArguments& arguments) const {
  check_options(arguments.radius, arguments.scramble);
  const random::Law& law = *arguments.law;
  require(serves(law), MERCER_UNSUPPORTED,
          "projection = %s needs a distribution that is %s, which that of %s is not: use dense",
          name, kNeedTexts[static_cast<int>(need)], arguments.subject.c_str());
  require(arguments.radius == Radius::drawn || std::isfinite(law.fixed_radius(arguments.d)),
          MERCER_UNSUPPORTED,
          "radius = fixed needs a distribution whose norm is nearly constant, which that of %s is "
          "not: its norms must be drawn",
          arguments.subject.c_str());
  return maker(arguments);
}

std::span<const ProjectionEntry* const> projection_table() { return kTable; }

const ProjectionEntry& find_projection(std::string_view name) {
  std::vector<const char*> names;
  for (const ProjectionEntry* entry : kTable) {
    if (name == entry->name) return *entry;
    names.push_back(entry->name);
  }
  fail(MERCER_INVALID_ARGUMENT, among(names), "projection = %s, expected one of %s",
       std::string(name).c_str(), quoted_list(names).c_str());
}

}  // namespace mercer::projection
