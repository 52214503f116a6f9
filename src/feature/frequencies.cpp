// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/frequencies.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/fields.h"
#include "base/size.h"
#include "feature/fourier.h"
#include "feature/landmarks.h"
#include "feature/projected_map.h"
#include "linalg/blas.h"
#include "random/distributions.h"

namespace mercer::feature {
namespace {

class BoundedLaw final : public random::Law {
 public:
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::Cursor cursor(stream);
    random::direction(cursor, omega);
    const double norm = random::chi(cursor, static_cast<double>(omega.size()) + 2);
    for (double& w : omega) w *= norm;
  }
  // Its directions are isotropic; require_bounded refuses projections that draw in another
  // dimension.
  bool isotropic() const noexcept override { return true; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override {
    random::Cursor cursor(stream);
    return random::chi(cursor, static_cast<double>(d) + 2);
  }
  bool is_product() const noexcept override { return false; }
};

// The projections of unit vectors: row k of P is coordinate k of every omega. The caller charges
// what it keeps.
Matrix<double> drawn_frequencies(const projection::ProjectionEntry& entry,
                                 const projection::ProjectionArguments& arguments,
                                 Context& context) {
  constexpr const char* kWhat = "frequencies";
  const int64_t d = arguments.d, F = arguments.F;
  const auto projection = entry.make(arguments);
  const projection::BlockShape shape = projection->shape(double{});
  const int64_t blocks = (F - 1) / shape.columns + 1;
  Matrix<double> W(F, d);
  const Matrix<double> units(std::min(shape.rows, d), d, context, kWhat);
  const AlignedBuffer<double> P(checked_multiply(units.rows(), shape.columns, kWhat), context,
                                kWhat);
  const AlignedBuffer<double> scratch(shape.scratch, context, kWhat);
  units.fill(0);
  Stage stage(context, blocks);
  for (int64_t block = 0; block < blocks; ++block) {
    projection->prepare({block, block + 1}, double{}, context);
    const int64_t first = block * shape.columns, count = std::min(shape.columns, F - first);
    for (int64_t k0 = 0; k0 < d; k0 += units.rows()) {
      const int64_t some = std::min(units.rows(), d - k0);
      for (int64_t k = 0; k < some; ++k) units(k, k0 + k) = 1;
      projection->project(units.view().block_rows(0, some), block, P.data(), scratch.data());
      for (int64_t k = 0; k < some; ++k) {
        units(k, k0 + k) = 0;
        for (int64_t j = 0; j < count; ++j) W(first + j, k0 + k) = P[k * shape.columns + j];
      }
    }
    stage.advance(1);
    context.checkpoint();
  }
  return W;
}

void require_bounded(const projection::ProjectionEntry& entry, int64_t d) {
  const bool whole = entry.block == nullptr || entry.block(d) == d;
  // Low-discrepancy points get their norms from a quantile that is the same in all dimensions;
  // rules have weights.
  const bool draws = !entry.uses_scramble && entry.share == nullptr;
  require(
      whole && draws, MERCER_UNSUPPORTED,
      "bounded = true has no projection = %s at %ld inputs: the norm of its frequencies is "
      "chi with d + 2 degrees, expected dense, orthogonal or, for a power of two of at least 16 "
      "inputs, sorf, fastfood or circulant",
      entry.name, d);
}

void require_drawable(const kernel::Kernel& kernel, bool bounded) {
  const std::string name(kernel.name());
  require(kernel.spectral_law() != nullptr, MERCER_UNSUPPORTED,
          "kernel %s is not shift-invariant: it has no frequencies", name.c_str());
  require_plain_inputs(kernel);
  require(!bounded || (kernel.traits().is_gaussian && kernel.lengthscale().size() == 1),
          MERCER_UNSUPPORTED,
          "bounded = true of kernel %s with %zu lengthscales, expected gaussian with one",
          name.c_str(), kernel.lengthscale().size());
}

// Frequencies by ridge leverage scores (Rudi, Rosasco, "Generalization properties of learning with
// random features", NIPS 2017, example 2; Li, Ton, Oglic, Sejdinovic, "Towards a unified analysis of
// random Fourier features", ICML 2019, algorithm 1). Of a pool of M frequencies frequency j has
//   l_j = ||L^{-1} c_j||^2 + ||L^{-1} s_j||^2,   L L' = Z Z' + n lambda I,
// c_j and s_j its columns of Z, the pool's features of n rows. F of them are kept, j with the
// probability pi_j = min(1, c l_j), sum pi_j = F: systematic sampling (Madow 1949), which keeps none
// twice. Weights 1 / (M pi_j) (Horvitz, Thompson 1952) give the kernel's estimate the pool's as its
// mean. Z Z' needs no more memory for more frequencies, whose columns come a slice at a time, twice.
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
    const auto map =
        make_fourier_supplied(kernel, W.block_rows(j0, j1), std::span(weights).first(count), {});
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

// Chooses the frequencies to keep: those in whose stretch of length pi_j one of u, u + 1, ... lies.
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

void require_plain_inputs(const kernel::Kernel& kernel) {
  require(kernel.prologue() == nullptr, MERCER_UNSUPPORTED,
          "kernel %s warps its inputs: its frequencies are not those of the inputs",
          std::string(kernel.name()).c_str());
}

FrequencyDraw::FrequencyDraw(std::shared_ptr<const kernel::Kernel> kernel,
                             const ProjectionChoice& choice, int64_t d, int64_t F, uint64_t seed,
                             bool bounded) {
  require_drawable(*kernel, bounded);
  kernel->check_dimension(d);
  choice.check();
  entry_ = &projection::find_projection(choice.projection);
  if (bounded) require_bounded(*entry_, d);
  arguments_ = {bounded ? std::make_shared<const BoundedLaw>()
                        : std::shared_ptr<const random::Law>(kernel, kernel->spectral_law()),
                {kernel->lengthscale().begin(), kernel->lengthscale().end()},
                projection::Unit::plain,
                d,
                F,
                seed,
                choice.radius,
                choice.scramble,
                bounded ? "bounded = true" : "kernel " + std::string(kernel->name())};
  entry_->make(arguments_);  // refuses what it cannot draw
}

Matrix<double> FrequencyDraw::operator()(Context& context) const {
  return drawn_frequencies(*entry_, arguments_, context);
}

MatrixView<const double> Frequencies::prepared(Context& context) const {
  constexpr const char* kWhat = "frequencies";
  const int64_t bytes =
      checked_multiply(checked_multiply(F_, d_, kWhat), int64_t{sizeof(double)}, kWhat);
  drawn_.prepare(0, {bytes, 0, kWhat}, context, [&](int64_t) { return draw_(context); });
  return drawn_[0].view();
}

void Frequencies::fill(int64_t j0, Context& context, MatrixView<double> omega) const {
  const MatrixView<const double> W = prepared(context);
  for (int64_t i = 0; i < omega.rows; ++i) std::copy_n(W.row(j0 + i), d_, omega.row(i));
}

std::vector<Field> leverage_fields() {
  std::vector<Field> fields{
      kWeightSource.field(),
      number_above_field("penalty", kOptional, 0, kUnbounded,
                         "of weights leverage: lambda of the scores; default 1e-3"),
      integer_field("pool", kOptional, 2, kMostPool,
                    "of weights leverage: frequencies drawn for each that is kept; default 4")};
  fields[0].rows_choice = kWeightSource.word(WeightSource::leverage);
  return fields;
}

std::optional<LeverageOptions> read_leverage(const Parameters& own) {
  const bool leverage = kWeightSource.read(own) == WeightSource::leverage;
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
  const std::vector<double> p =
      kept_probabilities(frequency_scores(kernel, W, scored.view(), leverage.penalty, context), F);
  const double u = random::uniform(random::Stream(options.seed, random::Tag::sample, 2).block(0));
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
