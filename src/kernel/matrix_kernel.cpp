// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The kernels curl_free, divergence_free, helmholtz and decomposable. Source: Fuselier, "Refined error estimates for matrix-valued radial basis functions" (2006);
// Macedo, Castro, "Learning div-free and curl-free vector fields by matrix-valued kernels" (2008).
// Here with one lengthscale per input as well, and mixtures.
#include "kernel/matrix_kernel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "kernel/entry.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"

namespace mercer::kernel {
namespace {

constexpr int64_t kRowsPerChunk = 8;

/// Uses the structure of v v' and never forms a matrix.
class GaussianAction final : public PairAction {
 public:
  GaussianAction(const Kernel& kernel, const FieldParts& parts, int64_t d)
      : kernel_(kernel), parts_(parts) {
    const auto lengthscale = kernel.lengthscale();
    for (int64_t k = 0; k < d; ++k) {
      const double l = lengthscale[lengthscale.size() == 1 ? 0 : static_cast<size_t>(k)];
      precision_.push_back(1 / l / l);
      trace_ += precision_.back();
    }
  }

  void add(const double* x, const double* y, int64_t count, const double* u,
           double* out) const noexcept override {
    const size_t d = precision_.size();
    const double k = kernel_.value(static_cast<int64_t>(d), x, y);
    if (k == 0) return;  // underflow: times any polynomial it is 0, too
    double square = 0;
    for (size_t i = 0; i < d; ++i) square += slope(x, y, i) * slope(x, y, i);
    const double mixed = k * (parts_.curl - parts_.divergence);
    const double whole = k * parts_.divergence * (trace_ - square);
    for (int64_t c = 0; c < count; ++c, u += d, out += d) {
      double along = 0;
      for (size_t i = 0; i < d; ++i) along += slope(x, y, i) * u[i];
      for (size_t i = 0; i < d; ++i)
        out[i] += mixed * (precision_[i] * u[i] - slope(x, y, i) * along) + whole * u[i];
    }
  }

 private:
  double slope(const double* x, const double* y, size_t i) const noexcept {
    return (x[i] - y[i]) * precision_[i];
  }

  const Kernel& kernel_;
  FieldParts parts_;
  std::vector<double> precision_;  // 1/l^2
  double trace_ = 0;
};

/// The action by the kernel's second derivatives.
class SmoothAction final : public PairAction {
 public:
  SmoothAction(const Kernel& kernel, const FieldParts& parts, int64_t d)
      : moments_(kernel, d), parts_(parts) {}

  void add(const double* x, const double* y, int64_t count, const double* u,
           double* out) const noexcept override {
    const int64_t d = moments_.inputs();
    double trace = 0;
    for (int64_t i = 0; i < d; ++i) trace += moments_.second(i, i, x, y);
    for (int64_t i = 0; i < d; ++i) {
      for (int64_t j = 0; j < d; ++j) {
        double entry = (parts_.curl - parts_.divergence) * moments_.second(i, j, x, y);
        if (i == j) entry += parts_.divergence * trace;
        for (int64_t c = 0; c < count; ++c) out[c * d + i] += entry * u[c * d + j];
      }
    }
  }

 private:
  SpectralMoments moments_;
  FieldParts parts_;
};

// K(x, y) = k(x, y) Gamma (Micchelli, Pontil 2005; Brault, Heinonen, d'Alche-Buc 2016, section
// 2.3), k any kernel; with skewed_chi2 it is the paper's kernel on logarithms.

// Cholesky with complete pivoting (Higham, "Accuracy and Stability of Numerical Algorithms", 2002,
// section 10.3) instead of an eigendecomposition: any root serves, and this one takes additions,
// multiplications, divisions and square roots in a fixed order, so that coefficients learnt on one
// machine mean the same on another. What is left out is positive semi-definite, and its trace is
// known as it goes.
constexpr double kSymmetry = 1e-12;
// Rounding in Gamma's entries makes remaining diagonal entries as negative as this.
constexpr double kRounding = 1e-10;

double largest_of(MatrixView<const double> gamma) {
  double largest = 0;
  for (int64_t i = 0; i < gamma.rows; ++i) {
    for (int64_t j = 0; j < gamma.cols; ++j) {
      require(std::isfinite(gamma(i, j)), MERCER_INVALID_ARGUMENT,
              "gamma[%ld, %ld] = %g, expected a finite number", i, j, gamma(i, j));
      largest = std::max(largest, std::fabs(gamma(i, j)));
    }
  }
  require(largest > 0, MERCER_INVALID_ARGUMENT, "gamma is 0, expected another matrix");
  for (int64_t i = 0; i < gamma.rows; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      require(std::fabs(gamma(i, j) - gamma(j, i)) <= kSymmetry * largest, MERCER_INVALID_ARGUMENT,
              "gamma[%ld, %ld] = %.17g and gamma[%ld, %ld] = %.17g, expected a symmetric matrix", i,
              j, gamma(i, j), j, i, gamma(j, i));
    }
  }
  return largest;
}

/// For a positive semi-definite matrix, pivots of rounding's size leave only rounding.
void check_rest(MatrixView<const double> rest, double largest) {
  for (int64_t i = 0; i < rest.rows; ++i) {
    require(rest(i, i) >= -kRounding * largest, MERCER_NOT_POSITIVE_DEFINITE,
            "gamma is not positive semi-definite: a diagonal entry of what pivots leave is %g",
            rest(i, i));
    for (int64_t j = 0; j < i; ++j) {
      require(std::fabs(rest(i, j)) <= kRounding * largest, MERCER_NOT_POSITIVE_DEFINITE,
              "gamma is not positive semi-definite: pivots leave %g between outputs %ld and %ld",
              rest(i, j), i, j);
    }
  }
}

/// The trace over its largest entry, so that it does not overflow.
double trace_of(MatrixView<const double> rest, double most) {
  double sum = 0;
  for (int64_t i = 0; i < rest.rows; ++i) sum += std::max(rest(i, i), 0.0) / most;
  return sum;
}

constexpr int64_t kBlockRows = 256;

/// Gamma as a list of rows, from rows or from one list of all numbers; a single number becomes a
/// list.
Parameters with_rows(Parameters canonical) {
  const NumberLists lists = canonical.number_lists("gamma");
  const size_t length = lists.front().size();
  require(length == 1 || length == lists.size(), MERCER_INVALID_ARGUMENT,
          "gamma has %zu lists of %zu numbers, expected as many as a list is long", lists.size(),
          length);
  const std::vector<double> numbers = canonical.numbers("gamma");
  const auto p = static_cast<std::ptrdiff_t>(outputs_of(numbers));
  NumberLists rows;
  for (auto from = numbers.begin(); from != numbers.end(); from += p)
    rows.emplace_back(from, from + p);
  if (p > 1) canonical.set("gamma", std::move(rows));
  return canonical;
}

class Decomposable final : public MatrixKernel {
 public:
  explicit Decomposable(const Parameters& canonical)
      : MatrixKernel(with_rows(canonical)),
        numbers_(canonical.numbers("gamma")),
        p_(outputs_of(numbers_)),
        root_(output_root(gamma(), canonical.number("cutoff"))) {}

  int64_t outputs(int64_t d) const override {
    scalar().check_dimension(d);
    return p_;
  }
  MatrixView<const double> gamma() const noexcept override { return {numbers_.data(), p_, p_}; }
  const OutputRoot* root() const noexcept override { return &root_; }

  // (K of a block) (U Gamma of a block), summed over blocks of Y.
  void multiply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                     MatrixView<const double> U, Context& context,
                     MatrixView<double> out) const override {
    using linalg::Transpose;
    const Matrix<double> mixed(U.rows, U.cols, context, "U times Gamma");
    for (int64_t c = 0; c < U.cols && U.rows > 0; c += p_)
      linalg::multiply(1.0, Transpose::no, U.block_cols(c, c + p_), Transpose::no, gamma(), 0.0,
                       mixed.view().block_cols(c, c + p_));
    gram_multiply(scalar(), X, Y, mixed.view(), context, out);
  }

  // k of a block, times Gamma entry by entry.
  void gram_rows(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                 MatrixView<double> K) const override {
    const Matrix<double> storage(std::min(kBlockRows, X.rows), Y.rows, context,
                                 "a block of a Gram matrix");
    Stage stage(context, X.rows);
    for (int64_t first = 0; first < X.rows; first += kBlockRows) {
      const int64_t rows = std::min(kBlockRows, X.rows - first);
      const MatrixView<double> k = storage.view().block_rows(0, rows);
      stage.share(rows);
      gram(scalar(), X.block_rows(first, first + rows), Y, context, k);
      for (int64_t row = 0; row < rows * p_; ++row)
        for (int64_t column = 0; column < K.cols; ++column)
          K(first * p_ + row, column) = k(row / p_, column / p_) * gamma()(row % p_, column % p_);
      stage.advance(rows);
    }
  }

 private:
  std::vector<double> numbers_;
  int64_t p_;
  OutputRoot root_;
};

}  // namespace

// k(tau) = E cos(omega'tau) differentiated under the integral (Brault, d'Alche-Buc, "Random Fourier
// features for operator-valued kernels", 2016, section 2; SPEC section 8).
void to_field(const FieldParts& parts, MatrixView<double> S) noexcept {
  double trace = 0;
  for (int64_t i = 0; i < S.rows; ++i) trace += S(i, i);
  for (int64_t i = 0; i < S.rows; ++i) {
    for (int64_t j = 0; j < S.cols; ++j) S(i, j) *= parts.curl - parts.divergence;
    S(i, i) += parts.divergence * trace;
  }
}

void require_smooth(const Kernel& kernel) {
  require(kernel.traits().is_gaussian, MERCER_UNSUPPORTED,
          "curl-free and divergence-free kernels of kernel %s, whose derivatives they are made of, "
          "expected gaussian, the only one that they are implemented for",
          std::string(kernel.name()).c_str());
}

SpectralMoments::SpectralMoments(const Kernel& kernel, int64_t d) : kernel_(kernel), d_(d) {
  require_smooth(kernel);
  kernel.check_dimension(d);
  for (int64_t i = 0; i < d; ++i)
    for (int64_t j = i; j < d; ++j) pairs_.push_back(sum_of({{i, 1}}, {{j, 1}}));
  const auto lengthscale = kernel.lengthscale();
  for (int64_t i = 0; kernel.traits().is_gaussian && i < d; ++i) {
    const double l = lengthscale[lengthscale.size() == 1 ? 0 : static_cast<size_t>(i)];
    precision_.push_back(1 / l / l);
    trace_ += precision_.back();
  }
}

double SpectralMoments::second(int64_t i, int64_t j, const double* x,
                               const double* y) const noexcept {
  const int64_t a = std::min(i, j), b = std::max(i, j);
  const auto at = static_cast<size_t>(a * d_ - a * (a - 1) / 2 + (b - a));
  return -kernel_.derivative(pairs_[at], d_, x, y);
}

void SpectralMoments::second(const double* x, const double* y,
                             MatrixView<double> S) const noexcept {
  if (!precision_.empty()) {
    const double k = kernel_.value(d_, x, y);
    for (int64_t i = 0; i < d_; ++i) {
      for (int64_t j = 0; j < i; ++j)
        S(i, j) = S(j, i) = k == 0 ? 0 : -k * slope(i, x, y) * slope(j, x, y);
      S(i, i) = k == 0 ? 0 : k * (precision_[i] - slope(i, x, y) * slope(i, x, y));
    }
    return;
  }
  for (int64_t i = 0; i < d_; ++i)
    for (int64_t j = 0; j <= i; ++j) S(i, j) = S(j, i) = second(i, j, x, y);
}

// With L = diag(1/l^2), v = L tau, the Hermite polynomial of fourth order of v, two indices
// contracted (SPEC section 8):
//   k ((|v|^2 - tr L) (v v' - L) - 2 L v v' - 2 v v' L + 2 L^2).
void SpectralMoments::gaussian_fourth(const double* x, const double* y,
                                      MatrixView<double> S) const noexcept {
  const double k = kernel_.value(d_, x, y);
  double square = -trace_;
  for (int64_t i = 0; i < d_; ++i) square += slope(i, x, y) * slope(i, x, y);
  for (int64_t i = 0; i < d_; ++i) {
    const double vi = slope(i, x, y), Li = precision_[i];
    for (int64_t j = 0; j <= i; ++j) {
      const double vj = slope(j, x, y), Lj = precision_[j];
      const double same = i == j ? (2 * Li - square) * Li : 0.0;
      S(i, j) = S(j, i) = k == 0 ? 0 : k * ((square - 2 * (Li + Lj)) * vi * vj + same);
    }
  }
}

void SpectralMoments::fourth(const double* x, const double* y, MatrixView<double> S) const {
  if (!precision_.empty()) return gaussian_fourth(x, y, S);
  for (int64_t i = 0; i < d_; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const MultiIndex pair = sum_of({{j, 1}}, {{i, 1}});
      double sum = 0;
      for (int64_t l = 0; l < d_; ++l) sum += kernel_.derivative(sum_of(pair, {{l, 2}}), d_, x, y);
      S(i, j) = S(j, i) = sum;
    }
  }
}

std::unique_ptr<const PairAction> smooth_action(const Kernel& kernel, const FieldParts& parts,
                                                int64_t d) {
  return std::make_unique<SmoothAction>(kernel, parts, d);
}

FieldKernel::FieldKernel(Parameters canonical, const FieldParts& parts)
    : MatrixKernel(std::move(canonical)), parts_(parts) {
  require_smooth(scalar());
}

int64_t FieldKernel::outputs(int64_t d) const {
  scalar().check_dimension(d);
  require(d >= 2 || parts_.divergence == 0, MERCER_DIMENSION_MISMATCH,
          "d = %ld, expected at least 2 inputs: of one the divergence-free kernel is 0", d);
  return d;
}

std::unique_ptr<const PairAction> FieldKernel::action(int64_t d) const {
  outputs(d);
  if (scalar().traits().is_gaussian) return std::make_unique<GaussianAction>(scalar(), parts_, d);
  return smooth_action(scalar(), parts_, d);
}

void FieldKernel::multiply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                                MatrixView<const double> U, Context& context,
                                MatrixView<double> out) const {
  const auto K = action(X.cols);
  const int64_t count = U.cols / outputs(X.cols);
  parallel_for(
      context, ceil_divide(X.rows, kRowsPerChunk),
      [&](int64_t chunk, int) noexcept {
        const int64_t end = std::min(X.rows, (chunk + 1) * kRowsPerChunk);
        for (int64_t i = chunk * kRowsPerChunk; i < end; ++i) {
          std::fill_n(out.row(i), out.cols, 0.0);
          for (int64_t j = 0; j < Y.rows; ++j)
            K->add(X.row(i), Y.row(j), count, U.row(j), out.row(i));
        }
      },
      kRowsPerChunk);
}

void FieldKernel::gram_rows(MatrixView<const double> X, MatrixView<const double> Y,
                            Context& context, MatrixView<double> K) const {
  constexpr const char* kWhat = "a block of a Gram matrix";
  const int64_t p = outputs(X.cols);
  const auto pair = action(X.cols);
  const Matrix<double> identity(p, p, context, kWhat);
  identity.fill(0);
  for (int64_t o = 0; o < p; ++o) identity(o, o) = 1;
  const int64_t chunks = ceil_divide(X.rows, kRowsPerChunk);
  const Matrix<double> columns(worker_count(context, chunks), checked_multiply(p, p, kWhat),
                               context, kWhat);
  parallel_for(
      context, chunks,
      [&](int64_t chunk, int worker) noexcept {
        double* const block = columns.view().row(worker);
        const int64_t end = std::min(X.rows, (chunk + 1) * kRowsPerChunk);
        for (int64_t i = chunk * kRowsPerChunk; i < end; ++i) {
          for (int64_t j = 0; j < Y.rows; ++j) {
            std::fill_n(block, p * p, 0.0);
            pair->add(X.row(i), Y.row(j), p, identity.data(), block);
            for (int64_t o = 0; o < p; ++o)
              for (int64_t q = 0; q < p; ++q) K(i * p + o, j * p + q) = block[q * p + o];
          }
        }
      },
      kRowsPerChunk);
}

// Fields that are gradients.
KernelEntry curl_free_entry() {
  constexpr auto parts = [](const Parameters&) { return FieldParts{1, 0}; };
  return field_entry<parts>("curl_free", "-grad grad' k: gradients of potentials");
}

// Fields without sources.
KernelEntry divergence_free_entry() {
  constexpr auto parts = [](const Parameters&) { return FieldParts{0, 1}; };
  KernelEntry entry =
      field_entry<parts>("divergence_free", "(grad grad' - Laplacian) k: fields without sources");
  entry.without_sources = true;
  return entry;
}

// alpha times the curl-free kernel and 1 - alpha times the divergence-free one; both parts of a map
// share their frequencies (SPEC section 13).
KernelEntry helmholtz_entry() {
  constexpr auto parts = [](const Parameters& canonical) {
    const double alpha = canonical.number("alpha");
    return FieldParts{alpha, 1 - alpha};
  };
  KernelEntry entry =
      field_entry<parts>("helmholtz", "alpha curl_free + (1 - alpha) divergence_free",
                         {number_field("alpha", 0.5, 0, 1, "weight of the curl-free part")});
  entry.shape = "alpha";
  entry.shapes = {0.5, 0, 0.1, 0.25, 0.75, 0.9, 1};
  return entry;
}

int64_t outputs_of(std::span<const double> gamma) {
  auto p = static_cast<int64_t>(std::sqrt(static_cast<double>(gamma.size())));
  while (p * p < std::ssize(gamma)) ++p;
  require(p >= 1 && p * p == std::ssize(gamma), MERCER_INVALID_ARGUMENT,
          "gamma has %zu numbers, expected those of a square matrix, row by row", gamma.size());
  return p;
}

OutputRoot output_root(MatrixView<const double> gamma, double cutoff) {
  const double largest = largest_of(gamma);
  const int64_t p = gamma.rows;
  Matrix<double> rest(p, p);
  double most = 0;
  for (int64_t i = 0; i < p; ++i) {
    // Halves are summed, since a sum of entries may overflow.
    for (int64_t j = 0; j < p; ++j) rest(i, j) = 0.5 * gamma(i, j) + 0.5 * gamma(j, i);
    most = std::max(most, rest(i, i));
  }
  const double trace = trace_of(rest.view(), most);
  // Pivots below the cutoff are taken, too, for only then it shows whether Gamma is indefinite.
  std::vector<double> columns;  // those kept, one after the other
  std::vector<double> b(p);
  OutputRoot root;
  bool keeping = true;
  for (int64_t step = 0; step < p; ++step) {
    int64_t pivot = 0;
    for (int64_t i = 1; i < p; ++i)
      if (rest(i, i) > rest(pivot, pivot)) pivot = i;
    const double value = rest(pivot, pivot);
    if (!(value > kSymmetry * most)) break;
    keeping = step == 0 || (keeping && value > cutoff * most);
    for (int64_t i = 0; i < p; ++i) b[i] = rest(i, pivot) / std::sqrt(value);
    if (keeping) columns.insert(columns.end(), b.begin(), b.end());
    for (int64_t i = 0; i < p; ++i)
      for (int64_t j = 0; j < p; ++j) rest(i, j) -= b[i] * b[j];
    for (int64_t i = 0; i < p; ++i) rest(i, pivot) = rest(pivot, i) = 0;
    if (keeping) root.dropped = trace_of(rest.view(), most) / trace;
  }
  check_rest(rest.view(), largest);
  const int64_t rank = std::ssize(columns) / p;
  require(rank > 0, MERCER_INVALID_ARGUMENT,
          "gamma's largest entry is %g, too small for a root, expected larger numbers", largest);
  root.B = Matrix<double>(p, rank);
  for (int64_t i = 0; i < p; ++i)
    for (int64_t c = 0; c < rank; ++c) root.B(i, c) = columns[c * p + i];
  return root;
}

KernelEntry decomposable_entry() {
  return {
      .name = "decomposable",
      .help = "k(x, y) Gamma, Gamma a positive semi-definite p x p matrix",
      .fields = {scalar_field(),
                 {.key = "gamma",
                  .type = FieldType::numbers_or_lists,
                  .fallback = {},
                  .help = "Gamma, p lists of p numbers, its rows, or all p p numbers in one list"},
                 number_field("cutoff", 1e-12, 0, 1,
                              "pivots of the root up to this part of the largest are left out")},
      .make = [](const Parameters& canonical) -> std::unique_ptr<Kernel> {
        return std::make_unique<Decomposable>(canonical);
      },
      .default_map = "fourier",
      .outputs = OutputCount::gamma};
}

}  // namespace mercer::kernel
