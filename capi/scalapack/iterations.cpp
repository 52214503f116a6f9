// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Conjugate gradients: Saad 2003, algorithm 9.1, for all columns at once. Sketch: Frangella, Tropp,
// Udell 2023, algorithm 2.1, with random signs G: H is about Y (G'Y)^{-1} Y' for Y = H G, whose
// eigenvectors are the left singular vectors of B = Y C^{-T}, G'Y = C C', by the eigenvectors of B'B.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "iterations.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "leave_one_out.h"

namespace mercer::scalapack {
namespace {

constexpr int64_t kLeastRank = 256, kMostRank = 1024, kFeaturesOfRank = 32, kSketchRows = 8192;
constexpr double kSketchShift = 1e-14, kLeastShare = 1e-12;  // of the sketch, of its largest
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Vector = std::vector<double>;

/// What rank 0 computes, in all.
template <class Body>
void in_first(Processes& all, Vector& numbers, const Body& body) {
  all.each([&] {
    if (all.rank() == 0)
      body();
    else
      std::fill(numbers.begin(), numbers.end(), 0.0);
  });
  all.sum(numbers);
}

/// A'B of divided vectors, in all.
Vector inner_products(const CenteredRows& rows, const Vector& A, int64_t a, const Vector& B,
                      int64_t b) {
  Vector C(static_cast<size_t>(a * b));
  if (rows.grid().column() == 0) multiply_own(true, rows.own(), a, b, A.data(), B.data(), C.data());
  rows.all().sum(C);
  return C;
}

class Iteration {
 public:
  Iteration(CenteredRows& rows, const Preconditioner& by, double shift, const Vector& B,
            const Limits& limits, const std::function<void(double)>& done, Vector& X)
      : rows_(rows), by_(by), shift_(shift), B_(B), limits_(limits), done_(done), X_(X) {}

  int64_t run(int64_t count) {
    count_ = count;
    sizes_ = norms(B_);
    for (double before = kInfinity;;) {
      begin();
      const double worst = worst_residual();
      if (worst <= limits_.tolerance) return iterations_;
      // Where a restart does not halve the residual, rounding limits it, not the iteration.
      rows_.all().each([&] {
        require(iterations_ < limits_.iterations && worst < before / 2, MERCER_NOT_CONVERGED,
                "|Z'(Zw - y) + n lambda w| / |Z'y| = " + text_of(worst) + " after " +
                    std::to_string(iterations_) + " iterations, expected at most " +
                    text_of(limits_.tolerance) + ": a larger lambda, tolerance or iterations");
      });
      before = worst;
      iterate();
    }
  }

 private:
  static std::string text_of(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
  }
  Vector norms(const Vector& A) const {
    Vector found = rows_.dots(A, A, count_);
    for (double& square : found) square = std::sqrt(square);
    return found;
  }
  /// a_k += by[k] b_k.
  void add(const Vector& by, const Vector& b, Vector& a) const {
    for (int64_t k = 0; k < count_; ++k)
      for (int64_t i = k * rows_.own(); i < (k + 1) * rows_.own(); ++i)
        a[static_cast<size_t>(i)] += by[static_cast<size_t>(k)] * b[static_cast<size_t>(i)];
  }
  Vector product(const Vector& V) {
    Vector found = rows_.normal_product(V, count_).vectors;
    add(Vector(static_cast<size_t>(count_), shift_), V, found);
    return found;
  }
  /// The residual of X as it is, and the first directions.
  void begin() {
    R_ = B_;
    const Vector squares = rows_.dots(X_, X_, count_);
    if (std::any_of(squares.begin(), squares.end(), [](double square) { return square != 0; }))
      add(Vector(static_cast<size_t>(count_), -1.0), product(X_), R_);
    take_preconditioned();
    P_ = Z_;
    rz_ = rows_.dots(R_, Z_, count_);
  }
  void take_preconditioned() {
    residuals_ = norms(R_);
    Z_ = R_;
    by_.apply(shift_, residuals_, Z_);
  }
  void iterate() {
    for (; iterations_ < limits_.iterations && worst_residual() > limits_.tolerance;
         ++iterations_) {
      done_(part_done());
      const Vector Q = product(P_), curvatures = rows_.dots(P_, Q, count_);
      check(curvatures);
      Vector steps(curvatures.size());
      for (size_t k = 0; k < steps.size(); ++k)
        steps[k] = is_done(k) || rz_[k] == 0 ? 0 : rz_[k] / curvatures[k];
      add(steps, P_, X_);
      for (double& step : steps) step = -step;
      add(steps, Q, R_);
      take_preconditioned();
      Vector ratios = rows_.dots(R_, Z_, count_);
      for (size_t k = 0; k < ratios.size(); ++k) {
        std::swap(ratios[k], rz_[k]);
        ratios[k] = ratios[k] > 0 ? rz_[k] / ratios[k] : 0;
      }
      Vector next = Z_;
      add(ratios, P_, next);
      P_.swap(next);
    }
  }
  void check(const Vector& curvatures) {
    rows_.all().each([&] {
      for (size_t k = 0; k < curvatures.size(); ++k)
        require(is_done(k) || rz_[k] == 0 || curvatures[k] > 0, MERCER_NOT_POSITIVE_DEFINITE,
                "p'(Z'Z + n lambda I)p = " + text_of(curvatures[k]) +
                    " of a direction p of conjugate gradients, expected a larger lambda");
    });
  }
  /// Infinite where a number is none.
  double residual(size_t k) const {
    const double found = sizes_[k] != 0 ? residuals_[k] / sizes_[k] : 0;
    return std::isnan(found) ? kInfinity : found;
  }
  bool is_done(size_t k) const { return residual(k) <= limits_.tolerance; }
  double worst_residual() const {
    double worst = 0;
    for (size_t k = 0; k < residuals_.size(); ++k) worst = std::max(worst, residual(k));
    return worst;
  }
  double part_done() const {
    const double spent = static_cast<double>(iterations_) / static_cast<double>(limits_.iterations);
    return std::clamp(std::log(worst_residual()) / std::log(limits_.tolerance), spent, 1.0);
  }

  CenteredRows& rows_;
  const Preconditioner& by_;
  double shift_;
  const Vector& B_;
  const Limits& limits_;
  const std::function<void(double)>& done_;
  Vector& X_;
  int64_t count_ = 0, iterations_ = 0;
  Vector R_, Z_, P_, sizes_, residuals_, rz_;
};

}  // namespace

int64_t Sketch::rank_for(int64_t features) noexcept {
  return std::min(features, std::clamp(features / kFeaturesOfRank, kLeastRank, kMostRank));
}

double Sketch::bytes(double own, double rank) noexcept {
  return 8 * (3 * own * rank + 7 * rank * rank);
}

Sketch::Sketch(CenteredRows& rows, int64_t block_rows)
    : rows_(rows), rank_(rank_for(rows.sums().features())) {
  const int64_t blocks = (rows.sums().y.rows + block_rows - 1) / block_rows;
  const int64_t stride = std::max<int64_t>(1, blocks * block_rows / kSketchRows);
  const GridMatrix& cross = rows.sums().cross;
  const Probes signs(rows.sums().features(), rank_);
  Vector G;
  rows.all().each([&] {
    for (int64_t k = 0; k < rank_; ++k)
      for (int64_t i = 0; i < rows.own(); ++i) G.push_back(signs.at(cross.row_place(i), k));
  });
  auto [Y, share] = rows.normal_product(G, rank_, std::min(stride, blocks));
  const Vector squares = rows.dots(Y, Y, rank_);
  double square = 0;
  for (const double of_column : squares) square += of_column;
  const double nu = kSketchShift * std::sqrt(square);
  for (size_t i = 0; i < Y.size(); ++i) Y[i] += nu * G[i];
  Vector core = inner_products(rows, G, rank_, Y, rank_);
  in_first(rows.all(), core, [&] {
    if (!cholesky_own(rank_, core.data())) std::fill(core.begin(), core.end(), 0.0);
  });
  if (core.empty() || core[0] == 0) return;  // numerically constant features need none
  rows.all().each([&] { solve_right(rows.own(), rank_, core.data(), Y.data()); });
  take_basis(Y, nu, share);
}

void Sketch::take_basis(Vector& B, double nu, double share) {
  Vector core = inner_products(rows_, B, rank_, B, rank_);
  const auto square = static_cast<size_t>(rank_ * rank_);
  core.resize(square + static_cast<size_t>(rank_));  // vectors, and their eigenvalues
  in_first(rows_.all(), core, [&] {
    const Vector values = symmetric_eigen_own(rank_, core.data());
    std::copy(values.begin(), values.end(), core.begin() + rank_ * rank_);
  });
  const auto values = core.begin() + rank_ * rank_;
  const auto dropped = std::upper_bound(values, core.end(), kLeastShare * core.back()) - values;
  const int64_t kept = rank_ - dropped;
  rows_.all().each([&] { basis_.resize(static_cast<size_t>(rows_.own() * kept)); });
  for (int64_t k = 0; k < kept; ++k) {
    const double value = values[dropped + k], root = std::sqrt(value);
    eigenvalues_.push_back(std::max(0.0, value - nu) / share);
    for (int64_t i = 0; i < rank_; ++i)
      core[static_cast<size_t>((dropped + k) * rank_ + i)] /= root;
  }
  multiply_own(false, rows_.own(), rank_, kept, B.data(), core.data() + dropped * rank_,
               basis_.data());
  rank_ = kept;
}

void Sketch::apply(double shift, const Vector& sizes, Vector& R) const {
  if (eigenvalues_.empty()) return;
  const auto count = std::ssize(sizes);
  Vector C = inner_products(rows_, basis_, rank_, R, count), of_sketch(R.size());
  for (int64_t k = 0; k < count; ++k)
    for (int64_t j = 0; j < rank_; ++j)
      C[static_cast<size_t>(k * rank_ + j)] *=
          (eigenvalues_.front() + shift) / (eigenvalues_[static_cast<size_t>(j)] + shift) - 1;
  multiply_own(false, rows_.own(), rank_, count, basis_.data(), C.data(), of_sketch.data());
  for (size_t i = 0; i < R.size(); ++i) R[i] += of_sketch[i];
}

void SingleFactor::apply(double, const Vector& sizes, Vector& R) const {
  const auto count = std::ssize(sizes);
  std::optional<SingleMatrix> place;
  rows_.all().each(
      [&] { place.emplace(rows_.grid(), L_.rows(), count, L_.descriptor()[4], count); });
  SingleMatrix& B = *place;
  const auto unit = [&](int64_t k) {
    const double size = sizes[static_cast<size_t>(k)];
    return size > 0 ? size : 1;
  };
  for (int64_t k = 0; k < B.local_columns(); ++k)
    for (int64_t i = 0; i < B.local_rows(); ++i)
      B.column(k)[i] = static_cast<float>(R[static_cast<size_t>(k * B.local_rows() + i)] / unit(k));
  cholesky_solve(L_, B);
  std::fill(R.begin(), R.end(), 0.0);
  for (int64_t k = 0; k < B.local_columns(); ++k)
    for (int64_t i = 0; i < B.local_rows(); ++i)
      R[static_cast<size_t>(k * B.local_rows() + i)] = unit(k) * B.column(k)[i];
  rows_.all().each([&] { rows_.grid().sum_of_row(R); });
}

int64_t conjugate_gradients(CenteredRows& rows, const Preconditioner& by, double shift,
                            const std::vector<double>& B, int64_t count, const Limits& limits,
                            const std::function<void(double)>& done, std::vector<double>& X) {
  return Iteration(rows, by, shift, B, limits, done, X).run(count);
}

}  // namespace mercer::scalapack
