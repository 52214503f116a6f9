// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Evidences and posteriors by draws against those of Z'Z itself: equal where the preconditioner is
// the matrix, else within their stated errors over 30 seeds.
#include "solver/sampled_inverse.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "linalg/blas.h"
#include "solver/iterative_system.h"
#include "solver/posterior.h"
#include "solver/primal_system.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/matrix_source.h"
#include "support/refusal.h"

namespace sampled_inverse_test {
using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

constexpr int kSeeds = 30;

class DenseGram final : public linalg::LinearOperator {
 public:
  explicit DenseGram(Matrix<double> A) : A_(std::move(A)) {}
  int64_t rows() const override { return A_.rows(); }

 private:
  void multiply(MatrixView<const double> X, Context&, MatrixView<double> Y) const override {
    linalg::multiply(1.0, linalg::kPlain, A_.view(), linalg::kPlain, X, 0.0, Y);
  }
  Matrix<double> A_;
};

/// Rows that tell their sums; `heavy` columns are taken whole.
class SummedRows final : public DerivedRows {
 public:
  SummedRows(const BlockSource& rows, int64_t heavy) : DerivedRows(rows), heavy_(heavy) {}
  void for_each(Context& context, const Body& body) const override {
    rows_.for_each(context, body);
  }
  std::unique_ptr<BlockSource> subset(RowSet rows) const override { return rows_.subset(rows); }
  std::unique_ptr<NormalSums> normal_sums(Context& context, const RowsDone&) const override {
    const int64_t D = features(), p = outputs();
    auto sums = std::make_unique<NormalSums>();
    Matrix<double> G(D, D);
    sums->cross = Matrix<double>(D, p);
    G.fill(0);
    sums->cross.fill(0);
    sums->features.assign(D, 0.0);
    sums->origin.assign(p, 3.0);
    sums->outputs.assign(p, 0.0);
    sums->squares.assign(p, 0.0);
    for_each_wide(rows_, context, [&](const WideBlock& block) {
      for (int64_t i = 0; i < block.Z.rows; ++i) {
        const double w = block.weight(i), *const z = block.Z.row(i);
        sums->weight += w;
        for (int64_t a = 0; a < D; ++a) {
          sums->features[a] += w * z[a];
          for (int64_t b = 0; b < D; ++b) G(a, b) += w * z[a] * z[b];
        }
        for (int64_t o = 0; o < p; ++o) {
          const double y = block.Y(i, o) - sums->origin[o];
          sums->outputs[o] += w * y;
          sums->squares[o] += w * y * y;
          for (int64_t a = 0; a < D; ++a) sums->cross(a, o) += w * z[a] * y;
        }
      }
    });
    sums->block = Matrix<double>(heavy_, heavy_);
    for (int64_t a = 0; a < D; ++a) {
      sums->diagonal.push_back(G(a, a));
      if (a < heavy_) sums->heavy.push_back(a);
      for (int64_t b = 0; a < heavy_ && b <= a; ++b) sums->block(a, b) = G(a, b);
    }
    sums->gram = std::make_unique<DenseGram>(std::move(G));
    return sums;
  }

 private:
  int64_t heavy_;
};

/// Features of falling size that depend on each other, and targets of noise.
struct Problem {
  int64_t n, D;
  Matrix<double> Z, Y;
  std::vector<double> weights;
  Problem(int64_t n_in, int64_t D_in)
      : n(n_in), D(D_in), Z(random_matrix(n, D, 1)), Y(random_matrix(n, 2, 2)) {
    for (int64_t i = 0; i < n; ++i) {
      weights.push_back(0.5 + static_cast<double>(i % 3));
      for (int64_t j = D - 1; j >= 0; --j) {
        Z(i, j) =
            0.1 + (Z(i, j) + (j > 0 ? 0.5 * Z(i, j - 1) : 0)) / (1 + 0.3 * static_cast<double>(j));
        Y(i, 0) += 2 * Z(i, j) * std::cos(static_cast<double>(j));
      }
      Y(i, 1) = 0.5 * Y(i, 1) + 5 - Z(i, 3);
    }
  }
  MatrixSource rows() const { return {Z.view(), Y.view(), 64, false, weights}; }
};

constexpr double kLambda = 1e-3;

double largest_difference(const Matrix<double>& A, const Matrix<double>& B) {
  double most = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i)
    most = std::max(most, std::abs(A.data()[i] - B.data()[i]));
  return most;
}

double mean_square(const std::vector<double>& z) {
  double sum = 0;
  for (const double one : z) sum += one * one;
  return sum / static_cast<double>(z.size());
}

/// Errors over their standard errors by 24 draws: Student's t with 23 degrees; of 30 the mean square
/// is below 2.2 and every one below 6 but with probability 1e-4.
void check_scores(const std::vector<double>& z) {
  CHECK(mean_square(z) < 2.2);
  CHECK(mean_square(z) > 0.3);
  for (const double one : z) CHECK(std::abs(one) < 6);
}

TEST_CASE("sampled inverse: the evidence and its slopes are those of Z'Z") {
  const Problem problem(300, 40);
  const MatrixSource rows = problem.rows();
  Context context;
  const auto direct = make_ridge_system(rows, {}, RidgeUse::criteria, 0, context);
  const auto exact = [&](const BlockSource& of, double lambda, double noise) {
    const auto values =
        make_ridge_system(of, {}, RidgeUse::criteria, 0, context)->evidence(lambda, noise);
    return values[0] + values[1];
  };
  Matrix<double> directions(2, problem.D);
  for (int64_t j = 0; j < problem.D; ++j) {
    directions(0, j) = std::sin(static_cast<double>(j));
    directions(1, j) = 1;
  }
  const double h = 1e-5;
  for (const double noise : {0.0, 0.3}) {
    std::vector<double> slopes = {
        (exact(rows, kLambda * std::exp(h), noise) - exact(rows, kLambda * std::exp(-h), noise)) /
        (2 * h)};
    for (int64_t c = 0; c < 2; ++c) {
      double along[2];
      for (const int side : {0, 1}) {
        Matrix<double> Z = copy_of(problem.Z.view(), context, "features");
        for (int64_t i = 0; i < Z.rows(); ++i)
          for (int64_t j = 0; j < Z.cols(); ++j)
            Z(i, j) *= std::exp((side == 0 ? -h : h) * directions(c, j));
        along[side] = exact(MatrixSource(Z.view(), problem.Y.view(), 64, false, problem.weights),
                            kLambda, noise);
      }
      slopes.push_back((along[1] - along[0]) / (2 * h));
    }
    const SummedRows whole(rows, problem.D), part(rows, 12);
    const auto of = [&](const BlockSource& source, const Probing& by) {
      return make_iterative_system(source, {true, nullptr, Iterative::sketch}, context)
          ->sampled_evidence(kLambda, noise, by, directions.view(), context);
    };
    const EvidencePoint same = of(whole, {2, 1});
    CHECK(std::abs(same.value - exact(rows, kLambda, noise)) < 1e-10);
    CHECK(same.error < 1e-10);
    for (size_t c = 0; c < 3; ++c) CHECK(std::abs(same.slopes[c] - slopes[c]) < 1e-8);
    std::vector<double> z;
    std::vector<std::vector<double>> found(3);
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const EvidencePoint point = of(part, {24, seed});
      z.push_back((point.value - exact(rows, kLambda, noise)) / point.error);
      for (size_t c = 0; c < 3; ++c) found[c].push_back(point.slopes[c]);
    }
    check_scores(z);
    // Means of 30 within five of their own standard errors.
    for (size_t c = 0; c < 3; ++c) {
      double mean = 0, squares = 0;
      for (const double one : found[c]) mean += one / kSeeds;
      for (const double one : found[c]) squares += (one - mean) * (one - mean);
      CHECK(std::abs(mean - slopes[c]) < 5 * std::sqrt(squares / (kSeeds * (kSeeds - 1))) + 1e-8);
    }
  }
}

TEST_CASE("sampled inverse: posteriors are those of Z'Z") {
  const Problem problem(300, 40);
  const MatrixSource rows = problem.rows();
  Context context;
  const Matrix<double> new_rows = random_matrix(50, 40, 7);
  const RidgeProblem by_cg{true, nullptr, Iterative::sketch};
  const Weights weights =
      make_ridge_system(rows, {}, RidgeUse::one, kLambda, context)->solve(kLambda, context);
  const auto variances = [&](const Posterior& of) {
    Matrix<double> out(50, 2);
    of.variance(new_rows.view(), context, out.view());
    return out;
  };
  const auto sampled = [&](int64_t heavy, const Probing& by, double noise) {
    const SummedRows source(rows, heavy);
    const auto system = make_iterative_system(source, by_cg, context);
    return Posterior(source, by_cg, kLambda, weights, noise, context,
                     system->sampled_sums(kLambda, weights, by, context), false);
  };
  for (const double noise : {0.0, 0.3}) {
    const Posterior direct(rows, {}, kLambda, weights, noise, context);
    const Posterior same = sampled(40, {2, 1}, noise);
    const Matrix<double> exact = variances(direct);
    CHECK(largest_difference(variances(same), exact) < 1e-9 * exact(0, 0));
    CHECK(std::abs(same.effective_dimension() - direct.effective_dimension()) < 1e-9);
    CHECK(std::abs(same.noise(0) / direct.noise(0) - 1) < 1e-9);
    CHECK(same.variance_error() < 1e-5);
    CHECK(same.log_evidence_error() < 1e-8);
  }
  // Squares of errors relative to what is told, over rows and seeds; those of a seed depend on each
  // other. By the asymptotic formula at 24 draws: within a half.
  const Posterior direct(rows, {}, kLambda, weights, 0.3, context);
  const Matrix<double> exact = variances(direct);
  double squares = 0, told = 0, plain = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Posterior one = sampled(12, {24, seed}, 0.3);
    const Matrix<double> found = variances(one);
    for (int64_t i = 0; i < 50; ++i)
      squares += std::pow(found(i, 0) / exact(i, 0) - 1, 2) / (50 * kSeeds);
    told += std::pow(one.variance_error(), 2) / kSeeds;
    plain += 2.0 / 24 / kSeeds;
  }
  CAPTURE(squares, told, plain);
  CHECK(squares < 2 * told);
  CHECK(squares > told / 4);
  CHECK(told < plain);
}

TEST_CASE("sampled inverse: what it has not, and files") {
  const Problem problem(300, 40);
  const MatrixSource rows = problem.rows();
  const SummedRows source(rows, 12);
  Context context;
  const RidgeProblem by_cg{true, nullptr, Iterative::sketch};
  const auto system = make_iterative_system(source, by_cg, context);
  const Weights weights = system->solve(kLambda, context);
  const Posterior posterior(source, by_cg, kLambda, weights, 0, context,
                            system->sampled_sums(kLambda, weights, {8, 1}, context), false);
  const std::vector<double> numbers = posterior.numbers();
  const Posterior read(numbers, 40, 2, context);
  CHECK(read.numbers() == numbers);
  const Matrix<double> new_rows = random_matrix(5, 40, 7);
  Matrix<double> out(5, 2), again(5, 2), joint(5, 20);
  posterior.variance(new_rows.view(), context, out.view());
  read.variance(new_rows.view(), context, again.view());
  CHECK(largest_difference(out, again) == 0);
  CHECK_REFUSED(MERCER_UNSUPPORTED, (void)read.draw(1, 1, context), "solver = cg");
  CHECK_REFUSED(MERCER_UNSUPPORTED, read.joint_covariance(new_rows.view(), context, joint.view()),
                "solver = cg");
  // Without sums of rows there are no estimates.
  const auto plain = make_iterative_system(rows, by_cg, context);
  const Probing by{8, 1};
  CHECK_REFUSED(MERCER_UNSUPPORTED, (void)plain->sampled_sums(kLambda, weights, by, context),
                "solver = cg");
  CHECK_REFUSED(MERCER_UNSUPPORTED, (void)plain->sampled_evidence(kLambda, 0, by, {}, context),
                "solver = cg");
  for (size_t cut = 0; cut < numbers.size(); cut += cut < 300 ? 1 : 97)
    CHECK(outcome([&] {
            (void)Posterior({numbers.data(), cut}, 40, 2, context);
          }).status == MERCER_INVALID_ARGUMENT);
  const size_t draws = 3 + 2 * 40 + 6;  // where SampledInverse begins
  for (size_t at : {draws, draws + 1, draws + 2, draws + 14})
    for (const double bad : {-1.0, 0.5, 1e9, 1e300}) {
      std::vector<double> changed = numbers;
      changed[at] = bad;
      if (at == draws + 14 && bad > 0) continue;  // a factor's own entry
      CHECK(outcome([&] { (void)Posterior(changed, 40, 2, context); }).status ==
            MERCER_INVALID_ARGUMENT);
    }
}

}  // namespace sampled_inverse_test
