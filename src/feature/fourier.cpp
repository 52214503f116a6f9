// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random Fourier features: Z from cos and sin of XW, W drawn from the kernel's spectral law.
// Source: Rahimi, Recht, "Random features for large-scale kernel machines", NIPS 2007; forms and
// variances of SPEC section 3. Frequencies and phases are kept in turns, which makes the reduction
// of every argument exact (transform/epilogue.h).
#include "feature/fourier.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/float_environment.h"
#include "feature/field/frequencies.h"
#include "feature/fourier_parts.h"
#include "feature/leverage_frequencies.h"
#include "feature/moments.h"
#include "feature/projected_map.h"
#include "moment/fourier_variance.h"
#include "projection/projections.h"

namespace mercer::feature {
namespace {

// What differs between the forms, in their order.
struct Form {
  ColumnForm columns;
  std::unique_ptr<const transform::Epilogue> (*epilogue)();
  double (*real_variance)(const moment::StationaryValues& k, int64_t D);
};
constexpr Form kForms[] = {
    {ColumnForm::halves, transform::pair_epilogue, moment::fourier_pair_variance},
    {ColumnForm::real, transform::phase_epilogue, moment::fourier_phase_variance},
    {ColumnForm::complex, transform::complex_epilogue, moment::fourier_complex_real_variance}};

const Form& form_of(const FourierParts& parts) {
  return kForms[static_cast<size_t>(parts.options.form)];
}

projection::ProjectionArguments arguments_of(const FourierParts& parts) {
  const FourierOptions& options = parts.options;
  const std::shared_ptr<const kernel::Kernel>& kernel = parts.drawn();
  return {std::shared_ptr<const random::Law>(kernel, kernel->spectral_law()),
          {kernel->lengthscale().begin(), kernel->lengthscale().end()},
          projection::Unit::turns,
          parts.d,
          parts.F,
          options.seed,
          options.radius,
          options.scramble,
          "kernel " + std::string(kernel->name())};
}

std::unique_ptr<const projection::Projection> make_projection(const FourierParts& parts) {
  if (parts.supplied != nullptr)
    return projection::make_dense(parts.d, parts.F, parts.supplied, projection::Unit::turns);
  return projection::find_projection(parts.options.projection).make(arguments_of(parts));
}

// Shares of supplied frequencies point to the weights' storage, which moves with the vector.
std::function<double(int64_t)> shares_of(const FourierParts& parts) {
  if (!parts.weights.empty())
    return [weights = parts.weights.data()](int64_t j) { return weights[j]; };
  if (parts.supplied != nullptr) return nullptr;
  const auto share = projection::find_projection(parts.options.projection).share;
  if (share == nullptr) return nullptr;
  return [share, arguments = arguments_of(parts)](int64_t j) { return share(arguments, j); };
}

ColumnLaw column_law(const FourierParts& parts) {
  const bool with_phase = parts.options.form == FourierForm::phase;
  const double weight = parts.kernel->value_at_zero() * (with_phase ? 2.0 : 1.0);
  ColumnLaw law{std::sqrt(weight * (1.0 / static_cast<double>(parts.F))), weight, shares_of(parts)};
  if (with_phase) law.phase_seed = parts.options.seed;
  return law;
}

ProjectedParts projected(const FourierParts& parts) {
  ProjectedParts made;
  made.projections.push_back(make_projection(parts));
  made.epilogue = form_of(parts).epilogue();
  made.columns = column_law(parts);
  made.prologue = parts.kernel->prologue();
  return made;
}

class Fourier final : public ProjectedMap, public Moments {
 public:
  explicit Fourier(FourierParts parts) : ProjectedMap(projected(parts)), parts_(std::move(parts)) {}

  std::string_view name() const noexcept override { return "fourier"; }
  const kernel::Kernel& kernel() const noexcept override { return *parts_.kernel; }

  Parameters parameters() const override {
    Parameters spec;
    spec.set("map", std::string(name()));
    spec.set("kernel", std::make_shared<const Parameters>(parts_.kernel->parameters()));
    spec.set("inputs", inputs());
    spec.set("features", features());
    spec.set("seed", parts_.options.seed);
    spec.set("projection", parts_.options.projection);
    kFourierForm.write(spec, parts_.options.form);
    parts_.options.write(spec);
    kWeightsFrom.write(spec, WeightsFrom::given);  // by now
    if (parts_.stand_in) {
      spec.set(kBiasKeys[0], parts_.stand_in->largest_bias);
      spec.set(kBiasKeys[1], parts_.stand_in->rms_bias);
    }
    if (parts_.grid != nullptr) parts_.grid->write(spec);
    if (parts_.needs_data()) spec.set("needs", std::string("data"));
    return spec;
  }

  const Moments& moments() const override {
    if (parts_.grid != nullptr) return *parts_.grid;
    require(parts_.supplied == nullptr, MERCER_UNSUPPORTED,
            "the map's frequencies were supplied, not drawn: the estimate has no variance in "
            "closed form");
    const projection::ProjectionEntry& entry =
        projection::find_projection(parts_.options.projection);
    parts_.options.require_equal_shares();
    require(!entry.product_columns_correlate || parts_.drawn()->spectral_law()->isotropic(),
            MERCER_UNSUPPORTED,
            "%s columns of kernel %s depend on each other: the variance has no closed form",
            entry.name, std::string(parts_.kernel->name()).c_str());
    return *this;
  }
  bool is_exact() const override { return parts_.options.is_independent(); }
  double bias_at(const double* x, const double* y) const override {
    if (!parts_.stand_in) return 0;
    return parts_.drawn()->value(inputs(), x, y) - kernel().value(inputs(), x, y);
  }
  double variance_at(const double* x, const double* y) const override {
    return form_of(parts_).real_variance(values(x, y), features());
  }
  double pseudo_variance_at(const double* x, const double* y) const override {
    return is_complex() ? moment::fourier_complex_pseudo_variance(values(x, y), features())
                        : variance_at(x, y);
  }

  // Single columns with weights of their own do not estimate the kernel.
  ColumnForm column_form() const noexcept override {
    if (column_law(parts_).share) return ColumnForm::joint;
    return form_of(parts_).columns;
  }
  // |a| is the same for every frequency, and the variance of form pair is that of Re a.
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    const ColumnMoments moments = independent_columns(*this, x, y);
    if (column_form() != ColumnForm::halves) return moments;
    const double most = parts_.drawn()->value_at_multiple(0, inputs(), x, y);
    return ColumnMoments{moments.mean, most * most, 2 * moments.square - most * most};
  }

  // In a code columns with weights of their own would count as much as the others.
  std::optional<UniformCosines> uniform_cosines() const override {
    const ColumnLaw law = column_law(parts_);
    if (!law.phase_seed || law.share) return std::nullopt;
    return UniformCosines{law.scale, *law.phase_seed};
  }

  const FrequencyGrid* grid() const noexcept override { return parts_.grid.get(); }
  int64_t frequency_count() const noexcept override { return parts_.F; }
  Matrix<double> frequencies(Context& context) const override {
    require_plain_inputs(kernel());
    if (parts_.supplied == nullptr)
      return FrequencyDraw(parts_.drawn(), parts_.options, inputs(), parts_.F, parts_.options.seed,
                           false)(context);
    Matrix<double> W(parts_.F, inputs(), context, "frequencies");
    parts_.supplied->fill(0, context, W.view());
    return W;
  }

  int64_t incomplete_block() const override {
    if (parts_.supplied != nullptr) return 0;
    return parts_.options.incomplete_block(inputs(), parts_.F);
  }

  std::vector<NumberArray> numbers() const override {
    if (!parts_.needs_data()) return {};
    const int64_t F = parts_.F, d = inputs();
    std::vector<double> W(F * d);
    Context context;
    parts_.supplied->fill(0, context, {W.data(), F, d});
    std::vector<double> weights = parts_.weights;
    weights.resize(F, 1.0 / static_cast<double>(F));
    return {{"frequencies", {F, d}, std::move(W)}, {"weights", {F}, std::move(weights)}};
  }
  // A grid depends on the rows' diameter in units of the lengthscale.
  bool is_of_scaled_inputs() const override { return parts_.supplied == nullptr; }

 private:
  moment::StationaryValues values(const double* x, const double* y) const {
    const auto at = [&](double multiple) {
      return parts_.drawn()->value_at_multiple(multiple, inputs(), x, y);
    };
    return {at(0), at(1), at(2)};
  }

  FourierParts parts_;
};

}  // namespace

int64_t fourier_frequencies(int64_t D, FourierForm form) {
  require(D >= 1 && D <= kMostFourierColumns, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected 1 to 2147483647", D);
  if (form != FourierForm::pair) return D;
  require(D % 2 == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected an even number for the form pair", D);
  return D / 2;
}

void check_fourier_sizes(const kernel::Kernel& kernel, int64_t d, int64_t F) {
  require(d >= 1 && d <= kMostFourierColumns, MERCER_INVALID_ARGUMENT,
          "inputs = %ld, expected 1 to 2147483647", d);
  checked_multiply(checked_multiply(d, checked_add(F, 64, "frequencies"), "frequencies"),
                   sizeof(double), "frequencies");
  require(kernel.spectral_law() != nullptr, MERCER_UNSUPPORTED,
          "kernel %s is not shift-invariant: it has no random Fourier features",
          std::string(kernel.name()).c_str());
}

std::unique_ptr<FeatureMap> make_fourier_map(FourierParts parts) {
  return std::make_unique<Fourier>(std::move(parts));
}

std::unique_ptr<FeatureMap> make_fourier(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                         const FourierOptions& options) {
  require(options.projection != kSupplied, MERCER_UNSUPPORTED,
          "projection = supplied needs the frequencies themselves, it cannot be drawn from a seed");
  options.check();
  const StandardRounding rounding;
  const int64_t asked = fourier_frequencies(D, options.form);
  std::optional<kernel::StandIn> stand_in = kernel.stand_in(d);
  check_fourier_sizes(stand_in ? *stand_in->kernel : kernel, d, asked);
  kernel.check_dimension(d);
  const int64_t F = options.columns(d, asked);
  return make_fourier_map({kernel.copy(), options, d, F, nullptr, {}, std::move(stand_in)});
}

}  // namespace mercer::feature
