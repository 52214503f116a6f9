// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums of single-precision products against those in double. 700 rows are two blocks; products of
// 512 numbers below 4 err by less than 512 x 16 x 2^-24 = 5e-4, by 1e-5 as a rule.
#include "solver/single_sums.h"

#include "ridge_problem.h"
#include "support/catch.h"

using namespace mercer;

namespace {

/// Rows in single precision, in blocks of 300.
class FloatSource final : public solver::BlockSource {
 public:
  FloatSource(const test::Problem& problem, std::vector<double> weights, double offset)
      : Y_(problem.Y.view()), weights_(std::move(weights)), Z_(problem.Z.rows(), problem.Z.cols()) {
    for (int64_t i = 0; i < Z_.rows() * Z_.cols(); ++i)
      Z_.data()[i] = static_cast<float>(problem.Z.data()[i] + offset);
  }
  int64_t features() const override { return Z_.cols(); }
  int64_t outputs() const override { return Y_.cols; }
  int64_t rows() const override { return Z_.rows(); }
  int64_t block_rows() const override { return 300; }
  void for_each(Context&, const Body& body) const override {
    for (int64_t first = 0; first < rows(); first += 300) {
      const int64_t last = std::min<int64_t>(first + 300, rows());
      std::span<const double> weights(weights_);
      if (!weights.empty())
        weights = weights.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
      body({first, Z_.view().block_rows(first, last), {}, Y_.block_rows(first, last), weights});
    }
  }
  std::unique_ptr<solver::BlockSource> subset(solver::RowSet) const override { return nullptr; }

 private:
  MatrixView<const double> Y_;
  std::vector<double> weights_;
  Matrix<float> Z_;
};

}  // namespace

TEST_CASE("sums of products in single precision are those in double but for rounding", "[solver]") {
  Context context;
  const test::Problem problem = test::ridge_problem(700, 9, 2, 61);
  std::vector<double> weights;
  for (int i = 0; i < 700; ++i) weights.push_back(i % 3);
  for (const double offset : {0.0, 100.0}) {
    for (const auto& chosen : {std::vector<double>{}, weights}) {
      const FloatSource source(problem, chosen, offset);
      solver::RowStatistics exact(9, 2), single(9, 2);
      solver::add_blocks(source, exact, context);
      int64_t rows = 0;
      solver::add_blocks_single(source, single, context, [&](int64_t done) { rows += done; });
      CHECK(rows == 700);
      CHECK(single.rows() == 700);
      CHECK(single.weight() == exact.weight());
      // About a common origin, by way of the fits: at lambda = 1e-2 these sums are well
      // conditioned.
      const solver::Weights a = solver::ridge_cholesky(exact.clone(), true, 1e-2, context);
      const solver::Weights b = solver::ridge_cholesky(single.clone(), true, 1e-2, context);
      CHECK(test::difference(a.w.view(), b.w.view(), 1e-5) == "");
      const solver::RidgePath path(std::move(exact), true, context),
          rough(std::move(single), true, context);
      for (size_t j = 0; j < 9; ++j)
        CHECK(rough.eigenvalues()[j] == Approx(path.eigenvalues()[j]).epsilon(1e-5));
    }
  }
}

TEST_CASE("targets of any size that squares in double keep in sums of single precision",
          "[solver]") {
  Context context;
  for (const double size : {1e-60, 1e60}) {
    test::Problem problem = test::ridge_problem(700, 9, 2, 62);
    for (int64_t i = 0; i < 2 * 700; ++i) problem.Y.data()[i] *= size;
    const FloatSource source(problem, {}, 0);
    solver::RowStatistics exact(9, 2), single(9, 2);
    solver::add_blocks(source, exact, context);
    solver::add_blocks_single(source, single, context);
    const solver::Weights a = solver::ridge_cholesky(std::move(exact), true, 1e-2, context);
    const solver::Weights b = solver::ridge_cholesky(std::move(single), true, 1e-2, context);
    for (int64_t j = 0; j < 9; ++j)
      CHECK(b.w(j, 1) / size == Approx(a.w(j, 1) / size).epsilon(1e-5).margin(1e-5));
  }
}
