// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The largest exponent of a row needs all of P, so any slice of columns costs all of P; a few rows
// at a time stay in cache between the two passes. Rows so large that their P, or what structured
// projections add up on the way, may overflow are projected once more after a division by 2^64,
// which is exact; the differences of exponents are then multiplied by it.
#include "feature/stabilized_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "feature/derivatives.h"
#include "feature/moments.h"
#include "feature/row_scales.h"
#include "transform/exponential.h"

namespace mercer::feature {
namespace {

constexpr const char* kExponents = "the exponents of some rows";
// Numbers of P at a time, but not so few rows that threads have nothing to share.
constexpr int64_t kNumbers = int64_t{1} << 18, kLeastStabilized = 64;

class StabilizedMap final : public FeatureMap, private RowScales {
 public:
  StabilizedMap(std::unique_ptr<const FeatureMap> exponents, std::unique_ptr<const FeatureMap> like,
                double scale, double half_norm, bool hyperbolic)
      : FeatureMap(like->inputs(), like->features(), false),
        exponents_(std::move(exponents)),
        like_(std::move(like)),
        scale_(scale),
        half_norm_(half_norm),
        hyperbolic_(hyperbolic) {}

  std::string_view name() const noexcept override { return like_->name(); }
  const kernel::Kernel& kernel() const noexcept override { return like_->kernel(); }
  Parameters parameters() const override {
    Parameters spec = like_->parameters();
    spec.set("stabilize", true);
    return spec;
  }
  int64_t incomplete_block() const override { return like_->incomplete_block(); }
  void prepare(Precision precision, Context& context) const override {
    exponents_->prepare(precision, context);
  }
  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    apply_rows(X, c, context, Z, nullptr);
  }
  const RowScales* row_scales() const noexcept override { return this; }

 private:
  void apply_scaled(const Rows& X, Context& context, const ResultView& Z,
                    std::span<double> logs) const override {
    apply_rows(X, {0, features()}, context, Z, logs.data());
    add_half_norms(kernel(), X, half_norm_, logs);
  }
  const Moments& scaled_moments() const override { return like_->moments(); }
  void pull_scaled_back(MatrixView<const float> X, MatrixView<const float> Z,
                        MatrixView<const float> G, Context& context,
                        MatrixView<float> out) const override {
    pull_exponents_back(X, Z, G, context, out);
  }
  void pull_scaled_back(MatrixView<const double> X, MatrixView<const double> Z,
                        MatrixView<const double> G, Context& context,
                        MatrixView<double> out) const override {
    pull_exponents_back(X, Z, G, context, out);
  }

  /// phi = Z exp(logs) has the slopes phi times those of its exponents.
  template <class T>
  void pull_exponents_back(MatrixView<const T> X, MatrixView<const T> Z, MatrixView<const T> G,
                           Context& context, MatrixView<T> out) const {
    const int64_t F = exponents_->features();
    const Matrix<T> V(X.rows, F, context, kExponents);
    for (int64_t i = 0; i < X.rows; ++i)
      for (int64_t j = 0; j < F; ++j)
        V(i, j) = G(i, j) * Z(i, j) - (hyperbolic_ ? G(i, F + j) * Z(i, F + j) : T{0});
    derivatives_of(*exponents_).pull_back(X, V.view(), context, out);
    add_half_norm_slopes(kernel(), X, half_norm_, Z, G, out);
  }

  /// logs: null, or where the m_i go.
  void apply_rows(const Rows& X, Columns c, Context& context, const ResultView& Z,
                  double* logs) const {
    if (X.rows() == 0 || c.begin == c.end) return;
    X.visit([&](const auto& rows) {
      using T = RowNumberOf<std::remove_cvref_t<decltype(rows)>>;
      apply_chunks<T>(X, c, context, result_of<T>(Z), logs);
    });
  }

  template <class T>
  void apply_chunks(const Rows& X, Columns c, Context& context, MatrixView<T> Z,
                    double* logs) const {
    const int64_t n = X.rows(), F = exponents_->features();
    const int64_t chunk = std::min(n, std::max(kLeastStabilized, kNumbers / F));
    const Matrix<T> P(chunk, F, context, kExponents);
    Stage stage(context, n);
    for (int64_t i0 = 0; i0 < n; i0 += chunk) {
      const int64_t i1 = std::min(i0 + chunk, n);
      const MatrixView<T> exponents = P.view().block_rows(0, i1 - i0);
      stage.share(i1 - i0);
      exponents_->apply(X.block_rows(i0, i1), {0, F}, context, exponents);
      stage.advance(i1 - i0);
      parallel_for(context, i1 - i0, [&](int64_t i, int) noexcept {
        const double most = finish(exponents.row(i), F, c, Z.row(i0 + i));
        if (logs != nullptr) logs[i0 + i] = most;
      });
      for (int64_t i = i0; i < i1; ++i) {
        if (!is_far<T>(X, i)) continue;
        const double most = finish_far<T>(X.block_rows(i, i + 1), c, context, Z.row(i));
        if (logs != nullptr) logs[i] = most;
      }
    }
  }

  template <class T>
  static bool is_far(const Rows& X, int64_t i) {
    constexpr T kFar = std::numeric_limits<T>::max() * static_cast<T>(0x1p-64);
    bool far = false;
    X.visit([&](const auto& rows) {
      using View = std::remove_cvref_t<decltype(rows)>;
      const auto look = [&](auto x) { far = far || std::fabs(x) > kFar; };
      if constexpr (kIsSparse<View>) {
        for (int64_t p = rows.begin(i); p < rows.end(i); ++p) look(rows.values[p]);
      } else {
        std::for_each_n(rows.row(i), rows.cols, look);
      }
    });
    return far;
  }

  /// NaN stays NaN. Returns the largest exponent, as finish does.
  template <class T>
  double finish_far(const Rows& X, Columns c, Context& context, T* z) const {
    const int64_t F = exponents_->features();
    const Matrix<T> x(1, X.cols()), P(1, F);
    x.fill(T{0});
    X.visit([&](const auto& row) {
      using View = std::remove_cvref_t<decltype(row)>;
      if constexpr (kIsSparse<View>) {
        if constexpr (std::is_same_v<RowNumberOf<View>, T>) add_row(row, 0, x.data());
      } else {
        std::copy_n(row.row(0), row.cols, x.data());
      }
    });
    constexpr T kDown = static_cast<T>(0x1p-64), kUp = static_cast<T>(0x1p64);
    for (int64_t k = 0; k < x.cols(); ++k) x(0, k) *= kDown;
    exponents_->apply(MatrixView<const T>(x.view()), {0, F}, context, P.view());
    const T most = most_of(P.data(), F);
    if (!std::isfinite(most)) return kNaN;
    const auto exponent = [&](int64_t j) {
      return std::max((j < F ? P(0, j) : -P(0, j - F)) - most,
                      -std::numeric_limits<T>::max() * kDown) *
             kUp;
    };
    for (int64_t j = c.begin; j < c.end; ++j) z[j - c.begin] = exponent(j);
    transform::exp_row(z, c.end - c.begin, T{1}, T{0}, static_cast<T>(scale_), z);
    return static_cast<double>(most) * 0x1p64;
  }

  template <class T>
  T most_of(const T* P, int64_t F) const noexcept {
    return hyperbolic_ ? transform::largest_magnitude(P, F) : transform::largest(P, F);
  }

  template <class T>
  double finish(const T* P, int64_t F, Columns c, T* z) const noexcept {
    const T most = most_of(P, F);
    // A row with a NaN or infinity has no largest exponent.
    if (!std::isfinite(most)) {
      std::fill_n(z, c.end - c.begin, std::numeric_limits<T>::quiet_NaN());
      return kNaN;
    }
    const auto scale = static_cast<T>(scale_);
    const int64_t plus = std::clamp(F, c.begin, c.end);
    if (plus > c.begin) transform::exp_row(P + c.begin, plus - c.begin, T{1}, most, scale, z);
    if (c.end > plus)
      transform::exp_row(P + plus - F, c.end - plus, T{-1}, most, scale, z + plus - c.begin);
    return static_cast<double>(most);
  }

  std::unique_ptr<const FeatureMap> exponents_;
  std::unique_ptr<const FeatureMap> like_;
  double scale_, half_norm_;
  bool hyperbolic_;
};

}  // namespace

std::unique_ptr<FeatureMap> make_stabilized(std::unique_ptr<const FeatureMap> exponents,
                                            std::unique_ptr<const FeatureMap> like, double scale,
                                            double half_norm, bool hyperbolic) {
  return std::make_unique<StabilizedMap>(std::move(exponents), std::move(like), scale, half_norm,
                                         hyperbolic);
}

void add_half_norms(const kernel::Kernel& kernel, const Rows& X, double factor,
                    std::span<double> logs) {
  const std::span<const double> l = kernel.lengthscale();
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      double square = 0;
      for_each_listed(rows, i, [&](int64_t j, auto x) {
        const double u = static_cast<double>(x) / l[l.size() > 1 ? static_cast<size_t>(j) : 0];
        square += u * u;
      });
      logs[i] += factor == 0 ? 0 : factor * square / 2;
    }
  });
}

template <class T>
void add_half_norm_slopes(const kernel::Kernel& kernel, MatrixView<const T> X, double factor,
                          MatrixView<const T> Z, MatrixView<const T> G, MatrixView<T> out) {
  const std::span<const double> l = kernel.lengthscale();
  for (int64_t i = 0; i < X.rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < Z.cols; ++j) sum += static_cast<double>(G(i, j)) * Z(i, j);
    for (int64_t k = 0; k < X.cols; ++k) {
      const double scale = l[l.size() > 1 ? static_cast<size_t>(k) : 0];
      out(i, k) += static_cast<T>(factor * static_cast<double>(X(i, k)) / (scale * scale) * sum);
    }
  }
}

template void add_half_norm_slopes(const kernel::Kernel&, MatrixView<const float>, double,
                                   MatrixView<const float>, MatrixView<const float>,
                                   MatrixView<float>);
template void add_half_norm_slopes(const kernel::Kernel&, MatrixView<const double>, double,
                                   MatrixView<const double>, MatrixView<const double>,
                                   MatrixView<double>);

}  // namespace mercer::feature
