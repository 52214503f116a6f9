// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With exact answers o and weights w_j = k(q, k_j)/s, s their sum, an answer errs, to first order
// in the errors e_j of the estimates of k(q, k_j) (the delta method for a quotient), by
//   sum_j e_j (v_j - o) / s,   of mean square   sum_jl E e_j e_l (v_j - o)'(v_l - o) / s^2,
// E e_j e_l the covariance of the estimates, in closed form, and the product of their biases.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "attention/attention.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "feature/feature_map.h"
#include "statistic/kernel_error.h"

namespace mercer::attention {
namespace {

/// One query and its keys.
struct Pair {
  const double* q;
  MatrixView<const double> K, V, weights;

  double weight(int64_t j) const { return weights.data == nullptr ? 1 : weights(j, 0); }
};

/// Calls body(pair, answer of the query, worker) for every query of every head.
template <class Body>
void for_each_query(const AttentionShape& shape, bool causal, int64_t d,
                    const Tokens<double>& tokens, Context& context, MatrixView<double> out,
                    const Body& body) {
  parallel_for(context, checked_multiply(tokens.Q.rows, shape.heads, "queries"),
               [&](int64_t chunk, int worker) noexcept {
                 const int64_t row = chunk / shape.heads, h = chunk % shape.heads;
                 const int64_t first = row / shape.queries * shape.keys;
                 const int64_t count = causal ? row % shape.queries + 1 : shape.keys;
                 const auto keys = [&](MatrixView<const double> X, int64_t width) {
                   return X.block_rows(first, first + count).block_cols(h * width, (h + 1) * width);
                 };
                 const auto weights = tokens.weights.data == nullptr
                                          ? tokens.weights
                                          : tokens.weights.block_rows(first, first + count);
                 body(Pair{tokens.Q.row(row) + h * d, keys(tokens.K, d),
                           keys(tokens.V, shape.values), weights},
                      out.row(row) + h * shape.values, worker);
               });
}

/// weights, and the answer: its numbers are count x 1, its denominator is returned.
double attend_once(const kernel::Kernel& kernel, const Pair& pair, double* weights,
                   double* answer) noexcept {
  double below = 0;
  std::fill_n(answer, pair.V.cols, 0.0);
  for (int64_t j = 0; j < pair.K.rows; ++j) {
    if (pair.weight(j) == 0) continue;
    weights[j] = pair.weight(j) * kernel.value(pair.K.cols, pair.q, pair.K.row(j));
    below += weights[j];
    for (int64_t o = 0; o < pair.V.cols; ++o) answer[o] += weights[j] * pair.V(j, o);
  }
  for (int64_t o = 0; o < pair.V.cols; ++o) answer[o] = below == 0 ? kNaN : answer[o] / below;
  return below;
}

double dot(const double* x, const double* y, int64_t n) noexcept {
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += x[j] * y[j];
  return sum;
}

/// The mean square of the error of one answer.
double mean_square(const feature::Moments& moments, const Pair& pair, double below,
                   const double* answer, MatrixView<double> deviations) {
  const int64_t n = pair.K.rows, width = pair.V.cols;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t o = 0; o < width; ++o) deviations(j, o) = pair.V(j, o) - answer[o];
  double sum = 0;
  std::vector<double> biases(n, 0.0);
  for (int64_t j = 0; j < n; ++j) {
    if (pair.weight(j) != 0) biases[j] = moments.bias_at(pair.q, pair.K.row(j));
    for (int64_t l = 0; l <= j; ++l) {
      const double both = pair.weight(j) * pair.weight(l);
      if (both == 0) continue;
      const double product = both * (*moments.covariance_at(pair.q, pair.K.row(j), pair.K.row(l)) +
                                     biases[j] * biases[l]);
      sum += (l < j ? 2 : 1) * product * dot(deviations.row(j), deviations.row(l), width);
    }
  }
  return sum / (below * below);
}

const feature::Moments& moments_of(const feature::FeatureMap& map) {
  const feature::RowScales* const scales = map.row_scales();
  const feature::Moments& own = scales != nullptr ? scales->scaled_moments() : map.moments();
  const std::vector<double> zero(map.inputs(), 0.0);
  require(
      own.covariance_at(zero.data(), zero.data(), zero.data()).has_value(), MERCER_UNSUPPORTED,
      "the error of attention by map %s has no closed form, expected positive, fourier, a sketch, "
      "or maclaurin whose columns are not drawn",
      std::string(map.name()).c_str());
  return own;
}

double checked_error(double error) {
  require(std::isfinite(error), MERCER_INVALID_ARGUMENT,
          "the error of attention is %g, expected finite tokens, keys for every query and a kernel "
          "that does not overflow",
          error);
  return error;
}

}  // namespace

void attend_exactly(const kernel::Kernel& kernel, const AttentionShape& shape, bool causal,
                    const Tokens<double>& tokens, Context& context, MatrixView<double> out) {
  const int64_t queries = checked_multiply(tokens.Q.rows, shape.heads, "queries");
  const Matrix<double> weights(worker_count(context, queries), shape.keys, context, "weights");
  for_each_query(shape, causal, tokens.Q.cols / shape.heads, tokens, context, out,
                 [&](const Pair& pair, double* answer, int worker) {
                   attend_once(kernel, pair, weights.view().row(worker), answer);
                 });
}

double measured_attention_error(const std::shared_ptr<const feature::FeatureMap>& map,
                                const AttentionShape& shape, bool causal,
                                const Tokens<double>& tokens, Context& context) {
  const Matrix<double> exact(tokens.Q.rows, tokens.V.cols, context, "the answers");
  const Matrix<double> found(tokens.Q.rows, tokens.V.cols, context, "the answers");
  Stage stage(context, 2);
  stage.part(1,
             [&] { attend_exactly(map->kernel(), shape, causal, tokens, context, exact.view()); });
  stage.part(1, [&] { attend(map, shape, causal, tokens, context, found.view()); });
  return checked_error(statistic::kernel_error(found.view(), exact.view()).relative_frobenius);
}

double predicted_attention_error(const feature::FeatureMap& map, const AttentionShape& shape,
                                 bool causal, const Tokens<double>& tokens, Context& context) {
  require_attention(map);
  const feature::Moments& moments = moments_of(map);
  const int64_t queries = checked_multiply(tokens.Q.rows, shape.heads, "queries");
  const int workers = worker_count(context, queries);
  const Matrix<double> weights(workers, shape.keys, context, "weights");
  const Matrix<double> deviations(workers, checked_multiply(shape.keys, shape.values, "values"),
                                  context, "values");
  const Matrix<double> answers(tokens.Q.rows, tokens.V.cols, context, "the answers");
  const Matrix<double> squares(tokens.Q.rows, shape.heads, context, "errors of the answers");
  std::atomic<bool> failed{false};
  for_each_query(shape, causal, map.inputs(), tokens, context, answers.view(),
                 [&](const Pair& pair, double* answer, int worker) {
                   const double below =
                       attend_once(map.kernel(), pair, weights.view().row(worker), answer);
                   const int64_t at = answer - answers.data();
                   try {
                     squares.data()[at / shape.values] =
                         mean_square(moments, pair, below, answer,
                                     {deviations.view().row(worker), pair.K.rows, shape.values});
                   } catch (...) {  // nothing but memory can fail: the first call did not
                     failed.store(true, std::memory_order_relaxed);
                   }
                 });
  require(!failed, MERCER_OUT_OF_MEMORY, "no memory for covariances");
  double error = 0, norm = 0;
  for (int64_t i = 0; i < squares.rows() * squares.cols(); ++i) error += squares.data()[i];
  for (int64_t i = 0; i < answers.rows() * answers.cols(); ++i)
    norm += answers.data()[i] * answers.data()[i];
  return checked_error(std::sqrt(error / norm));
}

}  // namespace mercer::attention
