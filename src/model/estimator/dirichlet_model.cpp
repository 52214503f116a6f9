// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian process classification on the features of a map (solver/latent_processes.h). Scores
// are logs of E softmax(f), by the same draws for every row. alpha and lambda minimise -log p of
// held-out rows.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "model/estimator/gp_model.h"
#include "model/estimator/loss_search.h"
#include "model/estimator/model_entry.h"
#include "model/estimator/predictor.h"
#include "random/distributions.h"
#include "solver/latent_processes.h"
#include "solver/loss_fit.h"

namespace mercer::model {
namespace {

constexpr int64_t kDraws = 512;  // antithetic: half of them and their negatives
constexpr double kAlphas[] = {0.01, 0.001, 0.1};
constexpr double kDirichletLambdas[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
constexpr int64_t kDirichletUnits = 100;  // of progress
constexpr int64_t kChoosing = 70;

class DirichletPredictor final : public LatentPredictor {
 public:
  explicit DirichletPredictor(solver::LatentProcesses posterior)
      : LatentPredictor(std::move(posterior)), draws_(kDraws / 2, processes().count()) {
    random::fill_normal({0, random::Tag::sample, 2}, 0,
                        {draws_.data(), static_cast<size_t>(draws_.rows() * draws_.cols())});
  }

  int64_t outputs() const override { return processes().count(); }
  void predict(MatrixView<const double> Z, MatrixView<double> scores) const override {
    const Matrix<double> variance(Z.rows, outputs());
    processes().moments(Z, scores, variance.view());
    std::vector<double> shares(outputs()), mean(shares.size());
    for (int64_t i = 0; i < Z.rows; ++i) {
      std::copy_n(scores.row(i), scores.cols, mean.begin());
      std::ranges::fill(shares, 0.0);
      for (int64_t s = 0; s < draws_.rows(); ++s)
        for (const double sign : {1.0, -1.0})
          add_softmax(mean, variance.view().row(i), s, sign, shares);
      for (size_t k = 0; k < shares.size(); ++k)
        scores(i, static_cast<int64_t>(k)) = log_score(shares[k] / kDraws);
    }
  }

 private:
  void add_softmax(std::span<const double> mean, const double* variance, int64_t s, double sign,
                   std::span<double> shares) const {
    double most = -kInfinity, sum = 0;
    const auto drawn = [&](size_t k) {
      const auto at = static_cast<int64_t>(k);
      return mean[k] + sign * std::sqrt(variance[at]) * draws_(s, at);
    };
    for (size_t k = 0; k < mean.size(); ++k) most = std::max(most, drawn(k));
    for (size_t k = 0; k < mean.size(); ++k) sum += std::exp(drawn(k) - most);
    for (size_t k = 0; k < mean.size(); ++k) shares[k] += std::exp(drawn(k) - most) / sum;
  }

  Matrix<double> draws_;
};

/// A fit of one data set.
class DirichletFit {
 public:
  DirichletFit(const solver::BlockSource& rows, const EstimatorOptions& estimating,
               const SelectionOptions& selecting, Context& context)
      : rows_(rows), selecting_(selecting), center_(estimating.center), context_(context) {
    const Value* const alpha = estimating.parameters.find("alpha");
    if (alpha != nullptr) alphas_ = {std::get<double>(*alpha)};
    for (double& lambda : lambdas_) lambda *= selecting.unit;
    if (selecting.selection == Selection::fixed) lambdas_ = {selecting.lambda};
    best_ = {alphas_[0], lambdas_[0]};
  }

  EstimatorFit run() {
    Stage stage(context_, kDirichletUnits);
    Calibration calibration = plain_softmax(rows_.outputs());
    if (alphas_.size() * lambdas_.size() > 1) {
      stage.share(kChoosing);
      calibration = choose();
      stage.advance(kChoosing);
    }
    stage.share(kDirichletUnits - kChoosing);
    const solver::ClassSums sums(rows_, context_);
    auto predictor = predictor_of(sums, best_);
    predictor->check();
    return {std::move(predictor), best_.lambda, std::move(path_), std::move(calibration)};
  }

 private:
  struct Candidate {
    double alpha, lambda;
  };

  std::shared_ptr<const Predictor> predictor_of(const solver::ClassSums& sums,
                                                const Candidate& at) {
    return std::make_shared<DirichletPredictor>(
        solver::dirichlet_processes(sums, at.alpha, at.lambda, center_, context_));
  }

  /// Chooses lambda at the first alpha, then alpha; then calibrates on held-out scores.
  Calibration choose() {
    const solver::RowSpace space(rows_, context_);  // of all rows, held-out ones too
    std::vector<Candidate> candidates;
    for (const double lambda : lambdas_) candidates.push_back({alphas_[0], lambda});
    try_all(space.rows(), candidates);
    for (const Candidate& one : candidates) path_.push_back({one.lambda, losses_[path_.size()]});
    candidates.clear();
    for (size_t k = 1; k < alphas_.size(); ++k) candidates.push_back({alphas_[k], best_.lambda});
    try_all(space.rows(), candidates);
    return fit_calibration(scored_, context_, Prior::softmax);
  }

  /// Keeps the candidate of least loss on held-out rows, and its scores of these.
  void try_all(const solver::BlockSource& rows, const std::vector<Candidate>& candidates) {
    if (candidates.empty()) return;
    std::vector<std::vector<ScoredRows>> parts(candidates.size());
    const std::vector<Split> splits = splits_of(rows, selecting_, context_);
    Stage stage(context_, std::ssize(splits));
    for (const Split& split : splits) {
      const auto train = rows.subset(split.train), held_out = rows.subset(split.held_out);
      const solver::ClassSums sums(*train, context_);
      for (size_t c = 0; c < candidates.size(); ++c) {
        const auto predictor = predictor_of(sums, candidates[c]);
        const auto scoring = [&](MatrixView<const double> Z, MatrixView<double> scores) {
          predictor->predict(Z, scores);
        };
        parts[c].push_back(score_all(*held_out, scoring, context_));
      }
      stage.advance(1);
    }
    for (size_t c = 0; c < candidates.size(); ++c) keep(candidates[c], joined(parts[c], context_));
  }

  void keep(const Candidate& candidate, ScoredRows scored) {
    const std::vector<double> losses = log_losses(scored, plain_softmax(rows_.outputs()));
    const double loss = weighted_mean(losses, scored.weights, rows_.reduction());
    losses_.push_back(loss);
    if (losses_.size() > 1 && !(loss < least_)) return;
    least_ = loss;
    best_ = candidate;
    scored_ = std::move(scored);
  }

  const solver::BlockSource& rows_;
  const SelectionOptions& selecting_;
  bool center_;
  Context& context_;
  std::vector<double> alphas_{std::begin(kAlphas), std::end(kAlphas)};  // to try
  std::vector<double> lambdas_{std::begin(kDirichletLambdas), std::end(kDirichletLambdas)};
  Candidate best_{};
  double least_ = 0;  // its loss
  ScoredRows scored_;
  std::vector<double> losses_;  // of all that was tried
  std::vector<PathPoint> path_;
};

void check_dirichlet(const FitOptions& asked) {
  const Selection by = asked.select.selection;
  require(asked.outputs.structure == OutputStructure::independent, MERCER_UNSUPPORTED,
          "outputs with model = dirichlet, expected them left out: each class has its own process");
  require((by == Selection::fixed || by == Selection::held_out) && leaves_path(asked.select),
          MERCER_UNSUPPORTED,
          "select with model = dirichlet, expected fraction alone: lambda is one of the decades "
          "from 0.1 to 1e-6 times the mean of k(x, x), by the likelihood of held-out rows");
  require(asked.coding.task == Task::classification, MERCER_UNSUPPORTED,
          "model = dirichlet of a regression, expected task = \"classification\", or model = gp");
  check_local(asked, "alpha");
}

std::vector<Field> dirichlet_fields() {
  std::vector<Field> fields = {
      number_above_field("lambda", kOptional, 0, kUnbounded,
                         "a weight's variance is 1/(n lambda); absent: chosen on held-out rows"),
      number_above_field(
          "alpha", kOptional, 0, 1,
          "Dirichlet parameter of the classes that a label is not; absent: chosen on "
          "held-out rows")};
  for (Field& field : local_fields()) fields.push_back(std::move(field));
  return fields;
}

EstimatorFit fit_dirichlet(const solver::BlockSource& rows, const EstimatorOptions& estimating,
                           const TargetOptions&, const SelectionOptions& selecting,
                           Context& context) {
  return DirichletFit(rows, estimating, selecting, context).run();
}

std::shared_ptr<const Predictor> load_dirichlet(std::span<const std::vector<double>> numbers,
                                                int64_t features, int64_t classes) {
  return std::make_shared<DirichletPredictor>(
      solver::LatentProcesses(numbers[0], features, classes));
}

}  // namespace

const ModelEntry& dirichlet_model() {
  static const ModelEntry entry{
      .name = "dirichlet",
      .help = "Gaussian process classification on Dirichlet-transformed labels, 4 K r^2 bytes",
      .fields = dirichlet_fields(),
      .sections = {"class_posteriors"},
      .selection = Selection::held_out,
      .fit = fit_dirichlet,
      .check = check_dirichlet,
      .load = load_dirichlet,
      .separate_classes = true,
      .most_features = 1024};
  return entry;
}

}  // namespace mercer::model
