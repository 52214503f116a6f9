// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variational Gaussian process classification on the features of a map, one process for two
// classes, else one for each against the rest (solver/latent_processes.h). lambda is that of the
// largest ELBO, summed over processes; the path's scores are -ELBO for each row. Scores of classes
// are logs of E sigma(f), calibrated on the rows' own predictions from the posterior without each,
// which needs no further fit. Parameters of the kernel are learnt before, by the same bound.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "feature/derivatives.h"
#include "feature/map_entry.h"
#include "linalg/lbfgs.h"
#include "model/estimator/class_weights.h"
#include "model/estimator/loss_search.h"
#include "model/estimator/model_entry.h"
#include "model/estimator/predictor.h"
#include "model/rows/feature_rows.h"
#include "model/rows/row_sets.h"
#include "solver/block_source.h"
#include "solver/latent_processes.h"
#include "solver/loss_fit.h"

namespace mercer::model {
namespace {

constexpr double kTriedLambdas[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
constexpr double kBetween[] = {3, 0.3};               // times the best of them
constexpr double kTolerance = 1e-5, kRoughly = 1e-4;  // nats for each row
constexpr int64_t kChoosingRows = 4000;               // of which lambda is chosen
constexpr int64_t kScoredRows = 5000;                 // enough for a slope and an offset per class
constexpr int64_t kMostWhole = 10000, kBatch = 2000;  // rows of steps on all rows, on batches
constexpr int64_t kEpochs = 3;
constexpr int64_t kSvgpUnits = 100, kChoosingLambda = 60;  // of progress

int64_t processes_of(int64_t classes) { return classes == 2 ? 1 : classes; }

/// Scores of a row from f of process k.
void put_scores(double mean, double variance, int64_t k, std::span<double> scores) {
  const bool one = scores.size() == 2;
  const auto own = static_cast<size_t>(one ? 1 : k);
  scores[own] = log_score(solver::logistic_normal(mean, variance).mean);
  if (one) scores[0] = log_score(solver::logistic_normal(-mean, variance).mean);
}

class SvgpPredictor final : public LatentPredictor {
 public:
  explicit SvgpPredictor(solver::LatentProcesses processes)
      : LatentPredictor(std::move(processes)) {}
  int64_t outputs() const override { return std::max<int64_t>(processes().count(), 2); }
  void predict(MatrixView<const double> Z, MatrixView<double> scores) const override {
    const int64_t count = processes().count();
    const Matrix<double> f(Z.rows, count), variance(Z.rows, count);
    processes().moments(Z, f.view(), variance.view());
    for (int64_t i = 0; i < Z.rows; ++i)
      for (int64_t k = 0; k < count; ++k)
        put_scores(f(i, k), variance(i, k), k, {scores.row(i), static_cast<size_t>(outputs())});
  }
};

/// That of a class of no rows or all: f is the same everywhere and certain. The bound of a process
/// with a flat prior of the intercept would have no largest value.
solver::LatentProcess certain_process(int64_t features, double f) {
  constexpr double kCertain = 1e8;
  solver::LatentProcess process{Matrix<double>(features, features),
                                std::vector<double>(features, 0.0), Matrix<double>(features, 1), f,
                                0};
  process.factor.fill(0), process.w.fill(0);
  for (int64_t j = 0; j < features; ++j) process.factor(j, j) = kCertain;
  return process;
}

// The kernel's parameters, by L-BFGS on the ELBO that is the largest for them (Wacker 2022, Fig. 4.7,
// takes steps of Adam). At that q its gradient is the one with q held fixed, which the features'
// derivatives pull back; draws of the map stay. From one point to the next rows keep their sites and
// not q, whose weights suit the features before (Adam, Chang, Khan, Solin 2021): joint steps of both
// on batches stayed near the start, at -1382 nats where this bound reaches -843, since q pulls the
// parameters back.

constexpr int64_t kLearningSteps = 60;
constexpr double kFinely = 1e-7, kNoise = 1e-6;  // nats for each row; of values that end there
constexpr double kFlat = 0.05;    // nats in a logarithm: the largest slope at the end
constexpr double kFarthest = 20;  // from the start, in a logarithm

/// Where a step goes too far features are not finite, or their sums have no factor.
template <class Value>
double value_or_infinite(const Value& value, bool is_start) {
  try {
    return value();
  } catch (const Error& error) {
    const bool far =
        error.status() == MERCER_NOT_POSITIVE_DEFINITE || error.status() == MERCER_INVALID_ARGUMENT;
    if (is_start || !far) throw;
    return kInfinity;
  }
}

/// The logarithms of what features of a map can be differentiated in (feature/derivatives.h).
class KernelParameters {
 public:
  explicit KernelParameters(const feature::FeatureMap& map) : map_(map.parameters()) {
    require(map.numbers().empty(), MERCER_UNSUPPORTED,
            "hyperparameters = learnt of map %s, which is made of rows or numbers, expected one "
            "that is drawn",
            std::string(map.name()).c_str());
    logs_.resize(feature::log_parameter_count(map));
    feature::derivatives_of(map);
    const Parameters& kernel = map_.object("kernel");
    const std::span<const double> lengthscale = map.kernel().lengthscale();
    each_input_ = lengthscale.size() > 1;
    for (size_t k = 0; k < logs_.size(); ++k)
      logs_[k] = std::log(is_polynomial() ? kernel.number(kOfPolynomial[k]) : lengthscale[k]);
  }
  int64_t count() const { return std::ssize(logs_); }
  /// moves: of the logarithms, from the start.
  std::shared_ptr<const feature::FeatureMap> map(std::span<const double> moves) const {
    std::vector<double> numbers;
    for (size_t k = 0; k < logs_.size(); ++k) numbers.push_back(std::exp(logs_[k] + moves[k]));
    Parameters kernel = map_.object("kernel");
    for (size_t k = 0; is_polynomial() && k < numbers.size(); ++k)
      kernel.set(kOfPolynomial[k], numbers[k]);
    if (!is_polynomial())
      kernel.set("lengthscale", each_input_ ? Value(numbers) : Value(numbers[0]));
    Parameters changed = map_;
    changed.set("kernel", std::make_shared<const Parameters>(std::move(kernel)));
    return feature::make_map(changed);
  }

 private:
  static constexpr const char* kOfPolynomial[] = {"gamma", "offset"};
  bool is_polynomial() const { return map_.object("kernel").find(kOfPolynomial[0]) != nullptr; }

  Parameters map_;
  bool each_input_ = false;
  std::vector<double> logs_;  // an offset of 0 stays
};

/// -ELBO of rows as a function of moves of the parameters' logarithms and of log lambda.
class KernelBound {
 public:
  /// References are kept. columns: of the processes.
  KernelBound(const FeatureRows& rows, const KernelParameters& at, std::vector<int64_t> columns,
              bool center, Context& context)
      : rows_(rows),
        at_(at),
        columns_(std::move(columns)),
        center_(center),
        context_(context),
        every_(all_rows(rows.rows())) {}

  double operator()(std::span<const double> moves, double precision, std::span<double> gradient) {
    const auto map = at_.map(moves);
    const FeatureRows mapped = rows_.under(*map);
    const auto cached = solver::make_cached(mapped, context_);
    const solver::BlockSource& rows =
        cached ? *cached : static_cast<const solver::BlockSource&>(mapped);
    const Matrix<double> by_Z(rows.rows(), rows.features(), context_, "derivatives of the bound");
    by_Z.fill(0), std::ranges::fill(gradient, 0.0);
    double elbo = 0;
    std::vector<std::vector<solver::RowSite>> found;
    for (size_t k = 0; k < columns_.size(); ++k) {
      solver::VariationalProcess one(rows, columns_[k], center_, every_);
      if (!best_.empty()) one.begin(best_[k], context_);
      one.ascend(precision, kFinely, context_);
      elbo += one.elbo();
      gradient.back() -= one.slope(precision, context_);
      one.pull_back(context_, by_Z.view());
      found.push_back(one.sites());
    }
    if (best_.empty() || elbo > most_) most_ = elbo, best_ = std::move(found);
    pull_back(*map, mapped, by_Z.view(), gradient.first(gradient.size() - 1));
    return -elbo;
  }

 private:
  void pull_back(const feature::FeatureMap& map, const FeatureRows& rows,
                 MatrixView<const double> G, std::span<double> gradient) {
    std::vector<double> part(gradient.size());
    int64_t first = 0;
    rows.input_rows()->for_each_target(
        context_, [&](MatrixView<const double> X, std::span<const double>) {
          feature::pull_back_to_log_parameters<double>(map, X, G.block_rows(first, first + X.rows),
                                                       context_, part);
          for (size_t k = 0; k < part.size(); ++k) gradient[k] -= part[k];
          first += X.rows;
        });
  }

  const FeatureRows& rows_;
  const KernelParameters& at_;
  std::vector<int64_t> columns_;
  bool center_;
  Context& context_;
  std::vector<int64_t> every_;
  double most_ = 0;                                 // the largest ELBO,
  std::vector<std::vector<solver::RowSite>> best_;  // and its sites
};

/// A fit of one data set.
class SvgpFit {
 public:
  SvgpFit(const solver::BlockSource& rows, const EstimatorOptions& estimating,
          const SelectionOptions& selecting, Context& context)
      : rows_(rows),
        own_(estimating.parameters),
        selecting_(selecting),
        center_(estimating.center),
        context_(context),
        lambda_(selecting.lambda) {
    require(!rows.kernel_columns(), MERCER_UNSUPPORTED,
            "model = svgp of the kernel itself (map exact), expected a map of features");
    const std::vector<double> of_class = weight_of_classes(rows, context);
    require_two_classes(of_class);
    weight_ = std::accumulate(of_class.begin(), of_class.end(), 0.0);
    const Value* const batch = own_.find("batch");
    require(!rows.is_sequential() || batch == nullptr || std::get<int64_t>(*batch) >= rows.rows(),
            MERCER_UNSUPPORTED,
            "batch = %ld of a stream, whose rows come in one order, expected it left out: every "
            "step takes all rows",
            batch == nullptr ? 0 : std::get<int64_t>(*batch));
    const Value* const epochs = own_.find("epochs");
    require(epochs == nullptr || batch != nullptr || step_of(rows) < rows.rows(),
            MERCER_INVALID_ARGUMENT,
            "epochs = %ld without batch, where a step takes all %ld rows, expected it left out, or "
            "batch below that number",
            epochs == nullptr ? 0 : std::get<int64_t>(*epochs), rows.rows());
  }

  EstimatorFit run() {
    Stage stage(context_, kSvgpUnits);
    int64_t left = kSvgpUnits;
    if (selecting_.selection != Selection::fixed) {
      stage.part(kChoosingLambda, [&] { choose_lambda(); });
      left -= kChoosingLambda;
    }
    const bool exchangeable = !selecting_.ordered && rows_.groups().empty();
    ScoredRows scored;
    auto predictor = stage.part(exchangeable ? left : left / 2,
                                [&] { return fitted(rows_, exchangeable ? &scored : nullptr); });
    predictor->check();
    const double elbo = elbo_;
    if (!exchangeable) scored = stage.part(left / 2, [&] { return scores_of_splits(); });
    return {.predictor = std::move(predictor),
            .lambda = lambda_,
            .path = std::move(path_),
            .calibration = fit_calibration(scored, context_, Prior::softmax),
            .elbo = elbo};
  }

  /// rows: the given ones. No map: the bound is no larger.
  LearntKernel learnt(const FeatureRows& rows, const KernelParameters& start) {
    constexpr int64_t kStarting = 30;
    Stage stage(context_, kSvgpUnits);
    if (selecting_.selection != Selection::fixed) stage.part(kStarting, [&] { choose_lambda(); });
    return stage.part(kSvgpUnits - kStarting, [&] { return climbed(rows, start); });
  }

 private:
  int64_t processes() const { return processes_of(rows_.outputs()); }
  /// The column of the codes that process k tells apart.
  int64_t column(int64_t k) const { return rows_.outputs() == 2 ? 1 : k; }

  /// Whether there are rows of process k's class and of others.
  bool is_apart(const std::vector<double>& of_class, int64_t k) const {
    const double own = of_class[column(k)];
    return own > 0 && own < std::accumulate(of_class.begin(), of_class.end(), 0.0);
  }

  /// Rows of a step.
  int64_t step_of(const solver::BlockSource& rows) const {
    if (const Value* const batch = own_.find("batch")) return std::get<int64_t>(*batch);
    return rows.is_sequential() || rows.rows() <= kMostWhole ? rows.rows() : kBatch;
  }

  /// Largest lambda first, each from the fit before, until the ELBO falls; then beside the best.
  void choose_lambda() {
    const auto sample = sample_rows(all_rows(rows_.rows()), kChoosingRows, selecting_.seed);
    const auto some = rows_.subset(sample);
    const solver::RowSpace space(*some, context_);
    const auto cached = solver::make_cached(space.rows(), context_);
    const solver::BlockSource& rows = cached ? *cached : space.rows();
    std::vector<solver::VariationalProcess> each;
    for (const int64_t k : columns_apart(rows)) each.emplace_back(rows, k, center_);
    double n = static_cast<double>(rows.rows()), least = kInfinity;
    solver::reduce(rows, {&n, 1});
    Stage stage(context_, std::ssize(kTriedLambdas) + std::ssize(kBetween));
    const auto falls = [&](double lambda) {
      double elbo = 0;
      for (solver::VariationalProcess& one : each) {
        one.ascend(weight_ * lambda, kRoughly, context_);
        elbo += one.elbo();
      }
      path_.push_back({lambda, -elbo / n});
      stage.advance(1);
      if (path_.back().score >= least) return true;
      least = path_.back().score;
      lambda_ = lambda;
      return false;
    };
    for (const double lambda : kTriedLambdas)
      if (falls(selecting_.unit * lambda)) break;
    const double best = lambda_;
    for (const double factor : kBetween) falls(factor * best);
  }

  /// The columns of the processes of classes that have rows and others have.
  std::vector<int64_t> columns_apart(const solver::BlockSource& rows) const {
    const std::vector<double> of_class = weight_of_classes(rows, context_);
    std::vector<int64_t> columns;
    for (int64_t k = 0; k < processes(); ++k)
      if (is_apart(of_class, k)) columns.push_back(column(k));
    return columns;
  }

  /// From lambda_, which moves, too, unless it is given. No map: not above the start.
  LearntKernel climbed(const FeatureRows& all, const KernelParameters& at) {
    const auto sample = sample_rows(all_rows(all.rows()), kChoosingRows, selecting_.seed);
    const FeatureRows rows = all.chosen(sample);
    KernelBound bound(rows, at, columns_apart(rows), center_, context_);
    const bool given = selecting_.selection == Selection::fixed;
    std::vector<double> moves(at.count() + 1, 0.0);
    double start = kNaN;
    const auto value = [&](std::span<const double> x, std::span<double> gradient) {
      if (std::ranges::any_of(x, [](double move) { return !(std::abs(move) <= kFarthest); }))
        return kInfinity;
      const double at_x = value_or_infinite(
          [&] {
            return bound(x.first(x.size() - 1), weight_ * lambda_ * std::exp(x.back()), gradient);
          },
          std::isnan(start));
      if (given) gradient.back() = 0;
      if (std::isnan(start)) start = at_x;
      return at_x;
    };
    const auto end = linalg::minimize_lbfgs(
        value, moves,
        {.most_iterations = kLearningSteps, .gradient_tolerance = kFlat, .noise = kNoise},
        context_);
    if (!(end.value < start)) return {};
    return {at.map(std::span(moves).first(moves.size() - 1)), lambda_ * std::exp(moves.back())};
  }

  /// left_out: null, or where scores of rows left out go.
  std::shared_ptr<const SvgpPredictor> fitted(const solver::BlockSource& given,
                                              ScoredRows* left_out) {
    const int64_t step = step_of(given);
    const solver::RowSpace space(given, context_);
    const auto cached = solver::make_cached(space.rows(), context_);
    const solver::BlockSource& rows = cached ? *cached : space.rows();
    const Matrix<double> basis = space.reduces() ? space.basis(context_) : Matrix<double>();
    const auto sample = sample_rows(all_rows(rows.rows()), kScoredRows, selecting_.seed);
    const auto some = left_out == nullptr ? nullptr : rows.subset(sample);
    if (some) *left_out = unscored(*some);
    Stage stage(context_, processes());
    elbo_ = 0;
    std::vector<solver::LatentProcess> all;
    const std::vector<double> of_class = weight_of_classes(rows, context_);
    for (int64_t k = 0; k < processes(); ++k) {
      if (!is_apart(of_class, k)) {  // 1/(n + 2) of no rows, by the rule of succession
        const double f = std::log1p(weight_) * (of_class[column(k)] > 0 ? 1 : -1);
        all.push_back(certain_process(given.features(), f));
        for (int64_t i = 0; some && i < some->rows(); ++i)
          put_scores(f, 0, k,
                     {left_out->scores.view().row(i), static_cast<size_t>(rows.outputs())});
        continue;
      }
      solver::VariationalProcess one(rows, column(k), center_,
                                     some ? sample : std::vector<int64_t>());
      if (step < rows.rows()) {
        const Value* const epochs = own_.find("epochs");
        const int64_t passes = epochs == nullptr ? kEpochs : std::get<int64_t>(*epochs);
        one.follow(weight_ * lambda_, {step, passes, selecting_.seed}, context_);
      } else {
        one.ascend(weight_ * lambda_, kTolerance, context_);
      }
      if (some)
        one.left_out(*some, context_, [&](int64_t row, double mean, double variance) {
          put_scores(mean, variance, k,
                     {left_out->scores.view().row(row), static_cast<size_t>(rows.outputs())});
        });
      elbo_ += one.elbo();
      all.push_back(space.reduces() ? lifted(one.process(), basis.view(), context_) : one.take());
      stage.advance(1);
    }
    return std::make_shared<SvgpPredictor>(solver::LatentProcesses(std::move(all)));
  }

  /// Targets and weights, scores to come.
  ScoredRows unscored(const solver::BlockSource& some) const {
    return score_all(
        some, [](MatrixView<const double>, MatrixView<double>) {}, context_);
  }

  /// Rows that depend on each other would tell of the one left out.
  ScoredRows scores_of_splits() {
    std::vector<ScoredRows> parts;
    const std::vector<Split> splits = splits_of(rows_, selecting_, context_);
    Stage stage(context_, std::ssize(splits));
    for (const Split& split : splits) {
      const auto predictor = fitted(*rows_.subset(split.train), nullptr);
      parts.push_back(score_all(
          *rows_.subset(split.held_out),
          [&](MatrixView<const double> Z, MatrixView<double> scores) {
            predictor->predict(Z, scores);
          },
          context_));
    }
    return joined(parts, context_);
  }

  const solver::BlockSource& rows_;
  const Parameters& own_;
  const SelectionOptions& selecting_;
  bool center_;
  Context& context_;
  double lambda_, weight_ = 0, elbo_ = 0;  // elbo_: of the last fit
  std::vector<PathPoint> path_;
};

void check_svgp(const FitOptions& asked) {
  const Selection by = asked.select.selection;
  require(asked.coding.task == Task::classification, MERCER_UNSUPPORTED,
          "model = svgp of a regression, expected task = \"classification\", or model = gp");
  require(asked.outputs.structure == OutputStructure::independent, MERCER_UNSUPPORTED,
          "outputs with model = svgp, expected them left out: each class has its own process");
  require((by == Selection::fixed || by == Selection::evidence) && leaves_path(asked.select),
          MERCER_UNSUPPORTED,
          "select with model = svgp, expected it left out: lambda is between 0.3 and 3e-10 times "
          "the mean of k(x, x), by the "
          "variational bound of the evidence");
}

EstimatorFit fit_svgp(const solver::BlockSource& rows, const EstimatorOptions& estimating,
                      const TargetOptions&, const SelectionOptions& selecting, Context& context) {
  return SvgpFit(rows, estimating, selecting, context).run();
}

LearntKernel learn_svgp_kernel(const FeatureRows& rows, const EstimatorOptions& estimating,
                               const SelectionOptions& selecting, Context& context) {
  const KernelParameters start(*estimating.map);
  return SvgpFit(rows, estimating, selecting, context).learnt(rows, start);
}

std::shared_ptr<const Predictor> load_svgp(std::span<const std::vector<double>> numbers,
                                           int64_t features, int64_t classes) {
  return std::make_shared<SvgpPredictor>(
      solver::LatentProcesses(numbers[0], features, processes_of(classes)));
}

}  // namespace

const ModelEntry& svgp_model() {
  static const ModelEntry entry{
      .name = "svgp",
      .help =
          "variational Gaussian process classification with a logistic likelihood, one process "
          "for two classes, else K against the rest; 4 K r^2 bytes",
      .fields = {number_above_field("lambda", kOptional, 0, kUnbounded,
                                    "a weight's variance is 1/(n lambda); absent: by the "
                                    "variational bound of the evidence"),
                 count_field("batch", kOptional, 1e9,
                             "rows of a natural gradient step; absent: 2,000, of up to 10,000 rows "
                             "all"),
                 count_field(
                     "epochs", kOptional, 1e6,
                     "passes over the rows where a step takes fewer than all, else steps end where "
                     "the ELBO does; absent: 3"),
                 choice_field(kHyperparameters, "given", {"given", kLearnt},
                              "of the map's kernel: lengthscales, or gamma and offset; learnt by "
                              "the bound of up to 4,000 rows")},
      .sections = {"class_posteriors"},
      .selection = Selection::evidence,
      .fit = fit_svgp,
      .learn_kernel = learn_svgp_kernel,
      .check = check_svgp,
      .load = load_svgp,
      .separate_classes = true,
      .most_features = 1024};
  return entry;
}

}  // namespace mercer::model
