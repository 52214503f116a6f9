// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/derivatives.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/size.h"
#include "feature/feature_map.h"

namespace mercer::feature {
namespace {

// Features of a kernel (gamma x'y + offset)^p are homogeneous of degree p in the row
// (sqrt(gamma) x, sqrt(offset)), so that by Euler's theorem, with s = sum_k x_k dz/dx_k,
//   dz / d log gamma = s / 2, dz / d log offset = (p z - s) / 2.

// Rows pulled back at a time: enough for every thread to have work.
constexpr int64_t kGradientRows = 2048;

bool is_polynomial(const FeatureMap& map) {
  return map.kernel().traits().inner_power.has_value() &&
         map.kernel().parameters().find("gamma") != nullptr && map.numbers().empty();
}

/// body(i0, i1) for blocks of rows.
template <class Body>
void for_each_block(int64_t rows, Context& context, const Body& body) {
  Stage stage(context, rows);
  for (int64_t i0 = 0; i0 < rows; i0 += kGradientRows) {
    const int64_t i1 = std::min(i0 + kGradientRows, rows);
    stage.share(i1 - i0);
    body(i0, i1);
    stage.advance(i1 - i0);
    context.checkpoint();
  }
}

// Derivatives in log lengthscales, for features of x/l.
template <class T>
void pull_back_by_inputs(const FeatureMap& map, MatrixView<const T> X, MatrixView<const T> G,
                         Context& context, std::span<double> each) {
  const Matrix<T> pulled(std::min(X.rows, kGradientRows), X.cols, context,
                         "derivatives in the inputs");
  std::vector<double> part(each.size());
  for_each_block(X.rows, context, [&](int64_t i0, int64_t i1) {
    const MatrixView<T> out = pulled.view().block_rows(0, i1 - i0);
    derivatives_of(map).pull_back(X.block_rows(i0, i1), G.block_rows(i0, i1), context, out);
    log_lengthscale_gradient<T>(X.block_rows(i0, i1), out, part);
    for (size_t k = 0; k < each.size(); ++k) each[k] += part[k];
  });
}

/// The sum of G times the features.
template <class T>
double product_with_features(const FeatureMap& map, MatrixView<const T> X, MatrixView<const T> G,
                             Context& context) {
  const Matrix<T> features(std::min(X.rows, kGradientRows), map.row_length(), context,
                           "features to differentiate");
  double sum = 0;
  for_each_block(X.rows, context, [&](int64_t i0, int64_t i1) {
    const MatrixView<T> Z = features.view().block_rows(0, i1 - i0);
    map.apply(X.block_rows(i0, i1), {0, map.features()}, context, Z);
    for (int64_t i = i0; i < i1; ++i)
      for (int64_t j = 0; j < Z.cols; ++j)
        sum += static_cast<double>(G(i, j)) * static_cast<double>(Z(i - i0, j));
  });
  return sum;
}

/// Derivatives in log gamma and log offset. along: the sum over rows and inputs of x_k dL/dx_k.
template <class T>
void finish_polynomial(const FeatureMap& map, MatrixView<const T> X, MatrixView<const T> G,
                       Context& context, double along, std::span<double> gradient) {
  const kernel::InnerPower power = *map.kernel().traits().inner_power;
  gradient[0] = along / 2;
  gradient[1] = 0;
  if (power.offset == 0) return;
  const double all = static_cast<double>(power.degree) * product_with_features(map, X, G, context);
  gradient[1] = (all - along) / 2;
}

}  // namespace

std::vector<std::vector<MultiIndex>> partials_of(const Derivative& what, int64_t d) {
  using Kind = Derivative::Kind;
  std::vector<std::vector<MultiIndex>> blocks;
  for (const MultiIndex& p : what.partials) blocks.push_back({p});
  if (what.kind == Kind::laplacian) blocks.emplace_back();
  for (int64_t k = 0; k < d && what.kind != Kind::partials; ++k) {
    if (what.kind != Kind::laplacian) blocks.emplace_back();
    blocks.back().push_back({{k, what.kind == Kind::gradient ? 1 : 2}});
  }
  return blocks;
}

const Derivatives& derivatives_of(const FeatureMap& map) {
  const Derivatives* const own = map.derivatives();
  if (own != nullptr) return *own;
  fail(MERCER_UNSUPPORTED,
       "map %s of kernel %s has no derivatives in its inputs, expected one of fourier, linear, "
       "positive (not stabilized), laplace, sketches, anova, poisson, additive, exact_polynomial, "
       "nystroem and exact (of a kernel that has derivatives), arc_cosine of order 1 or 2, optical "
       "without bits, and sums and products of these",
       std::string(map.name()).c_str(), std::string(map.kernel().name()).c_str());
}

template <class T>
void check_vectors(const FeatureMap& map, MatrixView<const T> X, MatrixView<const T> vectors,
                   int64_t cols, MatrixView<T> out, int64_t out_cols) {
  derivatives_of(map);
  require(X.cols == map.inputs() && vectors.cols == cols && out.cols == out_cols &&
              vectors.rows == X.rows && out.rows == X.rows,
          MERCER_DIMENSION_MISMATCH,
          "X %ld x %ld, its vectors %ld x %ld, out %ld x %ld, expected as many rows each, "
          "%ld inputs, %ld numbers of a vector and %ld of out",
          X.rows, X.cols, vectors.rows, vectors.cols, out.rows, out.cols, map.inputs(), cols,
          out_cols);
}

template <class T>
void check_derivative(const FeatureMap& map, const Derivative& what, MatrixView<const T> X,
                      MatrixView<T> out) {
  check_vectors(map, X, X, map.inputs(), out,
                checked_multiply(what.blocks(map.inputs()), map.row_length(), "derivatives"));
  const int64_t most = derivatives_of(map).most_order();
  require(what.highest() <= most, MERCER_UNSUPPORTED,
          "derivatives of order %ld of map %s of kernel %s, expected up to %ld", what.highest(),
          std::string(map.name()).c_str(), std::string(map.kernel().name()).c_str(), most);
}

template <class T>
void spread_nan(MatrixView<const T> X, MatrixView<T> out) noexcept {
  for (int64_t i = 0; i < X.rows; ++i) {
    const T* const x = X.row(i);
    bool any = false;
    for (int64_t k = 0; k < X.cols; ++k) any |= x[k] != x[k];
    if (any) std::fill_n(out.row(i), out.cols, std::numeric_limits<T>::quiet_NaN());
  }
}

#define MERCER_INSTANTIATE(T)                                                               \
  template void spread_nan(MatrixView<const T>, MatrixView<T>) noexcept;                    \
  template void check_vectors(const FeatureMap&, MatrixView<const T>, MatrixView<const T>,  \
                              int64_t, MatrixView<T>, int64_t);                             \
  template void check_derivative(const FeatureMap&, const Derivative&, MatrixView<const T>, \
                                 MatrixView<T>);
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

int64_t log_parameter_count(const FeatureMap& map) {
  const std::span<const double> lengthscale = map.kernel().lengthscale();
  if (const LengthscaleSlopes* const own = dynamic_cast<const LengthscaleSlopes*>(&map)) {
    own->require_lengthscale_slopes();
    return std::ssize(lengthscale);
  }
  if (is_polynomial(map)) {
    derivatives_of(map);
    return 2;
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
void pull_back_to_log_parameters(const FeatureMap& map, MatrixView<const T> X,
                                 MatrixView<const T> G, Context& context,
                                 std::span<double> gradient) {
  require(std::ssize(gradient) == log_parameter_count(map), MERCER_DIMENSION_MISMATCH,
          "%zu derivatives, expected one for each lengthscale, or two of a polynomial kernel",
          gradient.size());
  std::vector<double> sum(map.inputs());
  if (const LengthscaleSlopes* const own = dynamic_cast<const LengthscaleSlopes*>(&map)) {
    own->pull_back_to_lengthscale(X, G, context, sum);
  } else {
    pull_back_by_inputs(map, X, G, context, sum);
  }
  const double total = std::accumulate(sum.begin(), sum.end(), 0.0);
  if (is_polynomial(map)) return finish_polynomial(map, X, G, context, -total, gradient);
  if (gradient.size() == 1) sum = {total};
  std::ranges::copy(sum, gradient.begin());
}

template void pull_back_to_log_parameters(const FeatureMap&, MatrixView<const float>,
                                          MatrixView<const float>, Context&, std::span<double>);
template void pull_back_to_log_parameters(const FeatureMap&, MatrixView<const double>,
                                          MatrixView<const double>, Context&, std::span<double>);

}  // namespace mercer::feature
