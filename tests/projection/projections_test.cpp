// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table: which laws and options each projection takes, units, blocks that are drawn alone.
#include "projection/projection.h"

#include "columns_of.h"
#include "projection/srht.h"
#include "support/refusal.h"

namespace projections_test {
using namespace mercer;
using namespace mercer::test;
using namespace mercer::projection;

struct LawCase {
  const char* name;
  std::shared_ptr<const random::Law> law;
};

std::shared_ptr<const random::Law> law_of(std::shared_ptr<const kernel::Kernel> kernel) {
  return {kernel, kernel->spectral_law()};
}

std::vector<LawCase> law_cases() {
  return {{"normal", random::normal_law()},
          {"signs", random::sign_law()},
          {"matern", law_of(kernel::make_matern(1.5, {1.0}, 1.0))},
          {"rational quadratic", law_of(kernel::make_rational_quadratic(1.0, {1.0}, 1.0))},
          {"laplacian", law_of(kernel::make_laplacian({1.0}, 1.0))}};
}

// Isotropic ones here are mixtures of normal distributions.
bool takes(LawNeed need, const random::Law& law) {
  if (need == LawNeed::normal_mixture) return law.isotropic();
  return need == LawNeed::any || (need != LawNeed::product && law.isotropic()) ||
         (need != LawNeed::isotropic && law.is_product());
}

ProjectionArguments plain(const LawCase& of, int64_t d, int64_t F) {
  return {of.law, {}, Unit::plain, d, F, 9, Radius::drawn, Scramble::owen, of.name};
}

/// Those of the table that this build can make.
std::vector<const ProjectionEntry*> entries() {
  std::vector<const ProjectionEntry*> all;
  for (const ProjectionEntry* entry : projection_table()) {
    const auto make = [&] { entry->make(plain({"normal", random::normal_law()}, 5, 40)); };
    if (refusal_fault(MERCER_UNSUPPORTED, make, "FFTW") != "") all.push_back(entry);
  }
  return all;
}

TEST_CASE("projections: every law is drawn from or refused by what the entry needs") {
  for (const ProjectionEntry* entry : entries()) {
    for (const LawCase& of : law_cases()) {
      INFO(entry->name << ", " << of.name);
      const auto make = [&] { entry->make(plain(of, 5, 40)); };
      if (takes(entry->need, *of.law)) {
        CHECK_NOTHROW(make());
        continue;
      }
      CHECK_REFUSED(MERCER_UNSUPPORTED, make(), of.name, entry->name);
    }
  }
}

TEST_CASE("projections: options that a projection does not use are refused") {
  for (const ProjectionEntry* entry : entries()) {
    INFO(entry->name);
    ProjectionArguments arguments = plain({"normal", random::normal_law()}, 5, 40);
    arguments.radius = Radius::fixed;
    const auto make = [&] { entry->make(arguments); };
    if (entry->uses_radius) {
      CHECK_NOTHROW(make());
    } else {
      CHECK_REFUSED(MERCER_UNSUPPORTED, make(), "radius = fixed", entry->name);
    }
    arguments.radius = Radius::drawn;
    arguments.scramble = Scramble::digital_shift;
    if (entry->uses_scramble) {
      CHECK_NOTHROW(make());
    } else {
      CHECK_REFUSED(MERCER_UNSUPPORTED, make(), "scramble", entry->name);
    }
  }
}

TEST_CASE("projections: fixed radii are for laws that have one") {
  for (const ProjectionEntry* entry : entries()) {
    if (!entry->uses_radius) continue;
    for (const LawCase& of : law_cases()) {
      if (!takes(entry->need, *of.law)) continue;
      INFO(entry->name << ", " << of.name);
      ProjectionArguments arguments = plain(of, 16, 32);
      arguments.radius = Radius::fixed;
      if (std::isnan(of.law->fixed_radius(16))) {
        CHECK_REFUSED(MERCER_UNSUPPORTED, entry->make(arguments), "radius = fixed", of.name);
        continue;
      }
      const Matrix<double> W = columns_of(*entry->make(arguments));
      for (int64_t j = 0; j < 32; ++j) {
        double squares = 0;
        for (int64_t k = 0; k < 16; ++k) squares += W(j, k) * W(j, k);
        CHECK(std::sqrt(squares) == Approx(of.law->fixed_radius(16)).epsilon(1e-13));
      }
    }
  }
}

TEST_CASE("projections: plain columns are 2 pi times those in turns") {
  for (const ProjectionEntry* entry : entries()) {
    ProjectionArguments arguments = plain({"normal", random::normal_law()}, 20, 70);
    arguments.lengthscale = {0.7};
    const Matrix<double> radians = columns_of(*entry->make(arguments));
    arguments.unit = Unit::turns;
    const Matrix<double> turns = columns_of(*entry->make(arguments));
    double worst = 0;
    for (int64_t i = 0; i < 70 * 20; ++i) {
      worst =
          std::max(worst, std::abs(radians.data()[i] / 6.28318530717958647693 - turns.data()[i]));
    }
    INFO(entry->name);
    CHECK(worst < 1e-13);
  }
}

TEST_CASE("projections: a range of blocks is what it is in the whole") {
  constexpr int64_t d = 21, F = 5000;
  Context context;
  const auto check = [&](const char* name, auto make) {
    INFO(name);
    const Matrix<double> all = columns_of(*make());
    for (const auto& [j0, j1] : {std::pair<int64_t, int64_t>{0, 1}, {1700, 1701}, {4900, F}}) {
      const Matrix<double> some = columns_of<double>(*make(), j0, j1, context);
      CHECK(same_rows(all, some, j0, j1));
    }
  };
  for (const ProjectionEntry* entry : entries()) {
    check(entry->name, [&] { return entry->make(plain({"normal", random::normal_law()}, d, F)); });
  }
  check("srht", [] { return make_srht(d, F, 9); });
}

}  // namespace projections_test
