// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Local fits in files: all centres, then the numbers of each fit side by side.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "model/estimator/model_entry.h"
#include "model/local.h"

namespace mercer::model {
namespace {

std::vector<double> learnt_numbers(const Predictor& predictor) {
  std::vector<double> all;
  for (const auto part : predictor.numbers()) all.insert(all.end(), part.begin(), part.end());
  return all;
}

template <class Numbers>
NumberArray side_by_side(const char* name, const Local& local, const Numbers& numbers) {
  std::vector<double> all;
  for (const LocalFit& fit : local.fits) {
    const auto own = numbers(fit);
    all.insert(all.end(), own.begin(), own.end());
  }
  const int64_t count = std::ssize(local.fits);
  return {name, {count, std::ssize(all) / count}, std::move(all)};
}

NumberArray array_of(const char* name, const Matrix<double>& A) {
  std::vector<double> all;
  for (int64_t i = 0; i < A.rows(); ++i)
    all.insert(all.end(), A.view().row(i), A.view().row(i) + A.cols());
  return {name, {A.rows(), A.cols()}, std::move(all)};
}

Matrix<double> matrix_of(std::span<const double> numbers, int64_t columns) {
  Matrix<double> A(std::ssize(numbers) / columns, columns);
  for (int64_t i = 0; i < A.rows(); ++i)
    std::copy_n(numbers.begin() + i * columns, columns, A.view().row(i));
  return A;
}

/// The array of that name as rows of `columns` numbers, or of any length if that is negative.
std::span<const double> rows_of(std::span<const NumberArray> arrays, const char* name, int64_t rows,
                                int64_t columns) {
  return find_doubles(arrays, name, std::array{rows, columns});
}

/// A predictor from weights and intercept, one behind the other.
std::shared_ptr<const Predictor> predictor_of(std::span<const double> numbers, const Model& model) {
  const int64_t D = model.predictor->features(), p = model.outputs();
  const std::vector<std::vector<double>> parts = {{numbers.begin(), numbers.begin() + D * p},
                                                  {numbers.begin() + D * p, numbers.end()}};
  return model.fit.estimate.entry->load(parts, D, p);
}

}  // namespace

std::vector<NumberArray> numbers_of(const Local& local) {
  if (local.fits.empty()) {
    std::vector<NumberArray> rows = {array_of("inputs", local.X), array_of("targets", local.Y)};
    rows.push_back({"row_weights", {std::ssize(local.weights)}, local.weights});
    return rows;
  }
  return {side_by_side("centers", local, [](const LocalFit& fit) { return fit.center; }),
          side_by_side("weights", local,
                       [](const LocalFit& fit) { return learnt_numbers(*fit.predictor); }),
          side_by_side("posteriors", local,
                       [](const LocalFit& fit) { return fit.posterior->numbers(); })};
}

std::shared_ptr<const Local> local_of(std::span<const NumberArray> arrays, const Model& model,
                                      int64_t inputs) {
  auto local = std::make_shared<Local>();
  const int64_t D = model.predictor->features(), p = model.outputs();
  if (arrays.size() == 3 && arrays[0].name == "inputs") {
    local->X = matrix_of(rows_of(arrays, "inputs", -1, inputs), inputs);
    local->Y = matrix_of(rows_of(arrays, "targets", local->X.rows(), p), p);
    local->weights = find_doubles(arrays, "row_weights", std::array{int64_t{-1}});
    require(local->X.rows() >= 2, MERCER_INVALID_ARGUMENT,
            "_local has %ld rows, expected at least 2", local->X.rows());
    require(local->weights.empty() || std::ssize(local->weights) == local->X.rows(),
            MERCER_INVALID_ARGUMENT, "_local has %zu weights for %ld rows", local->weights.size(),
            local->X.rows());
    return local;
  }
  const std::span<const double> centers = rows_of(arrays, "centers", -1, inputs);
  const int64_t count = std::ssize(centers) / inputs;
  require(count >= 1, MERCER_INVALID_ARGUMENT, "_local has no centre, expected at least one");
  const std::span<const double> weights = rows_of(arrays, "weights", count, (D + 1) * p);
  const std::span<const double> posteriors = rows_of(arrays, "posteriors", count, -1);
  const size_t each = posteriors.size() / static_cast<size_t>(count);
  Context context;
  for (int64_t k = 0; k < count; ++k) {
    const auto center = centers.subspan(k * inputs, inputs);
    local->fits.push_back(
        {{center.begin(), center.end()},
         predictor_of(weights.subspan(k * (D + 1) * p, (D + 1) * p), model),
         std::make_shared<const solver::Posterior>(
             posteriors.subspan(static_cast<size_t>(k) * each, each), D, p, context)});
  }
  return local;
}

}  // namespace mercer::model
