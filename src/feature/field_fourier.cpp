// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of curl-free, divergence-free and mixed kernels. Unbounded form: omega from the kernel's
// spectral density, A(omega) as it is. Bounded form (Brault et al. 2016, section 3, with a factor
// that is missing there): omega from a density ||omega||^2 l^2/d times that, A of the vector of
// length sqrt(d)/l in the direction of omega. Both have the same kernel.
#include "feature/field_fourier.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/field_map.h"
#include "feature/fourier.h"
#include "feature/frequencies.h"
#include "kernel/entry.h"
#include "kernel/kernel.h"
#include "kernel/matrix_kernel.h"
#include "linalg/blas.h"

namespace mercer::feature {
namespace {

// Brault, d'Alche-Buc 2016, section 2.3, with the root of the divergence-free part
// corrected. The p x (p - 1) root is columns 2 to p of the Householder reflection that
// takes the first unit vector to omega/||omega|| or its opposite: O(p) per product, as for the
// other roots.

/// A unit vector, or 0, and the length that it has in A.
class Direction {
 public:
  Direction(const double* omega, int64_t p, double length) noexcept : omega_(omega) {
    double squares = 0;
    for (int64_t k = 0; k < p; ++k) squares += omega[k] * omega[k];
    norm_ = std::sqrt(squares);
    length_ = length > 0 ? length : norm_;
  }
  double operator[](int64_t k) const noexcept { return norm_ > 0 ? omega_[k] / norm_ : 0; }
  double length() const noexcept { return length_; }
  double sign() const noexcept { return omega_[0] < 0 ? -1 : 1; }

 private:
  const double* omega_;
  double norm_;
  double length_;
};

class FieldRoot final : public FrequencyRoot {
 public:
  FieldRoot(std::shared_ptr<const Frequencies> omega, const kernel::FieldParts& parts,
            double length, DivergenceRoot kind)
      : FrequencyRoot(omega->inputs(), field_root_width(omega->inputs(), parts, kind)),
        omega_(std::move(omega)),
        curl_(std::sqrt(parts.curl)),
        divergence_(std::sqrt(parts.divergence)),
        length_(length),
        orthonormal_(kind == DivergenceRoot::orthonormal) {}

  void prepare(Context& context) const override { omega_->prepared(context); }

  void spread(int64_t j, const double* c, double* out) const noexcept override {
    const int64_t p = outputs();
    const Direction e((*omega_)[j % omega_->count()], p, length_);
    std::fill_n(out, p, 0.0);
    if (curl_ > 0) {
      const double scale = curl_ * e.length() * *c++;
      for (int64_t k = 0; k < p; ++k) out[k] += scale * e[k];
    }
    if (divergence_ > 0) add_divergence(e, divergence_ * e.length(), c, out);
  }

  void gather(int64_t j, const double* g, double* c) const noexcept override {
    const Direction e((*omega_)[j % omega_->count()], outputs(), length_);
    const double along = dot(e, g);
    if (curl_ > 0) *c++ = curl_ * e.length() * along;
    if (divergence_ == 0) return;
    const double scale = divergence_ * e.length();
    if (!orthonormal_) {
      for (int64_t k = 0; k < outputs(); ++k) c[k] = scale * (g[k] - e[k] * along);
      return;
    }
    const double factor = (along + e.sign() * g[0]) / (1 + std::fabs(e[0]));
    for (int64_t k = 1; k < outputs(); ++k) c[k - 1] = scale * (g[k] - factor * e[k]);
  }

 private:
  double dot(const Direction& e, const double* g) const noexcept {
    double sum = 0;
    for (int64_t k = 0; k < outputs(); ++k) sum += e[k] * g[k];
    return sum;
  }

  void add_divergence(const Direction& e, double scale, const double* c,
                      double* out) const noexcept {
    const int64_t p = outputs();
    if (!orthonormal_) {
      const double along = dot(e, c);
      for (int64_t k = 0; k < p; ++k) out[k] += scale * (c[k] - e[k] * along);
      return;
    }
    // v = e + sign e_1, v'v = 2 (1 + |e_1|).
    double along = 0;
    for (int64_t k = 1; k < p; ++k) along += e[k] * c[k - 1];
    const double factor = along / (1 + std::fabs(e[0]));
    out[0] -= scale * factor * (e[0] + e.sign());
    for (int64_t k = 1; k < p; ++k) out[k] += scale * (c[k - 1] - factor * e[k]);
  }

  std::shared_ptr<const Frequencies> omega_;
  double curl_;
  double divergence_;
  double length_;
  bool orthonormal_;
};

constexpr const char* kSymmetric = "symmetric";
constexpr int64_t kVarianceRows = 32;

int64_t chunks_of(MatrixView<const double> X) { return ceil_divide(X.rows, kVarianceRows); }

void require_variance(const projection::ProjectionEntry& entry, const kernel::Kernel& kernel) {
  require(!entry.product_columns_correlate || kernel.spectral_law()->isotropic(),
          MERCER_UNSUPPORTED,
          "%s columns of kernel %s depend on each other: the variance has no closed form",
          entry.name, std::string(kernel.name()).c_str());
}

/// Uses one of `variances` for each thread; with a single one there are no threads, and it may
/// allocate.
void variance_of_rows(std::vector<FieldVariance>& variances, MatrixView<const double> X,
                      MatrixView<const double> Y, Context& context, MatrixView<double> out) {
  const int64_t d = X.cols;
  if (variances.size() > 1)
    return parallel_for(
        context, chunks_of(X),
        [&](int64_t chunk, int worker) noexcept {
          const int64_t end = std::min(X.rows, (chunk + 1) * kVarianceRows);
          for (int64_t i = chunk * kVarianceRows; i < end; ++i)
            variances[worker].at(X.row(i), Y.row(i), {out.row(i), d, d});
        },
        kVarianceRows);
  Stage stage(context, X.rows);
  for (int64_t i = 0; i < X.rows; ++i) {
    variances[0].at(X.row(i), Y.row(i), {out.row(i), d, d});
    stage.advance(1);
    context.checkpoint();
  }
}

DivergenceRoot root_of(const MapArguments& arguments) {
  const bool symmetric =
      arguments.own.find("root") == nullptr || arguments.own.text("root") == kSymmetric;
  return symmetric ? DivergenceRoot::symmetric : DivergenceRoot::orthonormal;
}

// Rules whose columns have weights (quadrature), or that cut the norm of omega off, are right for
// cosines only. Multiplied by an A(omega) that grows with omega they estimate another kernel; for
// curl_free in two dimensions the trace would be half as large.
void check_choice(const MapArguments& arguments, const ProjectionChoice& choice) {
  const std::string kernel(arguments.kernel.name());
  const FourierForm form = kFourierForm.read(arguments.own);
  require(form == FourierForm::pair, MERCER_UNSUPPORTED,
          "form = %s of kernel %s, expected pair: cosines and sines side by side",
          kFourierForms[static_cast<size_t>(form)], kernel.c_str());
  require(
      choice.projection != kSupplied, MERCER_UNSUPPORTED,
      "projection = supplied of kernel %s, expected a kernel of one output, and roots beside the "
      "frequencies",
      kernel.c_str());
  require(choice.projection != kGrid && choice.has_equal_shares(), MERCER_UNSUPPORTED,
          "the columns of projection %s have weights, which are right for cosines alone, not times "
          "the root of kernel %s",
          choice.projection.c_str(), kernel.c_str());
  require(root_of(arguments) == DivergenceRoot::symmetric || has_divergence(arguments.kernel),
          MERCER_UNSUPPORTED,
          "root = orthonormal of kernel %s, expected it left out: its root is omega itself",
          kernel.c_str());
  const int64_t step = field_features_step(arguments);
  require(arguments.features >= 1 && arguments.features % step == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected a multiple of %ld: a cosine and a sine of each frequency times "
          "the columns of its root",
          arguments.features, step);
}

/// The exact operator variance with F frequencies; `length` as in make_field_root.
RowVariance variance_of(std::shared_ptr<const kernel::Kernel> kernel,
                        const projection::ProjectionEntry& entry, int64_t F, double length) {
  return [kernel, &entry, F, length](MatrixView<const double> X, MatrixView<const double> Y,
                                     Context& running, MatrixView<double> out) {
    const kernel::MatrixKernel& field = *kernel->matrix();
    const kernel::Kernel& k = field.scalar();
    require_variance(entry, k);
    // Others make derivatives anew for every pair.
    const int threads = kernel::RadialPairs::serves(k) ? worker_count(running, chunks_of(X)) : 1;
    std::vector<FieldVariance> variances;
    for (int worker = 0; worker < threads; ++worker)
      variances.emplace_back(k, *field.field_parts(), length * length, X.cols, F);
    variance_of_rows(variances, X, Y, running, out);
  };
}

// Maps of frequencies and roots B(omega) that the caller supplies.
class SuppliedRoot final : public FrequencyRoot {
 public:
  SuppliedRoot(int64_t p, int64_t q, std::vector<double> numbers)
      : FrequencyRoot(p, q), numbers_(std::move(numbers)) {}
  void spread(int64_t j, const double* c, double* out) const noexcept override {
    const double* B = of(j);
    for (int64_t o = 0; o < outputs(); ++o, B += width()) {
      out[o] = 0;
      for (int64_t b = 0; b < width(); ++b) out[o] += B[b] * c[b];
    }
  }
  void gather(int64_t j, const double* g, double* c) const noexcept override {
    const double* B = of(j);
    std::fill_n(c, width(), 0.0);
    for (int64_t o = 0; o < outputs(); ++o, B += width())
      for (int64_t b = 0; b < width(); ++b) c[b] += B[b] * g[o];
  }

 private:
  const double* of(int64_t c) const noexcept {
    const int64_t each = outputs() * width(), F = std::ssize(numbers_) / each;
    return numbers_.data() + c % F * each;
  }
  std::vector<double> numbers_;
};

// Features of K = k Gamma: z(x) of k by any real map, and a root B of Gamma. The operator variance
// is the scalar map's times (B B')^2.
using linalg::Transpose;

constexpr int64_t kBlockRows = 256;

/// The matrix B that all frequencies share.
class SharedRoot final : public FrequencyRoot {
 public:
  SharedRoot(std::shared_ptr<const kernel::Kernel> owner, MatrixView<const double> B)
      : FrequencyRoot(B.rows, B.cols), owner_(std::move(owner)), B_(B) {}
  void spread(int64_t, const double* c, double* out) const noexcept override {
    for (int64_t o = 0; o < B_.rows; ++o) {
      out[o] = 0;
      for (int64_t b = 0; b < B_.cols; ++b) out[o] += B_(o, b) * c[b];
    }
  }
  void gather(int64_t, const double* g, double* c) const noexcept override {
    for (int64_t b = 0; b < B_.cols; ++b) {
      c[b] = 0;
      for (int64_t o = 0; o < B_.rows; ++o) c[b] += B_(o, b) * g[o];
    }
  }
  MatrixView<const double> shared() const noexcept override { return B_; }

 private:
  std::shared_ptr<const kernel::Kernel> owner_;
  MatrixView<const double> B_;
};

double largest_of(const Matrix<double>& A) {
  double largest = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i)
    largest = std::max(largest, std::fabs(A.data()[i]));
  return largest;
}

/// (B B')^2 times the variance of the scalar estimate. B B' is divided by a power of two, so that
/// its square does not overflow.
RowVariance variance_of(std::shared_ptr<const FeatureMap> scalar, MatrixView<const double> B) {
  const int64_t p = B.rows;
  const auto squared = std::make_shared<const Matrix<double>>(p, p);
  const Matrix<double> gamma(p, p);
  linalg::multiply(1.0, Transpose::no, B, Transpose::yes, B, 0.0, gamma.view());
  const double unit = std::ldexp(1.0, std::ilogb(largest_of(gamma)));
  for (int64_t at = 0; at < p * p; ++at) gamma.data()[at] /= unit;
  linalg::multiply(1.0, Transpose::no, gamma.view(), Transpose::no, gamma.view(), 0.0,
                   squared->view());
  return [scalar, squared, unit, p](MatrixView<const double> X, MatrixView<const double> Y,
                                    Context& context, MatrixView<double> out) {
    std::vector<double> variances(kBlockRows);
    Stage stage(context, X.rows);
    for (int64_t first = 0; first < X.rows; first += kBlockRows) {
      const int64_t last = std::min(X.rows, first + kBlockRows);
      const std::span part(variances.data(), last - first);
      scalar->variance(X.block_rows(first, last), Y.block_rows(first, last), part);
      for (int64_t i = first; i < last; ++i)
        for (int64_t at = 0; at < p * p; ++at)
          out(i, at) = part[i - first] * squared->data()[at] * unit * unit;
      stage.advance(last - first);
      context.checkpoint();
    }
  };
}

}  // namespace

bool has_divergence(const kernel::Kernel& kernel) {
  return kernel::kernel_entry(kernel.parameters()).shape != nullptr ||
         kernel.matrix()->field_parts()->divergence != 0;
}

int64_t field_root_width(int64_t p, const kernel::FieldParts& parts, DivergenceRoot kind) {
  const int64_t divergence = kind == DivergenceRoot::symmetric ? p : p - 1;
  return (parts.curl > 0 ? 1 : 0) + (parts.divergence > 0 ? divergence : 0);
}

std::unique_ptr<const FrequencyRoot> make_field_root(std::shared_ptr<const Frequencies> omega,
                                                     const kernel::FieldParts& parts, double length,
                                                     DivergenceRoot kind) {
  return std::make_unique<FieldRoot>(std::move(omega), parts, length, kind);
}

// cos^2 = (1 + cos(2 .))/2 gives the two values of M. omega omega' and ||omega||^2 I - omega omega'
// are ||omega||^2 times complementary projectors, so A^2 = ||omega||^2 (curl^2 omega omega' +
// divergence^2 (||omega||^2 I - omega omega')): M is a fourth moment of the law in the unbounded
// form and, over ||omega||^2, a second moment in the bounded one. Brault, d'Alche-Buc 2016 print
// other constants for the divergence-free kernel.
FieldVariance::FieldVariance(const kernel::Kernel& kernel, const kernel::FieldParts& parts,
                             double total, int64_t d, int64_t F)
    : moments_(kernel, d),
      parts_(parts),
      amplitude_(kernel.value_at_zero()),
      total_(total),
      F_(static_cast<double>(F)),
      K_(d, d),
      doubled_(2 * static_cast<size_t>(d)) {
  if (total == 0) kernel::require_moments(kernel, 4);
}

void FieldVariance::add_moment(const double* x, const double* y, MatrixView<double> out) {
  const MatrixView<double> M = K_.view();
  total_ > 0 ? moments_.second(x, y, M) : moments_.fourth(x, y, M);
  kernel::to_field(parts_.squared(), M);
  // The estimate has the square of the amplitude, the moments have the amplitude once.
  const double scale = amplitude_ * (total_ > 0 ? total_ : 1) / (2 * F_);
  for (int64_t i = 0; i < M.rows; ++i)
    for (int64_t j = 0; j < M.cols; ++j) out(i, j) += scale * M(i, j);
}

void FieldVariance::at(const double* x, const double* y, MatrixView<double> out) {
  const int64_t d = moments_.inputs();
  for (int64_t i = 0; i < d; ++i) {
    doubled_[i] = 2 * (x[i] - y[i]);
    for (int64_t j = 0; j < d; ++j) out(i, j) = 0;
  }
  add_moment(x, x, out);
  add_moment(doubled_.data(), doubled_.data() + d, out);
  const MatrixView<double> K = K_.view();
  moments_.second(x, y, K);
  kernel::to_field(parts_, K);
  for (int64_t i = 0; i < d; ++i)
    for (int64_t j = 0; j < d; ++j)
      for (int64_t l = 0; l < d; ++l) out(i, j) -= K(i, l) * K(l, j) / F_;
}

std::vector<Field> field_fourier_fields() {
  return {{.key = "bounded",
           .type = FieldType::boolean,
           .fallback = false,
           .help = "of fields: frequencies of the law times ||omega||^2, features of bounded norm"},
          choice_field("root", kSymmetric, {kSymmetric, "orthonormal"},
                       "of fields: columns of B for the divergence-free part: p, or p - 1")};
}

int64_t field_features_step(const MapArguments& arguments) {
  const kernel::MatrixKernel& kernel = *arguments.kernel.matrix();
  require(kernel.field_parts() != nullptr, MERCER_UNSUPPORTED,
          "map fourier does not serve kernel %s of several outputs, expected sum or exact",
          std::string(kernel.name()).c_str());
  const int64_t p = kernel.outputs(arguments.inputs);
  return 2 * field_root_width(p, *kernel.field_parts(), root_of(arguments));
}

std::unique_ptr<FeatureMap> make_field_fourier(const MapArguments& arguments) {
  const std::shared_ptr<const kernel::Kernel> kernel = arguments.kernel.copy();
  const kernel::MatrixKernel& field = *kernel->matrix();
  const int64_t d = arguments.inputs, q = field_features_step(arguments) / 2;
  const bool bounded = arguments.own.boolean("bounded");
  const ProjectionChoice choice = read_projection_choice(arguments.own);
  check_choice(arguments, choice);
  const int64_t F = choice.columns(d, arguments.features / (2 * q));
  const FrequencyDraw draw({kernel, &field.scalar()}, choice, d, F, arguments.seed, bounded);
  const auto omega = std::make_shared<const Frequencies>(F, d, draw);
  const double length =
      bounded ? std::sqrt(static_cast<double>(d)) / field.scalar().lengthscale()[0] : 0;
  FieldMapParts parts;
  parts.parameters = {{"map", arguments.map},
                      {"kernel", std::make_shared<const Parameters>(kernel->parameters())},
                      {"inputs", d},
                      {"features", 2 * F * q},
                      {"seed", arguments.seed}};
  for (const auto& [key, value] : arguments.own.entries()) parts.parameters.set(key, value);
  parts.scalar = make_fourier_from(field.scalar(), d, F, omega);
  parts.root = make_field_root(omega, *field.field_parts(), length, root_of(arguments));
  parts.variance = variance_of(kernel, draw.entry(), F, length);
  parts.kernel = kernel;
  return std::make_unique<FieldMap>(std::move(parts));
}

Matrix<double> roots_of_squares(MatrixView<const double> A, int64_t F) {
  constexpr double kCutoff = 1e-12;
  const int64_t p = A.cols;
  require(A.rows == F * p, MERCER_DIMENSION_MISMATCH,
          "roots is %ld x %ld, expected %ld matrices A of p x p, one below the other", A.rows, p,
          F);
  std::vector<Matrix<double>> found(F);
  int64_t q = 1;
  for (int64_t j = 0; j < F; ++j) {
    const MatrixView<const double> own = A.block_rows(j * p, (j + 1) * p);
    bool zero = true;
    for (int64_t k = 0; k < p; ++k)
      zero = zero && std::all_of(own.row(k), own.row(k) + p, [](double a) { return a == 0; });
    if (zero) continue;
    try {
      found[j] = kernel::output_root(own, kCutoff).B;
    } catch (const Error& error) {
      throw error.within("roots of frequency " + std::to_string(j));
    }
    q = std::max(q, found[j].cols());
  }
  Matrix<double> B(F * p, q);
  B.fill(0);
  for (int64_t j = 0; j < F; ++j)
    for (int64_t k = 0; k < found[j].rows(); ++k)
      std::copy_n(found[j].view().row(k), found[j].cols(), B.view().row(j * p + k));
  return B;
}

std::unique_ptr<FeatureMap> make_field_supplied(const kernel::Kernel& kernel,
                                                MatrixView<const double> frequencies,
                                                std::span<const double> weights,
                                                const SuppliedRoots& roots,
                                                const FourierOptions& options) {
  const int64_t F = frequencies.rows, p = roots.p, q = roots.q;
  require(options.form == FourierForm::pair, MERCER_UNSUPPORTED,
          "form = %s of supplied roots, expected pair",
          kFourierForms[static_cast<size_t>(options.form)]);
  for (size_t i = 0; i < roots.numbers.size(); ++i)
    require(std::isfinite(roots.numbers[i]), MERCER_INVALID_ARGUMENT,
            "roots[%zu] = %g, expected a finite number", i, roots.numbers[i]);
  FieldMapParts parts;
  parts.scalar = make_fourier_supplied(kernel, frequencies, weights, options);
  parts.kernel = kernel.copy();
  parts.parameters = parts.scalar->parameters();
  parts.parameters.set("features", checked_multiply(parts.scalar->features(), q, "features"));
  parts.variance = [](auto, auto, Context&, auto) {
    fail(MERCER_UNSUPPORTED,
         "the map's frequencies were supplied, not drawn: the estimate has no variance in closed "
         "form");
  };
  std::vector<double> B(roots.numbers.begin(), roots.numbers.end());
  parts.numbers = parts.scalar->numbers();
  parts.numbers.push_back({kRoots, {F, p, q}, B});
  parts.root = std::make_shared<const SuppliedRoot>(p, q, std::move(B));
  return std::make_unique<FieldMap>(std::move(parts));
}

std::unique_ptr<FeatureMap> make_decomposable_map(std::shared_ptr<const kernel::Kernel> kernel,
                                                  std::shared_ptr<const FeatureMap> scalar) {
  FieldMapParts parts;
  parts.parameters = scalar->parameters();
  parts.parameters.set("kernel", std::make_shared<const Parameters>(kernel->parameters()));
  parts.numbers = scalar->numbers();
  const MatrixView<const double> B = kernel->matrix()->root()->B.view();
  parts.parameters.set("features", checked_multiply(scalar->features(), B.cols, "features"));
  parts.root = std::make_shared<const SharedRoot>(kernel, B);
  parts.variance = variance_of(scalar, B);
  parts.scalar = std::move(scalar);
  parts.kernel = std::move(kernel);
  return std::make_unique<FieldMap>(std::move(parts));
}

}  // namespace mercer::feature
