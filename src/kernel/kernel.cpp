// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What every kernel has: its canonical parameters, and copies with one of them changed.
#include "kernel/kernel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/parameters.h"
#include "kernel/custom.h"
#include "kernel/entry.h"
#include "transform/row_prologue.h"

namespace mercer::kernel {
namespace {

Parameters scalar_of(const Kernel& whole) {
  Parameters scalar = whole.parameters().object("scalar");
  scalar.set("variance", whole.variance() * scalar.number("variance"));
  return scalar;
}

constexpr double kTolerance = 1e-4;

/// Also for a row of zeros, whose norm has no inverse.
template <class T>
double norm(int64_t d, const T* x) noexcept {
  const bool zeros = std::all_of(x, x + d, [](T one) { return one == 0; });
  return zeros ? 0 : 1 / transform::inverse_norm(d, x);
}
template <class T>
double norm(const MatrixView<const T>& X, int64_t i, std::vector<T>&) noexcept {
  return norm(X.cols, X.row(i));
}
// Columns that are stored twice add up.
template <class T>
double norm(const CsrView<T>& X, int64_t i, std::vector<T>& sums) {
  sums.resize(X.cols);
  add_row(X, i, sums.data());
  const double of_row = norm(X.cols, sums.data());
  clear_row(X, i, sums.data());
  return of_row;
}

const Field& kernel_name_field() {
  static const Field field = name_field("kernel", kernel_table(), "which kernel");
  return field;
}

}  // namespace

InputBound stricter(const InputBound& a, const InputBound& b) {
  const auto above = [](const InputBound& one, const InputBound& other, int64_t j) {
    return one.at(j) > other.at(j) || (one.at(j) == other.at(j) && one.open);
  };
  if (a.each.empty() && b.each.empty()) return above(a, b, 0) ? a : b;
  // Of a closed bound the next number below is an open one.
  const auto opened = [](const InputBound& one, int64_t j) {
    return one.open ? one.at(j) : std::nextafter(one.at(j), -kInfinity);
  };
  InputBound both{kInfinity, true};
  for (int64_t j = 0; j < std::ssize(a.each.empty() ? b.each : a.each); ++j) {
    both.each.push_back(std::max(opened(a, j), opened(b, j)));
    both.least = std::min(both.least, both.each.back());
  }
  return both;
}

Kernel::Kernel(Parameters canonical)
    : parameters_(std::move(canonical)),
      name_(parameters_.text("kernel")),
      variance_(parameters_.number("variance")) {
  for (const char* const divisor : {"lengthscale", "period"})
    if (parameters_.find(divisor) != nullptr) lengthscale_ = parameters_.numbers(divisor);
}

// For a kernel k(x - y) every derivative is one in the difference:
//  d^{p,q} k(x, y) = (-1)^{|q|} (d^{p+q} k)(x - y).
std::unique_ptr<const Differential> Kernel::differential(const MultiIndex& p,
                                                         const MultiIndex& q) const {
  const double sign = total_order(q) % 2 == 0 ? 1 : -1;
  return make_differential(
      [this, order = sum_of(p, q), sign](int64_t d, const double* x, const double* y) {
        return sign * derivative(order, d, x, y);
      });
}

void Kernel::add_gradient(double, int64_t d, const double*, const double*,
                          double* out) const noexcept {
  std::fill_n(out, d, kNaN);
}

double Kernel::derivative(const MultiIndex&, int64_t, const double*, const double*) const noexcept {
  return kNaN;
}

void Kernel::compute(MatrixView<const double> X, MatrixView<const double> Y,
                     MatrixView<double> K) const {
  for (int64_t i = 0; i < X.rows; ++i)
    for (int64_t j = 0; j < Y.rows; ++j) K(i, j) = value(X.cols, X.row(i), Y.row(j));
}

double Kernel::log_size(int64_t d, const double* x, const double* y) const noexcept {
  return std::log(std::fabs(value(d, x, y)));
}

double Kernel::value_at_multiple(double, int64_t, const double*, const double*) const noexcept {
  return kNaN;
}

bool Kernel::ignores_common_zeros() const noexcept {
  if (lengthscale_.size() > 1 || traits_.only_inputs > 0 || traits_.left_inputs > 0 ||
      traits_.calls != Calls::none)
    return false;
  const std::optional<Composition> composed = composition();
  return !composed || std::ranges::all_of(composed->parts, [](const auto& part) {
    return part->ignores_common_zeros();
  });
}

int64_t Kernel::outputs(int64_t d) const {
  check_dimension(d);
  return 1;
}

void Kernel::check_dimension(int64_t d) const {
  require(matrix() == nullptr, MERCER_UNSUPPORTED,
          "kernel %s has several outputs, expected a kernel of one", name_.c_str());
  require(d >= 1, MERCER_INVALID_ARGUMENT, "d = %ld, expected at least one input", d);
  require(lengthscale_.size() <= 1 || static_cast<int64_t>(lengthscale_.size()) == d,
          MERCER_DIMENSION_MISMATCH,
          "lengthscale holds %zu numbers, expected one, or one for each of the %ld inputs",
          lengthscale_.size(), d);
  require(traits_.only_inputs == 0 || d == traits_.only_inputs, MERCER_DIMENSION_MISMATCH,
          "d = %ld, expected the %ld inputs that kernel %s has parameters for", d,
          traits_.only_inputs, name_.c_str());
  require(traits_.most_inputs == 0 || d <= traits_.most_inputs, MERCER_DIMENSION_MISMATCH,
          "d = %ld, expected at most the %ld inputs for which kernel %s was made", d,
          traits_.most_inputs, name_.c_str());
  require(d > traits_.left_inputs, MERCER_DIMENSION_MISMATCH,
          "d = %ld, expected more than the %ld inputs of the left part", d, traits_.left_inputs);
  require(d >= traits_.least_inputs, MERCER_DIMENSION_MISMATCH,
          "d = %ld, expected at least the %ld inputs of a subset of kernel %s", d,
          traits_.least_inputs, name_.c_str());
  const std::optional<Composition> composed = composition();
  for (size_t i = 0; composed && i < composed->parts.size(); ++i) {
    try {
      composed->parts[i]->check_dimension(d);
    } catch (const Error& error) {
      throw error.within("parts[" + std::to_string(i) + "]");
    }
  }
}

std::unique_ptr<Kernel> Kernel::copy() const { return with_variance(variance_); }

std::unique_ptr<Kernel> Kernel::with_variance(double variance) const {
  const CustomPin pin(*this);
  Parameters changed = parameters_;
  changed.set("variance", variance);
  return make_kernel(changed);
}

MatrixKernel::MatrixKernel(Parameters canonical)
    : Kernel(std::move(canonical)), scalar_(make_kernel(scalar_of(*this))) {
  traits_.input_bound = scalar_->traits().input_bound;
  traits_.calls = scalar_->traits().calls;
}

const Kernel& MatrixKernel::scalar() const {
  require(scalar_ != nullptr, MERCER_UNSUPPORTED,
          "kernel %s is made of several kernels, expected one made of one",
          std::string(name()).c_str());
  return *scalar_;
}

void check_unit_rows(const Kernel& kernel, const char* name, const Rows& X) {
  if (!kernel.traits().needs_unit_rows) return;
  X.visit([&]<class View>(const View& rows) {
    std::vector<RowNumberOf<View>> sums;
    for (int64_t i = 0; i < rows.rows; ++i) {
      const double found = norm(rows, i, sums);
      const bool has_nan = std::isnan(found);
      require(
          has_nan || std::fabs(found - 1) <= kTolerance, MERCER_INVALID_ARGUMENT, at_row(i),
          "%s has the norm %g, expected 1, as kernel %s takes: divide rows by their norms, or say "
          "unit_rows = true",
          name, found, std::string(kernel.name()).c_str());
    }
  });
}

// All kernels, in the order in which they are listed. Each is defined in the file of its family; a
// new one is declared and listed here.
KernelEntry gaussian_entry(), laplacian_entry(), cauchy_entry(), matern_entry(),
    rational_quadratic_entry(), generalized_gaussian_spectrum_entry(), skewed_chi2_entry(),
    radial_entry(), spectral_mixture_entry(), polynomial_entry(), sphere_polynomial_entry(),
    bilinear_entry(), periodic_entry(), spline_entry(), additive_chi2_entry(), intersection_entry(),
    jensen_shannon_entry(), hellinger_entry(), exponential_chi2_entry(), tanimoto_entry(),
    exponential_semigroup_entry(), reciprocal_semigroup_entry(), anova_entry(), exponential_entry(),
    dot_product_entry(), arc_cosine_entry(), sign_entry(), optical_entry(), sum_entry(),
    product_entry(), metric_entry(), custom_entry(), decomposable_entry(), curl_free_entry(),
    divergence_free_entry(), helmholtz_entry();

static std::vector<KernelEntry> make_entries() {
  std::vector<KernelEntry> table = {gaussian_entry(),
                                    laplacian_entry(),
                                    cauchy_entry(),
                                    matern_entry(),
                                    rational_quadratic_entry(),
                                    generalized_gaussian_spectrum_entry(),
                                    skewed_chi2_entry(),
                                    radial_entry(),
                                    spectral_mixture_entry(),
                                    periodic_entry(),
                                    spline_entry(),
                                    polynomial_entry(),
                                    sphere_polynomial_entry(),
                                    bilinear_entry(),
                                    additive_chi2_entry(),
                                    intersection_entry(),
                                    jensen_shannon_entry(),
                                    hellinger_entry(),
                                    exponential_chi2_entry(),
                                    tanimoto_entry(),
                                    exponential_semigroup_entry(),
                                    reciprocal_semigroup_entry(),
                                    anova_entry(),
                                    exponential_entry(),
                                    dot_product_entry(),
                                    arc_cosine_entry(),
                                    sign_entry(),
                                    optical_entry(),
                                    sum_entry(),
                                    product_entry(),
                                    metric_entry(),
                                    custom_entry(),
                                    decomposable_entry(),
                                    curl_free_entry(),
                                    divergence_free_entry(),
                                    helmholtz_entry()};
  for (KernelEntry& entry : table) {
    entry.fields.push_back(
        positive_field("variance", 1.0, "amplitude: the factor in front of the kernel"));
  }
  return table;
}

std::span<const KernelEntry> kernel_table() { return made_once<make_entries>(); }

const KernelEntry& kernel_entry(const Parameters& given, const std::string& path) {
  return named_entry(given, kernel_name_field(), kernel_table(), path);
}

std::vector<Field> kernel_fields(const KernelEntry& entry) {
  std::vector<Field> fields{kernel_name_field()};
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  return fields;
}

Parameters canonical_kernel(const Parameters& given, const std::string& path) {
  const Envelope envelope = open_envelope(given, path);
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "%sneeds = \"data\": the kernel cannot be made from its spec alone", path.c_str());
  return check_fields(envelope.body, kernel_fields(kernel_entry(envelope.body, path)), path);
}

Parameters canonical_scalar_kernel(const Parameters& given, const std::string& path) {
  Parameters canonical = canonical_kernel(given, path);
  const KernelEntry& entry = kernel_entry(canonical, path);
  require(output_count(canonical) == OutputCount::one, MERCER_UNSUPPORTED,
          "%skernel = %s has several outputs, expected a kernel of one", path.c_str(), entry.name);
  return canonical;
}

OutputCount output_count(const Parameters& canonical) {
  const OutputCount own = kernel_entry(canonical, "").outputs;
  const bool joins = canonical.find("parts") != nullptr &&
                     std::ranges::any_of(canonical.objects("parts"), [](const auto& part) {
                       return output_count(*part) != OutputCount::one;
                     });
  return joins ? OutputCount::parts : own;
}

const char* default_map(const Parameters& given, const std::string& path) {
  const KernelEntry& entry = kernel_entry(given, path);
  if (entry.outputs == OutputCount::gamma && given.find("scalar") != nullptr)
    return default_map(given.object("scalar"), path);
  if (given.find("of") != nullptr) return default_map(given.object("of"), path);
  return entry.default_map;
}

std::unique_ptr<Kernel> make_kernel(const Parameters& given) {
  const Parameters canonical = canonical_kernel(given, "");
  return kernel_entry(canonical, "").make(canonical);
}

Field positive_field(const char* key, double fallback, const char* help) {
  return number_above_field(key, fallback, 0, std::numeric_limits<double>::max(), help);
}

Field lengthscale_field() {
  return {.key = "lengthscale",
          .type = FieldType::number_or_numbers,
          .fallback = 1.0,
          .least = kLeastLengthscale,
          .most = kMostLengthscale,
          .help = "l: one number, or one per input (tau_j is divided by l_j)"};
}

Field scalar_field() {
  return {.key = "scalar",
          .type = FieldType::kernel,
          .fallback = std::make_shared<const Parameters>(Parameters{{"kernel", "gaussian"}}),
          .help = "the kernel of one output that it is made of",
          .canonical = canonical_scalar_kernel};
}

}  // namespace mercer::kernel
