// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Density estimation by score matching (Hyvarinen 2005) in an exponential family of features,
//   log p(x) = log q(x) + f(x) - A, f(x) = theta'phi(x)
// (Sriperumbudur, Fukumizu, Gretton, Hyvarinen, Kumar 2017; random features: Strathmann, Sejdinovic,
// Livingstone, Szabo, Gretton 2015). The loss needs no A: with weights w_i of sum W
//   J(theta) = 1/W sum_i w_i sum_k [1/2 (d_k f + d_k log q)^2 + d_k^2 f + d_k^2 log q](x_i)
// is the Fisher divergence 1/2 E ||grad log p_0 - grad log p||^2 from the rows' density p_0, up to a
// constant of p_0. It is quadratic: J + lambda/2 ||theta||^2 has its minimum at
//   (G + lambda I) theta = -h, G = 1/W sum w_i d_k phi d_k phi',
//   h = 1/W sum w_i (d_k phi d_k log q + d_k^2 phi).
// Rows come as the targets of a source: prepared inputs, of which derivatives are made here.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "feature/derivatives.h"
#include "linalg/blas.h"
#include "model/estimator/model_entry.h"
#include "model/rows/row_sets.h"
#include "model/select/selection.h"
#include "random/distributions.h"
#include "solver/block_statistics.h"
#include "solver/primal_system.h"

namespace mercer::model {
namespace {

using feature::Derivative;
using linalg::Transpose;
using solver::BlockSource;

constexpr const char* kBase = "base";
constexpr const char* kNoBase = "none";
constexpr const char* kNormaliser = "normaliser";
constexpr const char* kFeatureDerivatives = "derivatives of features";
constexpr const char* kSums = "sums of derivatives of features";
// Derivatives of features held at a time.
constexpr int64_t kNumbersAtOnce = int64_t{1} << 22;
constexpr int64_t kDrawsAtOnce = 1024;
constexpr double kFewDraws = 0.01;  // of the draws, those that the normaliser is made of
constexpr double kSureGain = 2;     // standard errors

// The base density q.

/// The inputs' weighted mean, and the sum of the weights.
std::vector<double> weighted_mean_of(const BlockSource& rows, Context& context, double& weight) {
  const int64_t d = rows.outputs();
  std::vector<double> sums(d + 1);
  rows.for_each_target(context, [&](MatrixView<const double> X, std::span<const double> weights) {
    for (int64_t i = 0; i < X.rows; ++i) {
      const double w = weights.empty() ? 1 : weights[i];
      for (int64_t k = 0; k < d && w > 0; ++k) sums[k] += w * X(i, k);
      sums[d] += w;
    }
  });
  solver::reduce(rows, sums);
  weight = sums[d];
  sums.pop_back();
  for (double& sum : sums) sum /= weight;
  return sums;
}

/// About the mean, the lower triangle.
Matrix<double> covariance_of(const BlockSource& rows, const std::vector<double>& mean,
                             double weight, Context& context) {
  const int64_t d = rows.outputs();
  Matrix<double> C(d, d, context, "a covariance of inputs");
  C.fill(0);
  const Matrix<double> storage(rows.block_rows(), d, context, "a block of inputs");
  rows.for_each_target(context, [&](MatrixView<const double> X, std::span<const double> weights) {
    const MatrixView<double> centered = storage.view().block_rows(0, X.rows);
    solver::copy_rows(X, centered);
    linalg::subtract_from_rows(mean, centered);
    solver::scale_by_roots(weights, centered);
    linalg::rank_update(1 / weight, MatrixView<const double>(centered), C.view());
  });
  solver::reduce(rows, {C.data(), static_cast<size_t>(d * d)});
  return C;
}

using Base = std::shared_ptr<const solver::NormalDensity>;  // null: flat

Base base_of(const BlockSource& rows, const std::string& kind, Context& context) {
  if (kind == kNoBase) return nullptr;
  double weight = 0;
  std::vector<double> mean = weighted_mean_of(rows, context, weight);
  Matrix<double> covariance = covariance_of(rows, mean, weight, context);
  return std::make_shared<const solver::NormalDensity>(std::move(mean), std::move(covariance),
                                                       kind == "diagonal");
}

// The sums that J is made of.

struct ScoreSums {
  Matrix<double> gram;              // W G, lower triangle
  std::vector<double> slope;        // W h
  double weight = 0, constant = 0;  // W, and W J(0)
  int64_t rows = 0;

  ScoreSums(int64_t D, Context& context) : gram(D, D, context, kSums), slope(D) { gram.fill(0); }
  int64_t features() const noexcept { return gram.rows(); }
  void add(double sign, const ScoreSums& other) {
    linalg::add(sign, other.entries(), {gram.data(), entries().size()});
    linalg::add(sign, other.slope, slope);
    weight += sign * other.weight;
    constant += sign * other.constant;
    rows += sign > 0 ? other.rows : -other.rows;
  }
  void reduce(const BlockSource& of) {
    double numbers[] = {weight, constant, static_cast<double>(rows)};
    solver::reduce(of, {gram.data(), entries().size()});
    solver::reduce(of, slope);
    solver::reduce(of, numbers);
    weight = numbers[0];
    constant = numbers[1];
    rows = static_cast<int64_t>(numbers[2]);
  }

 private:
  std::span<const double> entries() const {
    return {gram.data(), static_cast<size_t>(features() * features())};
  }
};

/// Derivatives of the features of blocks of rows.
class ScoreRows {
 public:
  struct Block {
    MatrixView<double> gradients;   // rows x d D: d_k phi side by side
    MatrixView<double> laplacians;  // rows x D: the sum of d_k^2 phi
    MatrixView<double> slopes;      // rows x d: d_k log q
    std::vector<double> weights;    // a number for each row
    double curvature;               // the sum of d_k^2 log q
    MatrixView<double> gradient(int64_t k) const {
      const int64_t D = laplacians.cols;
      return gradients.block_cols(k * D, (k + 1) * D);
    }
  };

  ScoreRows(const feature::FeatureMap& map, const solver::NormalDensity* base, Context& context)
      : map_(map),
        derivatives_(feature::derivatives_of(map)),
        base_(base),
        context_(context),
        most_(std::clamp<int64_t>(kNumbersAtOnce / (map.inputs() + 1) / map.features(), 1, 1024)),
        gradients_(most_, checked_multiply(map.inputs(), map.features(), kFeatureDerivatives),
                   context, kFeatureDerivatives),
        laplacians_(most_, map.features(), context, kFeatureDerivatives),
        slopes_(most_, map.inputs(), context, kFeatureDerivatives) {
    for (int64_t k = 0; k < map.inputs() && base != nullptr; ++k)
      curvature_ += base->curvature(k, k);
  }

  template <class Body>
  void for_each(const BlockSource& rows, const Body& body) {
    Stage stage(context_, rows.rows());
    rows.for_each_target(context_,
                         [&](MatrixView<const double> X, std::span<const double> weights) {
                           for (int64_t i0 = 0; i0 < X.rows; i0 += most_) {
                             const int64_t i1 = std::min(i0 + most_, X.rows);
                             std::vector<double> own(i1 - i0, 1.0);
                             if (!weights.empty())
                               std::copy_n(weights.begin() + i0, i1 - i0, own.begin());
                             body(differentiated(X.block_rows(i0, i1), std::move(own)));
                             stage.advance(i1 - i0);
                             context_.checkpoint();
                           }
                         });
  }

  ScoreSums sums_of(const BlockSource& rows) {
    ScoreSums sums(map_.features(), context_);
    for_each(rows, [&](const Block& block) { add(block, sums); });
    return sums;
  }

 private:
  Block differentiated(MatrixView<const double> X, std::vector<double> weights) {
    const Block block{gradients_.view().block_rows(0, X.rows),
                      laplacians_.view().block_rows(0, X.rows),
                      slopes_.view().block_rows(0, X.rows), std::move(weights), curvature_};
    derivatives_.differentiate({Derivative::Kind::gradient}, X, context_, block.gradients);
    derivatives_.differentiate({Derivative::Kind::laplacian}, X, context_, block.laplacians);
    for (int64_t i = 0; i < X.rows; ++i)
      for (int64_t k = 0; k < X.cols; ++k)
        block.slopes(i, k) = base_ == nullptr ? 0 : base_->slope(k, X.row(i));
    return block;
  }

  static void add(const Block& block, ScoreSums& sums) {
    const int64_t n = block.slopes.rows, D = sums.features();
    const MatrixView<const double> w(block.weights.data(), n, 1);
    const MatrixView<double> h(sums.slope.data(), D, 1);
    const auto add_product = [&](MatrixView<const double> A, MatrixView<const double> v) {
      linalg::multiply(1, Transpose::yes, A, Transpose::no, v, 1, h);
    };
    add_product(block.laplacians, w);
    std::vector<double> weighted(n);
    for (int64_t k = 0; k < block.slopes.cols; ++k) {
      for (int64_t i = 0; i < n; ++i) {
        weighted[i] = block.weights[i] * block.slopes(i, k);
        sums.constant += 0.5 * weighted[i] * block.slopes(i, k);
      }
      add_product(block.gradient(k), {weighted.data(), n, 1});
    }
    solver::scale_by_roots(block.weights, block.gradients);
    for (int64_t k = 0; k < block.slopes.cols; ++k)
      linalg::rank_update(1, MatrixView<const double>(block.gradient(k)), sums.gram.view());
    for (const double weight : block.weights) {
      sums.weight += weight;
      sums.constant += weight * block.curvature;
    }
    sums.rows += n;
  }

  const feature::FeatureMap& map_;
  const feature::Derivatives& derivatives_;
  const solver::NormalDensity* base_;
  Context& context_;
  int64_t most_;
  Matrix<double> gradients_, laplacians_, slopes_;
  double curvature_ = 0;
};

/// G and -h as those of ridge regression on the derivatives, whose n is 1.
solver::RowStatistics system_of(const ScoreSums& sums, int64_t inputs, Context& context) {
  require(sums.weight > 0, MERCER_INVALID_ARGUMENT,
          "the weights of rows to learn from sum to %g, expected a positive number", sums.weight);
  require(std::ranges::all_of(sums.slope, [](double h) { return std::isfinite(h); }),
          MERCER_INVALID_ARGUMENT, solver::kFeaturesNotFinite);
  const int64_t D = sums.features();
  solver::RowStatistics system(D, 1, context);
  const auto parts = system.parts();
  parts.rows = checked_multiply(sums.rows, inputs, kSums);  // the rank of G is no larger
  parts.weight = 1;
  for (int64_t j = 0; j < D; ++j) {
    for (int64_t k = 0; k <= j; ++k) parts.gram(j, k) = sums.gram(j, k) / sums.weight;
    parts.cross(j, 0) = -sums.slope[j] / sums.weight;
  }
  return system;
}

/// J of each column of theta.
std::vector<double> losses_of(const ScoreSums& sums, MatrixView<const double> theta,
                              Context& context) {
  const Matrix<double> product(theta.rows, theta.cols, context, kSums);
  product.fill(0);
  linalg::multiply_symmetric(0.5, sums.gram.view(), theta, product.view());
  std::vector<double> losses(theta.cols, sums.constant);
  for (int64_t j = 0; j < theta.rows; ++j)
    for (int64_t l = 0; l < theta.cols; ++l)
      losses[l] += theta(j, l) * (product(j, l) + sums.slope[j]);
  for (double& loss : losses) loss /= sums.weight;
  return losses;
}

// The choice of lambda on rows held out.

/// Columns of theta, one for each lambda of the path.
Matrix<double> path_of_theta(const ScoreSums& train, int64_t inputs,
                             const std::vector<PathPoint>& path, Context& context) {
  const solver::PrimalSystem system(system_of(train, inputs, context), false, context);
  Matrix<double> theta(train.features(), std::ssize(path), context, "theta of each lambda");
  for (int64_t l = 0; l < theta.cols(); ++l) {
    const solver::Weights weights = system.solve(path[l].lambda);
    for (int64_t j = 0; j < theta.rows(); ++j) theta(j, l) = weights.w(j, 0);
  }
  return theta;
}

/// Adds each row's J at theta, at 0, and 0 itself, by which their errors are known.
void add_losses(ScoreRows& score, const BlockSource& held_out, MatrixView<const double> theta,
                PairedLosses& losses) {
  score.for_each(held_out, [&](const ScoreRows::Block& block) {
    const int64_t n = block.slopes.rows;
    std::vector<double> of_row(n), along(n);
    const auto multiply = [&](MatrixView<const double> A, std::vector<double>& out) {
      linalg::multiply(1, Transpose::no, A, Transpose::no, theta, 0, {out.data(), n, 1});
    };
    multiply(block.laplacians, of_row);
    std::vector<double> of_base(n, block.curvature);
    for (double& loss : of_row) loss += block.curvature;
    for (int64_t k = 0; k < block.slopes.cols; ++k) {
      multiply(block.gradient(k), along);
      for (int64_t i = 0; i < n; ++i) {
        const double slope = block.slopes(i, k);
        of_row[i] += 0.5 * std::pow(along[i] + slope, 2);
        of_base[i] += 0.5 * slope * slope;
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      const double row[] = {of_row[i], of_base[i], 0};
      losses.add(row, block.weights[i]);
    }
  });
}

/// What rows held out say: the path with its losses, and the loss at its best with its error.
struct Validation {
  std::vector<PathPoint> path;
  DensityReport report;
};

/// The sums of each part held out, of 8 D^2 bytes each, and in `total` those of all rows.
std::vector<ScoreSums> held_out_sums(ScoreRows& score, const BlockSource& rows,
                                     const std::vector<Split>& splits, ScoreSums& total) {
  const auto sums_of = [&](const std::vector<int64_t>& part) {
    ScoreSums sums = score.sums_of(*rows.subset(part));
    sums.reduce(rows);
    total.add(1, sums);
    return sums;
  };
  std::vector<ScoreSums> held_out;
  for (const Split& split : splits) held_out.push_back(sums_of(split.held_out));
  if (splits.size() == 1) sums_of(splits[0].train);  // folds are all rows together
  return held_out;
}

/// `total`: the sums of all rows, left by it.
Validation validate(ScoreRows& score, const BlockSource& rows, const SelectionOptions& how,
                    Context& context, ScoreSums& total) {
  const std::vector<Split> splits = validation_splits(how, rows);
  Stage stage(context, std::ssize(splits) + 2);
  const std::vector<ScoreSums> held_out =
      stage.part(1, [&] { return held_out_sums(score, rows, splits, total); });
  Validation found{empty_path(how), {}};
  std::vector<Matrix<double>> theta;
  double weight = 0;
  for (const ScoreSums& part : held_out) weight += part.weight;
  require(weight > 0, MERCER_INVALID_ARGUMENT,
          "the weights of the rows held out sum to %g, expected a positive number", weight);
  for (const ScoreSums& part : held_out) {
    stage.share(1);
    total.add(-1, part);
    theta.push_back(path_of_theta(total, rows.outputs(), found.path, context));
    total.add(1, part);
    const std::vector<double> losses = losses_of(part, theta.back().view(), context);
    for (size_t l = 0; l < losses.size() && part.weight > 0; ++l)
      found.path[l].score += part.weight / weight * losses[l];
    stage.advance(1);
  }
  const int64_t best = &best_point(found.path) - found.path.data();
  PairedLosses losses(3);
  stage.share(1);
  for (size_t f = 0; f < splits.size(); ++f)
    add_losses(score, *rows.subset(splits[f].held_out), theta[f].view().block_cols(best, best + 1),
               losses);
  losses.reduce(rows);
  stage.advance(1);
  found.report = {losses.mean(0), losses.error_of_difference(0, 2), losses.mean(1),
                  losses.error_of_difference(0, 1)};
  return found;
}

// The normaliser, by importance sampling.

/// log E_q exp f(x) from draws of q; the delta method gives its error.
void normalise(const feature::FeatureMap& map, const solver::NormalDensity& base,
               const Matrix<double>& theta, int64_t draws, uint64_t seed, Context& context,
               DensityReport& report) {
  constexpr uint64_t kStream = 2;
  const int64_t d = map.inputs(), D = map.features();
  AlignedBuffer<double> f(draws, context, "f of draws");
  const Matrix<double> X(kDrawsAtOnce, d, context, "draws of the base density"),
      Z(kDrawsAtOnce, D, context, "features of draws");
  Stage stage(context, draws);
  for (int64_t first = 0; first < draws; first += kDrawsAtOnce) {
    const int64_t count = std::min(kDrawsAtOnce, draws - first);
    random::fill_normal({seed, random::Tag::sample, kStream}, static_cast<uint64_t>(first * d),
                        {X.data(), static_cast<size_t>(count * d)});
    for (int64_t i = 0; i < count; ++i) base.from_standard(X.view().row(i));
    const MatrixView<double> features = Z.view().block_rows(0, count);
    map.apply(Rows(MatrixView<const double>(X.view().block_rows(0, count))), {0, D}, context,
              features);
    linalg::multiply(1, Transpose::no, MatrixView<const double>(features), Transpose::no,
                     MatrixView<const double>(theta.view()), 0, {f.data() + first, count, 1});
    stage.advance(count);
    context.checkpoint();
  }
  const double most = *std::max_element(f.begin(), f.end());
  double sum = 0, squares = 0;
  for (const double value : f) {
    sum += std::exp(value - most);
    squares += std::exp(2 * (value - most));
  }
  const double n = static_cast<double>(draws);
  report.log_normaliser = most + std::log(sum / n);
  report.effective_draws = sum * sum / squares;
  report.normaliser_error =
      std::sqrt(std::max(0.0, 1 / report.effective_draws - 1 / n) * n / (n - 1));
  require(std::isfinite(report.log_normaliser), MERCER_INVALID_ARGUMENT,
          "the normaliser is %g: exp(f) of draws of the base density is not finite, expected a "
          "larger lambda, or normaliser left out",
          report.log_normaliser);
}

// The fit.

void check_density(const FitOptions& asked) {
  const PreparationOptions& prepare = asked.prepare;
  const Parameters& own = asked.estimate.parameters;
  const Selection by = asked.select.selection;
  require(asked.outputs.structure == OutputStructure::independent &&
              prepare.target_transform == Transform::none,
          MERCER_UNSUPPORTED,
          "outputs or prepare.target_transform with model = density, expected them left out: it "
          "has no targets");
  require(prepare.transform == Transform::none && !prepare.unit_rows && prepare.buckets == 0,
          MERCER_UNSUPPORTED,
          "prepare.transform or unit_rows, or hashed inputs, with model = density, expected inputs "
          "that are shifted and scaled alone: others have another density");
  require(prepare.missing == Missing::refuse, MERCER_UNSUPPORTED,
          "prepare.missing = %s with model = density, expected refuse: a row that is filled is no "
          "draw of the density",
          kMissingWords[static_cast<size_t>(prepare.missing)]);
  require(asked.estimate.center, MERCER_UNSUPPORTED,
          "center = false with model = density, expected it left out: the intercept is the "
          "normaliser");
  require(by == Selection::fixed || by == Selection::folds || by == Selection::held_out,
          MERCER_UNSUPPORTED, "select.by = %s with model = density, expected folds or held_out",
          word_of(by));
  require(own.find(kNormaliser) == nullptr || own.text(kBase) != kNoBase, MERCER_INVALID_ARGUMENT,
          "normaliser = %ld with base = none, expected base = normal or diagonal, of which draws "
          "are made",
          own.find(kNormaliser) == nullptr ? 0 : own.integer(kNormaliser));
}

void warn(double draws, EstimatorFit& learned) {
  char text[256];
  const std::vector<PathPoint>& path = learned.path;
  if (path.size() > 1 && learned.lambda >= path.front().lambda) {
    std::snprintf(text, sizeof text,
                  "lambda %.3g is the largest that was tried: these features add little to the "
                  "base density",
                  learned.lambda);
    learned.warnings.emplace_back(text);
  } else if (path.size() > 1 && learned.lambda <= path.back().lambda) {
    std::snprintf(text, sizeof text, "lambda %.3g is the smallest that was tried", learned.lambda);
    learned.warnings.emplace_back(text);
  }
  const double gain = learned.density.base_loss - learned.density.loss;
  if (gain < kSureGain * learned.density.error_of_gain) {
    std::snprintf(text, sizeof text,
                  "on rows held out the features gain %.3g +- %.3g over the base density: no more "
                  "than chance",
                  gain, learned.density.error_of_gain);
    learned.warnings.emplace_back(text);
  }
  if (learned.density.effective_draws < kFewDraws * draws) {
    std::snprintf(text, sizeof text,
                  "the normaliser rests on %.3g of %.0f draws: the base density misses much of the "
                  "density, and the normaliser's error is not to be trusted",
                  learned.density.effective_draws, draws);
    learned.warnings.emplace_back(text);
  }
}

const feature::FeatureMap& checked_map(const EstimatorOptions& estimating) {
  const feature::FeatureMap& map = *estimating.map;
  map.require_one_output();
  require(!map.is_complex(), MERCER_UNSUPPORTED,
          "map %s is complex, expected a real one for model = density",
          std::string(map.name()).c_str());
  require(estimating.coupling == nullptr, MERCER_UNSUPPORTED,
          "map %s has roots of outputs, expected one of a density's one output",
          std::string(map.name()).c_str());
  require(
      !map.has_kernel_columns(), MERCER_UNSUPPORTED,
      "map %s with model = density, expected a map of features: nystroem with landmarks supplied "
      "has the same functions",
      std::string(map.name()).c_str());
  const int64_t most = feature::derivatives_of(map).most_order();
  require(
      most >= 2, MERCER_UNSUPPORTED,
      "map %s of kernel %s has derivatives of order %ld at most, expected 2 for model = density",
      std::string(map.name()).c_str(), std::string(map.kernel().name()).c_str(), most);
  return map;
}

EstimatorFit fit_density(const BlockSource& rows, const EstimatorOptions& estimating,
                         const TargetOptions&, const SelectionOptions& selecting,
                         Context& context) {
  constexpr int64_t kUnits = 10;
  const feature::FeatureMap& map = checked_map(estimating);
  const Parameters& own = estimating.parameters;
  const int64_t draws = own.find(kNormaliser) == nullptr ? 0 : own.integer(kNormaliser);
  Stage stage(context, kUnits);
  const Base base = base_of(rows, own.text(kBase), context);
  ScoreRows score(map, base.get(), context);
  ScoreSums total(map.features(), context);
  EstimatorFit learned{nullptr, selecting.lambda, {}, {}};
  learned.base = base;
  stage.share(kUnits - 2);
  if (selecting.selection == Selection::fixed) {
    total = score.sums_of(rows);
    total.reduce(rows);
  } else {
    Validation found = validate(score, rows, selecting, context, total);
    learned.path = std::move(found.path);
    learned.lambda = best_point(learned.path).lambda;
    learned.density = found.report;
  }
  stage.advance(kUnits - 2);
  stage.share(1);
  solver::Weights weights = solver::ridge_cholesky(system_of(total, map.inputs(), context), false,
                                                   learned.lambda, context);
  stage.advance(1);
  stage.share(1);
  if (draws > 0) {
    normalise(map, *base, weights.w, draws, selecting.seed, context, learned.density);
    weights.intercept[0] = -learned.density.log_normaliser;
  }
  warn(static_cast<double>(draws), learned);
  learned.predictor = make_linear(std::move(weights));
  stage.advance(1);
  return learned;
}

Targets targets_of_density(const Parameters&) { return Targets::inputs; }

}  // namespace

bool has_base_density(const Parameters& own) {
  const Value* const kind = own.find(kBase);
  return kind != nullptr && std::get<std::string>(*kind) != kNoBase;
}

const ModelEntry& density_model() {
  static const ModelEntry entry = linear_entry(
      {.name = "density",
       .help = "density of the rows by score matching on the features of a map, without targets",
       .fields = {choice_field(kBase, "normal", {"normal", "diagonal", kNoBase},
                               "q, which the features multiply by exp(f): normal with the rows' "
                               "mean and covariance, or their variances alone, or 1"),
                  count_field(kNormaliser, kOptional, 1e8,
                              "draws of q that make values logarithms of a density of integral 1; "
                              "absent: they lack a constant"),
                  number_field("lambda", kOptional, 0, kUnbounded,
                               "on theta'theta; absent: chosen by select")},
       .selection = Selection::folds,
       .fit = fit_density,
       .check = check_density,
       .targets = targets_of_density,
       .unclipped = true});
  return entry;
}

}  // namespace mercer::model
