// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Positive features of exp(x'y / l^2) and, with its radial factors, of the Gaussian kernel: with u
// = x/l, P = u'W, W normal, and g = 1 for the Gaussian, else 0,
//   exp            D^{-1/2} exp(P - (1 + g) ||u||^2 / 2)
//   hyperbolic     D^{-1/2} [exp(P) | exp(-P)] exp(-(1 + g) ||u||^2 / 2)
//   trigonometric  F^{-1/2} [cos(P) | sin(P)] exp((1 - g) ||u||^2 / 2), which is not positive
// times the root of the variance (Choromanski et al., "Rethinking attention with performers", ICLR
// 2021, lemmas 1 and 2; SPEC section 5). Far from the origin all features of the first two forms
// underflow: `stabilize` divides a row by its largest exponential, which keeps ratios within the
// row. Features of the third form grow for the kernel exponential; `stabilize` leaves out that
// factor, which gives Fourier features of the Gaussian with the kernel's variance.
#include <cmath>
#include <string>

#include "base/choice.h"
#include "base/error.h"
#include "base/fields.h"
#include "feature/gaussian_map.h"
#include "feature/stabilized_map.h"
#include "kernel/lane_fold.h"
#include "moment/positive_variance.h"
#include "transform/exponential.h"

namespace mercer::feature {
namespace {

enum class PositiveForm { exp, hyperbolic, trigonometric };
constexpr const char* kFormWords[] = {"exp", "hyperbolic", "trigonometric"};
constexpr Choice<PositiveForm> kForm{
    "form", kFormWords,
    "exp(w'x); hyperbolic: also exp(-w'x); trigonometric: cos and sin; "
    "the last two take an even number of features"};
constexpr decltype(&transform::exp_epilogue) kEpilogues[] = {
    transform::exp_epilogue, transform::hyperbolic_epilogue, transform::grown_pair_epilogue};

std::unique_ptr<const transform::Epilogue> make_form(PositiveForm form) {
  return kEpilogues[static_cast<int>(form)]();
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

class Positive final : public GaussianMap {
 public:
  /// stabilize: for the trigonometric form only.
  Positive(const GaussianDraw& draw, PositiveForm form, bool stabilize)
      : GaussianMap(draw, make_form(form), scale_of(draw, form), make_norms(draw, form, stabilize)),
        form_(form),
        stabilize_(stabilize) {}
  std::string_view name() const noexcept override { return "positive"; }
  ColumnForm column_form() const noexcept override {
    return form_ == PositiveForm::trigonometric ? ColumnForm::joint : GaussianMap::column_form();
  }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    if (form_ != PositiveForm::exp) return std::nullopt;
    return independent_columns(*this, x, y);
  }

 private:
  void add_parameters(Parameters& spec) const override {
    kForm.write(spec, form_);
    spec.set("stabilize", stabilize_);
  }

  double variance_at(const double* x, const double* y) const override {
    require(!stabilize_, MERCER_UNSUPPORTED,
            "the variance of map positive with stabilize = true has no closed form: it estimates "
            "no kernel");
    const moment::ExponentialPair pair = pair_of(x, y);
    switch (form_) {
      case PositiveForm::exp:
        return moment::positive_variance(pair, features());
      case PositiveForm::hyperbolic:
        return moment::hyperbolic_variance(pair, features());
      case PositiveForm::trigonometric:
        break;
    }
    return moment::trigonometric_variance(pair, features());
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

std::unique_ptr<FeatureMap> positive_from(const MapArguments& arguments) {
  const kernel::PowerSeries* const series = arguments.kernel.series();
  require_features(series != nullptr && series->is_exponential(), arguments.kernel, "positive",
                   "exponential or gaussian");
  const PositiveForm form = kForm.read(arguments.own);
  const bool stabilize = arguments.own.boolean("stabilize");
  GaussianDraw draw = gaussian_draw(arguments, features_of_a_column(arguments));
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
                         form == PositiveForm::hyperbolic);
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
  return {
      .name = "positive",
      .help =
          "exponentials of w'x of normal w, for the kernels exponential (softmax attention) and "
          "gaussian",
      .fields = std::move(fields),
      .make = positive_from,
      .default_kernel = kernel_named("exponential"),
      .features_step = features_of_a_column};
}

}  // namespace mercer::feature
