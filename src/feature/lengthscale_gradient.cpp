// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/lengthscale_gradient.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "feature/derivatives.h"

namespace mercer::feature {
namespace {

// Rows pulled back at a time: enough for every thread to have work.
constexpr int64_t kGradientRows = 2048;

// For features of x/l.
template <class T>
void pull_back_by_inputs(const FeatureMap& map, MatrixView<const T> X, MatrixView<const T> G,
                         Context& context, std::span<double> each) {
  const Matrix<T> pulled(std::min(X.rows, kGradientRows), X.cols, context,
                         "derivatives in the inputs");
  std::vector<double> part(each.size());
  Stage stage(context, X.rows);
  for (int64_t i0 = 0; i0 < X.rows; i0 += kGradientRows) {
    const int64_t i1 = std::min(i0 + kGradientRows, X.rows);
    const MatrixView<T> out = pulled.view().block_rows(0, i1 - i0);
    stage.share(i1 - i0);
    derivatives_of(map).pull_back(X.block_rows(i0, i1), G.block_rows(i0, i1), context, out);
    log_lengthscale_gradient<T>(X.block_rows(i0, i1), out, part);
    for (size_t k = 0; k < each.size(); ++k) each[k] += part[k];
    stage.advance(i1 - i0);
    context.checkpoint();
  }
}

}  // namespace

int64_t lengthscale_count(const FeatureMap& map) {
  const std::span<const double> lengthscale = map.kernel().lengthscale();
  if (const LengthscaleSlopes* const own = map.lengthscale_slopes()) {
    own->require_lengthscale_slopes();
    return std::ssize(lengthscale);
  }
  const std::string name(map.name());
  require(!lengthscale.empty() && map.numbers().empty(), MERCER_UNSUPPORTED,
          "map %s of kernel %s has no derivatives in a lengthscale, expected a kernel with a "
          "lengthscale of its own%s",
          name.c_str(), std::string(map.kernel().name()).c_str(),
          map.numbers().empty() ? "" : " and features that are not made of given numbers");
  require(map.is_of_scaled_inputs(), MERCER_UNSUPPORTED,
          "the features of map %s have no derivative in the lengthscale: what is drawn depends on "
          "it, expected a map of features of x/l",
          name.c_str());
  return std::ssize(lengthscale);
}

template <class T>
void pull_back_to_lengthscale(const FeatureMap& map, MatrixView<const T> X, MatrixView<const T> G,
                              Context& context, std::span<double> gradient) {
  require(std::ssize(gradient) == lengthscale_count(map), MERCER_DIMENSION_MISMATCH,
          "%zu derivatives, expected one for each lengthscale", gradient.size());
  std::vector<double> sum(map.inputs());
  if (const LengthscaleSlopes* const own = map.lengthscale_slopes()) {
    own->pull_back_to_lengthscale(X, G, context, sum);
  } else {
    pull_back_by_inputs(map, X, G, context, sum);
  }
  if (gradient.size() == 1) sum = {std::accumulate(sum.begin(), sum.end(), 0.0)};
  std::ranges::copy(sum, gradient.begin());
}

template void pull_back_to_lengthscale(const FeatureMap&, MatrixView<const float>,
                                       MatrixView<const float>, Context&, std::span<double>);
template void pull_back_to_lengthscale(const FeatureMap&, MatrixView<const double>,
                                       MatrixView<const double>, Context&, std::span<double>);

}  // namespace mercer::feature
