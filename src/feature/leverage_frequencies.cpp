// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Frequencies by ridge leverage scores (Rudi, Rosasco, "Generalization properties of learning with
// random features", NIPS 2017, example 2; Li, Ton, Oglic, Sejdinovic, "Towards a unified analysis of
// random Fourier features", ICML 2019, algorithm 1). Of a pool of M frequencies frequency j has
//   l_j = ||L^{-1} c_j||^2 + ||L^{-1} s_j||^2,   L L' = Z Z' + n lambda I,
// c_j and s_j its columns of Z, the pool's features of n rows. F of them are kept, j with the
// probability pi_j = min(1, c l_j), sum pi_j = F: systematic sampling (Madow 1949), which keeps none
// twice. Weights 1 / (M pi_j) (Horvitz, Thompson 1952) give the kernel's estimate the pool's as its
// mean. Z Z' needs no more memory for more frequencies, whose columns come a slice at a time, twice.
#include "feature/leverage_frequencies.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "base/size.h"
#include "feature/field/frequencies.h"
#include "feature/fourier_parts.h"
#include "feature/landmark_rows.h"
#include "feature/landmarks.h"
#include "linalg/blas.h"
#include "random/distributions.h"

namespace mercer::feature {
namespace {

constexpr double kDefaultPenalty = 1e-3;
constexpr int64_t kDefaultPool = 4;
constexpr double kMostPool = 1024;
constexpr int64_t kScoredRows = 2048;
constexpr int64_t kSlice = 256;  // frequencies
constexpr const char* kFrequencyScores = "leverage scores of frequencies";

// Calls use(j0, Z) with the features of the frequencies from j0 on, [cos | sin], of each slice.
template <class Use>
void for_each_slice(const kernel::Kernel& kernel, MatrixView<const double> W, const Rows& rows,
                    Context& context, const Use& use) {
  const int64_t M = W.rows, slice = std::min(kSlice, M);
  const Matrix<double> buffer(rows.rows(), 2 * slice, context, kFrequencyScores);
  const std::vector<double> weights(slice, 1.0 / static_cast<double>(M));
  Stage stage(context, ceil_divide(M, slice));
  for (int64_t j0 = 0; j0 < M; j0 += slice) {
    const int64_t j1 = std::min(M, j0 + slice), count = j1 - j0;
    const MatrixView<double> Z = buffer.view().block_cols(0, 2 * count);
    const auto map = make_fourier_supplied(kernel, W.block_rows(j0, j1),
                                           std::span(weights).first(count), {});
    stage.part(1, [&] { map->apply(rows, {0, 2 * count}, context, Z); });
    use(j0, Z);
    context.checkpoint();
  }
}

// Adds the squared norm of column j to sums[j mod (columns / 2)].
void add_squared_norms(MatrixView<const double> Z, std::span<double> sums) {
  const int64_t count = Z.cols / 2;
  for (int64_t i = 0; i < Z.rows; ++i) {
    const double* const z = Z.row(i);
    for (int64_t j = 0; j < count; ++j) sums[j] += z[j] * z[j] + z[count + j] * z[count + j];
  }
}

// Which are kept: those in whose stretch of length pi_j one of u, u + 1, ... lies.
std::vector<int64_t> systematic(std::span<const double> probabilities, int64_t count, double u) {
  std::vector<int64_t> kept;
  const int64_t M = std::ssize(probabilities);
  double end = 0;
  for (int64_t j = 0; j < M && std::ssize(kept) < count; ++j) {
    const auto chosen = std::ssize(kept);
    end += probabilities[j];
    const bool needed = M - j == count - chosen;  // by rounding of the sum only
    if (end > u + static_cast<double>(chosen) || needed) kept.push_back(j);
  }
  return kept;
}

void check_leverage_options(const kernel::Kernel& kernel, const Rows& rows, int64_t M,
                            const FourierOptions& options) {
  require(options.has_equal_shares(), MERCER_UNSUPPORTED,
          "weights = leverage does not apply to projection = %s, whose columns have weights",
          options.projection.c_str());
  check_fourier_sizes(kernel, rows.cols(), M);
  require(rows.rows() >= 1, MERCER_INVALID_ARGUMENT,
          "weights = leverage: no rows, expected at least one");
}

}  // namespace

std::vector<Field> leverage_fields() {
  std::vector<Field> fields{
      kWeightsFrom.field(),
      number_above_field("penalty", kOptional, 0, kUnbounded,
                         "of weights leverage: lambda of the scores; default 1e-3"),
      integer_field("pool", kOptional, 2, kMostPool,
                    "of weights leverage: frequencies drawn for each that is kept; default 4")};
  fields[0].rows_choice = kWeightsFrom.word(WeightsFrom::leverage);
  return fields;
}

std::optional<LeverageOptions> read_leverage(const Parameters& own) {
  const bool leverage = kWeightsFrom.read(own) == WeightsFrom::leverage;
  for (const char* const key : {"penalty", "pool"})
    require(leverage || own.find(key) == nullptr, MERCER_INVALID_ARGUMENT,
            "%s is given, expected it left out without weights = leverage", key);
  if (!leverage) return std::nullopt;
  return LeverageOptions{own.find("penalty") ? own.number("penalty") : kDefaultPenalty,
                         own.find("pool") ? own.integer("pool") : kDefaultPool};
}

std::vector<double> frequency_scores(const kernel::Kernel& kernel, MatrixView<const double> W,
                                     const Rows& rows, double lambda, Context& context) {
  const int64_t n = rows.rows();
  const Matrix<double> L(n, n, context, kFrequencyScores);
  L.fill(0);
  Stage stage(context, 2);
  stage.part(1, [&] {
    for_each_slice(kernel, W, rows, context, [&](int64_t, MatrixView<double> Z) {
      linalg::rank_update_rows(1, Z, L.view());
    });
  });
  for (int64_t i = 0; i < n; ++i) L(i, i) += static_cast<double>(n) * lambda;
  const int64_t pivot = linalg::cholesky(L.view());
  require(pivot == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "penalty = %g: pivot %ld of Z Z' + n lambda I of %ld rows is not positive, expected a "
          "larger penalty",
          lambda, pivot, n);
  std::vector<double> scores(W.rows, 0.0);
  stage.part(1, [&] {
    for_each_slice(kernel, W, rows, context, [&](int64_t j0, MatrixView<double> Z) {
      linalg::triangular_solve(L.view(), Z);
      add_squared_norms(Z, std::span(scores).subspan(j0));
    });
  });
  return scores;
}

std::vector<double> kept_probabilities(std::span<const double> scores, int64_t count) {
  std::vector<double> p(scores.size(), 0.0);
  for (bool more = true; more;) {
    more = false;
    double left = 0, room = static_cast<double>(count);  // of those that are not certain
    for (size_t j = 0; j < p.size(); ++j) (p[j] < 1 ? left : room) += p[j] < 1 ? scores[j] : -1;
    for (size_t j = 0; j < p.size(); ++j) {
      if (p[j] >= 1) continue;
      p[j] = std::min(1.0, scores[j] * room / left);
      more = more || p[j] >= 1;
    }
  }
  return p;
}

std::unique_ptr<FeatureMap> make_fourier_by_leverage(const kernel::Kernel& kernel, const Rows& rows,
                                                     int64_t F, const FourierOptions& options,
                                                     const LeverageOptions& leverage,
                                                     Context& context) {
  const int64_t M = checked_multiply(leverage.pool, F, "frequencies"), d = rows.cols();
  check_leverage_options(kernel, rows, M, options);
  const Frequencies pool(M, d, FrequencyDraw(kernel.copy(), options, d, M, options.seed, false));
  const MatrixView<const double> W = pool.prepared(context);
  const std::vector<int64_t> chosen =
      uniform_rows(rows.rows(), std::min(rows.rows(), kScoredRows), options.seed);
  const LandmarkRows scored(kernel, rows, chosen, context);
  const std::vector<double> p = kept_probabilities(
      frequency_scores(kernel, W, scored.view(), leverage.penalty, context), F);
  const double u =
      random::uniform(random::Stream(options.seed, random::Tag::sample, 2).block(0));
  Matrix<double> kept(F, d, context, kFrequencyScores);
  std::vector<double> weights;
  for (const int64_t j : systematic(p, F, u)) {
    std::copy_n(W.row(j), d, kept.view().row(std::ssize(weights)));
    weights.push_back(1 / (static_cast<double>(M) * p[j]));
  }
  FourierOptions own;
  own.form = options.form;
  own.seed = options.seed;
  return make_fourier_supplied(kernel, kept.view(), weights, own);
}

}  // namespace mercer::feature
