// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Positive features of exp(x'y / l^2) and, with its radial factors, of the Gaussian kernel: with u
// = x/l, P = u'W, W normal, and g = 1 for the Gaussian, else 0,
//   exp            D^{-1/2} exp(P - (1 + g) ||u||^2 / 2)
//   hyperbolic     D^{-1/2} [exp(P) | exp(-P)] exp(-(1 + g) ||u||^2 / 2)
//   trigonometric  F^{-1/2} [cos(P) | sin(P)] exp((1 - g) ||u||^2 / 2), which is not positive
// times the root of the variance, the first with a tilt A < 1/8 also
//   (1 - 4 A)^{d/4} exp(A ||w||^2 + sqrt(1 - 4 A) P - (1 + g) ||u||^2 / 2),
// of the same mean and, at the best A < 0, far less variance (Likhosherstov, Choromanski, Dubey,
// Liu, Sarlos, Weller, "Chefs' random tables", NeurIPS 2022, theorem 3.2; Choromanski et al.,
// "Rethinking attention with performers", ICLR 2021, lemmas 1 and 2). Far from the origin all
// features of the first two forms underflow: `stabilize` divides a row by its largest exponential,
// which keeps ratios within the row. Features of the third form grow for the kernel exponential;
// `stabilize` leaves out that factor, which gives Fourier features of the Gaussian with the
// kernel's variance.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/gaussian_map.h"
#include "kernel/entry.h"
#include "transform/exponential_epilogue.h"

namespace mercer::feature {
namespace {

// With t = x + y and normal w, E exp(w't) = exp(||t||^2 / 2): the estimate of one column is k
// exp(w't - ||t||^2 / 2), whose square has the mean k^2 exp(||t||^2) (Choromanski et al., ICLR
// 2021, lemma 2); that of a pair of columns is k cosh(w't) exp(-||t||^2 / 2), with cosh^2 = (1 +
// cosh(2 w't)) / 2. The trigonometric one is the same with t = i (x - y). Products of k^2 and
// exponentials are made of logarithms: one factor may overflow where the other vanishes.

// 4 k^2 sinh^2(r / 2) = k^2 exp(r) (1 - exp(-r))^2, of the logarithm of k^2.
double squared_sinh(double log_square, double r, int64_t D) noexcept {
  const double rest = std::expm1(-r);
  return std::exp(log_square + r) * rest * rest / static_cast<double>(D);
}

// Exponentials of a row of P, divided by the largest of them.

// The largest exponent of a row needs all of P, so any slice of columns costs all of P; a few rows
// at a time stay in cache between the two passes. Rows so large that their P, or what structured
// projections add up on the way, may overflow are projected once more after a division by 2^64,
// which is exact; the differences of exponents are then multiplied by it.
constexpr const char* kExponents = "the exponents of some rows";
// logs[i] += factor ||x_i / l||^2 / 2, l the kernel's lengthscale.
void add_half_norms(const kernel::Kernel& kernel, const Rows& X, double factor,
                    std::span<double> logs) {
  const std::span<const double> l = kernel.lengthscale();
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      double square = 0;
      for_each_stored(rows, i, [&](int64_t j, auto x) {
        const double u = static_cast<double>(x) / l[l.size() > 1 ? static_cast<size_t>(j) : 0];
        square += u * u;
      });
      logs[i] += factor == 0 ? 0 : factor * square / 2;
    }
  });
}

// Their derivative: out(i, k) += factor X(i, k) / l_k^2 sum_j G(i, j) Z(i, j).
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

// Z_ij = scale exp(P_ij - m_i), m_i the largest of the row, P the features of `exponents`;
// `hyperbolic`: [exp(P - m) | exp(-P - m)]. Ratios within a row are those of exp(P), and its
// largest column is `scale`. `like`: the map of the same columns without the division; name,
// kernel and parameters are its own, except for "stabilize". Its columns are exp(m_i + half_norm
// ||x_i / l||^2 / 2) Z.
std::unique_ptr<FeatureMap> make_stabilized(std::unique_ptr<const FeatureMap> exponents,
                                            std::unique_ptr<const FeatureMap> like, double scale,
                                            double half_norm, bool hyperbolic) {
  return std::make_unique<StabilizedMap>(std::move(exponents), std::move(like), scale, half_norm,
                                         hyperbolic);
}

constexpr double kLeastTilt = -100;

enum class PositiveForm { exp, hyperbolic, trigonometric };
constexpr const char* kFormWords[] = {"exp", "hyperbolic", "trigonometric"};
constexpr Choice<PositiveForm> kForm{
    "form", kFormWords,
    "exp(w'x); hyperbolic: also exp(-w'x); trigonometric: cos and sin; "
    "the last two take an even number of features"};
constexpr decltype(&transform::exp_epilogue) kEpilogues[] = {
    transform::exp_epilogue, transform::hyperbolic_epilogue, transform::grown_pair_epilogue};

std::unique_ptr<const transform::Epilogue> make_form(const GaussianDraw& draw, PositiveForm form) {
  return draw.tilt != 0 ? transform::tilted_epilogue() : kEpilogues[static_cast<int>(form)]();
}

double scale_of(const GaussianDraw& draw, PositiveForm form) {
  const double columns = static_cast<double>(draw.F) * (form == PositiveForm::hyperbolic ? 2 : 1);
  return std::sqrt(draw.kernel->variance() / columns);
}

std::shared_ptr<const transform::RowPrologue> make_norms(const GaussianDraw& draw,
                                                         PositiveForm form, bool stabilize) {
  const std::span<const double> l = draw.kernel->lengthscale();
  const double radial = draw.kernel->series()->radial();
  const bool grown = form == PositiveForm::trigonometric;
  const double factor = !grown ? 1 + radial : stabilize ? 0 : 1 - radial;
  return transform::half_norm_prologue({l.begin(), l.end()}, factor, grown);
}

/// The factor f in the part f ||x / l||^2 / 2 of the logarithms of a row's features.
double half_norm_factor(const kernel::Kernel& kernel, PositiveForm form) {
  const double radial = kernel.series()->radial();
  return form == PositiveForm::trigonometric ? 1 - radial : -(1 + radial);
}

class Positive final : public GaussianMap, private RowScales {
 public:
  /// stabilize: for the trigonometric form only.
  Positive(const GaussianDraw& draw, PositiveForm form, bool stabilize)
      : GaussianMap(draw, make_form(draw, form), scale_of(draw, form),
                    make_norms(draw, form, stabilize)),
        form_(form),
        stabilize_(stabilize),
        tilt_(draw.tilt) {}
  std::string_view name() const noexcept override { return "positive"; }
  ColumnForm column_form() const noexcept override {
    return form_ == PositiveForm::trigonometric ? ColumnForm::joint : GaussianMap::column_form();
  }
  // The stabilised trigonometric features leave out a factor that is known.
  const RowScales* row_scales() const noexcept override { return stabilize_ ? this : nullptr; }
  std::optional<double> covariance_at(const double* x, const double* y,
                                      const double* z) const override {
    const ExponentialTriple at = triple_of(x, y, z);
    return form_ == PositiveForm::exp ? tilted_covariance(at, inputs(), tilt_, features())
                                      : paired_covariance(at, features());
  }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    if (form_ != PositiveForm::exp) return std::nullopt;
    return independent_columns(*this, x, y);
  }

 private:
  void add_parameters(Parameters& spec) const override {
    kForm.write(spec, form_);
    spec.set("stabilize", stabilize_);
    spec.set("tilt", tilt_);
  }

  double variance_at(const double* x, const double* y) const override {
    require(!stabilize_, MERCER_UNSUPPORTED,
            "the variance of map positive with stabilize = true has no closed form: it estimates "
            "no kernel");
    const ExponentialPair pair = pair_of(x, y);
    switch (form_) {
      case PositiveForm::exp:
        return tilted_variance(pair, inputs(), tilt_, features());
      case PositiveForm::hyperbolic:
        return hyperbolic_variance(pair, features());
      case PositiveForm::trigonometric:
        break;
    }
    return trigonometric_variance(pair, features());
  }

  void apply_scaled(const Rows& X, Context& context, const ResultView& Z,
                    std::span<double> logs) const override {
    apply(X, {0, features()}, context, Z);
    std::ranges::fill(logs, 0.0);
    add_half_norms(kernel(), X, half_norm_factor(kernel(), form_), logs);
  }
  const Moments& scaled_moments() const override { return *this; }
  void pull_scaled_back(MatrixView<const float> X, MatrixView<const float> Z,
                        MatrixView<const float> G, Context& context,
                        MatrixView<float> out) const override {
    pull_back(X, G, context, out);
    add_half_norm_slopes(kernel(), X, half_norm_factor(kernel(), form_), Z, G, out);
  }
  void pull_scaled_back(MatrixView<const double> X, MatrixView<const double> Z,
                        MatrixView<const double> G, Context& context,
                        MatrixView<double> out) const override {
    pull_back(X, G, context, out);
    add_half_norm_slopes(kernel(), X, half_norm_factor(kernel(), form_), Z, G, out);
  }

  ExponentialTriple triple_of(const double* x, const double* y, const double* z) const {
    const std::span<const double> l = kernel().lengthscale();
    const double sign = form_ == PositiveForm::trigonometric ? -1 : 1;
    const double inner = kernel::lane_fold<kernel::Sum>(inputs(), [&](int64_t j) {
      return (x[j] + sign * y[j]) * (x[j] + sign * z[j]) / (at(l, j) * at(l, j));
    });
    const ExponentialPair left = pair_of(x, y), right = pair_of(x, z);
    return {left.log_k + right.log_k, left.sum + right.sum, inner};
  }

  // ||x||^2 + ||y||^2 = (sum + difference)/2, x'y = (sum - difference)/4.
  ExponentialPair pair_of(const double* x, const double* y) const {
    const std::span<const double> l = kernel().lengthscale();
    const double sum = squares([&](int64_t j) { return (x[j] + y[j]) / at(l, j); });
    const double difference = squares([&](int64_t j) { return (x[j] - y[j]) / at(l, j); });
    const double radial = kernel().series()->radial();
    return {std::log(kernel().variance()) + (1 - radial) * sum / 4 - (1 + radial) * difference / 4,
            sum, difference};
  }
  static double at(std::span<const double> l, int64_t j) {
    return l[l.size() > 1 ? static_cast<size_t>(j) : 0];
  }
  template <class Entry>
  double squares(const Entry& entry) const {
    return kernel::lane_fold<kernel::Sum>(inputs(), [&](int64_t j) { return entry(j) * entry(j); });
  }

  PositiveForm form_;
  bool stabilize_;
  double tilt_;
};

// The map whose features are P itself.
class Exponents final : public GaussianMap {
 public:
  explicit Exponents(const GaussianDraw& draw)
      : GaussianMap(draw, transform::scale_epilogue(), 1) {}
  std::string_view name() const noexcept override { return "positive"; }

 private:
  double variance_at(const double*, const double*) const override { return std::nan(""); }
};

/// The number of features of one column of W.
int64_t features_of_a_column(const MapArguments& arguments) {
  return kForm.read(arguments.own) == PositiveForm::exp ? 1 : 2;
}

/// The mean of ||x + y||^2 / l^2 over pairs of rows: n sum ||x||^2 + ||sum x||^2 - 2 sum ||x||^2
/// over n (n - 1) / 2 pairs.
double mean_square_of_sums(const Rows& X, std::span<const double> lengthscale) {
  const auto n = static_cast<double>(X.rows());
  std::vector<double> sum(X.cols(), 0.0);
  double squares = 0;
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i)
      for_each_stored(rows, i, [&](int64_t j, double x) {
        const double u = x / lengthscale[lengthscale.size() > 1 ? j : 0];
        sum[j] += u;
        squares += u * u;
      });
  });
  double square_of_sum = 0;
  for (const double s : sum) square_of_sum += s * s;
  return n < 2 ? 4 * squares : 2 * ((n - 2) * squares + square_of_sum) / (n * (n - 1));
}

bool has_tilt(const Parameters& own) {
  return kForm.read(own) == PositiveForm::exp && !own.boolean("stabilize") &&
         projection::find_projection(own.text("projection")).squared_norm != nullptr;
}

/// The least tilt that rows may choose. Exponents of single precision: with |w'x| <= 6 ||x||, sqrt(1
/// - 4 A) w'x - (1 + g) ||x||^2 / 2 <= 40; and A ||w||^2 >= -40 with ||w|| <= sqrt(d) + 4.
double least_tilt(const MapArguments& arguments) {
  constexpr double kMostExponent = 40, kWidest = 6, kFarthest = 4;
  const double factor = 1 + arguments.kernel.series()->radial();
  const double radius = std::sqrt(static_cast<double>(arguments.inputs)) + kFarthest;
  return std::max((1 - 2 * factor * kMostExponent / (kWidest * kWidest)) / 4,
                  -kMostExponent / (radius * radius));
}

/// Whether rows choose the tilt.
bool leaves_tilt(const Parameters& own) { return own.find("tilt") == nullptr && has_tilt(own); }

double tilt_of(const MapArguments& arguments) {
  const Parameters& own = arguments.own;
  if (leaves_tilt(own) && arguments.data.rows != nullptr) {
    const double sum = mean_square_of_sums(*arguments.data.rows, arguments.kernel.lengthscale());
    require(std::isfinite(sum), MERCER_INVALID_ARGUMENT,
            "the mean of ||x + y||^2 over pairs of rows is %g, expected finite rows, or a tilt",
            sum);
    return std::max(best_tilt(sum, arguments.inputs), least_tilt(arguments));
  }
  const double given = own.find("tilt") == nullptr ? 0 : own.number("tilt");
  require(given == 0 || has_tilt(own), MERCER_UNSUPPORTED,
          "tilt = %g with form = %s, stabilize = %s, projection = %s, expected exp, false, and "
          "dense, orthogonal or simplex, whose norms of columns are known one by one",
          given, kForm.word(kForm.read(own)), own.boolean("stabilize") ? "true" : "false",
          own.text("projection").c_str());
  return given;
}

std::unique_ptr<FeatureMap> positive_from(const MapArguments& arguments) {
  const kernel::PowerSeries* const series = arguments.kernel.series();
  require_features(series != nullptr && series->is_exponential(), arguments.kernel, "positive",
                   "exponential or gaussian");
  const PositiveForm form = kForm.read(arguments.own);
  const bool stabilize = arguments.own.boolean("stabilize");
  GaussianDraw draw = gaussian_draw(arguments, features_of_a_column(arguments));
  draw.tilt = tilt_of(arguments);
  const bool apart =
      stabilize && form != PositiveForm::trigonometric;  // this needs all of a row at once
  require(!apart || projection::find_projection(draw.choice.projection).share == nullptr,
          MERCER_UNSUPPORTED,
          "stabilize = true does not apply to projection = %s, whose columns have weights",
          draw.choice.projection.c_str());
  if (form == PositiveForm::trigonometric) draw.unit = projection::Unit::turns;
  auto map = std::make_unique<Positive>(draw, form, stabilize && !apart);
  if (!apart) return map;
  return make_stabilized(std::make_unique<Exponents>(draw), std::move(map), scale_of(draw, form),
                         half_norm_factor(*draw.kernel, form), form == PositiveForm::hyperbolic);
}

}  // namespace

double tilted_variance(const ExponentialPair& pair, int64_t d, double A, int64_t D) noexcept {
  const double half = static_cast<double>(d) / 2;
  const double excess = 2 * half * std::log1p(-4 * A) - half * std::log1p(-8 * A) +
                        pair.sum / (1 - 8 * A);  // 2 (1 - 4 A)/(1 - 8 A) - 1
  return std::exp(2 * pair.log_k + excess) * -std::expm1(-excess) / static_cast<double>(D);
}

double best_tilt(double sum, int64_t d) noexcept {
  const double phi = sum / static_cast<double>(d);
  const double root = std::sqrt((1 + 2 * phi) * (1 + 2 * phi) + 8 * phi);
  // (1 - 2 phi - root)/16 without cancellation: the numerator's conjugate.
  return -phi / (1 - 2 * phi + root);
}

double hyperbolic_variance(const ExponentialPair& pair, int64_t D) noexcept {
  return squared_sinh(2 * pair.log_k, pair.sum, D);
}

double trigonometric_variance(const ExponentialPair& pair, int64_t D) noexcept {
  return squared_sinh(2 * pair.log_k, pair.difference, D);
}

// A column of the two estimates has the product (1 - 4 A)^d exp(4 A ||w||^2 + sqrt(1 - 4 A) w'(a +
// b) - ...), and E exp(s ||w||^2 + t'w) = (1 - 2 s)^{-d/2} exp(||t||^2 / (2 (1 - 2 s))).
double tilted_covariance(const ExponentialTriple& at, int64_t d, double A, int64_t D) noexcept {
  const double half = static_cast<double>(d) / 2;
  const double excess = 2 * half * std::log1p(-4 * A) - half * std::log1p(-8 * A) +
                        (1 - 4 * A) / (1 - 8 * A) * (at.squares / 2 + at.inner) - at.squares / 2;
  return std::exp(at.log_k + excess) * -std::expm1(-excess) / static_cast<double>(D);
}

// As above with cosh(w'a) cosh(w'b), half the sum of cosh at w'(a + b) and w'(a - b).
double paired_covariance(const ExponentialTriple& at, int64_t D) noexcept {
  return squared_sinh(at.log_k, std::fabs(at.inner), D);
}

MapEntry positive_entry() {
  std::vector<Field> fields = projection_fields("how the normal w are drawn");
  fields.push_back(kForm.field());
  fields.push_back(
      {.key = "stabilize",
       .type = FieldType::boolean,
       .fallback = false,
       .help = "divide each row by its largest exponential (trigonometric: leave out its growth): "
               "keeps ratios within a row, as in attention, but does not estimate the kernel"});
  Field tilt = number_field("tilt", kOptional, kLeastTilt, 0.125,
                            "A of form exp: exp(A ||w||^2 + ...); absent: of least variance at the "
                            "mean ||x + y||^2 of the rows' pairs, 0 where no rows are given");
  tilt.most_open = true;
  fields.push_back(std::move(tilt));
  return {
      .name = "positive",
      .help =
          "exponentials of w'x of normal w, for the kernels exponential (softmax attention) and "
          "gaussian",
      .fields = std::move(fields),
      .make = positive_from,
      .default_kernel = kernel_named("exponential"),
      .features_step = features_of_a_column,
      .follows_rows = leaves_tilt};
}

}  // namespace mercer::feature
