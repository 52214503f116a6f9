// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Only ratios of weights count: in every kind of fit, weights times a constant are those weights.
#include "kernel/kernel.h"
#include "model/row_stream.h"
#include "model_problem.h"
#include "support/catch.h"
#include "support/fit.h"
#include "support/thread_reduction.h"

namespace weight_ratios_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

constexpr int64_t kRows = 120, kInputs = 3;
constexpr double kPower = 0x1p500;

using Weights = std::vector<double>;

Weights uneven() {
  Weights weights;
  for (int64_t i = 0; i < kRows; ++i) weights.push_back(static_cast<double>(i % 4) / 3);
  return weights;
}

Weights times(Weights weights, double factor) {
  for (double& weight : weights) weight *= factor;
  return weights;
}

/// Blocks of 50 rows, from `first` on to `last`.
struct Stream final : RowStream {
  Stream(const Problem& rows, Weights own, int64_t begin = 0, int64_t end = kRows,
         solver::Reduction* shared = nullptr)
      : problem(rows), weights(std::move(own)), first(begin), last(end), sums(shared) {}
  void rewind() override { at = first; }
  bool weighted() const override { return true; }
  Block next() override {
    const int64_t i0 = at;
    at = std::min(at + 50, last);
    return {Rows(problem.x()).block_rows(i0, at), problem.y().block_rows(i0, at),
            std::span<const double>(weights).subspan(i0, at - i0)};
  }
  solver::Reduction* reduction() const override { return sums; }
  const Problem& problem;
  Weights weights;
  int64_t first, last, at = 0;
  solver::Reduction* sums;
};

Problem two_classes() {
  Problem problem = smooth_problem(kRows, kInputs, 1, 0.4, 91);
  for (int64_t i = 0; i < kRows; ++i) problem.Y(i, 0) = problem.Y(i, 0) > 0.3 ? 1 : 0;
  return problem;
}

/// Scores at the training rows, and of classes probabilities beside them.
std::vector<double> told_by(const Model& model, const Problem& problem) {
  const Matrix<double> scores = predictions(model, problem.x());
  std::vector<double> told(scores.data(), scores.data() + scores.rows() * scores.cols());
  if (!model.calibration.empty()) model.calibration.apply(scores.view());
  told.insert(told.end(), scores.data(), scores.data() + scores.rows() * scores.cols());
  told.push_back(std::log(model.fit.select.lambda));
  return told;
}

double apart(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && most < INFINITY; ++i)
    most = a[i] == b[i] ? most : std::max(most, std::abs(a[i] - b[i]));
  return std::isnan(std::accumulate(b.begin(), b.end(), 0.0)) ? INFINITY : most;
}

/// What `told` says of weights and of multiples: "" if the same bits for powers of two, and the
/// same numbers to rounding for others.
template <class Told>
std::string fault(const Told& told, double rounding = 1e-6) {
  const Weights uneven_ones = uneven(), ones(kRows, 1.0);
  const std::vector<double> expected = told(uneven_ones), plain = told(ones);
  std::string faults;
  const auto expect = [&](const char* what, double difference, double most) {
    if (difference <= most) return;
    faults += std::string(what) + " " + std::to_string(difference) + "; ";
  };
  expect("2^500", apart(expected, told(times(uneven_ones, kPower))), 0);
  expect("2^-500", apart(expected, told(times(uneven_ones, 1 / kPower))), 0);
  expect("1e170", apart(expected, told(times(uneven_ones, 1e170))), rounding);
  expect("1e-170", apart(expected, told(times(uneven_ones, 1e-170))), rounding);
  expect("all 1e-323", apart(plain, told(Weights(kRows, 1e-323))), rounding);
  expect("all 7e199", apart(plain, told(Weights(kRows, 7e199))), rounding);
  return faults;
}

TEST_CASE("only ratios of weights count in a fit, by every selection", "[weights]") {
  const Problem numbers = smooth_problem(kRows, kInputs, 2, 0.3, 90), classes = two_classes();
  for (const Selection selection : {Selection::fixed, Selection::gcv, Selection::leave_one_out,
                                    Selection::held_out, Selection::folds})
    for (const int64_t D : {24, 160})  // the second: the dual form
      for (const bool of_classes : {false, true}) {
        const Problem& problem = of_classes ? classes : numbers;
        FitOptions options = f64_options(selection);
        options.select.lambda_smallest = 1e-6;
        options.select.lambda_count = 7;
        if (of_classes) options.coding.task = Task::classification;
        if (of_classes) options.coding.classes = 2;
        CAPTURE(static_cast<int>(selection), D, of_classes);
        CHECK(fault([&](const Weights& weights) {
                return told_by(fit(gaussian_map(kInputs, D), options, problem, weights), problem);
              }) == "");
      }
}

TEST_CASE("only ratios of weights count in a logistic fit", "[weights]") {
  const Problem problem = two_classes();
  FitOptions options = f64_options(Selection::held_out);
  options.coding.task = Task::classification;
  options.coding.classes = 2;
  options.select.lambda_smallest = 1e-4;
  options.select.lambda_count = 4;
  options.estimate.entry = &logistic_model();
  options.estimate.parameters = default_parameters(logistic_model());
  CHECK(fault(
            [&](const Weights& weights) {
              return told_by(fit(gaussian_map(kInputs, 16), options, problem, weights), problem);
            },
            1e-3) == "");
}

TEST_CASE("only ratios of weights count in a search", "[weights]") {
  const Problem numbers = smooth_problem(kRows, kInputs, 1, 0.3, 92), classes = two_classes();
  for (const bool of_classes : {false, true}) {
    const Problem& problem = of_classes ? classes : numbers;
    SearchOptions options;
    options.features = 24;
    options.fit.estimate.precision = feature::Precision::f64;
    if (of_classes) options.fit.coding.task = Task::classification;
    if (of_classes) options.fit.coding.classes = 2;
    CHECK(fault([&](const Weights& weights) {
            const Model model = search(OneLengthscale{kInputs}, options, problem, weights);
            std::vector<double> told = told_by(model, problem);
            told.push_back(model.report.assessment.score);
            told.push_back(model.report.assessment.standard_error);
            return told;
          }) == "");
  }
}

TEST_CASE("only ratios of weights count in a stream, also of processes that share it",
          "[weights]") {
  const Problem problem = smooth_problem(kRows, kInputs, 1, 0.3, 94);
  const auto map = gaussian_map(kInputs, 24);
  for (const Selection selection : {Selection::gcv, Selection::leave_one_out, Selection::folds}) {
    const FitOptions options = f64_options(selection);
    const auto alone = [&](const Weights& weights) {
      Context context;
      Stream stream(problem, weights);
      return told_by(fit_stream(map, options, stream, 1, context), problem);
    };
    CHECK(fault(alone) == "");
    // One of them has the heavy rows: the unit is that of all rows.
    const auto shared = [&](const Weights& weights) {
      std::vector<double> told[2];
      ThreadJob(2).run([&](solver::Reduction& reduction, int process) {
        Context context;
        Weights own = weights;
        for (size_t i = 70; i < own.size(); ++i) own[i] *= 1024;
        Stream stream(problem, own, process == 0 ? 0 : 70, process == 0 ? 70 : kRows, &reduction);
        told[process] = told_by(fit_stream(map, options, stream, 1, context), problem);
      });
      return apart(told[0], told[1]) == 0 ? told[0] : std::vector<double>();
    };
    CHECK(fault(shared) == "");
  }
}

TEST_CASE("two rows of huge weights fit as two rows", "[weights]") {
  const Problem problem = smooth_problem(2, kInputs, 1, 0, 95);
  const auto at = [&](double weight) {
    FitOptions options = f64_options(Selection::fixed);
    return predictions(fit(gaussian_map(kInputs, 8), options, problem, Weights(2, weight)),
                       problem.x());
  };
  CHECK(largest_difference(at(7e199), at(1)) <= 1e-12);
}

}  // namespace weight_ratios_test
