// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Loss functions. Regression losses are sums over the outputs of a function of u = y - s. A kink is
// convolved with the uniform density on [-delta, delta], which smooths it and moves the minimum by
// only O(delta^2) (Fernandes, Guerre, Horta 2021, for quantiles).
#include "solver/loss.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "solver/block_statistics.h"

namespace mercer::solver {
namespace {

constexpr double kInsensitive = 16;  // delta over the half-width of its kinks

/// log(1 + e^x) without overflow.
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// -log p of the row's class, p = 1 / (1 + e^-s) for two classes by one score.
LossValue binary_logistic(double s, double y, double& slope) {
  const double p = 1 / (1 + std::exp(-s));
  slope = p - y;
  return {softplus(s) - y * s, p * (1 - p)};
}

/// -log p of the row's class, p = softmax(s).
LossValue logistic(std::span<const double> s, std::span<const double> y, const LossParameters&,
                   std::span<double> slope) {
  if (s.size() == 1) return binary_logistic(s[0], y[0], slope[0]);
  const double most = *std::ranges::max_element(s);
  double own = 0;
  for (size_t k = 0; k < s.size(); ++k) own += y[k] * (s[k] - most);
  double sum = 0;
  for (size_t k = 0; k < s.size(); ++k) sum += slope[k] = std::exp(s[k] - most);
  double curvature = 0;
  for (size_t k = 0; k < s.size(); ++k) {
    const double p = slope[k] / sum;
    curvature += p * (1 - p);
    slope[k] = p - y[k];
  }
  return {std::log(sum) - own, curvature / static_cast<double>(s.size())};
}

/// max(0, x), smoothed within delta.
LossValue ramp(double x, double delta, double& slope) {
  const bool bends = std::abs(x) < delta;
  slope = bends ? (x + delta) / (2 * delta) : x > 0 ? 1.0 : 0 * x;  // NaN stays
  return {bends ? (x + delta) * slope / 2 : x * slope, bends ? 1 / (2 * delta) : 0};
}

/// sum_k max(0, 1 - t_k s_k), t as below, smoothed within delta.
LossValue hinge(std::span<const double> s, std::span<const double> y,
                const LossParameters& parameters, std::span<double> slope) {
  LossValue loss;
  for (size_t k = 0; k < s.size(); ++k) {
    const double t = 2 * y[k] - 1;
    const LossValue own = ramp(1 - t * s[k], parameters.delta, slope[k]);
    loss.value += own.value;
    loss.curvature += own.curvature / static_cast<double>(s.size());
    slope[k] *= -t;
  }
  return loss;
}

/// sum_k max(0, 1 - t_k s_k)^2, t = 1 for the row's class and -1 for others.
LossValue squared_hinge(std::span<const double> s, std::span<const double> y, const LossParameters&,
                        std::span<double> slope) {
  LossValue loss;
  for (size_t k = 0; k < s.size(); ++k) {
    const double t = 2 * y[k] - 1, gap = 1 - t * s[k];
    const double short_of = gap > 0 ? gap : 0 * gap;  // NaN stays
    loss.value += short_of * short_of;
    loss.curvature += gap > 0 ? 2 / static_cast<double>(s.size()) : 0;
    slope[k] = -2 * t * short_of;
  }
  return loss;
}

/// u^2 / 2 up to |u| = delta, delta (|u| - delta / 2) beyond (Huber 1964).
LossValue huber(std::span<const double> s, std::span<const double> y,
                const LossParameters& parameters, std::span<double> slope) {
  LossValue loss;
  const double delta = parameters.delta;
  for (size_t k = 0; k < s.size(); ++k) {
    const double u = y[k] - s[k], size = std::abs(u);
    const bool far = size > delta;
    loss.value += far ? delta * (size - delta / 2) : u * u / 2;
    loss.curvature += far ? 0 : 1 / static_cast<double>(s.size());
    slope[k] = far ? -std::copysign(delta, u) : -u;
  }
  return loss;
}

/// delta^2 log cosh(u / delta).
LossValue log_cosh(std::span<const double> s, std::span<const double> y,
                   const LossParameters& parameters, std::span<double> slope) {
  LossValue loss;
  const double delta = parameters.delta;
  for (size_t k = 0; k < s.size(); ++k) {
    const double r = (y[k] - s[k]) / delta, size = std::abs(r), bent = std::tanh(r);
    // Near 0 the logarithms cancel: r^2/2 - r^4/12 there.
    loss.value += delta * delta *
                  (size < 1e-3 ? r * r / 2 - r * r * r * r / 12
                               : size + std::log1p(std::exp(-2 * size)) - std::log(2.0));
    loss.curvature += (1 - bent * bent) / static_cast<double>(s.size());
    slope[k] = -delta * bent;
  }
  return loss;
}

/// max(0, |u| - delta), smoothed within a sixteenth of delta (Vapnik 1995).
LossValue epsilon_insensitive(std::span<const double> s, std::span<const double> y,
                              const LossParameters& parameters, std::span<double> slope) {
  LossValue loss;
  for (size_t k = 0; k < s.size(); ++k) {
    const double u = y[k] - s[k];
    const LossValue own =
        ramp(std::abs(u) - parameters.delta, parameters.delta / kInsensitive, slope[k]);
    loss.value += own.value;
    loss.curvature += own.curvature / static_cast<double>(s.size());
    slope[k] *= -std::copysign(1.0, u);
  }
  return loss;
}

/// tau u for u > 0, (tau - 1) u for u < 0 (Koenker, Bassett 1978), smoothed within delta.
LossValue quantile(std::span<const double> s, std::span<const double> y,
                   const LossParameters& parameters, std::span<double> slope) {
  LossValue loss;
  const double delta = parameters.delta, tau = parameters.tau;
  for (size_t k = 0; k < s.size(); ++k) {
    const double u = y[k] - s[k];
    const bool far = std::abs(u) > delta;
    const double bend = far ? std::abs(u) / 2 : u * u / (4 * delta) + delta / 4;
    loss.value += bend + (tau - 0.5) * u;
    loss.curvature += far ? 0 : 1 / (2 * delta * static_cast<double>(s.size()));
    slope[k] = -(far ? std::copysign(0.5, u) : u / (2 * delta)) - (tau - 0.5);
  }
  return loss;
}

/// e^s - y s: the negative log likelihood of counts y of mean e^s, without log y!.
LossValue poisson(std::span<const double> s, std::span<const double> y, const LossParameters&,
                  std::span<double> slope) {
  LossValue loss;
  for (size_t k = 0; k < s.size(); ++k) {
    const double mean = std::exp(s[k]);
    loss.value += mean - y[k] * s[k];
    loss.curvature += mean / static_cast<double>(s.size());
    slope[k] = mean - y[k];
  }
  return loss;
}

/// One row's loss by LossParameters::scores.
LossValue by_scores(std::span<const double> s, std::span<const double> y,
                    const LossParameters& parameters, std::span<double> slope) {
  const int64_t m = std::ssize(s);
  std::copy_n(s.data(), s.data() == slope.data() ? 0 : m, slope.data());
  return losses_by_scores(*parameters.scores, {slope.data(), 1, m}, {y.data(), 1, m}, {}).front();
}

constexpr Loss kLosses[] = {
    {.name = "logistic",
     .help = "-log of the class's probability, softmax(s)",
     .classes = true,
     .at = logistic,
     .curvature = [](const LossParameters&, bool separate) { return separate ? 0.25 : 0.5; },
     .probabilities = true},
    {.name = "hinge",
     .help = "max(0, 1 - t s), one class against the rest",
     .classes = true,
     .at = hinge,
     .curvature = [](const LossParameters& of, bool) { return 1 / (2 * of.delta); },
     .delta = Delta::rounding},
    {.name = "squared_hinge",
     .help = "max(0, 1 - t s)^2, one class against the rest",
     .classes = true,
     .at = squared_hinge,
     .curvature = [](const LossParameters&, bool) { return 2.0; }},
    {.name = "huber",
     .help = "squared up to delta, then absolute",
     .classes = false,
     .at = huber,
     .curvature = [](const LossParameters&, bool) { return 1.0; },
     .delta = Delta::threshold,
     .deviations = 1.345,  // 95 % of the mean's efficiency for normal residuals (Huber 1981)
     .residuals = true},
    {.name = "log_cosh",
     .help = "delta^2 log cosh(u / delta): squared near 0, then absolute",
     .classes = false,
     .at = log_cosh,
     .curvature = [](const LossParameters&, bool) { return 1.0; },
     .delta = Delta::threshold,
     .deviations = 1.205,  // likewise (Holland, Welsch 1977)
     .residuals = true},
    {.name = "epsilon_insensitive",
     .help = "0 up to delta, then absolute",
     .classes = false,
     .at = epsilon_insensitive,
     .curvature = [](const LossParameters& of, bool) { return kInsensitive / (2 * of.delta); },
     .delta = Delta::threshold,
     .deviations = 0.612,  // the most efficient for normal residuals (Smola, Murata et al. 1998)
     .residuals = true},
    {.name = "quantile",
     .help = "tau u above, (1 - tau) |u| below: the tau quantile",
     .classes = false,
     .at = quantile,
     .curvature = [](const LossParameters& of, bool) { return 1 / (2 * of.delta); },
     .delta = Delta::rounding,
     .reads_tau = true,
     .residuals = true},
    {.name = "poisson",
     .help = "counts of mean exp(s)",
     .classes = false,
     .at = poisson,
     .counts = true},
    {.name = "custom",
     .help = "a callback's, for numbers",
     .classes = false,
     .at = by_scores,
     .by_scores = true},
    {.name = "custom_class",
     .help = "a callback's, one class, of target 1, against the rest, of target 0",
     .classes = true,
     .at = by_scores,
     .by_scores = true},
};

using linalg::Transpose;

constexpr int64_t kLossRows = 64;
// Rounding errors of products with coefficients much larger than the scores.
constexpr double kSingleNoise = 1e-8;
constexpr double kDoubleNoise = 1e-14;

}  // namespace

std::span<const Loss> loss_table() { return kLosses; }

const Loss* find_loss(std::string_view name) noexcept {
  for (const Loss& loss : kLosses)
    if (loss.name == name) return &loss;
  return nullptr;
}

// One pass over the rows per evaluation: scores by a product, slopes row by row, the gradient by a
// product. Means are subtracted from products, not from rows.

int64_t loss_columns(const Loss& loss, int64_t outputs) {
  return loss.classes && outputs == 2 ? 1 : outputs;
}

bool has_target(std::span<const double> y) noexcept {
  return std::ranges::any_of(y, [](double one) { return !std::isnan(one); });
}

/// The weight of a row times the weight of its class; 0 without a target.
static double row_weight(const LossOptions& options, const FeatureBlock& block, int64_t i) {
  if (!has_target({block.Y.row(i), static_cast<size_t>(block.Y.cols)})) return 0;
  const double weight = block.weight(i);
  if (options.class_weights.empty()) return weight;
  double factor = 0;
  for (size_t k = 0; k < options.class_weights.size(); ++k)
    factor += block.Y(i, static_cast<int64_t>(k)) * options.class_weights[k];
  return weight * factor;
}

LossValue loss_of_row(const Loss& loss, std::span<const double> s, std::span<const double> y,
                      const LossParameters& parameters, std::span<double> slope) {
  const auto missing = [](double one) { return std::isnan(one); };
  if (std::ranges::none_of(y, missing)) return loss.at(s, y, parameters, slope);
  LossValue sum;
  for (size_t k = 0; k < s.size(); ++k) {
    slope[k] = missing(y[k]) ? 0 : s[k];
    if (missing(y[k])) continue;
    const std::span<double> own = slope.subspan(k, 1);
    const LossValue loss_of_score = loss.at(own, y.subspan(k, 1), parameters, own);
    sum.value += loss_of_score.value;
    sum.curvature += loss_of_score.curvature / static_cast<double>(s.size());
  }
  return sum;
}

std::vector<LossValue> losses_by_scores(const ScoreLoss& loss, MatrixView<double> S,
                                        MatrixView<const double> Y,
                                        std::span<const double> weights) {
  std::vector<LossValue> losses(S.rows);
  std::vector<std::pair<int64_t, int64_t>> places;  // rows and columns
  std::vector<double> scores, targets;
  bool complete = true;
  for (int64_t i = 0; i < S.rows; ++i)
    for (int64_t k = 0; k < S.cols && (weights.empty() || weights[i] != 0); ++k) {
      const bool missing = std::isnan(Y(i, k));
      complete = complete && !missing;
      if (missing) {
        S(i, k) = 0;
        continue;
      }
      places.emplace_back(i, k);
      scores.push_back(S(i, k));
      targets.push_back(Y(i, k));
    }
  std::vector<double> value(scores.size()), slope(scores.size()), curvature(scores.size());
  const int64_t columns = complete ? S.cols : 1;
  loss.at(std::ssize(places) / columns, columns, scores.data(), targets.data(), value.data(),
          slope.data(), curvature.data());
  for (size_t at = 0; at < places.size(); ++at) {
    const auto [i, k] = places[at];
    losses[i].value += value[at];
    losses[i].curvature += curvature[at] / static_cast<double>(S.cols);
    S(i, k) = slope[at];
  }
  return losses;
}

/// Likewise of a block's rows, for losses by_scores; else empty.
static std::vector<LossValue> known_losses(const LossOptions& options, const FeatureBlock& block,
                                           MatrixView<double> S) {
  if (!options.loss->by_scores) return {};
  std::vector<double> weights;
  for (int64_t i = 0; i < S.rows; ++i) weights.push_back(row_weight(options, block, i));
  return losses_by_scores(*options.parameters.scores, S,
                          block.Y.block_cols(block.Y.cols - S.cols, block.Y.cols), weights);
}

BlockLoss add_slopes(const LossOptions& options, const FeatureBlock& block, MatrixView<double> S,
                     Context& context) {
  const auto columns = static_cast<size_t>(S.cols);
  const int64_t skip = block.Y.cols - S.cols;  // two classes: read the second one's code
  const int64_t chunks = ceil_divide(S.rows, kLossRows);
  std::vector<BlockLoss> parts(chunks);
  const std::vector<LossValue> known = known_losses(options, block, S);
  parallel_for(context, chunks, [&](int64_t chunk, int) noexcept {
    BlockLoss& sum = parts[chunk];
    const int64_t end = std::min(S.rows, (chunk + 1) * kLossRows);
    for (int64_t i = chunk * kLossRows; i < end; ++i) {
      const std::span<double> s(S.row(i), columns);
      const double weight = row_weight(options, block, i);
      if (weight == 0) {
        std::ranges::fill(s, 0.0);  // the row may hold anything
        continue;
      }
      const LossValue loss = known.empty()
                                 ? loss_of_row(*options.loss, s, {block.Y.row(i) + skip, columns},
                                               options.parameters, s)
                                 : known[i];
      sum.value += weight * loss.value;
      sum.curvature += weight * loss.curvature;
      sum.curved += loss.curvature > 0;
      for (double& slope : s) slope *= weight;
    }
  });
  BlockLoss all;
  for (const BlockLoss& part : parts) {
    all.value += part.value;
    all.curvature += part.curvature;
    all.curved += part.curved;
  }
  return all;
}

/// Storage of an evaluation: theta and slopes in the precision of the features.
template <class T>
class LossObjective::Pass {
 public:
  Pass(const LossObjective& of, MatrixView<const double> theta, std::span<const double> offset,
       Context& context)
      : of_(of),
        offset_(offset),
        theta_(theta.rows, theta.cols, context, "weights"),
        scores_(of.source_.block_rows(), theta.cols, context, "a block of scores"),
        wide_(of.source_.block_rows(), theta.cols, context, "a block of scores"),
        gradient_(theta.rows, theta.cols, context, "a block's gradient") {
    std::copy_n(theta.data, theta.rows * theta.cols, theta_.data());
  }

  /// Adds to the gradient of theta and to the sums of slopes.
  BlockLoss add(MatrixView<const T> Z, const FeatureBlock& block, MatrixView<double> gradient,
                std::span<double> sums, Context& context) const {
    const auto S = scores_.view().block_rows(0, Z.rows);
    const auto W = wide_.view().block_rows(0, Z.rows);
    linalg::multiply(T(1), Transpose::no, Z, Transpose::no, MatrixView<const T>(theta_.view()),
                     T(0), S);
    for (int64_t i = 0; i < W.rows; ++i)
      for (int64_t k = 0; k < W.cols; ++k) W(i, k) = S(i, k) + offset_[k];
    const BlockLoss loss = add_slopes(of_.options_, block, W, context);
    for (int64_t i = 0; i < W.rows; ++i)
      for (int64_t k = 0; k < W.cols; ++k) {
        sums[k] += W(i, k);
        S(i, k) = static_cast<T>(W(i, k));
      }
    linalg::multiply(T(1), Transpose::yes, Z, Transpose::no, MatrixView<const T>(S), T(0),
                     gradient_.view());
    for (int64_t j = 0; j < gradient.rows; ++j)
      for (int64_t k = 0; k < gradient.cols; ++k) gradient(j, k) += gradient_(j, k);
    return loss;
  }

 private:
  const LossObjective& of_;
  std::span<const double> offset_;
  Matrix<T> theta_, scores_;
  Matrix<double> wide_;
  Matrix<T> gradient_;
};

LossObjective::LossObjective(const BlockSource& source, LossOptions options, Context& context)
    : source_(source),
      options_(std::move(options)),
      columns_(loss_columns(*options_.loss, source.outputs())),
      mean_(source.features(), 0.0) {
  require(options_.coupling == nullptr || options_.coupling->outputs() == columns_,
          MERCER_DIMENSION_MISMATCH,
          "%ld columns of scores (two classes have one), expected the %ld outputs that are learnt "
          "together",
          columns_, options_.coupling == nullptr ? 0 : options_.coupling->outputs());
  double single = 0;  // blocks of floats in all processes, some of which may have no rows
  source.keep_next_pass([&](StateBytes& state) {
    state.number(weight_);
    state.number(single);
    state.numbers(std::span(mean_));
  });
  source.for_each(context, [&](const FeatureBlock& block) {
    if (block.Z64.data == nullptr) ++single;
    block.visit([&]<class T>(MatrixView<const T> Z) {
      std::vector<T> w, sums(mean_.size());
      for (int64_t i = 0; i < Z.rows; ++i) {
        const double weight = row_weight(options_, block, i);
        weight_ += weight;
        w.push_back(static_cast<T>(weight));
      }
      linalg::multiply(T(1), Transpose::yes, Z, Transpose::no, {w.data(), Z.rows, 1}, T(0),
                       {sums.data(), features(), 1});
      for (size_t j = 0; j < sums.size(); ++j) mean_[j] += sums[j];
    });
  });
  reduce(source, {&weight_, 1});
  reduce(source, {&single, 1});
  noise_ = single > 0 ? kSingleNoise : kDoubleNoise;
  reduce(source, mean_);
  require(weight_ > 0, MERCER_INVALID_ARGUMENT,
          "the weights of the rows with a target sum to %g, expected a positive number", weight_);
  for (double& z : mean_) {
    require(std::isfinite(z), MERCER_INVALID_ARGUMENT, "%s", kFeaturesNotFinite);
    z = options_.center ? z / weight_ : 0.0;
  }
}

Matrix<double> LossObjective::spread(std::span<const double> x, Context& context) const {
  const MatrixView<const double> theta(x.data(), features(), width());
  Matrix<double> C(features(), columns_, context, "weights");
  if (options_.coupling != nullptr) {
    options_.coupling->spread(theta, C.view());
  } else {
    std::copy_n(theta.data, theta.rows * theta.cols, C.data());
  }
  return C;
}

double LossObjective::operator()(std::span<const double> x, std::span<double> gradient,
                                 Context& context) {
  const auto weights = static_cast<size_t>(features() * width());
  const Matrix<double> C = spread(x, context);
  const Matrix<double> slope(features(), columns_, context, "a gradient");
  const std::vector<double> zeros(columns_, 0.0);
  std::vector<double> slope_of_b(zeros);
  const double value = at_weights(C.view(), options_.center ? x.subspan(weights) : zeros,
                                  slope.view(), slope_of_b, context);
  if (options_.coupling != nullptr) {
    options_.coupling->gather(slope.view(), {gradient.data(), features(), width()});
  } else {
    std::copy_n(slope.data(), weights, gradient.begin());
  }
  double norm2 = 0;
  for (size_t j = 0; j < weights; ++j) {
    gradient[j] += options_.lambda * x[j];
    norm2 += x[j] * x[j];
  }
  if (options_.center)
    std::ranges::copy(slope_of_b, gradient.begin() + std::ssize(x.first(weights)));
  return value + options_.lambda / 2 * norm2;
}

double LossObjective::at_weights(MatrixView<const double> theta, std::span<const double> b,
                                 MatrixView<double> slope, std::span<double> slope_of_b,
                                 Context& context) {
  std::vector<double> offset(b.begin(), b.end()), sums(offset.size(), 0.0);
  linalg::multiply(-1.0, Transpose::no, {mean_.data(), 1, features()}, Transpose::no, theta, 1.0,
                   {offset.data(), 1, columns_});
  for (int64_t j = 0; j < slope.rows; ++j) std::fill_n(slope.row(j), slope.cols, 0.0);
  BlockLoss loss;
  const auto run = [&]<class T>(const Pass<T>& pass, MatrixView<const T> Z,
                                const FeatureBlock& block) {
    const BlockLoss part = pass.add(Z, block, slope, sums, context);
    loss.value += part.value;
    loss.curvature += part.curvature;
    loss.curved += part.curved;
  };
  std::unique_ptr<Pass<float>> single;
  std::unique_ptr<Pass<double>> twice;
  source_.keep_next_pass([&](StateBytes& state) {
    state.numbers(std::span(slope.data, static_cast<size_t>(slope.rows * slope.cols)));
    state.numbers(std::span(sums));
    state.number(loss);
  });
  source_.for_each(context, [&](const FeatureBlock& block) {
    if (block.Z64.data != nullptr) {
      if (!twice) twice = std::make_unique<Pass<double>>(*this, theta, offset, context);
      run(*twice, block.Z64, block);
    } else {
      if (!single) single = std::make_unique<Pass<float>>(*this, theta, offset, context);
      run(*single, block.Z32, block);
    }
  });
  reduce(source_, {slope.data, static_cast<size_t>(slope.rows * slope.cols)});
  sums.insert(sums.end(), {loss.value, loss.curvature, loss.curved});
  reduce(source_, sums);
  const double value = sums[sums.size() - 3] / weight_;
  curvature_ = sums[sums.size() - 2] / weight_;
  curved_ = sums.back();
  for (int64_t j = 0; j < features(); ++j)
    for (int64_t k = 0; k < columns_; ++k)
      slope(j, k) = (slope(j, k) - mean_[j] * sums[k]) / weight_;
  for (size_t k = 0; k < offset.size(); ++k) slope_of_b[k] = sums[k] / weight_;
  return value;
}

std::vector<double> LossObjective::offset_of(MatrixView<const double> C,
                                             std::span<const double> x) const {
  std::vector<double> offset(columns_, 0.0);
  if (options_.center) std::ranges::copy(x.last(offset.size()), offset.begin());
  linalg::multiply(-1.0, Transpose::no, {mean_.data(), 1, features()}, Transpose::no, C, 1.0,
                   {offset.data(), 1, columns_});
  return offset;
}

void LossObjective::add_curved(std::span<const double> x, double most, RowStatistics& to,
                               Context& context) const {
  const Matrix<double> C = spread(x, context);
  const std::vector<double> offset = offset_of(C.view(), x);
  const auto columns = static_cast<size_t>(columns_);
  const double share = std::min(1.0, most / std::max(curved_, 1.0));
  double taken = 0;  // of the shares of rows so far
  for_each_wide(source_, context, [&](const WideBlock& block) {
    const FeatureBlock rows{
        .first = block.first, .Z32 = {}, .Z64 = block.Z, .Y = block.Y, .weights = block.weights};
    const Matrix<double> S(block.Z.rows, columns_, context, "a block of scores"),
        kept(block.Z.rows, features(), context, "rows of a curvature");
    std::vector<double> curvatures;
    for (int64_t i = 0; i < S.rows(); ++i) std::ranges::copy(offset, S.view().row(i));
    linalg::multiply(1.0, Transpose::no, block.Z, Transpose::no, C.view(), 1.0, S.view());
    const std::vector<LossValue> known = known_losses(options_, rows, S.view());
    for (int64_t i = 0; i < S.rows(); ++i) {
      const double weight = row_weight(options_, rows, i);
      if (weight == 0) continue;
      const std::span<double> s(S.view().row(i), columns);
      const std::span<const double> y(block.Y.row(i) + block.Y.cols - columns_, columns);
      const double curvature =
          (known.empty() ? loss_of_row(*options_.loss, s, y, options_.parameters, s) : known[i])
              .curvature;
      const double before = taken;
      taken += curvature > 0 ? share : 0;
      if (std::floor(taken) == std::floor(before)) continue;
      std::copy_n(block.Z.row(i), features(), kept.view().row(std::ssize(curvatures)));
      curvatures.push_back(weight * curvature);
    }
    to.add(MatrixView<const double>(kept.view()).block_rows(0, std::ssize(curvatures)), {}, context,
           curvatures);
  });
}

Weights LossObjective::weights(std::span<const double> x) const {
  Context context;
  const Matrix<double> theta = spread(x, context);
  const int64_t outputs = source_.outputs();
  const bool halves = columns_ < outputs;
  Weights result{Matrix<double>(features(), outputs), std::vector<double>(outputs, 0.0)};
  for (int64_t o = 0; o < outputs; ++o) {
    const int64_t k = halves ? 0 : o;
    const double factor = halves ? o - 0.5 : 1.0;
    double intercept = options_.center ? x[features() * width() + k] : 0.0;
    for (int64_t j = 0; j < features(); ++j) {
      result.w(j, o) = factor * theta(j, k);
      intercept -= mean_[j] * theta(j, k);
    }
    result.intercept[o] = factor * intercept;
  }
  return result;
}

}  // namespace mercer::solver
