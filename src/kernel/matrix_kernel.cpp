// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The kernels curl_free, divergence_free, helmholtz and decomposable. Source: Fuselier, "Refined
// error estimates for matrix-valued radial basis functions" (2006); Macedo, Castro, "Learning
// div-free and curl-free vector fields by matrix-valued kernels" (2008). Here with one lengthscale
// per input as well, and mixtures.
#include "kernel/matrix_kernel.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "kernel/entry.h"
#include "kernel/kernel.h"
#include "kernel/stationary.h"
#include "linalg/blas.h"

namespace mercer::kernel {
namespace {

constexpr int64_t kRowsPerChunk = 8;

/// Uses the structure of v v' and never forms a matrix.
class RadialAction final : public PairAction {
 public:
  RadialAction(const Kernel& kernel, const FieldParts& parts, int64_t d)
      : pairs_(kernel, d), parts_(parts) {}

  void add(const double* x, const double* y, int64_t count, const double* u,
           double* out) const noexcept override {
    double f[3];
    if (!pairs_.slopes(x, y, f)) return;
    const int64_t d = pairs_.inputs();
    const double mixed = parts_.curl - parts_.divergence, first = -2 * f[1], second = 4 * f[2];
    const double trace = first * pairs_.trace() - second * pairs_.square(x, y);
    for (int64_t c = 0; c < count; ++c, u += d, out += d) {
      double along = 0;
      for (int64_t i = 0; i < d; ++i) along += pairs_.v(i, x, y) * u[i];
      for (int64_t i = 0; i < d; ++i)
        out[i] +=
            mixed * (first * pairs_.precision(i) * u[i] - second * pairs_.v(i, x, y) * along) +
            parts_.divergence * trace * u[i];
    }
  }

 private:
  RadialPairs pairs_;
  FieldParts parts_;
};

/// d_i d_j k of all i <= j, row by row.
std::vector<std::unique_ptr<const Differential>> second_derivatives(const Kernel& kernel,
                                                                    int64_t d) {
  std::vector<std::unique_ptr<const Differential>> pairs;
  for (int64_t i = 0; i < d; ++i)
    for (int64_t j = i; j < d; ++j)
      pairs.push_back(kernel.differential(sum_of({{i, 1}}, {{j, 1}}), {}));
  return pairs;
}

/// The action by the kernel's second derivatives.
class SmoothAction final : public PairAction {
 public:
  SmoothAction(const Kernel& kernel, const FieldParts& parts, int64_t d)
      : pairs_(second_derivatives(kernel, d)), parts_(parts), d_(d) {}

  void add(const double* x, const double* y, int64_t count, const double* u,
           double* out) const noexcept override {
    double trace = 0;
    auto pair = pairs_.begin();
    for (int64_t i = 0; i < d_; ++i) {
      for (int64_t j = i; j < d_; ++j) {
        const double moment = -(*pair++)->at(d_, x, y);
        if (i == j) trace += moment;
        const double entry = (parts_.curl - parts_.divergence) * moment;
        for (int64_t c = 0; c < count; ++c) {
          out[c * d_ + i] += entry * u[c * d_ + j];
          if (i != j) out[c * d_ + j] += entry * u[c * d_ + i];
        }
      }
    }
    for (int64_t c = 0; c < count * d_; ++c) out[c] += parts_.divergence * trace * u[c];
  }

 private:
  std::vector<std::unique_ptr<const Differential>> pairs_;
  FieldParts parts_;
  int64_t d_;
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

enum class Structure { given, laplacian };
constexpr const char* kStructures[] = {"given", "laplacian"};
constexpr Choice<Structure> kStructure{"structure", kStructures,
                                       "given: Gamma is gamma; laplacian: L^+, L the Laplacian of "
                                       "the graph with weights gamma over "
                                       "its mean degree"};

/// Of every output the first one that edges lead to.
std::vector<int64_t> connected_parts(MatrixView<const double> W) {
  std::vector<int64_t> part(W.rows, -1);
  for (int64_t first = 0; first < W.rows; ++first) {
    if (part[first] >= 0) continue;
    std::vector<int64_t> open = {first};
    part[first] = first;
    while (!open.empty()) {
      const int64_t k = open.back();
      open.pop_back();
      for (int64_t l = 0; l < W.rows; ++l)
        if (part[l] < 0 && W(k, l) > 0) part[l] = first, open.push_back(l);
    }
  }
  return part;
}

/// A^-1 of a positive definite A, in place, by exchanges without pivoting: scalar code, the same bits
/// everywhere.
void invert(MatrixView<double> A) noexcept {
  for (int64_t k = 0; k < A.rows; ++k) {
    const double pivot = 1 / A(k, k);
    A(k, k) = 1;
    for (int64_t j = 0; j < A.cols; ++j) A(k, j) *= pivot;
    for (int64_t i = 0; i < A.rows; ++i) {
      if (i == k) continue;
      const double factor = A(i, k);
      A(i, k) = 0;
      for (int64_t j = 0; j < A.cols; ++j) A(i, j) -= factor * A(k, j);
    }
  }
}

/// L^+ (Brault, Heinonen, d'Alche-Buc 2016): with J the projection on what is constant on connected
/// parts, which L does not see, (L + J)^-1 - J.
std::vector<double> laplacian_inverse(MatrixView<const double> W) {
  const int64_t p = W.rows;
  double total = 0;
  for (int64_t k = 0; k < p; ++k)
    for (int64_t l = 0; l < p; ++l) {
      require(k == l || (W(k, l) >= 0 && W(k, l) == W(l, k)), MERCER_INVALID_ARGUMENT,
              "gamma[%ld, %ld] = %g and [%ld, %ld] = %g, expected equal numbers >= 0: weights of a "
              "graph",
              k, l, W(k, l), l, k, W(l, k));
      total += k == l ? 0 : W(k, l);
    }
  require(total > 0 && std::isfinite(total), MERCER_INVALID_ARGUMENT,
          "the weights of gamma sum to %g, expected a finite number above 0: edges", total);
  const std::vector<int64_t> part = connected_parts(W);
  Matrix<double> L(p, p), J(p, p);
  for (int64_t k = 0; k < p; ++k) {
    const auto size = static_cast<double>(std::ranges::count(part, part[k]));
    double degree = 0;
    for (int64_t l = 0; l < p; ++l) {
      J(k, l) = part[k] == part[l] ? 1 / size : 0;
      L(k, l) = k == l ? 0 : -W(k, l) / total * static_cast<double>(p);
      degree -= L(k, l);
    }
    L(k, k) = degree;
  }
  for (int64_t i = 0; i < p * p; ++i) L.data()[i] += J.data()[i];
  invert(L.view());
  std::vector<double> inverse;
  for (int64_t k = 0; k < p; ++k)
    for (int64_t l = 0; l < p; ++l) inverse.push_back((L(k, l) + L(l, k)) / 2 - J(k, l));
  return inverse;
}

std::vector<double> gamma_of(const Parameters& canonical) {
  std::vector<double> numbers = canonical.numbers("gamma");
  if (kStructure.read(canonical) == Structure::given) return numbers;
  const int64_t p = outputs_of(numbers);
  return laplacian_inverse({numbers.data(), p, p});
}

class Decomposable final : public MatrixKernel {
 public:
  explicit Decomposable(const Parameters& canonical)
      : MatrixKernel(with_rows(canonical)),
        numbers_(gamma_of(canonical)),
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
// features for operator-valued kernels", 2016, section 2).
void to_field(const FieldParts& parts, MatrixView<double> S) noexcept {
  double trace = 0;
  for (int64_t i = 0; i < S.rows; ++i) trace += S(i, i);
  for (int64_t i = 0; i < S.rows; ++i) {
    for (int64_t j = 0; j < S.cols; ++j) S(i, j) *= parts.curl - parts.divergence;
    S(i, i) += parts.divergence * trace;
  }
}

void require_moments(const Kernel& kernel, int64_t order) {
  const std::string name(kernel.name());
  require(kernel.is_shift_invariant(), MERCER_UNSUPPORTED,
          "curl-free and divergence-free kernels of kernel %s, expected one of x - y alone, whose "
          "derivatives they are made of",
          name.c_str());
  require(kernel.most_derivatives() >= order, MERCER_UNSUPPORTED,
          "kernel %s has derivatives to order %ld, expected %ld for %s: spectral moments of that "
          "order, of matern nu > %ld",
          name.c_str(), kernel.most_derivatives(), order,
          order == 2 ? "curl-free and divergence-free kernels" : "the variance of their features",
          order / 2);
}

bool RadialPairs::serves(const Kernel& kernel) noexcept {
  return dynamic_cast<const RadialSlopes*>(&kernel) != nullptr;
}

RadialPairs::RadialPairs(const Kernel& kernel, int64_t d)
    : kernel_(dynamic_cast<const RadialSlopes&>(kernel)) {
  const auto lengthscale = kernel.lengthscale();
  for (int64_t k = 0; k < d; ++k) {
    const double l = lengthscale[lengthscale.size() == 1 ? 0 : static_cast<size_t>(k)];
    precision_.push_back(1 / l / l);
    trace_ += precision_.back();
  }
}

double RadialPairs::square(const double* x, const double* y) const noexcept {
  double sum = 0;
  for (int64_t i = 0; i < inputs(); ++i) sum += v(i, x, y) * v(i, x, y);
  return sum;
}

bool RadialPairs::slopes(const double* x, const double* y, std::span<double> f) const noexcept {
  double s = 0;
  for (int64_t i = 0; i < inputs(); ++i) s += (x[i] - y[i]) * v(i, x, y);
  kernel_.radial_slopes(s, f);
  return std::any_of(f.begin() + 1, f.end(), [](double slope) { return slope != 0; });
}

SpectralMoments::SpectralMoments(const Kernel& kernel, int64_t d) : kernel_(kernel), d_(d) {
  require_moments(kernel, 2);
  kernel.check_dimension(d);
  if (RadialPairs::serves(kernel))
    radial_.emplace(kernel, d);
  else
    pairs_ = second_derivatives(kernel, d);
}

void SpectralMoments::second(const double* x, const double* y,
                             MatrixView<double> S) const noexcept {
  double f[3] = {};
  const bool far = radial_ && !radial_->slopes(x, y, f);
  auto pair = pairs_.begin();
  for (int64_t i = 0; i < d_; ++i) {
    for (int64_t j = i; j < d_; ++j) {
      double moment = 0;
      if (!radial_) moment = -(*pair++)->at(d_, x, y);
      if (radial_ && !far) {
        moment = -4 * f[2] * radial_->v(i, x, y) * radial_->v(j, x, y);
        if (i == j) moment -= 2 * f[1] * radial_->precision(i);
      }
      S(i, j) = S(j, i) = moment;
    }
  }
}

namespace {

// sum_l d_l^2 d_i d_j f(s), by s_i = 2 v_i and s_ij = 2 L_i [i = j]; q = v'v:
//   4 f'' [i = j] L_i (tr L + 2 L_i) + 8 f''' ([i = j] L_i q + (tr L + 2 L_i + 2 L_j) v_i v_j)
//   + 16 f'''' q v_i v_j.
// With gaussian it is the Hermite polynomial of fourth order of v, two indices contracted.
void radial_fourth(const RadialPairs& pairs, const double* x, const double* y,
                   MatrixView<double> S) noexcept {
  double f[5];
  const bool near = pairs.slopes(x, y, f);
  const double square = pairs.square(x, y);
  for (int64_t i = 0; i < S.rows; ++i) {
    const double vi = pairs.v(i, x, y), Li = pairs.precision(i);
    for (int64_t j = 0; j <= i; ++j) {
      const double vj = pairs.v(j, x, y), trace = pairs.trace() + 2 * Li;
      const double mixed = 8 * f[3] * (trace + 2 * pairs.precision(j)) + 16 * f[4] * square;
      const double same = i == j ? Li * (4 * f[2] * trace + 8 * f[3] * square) : 0.0;
      S(i, j) = S(j, i) = near ? mixed * vi * vj + same : 0;
    }
  }
}

}  // namespace

void SpectralMoments::fourth(const double* x, const double* y, MatrixView<double> S) const {
  if (radial_) return radial_fourth(*radial_, x, y, S);
  for (int64_t i = 0; i < d_; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const MultiIndex pair = sum_of({{j, 1}}, {{i, 1}});
      double sum = 0;
      for (int64_t l = 0; l < d_; ++l)
        sum += kernel_.differential(sum_of(pair, {{l, 2}}), {})->at(d_, x, y);
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
  require_moments(scalar(), 2);
}

int64_t FieldKernel::outputs(int64_t d) const {
  scalar().check_dimension(d);
  require(d >= 2 || parts_.divergence == 0, MERCER_DIMENSION_MISMATCH,
          "d = %ld, expected at least 2 inputs: of one the divergence-free kernel is 0", d);
  return d;
}

std::unique_ptr<const PairAction> FieldKernel::action(int64_t d) const {
  outputs(d);
  if (RadialPairs::serves(scalar())) return std::make_unique<RadialAction>(scalar(), parts_, d);
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
// share their frequencies.
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
                 kStructure.field(),
                 number_field("cutoff", 1e-12, 0, 1,
                              "pivots of the root up to this part of the largest are left out")},
      .make = [](const Parameters& canonical) -> std::unique_ptr<Kernel> {
        return std::make_unique<Decomposable>(canonical);
      },
      .default_map = "fourier",
      .outputs = OutputCount::gamma};
}

}  // namespace mercer::kernel
