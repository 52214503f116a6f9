// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A choice is made of a part of the rows alone: their units, their Gamma, their lengthscale. So an
// assessment may make it again without the rows that it scores. Targets are learnt in units; the
// one scale of fields goes into theta afterwards.
#include "model/operator_search.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/finite.h"
#include "model/operator_score.h"
#include "model/operator_trial.h"
#include "model/phases.h"
#include "model/row_sets.h"
#include "solver/ridge.h"

namespace mercer::model {
namespace {

constexpr int64_t kTrialRows = 4000;
constexpr int64_t kTrialCoefficients = 1024;
constexpr int64_t kNestedRows = 400, kFolds = 5, kLeastRows = 10;
constexpr int64_t kManyRows = 5000, kMostUnseen = 10000;
constexpr int64_t kDown = 6, kUp = 4, kChoiceUnits = 16;
constexpr double kLargestLambda = 10, kSmallestLambda = 1e-9;
constexpr int64_t kLambdas = 21;

/// Rows that were picked, and the numbers of both.
struct Picked {
  Matrix<double> X, Y;
  OperatorRowsView view() const { return {X.view(), Y.view()}; }
};

Picked pick(const OperatorRowsView& rows, const std::vector<int64_t>& which, Context& context) {
  Picked some{Matrix<double>(std::ssize(which), rows.X.cols, context, "rows of a choice"),
              Matrix<double>(std::ssize(which), rows.Y.cols, context, "rows of a choice")};
  for (int64_t i = 0; i < std::ssize(which); ++i) {
    std::copy_n(rows.X.row(which[static_cast<size_t>(i)]), rows.X.cols, some.X.view().row(i));
    std::copy_n(rows.Y.row(which[static_cast<size_t>(i)]), rows.Y.cols, some.Y.view().row(i));
  }
  return some;
}

/// What a choice is made with, and where its candidates are told.
struct Search {
  const OperatorPlan& plan;
  const OperatorSearchOptions& options;
  Context& context;
  Phases& phases;
  std::vector<OperatorCandidate>* trials = nullptr;  // null: of an assessment
};

struct Choice {
  OperatorCandidate best;
  bool at_edge = false;
};

std::vector<double> lambdas_of(const OperatorSearchOptions& options) {
  if (!options.lambdas.empty()) return options.lambdas;
  return solver::lambda_grid(kLargestLambda, kSmallestLambda, kLambdas);
}

/// The walk of one choice.
class Walk {
 public:
  Walk(const Search& search, const OperatorMaker& maker, const OperatorRowsView& rows)
      : search_(search),
        maker_(maker),
        lambdas_(lambdas_of(search.options)),
        shapes_(search.options.shapes.empty() ? maker.shapes() : search.options.shapes) {
    search.phases.begin(kChoiceUnits);
    const int64_t n = rows.X.rows;
    if (n > kTrialRows)
      picked_ = pick(rows, sample_rows(all_rows(n), kTrialRows, search.plan.seed), search.context);
    rows_ = picked_ ? picked_->view() : rows;
    features_ = trial_features();
  }

  Choice run() {
    const std::vector<double>& given = search_.options.lengthscales;
    // What all shapes share is had once: their features, where these are all that a fit takes.
    const bool together = cheap_shapes();
    const std::span<const double> first =
        together ? std::span<const double>(shapes_) : std::span<const double>(shapes_).first(1);
    if (!maker_.searches_lengthscale()) {
      visit(1, first);
    } else if (!given.empty()) {
      for (const double lengthscale : given) visit(lengthscale, first);
    } else {
      climb(first);
    }
    if (!together && shapes_.size() > 1) {
      const double lengthscale = at_best();
      visit(lengthscale, std::span<const double>(shapes_).subspan(1));
      if (maker_.searches_lengthscale() && given.empty() && choice_.best.shape != shapes_[0])
        refine({&choice_.best.shape, 1});
    }
    return choice_;
  }

 private:
  double at_best() const { return choice_.best.lengthscale > 0 ? choice_.best.lengthscale : 1; }

  /// Rows are fewer than coefficients: all of these, at the cost of the rows.
  int64_t trial_features() const {
    const auto map = maker_.make(1, shapes_[0], maker_.features());
    const int64_t D = map->features(), r = map->coefficients();
    const bool scalar = solution_for(*map, rows_.Y, search_.context) == OperatorSolution::stein;
    const int64_t columns = scalar ? D : r;
    if (columns <= kTrialCoefficients || rows_.Y.rows * rows_.Y.cols <= kTrialCoefficients)
      return D;
    return std::max<int64_t>(2, D * kTrialCoefficients / columns / 2 * 2);
  }

  bool cheap_shapes() const {
    const auto map = maker_.make(1, shapes_[0], features_);
    return maker_.decomposable() &&
           solution_for(*map, rows_.Y, search_.context) == OperatorSolution::stein;
  }

  /// True if it is the best so far.
  bool visit(double lengthscale, std::span<const double> shapes) {
    const OperatorCandidate found = try_out(maker_, rows_, lengthscale, shapes, lambdas_, features_,
                                            search_.plan.seed, search_.context);
    search_.phases.advance(1);
    search_.context.checkpoint();
    if (search_.trials != nullptr) {
      search_.trials->push_back(found);
      if (search_.options.report != nullptr) search_.options.report(search_.options.user, found);
    }
    if (!(found.error < choice_.best.error)) return false;
    choice_.best = found;
    return true;
  }

  void climb(std::span<const double> shapes) {
    visit(maker_.central(), shapes);
    int64_t down = 0, up = 0;
    while (down < kDown && visit(at_best() / 2, shapes)) ++down;
    while (down == 0 && up < kUp && visit(at_best() * 2, shapes)) ++up;
    choice_.at_edge = down == kDown || up == kUp;
    refine(shapes);
  }

  void refine(std::span<const double> shapes) {
    const std::vector<double> kept(shapes.begin(), shapes.end());
    const double center = at_best();
    if (!visit(center / std::sqrt(2.0), kept)) visit(center * std::sqrt(2.0), kept);
  }

  const Search& search_;
  const OperatorMaker& maker_;
  std::vector<double> lambdas_, shapes_;
  std::optional<Picked> picked_;
  OperatorRowsView rows_;
  int64_t features_ = 0;
  Choice choice_;
};

/// With all rows and features: lambda, and where it costs no more the shape, again, then theta.
OperatorModel settle(const Search& search, const OperatorMaker& maker, const OperatorRowsView& rows,
                     const Choice& choice, OperatorCandidate* chosen) {
  Context& context = search.context;
  const OperatorCandidate& best = choice.best;
  const double lengthscale = best.lengthscale > 0 ? best.lengthscale : 1;
  OperatorCandidate last = best;
  auto map = maker.make(lengthscale, best.shape, maker.features());
  const bool same = map->features() == best.features && rows.X.rows == best.rows;
  if (!same && solution_for(*map, rows.Y, context) != OperatorSolution::steps) {
    last = try_out(maker, rows, lengthscale, {&best.shape, 1}, lambdas_of(search.options),
                   maker.features(), search.plan.seed, context);
  }
  search.phases.advance(1);
  OperatorModel model;
  model.theta = fit_candidate(*map, rows, last.lambda, context);
  model.lambda = last.lambda;
  model.loss = "squares";
  model.map = std::move(map);
  model.offset = maker.units().mean;
  if (maker.own_scales()) {
    model.scale = maker.units().scale;
  } else {
    for (double& t : model.theta) t *= maker.units().scale[0];
  }
  last.features = model.map->features();
  last.rows = rows.X.rows;
  if (chosen != nullptr) *chosen = last;
  return model;
}

/// A model of some rows with all that is chosen by them.
OperatorModel learn(const Search& search, const OperatorRowsView& rows) {
  const OperatorMaker maker(search.plan, rows.X, rows.Y, search.context);
  const Matrix<double> scaled = in_units(rows.Y, maker.units(), search.context);
  const OperatorRowsView own{rows.X, scaled.view()};
  return settle(search, maker, own, Walk(search, maker, own).run(), nullptr);
}

Matrix<double> predictions(const OperatorModel& model, MatrixView<const double> X,
                           Context& context) {
  Matrix<double> out(X.rows, model.map->outputs(), context, "predictions of rows held out");
  predict(model, X, operators::FieldKind::value, context, out.view());
  return out;
}

bool is_independent(const OperatorPlan& plan, int64_t p) {
  const Value* gamma = plan.spec.find("gamma");
  if (gamma == nullptr) return p == 1 && plan.spec.text("operator") == "decomposable";
  const std::vector<double> G = plan.spec.numbers("gamma");
  for (int64_t j = 0; j < std::ssize(G); ++j)
    if (j % (p + 1) != 0 ? G[static_cast<size_t>(j)] != 0 : G[static_cast<size_t>(j)] != G[0])
      return false;
  return true;
}

/// The same kernel, features and seed with outputs that know nothing of each other.
OperatorPlan independent_plan(const OperatorPlan& plan) {
  OperatorPlan other;
  other.seed = plan.seed;
  other.structure = OutputStructure::independent;
  other.spec.set("operator", "decomposable");
  for (const char* key : {"kernel", "features", "seed", "projection", "radius", "scramble"})
    if (const Value* value = plan.spec.find(key)) other.spec.set(key, *value);
  return other;
}

/// Models of `train` as they predict `test`.
void score_split(const Search& search, const OperatorRowsView& rows, const Split& split,
                 OperatorErrors& errors) {
  const Picked train = pick(rows, split.train, search.context);
  const Picked test = pick(rows, split.held_out, search.context);
  const OperatorModel own = learn(search, train.view());
  std::optional<Matrix<double>> other;
  if (!is_independent(search.plan, rows.Y.cols)) {
    const OperatorPlan plan = independent_plan(search.plan);
    OperatorSearchOptions options = search.options;
    options.shapes.clear();
    const Search independent{plan, options, search.context, search.phases};
    other = predictions(learn(independent, train.view()), test.X.view(), search.context);
  }
  errors.add(train.Y.view(), test.Y.view(), predictions(own, test.X.view(), search.context).view(),
             other ? other->view() : MatrixView<const double>());
}

std::vector<int64_t> observed_rows(MatrixView<const double> Y) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < Y.rows; ++i)
    if (std::any_of(Y.row(i), Y.row(i) + Y.cols, [](double y) { return !std::isnan(y); }))
      rows.push_back(i);
  return rows;
}

std::vector<Split> splits_of(const std::vector<int64_t>& rows, uint64_t seed) {
  const int64_t n = std::ssize(rows);
  if (n <= kNestedRows) return fold_splits(rows, kFolds, seed);
  return {split_rows(rows, n > kManyRows ? 0.1 : 0.2, kMostUnseen, seed, Purpose::unseen)};
}

void check_list(const char* name, const std::vector<double>& numbers, bool positive) {
  for (const double number : numbers)
    require(std::isfinite(number) && (positive ? number > 0 : number >= 0), MERCER_INVALID_ARGUMENT,
            "%s holds %g, expected finite numbers %s 0", name, number, positive ? ">" : ">=");
}

void check(const OperatorSearchOptions& options, const OperatorMaker& maker) {
  check_list("lengthscales", options.lengthscales, true);
  check_list("lambdas", options.lambdas, true);
  require(options.lengthscales.empty() || maker.searches_lengthscale(), MERCER_INVALID_ARGUMENT,
          "%zu lengthscales, expected none: the spec's kernel has its own, or none",
          options.lengthscales.size());
  for (const double shape : options.shapes) maker.check_shape(shape);
}

}  // namespace

OperatorModel search_operator(const OperatorPlan& plan, const OperatorSearchOptions& options,
                              MatrixView<const double> X, MatrixView<const double> Y,
                              Context& context, OperatorReport& report) {
  require_summable("X", X);
  require_summable("Y", Y, MissingNumbers::allowed);
  const OperatorRowsView all{X, Y};
  const std::vector<int64_t> rows = observed_rows(Y);
  require(std::ssize(rows) >= 2, MERCER_INVALID_ARGUMENT,
          "%zu rows with an observed target, expected at least 2", rows.size());
  const Picked seen = pick(all, rows, context);
  const OperatorMaker maker(plan, seen.X.view(), seen.Y.view(), context);
  check(options, maker);
  const bool assess = options.assess && std::ssize(rows) >= kLeastRows;
  const std::vector<Split> splits =
      assess ? splits_of(all_rows(std::ssize(rows)), plan.seed) : std::vector<Split>();
  const bool twice = !is_independent(plan, Y.cols);
  Phases phases(context, (1 + std::ssize(splits) * (twice ? 2 : 1)) * kChoiceUnits);
  OperatorErrors errors(Y.cols);
  for (const Split& split : splits)
    score_split({plan, options, context, phases}, seen.view(), split, errors);
  const Search search{plan, options, context, phases, &report.trials};
  const Matrix<double> scaled = in_units(seen.Y.view(), maker.units(), context);
  const OperatorRowsView own{seen.X.view(), scaled.view()};
  const Choice choice = Walk(search, maker, own).run();
  OperatorModel model = settle(search, maker, own, choice, &report.chosen);
  report.has_shape = maker.shapes().size() > 1;
  report.score = errors.score(std::ssize(splits) > 1);
  report.warnings =
      operator_warnings(report, choice.at_edge, options.lambdas.empty() ? kLargestLambda : 0,
                        options.lambdas.empty() ? kSmallestLambda : 0);
  return model;
}

}  // namespace mercer::model
