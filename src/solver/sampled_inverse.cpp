// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With M = G G' and B = G^{-1} A G^{-T}, near I, a Lanczos process of B from z gives functions of it
// times z by those of its tridiagonal matrix T = V'B V, f(B) z = |z| V f(T) e_1, and
// z'log(B) z = |z|^2 e_1'log(T) e_1, whose mean is log |A| - log |M|.
// The draw t = G^{-T} B^{-1/2} z has the covariance A^{-1}, and with its partner
// u = G^{-T} B^{1/2} z, which is M^{-1} times a vector of covariance A, the known one
//   E t u' = G^{-T} G^{-1} = M^{-1}.
// Of a = v't and b = v'u that is m = v'M^{-1} v = E a b, and v'A^{-1} v = E a^2 is estimated by
//   mean a^2 (m / mean ab)^q, q = 2 r^2/(1 + r^2), r the correlation of a and b:
// of all q this has the least variance, 2 (1 - r^2)/(1 + r^2) of the square over the number of
// draws, from 2, that of the mean of squares, down to 0 where M = A. Likewise
// tr(g A^{-1}) = tr(g M^{-1}) + E t'g (t - u).
#include "solver/sampled_inverse.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::solver {
namespace {

using linalg::kPlain, linalg::kTransposed;

constexpr const char* kBadFactor = "a preconditioner of other features than the model's";
constexpr const char* kLanczos = "a Lanczos process";
constexpr const char* kDrawnWeights = "draws of weights";
constexpr const char* kBadDraws = "draws of weights of other features than the model's";
constexpr int64_t kMostLanczosSteps = 4000, kStepsOfPart = 32;

Estimate estimate_of(std::span<const double> each) {
  const auto count = static_cast<double>(each.size());
  double mean = 0, squares = 0;
  for (const double one : each) mean += one / count;
  for (const double one : each) squares += (one - mean) * (one - mean);
  return {mean, each.size() < 2 ? kNaN : std::sqrt(squares / (count * (count - 1)))};
}

std::span<double> entries_in(const Matrix<double>& A) {
  return {A.data(), static_cast<std::size_t>(A.rows() * A.cols())};
}

/// The Lanczos vectors of G^{-1} A G^{-T} and its tridiagonal matrix.
class LanczosProcess {
 public:
  /// From z, until |z - B V T^{-1} e_1 |z|| <= tolerance |z|.
  LanczosProcess(const linalg::LinearOperator& A, const HeavyFactor& M, const Matrix<double>& z,
                 double tolerance, Context& context)
      : length_(std::sqrt(linalg::dot(entries_in(z), entries_in(z)))) {
    const int64_t D = z.rows();
    const Matrix<double> turned(D, 1, context, kLanczos), before(D, 1, context, kLanczos);
    Matrix<double> own(D, 1, context, kLanczos), next(D, 1, context, kLanczos);
    before.fill(0);
    for (int64_t j = 0; j < D; ++j) own(j, 0) = z(j, 0) / length_;
    double beta = 0, pivot = 1, last = 1;  // last: of the solution of T y = e_1
    for (;;) {
      keep(own, context);
      std::ranges::copy(entries_in(own), turned.data());
      M.solve(turned.view(), kTransposed);
      A.apply(turned.view(), context, next.view());
      M.solve(next.view());
      const double alpha = linalg::dot(entries_in(own), entries_in(next));
      linalg::add(-alpha, entries_in(own), entries_in(next));
      linalg::add(-beta, entries_in(before), entries_in(next));
      last *= steps() == 0 ? 1 : beta / pivot;
      pivot = steps() == 0 ? alpha : alpha - beta * beta / pivot;
      require(pivot > 0, MERCER_NOT_POSITIVE_DEFINITE,
              "n lambda is lost in the rounding of Z'Z, expected a larger lambda");
      diagonal_.push_back(alpha);
      beta = std::sqrt(linalg::dot(entries_in(next), entries_in(next)));
      const double residual = beta * last / pivot;
      if (residual <= tolerance) return;
      require(steps() < kMostLanczosSteps, MERCER_NOT_CONVERGED,
              "a Lanczos process of %ld steps has a residual of %g, expected at most %g: a larger "
              "lambda, or fewer features",
              steps(), residual, tolerance);
      beside_.push_back(beta);
      std::ranges::copy(entries_in(own), before.data());
      for (double& number : entries_in(next)) number /= beta;
      std::swap(own, next);
      context.checkpoint();
    }
  }

  int64_t steps() const noexcept { return std::ssize(diagonal_); }

  /// D x 2: B^{-1/2} z and B^{1/2} z. Returns z'log(B) z.
  double apply_roots(MatrixView<double> out, Context& context) const {
    const int64_t m = steps();
    Matrix<double> T(m, m, context, kLanczos);  // its eigenvectors as rows
    T.fill(0);
    for (int64_t i = 0; i < m; ++i) {
      T(i, i) = diagonal_[i];
      if (i > 0) T(i, i - 1) = beside_[i - 1];
    }
    std::vector<double> values(m);
    linalg::symmetric_eigen(T.view(), values, context);
    const Matrix<double> shares(m, 2, context, kLanczos);
    shares.fill(0);
    double logarithm = 0;
    for (int64_t i = 0; i < m; ++i) {
      const double first = T(i, 0), root = std::sqrt(values[i]);
      logarithm += length_ * length_ * first * first * std::log(values[i]);
      for (int64_t j = 0; j < m; ++j) {
        shares(j, 0) += length_ * first * T(i, j) / root;
        shares(j, 1) += length_ * first * T(i, j) * root;
      }
    }
    for (int64_t first = 0; first < m; first += kStepsOfPart) {
      const int64_t end = std::min(m, first + kStepsOfPart);
      linalg::multiply(1.0, kTransposed,
                       parts_[first / kStepsOfPart].view().block_rows(0, end - first), kPlain,
                       shares.view().block_rows(first, end), first == 0 ? 0.0 : 1.0, out);
    }
    return logarithm;
  }

 private:
  void keep(const Matrix<double>& own, Context& context) {
    const int64_t row = steps() % kStepsOfPart;
    if (row == 0) parts_.emplace_back(kStepsOfPart, own.rows(), context, kLanczos);
    std::ranges::copy(entries_in(own), parts_.back().view().row(row));
  }
  double length_;
  std::vector<double> diagonal_, beside_;
  std::vector<Matrix<double>> parts_;  // kStepsOfPart vectors each, as rows
};

}  // namespace

HeavyFactor::HeavyFactor(std::vector<int64_t> heavy, Matrix<double> block,
                         const std::vector<double>& diagonal, double shift)
    : heavy_(std::move(heavy)), L_(std::move(block)) {
  for (int64_t a = 0; a < L_.rows(); ++a) L_(a, a) += shift;
  require(linalg::cholesky(L_.view()) == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "n lambda = %g is lost in the rounding of Z'Z, expected a larger lambda", shift);
  for (const double s : diagonal) roots_.push_back(std::sqrt(s + shift));
  for (const int64_t j : heavy_) roots_[j] = 1;
}

void HeavyFactor::solve(MatrixView<double> R, linalg::Transpose transpose) const {
  const Matrix<double> some(L_.rows(), R.cols);
  for (int64_t a = 0; a < some.rows(); ++a)
    for (int64_t k = 0; k < R.cols; ++k) some(a, k) = R(heavy_[a], k);
  linalg::triangular_solve(L_.view(), some.view(), transpose);
  for (int64_t j = 0; j < R.rows; ++j)
    for (int64_t k = 0; k < R.cols; ++k) R(j, k) /= roots_[j];
  for (int64_t a = 0; a < some.rows(); ++a)
    for (int64_t k = 0; k < R.cols; ++k) R(heavy_[a], k) = some(a, k);
}

double HeavyFactor::log_determinant() const {
  double half = 0;
  for (const double root : roots_) half += std::log(root);
  for (int64_t a = 0; a < L_.rows(); ++a) half += std::log(L_(a, a));
  return 2 * half;
}

std::vector<double> HeavyFactor::inverse_diagonal(Context& context) const {
  std::vector<double> all;
  for (const double root : roots_) all.push_back(1 / (root * root));
  Matrix<double> L(L_.rows(), L_.rows(), context, kHeavy);
  std::copy_n(L_.data(), L_.rows() * L_.rows(), L.data());
  const std::vector<double> of_heavy = linalg::cholesky_inverse_diagonal(L.view());
  for (std::size_t a = 0; a < heavy_.size(); ++a) all[heavy_[a]] = of_heavy[a];
  return all;
}

void HeavyFactor::put_numbers(std::vector<double>& to) const {
  to.push_back(static_cast<double>(heavy_.size()));
  for (const int64_t j : heavy_) to.push_back(static_cast<double>(j));
  for (int64_t a = 0; a < L_.rows(); ++a)
    to.insert(to.end(), L_.view().row(a), L_.view().row(a) + a + 1);
  to.insert(to.end(), roots_.begin(), roots_.end());
}

HeavyFactor::HeavyFactor(std::span<const double>& from, int64_t D, Context& context) {
  const auto take = [&](int64_t count) {
    require(count <= std::ssize(from), MERCER_INVALID_ARGUMENT, kBadFactor);
    const auto taken = from.first(static_cast<std::size_t>(count));
    from = from.subspan(taken.size());
    return taken;
  };
  const double h = take(1)[0];
  require(h >= 0 && h <= static_cast<double>(D) && h == std::floor(h), MERCER_INVALID_ARGUMENT,
          kBadFactor);
  double before = -1;
  for (const double j : take(static_cast<int64_t>(h))) {
    require(j > before && j < static_cast<double>(D) && j == std::floor(j), MERCER_INVALID_ARGUMENT,
            kBadFactor);
    heavy_.push_back(static_cast<int64_t>(j));
    before = j;
  }
  L_ = Matrix<double>(std::ssize(heavy_), std::ssize(heavy_), context, kHeavy);
  L_.fill(0);
  for (int64_t a = 0; a < L_.rows(); ++a) {
    std::ranges::copy(take(a + 1), L_.view().row(a));
    require(L_(a, a) > 0, MERCER_INVALID_ARGUMENT, kBadFactor);
  }
  const auto roots = take(D);
  require(std::ranges::all_of(roots, [](double root) { return root > 0; }), MERCER_INVALID_ARGUMENT,
          kBadFactor);
  roots_.assign(roots.begin(), roots.end());
}

SampledInverse::SampledInverse(const linalg::LinearOperator& A, HeavyFactor M, int64_t count,
                               double tolerance, uint64_t seed, Context& context)
    : factor_(std::move(M)),
      draws_(factor_.rows(), count, context, kDrawnWeights),
      partners_(factor_.rows(), count, context, kDrawnWeights) {
  const int64_t D = rows();
  const Matrix<double> z(D, 1, context, kDrawnWeights), pair(D, 2, context, kDrawnWeights);
  std::vector<double> logarithms;
  Stage stage(context, count);
  for (int64_t s = 0; s < count; ++s) {
    random::fill_normal({seed, random::Tag::probe, static_cast<uint64_t>(s)}, 0, entries_in(z));
    const LanczosProcess process(A, factor_, z, tolerance, context);
    steps_ += process.steps();
    logarithms.push_back(process.apply_roots(pair.view(), context));
    factor_.solve(pair.view(), kTransposed);
    for (int64_t j = 0; j < D; ++j) {
      draws_(j, s) = pair(j, 0);
      partners_(j, s) = pair(j, 1);
    }
    stage.advance(1);
  }
  log_determinant_ = estimate_of(logarithms);
  log_determinant_.value += factor_.log_determinant();
}

Estimate SampledInverse::inverse_trace(std::span<const double> g, Context& context) const {
  std::vector<double> each(static_cast<std::size_t>(count()), 0.0);
  for (int64_t j = 0; j < rows(); ++j)
    for (int64_t s = 0; s < count(); ++s)
      each[s] += g[j] * draws_(j, s) * (draws_(j, s) - partners_(j, s));
  Estimate trace = estimate_of(each);
  trace.value += linalg::dot(factor_.inverse_diagonal(context), g);
  return trace;
}

/// Of a and b of one column.
struct SampledInverse::Moments {
  double known = 0;  // m = E a b
  double aa = 0, ab = 0, bb = 0;
  double squared_correlation() const {
    return ab > 0 && bb > 0 ? std::min(1.0, ab * ab / (aa * bb)) : 0.0;
  }
  double value() const {
    const double share = squared_correlation();
    return share > 0 ? aa * std::pow(known / ab, 2 * share / (1 + share)) : aa;
  }
};

std::vector<SampledInverse::Moments> SampledInverse::moments(MatrixView<const double> V) const {
  const Matrix<double> a(count(), V.cols), b(count(), V.cols), own(V.rows, V.cols);
  linalg::multiply(1.0, kTransposed, draws_.view(), kPlain, V, 0.0, a.view());
  linalg::multiply(1.0, kTransposed, partners_.view(), kPlain, V, 0.0, b.view());
  for (int64_t j = 0; j < V.rows; ++j) std::copy_n(V.row(j), V.cols, own.view().row(j));
  factor_.solve(own.view());
  std::vector<Moments> all(static_cast<std::size_t>(V.cols));
  for (int64_t j = 0; j < own.rows(); ++j)
    for (int64_t k = 0; k < V.cols; ++k) all[k].known += own(j, k) * own(j, k);
  const auto share = 1 / static_cast<double>(count());
  for (int64_t s = 0; s < count(); ++s)
    for (int64_t k = 0; k < V.cols; ++k) {
      all[k].aa += share * a(s, k) * a(s, k);
      all[k].ab += share * a(s, k) * b(s, k);
      all[k].bb += share * b(s, k) * b(s, k);
    }
  return all;
}

void SampledInverse::quadratic_forms(MatrixView<const double> V, std::span<double> out) const {
  const std::vector<Moments> all = moments(V);
  std::ranges::transform(all, out.begin(), [](const Moments& one) { return one.value(); });
}

double SampledInverse::relative_error(MatrixView<const double> V) const {
  double sum = 0;
  const std::vector<Moments> all = moments(V);
  for (const Moments& one : all) {
    const double share = one.squared_correlation();
    sum += 2 * (1 - share) / (1 + share);
  }
  return std::sqrt(sum / static_cast<double>(std::ssize(all) * count()));
}

void SampledInverse::put_numbers(std::vector<double>& to) const {
  to.push_back(static_cast<double>(count()));
  factor_.put_numbers(to);
  for (const Matrix<double>* all : {&draws_, &partners_})
    to.insert(to.end(), all->data(), all->data() + rows() * count());
}

SampledInverse::SampledInverse(std::span<const double> numbers, int64_t D, Context& context)
    : factor_([&] {
        require(!numbers.empty(), MERCER_INVALID_ARGUMENT, kBadDraws);
        auto rest = numbers.subspan(1);
        HeavyFactor factor(rest, D, context);
        const double count = numbers[0], size = static_cast<double>(D);
        require(count >= 1 && count == std::floor(count) &&
                    2 * count * size == static_cast<double>(rest.size()),
                MERCER_INVALID_ARGUMENT, kBadDraws);
        return factor;
      }()),
      draws_(D, static_cast<int64_t>(numbers[0]), context, kDrawnWeights),
      partners_(D, draws_.cols(), context, kDrawnWeights) {
  const auto all = numbers.last(static_cast<std::size_t>(2 * D * count()));
  const auto middle = all.begin() + D * count();
  std::copy(all.begin(), middle, draws_.data());
  std::copy(middle, all.end(), partners_.data());
}

}  // namespace mercer::solver
