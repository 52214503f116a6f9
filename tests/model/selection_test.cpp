// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The score of every lambda against plain refits. Systems of condition up to 1/lambda = 1e5 leave
// about 1e-9 of the scores; GCV and leave-one-out divide residuals by 1 - H, which is above 0.01
// here: 1e-6 is allowed, relative.
#include "model/select/selection.h"

#include "model_problem.h"
#include "support/catch.h"

namespace selection_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

struct Shape {
  int64_t n, D;
};
const Shape kShapes[] = {{150, 40}, {50, 80}};  // primal, dual

FitOptions path_options(Selection selection) {
  FitOptions options;
  options.select.selection = selection;
  options.estimate.precision = feature::Precision::f64;
  options.select.lambda_largest = 1e-1;
  options.select.lambda_smallest = 1e-5;
  options.select.lambda_count = 9;
  options.select.folds = 4;
  options.select.held_out_fraction = 0.2;
  options.select.seed = 17;
  return options;
}

double squared_error(const Matrix<double>& scores, const Matrix<double>& Y) {
  double sum = 0;
  for (int64_t i = 0; i < Y.rows() * Y.cols(); ++i) {
    sum += (scores.data()[i] - Y.data()[i]) * (scores.data()[i] - Y.data()[i]);
  }
  return sum;  // over rows and outputs
}

/// Sum of squared errors on `fold` of a fit on the others; its own n unless a shift is given.
double fold_error(const Matrix<double>& Z, const Matrix<double>& Y,
                  const std::vector<int64_t>& fold, double lambda, double shift = -1) {
  const auto train = rows_without(Z.rows(), fold);
  const double added = shift >= 0 ? shift : static_cast<double>(train.size()) * lambda;
  return squared_error(plain_ridge(rows_of(Z, train), rows_of(Y, train), added, rows_of(Z, fold)),
                       rows_of(Y, fold));
}

/// GCV from the smoother matrix itself, H = the predictions of unit vectors.
double plain_gcv(const Matrix<double>& Z, const Matrix<double>& Y, double lambda) {
  const int64_t n = Z.rows();
  Matrix<double> identity(n, n);
  identity.fill(0);
  for (int64_t i = 0; i < n; ++i) identity(i, i) = 1;
  const double shift = static_cast<double>(n) * lambda;
  const Matrix<double> H = plain_ridge(Z, identity, shift, Z);
  double left = static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) left -= H(i, i);
  return static_cast<double>(n) * squared_error(plain_ridge(Z, Y, shift, Z), Y) / (left * left);
}

double plain_score(const FitOptions& options, const Matrix<double>& Z, const Matrix<double>& Y,
                   double lambda) {
  const int64_t n = Z.rows();
  double sum = 0;
  switch (options.select.selection) {
    case Selection::held_out: {
      const auto held =
          split_rows(all_rows(n), options.select.held_out_fraction, n, options.select.seed)
              .held_out;
      return fold_error(Z, Y, held, lambda) / static_cast<double>(held.size());
    }
    case Selection::folds:
      for (const auto& fold : fold_rows(n, options.select.folds, options.select.seed)) {
        sum += fold_error(Z, Y, fold, lambda);
      }
      return sum / static_cast<double>(n);
    case Selection::leave_one_out:
      for (int64_t i = 0; i < n; ++i) {
        sum += fold_error(Z, Y, {i}, lambda, static_cast<double>(n) * lambda);
      }
      return sum / static_cast<double>(n);
    default:
      return plain_gcv(Z, Y, lambda);
  }
}

/// The paired rule written out: of all lambdas, largest first, whose left-out squares exceed the
/// least by no more than the standard error of that difference, the first.
size_t plain_one_standard_error_choice(const FitOptions& options, const Matrix<double>& Z,
                                       const Matrix<double>& Y,
                                       const std::vector<PathPoint>& path) {
  const int64_t n = Z.rows();
  std::vector<std::vector<double>> losses;
  std::vector<double> means;
  for (const PathPoint& point : path) {
    losses.emplace_back();
    for (int64_t i = 0; i < n; ++i)
      losses.back().push_back(
          fold_error(Z, Y, {i}, point.lambda, static_cast<double>(n) * point.lambda));
    means.push_back(std::accumulate(losses.back().begin(), losses.back().end(), 0.0) /
                    static_cast<double>(n));
  }
  CHECK(options.select.selection == Selection::leave_one_out);
  const auto best =
      static_cast<size_t>(std::min_element(means.begin(), means.end()) - means.begin());
  for (size_t k = 0; k < best; ++k) {
    double squares = 0;
    for (size_t i = 0; i < losses[k].size(); ++i) {
      const double d = losses[k][i] - losses[best][i] - (means[k] - means[best]);
      squares += d * d;
    }
    const auto count = static_cast<double>(n);
    if (means[k] - means[best] <= std::sqrt(squares / (count - 1) / count)) return k;
  }
  return best;
}

TEST_CASE(
    "every selection scores its path as plain refits do, and takes the least or the simplest") {
  double worst = 0;
  int wrong_choice = 0, simpler = 0;
  for (const Shape shape : kShapes) {
    const Problem problem = smooth_problem(shape.n, 3, 2, 0.3, 21);
    for (const Selection selection :
         {Selection::held_out, Selection::folds, Selection::gcv, Selection::leave_one_out}) {
      const FitOptions options = path_options(selection);
      const Model model = fit(gaussian_map(3, shape.D), options, problem);
      REQUIRE(model.path.size() == 9);
      const Matrix<double> Z = plain_features(*model.map, problem.x(), model.preparation);
      std::vector<double> plain;
      for (const PathPoint& point : model.path) {
        plain.push_back(plain_score(options, Z, problem.Y, point.lambda));
        worst = std::max(worst, std::abs(point.score / plain.back() - 1));
      }
      const auto least =
          static_cast<size_t>(std::min_element(plain.begin(), plain.end()) - plain.begin());
      const size_t expected =
          selection == Selection::leave_one_out
              ? plain_one_standard_error_choice(options, Z, problem.Y, model.path)
              : least;
      simpler += selection == Selection::leave_one_out && expected != least;
      wrong_choice += model.fit.select.lambda != model.path[expected].lambda;
    }
  }
  CHECK(worst < 1e-6);
  CHECK(wrong_choice == 0);
  CHECK(simpler > 0);  // else the rule was not seen at work
}

TEST_CASE("the model is fitted on all rows with the chosen lambda") {
  double worst = 0;
  for (const Shape shape : kShapes) {
    const Problem problem = smooth_problem(shape.n, 3, 2, 0.3, 22);
    for (const Selection selection :
         {Selection::held_out, Selection::folds, Selection::gcv, Selection::leave_one_out}) {
      const Model chosen = fit(gaussian_map(3, shape.D), path_options(selection), problem);
      const Matrix<double> Z = plain_features(*chosen.map, problem.x(), chosen.preparation);
      const double shift = static_cast<double>(shape.n) * chosen.fit.select.lambda;
      worst = std::max(worst, largest_difference(predictions(chosen, problem.x()),
                                                 plain_ridge(Z, problem.Y, shift, Z)));
    }
  }
  CHECK(worst < 1e-8);
}

TEST_CASE("ends of a path: what matters of them") {
  const auto told = [](std::vector<double> scores, double lambda, bool interpolates = false,
                       Selection by = Selection::leave_one_out) {
    const std::vector<PathPoint> path = {{10, scores[0]}, {1, scores[1]}, {0.1, scores[2]}};
    const auto found = end_warnings(path, {.selection = by, .lambda = lambda}, 1, interpolates);
    return found.empty() ? "" : found[0];
  };
  const auto has = [](const std::string& all, const char* words) {
    return all.find(words) != std::string::npos;
  };
  CHECK(told({1, 0.5, 0.6}, 1) == "");
  CHECK(has(told({0.9, 1, 1}, 10), "nearly constant"));
  CHECK(has(told({1, 0.5, 0.49}, 0.1), "smallest that was tried, and scores still fall"));
  CHECK(told({1, 0.5, 0.499}, 0.1) == "");
  CHECK(has(told({1, 0.5, 0.499}, 0.1, true), "nearly interpolates"));
  CHECK(told({1, 6e-4, 5e-4}, 0.1, true) == "");  // there is no noise
  // Half a logarithm: of -3 a difference of .02 is 4 % of what it is the logarithm of.
  CHECK(has(told({-2, -2.98, -3}, 0.1, false, Selection::evidence), "still fall"));
  CHECK(told({-2, -2.999, -3}, 0.1, false, Selection::evidence) == "");
}

TEST_CASE("best_point takes the first of equal scores and passes over NaN") {
  CHECK(best_point({{3, 2.0}, {2, 1.0}, {1, 1.0}}).lambda == 2);
  CHECK(best_point({{3, NAN}, {2, 5.0}, {1, NAN}}).lambda == 2);
  CHECK(best_point({{3, INFINITY}, {2, INFINITY}}).lambda == 3);
}

TEST_CASE("folds of classes hold as many rows of each, and score as plain refits do") {
  constexpr int64_t n = 103;
  Problem problem = smooth_problem(n, 3, 1, 0.3, 23);
  for (int64_t i = 0; i < n; ++i) problem.Y(i, 0) = i % 20 == 0 ? 2 : problem.Y(i, 0) > 0 ? 1 : 0;
  FitOptions options = path_options(Selection::folds);
  options.coding.task = Task::classification;
  options.coding.classes = 3;
  options.prepare.standardize = false;
  const auto map = gaussian_map(3, 24);
  const Model model = fit(map, options, problem);
  std::vector<double> classes;
  for (int64_t i = 0; i < n; ++i) classes.push_back(problem.Y(i, 0));
  const auto folds = fold_rows(n, options.select.folds, options.select.seed, classes);
  for (const auto& fold : folds)
    CHECK(std::ranges::count(fold, 2.0, [&](int64_t i) { return problem.Y(i, 0); }) >= 1);
  CHECK(folds != fold_rows(n, options.select.folds, options.select.seed));
  FitOptions fixed = options;
  fixed.select.selection = Selection::fixed;
  for (const PathPoint& point : model.path) {
    double wrong = 0;
    fixed.select.lambda = point.lambda;
    for (const auto& fold : folds) {
      const std::vector<int64_t> train = rows_without(n, fold);
      Problem part{Matrix<double>(std::ssize(train), 3), Matrix<double>(std::ssize(train), 1)};
      for (size_t k = 0; k < train.size(); ++k) {
        const auto row = static_cast<int64_t>(k);
        std::copy_n(problem.x().row(train[k]), 3, part.X.view().row(row));
        part.Y(row, 0) = problem.Y(train[k], 0);
      }
      const Model refit = fit(map, fixed, part);
      const Matrix<double> scores = predictions(refit, problem.x());
      for (const int64_t i : fold) {
        const double* of_row = scores.view().row(i);
        wrong +=
            static_cast<double>(std::max_element(of_row, of_row + 3) - of_row) != problem.Y(i, 0);
      }
    }
    CHECK(std::abs(point.score - wrong / n) < 1e-9);
  }
}

}  // namespace selection_test
