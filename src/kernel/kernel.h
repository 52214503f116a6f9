// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact kernels: value, Gram matrix, spectral law, parameters for specs. Immutable
// once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/numbers.h"
#include "base/parameters.h"
#include "base/views.h"
#include "random/distributions.h"
#include "transform/row_prologue.h"

namespace mercer::kernel {

// Which partial derivative: d^p = prod_k (d/dx_k)^{p_k}.

/// An input that is differentiated by, and how often.
struct PartialFactor {
  int64_t input;
  int64_t order;
};
/// p, without its zeros, inputs ascending; empty: the value itself.
using MultiIndex = std::vector<PartialFactor>;

/// The largest |p|: enough for every use known, and powers of frequencies stay numbers.
inline constexpr int64_t kMostDerivatives = 32;

/// |p|.
inline int64_t total_order(const MultiIndex& p) noexcept {
  int64_t total = 0;
  for (const PartialFactor& factor : p) total += factor.order;
  return total;
}

/// body(k, p_k, q_k) for every input of p or q.
template <class Body>
void for_each_input(const MultiIndex& p, const MultiIndex& q, const Body& body) {
  size_t a = 0, b = 0;
  while (a < p.size() || b < q.size()) {
    const bool in_p = a < p.size() && (b == q.size() || p[a].input <= q[b].input);
    const bool in_q = b < q.size() && (a == p.size() || q[b].input <= p[a].input);
    body(in_p ? p[a].input : q[b].input, in_p ? p[a].order : int64_t{0},
         in_q ? q[b].order : int64_t{0});
    a += in_p;
    b += in_q;
  }
}

/// Stands before the inputs of y where derivatives in x and in y share one index.
inline constexpr int64_t kOfSecond = int64_t{1} << 40;
/// p in x and q in y as one.
inline MultiIndex joint_index(const MultiIndex& p, const MultiIndex& q) {
  MultiIndex joint = p;
  for (const PartialFactor& one : q) joint.push_back({one.input + kOfSecond, one.order});
  return joint;
}

/// p + q.
MultiIndex sum_of(const MultiIndex& p, const MultiIndex& q);

/// k(x, y) = variance prod_{i < degree} (gamma u_i'v_i + offset): u_i = x and v_i = y, or, with
/// left_inputs, the two parts of both.
struct InnerPower {
  int64_t degree;
  double gamma;
  double offset;
};

/// A spectral law of independent coordinates: omega_k = scale u / l_k, u of density proportional to
/// exp(-u^{2 order}).
struct EvenPowerSpectrum {
  int64_t order;
  double scale;
};

/// k(x, y) = variance c E f(w'x) f(w'y), w ~ N(0, I).
struct Activation {
  enum class Function {
    positive_power,  // f(u) = 1[u > 0] u^order, c = 2
    sign,            // f(u) = sign(u), c = 1
    real_modulus,    // f(u) = |u|^order, c = 1
    complex_modulus  // likewise, and w ~ CN(0, I)
  };
  Function function;
  int64_t order;
};

class Custom;
class Kernel;
class MatrixKernel;

/// k = variance times the sum or the product of the parts.
struct Composition {
  enum class Rule { sum, product };
  Rule rule;
  std::span<const std::shared_ptr<const Kernel>> parts;
};

/// k(x, y) = kernel(A x, A y), A r x d.
struct Metric {
  std::shared_ptr<const Kernel> kernel;
  Matrix<double> A;

  /// u = A x.
  void multiply(const double* x, double* u) const noexcept;
  /// d^p of a function of A x, as derivatives of the function at A x and their coefficients.
  std::vector<std::pair<MultiIndex, double>> chain(const MultiIndex& p) const;
};
/// A X_i for every row, as multiply() computes it.
Matrix<double> multiply_rows(const Metric& metric, const Rows& X, Context& context);

/// k(x, y) = g(x) g(y) sum_n a_n (x'y)^n, a_n >= 0, g(x) = exp(-radial ||x||^2 / 2), amplitude
/// included; x and y over the kernel's lengthscale, if it has one.
class PowerSeries {
 public:
  virtual ~PowerSeries() = default;
  /// a_n; 0 beyond degree().
  virtual double coefficient(int64_t n) const noexcept = 0;
  /// The largest n with a_n != 0; none: there are infinitely many.
  virtual std::optional<int64_t> degree() const noexcept = 0;
  /// a_n = a_0 / n!.
  virtual bool is_exponential() const noexcept { return false; }
  virtual double radial() const noexcept { return 0; }
};

/// k(x, y) = variance sum_j sqrt(x_j y_j) K(log x_j - log y_j) on [0, inf)^d, with
/// K(t) = integral of kappa(l) cos(l t) over l (Vedaldi, Zisserman 2012).
class HomogeneousSpectrum {
 public:
  virtual ~HomogeneousSpectrum() = default;
  /// kappa(l), the same on every machine.
  virtual double density(double l) const noexcept = 0;
  /// The sample spacing of kappa whose sum of this order is closest to K.
  virtual double best_period(int64_t order) const noexcept = 0;
  /// Samples beyond this order are 0.
  virtual int64_t most_order() const noexcept = 0;
};

/// A shift-invariant kernel that random Fourier features estimate in place of another, and how far
/// the two are apart over the distances that occur: the estimate's bias.
struct StandIn {
  std::shared_ptr<const Kernel> kernel;
  double largest_bias;
  double rms_bias;
};

/// Whether values are those of a callback's, and how that is called: not at all, by one thread, the
/// one that called the library, or by several at once.
enum class Calls { none, in_turn, at_once };

/// Inputs >= least, or > least where it is open.
struct InputBound {
  double least;  // of `each` the smallest
  bool open;
  std::vector<double> each = {};  // of every input, where they differ

  double at(int64_t j) const noexcept { return each.empty() ? least : each[j]; }
  /// Whether x is outside the bound of input j; false for NaN.
  bool excludes(int64_t j, double x) const noexcept { return open ? x <= at(j) : x < at(j); }
};
/// The bound of inputs that both allow.
InputBound stricter(const InputBound& a, const InputBound& b);

/// What a kernel is or has beside its value; the defaults are those of most kernels.
struct KernelTraits {
  /// k = variance exp(-||tau||^2 / 2), tau over the lengthscale.
  bool is_gaussian = false;
  /// k = variance sum_j min(x_j, y_j) / sum_j max(x_j, y_j), of rows of zeros variance.
  bool is_tanimoto = false;
  /// A kernel of rows of norm 1 alone, which maps and Gram matrices then require.
  bool needs_unit_rows = false;
  /// k is a strictly decreasing function of sum_k |tau_k|, not of Euclid's norm.
  bool falls_with_magnitudes = false;
  /// The least allowed input: the kernel is NaN for rows with inputs below it. None: every number
  /// is allowed.
  std::optional<InputBound> input_bound = {};
  /// Kernels of rows [x1 | x2]: the inputs of x1. Others: 0.
  int64_t left_inputs = 0;
  /// With fewer inputs the kernel would be 0 everywhere.
  int64_t least_inputs = 1;
  /// The one number of inputs of kernels with parameters for each of them; 0: any.
  int64_t only_inputs = 0;
  /// The most inputs in which it is positive definite; 0: any number.
  int64_t most_inputs = 0;
  /// Values are so close to those of a positive definite kernel; 0: they are of one.
  double value_error = 0;
  /// The parameters of a spectral law of this form.
  std::optional<EvenPowerSpectrum> even_power_spectrum = {};
  /// None: there are no product sketches and no linear map.
  std::optional<InnerPower> inner_power = {};
  /// None: there are no features of one function of random projections.
  std::optional<Activation> activation = {};
  /// k = variance times the sum over subsets of this many inputs of the products of their x_j y_j;
  /// 0: over all subsets. None: there are no ANOVA features.
  std::optional<int64_t> subset_degree = {};
  /// Kernels E exp(-omega'(x + y)) on [0, inf)^d: the law of omega >= 0. Null: no Laplace features.
  const random::Law* laplace_law = nullptr;
  /// Kernels variance prod_j f(|x_j - y_j|/l_j) where w f''(w) is a density on [0, inf): the law of
  /// w, in independent coordinates. Null: no random binning.
  const random::Law* bin_width_law = nullptr;
  /// Null: no additive map.
  const HomogeneousSpectrum* homogeneous = nullptr;
  /// Values come from callbacks, in blocks by compute(), which gram() asks for; value() is a call of
  /// its own, and NaN where that fails. Rows may be codes: fits leave them as they are.
  Calls calls = Calls::none;
  /// Null: not a kernel of A x. Otherwise features and spectral law are those of its kernel at A x,
  /// and absent here.
  const Metric* metric = nullptr;
};

/// A derivative of a kernel.
class Differential {
 public:
  virtual ~Differential() = default;
  /// x and y hold no NaN: derivative_gram and feature maps handle such rows themselves.
  virtual double at(int64_t d, const double* x, const double* y) const noexcept = 0;
};

class Kernel {
 public:
  Kernel(const Kernel&) = delete;
  virtual ~Kernel() = default;

  std::string_view name() const noexcept { return name_; }
  /// The canonical spec: "kernel" first, then the entry's fields, every default filled in,
  /// "variance" last.
  const Parameters& parameters() const noexcept { return parameters_; }

  /// p for rows of d inputs: K(x, y) is p x p, for most kernels a number. Errors:
  /// DIMENSION_MISMATCH for a d that the kernel does not take.
  virtual int64_t outputs(int64_t d) const;
  /// Null for kernels of one output. Otherwise value() is NaN and the members below are absent: the
  /// scalar kernel it is built from has them.
  virtual const MatrixKernel* matrix() const noexcept { return nullptr; }

  /// k(x, y), amplitude included; x and y have d entries. A kernel has no dimension of its own, but
  /// d has to pass check_dimension.
  virtual double value(int64_t d, const double* x, const double* y) const noexcept = 0;

  /// K(i, j) = k(X_i, Y_j) on this thread, for blocks of few rows. Errors: of callbacks.
  virtual void compute(MatrixView<const double> X, MatrixView<const double> Y,
                       MatrixView<double> K) const;
  /// The callbacks that it is made of; null: another kernel.
  virtual std::shared_ptr<const Custom> custom() const noexcept { return nullptr; }

  /// log |k(x, y)|, for exponential kernels finite where the value over- or underflows.
  virtual double log_size(int64_t d, const double* x, const double* y) const noexcept;

  /// Shift-invariant kernels (spectral_law() != nullptr): the kernel at `multiple` times the
  /// difference (after the prologue): k(0) at multiple 0, k(tau) at 1, k(2 tau) at 2. Others: NaN.
  virtual double value_at_multiple(double multiple, int64_t d, const double* x,
                                   const double* y) const noexcept;

  /// Whether inputs that are 0 in both x and y can be skipped: true unless the kernel distinguishes
  /// inputs, by parameters or parts of the row.
  bool ignores_common_zeros() const noexcept;

  /// The highest |p| + |q| for which d^{p,q} k has a closed form on the whole domain; 0: none.
  virtual int64_t most_derivatives() const noexcept { return 0; }
  /// d^{p,q} k: order p_k in entry k of x, q_k in entry k of y, |p| + |q| <= most_derivatives().
  /// The result refers to the kernel. The default uses derivative(). UNSUPPORTED if p and q of a
  /// product have more terms than Jet::kMost.
  virtual std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                           const MultiIndex& q) const;
  /// Shift-invariant kernels: (d^order k)(x - y), k as a function of the difference; NaN without
  /// most_derivatives().
  virtual double derivative(const MultiIndex& order, int64_t d, const double* x,
                            const double* y) const noexcept;
  /// out[k] += factor dk(x, y)/dx_k, with most_derivatives(); x and y hold no NaN; O(d).
  virtual void add_gradient(double factor, int64_t d, const double* x, const double* y,
                            double* out) const noexcept;

  /// k(0) of shift-invariant kernels, amplitude included.
  virtual double value_at_zero() const noexcept { return variance(); }
  /// Null if there are no random Fourier features.
  virtual const random::Law* spectral_law() const noexcept { return nullptr; }
  /// k depends on x - y alone, of rows as they are.
  bool is_shift_invariant() const { return spectral_law() != nullptr && prologue() == nullptr; }
  /// For kernels without a spectral law: a kernel of d inputs that has one and stands in for it.
  /// None: there are no random Fourier features.
  virtual std::optional<StandIn> stand_in(int64_t /*d*/) const { return std::nullopt; }
  /// What happens to rows before a Fourier map projects them; null: nothing.
  virtual std::shared_ptr<const transform::RowPrologue> prologue() const { return nullptr; }
  /// None: not made of other kernels.
  virtual std::optional<Composition> composition() const noexcept { return std::nullopt; }
  /// Null: there are no features by degree.
  virtual const PowerSeries* series() const noexcept { return nullptr; }
  const KernelTraits& traits() const noexcept { return traits_; }
  /// Kernels of a Euclidean norm: each s = ||tau||^2, tau over the lengthscale, becomes k, and its
  /// slope dk/ds, or 0 where that is infinite, at s = 0. Kernels that fall with magnitudes: likewise
  /// of s = sum_k |tau_k|. False: another kernel. Without slopes: values alone.
  virtual bool take_slopes(std::span<double> /*s*/, std::span<double> /*slopes*/) const noexcept {
    return false;
  }

  /// What inputs are divided by, for periodic kernels the period: empty (nothing), one (isotropic) or
  /// d (ARD) positive numbers.
  std::span<const double> lengthscale() const noexcept { return lengthscale_; }
  /// Amplitude sigma^2 = the factor in front of the kernel.
  double variance() const noexcept { return variance_; }

  /// Throws DIMENSION_MISMATCH if an ARD lengthscale or another per-input parameter has a length
  /// other than d, or if d cannot hold the parts of a row; INVALID_ARGUMENT if d < 1; UNSUPPORTED
  /// for kernels of several outputs, for which callers use outputs(d). Composed kernels also throw
  /// what their parts throw.
  void check_dimension(int64_t d) const;

  std::unique_ptr<Kernel> copy() const;
  /// A copy with another amplitude.
  std::unique_ptr<Kernel> with_variance(double variance) const;

 protected:
  /// `canonical` has been checked against the entry's fields.
  explicit Kernel(Parameters canonical);

  KernelTraits traits_;  // set by constructors

 private:
  Parameters parameters_;
  std::string name_;
  double variance_;
  std::vector<double> lengthscale_;
};

/// K(i, j) = k(X_i, Y_j), or p x p block (i, j) for a kernel of several outputs, (n p) x (m p) in
/// all; parallel over rows of X. Entries equal value() to rounding. NaN stays in its row or column
/// of K. If pairs_stored_numbers(kernel, Y), a pair costs its stored non-zeros, and memory beside K
/// is a copy of Y and 4 d bytes a thread; otherwise rows other than dense doubles are converted in
/// blocks of 16 MiB, for several outputs all at once. Kernels of a Euclidean norm take copies of
/// rows of 64 inputs and more, for BLAS.
/// A kernel of A x takes A times all rows at once, r doubles each, and then costs what its own does.
/// Memory is charged. Errors: DIMENSION_MISMATCH (columns of X, Y, ARD count, shape of K),
/// OUT_OF_MEMORY, CANCELLED (K then unspecified).
void gram(const Kernel& kernel, const Rows& X, const Rows& Y, Context& context,
          MatrixView<double> K);
/// out_i = sum_j K(X_i, Y_j) U_j without K: U m x (p count), out n x (p count), a row holding count
/// vectors of p outputs one after the other. Cost: that of gram, and n m times those vectors;
/// kernels of one output and decomposable by blocks of K and BLAS. Errors: those of gram.
void gram_multiply(const Kernel& kernel, const Rows& X, const Rows& Y, MatrixView<const double> U,
                   Context& context, MatrixView<double> out);
/// out[i] = k(X_i, X_i). Errors: of callbacks.
void diagonal(const Kernel& kernel, MatrixView<const double> X, std::span<double> out);
/// Whether rows are sparse with at most an eighth of their entries stored, and the kernel ignores
/// common zeros.
bool pairs_stored_numbers(const Kernel& kernel, const Rows& X);

/// K(i, j) = d^{p,q} k(X_i, Y_j), of order p_k in entry k of X_i and q_k in entry k of Y_j; NaN
/// where a row holds a NaN. Errors: gram's; UNSUPPORTED without derivatives of that order; those of
/// Kernel::differential.
void derivative_gram(const Kernel& kernel, const MultiIndex& p, const MultiIndex& q,
                     MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                     MatrixView<double> K);

/// The number of outputs p: one; as many as inputs, whose directions they are (a field); or the
/// rows of "gamma", for K = k gamma, whose features are those of k whatever gamma is; or that of
/// the parts of a sum.
enum class OutputCount { one, inputs, gamma, parts };

/// One kernel, defined in the file of its name. `fields`: its own parameters; the table adds
/// "variance". `default_map`: the map of specs that name none.
struct KernelEntry {
  const char* name;
  const char* help;  // formula, one line
  std::vector<Field> fields;
  std::unique_ptr<Kernel> (*make)(const Parameters& canonical);
  const char* default_map;
  OutputCount outputs = OutputCount::one;
  /// Whether constant fields have a stream function; for other kernels they have a potential.
  bool without_sources = false;
  /// A parameter in [0, 1] of which a search tries values unless the spec gives it, the first a
  /// reasonable one; null: none.
  const char* shape = nullptr;
  std::vector<double> shapes = {};
};
/// All kernels.
std::span<const KernelEntry> kernel_table();
/// The entry that given["kernel"] names. Errors: INVALID_ARGUMENT naming what exists.
const KernelEntry& kernel_entry(const Parameters& given, const std::string& path = "");

/// That of a kernel of these canonical Parameters: of a sum it depends on the parts.
OutputCount output_count(const Parameters& canonical);

/// The fields of an entry with "kernel", which names it, in front.
std::vector<Field> kernel_fields(const KernelEntry& entry);

/// Checks `given` against the fields of its kernel and fills in defaults; in canonical order,
/// without "mercer". Makes no object. `path` stands before keys in messages. Errors:
/// INVALID_ARGUMENT naming key, value and what is allowed, VERSION, UNSUPPORTED ("needs").
Parameters canonical_kernel(const Parameters& given, const std::string& path);
/// As canonical_kernel, for a kernel of one output; UNSUPPORTED for others.
Parameters canonical_scalar_kernel(const Parameters& given, const std::string& path);

/// KernelEntry::default_map of given["kernel"]. Errors: INVALID_ARGUMENT naming what exists.
const char* default_map(const Parameters& given, const std::string& path);

/// The kernel that `given` specifies: {"kernel": NAME, parameters}. Errors: those of
/// canonical_kernel.
std::unique_ptr<Kernel> make_kernel(const Parameters& given);

// Kernels of several outputs: K(x, y) is a p x p matrix.

struct FieldParts;
struct OutputRoot;

class MatrixKernel : public Kernel {
 public:
  int64_t outputs(int64_t d) const override = 0;
  const MatrixKernel* matrix() const noexcept final { return this; }
  double value(int64_t, const double*, const double*) const noexcept final { return kNaN; }

  /// The scalar kernel it is built from, times variance(). UNSUPPORTED for a sum.
  const Kernel& scalar() const;
  /// Outputs are directions of the inputs, in one unit with these.
  virtual bool is_of_directions() const noexcept { return field_parts() != nullptr; }
  /// Gamma where K = k Gamma for the scalar k, else no rows.
  virtual MatrixView<const double> gamma() const noexcept { return {}; }
  /// The root of gamma(), or null.
  virtual const OutputRoot* root() const noexcept { return nullptr; }
  /// A(omega) where it is the kernel's spectral density over the scalar one's, else null.
  virtual const FieldParts* field_parts() const noexcept { return nullptr; }

  /// kernel::gram and gram_multiply for checked shapes, X not empty. Except for BLAS, no byte
  /// depends on the number of threads.
  virtual void gram_rows(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                         MatrixView<double> K) const = 0;
  virtual void multiply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                             MatrixView<const double> U, Context& context,
                             MatrixView<double> out) const = 0;

 protected:
  /// `canonical` has passed the entry's fields, scalar_field() among them.
  explicit MatrixKernel(Parameters canonical);
  /// Of no one scalar kernel.
  MatrixKernel(Parameters canonical, std::nullptr_t) : Kernel(std::move(canonical)) {}

 private:
  std::unique_ptr<const Kernel> scalar_;
};

/// For a kernel of traits().needs_unit_rows: INVALID_ARGUMENT naming the first row of X, its norm
/// and what is expected, unless all norms are within 1e-4 of 1, about what four decimals of each
/// number keep. Rows with NaN pass: they stay NaN.
void check_unit_rows(const Kernel& kernel, const char* name, const Rows& X);

}  // namespace mercer::kernel
