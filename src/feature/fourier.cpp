// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random Fourier features: Z from cos and sin of XW, W drawn from the kernel's spectral law.
// Source: Rahimi, Recht, "Random features for large-scale kernel machines", NIPS 2007. Frequencies
// and phases are kept in turns, which makes the reduction of every argument exact
// (transform/epilogue.h).
#include "feature/fourier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "base/size.h"
#include "feature/feature_map.h"
#include "feature/field_fourier.h"
#include "feature/frequencies.h"
#include "feature/map_entry.h"
#include "feature/projected_map.h"
#include "projection/dense.h"
#include "projection/projection.h"

namespace mercer::feature {
namespace {

// What differs between the forms, in their order.
struct Form {
  ColumnForm columns;
  std::unique_ptr<const transform::Epilogue> (*epilogue)();
  double (*real_variance)(const StationaryValues& k, int64_t D);
};
constexpr double kMostBias = 0.1;  // of k(x, x): of features that have no spectral distribution

constexpr Form kForms[] = {
    {ColumnForm::halves, transform::pair_epilogue, fourier_pair_variance},
    {ColumnForm::real, transform::phase_epilogue, fourier_phase_variance},
    {ColumnForm::complex, transform::complex_epilogue, fourier_complex_real_variance}};

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
    kWeightSource.write(spec, WeightSource::given);  // by now
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
  // E cos(w'(x - y)) cos(w'(x - z)) k(0) is half of k(y - z) + k(2x - y - z), and phases add k(y -
  // z).
  std::optional<double> covariance_at(const double* x, const double* y,
                                      const double* z) const override {
    const kernel::Kernel& drawn = *parts_.drawn();
    if (!drawn.is_shift_invariant()) return std::nullopt;
    std::vector<double> u(x, x + inputs()), v(z, z + inputs());
    for (int64_t k = 0; k < inputs(); ++k) u[k] -= y[k], v[k] -= x[k];
    const double apart = drawn.value(inputs(), y, z);
    const double sum = drawn.value(inputs(), u.data(), v.data()) +
                       (parts_.options.form == FourierForm::phase ? 2 : 1) * apart;
    return (drawn.value_at_zero() * sum / 2 -
            drawn.value(inputs(), x, y) * drawn.value(inputs(), x, z)) /
           static_cast<double>(parts_.F);
  }
  double pseudo_variance_at(const double* x, const double* y) const override {
    return is_complex() ? fourier_complex_pseudo_variance(values(x, y), features())
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
  StationaryValues values(const double* x, const double* y) const {
    const auto at = [&](double multiple) {
      return parts_.drawn()->value_at_multiple(multiple, inputs(), x, y);
    };
    return {at(0), at(1), at(2)};
  }

  FourierParts parts_;
};

// With omega drawn from the spectral density, E cos^2(omega'tau) = (k(0) + k(2 tau))/(2 k(0)) gives
// all of them (Sutherland, Schneider 2015, for the first two; Wacker, Kanagawa, Filippone 2022 for
// the complex form).

// Rounding near k(0) can take a variance of 0 below it. std::max in this order keeps a NaN.
double of_columns(double variance, int64_t D) noexcept {
  return std::max(variance, 0.0) / static_cast<double>(D);
}

// Fourier features of frequencies that the caller supplies, each with a weight.

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

// Fourier features from specs and files, which hold frequencies that were supplied.

/// Files from before arrays had names hold the frequencies row by row, then one weight for each.
std::unique_ptr<FeatureMap> supplied_from_unnamed(const MapArguments& arguments, int64_t F,
                                                  const FourierOptions& options) {
  const int64_t d = arguments.inputs;
  const std::array<int64_t, 1> any = {-1};
  const std::vector<double>& all = find_doubles(arguments.data.numbers, "", any);
  const auto numbers = static_cast<int64_t>(all.size());
  require(numbers % (d + 1) == 0 && numbers / (d + 1) == F, MERCER_CORRUPT_FILE,
          "%ld numbers do not make %ld frequencies of %ld inputs with weights", numbers, F, d);
  return make_fourier_supplied(arguments.kernel, {all.data(), F, d}, std::span(all).subspan(F * d),
                               options);
}

std::unique_ptr<FeatureMap> rooted_from(const MapArguments& arguments,
                                        const FourierOptions& options,
                                        std::span<const int64_t> shape) {
  const std::span<const NumberArray> arrays = arguments.data.numbers;
  const int64_t F = shape.empty() ? 0 : shape[0], d = arguments.inputs;
  const std::vector<double>& B = find_doubles(arrays, kRoots, std::array<int64_t, 3>{F, -1, -1});
  const SuppliedRoots roots{shape[1], shape[2], B};
  require(arguments.features == checked_multiply(2 * F, roots.q, "features"), MERCER_CORRUPT_FILE,
          "%ld features of %ld frequencies with roots of %ld columns, expected twice as many as "
          "of both",
          arguments.features, F, roots.q);
  const std::vector<double>& W = find_doubles(arrays, "frequencies", std::array<int64_t, 2>{F, d});
  return make_field_supplied(arguments.kernel, {W.data(), F, d},
                             find_doubles(arrays, "weights", std::array<int64_t, 1>{F}), roots,
                             options);
}

std::unique_ptr<FeatureMap> supplied_from(const MapArguments& arguments,
                                          const FourierOptions& options) {
  const std::span<const NumberArray> arrays = arguments.data.numbers;
  require(!arrays.empty(), MERCER_UNSUPPORTED,
          "projection = supplied needs the frequencies themselves: use "
          "mercer_map_fit, or a file");
  const bool pair = options.form == FourierForm::pair;
  const int64_t d = arguments.inputs, F = pair ? arguments.features / 2 : arguments.features;
  require(F >= 1 && (!pair || arguments.features % 2 == 0), MERCER_CORRUPT_FILE,
          "%ld features of form = pair, expected an even number", arguments.features);
  for (const NumberArray& array : arrays)
    if (array.name == kRoots) return rooted_from(arguments, options, array.shape);
  if (arrays.front().name.empty()) return supplied_from_unnamed(arguments, F, options);
  const std::vector<double>& W = find_doubles(arrays, "frequencies", std::array<int64_t, 2>{F, d});
  return make_fourier_supplied(arguments.kernel, {W.data(), F, d},
                               find_doubles(arrays, "weights", std::array<int64_t, 1>{F}), options);
}

std::unique_ptr<FeatureMap> by_leverage(const MapArguments& arguments,
                                        const FourierOptions& options,
                                        const LeverageOptions& leverage) {
  const bool pair = options.form == FourierForm::pair;
  require(!pair || arguments.features % 2 == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected an even number for the form pair, such as %ld",
          arguments.features, arguments.features + 1);
  options.check();
  const int64_t F = options.columns(arguments.inputs, arguments.features / (pair ? 2 : 1));
  return make_fourier_by_leverage(arguments.kernel, *arguments.data.rows, F, options, leverage,
                                  *arguments.data.context);
}

/// A map states its bias in its spec, so that none can be given.
void check_bias(const MapArguments& arguments) {
  const std::optional<kernel::StandIn> stand_in = arguments.kernel.stand_in(arguments.inputs);
  const double said[] = {stand_in ? stand_in->largest_bias : 0, stand_in ? stand_in->rms_bias : 0};
  for (int i = 0; i < 2; ++i) {
    const char* const key = kBiasKeys[i];
    require(
        arguments.own.find(key) == nullptr || (stand_in && arguments.own.number(key) == said[i]),
        MERCER_INVALID_ARGUMENT, "%s is given, expected it left out: the bias is %g", key, said[i]);
  }
}

std::unique_ptr<FeatureMap> on_grid(const MapArguments& arguments, const FourierOptions& options,
                                    bool leverage) {
  require(!leverage, MERCER_UNSUPPORTED,
          "weights = leverage does not apply to projection = grid, whose columns have weights");
  GridRequest request = read_grid(arguments.own);
  if (request.diameter.empty() && arguments.data.rows != nullptr)
    request.diameter = diameters(*arguments.data.rows, *arguments.data.context);
  return make_fourier_on_grid(arguments.kernel, arguments.inputs, arguments.features, options,
                              std::move(request));
}

/// "diameter" and "step" say all that rows would.
bool leaves_diameter(const Parameters& canonical) {
  return canonical.text("projection") == kGrid && canonical.find("diameter") == nullptr &&
         canonical.find("step") == nullptr;
}

std::unique_ptr<FeatureMap> fourier_from(const MapArguments& arguments) {
  check_bias(arguments);
  const std::optional<LeverageOptions> leverage = read_leverage(arguments.own);
  require(!leverage || arguments.kernel.matrix() == nullptr, MERCER_UNSUPPORTED,
          "weights = leverage of kernel %s, expected a kernel of one output",
          std::string(arguments.kernel.name()).c_str());
  if (arguments.own.text("projection") != kGrid) refuse_grid_fields(arguments.own);
  if (arguments.kernel.matrix() != nullptr) return make_field_fourier(arguments);
  const FourierOptions options{read_projection_choice(arguments.own),
                               kFourierForm.read(arguments.own), arguments.seed};
  if (options.projection == kGrid) return on_grid(arguments, options, leverage.has_value());
  if (leverage) return by_leverage(arguments, options, *leverage);
  if (options.projection != kSupplied) {
    return make_fourier(arguments.kernel, arguments.inputs, arguments.features, options);
  }
  return supplied_from(arguments, options);
}

/// Checks a size that a spec may leave out.
void check_size(const Parameters& given, const char* key, int64_t size) {
  const Value* const said = given.find(key);
  require(said == nullptr || *said == Value(size), MERCER_DIMENSION_MISMATCH,
          "%s is not that of the frequencies, expected %ld", key, size);
}

}  // namespace

/// The number F of frequencies of D columns. INVALID_ARGUMENT for a D that the form does not have.
static int64_t fourier_frequencies(int64_t D, FourierForm form) {
  require(D >= 1 && D <= kMostFourierColumns, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected 1 to 2147483647", D);
  if (form != FourierForm::pair) return D;
  require(D % 2 == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected an even number for the form pair, such as %ld", D, D + 1);
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

static std::unique_ptr<FeatureMap> make_fourier_map(FourierParts parts) {
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
  const double bias = stand_in ? stand_in->largest_bias / stand_in->kernel->value_at_zero() : 0;
  require(bias <= kMostBias, MERCER_UNSUPPORTED,
          "kernel %s, of which features of the nearest spectral distribution are off by %.2g of "
          "k(x, x), expected at most %g, or map exact, nystroem or maclaurin",
          std::string(kernel.name()).c_str(), bias, kMostBias);
  check_fourier_sizes(stand_in ? *stand_in->kernel : kernel, d, asked);
  kernel.check_dimension(d);
  const int64_t F = options.columns(d, asked);
  return make_fourier_map({kernel.copy(), options, d, F, nullptr, {}, std::move(stand_in)});
}

double fourier_pair_variance(const StationaryValues& k, int64_t D) noexcept {
  return of_columns(k.zero * k.zero + k.zero * k.twice - 2 * k.once * k.once, D);
}

double fourier_phase_variance(const StationaryValues& k, int64_t D) noexcept {
  return of_columns(k.zero * k.zero + k.zero * k.twice / 2 - k.once * k.once, D);
}

double fourier_complex_pseudo_variance(const StationaryValues& k, int64_t D) noexcept {
  return (k.zero * k.twice - k.once * k.once) / static_cast<double>(D);
}

double fourier_complex_real_variance(const StationaryValues& k, int64_t D) noexcept {
  return fourier_pair_variance(k, D) / 2;
}

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

std::unique_ptr<FeatureMap> make_supplied(Parameters given, const kernel::Kernel* kernel,
                                          const SuppliedFrequencies& supplied) {
  const int64_t F = supplied.W.rows, d = supplied.W.cols;
  Parameters filled = given;
  if (given.find("map") == nullptr) filled.set("map", std::string("fourier"));
  require(map_entry(filled).make == fourier_from, MERCER_UNSUPPORTED,
          "map %s takes no frequencies of the caller's, expected fourier", map_entry(filled).name);
  filled.set("inputs", d);
  filled.set("features", checked_multiply(2, F, "features"));
  const Parameters canonical = canonical_map(filled, "", Data::refused);
  const FourierOptions options{read_projection_choice(canonical), kFourierForm.read(canonical),
                               canonical.seed("seed")};
  require(!read_leverage(canonical), MERCER_UNSUPPORTED,
          "weights = leverage of supplied frequencies, expected it left out: these have weights");
  const std::string drawn = ProjectionChoice{}.projection;
  require(options.projection == drawn, MERCER_UNSUPPORTED,
          "projection = %s, expected %s for supplied frequencies", options.projection.c_str(),
          drawn.c_str());
  const int64_t columns = options.form == FourierForm::pair ? 2 * F : F;
  check_size(given, "inputs", d);
  check_size(given, "features", supplied.roots ? columns * supplied.roots->q : columns);
  const std::unique_ptr<kernel::Kernel> own =
      kernel == nullptr ? kernel::make_kernel(canonical.object("kernel")) : kernel->copy();
  own->check_dimension(d);
  if (supplied.roots)
    return make_field_supplied(*own, supplied.W, supplied.weights, *supplied.roots, options);
  return make_fourier_supplied(*own, supplied.W, supplied.weights, options);
}

MapEntry fourier_entry() {
  std::vector<Field> fields = projection_fields(
      "how frequencies are drawn; grid: not at all, few inputs, spectral densities that fall along "
      "every axis; supplied: the caller's own, kept in files only",
      {kGrid, kSupplied});
  fields.insert(fields.begin() + 1, kFourierForm.field());
  for (Field& field : leverage_fields()) fields.push_back(std::move(field));
  fields.push_back(number_field(kBiasKeys[0], kOptional, 0, kUnbounded,
                                "said by the map of sphere_polynomial: the largest bias of its "
                                "estimate over distances from 0 to 2"));
  fields.push_back(number_field(kBiasKeys[1], kOptional, 0, kUnbounded,
                                "and the root of the mean square of the bias"));
  for (Field& field : grid_fields()) fields.push_back(std::move(field));
  return {
      .name = "fourier",
      .help =
          "random Fourier features of a shift-invariant kernel: cos and sin of x'omega, omega from "
          "the spectral distribution",
      .fields = std::move(fields),
      .make = fourier_from,
      .chooses_projection = true,
      .features_step = [](const MapArguments& a) -> int64_t {
        if (a.kernel.matrix() != nullptr) return field_features_step(a);
        return kFourierForm.read(a.own) == FourierForm::pair ? 2 : 1;
      },
      .root_fields = field_fourier_fields(),
      .learns_ranges = leaves_diameter};
}

}  // namespace mercer::feature
