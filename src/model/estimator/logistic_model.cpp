// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Minimises a penalised loss (solver/loss.h) on the features of a map: logistic and
// squared hinge for classes; Huber, quantile and Poisson for numbers. lambda is given or chosen on
// held-out rows (loss_search.h).
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/fields.h"
#include "kernel/custom.h"
#include "model/estimator/class_weights.h"
#include "model/estimator/loss_search.h"
#include "model/estimator/model_entry.h"
#include "solver/loss_fit.h"

namespace mercer::model {
namespace {

constexpr double kRounding = 0.01;  // smoothing of a kink, in units of targets or margins
// Shares of progress: fits with held-out rows, if any, are most of the work.
constexpr int64_t kUnits = 100, kHoldingOut = 80, kPreparing = 2;

const solver::Loss& loss_of(const Parameters& own) { return *solver::find_loss(own.text("loss")); }

/// A callback's.
class CustomLoss final : public solver::ScoreLoss {
 public:
  explicit CustomLoss(const std::string& name) : custom_(kernel::find_custom(name, "loss")) {
    require(custom_->has_loss(), MERCER_UNSUPPORTED,
            "loss_name = \"%s\", expected a custom that has a loss", name.c_str());
  }
  void at(int64_t count, int64_t m, const double* S, const double* Y, double* value, double* slope,
          double* curvature) const override {
    custom_->loss(count, m, S, Y, value, slope, curvature);
  }

 private:
  std::shared_ptr<const kernel::Custom> custom_;
};

/// Whether delta is an option: if it is a scale of the data.
bool takes_delta(const solver::Loss& loss) { return loss.delta == solver::Delta::threshold; }

/// The names of those losses for a message.
std::string loss_where(bool (*has)(const solver::Loss&)) {
  std::string names;
  for (const solver::Loss& loss : solver::loss_table())
    if (has(loss)) names += (names.empty() ? "" : "\" or \"") + std::string(loss.name);
  return names;
}

void check_loss(const FitOptions& asked) {
  const Parameters& own = asked.estimate.parameters;
  const solver::Loss& loss = loss_of(own);
  const bool classes = asked.coding.task == Task::classification;
  require(loss.classes == classes, MERCER_INVALID_ARGUMENT,
          "loss = \"%s\" is of %s, the task is %s", loss.name,
          loss.classes ? "classification" : "regression",
          classes ? "classification" : "regression");
  const Selection selection = asked.select.selection;
  require(
      selection == Selection::fixed || selection == Selection::held_out, MERCER_UNSUPPORTED,
      "the model %s chooses lambda on held-out rows, or takes it fixed; the selection asked for "
      "is of least squares",
      asked.estimate.entry->name);
  require(own.find("delta") == nullptr || takes_delta(loss), MERCER_INVALID_ARGUMENT,
          "delta is of loss = \"%s\", the loss is \"%s\"", loss_where(takes_delta).c_str(),
          loss.name);
  const Value* tau = own.find("tau");
  require(tau == nullptr || loss.reads_tau, MERCER_INVALID_ARGUMENT,
          "tau is of loss = \"%s\", the loss is \"%s\"",
          loss_where([](const solver::Loss& one) { return one.reads_tau; }).c_str(), loss.name);
  require(
      own.text("loss_name").empty() != loss.by_scores, MERCER_INVALID_ARGUMENT,
      "loss_name = \"%s\" with loss = \"%s\", expected a name with loss = \"%s\" and only there",
      own.text("loss_name").c_str(), loss.name,
      loss_where([](const solver::Loss& one) { return one.by_scores; }).c_str());
  require(asked.prepare.target_transform == Transform::none || !loss.counts,
          MERCER_INVALID_ARGUMENT,
          "target_transform with loss = \"%s\", expected none: its targets are counts", loss.name);
  check_class_weight(own, asked.coding);
}

double number_or(const Parameters& parameters, const char* key, double fallback) {
  return parameters.find(key) == nullptr ? fallback : parameters.number(key);
}

/// Facts about the targets, from one pass.
struct ScoredTargets {
  std::vector<double> weight;  // per output: weight of the class's rows, or sum of targets
  double least = 0;            // the smallest target
};

ScoredTargets read_targets(const solver::BlockSource& rows, Context& context) {
  ScoredTargets found{std::vector<double>(rows.outputs(), 0.0)};
  rows.for_each(context, [&](const solver::FeatureBlock& block) {
    for (int64_t i = 0; i < block.Y.rows; ++i) {
      const double w = block.weights.empty() ? 1.0 : block.weights[i];
      for (int64_t k = 0; k < block.Y.cols && w > 0; ++k) {
        if (std::isnan(block.Y(i, k))) continue;
        found.weight[k] += w * block.Y(i, k);
        found.least = std::min(found.least, block.Y(i, k));
      }
    }
  });
  solver::reduce(rows, found.weight);
  return found;
}

/// A fit of one data set.
class LogisticFit {
 public:
  LogisticFit(const solver::BlockSource& rows, const EstimatorOptions& estimating,
              const SelectionOptions& selecting, Context& context)
      : given_(rows), own_(estimating.parameters), selecting_(selecting), context_(context) {
    loss_.loss = &loss_of(own_);
    loss_.center = estimating.center;
    loss_.coupling = estimating.coupling.get();
    if (loss_.loss->by_scores)
      loss_.parameters.scores = std::make_shared<const CustomLoss>(own_.text("loss_name"));
    read();
    if (loss_.loss->delta == solver::Delta::rounding) loss_.parameters.delta = kRounding;
    if (loss_.loss->residuals) use_units();
    // Features of a vector field have a root each, which coordinates would not have.
    if (loss_.coupling == nullptr || loss_.coupling->shared())
      space_ = std::make_unique<solver::RowSpace>(this->rows(), context);
  }

  EstimatorFit run() {
    const bool searches = selecting_.selection != Selection::fixed;
    lambda_ = selecting_.lambda;
    // Scores that are no log probabilities need held-out rows for calibration.
    const bool calibrates = loss_.loss->classes && !loss_.loss->probabilities;
    int64_t left = kUnits - kPreparing;
    if (searches || calibrates || finds_delta()) {
      stage_.part(kHoldingOut, [&] { hold_out(searches); });
      left -= kHoldingOut;
    }
    stage_.share(kPreparing);
    solver::LossFit fit(rows(), loss_, context_);
    stage_.advance(kPreparing);
    if (!start_.empty()) fit.start_from(start_);
    stage_.share(left);
    solver::LossFitOptions descent = descent_of(own_);
    descent.measured = true;
    const linalg::LbfgsResult end = fit.run(lambda_, descent, context_);
    EstimatorFit learned{nullptr, lambda_, std::move(path_), calibration(), nullptr};
    if (!end.converged() && !fit.is_flat(end, descent, context_)) {
      // A searched lambda was judged after the same number of iterations.
      const bool judged =
          (searches || selecting_.chosen) && end.end == linalg::LbfgsEnd::iterations;
      require(judged, MERCER_NOT_CONVERGED, "%s", unfinished(end).c_str());
      learned.warnings.push_back(unfinished(end) + "; lambda was chosen for fits that end so, too");
    }
    require(!loss_.loss->by_scores || !fit.falls_on(end, context_), MERCER_NOT_CONVERGED,
            "loss_name = \"%s\" falls without end, expected a loss that has a minimum",
            own_.text("loss_name").c_str());
    solver::Weights weights = space_ ? space_->weights(fit.weights(), context_) : fit.weights();
    if (units_) units_->undo(weights);
    learned.predictor = make_linear(std::move(weights));
    return learned;
  }

 private:
  const solver::BlockSource& rows() const {
    if (space_) return space_->rows();
    return scaled_ ? *scaled_ : given_;
  }
  bool finds_delta() const { return takes_delta(*loss_.loss) && own_.find("delta") == nullptr; }

  void read() {
    const ScoredTargets found = read_targets(given_, context_);
    if (loss_.loss->classes) {
      require_two_classes(found.weight);
      if (is_balanced(own_)) loss_.class_weights = balanced_factors(found.weight);
    } else if (loss_.loss->counts) {
      double least = found.least;
      require(least >= 0, MERCER_INVALID_ARGUMENT,
              "Y holds %g, expected counts, numbers >= 0, for loss = \"%s\"", least,
              loss_.loss->name);
      for (const double sum : found.weight)
        require(sum > 0, MERCER_INVALID_ARGUMENT,
                "the counts of an output sum to %g, expected some above 0", sum);
    }
  }

  void use_units() {
    units_ = std::make_unique<TargetUnits>(robust_units(given_, loss_.center, context_));
    if (loss_.coupling != nullptr && !loss_.coupling->shared())  // one unit for a vector field
      std::ranges::fill(units_->scale, *std::ranges::max_element(units_->scale));
    scaled_ = in_units(given_, *units_);
    loss_.parameters.tau = number_or(own_, "tau", 0.5);
    if (takes_delta(*loss_.loss)) {
      require(own_.find("delta") == nullptr || units_->scale.size() == 1, MERCER_UNSUPPORTED,
              "delta = %g for %zu outputs, expected one output: leave delta out, or fit each",
              number_or(own_, "delta", 0), units_->scale.size());
      loss_.parameters.delta =
          number_or(own_, "delta", loss_.loss->deviations * units_->scale[0]) / units_->scale[0];
    }
  }

  /// Fits with held-out rows: chooses lambda, the scale of residuals and the calibration.
  void hold_out(bool searches) {
    Stage stage(context_, kPreparing + (finds_delta() ? 2 : 1) * kHoldingOut);
    stage.share(kPreparing);
    LossSearch search(rows(), selecting_, descent_of(own_), loss_, context_);
    stage.advance(kPreparing);
    const auto judge = [&] {
      if (searches) lambda_ = search.choose_lambda(context_);
      scored_ = std::make_unique<ScoredRows>(search.score(lambda_, context_));
    };
    if (finds_delta()) {
      // delta is scaled by the targets' deviation at first, then by the residuals'.
      stage.part(kHoldingOut, judge);
      loss_.parameters.delta = loss_.loss->deviations * residual_scale();
      search.set_parameters(loss_.parameters);
    }
    stage.part(kHoldingOut, judge);
    path_ = search.path();
    start_.assign(search.x().begin(), search.x().end());
  }

  /// The scale of held-out residuals, in the units of the targets; mean over outputs.
  double residual_scale() const {
    double sums[2] = {};  // of scales and of ones, weighted by this process's rows
    for (int64_t k = 0; k < scored_->scores.cols(); ++k) {
      std::vector<WeightedNumber> residuals;
      double weight = 0;
      for (int64_t i = 0; i < scored_->scores.rows(); ++i) {
        const double w = scored_->weights[i];
        if (w == 0 || std::isnan(scored_->targets(i, k))) continue;
        residuals.push_back({scored_->targets(i, k) - scored_->scores(i, k), w});
        weight += w;
      }
      sums[0] += weight * robust_scale(residuals);
      sums[1] += weight;
    }
    solver::reduce(given_, sums);
    return sums[0] > 0 ? sums[0] / sums[1] : 1.0;
  }

  Calibration calibration() const {
    if (!loss_.loss->classes) return {};
    const bool known = loss_.loss->probabilities;
    if (scored_) return fit_calibration(*scored_, context_, known ? Prior::softmax : Prior::none);
    return known ? plain_softmax(given_.outputs()) : Calibration{};
  }

  std::string unfinished(const linalg::LbfgsResult& end) const {
    char text[320];
    std::snprintf(text, sizeof text,
                  "loss %s, lambda = %g: %ld iterations%s end at a mean loss of %g and a gradient "
                  "of %g that still falls; raise lambda, iterations or tolerance",
                  loss_.loss->name, lambda_, end.iterations,
                  end.end == linalg::LbfgsEnd::iterations ? ", at most as many as asked for," : "",
                  end.value, end.largest_gradient);
    return text;
  }

  const solver::BlockSource& given_;
  const Parameters& own_;
  const SelectionOptions& selecting_;
  Context& context_;
  Stage stage_{context_, kUnits};
  solver::LossOptions loss_;
  std::unique_ptr<TargetUnits> units_;  // null: original targets
  std::unique_ptr<solver::BlockSource> scaled_;
  std::unique_ptr<solver::RowSpace> space_;  // null: a vector field
  double lambda_ = 0;
  std::vector<double> start_;
  std::vector<PathPoint> path_;
  std::unique_ptr<ScoredRows> scored_;  // null: none were held out
};

EstimatorFit fit_logistic(const solver::BlockSource& rows, const EstimatorOptions& estimating,
                          const TargetOptions&, const SelectionOptions& selecting,
                          Context& context) {
  return LogisticFit(rows, estimating, selecting, context).run();
}

std::vector<const char*> loss_names() {
  std::vector<const char*> names;
  for (const solver::Loss& loss : solver::loss_table()) names.push_back(loss.name);
  return names;
}

}  // namespace

const ModelEntry& logistic_model() {
  static const ModelEntry entry = linear_entry(
      {.name = "logistic",
       .help = "minimises a penalised loss on the features of a map, by L-BFGS: logistic "
               "regression and others",
       .fields =
           {choice_field("loss", "logistic", loss_names(),
                         "logistic, hinge, squared_hinge, custom_class: for classes; the others "
                         "for numbers"),
            {.key = "loss_name",
             .type = FieldType::text,
             .fallback = std::string(),
             .help = "custom, custom_class: what mercer_custom_create registered the loss as"},
            number_field("lambda", kOptional, 0, kUnbounded,
                         "of the objective (1/n) sum of losses + lambda/2 |w|^2; absent: chosen on "
                         "held-out rows"),
            kClassWeight.field(),
            number_above_field(
                "delta", kOptional, 0, kUnbounded,
                "huber, log_cosh: about where the quadratic part ends; epsilon_insensitive: up to "
                "where it is 0; absent: 1.345, 1.205, 0.612 robust deviations of residuals"),
            {.key = "tau",
             .type = FieldType::number,
             .fallback = kOptional,
             .least = 0,
             .most = 1,
             .least_open = true,
             .most_open = true,
             .help = "quantile: the share of targets below; absent: 0.5"},
            count_field("iterations", int64_t{500}, 1e6, "the most iterations of L-BFGS"),
            number_above_field("tolerance", 1e-5, 0, kUnbounded,
                               "stop where the objective is within this share of its least value, "
                               "by its curvature")},
       .selection = Selection::held_out,
       .fit = fit_logistic,
       .check = check_loss,
       .link =
           [](const Parameters& own) {
             const solver::Loss& loss = loss_of(own);
             return loss.by_scores ? Link::unknown : loss.counts ? Link::log : Link::identity;
           },
       .is_searched = [](const Parameters& own) { return loss_of(own).probabilities; },
       .sums_over_outputs = true});
  return entry;
}

}  // namespace mercer::model
