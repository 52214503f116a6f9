// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/operator_walk.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "model/rows/row_sets.h"
#include "solver/ridge.h"

namespace mercer::model {
namespace {

constexpr int64_t kTrialRows = 4000;
constexpr int64_t kTrialCoefficients = 1024;
constexpr int64_t kDown = 6, kUp = 4;
constexpr int64_t kLambdas = 21;  // odd, so that every second has both ends

/// The walk of one choice.
class Walk {
 public:
  Walk(const OperatorSearch& search, const OperatorMaker& maker, const OperatorRowsView& rows)
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
    // Where each costs steps, every second of those that nobody asked for.
    if (search.options.lambdas.empty() && solution(features_) == OperatorSolution::steps)
      for (size_t l = 1; l < lambdas_.size(); ++l)
        lambdas_.erase(lambdas_.begin() + static_cast<std::ptrdiff_t>(l));
  }

  OperatorChoice run() {
    const std::vector<double>& given = search_.options.lengthscales;
    // What all shapes share is had once: their features, where these are all that a fit takes.
    const bool together = cheap_shapes();
    const std::span<const double> first =
        together ? std::span<const double>(shapes_) : std::span<const double>(shapes_).first(1);
    if (!maker_.searches_lengthscale()) {
      visit(1, first);
    } else if (!given.empty()) {
      for (const double lengthscale : given) visit(lengthscale, first);
      const auto [least, most] = std::ranges::minmax(given);
      const double best = choice_.best.lengthscale;
      choice_.at_edge = least < most && (best == least || best == most);
    } else {
      climb(first);
    }
    if (!together && shapes_.size() > 1) {
      const double lengthscale = at_best();
      visit(lengthscale, std::span<const double>(shapes_).subspan(1));
      if (maker_.searches_lengthscale() && given.empty() && choice_.best.shape != shapes_[0])
        refine({&choice_.best.shape, 1});
    }
    require(std::isfinite(choice_.best.error), MERCER_NOT_CONVERGED,
            "no lengthscale, lambda and shape has a finite error on rows left out");
    return choice_;
  }

 private:
  OperatorSolution solution(int64_t features) const {
    return solution_for(*maker_.make(1, shapes_[0], features), rows_.Y, search_.context);
  }

  double at_best() const { return choice_.best.lengthscale > 0 ? choice_.best.lengthscale : 1; }

  /// Rows are fewer than coefficients: all of these, at the cost of the rows.
  int64_t trial_features() const {
    const auto map = maker_.make(1, shapes_[0], maker_.features());
    const int64_t D = map->scalar().features(), r = map->features();
    const bool scalar = solution_for(*map, rows_.Y, search_.context) == OperatorSolution::stein;
    const int64_t columns = scalar ? D : r;
    if (columns <= kTrialCoefficients || rows_.Y.rows * rows_.Y.cols <= kTrialCoefficients)
      return D;
    return std::max<int64_t>(2, D * kTrialCoefficients / columns / 2 * 2);
  }

  bool cheap_shapes() const {
    return maker_.separable() && solution(features_) == OperatorSolution::stein;
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

  const OperatorSearch& search_;
  const OperatorMaker& maker_;
  std::vector<double> lambdas_, shapes_;
  std::optional<PickedRows> picked_;
  OperatorRowsView rows_;
  int64_t features_ = 0;
  OperatorChoice choice_;
};

}  // namespace

PickedRows pick(const OperatorRowsView& rows, const std::vector<int64_t>& which, Context& context) {
  PickedRows some{Matrix<double>(std::ssize(which), rows.X.cols, context, "rows of a choice"),
                  Matrix<double>(std::ssize(which), rows.Y.cols, context, "rows of a choice")};
  for (int64_t i = 0; i < std::ssize(which); ++i) {
    std::copy_n(rows.X.row(which[static_cast<size_t>(i)]), rows.X.cols, some.X.view().row(i));
    std::copy_n(rows.Y.row(which[static_cast<size_t>(i)]), rows.Y.cols, some.Y.view().row(i));
  }
  return some;
}

std::vector<double> lambdas_of(const OperatorSearchOptions& options) {
  if (!options.lambdas.empty()) return options.lambdas;
  return solver::lambda_grid(kLargestLambda, kSmallestLambda, kLambdas);
}

OperatorChoice choose(const OperatorSearch& search, const OperatorMaker& maker,
                      const OperatorRowsView& rows) {
  return Walk(search, maker, rows).run();
}

}  // namespace mercer::model
