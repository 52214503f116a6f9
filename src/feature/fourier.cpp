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
#include "feature/projected_map.h"
#include "moment/fourier_variance.h"
#include "projection/dense.h"
#include "projection/projections.h"

namespace mercer::feature {
namespace {

constexpr const char* kFormNames[] = {"pair", "phase", "complex"};

// The caller's frequencies, F x d.
class SuppliedFrequencies final : public projection::FrequencySource {
 public:
  explicit SuppliedFrequencies(std::shared_ptr<const Matrix<double>> frequencies)
      : frequencies_(std::move(frequencies)) {}
  void fill(int64_t j0, Context&, MatrixView<double> omega) const override {
    std::copy_n(frequencies_->view().row(j0), omega.rows * omega.cols, omega.data);
  }

 private:
  std::shared_ptr<const Matrix<double>> frequencies_;
};

// Everything a Fourier map is made of.
struct Ingredients {
  std::shared_ptr<const kernel::Kernel> kernel;
  FourierOptions options;
  int64_t d;
  int64_t F;
  std::shared_ptr<const Matrix<double>> frequencies;  // supplied ones, else null
  std::vector<double> weights;                        // per frequency, or empty: 1/F each
};

projection::ProjectionArguments arguments_of(const Ingredients& parts) {
  const FourierOptions& options = parts.options;
  const std::shared_ptr<const kernel::Kernel>& kernel = parts.kernel;
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

std::unique_ptr<const projection::Projection> make_projection(const Ingredients& parts) {
  if (parts.frequencies != nullptr) {
    return projection::make_dense(parts.d, parts.F,
                                  std::make_unique<SuppliedFrequencies>(parts.frequencies),
                                  projection::Unit::turns);
  }
  return projection::find_projection(parts.options.projection).make(arguments_of(parts));
}

// Supplied shares are the weights' own storage, which moves with them.
std::function<double(int64_t)> shares_of(const Ingredients& parts) {
  if (parts.frequencies != nullptr)
    return [weights = parts.weights.data()](int64_t j) { return weights[j]; };
  const auto share = projection::find_projection(parts.options.projection).share;
  if (share == nullptr) return nullptr;
  return [share, arguments = arguments_of(parts)](int64_t j) { return share(arguments, j); };
}

ColumnLaw column_law(const Ingredients& parts) {
  const bool with_phase = parts.options.form == FourierForm::phase;
  const double weight = parts.kernel->value_at_zero() * (with_phase ? 2.0 : 1.0);
  ColumnLaw law{std::sqrt(weight * (1.0 / static_cast<double>(parts.F))), weight, shares_of(parts)};
  if (with_phase) law.phase_seed = parts.options.seed;
  return law;
}

std::unique_ptr<const transform::Epilogue> make_form(FourierForm form) {
  switch (form) {
    case FourierForm::pair:
      return transform::pair_epilogue();
    case FourierForm::phase:
      return transform::phase_epilogue();
    case FourierForm::complex:
      break;
  }
  return transform::complex_epilogue();
}

ProjectedParts projected(const Ingredients& parts) {
  ProjectedParts made;
  made.projections.push_back(make_projection(parts));
  made.epilogue = make_form(parts.options.form);
  made.columns = column_law(parts);
  made.prologue = parts.kernel->prologue();
  return made;
}

class Fourier final : public ProjectedMap {
 public:
  explicit Fourier(Ingredients parts) : ProjectedMap(projected(parts)), parts_(std::move(parts)) {}

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
    spec.set("form", std::string(kFormNames[static_cast<int>(parts_.options.form)]));
    parts_.options.write(spec);
    if (parts_.frequencies != nullptr) spec.set("needs", std::string("data"));
    return spec;
  }

  void variance(MatrixView<const double> X, MatrixView<const double> Y,
                std::span<double> out) const override {
    for_each_pair(X, Y, out,
                  [this](const moment::StationaryValues& k) { return real_variance(k); });
  }
  void pseudo_variance(MatrixView<const double> X, MatrixView<const double> Y,
                       std::span<double> out) const override {
    for_each_pair(X, Y, out, [this](const moment::StationaryValues& k) {
      return is_complex() ? moment::fourier_complex_pseudo_variance(k, features())
                          : real_variance(k);
    });
  }

  // Columns with weights of their own are no estimates alone.
  ColumnForm column_form() const noexcept override {
    if (column_law(parts_).share) return ColumnForm::joint;
    switch (parts_.options.form) {
      case FourierForm::pair:
        return ColumnForm::halves;
      case FourierForm::phase:
        return ColumnForm::real;
      case FourierForm::complex:
        break;
    }
    return ColumnForm::complex;
  }
  // |a| is the same for every frequency, and the variance of the pair form that of Re a.
  ColumnMoments column_moments(const double* x, const double* y) const override {
    const ColumnMoments moments = independent_columns(x, y);
    if (column_form() != ColumnForm::halves) return moments;
    const double most = kernel().value_at_multiple(0, inputs(), x, y);
    return {most * most, 2 * moments.square - most * most};
  }

  // Columns with weights of their own would count as much as the others in a code.
  std::optional<UniformCosines> uniform_cosines() const override {
    const ColumnLaw law = column_law(parts_);
    if (!law.phase_seed || law.share) return std::nullopt;
    return UniformCosines{law.scale, *law.phase_seed};
  }

  int64_t incomplete_block() const override {
    if (parts_.frequencies != nullptr) return 0;
    return parts_.options.incomplete_block(inputs(), parts_.F);
  }

  std::vector<NumberArray> numbers() const override {
    if (parts_.frequencies == nullptr) return {};
    const MatrixView<double> W = parts_.frequencies->view();
    return {
        {"frequencies", {W.rows, W.cols}, std::vector<double>(W.data, W.data + W.rows * W.cols)},
        {"weights", {W.rows}, std::vector<double>(parts_.weights.begin(), parts_.weights.end())}};
  }

 private:
  double real_variance(const moment::StationaryValues& k) const {
    switch (parts_.options.form) {
      case FourierForm::pair:
        return moment::fourier_pair_variance(k, features());
      case FourierForm::phase:
        return moment::fourier_phase_variance(k, features());
      case FourierForm::complex:
        break;
    }
    return moment::fourier_complex_real_variance(k, features());
  }

  template <class Formula>
  void for_each_pair(MatrixView<const double> X, MatrixView<const double> Y, std::span<double> out,
                     const Formula& formula) const {
    require(parts_.frequencies == nullptr, MERCER_UNSUPPORTED,
            "the map's frequencies were supplied, not drawn: the estimate has no variance in "
            "closed form");
    const projection::ProjectionEntry& entry =
        projection::find_projection(parts_.options.projection);
    parts_.options.require_equal_shares();
    require(!entry.product_columns_correlate || parts_.kernel->spectral_law()->isotropic(),
            MERCER_UNSUPPORTED,
            "%s columns of kernel %s depend on each other: the variance has no closed form",
            entry.name, std::string(parts_.kernel->name()).c_str());
    const kernel::Kernel& kernel = *parts_.kernel;
    for (int64_t i = 0; i < X.rows; ++i) {
      const auto at = [&](double multiple) {
        return kernel.value_at_multiple(multiple, X.cols, X.row(i), Y.row(i));
      };
      out[static_cast<size_t>(i)] = formula({at(0), at(1), at(2)});
    }
  }

  Ingredients parts_;
};

std::shared_ptr<const kernel::Kernel> copy_of(const kernel::Kernel& kernel) {
  return kernel.with_variance(kernel.variance());
}

// The limit of specs, and so of files: BLAS counts in 32 bits.
constexpr int64_t kMostColumns = (int64_t{1} << 31) - 1;

int64_t frequency_count(int64_t D, FourierForm form) {
  require(D >= 1 && D <= kMostColumns, MERCER_INVALID_ARGUMENT,
          "features = %lld, expected 1 to 2147483647", static_cast<long long>(D));
  if (form != FourierForm::pair) return D;
  require(D % 2 == 0, MERCER_INVALID_ARGUMENT,
          "features = %lld, expected an even number for the form pair", static_cast<long long>(D));
  return D / 2;
}

void check_sizes(const kernel::Kernel& kernel, int64_t d, int64_t F) {
  require(d >= 1 && d <= kMostColumns, MERCER_INVALID_ARGUMENT,
          "inputs = %lld, expected 1 to 2147483647", static_cast<long long>(d));
  checked_multiply(checked_multiply(d, checked_add(F, 64, "frequencies"), "frequencies"),
                   sizeof(double), "frequencies");
  require(kernel.spectral_law() != nullptr, MERCER_UNSUPPORTED,
          "kernel %s is not shift-invariant: it has no random Fourier features",
          std::string(kernel.name()).c_str());
}

}  // namespace

std::unique_ptr<FeatureMap> make_fourier(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                         const FourierOptions& options) {
  require(options.projection != "supplied", MERCER_UNSUPPORTED,
          "projection = supplied needs the frequencies themselves, it cannot be drawn from a seed");
  options.check();
  const StandardRounding rounding;
  const int64_t asked = frequency_count(D, options.form);
  check_sizes(kernel, d, asked);
  kernel.check_dimension(d);
  const int64_t F = options.columns(d, asked);
  return std::make_unique<Fourier>(Ingredients{copy_of(kernel), options, d, F, nullptr, {}});
}

namespace {

void check_supplied(const kernel::Kernel& kernel, int64_t d, int64_t F,
                    std::span<const double> weights, const FourierOptions& options) {
  require(F >= 1, MERCER_INVALID_ARGUMENT, "F = %lld frequencies, expected at least 1",
          static_cast<long long>(F));
  const int64_t most = options.form == FourierForm::pair ? kMostColumns / 2 : kMostColumns;
  require(F <= most, MERCER_INVALID_ARGUMENT, "F = %lld frequencies, expected at most %lld",
          static_cast<long long>(F), static_cast<long long>(most));
  check_sizes(kernel, d, F);
  require(options.radius == projection::Radius::drawn &&
              options.scramble == projection::Scramble::owen && !options.whole_blocks,
          MERCER_UNSUPPORTED,
          "radius, scramble and whole_blocks do not apply to supplied frequencies");
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
  auto copy = std::make_shared<Matrix<double>>(F, frequencies.cols);
  for (int64_t j = 0; j < F; ++j) {
    for (int64_t k = 0; k < frequencies.cols; ++k) {
      const double omega = frequencies(j, k);
      require(std::isfinite(omega), MERCER_INVALID_ARGUMENT,
              "frequencies[%lld, %lld] = %g, expected a finite number", static_cast<long long>(j),
              static_cast<long long>(k), omega);
      (*copy)(j, k) = omega;
    }
  }
  std::vector<double> shares(weights.begin(), weights.end());
  if (shares.empty()) shares.assign(static_cast<size_t>(F), 1.0 / static_cast<double>(F));
  FourierOptions supplied;
  supplied.form = options.form;
  supplied.seed = options.seed;
  supplied.projection = "supplied";
  return std::make_unique<Fourier>(
      Ingredients{copy_of(kernel), supplied, frequencies.cols, F, copy, shares});
}

}  // namespace mercer::feature
