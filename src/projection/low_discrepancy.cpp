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
#include <cmath>
#include <string>

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
      : kernel_(arguments.kernel), points_(arguments.d, arguments.seed, arguments.scramble) {}

  void fill(int64_t j0, Context& context, MatrixView<double> omega) const override {
    const int64_t tiles = (omega.rows + kTile - 1) / kTile;
    parallel_for(context, tiles, [&](int64_t tile, int) noexcept {
      const int64_t begin = tile * kTile, end = std::min(begin + kTile, omega.rows);
      fill_tile(j0 + begin, omega.block_rows(begin, end));
    });
  }

 private:
  void fill_tile(int64_t j0, MatrixView<double> omega) const noexcept {
    const kernel::SpectralLaw& law = *kernel_->spectral_law();
    std::array<double, kTile> u;
    const std::span coordinates(u.data(), static_cast<size_t>(omega.rows));
    for (int64_t k = 0; k < omega.cols; ++k) {
      points_.fill(k, static_cast<uint64_t>(j0), coordinates);
      for (int64_t i = 0; i < omega.rows; ++i) {
        omega(i, k) = law.quantile(coordinates[static_cast<size_t>(i)]);
      }
    }
    for (int64_t i = 0; i < omega.rows; ++i) {
      const std::span column(omega.row(i), static_cast<size_t>(omega.cols));
      divide_by_lengthscale(kernel_->lengthscale(), column);
    }
  }

  std::shared_ptr<const kernel::Kernel> kernel_;
  Points points_;
};

template <class Points>
std::unique_ptr<Projection> make(const ProjectionArguments& arguments, const char* name) {
  const kernel::SpectralLaw* law = arguments.kernel->spectral_law();
  require(
      law != nullptr && law->is_product() && std::isfinite(law->quantile(0.25)), MERCER_UNSUPPORTED,
      "projection = %s needs a spectral law with independent coordinates, which kernel %s has not",
      name, std::string(arguments.kernel->name()).c_str());
  require(arguments.F <= random::kMostLowDiscrepancyPoints, MERCER_UNSUPPORTED,
          "%lld frequencies, expected at most %lld for projection = %s",
          static_cast<long long>(arguments.F),
          static_cast<long long>(random::kMostLowDiscrepancyPoints), name);
  return make_dense(arguments.d, arguments.F,
                    std::make_unique<LowDiscrepancyFrequencies<Points>>(arguments));
}

}  // namespace

std::unique_ptr<Projection> make_sobol(const ProjectionArguments& arguments) {
  return make<random::SobolPoints>(arguments, "sobol");
}

std::unique_ptr<Projection> make_halton(const ProjectionArguments& arguments) {
  return make<random::HaltonPoints>(arguments, "halton");
}

}  // namespace mercer::projection
