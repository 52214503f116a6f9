// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The three routes from rows to ridge weights: eigendecomposition, Cholesky, dual.
#include "solver/lambda_path.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/size.h"
#include "solver/block_statistics.h"

namespace mercer::solver {
namespace {

constexpr const char* kRidge = "ridge regression";

/// Features, Gram matrix, and the copy of it that is factored.
int64_t dual_numbers(int64_t rows, int64_t features) {
  const int64_t squares = checked_multiply(2, checked_multiply(rows, rows, kRidge), kRidge);
  return checked_add(squares, checked_multiply(rows, features, kRidge), kRidge);
}

class EigenPath final : public LambdaPath {
 public:
  explicit EigenPath(RidgePath path) : path_(std::move(path)) {}
  Weights solve(double lambda, Context&) const override { return path_.solve(lambda); }
  Solution solution(double lambda, Context&) const override {
    return {path_.solve(lambda), path_.effective_dimension(lambda)};
  }

 private:
  RidgePath path_;
};

class CholeskyPath final : public LambdaPath {
 public:
  CholeskyPath(const RowStatistics& statistics, bool center)
      : statistics_(statistics), center_(center) {}
  Weights solve(double lambda, Context& context) const override {
    return ridge_cholesky(statistics_.clone(context), center_, lambda, context);
  }
  Solution solution(double lambda, Context& context) const override {
    return ridge_cholesky_solution(statistics_.clone(context), center_, lambda, context);
  }

 private:
  const RowStatistics& statistics_;
  bool center_;
};

class DualPath final : public LambdaPath {
 public:
  explicit DualPath(DualSystem system) : system_(std::move(system)) {}
  Weights solve(double lambda, Context& context) const override {
    return system_.solve(lambda, context);
  }
  Solution solution(double lambda, Context& context) const override {
    return system_.solution(lambda, context);
  }

 private:
  DualSystem system_;
};

class DualEigenPath final : public LambdaPath {
 public:
  DualEigenPath(DualSystem system, Context& context) : system_(std::move(system)) {
    system_.decompose(context);
  }
  Weights solve(double lambda, Context& context) const override {
    const int64_t m = system_.outputs();
    const Matrix<double> each(m, m, context, kRidge);
    each.fill(0);
    for (int64_t o = 0; o < m; ++o) each(o, o) = 1;
    const std::vector<double> lambdas(m, lambda);
    return system_.solve(Combination{each.view(), lambdas}, context);
  }
  Solution solution(double lambda, Context& context) const override {
    return {solve(lambda, context), system_.effective_dimension(lambda)};
  }

 private:
  DualSystem system_;
};

}  // namespace

std::unique_ptr<LambdaPath> make_eigen_path(RowStatistics&& statistics, bool center,
                                            Context& context) {
  return std::make_unique<EigenPath>(RidgePath(std::move(statistics), center, context));
}

std::unique_ptr<LambdaPath> make_cholesky_path(const RowStatistics& statistics, bool center) {
  return std::make_unique<CholeskyPath>(statistics, center);
}

std::unique_ptr<LambdaPath> make_dual_path(DualSystem system) {
  return std::make_unique<DualPath>(std::move(system));
}

std::unique_ptr<LambdaPath> make_dual_eigen_path(DualSystem system, Context& context) {
  return std::make_unique<DualEigenPath>(std::move(system), context);
}

bool is_dual(const BlockSource& rows) {
  return rows.reduction() == nullptr && !rows.is_complex() &&
         (rows.rows() < rows.features() || rows.kernel_columns().has_value());
}

namespace {

/// The rows' features, or their kernel columns.
DualSystem dual_system_of(Matrix<double> Z, std::optional<std::vector<int64_t>> columns,
                          int64_t features, Matrix<double> Y, std::vector<double> weights,
                          bool center, Context& context) {
  if (!columns) return DualSystem(std::move(Z), std::move(Y), std::move(weights), center, context);
  return DualSystem(KernelMatrix{std::move(Z), std::move(*columns), features}, std::move(Y),
                    std::move(weights), center, context);
}

}  // namespace

DualSystem make_dual_system(const BlockSource& rows, bool center, Context& context,
                            const RowsDone& done) {
  const auto columns = rows.kernel_columns();
  const int64_t width = columns ? rows.rows() : rows.features();
  // Check memory for the factorisation before reading any row.
  context.require_room(checked_multiply(8, dual_numbers(rows.rows(), width), kRidge),
                       "the dual form");
  Matrix<double> Z(rows.rows(), width, context, "the features of all rows");
  Matrix<double> Y(rows.rows(), rows.outputs(), context, "the targets of all rows");
  std::vector<double> weights;
  double sum = 0;
  for_each_wide(rows, context, [&](const WideBlock& block) {
    const bool weighs = !weights.empty() || !block.weights.empty();
    if (weighs) weights.resize(block.first, 1.0);
    for (int64_t i = 0; i < block.Z.rows; ++i) {
      if (weighs) weights.push_back(block.weight(i));
      double* const own = Z.view().row(block.first + i);
      for (int64_t j = 0; j < width; ++j) own[j] = block.Z(i, columns ? (*columns)[j] : j);
      std::copy_n(block.Y.row(i), block.Y.cols, Y.view().row(block.first + i));
      for (int64_t j = 0; j < width; ++j) sum += own[j] * own[j];
    }
    if (done) done(block.Z.rows);
  });
  require(std::isfinite(sum), MERCER_INVALID_ARGUMENT, kFeaturesNotFinite);
  return dual_system_of(std::move(Z), columns, rows.features(), std::move(Y), std::move(weights),
                        center, context);
}

int64_t least_ridge_bytes(int64_t rows, int64_t features) {
  const int64_t gram = checked_multiply(features, features, kRidge);
  return checked_multiply(8, std::min(gram, dual_numbers(rows, features)), kRidge);
}

int64_t kernel_ridge_bytes(int64_t rows) {
  return checked_multiply(8, dual_numbers(rows, rows), kRidge);
}

}  // namespace mercer::solver
