// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourier features of frequencies that the caller supplies, each with a weight.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/float_environment.h"
#include "feature/fourier_parts.h"
#include "projection/dense.h"

namespace mercer::feature {
namespace {

// F x d.
class FrequencyTable final : public projection::FrequencySource {
 public:
  explicit FrequencyTable(Matrix<double> frequencies) : frequencies_(std::move(frequencies)) {}
  void fill(int64_t j0, Context&, MatrixView<double> omega) const override {
    std::copy_n(frequencies_.view().row(j0), omega.rows * omega.cols, omega.data);
  }

 private:
  Matrix<double> frequencies_;
};

void check_unused(const FourierOptions& options, const char* by) {
  require(options.radius == projection::Radius::drawn &&
              options.scramble == projection::Scramble::owen && !options.whole_blocks,
          MERCER_UNSUPPORTED, "radius, scramble and whole_blocks do not apply to %s", by);
}

void check_supplied(const kernel::Kernel& kernel, int64_t d, int64_t F,
                    std::span<const double> weights, const FourierOptions& options) {
  require(F >= 1, MERCER_INVALID_ARGUMENT, "F = %ld frequencies, expected at least 1", F);
  const int64_t most =
      options.form == FourierForm::pair ? kMostFourierColumns / 2 : kMostFourierColumns;
  require(F <= most, MERCER_INVALID_ARGUMENT, "F = %ld frequencies, expected at most %ld", F, most);
  check_fourier_sizes(kernel, d, F);
  check_unused(options, "supplied frequencies");
  for (size_t j = 0; j < weights.size(); ++j) {
    require(weights[j] >= 0 && std::isfinite(weights[j]), MERCER_INVALID_ARGUMENT,
            "weights[%zu] = %g, expected a finite number >= 0", j, weights[j]);
  }
}

}  // namespace

std::unique_ptr<FeatureMap> make_fourier_supplied(const kernel::Kernel& kernel,
                                                  MatrixView<const double> frequencies,
                                                  std::span<const double> weights,
                                                  const FourierOptions& options) {
  const int64_t F = frequencies.rows;
  check_supplied(kernel, frequencies.cols, F, weights, options);
  const StandardRounding rounding;
  Matrix<double> copy(F, frequencies.cols);
  for (int64_t j = 0; j < F; ++j) {
    for (int64_t k = 0; k < frequencies.cols; ++k) {
      const double omega = frequencies(j, k);
      require(std::isfinite(omega), MERCER_INVALID_ARGUMENT,
              "frequencies[%ld, %ld] = %g, expected a finite number", j, k, omega);
      copy(j, k) = omega;
    }
  }
  std::vector<double> shares(weights.begin(), weights.end());
  if (shares.empty()) shares.assign(F, 1.0 / static_cast<double>(F));
  FourierOptions supplied;
  supplied.form = options.form;
  supplied.seed = options.seed;
  supplied.projection = kSupplied;
  return make_fourier_map({kernel.copy(), supplied, frequencies.cols, F,
                           std::make_shared<const FrequencyTable>(std::move(copy)), shares});
}

std::unique_ptr<FeatureMap> make_fourier_on_grid(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                                 const FourierOptions& options,
                                                 GridRequest request) {
  require(options.form == FourierForm::pair, MERCER_UNSUPPORTED,
          "form = %s of projection = grid, expected pair: half of a grid, whose other half are its "
          "mirror images",
          kFourierForm.word(options.form));
  check_unused(options, "projection = grid");
  require(!kernel.stand_in(d), MERCER_UNSUPPORTED,
          "projection = grid of kernel %s, whose frequencies are fitted, expected another "
          "projection",
          std::string(kernel.name()).c_str());
  const int64_t F = fourier_frequencies(D, options.form);
  check_fourier_sizes(kernel, d, F);
  kernel.check_dimension(d);
  const StandardRounding rounding;
  const auto grid = std::make_shared<const FrequencyGrid>(kernel.copy(), d, F, std::move(request));
  return make_fourier_map({kernel.copy(),
                           options,
                           d,
                           grid->count(),
                           grid,
                           {grid->weights().begin(), grid->weights().end()},
                           {},
                           grid});
}

std::unique_ptr<FeatureMap> make_fourier_from(
    const kernel::Kernel& kernel, int64_t d, int64_t F,
    std::shared_ptr<const projection::FrequencySource> source) {
  check_fourier_sizes(kernel, d, F);
  FourierOptions options;
  options.projection = kSupplied;
  return make_fourier_map({kernel.copy(), options, d, F, std::move(source), {}});
}

}  // namespace mercer::feature
