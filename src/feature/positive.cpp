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
// Liu, Sarlos, Weller, "Chefs' random tables", NeurIPS 2022, theorem 3.2; Choromanski et al., "Rethinking attention with performers", ICLR
// 2021, lemmas 1 and 2; SPEC section 5). Far from the origin all features of the first two forms
// underflow: `stabilize` divides a row by its largest exponential, which keeps ratios within the
// row. Features of the third form grow for the kernel exponential; `stabilize` leaves out that
// factor, which gives Fourier features of the Gaussian with the kernel's variance.
#include <algorithm>
#include <cmath>
#include <string>

#include "base/choice.h"
#include "base/error.h"
#include "base/fields.h"
#include "feature/gaussian_map.h"
#include "feature/row_scales.h"
#include "feature/stabilized_map.h"
#include "kernel/lane_fold.h"
#include "moment/positive_variance.h"
#include "transform/exponential.h"

namespace mercer::feature {
namespace {

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

/// Of the logarithms of a row's features: f ||x / l||^2 / 2.
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
    const moment::ExponentialTriple at = triple_of(x, y, z);
    return form_ == PositiveForm::exp
               ? moment::tilted_covariance(at, inputs(), tilt_, features())
               : moment::paired_covariance(at, features());
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
    const moment::ExponentialPair pair = pair_of(x, y);
    switch (form_) {
      case PositiveForm::exp:
        return moment::tilted_variance(pair, inputs(), tilt_, features());
      case PositiveForm::hyperbolic:
        return moment::hyperbolic_variance(pair, features());
      case PositiveForm::trigonometric:
        break;
    }
    return moment::trigonometric_variance(pair, features());
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

  moment::ExponentialTriple triple_of(const double* x, const double* y, const double* z) const {
    const std::span<const double> l = kernel().lengthscale();
    const double sign = form_ == PositiveForm::trigonometric ? -1 : 1;
    const double inner = kernel::lane_fold<kernel::Sum>(inputs(), [&](int64_t j) {
      return (x[j] + sign * y[j]) * (x[j] + sign * z[j]) / (at(l, j) * at(l, j));
    });
    const moment::ExponentialPair left = pair_of(x, y), right = pair_of(x, z);
    return {left.log_k + right.log_k, left.sum + right.sum, inner};
  }

  // ||x||^2 + ||y||^2 = (sum + difference)/2, x'y = (sum - difference)/4.
  moment::ExponentialPair pair_of(const double* x, const double* y) const {
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
      for_each_listed(rows, i, [&](int64_t j, double x) {
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
    return std::max(moment::best_tilt(sum, arguments.inputs), least_tilt(arguments));
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
