// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A choice is made of a part of the rows alone: their units, their Gamma, their lengthscale. So an
// assessment may make it again without the rows that it scores. Targets are learnt in units; the
// one scale of fields goes into theta afterwards.
#include "model/outputs/operator_search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/error.h"
#include "base/finite.h"
#include "feature/field/field_makers.h"
#include "model/outputs/operator_fit.h"
#include "model/outputs/operator_halves.h"
#include "model/outputs/operator_score.h"
#include "model/outputs/operator_walk.h"
#include "model/rows/row_sets.h"

namespace mercer::model {
namespace {

constexpr int64_t kNestedRows = 400, kFolds = 5, kLeastRows = 10;
constexpr int64_t kUnits = 1000;  // of progress
constexpr int64_t kFarFewer = 2;  // coefficients than targets
constexpr int64_t kManyRows = 5000, kMostUnseen = 10000;

/// With all rows and features: lambda again, then theta.
OperatorModel settle(const OperatorSearch& search, const OperatorMaker& maker,
                     const OperatorRowsView& rows, const OperatorChoice& choice,
                     OperatorCandidate* chosen) {
  Context& context = search.context;
  const OperatorCandidate& best = choice.best;
  const double lengthscale = best.lengthscale > 0 ? best.lengthscale : 1;
  OperatorCandidate last = best;
  auto map = maker.make(lengthscale, best.shape, maker.features());
  const bool same = map->scalar().features() == best.features && rows.X.rows == best.rows;
  if (!same) {
    std::vector<double> lambdas = lambdas_of(search.options);
    // Steps of their own for each: few, around what was chosen.
    if (solution_for(*map, rows.Y, context) == OperatorSolution::steps &&
        search.options.lambdas.empty())
      lambdas = {10 * best.lambda, best.lambda, best.lambda / 10};
    last = try_out(maker, rows, lengthscale, {&best.shape, 1}, lambdas, maker.features(),
                   search.plan.seed, context);
  }
  search.phases.advance(1);
  OperatorModel model;
  model.theta = fit_candidate(*map, rows, last.lambda, context);
  model.lambda = last.lambda;
  model.rows = rows.X.rows;
  model.map = std::move(map);
  model.offset = maker.units().mean;
  if (maker.own_scales()) {
    model.scale = maker.units().scale;
  } else {
    for (double& t : model.theta) t *= maker.units().scale[0];
  }
  last.features = model.map->scalar().features();
  last.rows = rows.X.rows;
  if (chosen != nullptr) *chosen = last;
  return model;
}

struct Learnt {
  OperatorModel model;
  OperatorChoice choice;
};

/// A model of some rows with all that is chosen by them; known: but this, which others have chosen.
Learnt learn(const OperatorSearch& search, const OperatorRowsView& rows,
             const OperatorChoice* known = nullptr, OperatorCandidate* chosen = nullptr) {
  const OperatorMaker maker(search.plan, rows.X, rows.Y, search.context);
  const Matrix<double> scaled = in_units(rows.Y, maker.units(), search.context);
  const OperatorRowsView own{rows.X, scaled.view()};
  const OperatorChoice choice = known != nullptr ? *known : choose(search, maker, own);
  return {settle(search, maker, own, choice, chosen), choice};
}

Matrix<double> predictions(const OperatorModel& model, MatrixView<const double> X,
                           Context& context) {
  Matrix<double> out(X.rows, model.map->outputs(), context, "predictions of rows held out");
  predict(model, X, feature::FieldKind::value, context, out.view());
  return out;
}

bool is_independent(const OperatorPlan& plan, int64_t p) {
  const Parameters& kernel = plan.spec.object("kernel");
  if (kernel.find("gamma") == nullptr)
    return p == 1 && kernel::kernel_entry(kernel).outputs == kernel::OutputCount::gamma;
  const std::vector<double> G = kernel.numbers("gamma");
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
  const Parameters& field = plan.spec.object("kernel");
  Parameters kernel{{"kernel", "decomposable"}};
  if (const Value* scalar = field.find("scalar")) kernel.set("scalar", *scalar);
  const auto of_fields = feature::field_fourier_fields();
  for (const auto& [key, value] : plan.spec.entries())
    if (std::ranges::none_of(of_fields, [&](const Field& own) { return key == own.key; }))
      other.spec.set(key, value);
  other.spec.set("kernel", std::make_shared<const Parameters>(kernel));
  return other;
}

/// Models of split.train as they predict split.held_out; what was chosen.
OperatorChoice score_split(const OperatorSearch& search, const OperatorRowsView& rows,
                           const Split& split, OperatorErrors& errors) {
  const PickedRows train = pick(rows, split.train, search.context);
  const PickedRows test = pick(rows, split.held_out, search.context);
  OperatorPlan of_part = search.plan;
  of_part.of_part = true;
  const OperatorSearch part{of_part, search.options, search.context, search.phases, search.trials};
  const Learnt own = learn(part, train.view());
  std::optional<Matrix<double>> other;
  if (!is_independent(search.plan, rows.Y.cols)) {
    const OperatorPlan plan = independent_plan(search.plan);
    OperatorSearchOptions options = search.options;
    options.shapes.clear();
    const OperatorSearch independent{plan, options, search.context, search.phases};
    other = predictions(learn(independent, train.view()).model, test.X.view(), search.context);
  }
  errors.add(train.Y.view(), test.Y.view(),
             predictions(own.model, test.X.view(), search.context).view(),
             other ? other->view() : MatrixView<const double>());
  return own.choice;
}

std::vector<Split> splits_of(const std::vector<int64_t>& rows, uint64_t seed) {
  const int64_t n = std::ssize(rows);
  if (n <= kNestedRows) return fold_splits(rows, kFolds, seed);
  return {split_rows(rows, n > kManyRows ? 0.1 : 0.2, kMostUnseen, seed, Purpose::unseen)};
}

int64_t observed_targets(MatrixView<const double> Y) {
  int64_t count = 0;
  for (int64_t i = 0; i < Y.rows; ++i)
    count += std::count_if(Y.row(i), Y.row(i) + Y.cols, [](double y) { return !std::isnan(y); });
  return count;
}

/// Of targets without a variance, as plain fits have it.
void warn_of_constants(MatrixView<const double> Y, std::vector<std::string>& warnings) {
  for (int64_t k = 0; k < Y.cols; ++k) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (int64_t i = 0; i < Y.rows; ++i)
      if (!std::isnan(Y(i, k))) least = std::min(least, Y(i, k)), most = std::max(most, Y(i, k));
    if (least != most) continue;
    char text[96];
    std::snprintf(text, sizeof text, "target %lld is %g in every row",
                  static_cast<long long>(k + 1), least);
    warnings.push_back(text);
  }
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
  Stage whole(context, kUnits);  // of which nothing before the phases counts
  const PickedRows seen = pick(all, rows, context);
  const OperatorMaker maker(plan, seen.X.view(), seen.Y.view(), context);
  check(options, maker);
  const auto map = maker.make(1, maker.shapes().front(), maker.features());
  require_inputs(*map, "X", X);  // by the rows' numbers as they were given
  const bool assess = options.assess && std::ssize(rows) >= kLeastRows;
  const std::vector<Split> splits =
      assess ? splits_of(all_rows(std::ssize(rows)), plan.seed) : std::vector<Split>();
  const bool nested = splits.size() > 1, twice = !is_independent(plan, Y.cols);
  whole.share(kUnits);
  Phases phases(context, (1 + std::ssize(splits) * (twice ? 2 : 1)) * kChoiceUnits);
  const OperatorSearch unseen{plan, options, context, phases},
      told{plan, options, context, phases, &report.trials};
  OperatorErrors errors(output_units(seen.Y.view(), OutputScale::own).scale);
  // Of many rows those that are not scored have chosen; the scored ones join the fit.
  std::optional<OperatorChoice> choice;
  for (const Split& split : splits) {
    const OperatorChoice of_part = score_split(nested ? unseen : told, seen.view(), split, errors);
    if (!nested) choice = of_part;
  }
  phases.begin(choice ? 1 : 0);
  Learnt last = learn(told, seen.view(), choice ? &*choice : nullptr, &report.chosen);
  report.has_shape = maker.shapes().size() > 1;
  report.score = errors.score(nested);
  const auto [least, most] = std::ranges::minmax(lambdas_of(options));
  const bool searched = least < most;
  report.warnings =
      operator_warnings(report, last.choice.at_edge, searched ? most : 0, searched ? least : 0,
                        last.model.map->features() < observed_targets(Y) / kFarFewer);
  warn_of_constants(Y, report.warnings);
  if (options.assess && !assess)
    report.warnings.push_back("there is no score: " + std::to_string(rows.size()) +
                              " rows have a target, expected at least " +
                              std::to_string(kLeastRows));
  return std::move(last.model);
}

}  // namespace mercer::model
