// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Frangella, Tropp, Udell 2023, algorithm 2.1: with G Gaussian and Y = (H + nu I) G, H is about
// Y (G'Y)^{-1} Y' - nu I, whose eigenvectors are the left singular vectors of B = Y C^{-T},
// G'Y = C C'. Their G is orthogonal, which only improves the condition of G'Y; a tall Gaussian
// matrix is well conditioned, too. The singular vectors come from B'B: eigenvalues near eps of the
// largest are lost, but are dropped anyway.
#include "solver/iterative_system.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/conjugate_gradient.h"
#include "random/distributions.h"
#include "random/stream.h"
#include "solver/block_source.h"
#include "solver/block_statistics.h"
#include "solver/coupled_system.h"
#include "solver/primal_system.h"
#include "solver/sampled_inverse.h"

namespace mercer::solver {
namespace {

using linalg::kPlain, linalg::kTransposed, linalg::Transpose;

constexpr const char* kPreconditioner = "a sketch for conjugate gradients";
constexpr double kLeastShare = 1e-12;  // of the largest eigenvalue

/// rows x cols standard normals, a stream per row.
Matrix<double> gaussian(int64_t rows, int64_t cols, uint64_t seed, Context& context) {
  Matrix<double> G(rows, cols, context, kPreconditioner);
  for (int64_t i = 0; i < rows; ++i)
    random::fill_normal({seed, random::Tag::probe, static_cast<uint64_t>(i)}, 0,
                        {G.view().row(i), static_cast<std::size_t>(cols)});
  return G;
}

constexpr uint64_t kSketchSeed = 1;  // changes speed, not solutions
// Rounding of a Gram matrix in single precision: entries have errors of this share of the mean
// diagonal entry, those of kGramRows rows independent of others', eigenvalues some root D of that.
constexpr double kRounding = 0x1p-22;

// Approximate inverses of H + shift_k I for column k, from some or all of the rows, and their
// estimates of Tr H (H + shift I)^{-1}.

/// A factor for each column; equal shifts share one.
template <class Make>
auto factors_of(std::span<const double> shifts, const Make& make) {
  using Factor = const std::invoke_result_t<Make, double>;
  std::vector<std::shared_ptr<Factor>> of_column;
  for (const double shift : shifts) {
    const auto same = std::ranges::find(shifts, shift) - shifts.begin();
    of_column.push_back(same < std::ssize(of_column) ? of_column[same]
                                                     : std::make_shared<Factor>(make(shift)));
  }
  return of_column;
}

/// By a Cholesky factor of the Gram matrix itself, of single-precision products, or of that of some
/// rows (sketch and precondition; Rudi, Carratino, Rosasco 2017 take the landmarks, Dong,
/// Martinsson 2023 a sparse sketch). Memory: 8 D^2 bytes, and as many for a factor of each shift.
class GramPreconditioner {
 public:
  GramPreconditioner(RowStatistics sums, bool center, double share)
      : sums_(std::move(sums)), center_(center), share_(share) {
    sums_.release_scratch();
    const auto D = static_cast<double>(sums_.features());
    double trace = 0;
    for (int64_t j = 0; j < sums_.features(); ++j) trace += sums_.gram()(j, j);
    const double parts = std::max(1.0, static_cast<double>(sums_.rows()) / kGramRows);
    least_ = kRounding * std::sqrt(D / parts) * trace / (D * share_);
  }
  linalg::BlockPreconditioner at(std::span<const double> shifts, Context& context) const {
    auto of_column = factors_of(shifts, [&](double shift) { return factor(shift, context); });
    return [of_column = std::move(of_column), share = share_](MatrixView<double> R) {
      for (int64_t k = 0; k < R.cols;) {
        int64_t end = k + 1;
        while (end < R.cols && of_column[end] == of_column[k]) ++end;
        linalg::cholesky_solve(of_column[k]->factor(), R.block_cols(k, end));
        k = end;
      }
      for (int64_t i = 0; i < R.rows; ++i)
        for (int64_t k = 0; k < R.cols; ++k) R(i, k) *= share;
    };
  }
  /// How much larger than |M^{-1} r| the error A^{-1} r may be: 1 unless a shift is too small for
  /// M.
  double looseness(std::span<const double> shifts) const {
    return std::max(1.0, least_ / *std::ranges::min_element(shifts));
  }
  double effective_dimension(double shift, Context& context) const {
    return factor(shift, context).effective_dimension(context) - (center_ ? 1.0 : 0.0);
  }

 private:
  /// G + share shift I.
  RidgeFactor factor(double shift, Context& context) const {
    const double lambda = std::max(shift, least_) * share_ / sums_.weight();
    return {sums_.clone(context), center_, lambda, context};
  }
  RowStatistics sums_;
  bool center_;
  double share_;
  double least_ = 0;  // shift
};

/// By the heavy columns' block of Z'WZ. Memory: 8 h^2 bytes for h heavy columns, and as many for each
/// shift.
class HeavyPreconditioner {
 public:
  static constexpr int64_t kMostIterations = 20000;  // which pass over no rows
  HeavyPreconditioner(NormalSums& sums, std::span<const double> mean)
      : heavy_(std::move(sums.heavy)),
        block_(std::move(sums.block)),
        diagonal_(std::move(sums.diagonal)) {
    for (std::size_t j = 0; j < diagonal_.size(); ++j)
      diagonal_[j] = std::max(0.0, diagonal_[j] - sums.weight * mean[j] * mean[j]);
    for (std::size_t a = 0; a < heavy_.size(); ++a) {
      diagonal_[heavy_[a]] = 0;
      double* const row = block_.view().row(static_cast<int64_t>(a));
      for (std::size_t b = 0; b <= a; ++b)
        row[b] -= sums.weight * mean[heavy_[a]] * mean[heavy_[b]];
    }
  }
  HeavyFactor factor(double shift, Context& context) const {
    Matrix<double> block(block_.rows(), block_.rows(), context, kHeavy);
    for (int64_t a = 0; a < block.rows(); ++a)
      std::copy_n(block_.view().row(a), a + 1, block.view().row(a));
    return {heavy_, std::move(block), diagonal_, shift};
  }
  linalg::BlockPreconditioner at(std::span<const double> shifts, Context& context) const {
    auto of_column = factors_of(shifts, [&](double shift) { return factor(shift, context); });
    return [of_column = std::move(of_column)](MatrixView<double> R) {
      for (int64_t k = 0; k < R.cols; ++k) {
        of_column[k]->solve(R.block_cols(k, k + 1));
        of_column[k]->solve(R.block_cols(k, k + 1), linalg::kTransposed);
      }
    };
  }
  /// Of Tr H (H + shift I)^{-1}.
  double effective_dimension(double shift, Context& context) const {
    double sum = static_cast<double>(diagonal_.size());
    for (const double inverse : factor(shift, context).inverse_diagonal(context))
      sum -= shift * inverse;
    return sum;
  }

 private:
  std::vector<int64_t> heavy_;
  Matrix<double> block_;
  std::vector<double> diagonal_;  // 0 of heavy columns
};

/// Z'WZ - n m m', m the mean row of Z or, without centring, zeros.
class CenteredGram final : public linalg::LinearOperator {
 public:
  CenteredGram(std::unique_ptr<const linalg::LinearOperator> gram, double weight,
               std::vector<double> mean)
      : gram_(std::move(gram)), weight_(weight), mean_(std::move(mean)) {}
  int64_t rows() const override { return gram_->rows(); }

 private:
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const override {
    gram_->apply(X, context, Y);
    std::vector<double> of_mean(X.cols, 0.0);
    for (int64_t j = 0; j < X.rows; ++j)
      for (int64_t k = 0; k < X.cols; ++k) of_mean[k] += mean_[j] * X(j, k);
    for (int64_t j = 0; j < Y.rows; ++j)
      for (int64_t k = 0; k < Y.cols; ++k) Y(j, k) -= weight_ * mean_[j] * of_mean[k];
  }
  std::unique_ptr<const linalg::LinearOperator> gram_;
  double weight_;
  std::vector<double> mean_;
};

// The right-hand side of ridge, and the means of features and targets, from one pass over the rows,
// of all processes that share them.
struct NormalEquations {
  double weight = 0;                 // n
  MeanRow mean;                      // zeros without centring
  Matrix<double> cross;              // D x outputs: (Z - 1 mean')'W(Y - 1 mean')
  std::vector<double> squares = {};  // the diagonal of (Y - 1 mean')'W(Y - 1 mean'), if known
};

// Each process sums about a row of its own, so that means far from zero cost no digits; sums about
// its mean are then moved to the mean of all.

constexpr const char* kEquations = "the right-hand side of ridge";
constexpr double kConstant = 4e-15;  // of its mean: the deviation of a target that does not vary

/// Sums of one process about `origin`: a row for each target's deviation, then one for the weights.
struct OwnSums {
  OwnSums(const BlockSource& rows, Context& context)
      : products(rows.outputs() + 1, rows.features(), context, kEquations),
        origin{std::vector<double>(rows.features(), 0.0), std::vector<double>(rows.outputs(), 0.0)},
        outputs(rows.outputs(), 0.0) {
    products.fill(0);
  }
  Matrix<double> products;
  MeanRow origin;
  std::vector<double> outputs;
  double weight = 0;
};

template <class T>
void add_rows(const FeatureBlock& block, MatrixView<const T> Z, RowTiles& tiles, Context& context,
              OwnSums& to) {
  const int64_t m = block.Y.cols;
  if (block.first == 0) {
    std::copy_n(Z.row(0), Z.cols, to.origin.features.data());
    std::copy_n(block.Y.row(0), m, to.origin.outputs.data());
  }
  const auto factors = [&](int64_t first, MatrixView<const double> tile,
                           MatrixView<double> u) noexcept {
    for (int64_t i = 0; i < tile.rows; ++i) {
      u(i, m) = block.weight(first + i);
      for (int64_t o = 0; o < m; ++o)
        u(i, o) = u(i, m) * (block.Y(first + i, o) - to.origin.outputs[o]);
    }
  };
  tiles.add(Z, to.origin.features.data(), context, factors, to.products.view());
  for (int64_t i = 0; i < Z.rows; ++i) {
    for (int64_t o = 0; o < m; ++o) to.outputs[o] += tiles.factors()(i, o);
    to.weight += tiles.factors()(i, m);
  }
}

OwnSums own_sums(const BlockSource& rows, Context& context, const RowsDone& done) {
  OwnSums sums(rows, context);
  if (rows.rows() == 0) return sums;
  RowTiles tiles(rows.block_rows(), rows.features(), rows.outputs() + 1, context);
  rows.for_each(context, [&](const FeatureBlock& block) {
    block.visit([&](auto Z) { add_rows(block, Z, tiles, context, sums); });
    if (done) done(block.rows());
  });
  return sums;
}

/// sum + weight origin: the sum about zero.
std::vector<double> about_zero(const double* sums, const std::vector<double>& origin,
                               double weight) {
  std::vector<double> all(origin);
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = sums[j] + weight * origin[j];
  return all;
}

NormalEquations normal_equations(const BlockSource& rows, bool center, Context& context,
                                 const RowsDone& done) {
  const OwnSums own = own_sums(rows, context, done);
  const int64_t D = rows.features(), m = rows.outputs();
  const double* const of_features = own.products.view().row(m);
  NormalEquations all{own.weight,
                      {about_zero(of_features, own.origin.features, own.weight),
                       about_zero(own.outputs.data(), own.origin.outputs, own.weight)},
                      Matrix<double>(D, m, context, kEquations)};
  reduce(rows, {&all.weight, 1});
  reduce(rows, all.mean.features);
  reduce(rows, all.mean.outputs);
  const double share = center && all.weight > 0 ? 1 / all.weight : 0;
  for (double& mean : all.mean.features) mean *= share;
  for (double& mean : all.mean.outputs) mean *= share;
  // Moved by m and b, S = sum w z y becomes S - s_z b - m (s_y - n b).
  for (int64_t j = 0; j < D; ++j) {
    const double by = all.mean.features[j] - own.origin.features[j];
    for (int64_t o = 0; o < m; ++o) {
      const double by_output = all.mean.outputs[o] - own.origin.outputs[o];
      all.cross(j, o) = own.products(o, j) - of_features[j] * by_output -
                        by * (own.outputs[o] - own.weight * by_output);
    }
  }
  reduce(rows, {all.cross.data(), static_cast<std::size_t>(D * m)});
  return all;
}

/// The same from sums of all processes.
NormalEquations normal_equations(const NormalSums& sums, bool center, Context& context) {
  const int64_t D = sums.cross.rows(), m = sums.cross.cols();
  const double share = center && sums.weight > 0 ? 1 / sums.weight : 0;
  NormalEquations all{sums.weight,
                      {sums.features, std::vector<double>(m, 0.0)},
                      copy_of(sums.cross.view(), context, kEquations),
                      sums.squares};
  for (double& mean : all.mean.features) mean *= share;
  for (int64_t o = 0; o < m; ++o) {
    const double by = center ? sums.outputs[o] * share : -sums.origin[o];
    all.squares[o] += by * (by * sums.weight - 2 * sums.outputs[o]);
    if (center) all.mean.outputs[o] = sums.origin[o] + by;
    // Of a target that does not vary the products are rounding, which no solution has as its
    // residual.
    const double rounding = kConstant * all.mean.outputs[o];
    const bool varies = all.squares[o] > rounding * rounding * sums.weight;
    for (int64_t j = 0; j < D; ++j)
      all.cross(j, o) = varies ? all.cross(j, o) - by * sums.features[j] : 0.0;
  }
  return all;
}

/// The same from sums, which become those about the mean, or about zero.
NormalEquations normal_equations(RowStatistics& sums, bool center, Context& context) {
  NormalEquations all{sums.weight(), center_in_place(sums, center).row,
                      Matrix<double>(sums.features(), sums.outputs(), context, kEquations)};
  std::copy_n(sums.cross().data, sums.features() * sums.outputs(), all.cross.data());
  return all;
}

constexpr const char* kIterativeRidge = "ridge by conjugate gradients";
// All rows' products in single precision take as long as D/180 passes. With those of 4 D rows alone
// conjugate gradients need some 25, by the Marchenko-Pastur law at most 30.
constexpr int64_t kWholeGram = 4096;
constexpr int64_t kRowsOfFeature = 4;
constexpr double kProbeTolerance =
    1e-2;  // at 0.1 estimates already differ by far less than they err
constexpr double kGramTolerance = 5e-11, kLeastAccuracy = 1e-6;

/// R'H R + shift_k I on column k; without R, H itself.
class ShiftedOperator final : public linalg::LinearOperator {
 public:
  ShiftedOperator(const linalg::LinearOperator& H, MatrixView<const double> R,
                  std::vector<double> shifts)
      : H_(H), R_(R), shifts_(std::move(shifts)) {}
  int64_t rows() const override { return H_.rows(); }

 private:
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const override {
    if (R_.data == nullptr) {
      H_.apply(X, context, Y);
    } else {
      const Matrix<double> of_left(R_.rows, X.cols, context, kIterativeRidge),
          product(R_.rows, X.cols, context, kIterativeRidge);
      linalg::multiply(1.0, kPlain, R_, kPlain, X, 0.0, of_left.view());
      H_.apply(of_left.view(), context, product.view());
      linalg::multiply(1.0, kTransposed, R_, kPlain, product.view(), 0.0, Y);
    }
    for (int64_t i = 0; i < Y.rows && !shifts_.empty(); ++i)
      for (int64_t k = 0; k < Y.cols; ++k) Y(i, k) += shifts_[k] * X(i, k);
  }
  const linalg::LinearOperator& H_;
  MatrixView<const double> R_;
  std::vector<double> shifts_;  // none: 0
};

/// Whether `each` numbers of every row fit beside a Gram matrix or a sketch.
bool leaves_room(const BlockSource& rows, int64_t each, const RidgeProblem& problem,
                 const Context& context) {
  const int64_t D = rows.features();
  const int64_t beside = problem.iterative == Iterative::gram
                             ? 2 * D
                             : 4 * (SketchPreconditioner::rank_for(D) + rows.outputs());
  const int64_t numbers =
      checked_add(checked_multiply(rows.rows(), each, kIterativeRidge),
                  checked_multiply(D, beside, kIterativeRidge), kIterativeRidge);
  return context.has_room(checked_multiply(8, numbers, kIterativeRidge));
}

/// Those of all rows, if as many again fit beside a Gram matrix or a sketch, which takes some.
std::optional<FeatureEntries> entries_of(const BlockSource& rows, const RidgeProblem& problem,
                                         Context& context) {
  std::optional<FeatureEntries> entries = rows.entries(context);
  if (entries && !leaves_room(rows, 2 * entries->columns.rows(), problem, context)) entries.reset();
  return entries;
}

class IterativeSystem final : public RidgeSystem {
 public:
  IterativeSystem(std::unique_ptr<NormalSums> sums, bool center, Context& context)
      : problem_{center, nullptr, Iterative::sketch} {
    take(std::move(sums), context);
  }
  IterativeSystem(const BlockSource& given, const RidgeProblem& problem, Context& context,
                  const RowsDone& done)
      : problem_(problem), factored_(given.factored()) {
    if (problem.iterative == Iterative::sketch && take(given.normal_sums(context, done), context))
      return;
    const BlockSource& left = factored_ ? *factored_->left : given;
    std::optional<FeatureEntries> entries = entries_of(left, problem, context);
    if (!entries && leaves_room(left, left.features(), problem, context))
      cached_ = make_cached(left, context);
    const BlockSource& rows = cached_ ? *cached_ : left;
    const int64_t D = given.features();
    if (problem.iterative == Iterative::gram)  // refused before any row is read
      context.require_room(
          checked_multiply(16, checked_multiply(D, D, kIterativeRidge), kIterativeRidge),
          "Z'Z and its factor");
    if (problem.iterative == Iterative::gram && !factored_ && D <= kWholeGram) {
      RowStatistics sums = single_sums(rows, context, done);
      take(rows, normal_equations(sums, problem.center, context), std::move(entries));
      gram_.emplace(std::move(sums), problem.center, 1);
      return;
    }
    take(rows, normal_equations(rows, problem.center, context, done), std::move(entries));
    if (problem.iterative == Iterative::gram) {
      const std::vector<int64_t> some =
          spread_rows(rows.rows(), checked_multiply(kRowsOfFeature, D, kIterativeRidge));
      RowStatistics sums = single_sums(*given.subset(some), context, {});
      const double share = sums.weight() / equations_.weight;
      gram_.emplace(std::move(sums), problem.center, share);
    } else {
      const std::vector<int64_t> some = spread_rows(rows.rows(), SketchPreconditioner::kRows);
      const auto part = rows.subset(some);
      const NormalOperator sampled(*part, problem.center, context,
                                   has_entries_ ? part->entries(context) : std::nullopt);
      sketch_.emplace(ShiftedOperator(sampled, right(), {}),
                      SketchPreconditioner::rank_for(sampled.rows()),
                      sampled.weight() / equations_.weight, context);
    }
  }

  Solution solution(double lambda, Want want, Context& context) const override {
    const int64_t D = H_->rows(), p = equations_.cross.cols();
    const std::vector<double> asked = shifts_of(lambda), shifts = finite(asked);
    const Matrix<double> B = right_hand_side(asked, context), X(D, p, context, kIterativeRidge);
    X.fill(0);
    const bool gram = gram_.has_value();
    const double loose = gram ? gram_->looseness(shifts) : 1;
    const linalg::CgOptions options = options_at(shifts, loose, context);
    if (gram) {
      std::copy_n(B.data(), D * p, X.data());
      options.preconditioner(X.view());
    }
    const linalg::CgResult result = linalg::conjugate_gradient(
        ShiftedOperator(*H_, right(), shifts), B.view(), options, context, X.view());
    require(
        result.converged || gram || is_rounding(result, B.view(), X.view()), MERCER_NOT_CONVERGED,
        "solver = cg: |b - A x| / |b| = %g after %ld iterations, expected at most %g: lambda = %g "
        "is too small for these features, or their lengthscale too long",
        result.worst(), result.iterations, options.tolerance, lambda);
    const double residual = result.worst() * loose;
    require(
        !gram || residual <= kLeastAccuracy, MERCER_NOT_CONVERGED,
        "solver = mixed: the weights' relative error is %g after %ld iterations, expected at most "
        "%g: lambda = %g is too small for a Gram matrix in single precision, expected solver = "
        "direct",
        residual, result.iterations, kLeastAccuracy, lambda);
    Solution found{weights(X, context), kNaN, {result.iterations, residual}};
    if (want == Want::weights) return found;
    double sum = 0;
    for (const double shift : asked) sum += effective_dimension(shift, context);
    found.effective_dimension = sum / static_cast<double>(p);
    return found;
  }

  EvidencePoint sampled_evidence(double lambda, double noise, const Probing& by,
                                 MatrixView<const double> directions,
                                 Context& context) const override {
    if (!heavy_ || problem_.coupling != nullptr)
      return RidgeSystem::sampled_evidence(lambda, noise, by, directions, context);
    const double shift = checked_shift(lambda, equations_.weight);
    const Weights found = solve(lambda, context);
    const SampledInverse inverse = sampled(shift, by, context);
    return evidence_point(found.w.view(), explained(found.w.view(), context), shift, noise, inverse,
                          directions, context);
  }

  SampledSums sampled_sums(double lambda, const Weights& weights, const Probing& by,
                           Context& context) const override {
    if (!heavy_ || problem_.coupling != nullptr)
      return RidgeSystem::sampled_sums(lambda, weights, by, context);
    const double shift = checked_shift(lambda, equations_.weight);
    SampledSums sums{std::make_shared<const SampledInverse>(sampled(shift, by, context)),
                     equations_.weight, equations_.mean.features,
                     explained(weights.w.view(), context)};
    const std::vector<double> ones(static_cast<std::size_t>(H_->rows()), 1.0);
    sums.dimension =
        static_cast<double>(H_->rows()) - shift * sums.inverse->inverse_trace(ones, context).value;
    return sums;
  }

 private:
  linalg::CgOptions options_at(std::span<const double> shifts, double loose,
                               Context& context) const {
    if (gram_)
      return {.tolerance = kGramTolerance / loose,
              .most_iterations = SketchPreconditioner::kMostIterations,
              .preconditioner = gram_->at(shifts, context),
              .relative_to_solution = true};
    return {.tolerance = SketchPreconditioner::kTolerance,
            .most_iterations = heavy_ ? HeavyPreconditioner::kMostIterations
                                      : SketchPreconditioner::kMostIterations,
            .preconditioner = heavy_ ? heavy_->at(shifts, context) : sketch_->at(shifts)};
  }

  double effective_dimension(double shift, Context& context) const {
    return (problem_.center ? 1.0 : 0.0) + (gram_    ? gram_->effective_dimension(shift, context)
                                            : heavy_ ? heavy_->effective_dimension(shift, context)
                                                     : sketch_->effective_dimension(shift));
  }

  /// Whether rounding Z'WZ explains the residuals: x solves (A + E) x = b, |E| <= eps tr Z'WZ. So
  /// it is where columns hardly vary, for which no better x is to be had.
  bool is_rounding(const linalg::CgResult& result, MatrixView<const double> B,
                   MatrixView<const double> X) const {
    for (int64_t k = 0; k < X.cols; ++k) {
      double b = 0, x = 0;
      for (int64_t j = 0; j < X.rows; ++j) {
        b += B(j, k) * B(j, k);
        x += X(j, k) * X(j, k);
      }
      const double r = result.residuals[static_cast<std::size_t>(k)];
      if (!(r <= SketchPreconditioner::kTolerance) &&
          !(r * std::sqrt(b) <= kEpsilon * trace_ * std::sqrt(x)))
        return false;
    }
    return true;
  }

  SampledInverse sampled(double shift, const Probing& by, Context& context) const {
    return {ShiftedOperator(*H_, {}, std::vector<double>(1, shift)),
            heavy_->factor(shift, context),
            by.count,
            kProbeTolerance,
            by.seed,
            context};
  }

  /// The residuals' squares y'y - 2 w'b + w'H w of each output, to the square of w's error.
  std::vector<double> explained(MatrixView<const double> w, Context& context) const {
    const Matrix<double> product(w.rows, w.cols, context, kIterativeRidge);
    H_->apply(w, context, product.view());
    std::vector<double> squares = equations_.squares;
    for (int64_t j = 0; j < w.rows; ++j)
      for (int64_t o = 0; o < w.cols; ++o)
        squares[o] += w(j, o) * (product(j, o) - 2 * equations_.cross(j, o));
    for (double& rest : squares) rest = std::max(rest, 0.0);
    return squares;
  }

  // With s = n lambda, K^{-1}y = r/s and Z'K^{-1}y = w: q = y'K^{-1}y = (r'r + s w'w)/s,
  // dq/d log s = -r'r/s, and along g, dZ = Z diag(g), dq = -2 w'diag(g) w. Of log |K| on the m
  // dimensions that centring leaves, (m - D) log s + log |A|, these are m - D + s tr A^{-1} and
  // 2 tr diag(g) A^{-1}H = 2 sum_j g_j (1 - s (A^{-1})_jj).

  double degrees() const { return equations_.weight - (problem_.center ? 1 : 0); }

  /// The determinant's part, the same for each output.
  EvidencePoint of_determinant(double shift, const SampledInverse& inverse,
                               MatrixView<const double> directions, Context& context) const {
    const std::vector<double> ones(static_cast<std::size_t>(H_->rows()), 1.0);
    const double others = degrees() - static_cast<double>(H_->rows()), share = 1 / (2 * degrees());
    const Estimate logarithm = inverse.log_determinant();
    EvidencePoint point{share * (others * std::log(shift) + logarithm.value),
                        share * logarithm.error,
                        {share * (others + shift * inverse.inverse_trace(ones, context).value)}};
    for (int64_t c = 0; c < directions.rows; ++c) {
      const std::span<const double> g(directions.row(c), ones.size());
      const double left = shift * inverse.inverse_trace(g, context).value;
      point.slopes.push_back(2 * share * (linalg::dot(g, ones) - left));
    }
    return point;
  }

  /// Adds the part of an output with these weights and squares of residuals; 0 of a constant one.
  void add_quadratic(std::span<const double> w, double squares, double shift, double noise,
                     MatrixView<const double> directions, EvidencePoint& point) const {
    const double q = squares / shift + linalg::dot(w, w), amplitude = noise / shift;
    const double share = noise > 0 ? 1 / (2 * degrees() * amplitude) : 1 / (2 * q);
    point.value +=
        noise > 0 ? share * q + std::log(2 * std::numbers::pi * amplitude) / 2 : std::log(q) / 2;
    point.slopes[0] += (noise > 0 ? share * q - 0.5 : 0.0) - share * squares / shift;
    for (int64_t c = 0; c < directions.rows; ++c)
      for (std::size_t j = 0; j < w.size(); ++j)
        point.slopes[1 + c] -= 2 * share * directions(c, static_cast<int64_t>(j)) * w[j] * w[j];
  }

  EvidencePoint evidence_point(MatrixView<const double> w, const std::vector<double>& squares,
                               double shift, double noise, const SampledInverse& inverse,
                               MatrixView<const double> directions, Context& context) const {
    const EvidencePoint each = of_determinant(shift, inverse, directions, context);
    EvidencePoint sum{0, 0, std::vector<double>(each.slopes.size(), 0.0)};
    std::vector<double> own(static_cast<std::size_t>(w.rows));
    for (int64_t o = 0; o < w.cols; ++o) {
      for (int64_t j = 0; j < w.rows; ++j) own[j] = w(j, o);
      if (!(squares[o] > 0) && linalg::dot(own, own) == 0) continue;
      sum.value += each.value;
      sum.error += each.error;
      for (std::size_t c = 0; c < each.slopes.size(); ++c) sum.slopes[c] += each.slopes[c];
      add_quadratic(own, squares[o], shift, noise, directions, sum);
    }
    return sum;
  }

  MatrixView<const double> right() const {
    return factored_ ? factored_->right : MatrixView<const double>();
  }

  static RowStatistics single_sums(const BlockSource& rows, Context& context,
                                   const RowsDone& done) {
    RowStatistics sums(rows.features(), rows.outputs(), context);
    add_blocks_single(rows, sums, context, done, DoubleRows::round);
    return take_reduced(rows, std::move(sums));
  }

  void take(const BlockSource& rows, NormalEquations equations,
            std::optional<FeatureEntries> entries) {
    equations_ = std::move(equations);
    has_entries_ = entries.has_value();
    H_ = std::make_unique<NormalOperator>(rows, equations_.weight, equations_.mean.features,
                                          std::move(entries));
  }

  /// False for null.
  bool take(std::unique_ptr<NormalSums> sums, Context& context) {
    if (sums == nullptr) return false;
    equations_ = normal_equations(*sums, problem_.center, context);
    trace_ = std::accumulate(sums->diagonal.begin(), sums->diagonal.end(), 0.0);
    heavy_.emplace(*sums, equations_.mean.features);
    H_ = std::make_unique<CenteredGram>(std::move(sums->gram), equations_.weight,
                                        equations_.mean.features);
    return true;
  }

  /// R'B S^{-1} Q; 0 where a shift is infinite.
  Matrix<double> right_hand_side(const std::vector<double>& shifts, Context& context) const {
    const int64_t D = H_->rows(), p = equations_.cross.cols();
    Matrix<double> B(D, p, context, kIterativeRidge);
    rotate(equations_.cross.view(), true, B.view());
    for (int64_t k = 0; k < p; ++k)
      for (int64_t i = 0; i < D && std::isinf(shifts[k]); ++i) B(i, k) = 0;
    if (!factored_) return B;
    Matrix<double> of_right(D, p, context, kIterativeRidge);
    linalg::multiply(1.0, kTransposed, right(), kPlain, B.view(), 0.0, of_right.view());
    return of_right;
  }

  Weights weights(const Matrix<double>& X, Context& context) const {
    Weights found{Matrix<double>(X.rows(), X.cols(), context, kIterativeRidge), {}};
    rotate(X.view(), false, found.w.view());
    if (!factored_) {
      found.intercept = intercepts(equations_.mean, found.w.view());
    } else {
      const Matrix<double> of_left(X.rows(), X.cols(), context, kIterativeRidge);
      linalg::multiply(1.0, kPlain, right(), kPlain, found.w.view(), 0.0, of_left.view());
      found.intercept = intercepts(equations_.mean, of_left.view());
    }
    return found;
  }

  /// n lambda over Gamma's eigenvalue, for each rotated output.
  std::vector<double> shifts_of(double lambda) const {
    std::vector<double> shifts(equations_.cross.cols(), lambda);
    if (problem_.coupling != nullptr) shifts = problem_.coupling->lambdas(lambda);
    for (double& shift : shifts)
      if (!std::isinf(shift)) shift = checked_shift(shift, equations_.weight);
    return shifts;
  }
  static std::vector<double> finite(std::vector<double> shifts) {
    for (double& shift : shifts) shift = std::isinf(shift) ? 1.0 : shift;
    return shifts;
  }

  /// Multiplies outputs by S^{-1} Q, or back by Q'S.
  void rotate(MatrixView<const double> from, bool forth, MatrixView<double> to) const {
    const Coupling* const coupling = problem_.coupling;
    if (coupling == nullptr) return copy_rows(from, to);
    const Matrix<double> M(from.cols, from.cols);
    for (int64_t k = 0; k < M.rows(); ++k)
      for (int64_t j = 0; j < M.cols(); ++j) {
        const double scale = coupling->scale()[forth ? k : j];
        M(k, j) = forth ? coupling->Q()(k, j) / scale : coupling->Q()(j, k) * scale;
      }
    linalg::multiply(1.0, kPlain, from, kPlain, M.view(), 0.0, to);
  }

  RidgeProblem problem_;
  std::optional<FactoredRows> factored_;
  std::unique_ptr<BlockSource> cached_;              // null: features are recomputed
  NormalEquations equations_;                        // of the left factor, if there is one
  std::unique_ptr<const linalg::LinearOperator> H_;  // likewise
  bool has_entries_ = false;
  std::optional<GramPreconditioner> gram_;  // or heavy_ or sketch_
  std::optional<HeavyPreconditioner> heavy_;
  double trace_ = 0;  // of Z'WZ beside heavy_, before centring
  std::optional<SketchPreconditioner> sketch_;
};

constexpr const char* kNormal = "vectors of a product with Z'Z";
constexpr int64_t kFew = 16;  // columns; with more, BLAS is faster

void clear(MatrixView<double> Y) {
  for (int64_t i = 0; i < Y.rows; ++i) std::fill_n(Y.row(i), Y.cols, 0.0);
}

void reduce_rows(const BlockSource& source, MatrixView<double> Y) {
  for (int64_t i = 0; i < Y.rows && source.reduction() != nullptr; ++i)
    reduce(source, {Y.row(i), static_cast<std::size_t>(Y.cols)});
}

}  // namespace

SketchPreconditioner::SketchPreconditioner(const linalg::LinearOperator& H, int64_t rank,
                                           double share, Context& context)
    : share_(share) {
  try {
    sketch_.emplace(H, std::min(rank, H.rows()), kSketchSeed, context);
  } catch (const Error& error) {  // numerically constant features need no preconditioner
    if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
  }
}

linalg::BlockPreconditioner SketchPreconditioner::at(std::span<const double> shifts) const {
  if (!sketch_) return {};
  return [this, own = std::vector<double>(shifts.begin(), shifts.end())](MatrixView<double> R) {
    for (int64_t k = 0; k < R.cols; ++k) sketch_->apply(share_ * own[k], R.block_cols(k, k + 1));
  };
}

double SketchPreconditioner::effective_dimension(double shift) const {
  double sum = 0;
  if (!sketch_) return sum;
  for (const double s : sketch_->eigenvalues()) sum += s / (s + share_ * shift);
  return sum;
}

std::vector<int64_t> spread_rows(int64_t rows, int64_t most) {
  const int64_t count = std::min(rows, most);
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < count; ++i)
    chosen.push_back(i * (rows / count) + i * (rows % count) / count);
  return chosen;
}

NystroemPreconditioner::NystroemPreconditioner(const linalg::LinearOperator& H, int64_t rank,
                                               uint64_t seed, Context& context) {
  const int64_t r = H.rows();
  require(rank >= 1 && rank <= r, MERCER_INVALID_ARGUMENT,
          "rank = %ld, expected 1 to %ld, the operator's size", rank, r);
  const Matrix<double> G = gaussian(r, rank, seed, context), Y(r, rank, context, kPreconditioner);
  H.apply(G.view(), context, Y.view());
  double square = 0;
  for (int64_t i = 0; i < r * rank; ++i) square += Y.data()[i] * Y.data()[i];
  const double nu = kEpsilon * std::sqrt(square);
  for (int64_t i = 0; i < r * rank; ++i) Y.data()[i] += nu * G.data()[i];
  Matrix<double> core(rank, rank, context, kPreconditioner),
      basis(rank, r, context, kPreconditioner);
  linalg::multiply(1.0, kTransposed, G.view(), kPlain, Y.view(), 0.0, core.view());
  require(linalg::cholesky(core.view()) == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "the sketch of rank %ld is not positive definite, expected an operator that is", rank);
  for (int64_t i = 0; i < r; ++i)
    for (int64_t j = 0; j < rank; ++j) basis(j, i) = Y(i, j);
  linalg::triangular_solve(core.view(), basis.view());
  linalg::multiply(1.0, kPlain, basis.view(), kTransposed, basis.view(), 0.0, core.view());
  std::vector<double> squares(rank);
  linalg::symmetric_eigen(core.view(), squares, context);
  const auto first = std::ranges::upper_bound(squares, kLeastShare * squares.back());
  const auto dropped = first - squares.begin();
  for (auto at = first; at != squares.end(); ++at) eigenvalues_.push_back(std::max(0.0, *at - nu));
  basis_ = Matrix<double>(this->rank(), r, context, kPreconditioner);
  linalg::multiply(1.0, kPlain, core.view().block_rows(dropped, rank), kPlain, basis.view(), 0.0,
                   basis_.view());
  for (int64_t j = 0; j < basis_.rows(); ++j) {
    const double size = std::sqrt(first[j]);
    for (int64_t i = 0; i < r; ++i) basis_(j, i) /= size;
  }
}

void NystroemPreconditioner::apply(double shift, MatrixView<double> R) const {
  if (eigenvalues_.empty()) return;
  const Matrix<double> C(rank(), R.cols);
  linalg::multiply(1.0, kPlain, basis_.view(), kPlain, R, 0.0, C.view());
  for (int64_t j = 0; j < C.rows(); ++j) {
    const double factor = (eigenvalues_.front() + shift) / (eigenvalues_[j] + shift) - 1;
    for (int64_t k = 0; k < C.cols(); ++k) C(j, k) *= factor;
  }
  linalg::multiply(1.0, kTransposed, basis_.view(), kPlain, C.view(), 1.0, R);
}

NormalOperator::NormalOperator(const BlockSource& source, bool center, Context& context,
                               std::optional<FeatureEntries> entries)
    : source_(source), mean_(source.features(), 0.0), entries_(std::move(entries)) {
  for_each_wide(source, context, [&](const WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i) {
      weight_ += block.weight(i);
      for (std::size_t j = 0; center && j < mean_.size(); ++j)
        mean_[j] += block.weight(i) * block.Z(i, static_cast<int64_t>(j));
    }
  });
  reduce(source, {&weight_, 1});
  reduce(source, mean_);
  for (double& value : mean_) value = weight_ > 0 ? value / weight_ : 0.0;
}

/// Rows are widened tile by tile: from memory each is read once, in its own precision.
void NormalOperator::multiply_few(MatrixView<const double> X, const double* of_mean,
                                  Context& context, MatrixView<double> Y, double* sums) const {
  const Matrix<double> vectors(X.cols, X.rows, context, kNormal),
      of_rows(X.cols, X.rows, context, kNormal);
  for (int64_t j = 0; j < X.rows; ++j)
    for (int64_t k = 0; k < X.cols; ++k) vectors(k, j) = X(j, k);
  of_rows.fill(0);
  RowTiles tiles(source_.block_rows(), rows(), X.cols, context);
  source_.for_each(context, [&](const FeatureBlock& block) {
    const auto factors = [&](int64_t first, MatrixView<const double> tile,
                             MatrixView<double> u) noexcept {
      transform::row_products(transform::RowProducts<double>{tile, vectors.view(), u});
      for (int64_t i = 0; i < u.rows; ++i)
        for (int64_t k = 0; k < u.cols; ++k)
          u(i, k) = factor(block, first + i, k) * (u(i, k) - of_mean[k]);
    };
    block.visit([&](auto Z) { tiles.add(Z, nullptr, context, factors, of_rows.view()); });
    for (int64_t i = 0; i < block.rows(); ++i)
      for (int64_t k = 0; k < X.cols; ++k) sums[k] += tiles.factors()(i, k);
  });
  for (int64_t j = 0; j < X.rows; ++j)
    for (int64_t k = 0; k < X.cols; ++k) Y(j, k) = of_rows(k, j);
}

void NormalOperator::multiply_many(MatrixView<const double> X, const double* of_mean,
                                   Context& context, MatrixView<double> Y, double* sums) const {
  const Matrix<double> products(source_.block_rows(), X.cols, context, "a block of products");
  clear(Y);
  for_each_wide(source_, context, [&](const WideBlock& block) {
    const MatrixView<double> U = products.view().block_rows(0, block.Z.rows);
    linalg::multiply(1.0, kPlain, block.Z, kPlain, X, 0.0, U);
    for (int64_t i = 0; i < U.rows; ++i)
      for (int64_t k = 0; k < U.cols; ++k) {
        U(i, k) = factor(block, i, k) * (U(i, k) - of_mean[k]);
        sums[k] += U(i, k);
      }
    linalg::multiply(1.0, kTransposed, block.Z, kPlain, U, 1.0, Y);
  });
}

void NormalOperator::multiply_entries(MatrixView<const double> X, const double* of_mean,
                                      Context& context, MatrixView<double> Y, double* sums) const {
  const Matrix<double> U(source_.rows(), X.cols, context, "products of rows");
  entries_->multiply(X, context, U.view());
  for (int64_t i = 0; i < U.rows(); ++i)
    for (int64_t k = 0; k < X.cols; ++k) {
      const double weight = entries_->weights.empty() ? 1.0 : entries_->weights[i];
      U(i, k) = weight * (U(i, k) - of_mean[k]);
      sums[k] += U(i, k);
    }
  entries_->multiply_transposed(U.view(), context, Y);
}

void NormalOperator::multiply(MatrixView<const double> X, Context& context,
                              MatrixView<double> Y) const {
  std::vector<double> of_mean(X.cols, 0.0), sums(X.cols, 0.0);
  for (int64_t j = 0; j < X.rows; ++j)
    for (int64_t k = 0; k < X.cols; ++k) of_mean[k] += mean_of(k)[j] * X(j, k);
  if (entries_) {
    multiply_entries(X, of_mean.data(), context, Y, sums.data());
  } else if (X.cols <= kFew) {
    multiply_few(X, of_mean.data(), context, Y, sums.data());
  } else {
    multiply_many(X, of_mean.data(), context, Y, sums.data());
  }
  for (int64_t j = 0; j < Y.rows; ++j)
    for (int64_t k = 0; k < Y.cols; ++k) Y(j, k) -= mean_of(k)[j] * sums[k];
  reduce_rows(source_, Y);
}

std::unique_ptr<RidgeSystem> make_iterative_system(std::unique_ptr<NormalSums> sums, bool center,
                                                   Context& context) {
  return std::make_unique<IterativeSystem>(std::move(sums), center, context);
}

std::unique_ptr<RidgeSystem> make_iterative_system(const BlockSource& rows,
                                                   const RidgeProblem& problem, Context& context,
                                                   const RowsDone& done) {
  require(!rows.kernel_columns(), MERCER_UNSUPPORTED,
          "solver = cg or mixed with the kernel itself (map exact), expected direct");
  const bool plain =
      rows.is_complete() && (problem.coupling == nullptr || problem.coupling->shared());
  require(plain || problem.iterative == Iterative::sketch, MERCER_UNSUPPORTED,
          "solver = mixed with missing targets or a field's map, expected cg or direct");
  if (!plain) return make_coupled_iterative_system(rows, problem, context, done);
  return std::make_unique<IterativeSystem>(rows, problem, context, done);
}

}  // namespace mercer::solver
