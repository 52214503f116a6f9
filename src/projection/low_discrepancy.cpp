// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Quasi-Monte-Carlo columns (Yang, Sindhwani, Avron, Mahoney, "Quasi-Monte Carlo feature maps for
// shift-invariant kernels", ICML 2014): omega_j is point j of a scrambled sequence, taken
// coordinate by coordinate through the inverse distribution function of the spectral law, over the
// lengthscale. By scrambling every omega_j has exactly the spectral law, so with equal weights the
// estimate is unbiased; the points are spread evenly, so its variance falls faster than 1/F in low
// dimension. Column j is a function of seed and j alone.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/parallel.h"
#include "projection/dense.h"
#include "projection/frequency_scale.h"
#include "projection/projections.h"
#include "random/halton.h"
#include "random/sobol.h"

namespace mercer::projection {
namespace {

constexpr int64_t kTile = 64;  // columns per chunk of work

template <class Points>
class LowDiscrepancyFrequencies final : public FrequencySource {
 public:
  explicit LowDiscrepancyFrequencies(const ProjectionArguments& arguments)
      : law_(arguments.law),
        lengthscale_(arguments.lengthscale),
        points_(arguments.d, arguments.seed, arguments.scramble) {}

  void fill(int64_t j0, Context& context, MatrixView<double> omega) const override {
    const int64_t tiles = (omega.rows + kTile - 1) / kTile;
    parallel_for(context, tiles, [&](int64_t tile, int) noexcept {
      const int64_t begin = tile * kTile, end = std::min(begin + kTile, omega.rows);
      fill_tile(j0 + begin, omega.block_rows(begin, end));
    });
  }

 private:
  void fill_tile(int64_t j0, MatrixView<double> omega) const noexcept {
    std::array<double, kTile> u;
    const std::span coordinates(u.data(), static_cast<size_t>(omega.rows));
    for (int64_t k = 0; k < omega.cols; ++k) {
      points_.fill(k, static_cast<uint64_t>(j0), coordinates);
      for (int64_t i = 0; i < omega.rows; ++i) {
        omega(i, k) = law_->quantile(coordinates[static_cast<size_t>(i)]);
      }
    }
    for (int64_t i = 0; i < omega.rows; ++i) {
      const std::span column(omega.row(i), static_cast<size_t>(omega.cols));
      divide_by_lengthscale(lengthscale_, column);
    }
  }

  std::shared_ptr<const random::Law> law_;
  std::vector<double> lengthscale_;
  Points points_;
};

template <class Points>
std::unique_ptr<Projection> make_low_discrepancy(const ProjectionArguments& arguments,
                                                 const char* name) {
  require(arguments.F <= random::kMostLowDiscrepancyPoints, MERCER_UNSUPPORTED,
          "%lld frequencies, expected at most %lld for projection = %s",
          static_cast<long long>(arguments.F),
          static_cast<long long>(random::kMostLowDiscrepancyPoints), name);
  return make_dense(arguments.d, arguments.F,
                    std::make_unique<LowDiscrepancyFrequencies<Points>>(arguments), arguments.unit);
}

std::unique_ptr<Projection> make_sobol(const ProjectionArguments& arguments) {
  return make_low_discrepancy<random::SobolPoints>(arguments, "sobol");
}

std::unique_ptr<Projection> make_halton(const ProjectionArguments& arguments) {
  return make_low_discrepancy<random::HaltonPoints>(arguments, "halton");
}

}  // namespace

const ProjectionEntry kSobol = {
    .name = "sobol",
    .help =
        "scrambled Sobol' points through the inverse distribution function; laws with "
        "independent coordinates, d <= 1024",
    .need = LawNeed::product,
    .uses_scramble = true,
    .maker = make_sobol,
};

const ProjectionEntry kHalton = {
    .name = "halton",
    .help =
        "scrambled Halton points through the inverse distribution function; laws with "
        "independent coordinates, d <= 6542",
    .need = LawNeed::product,
    .uses_scramble = true,
    .maker = make_halton,
};

}  // namespace mercer::projection
