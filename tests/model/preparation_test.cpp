// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How rows are prepared, against columns prepared by hand, and fits on them against fits of rows
// that were prepared before.
#include "model/prepare/row_coding.h"
#include "model/row_stream.h"
#include "model_problem.h"
#include "prepared_by.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace preparation_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

/// Skewed, 0/1, smooth and gappy columns, in this order, and a column of large numbers.
struct Mixed {
  Matrix<double> X, Y;
  explicit Mixed(int64_t n, bool gaps, uint64_t seed = 1) : X(random_matrix(n, 5, seed)), Y(n, 1) {
    for (int64_t i = 0; i < n; ++i) {
      X(i, 0) = std::exp(4 * X(i, 0));
      X(i, 1) = X(i, 1) > 0.2 ? 1 : 0;
      X(i, 4) = 1e4 + 3 * X(i, 4);
      Y(i, 0) = std::exp(std::sin(X(i, 2)) + X(i, 1) + 0.2 * std::log(X(i, 0)));
      if (gaps && i % 7 == 3) X(i, 3) = std::nan("");
      if (gaps && i % 11 == 5) X(i, 1) = std::nan("");
    }
  }
};

std::vector<double> column(const Matrix<double>& X, int64_t j) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < X.rows(); ++i)
    if (!std::isnan(X(i, j))) numbers.push_back(X(i, j));
  return numbers;
}

double quantile(std::vector<double> numbers, double p) {
  std::ranges::sort(numbers);
  const double place = std::max(1.0, std::ceil(p * static_cast<double>(numbers.size())));
  return numbers[static_cast<size_t>(place) - 1];
}

double mean_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

double deviation_of(const std::vector<double>& numbers) {
  const double mean = mean_of(numbers);
  double squares = 0;
  for (const double x : numbers) squares += (x - mean) * (x - mean);
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

Matrix<double> prepared(const Preparation& by, const Rows& X) {
  Matrix<double> out(X.rows(), by.prepared(X.cols()));
  X.visit([&](const auto& view) {
    for (int64_t i = 0; i < view.rows; ++i) prepare_row(by, view, i, out.view().row(i));
  });
  return out;
}

FitOptions plain(int64_t = 0) {
  FitOptions options = f64_options(Selection::fixed);
  options.prepare.extrapolation = Extrapolation::free;
  return options;
}

/// A fit that prepares, against one without any preparation of rows prepared by the same rule.
void check_fit(FitOptions options, const Mixed& train, const Mixed& test) {
  Context context;
  const Preparation by = fit_preparation(options.prepare, train.X.view(), train.Y.view());
  const Matrix<double> X = prepared(by, train.X.view()), T = prepared(by, test.X.view());
  const auto map = gaussian_map(X.cols(), 64, 2.0);
  const Model model = fit(map, options, train.X.view(), train.Y.view(), context);
  CHECK(model.inputs() == 5);
  FitOptions bare = plain();
  bare.prepare.standardize = false;
  const Model expected = fit(map, bare, X.view(), train.Y.view(), context);
  CHECK(largest_difference(predictions(model, test.X.view()), predictions(expected, T.view())) <
        1e-9);
}

TEST_CASE("columns of 0 and 1 are left as they are") {
  const Mixed data(200, false);
  for (const Scale scale : {Scale::standard, Scale::robust, Scale::center}) {
    FitOptions options = plain();
    options.prepare.scale = scale;
    const Preparation by = fit_preparation(options.prepare, data.X.view(), data.Y.view());
    CHECK(by.mean[1] == 0);
    CHECK(by.scale[1] == 1);
    CHECK(by.mean[2] != 0);
  }
}

TEST_CASE("robust and centred columns are those by hand") {
  const Mixed data(201, false), test(60, false, 9);
  FitOptions options = plain();
  options.prepare.scale = Scale::robust;
  const Preparation robust = fit_preparation(options.prepare, data.X.view(), data.Y.view());
  options.prepare.scale = Scale::center;
  const Preparation centred = fit_preparation(options.prepare, data.X.view(), data.Y.view());
  for (const size_t j : {0u, 2u, 3u, 4u}) {
    const std::vector<double> x = column(data.X, static_cast<int64_t>(j));
    CHECK(robust.mean[j] == quantile(x, 0.5));
    CHECK(robust.scale[j] ==
          Approx((quantile(x, 0.75) - quantile(x, 0.25)) / (2 * 0.674489750196)).epsilon(1e-9));
    CHECK(centred.mean[j] == Approx(mean_of(x)).epsilon(1e-12));
    CHECK(centred.scale[j] == 1);
  }
  check_fit(options, data, test);
}

TEST_CASE("missing numbers are filled with the median and flagged") {
  const Mixed data(300, true), test(80, true, 3);
  FitOptions options = plain();
  options.prepare.missing = Missing::flag;
  CHECK(prepared_inputs(options.prepare, {}, data.X.view()) == 7);
  const Preparation by = fit_preparation(options.prepare, data.X.view(), data.Y.view());
  CHECK(by.flagged == std::vector<int64_t>{1, 3});
  const Matrix<double> out = prepared(by, test.X.view());
  double worst = 0;
  for (int64_t i = 0; i < 80; ++i)
    for (int64_t j = 0; j < 5; ++j) {
      const std::vector<double> x = column(data.X, j);
      const bool missing = std::isnan(test.X(i, j));
      const double raw = missing ? quantile(x, 0.5) : test.X(i, j);
      const double expected = j == 1 ? raw : (raw - mean_of(x)) / deviation_of(x);
      worst = std::max(worst, std::abs(out(i, j) - expected) / (1 + std::abs(expected)));
      if (j == 1) CHECK(out(i, 5) == (missing ? 1 : 0));
      if (j == 3) CHECK(out(i, 6) == (missing ? 1 : 0));
    }
  CHECK(worst < 1e-9);
  check_fit(options, data, test);
  options.prepare.missing = Missing::fill;
  CHECK(fit_preparation(options.prepare, data.X.view(), data.Y.view()).flagged.empty());
  check_fit(options, data, test);
}

TEST_CASE("missing numbers are refused unless they are filled") {
  const Mixed data(60, true);
  Context context;
  const auto fitted = [&](Missing missing, int64_t inputs) {
    FitOptions options = plain();
    options.prepare.missing = missing;
    return fit(gaussian_map(inputs, 16), options, data.X.view(), data.Y.view(), context);
  };
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fitted(Missing::refuse, 5), "row 3, column 3", "is nan");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, fitted(Missing::flag, 5), "7", "5 inputs");
  Matrix<double> none = copy(data.X.view());
  for (int64_t i = 0; i < 60; ++i) none(i, 2) = std::nan("");
  FitOptions options = plain();
  options.prepare.missing = Missing::fill;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                fit(gaussian_map(5, 16), options, none.view(), data.Y.view(), context), "column 2",
                "no number in any row");
}

TEST_CASE("log and rank transforms take the skew out and leave what they should") {
  const Mixed data(400, false), test(80, false, 4);
  for (const Transform kind : {Transform::log, Transform::rank}) {
    FitOptions options = plain();
    options.prepare.transform = kind;
    const Preparation by = fit_preparation(options.prepare, data.X.view(), data.Y.view());
    CHECK(by.curves[1].kind == Transform::none);  // 0 and 1
    CHECK(by.curves[0].kind == kind);
    CHECK(by.curves[2].kind == (kind == Transform::log ? Transform::none : kind));
    const Matrix<double> out = prepared(by, data.X.view());
    for (const int64_t j : {0, 2, 3, 4}) {
      const std::vector<double> x = column(out, j);
      CHECK(std::abs(mean_of(x)) < 1e-9);
      CHECK(deviation_of(x) == Approx(1).epsilon(1e-9));
    }
    check_fit(options, data, test);
  }
  FitOptions options = plain();
  options.prepare.transform = Transform::log;
  const Curve log = fit_preparation(options.prepare, data.X.view(), data.Y.view()).curves[0];
  const double s = quantile(column(data.X, 0), 0.5);
  CHECK(log(3.0) == Approx(std::log1p(3.0 / s)).epsilon(1e-15));
  CHECK(log(-3.0) == -log(3.0));
  options.prepare.transform = Transform::rank;
  const Curve rank = fit_preparation(options.prepare, data.X.view(), data.Y.view()).curves[0];
  // The k-th of 400 numbers has the normal quantile of about (k - 1/2)/400: within one knot's step.
  const double median = quantile(column(data.X, 0), 0.5), high = quantile(column(data.X, 0), 0.9);
  CHECK(std::abs(rank(median)) < 0.02);
  CHECK(std::abs(rank(high) - 1.2816) < 0.03);
  CHECK(rank(1e9) == rank(2e9));
}

TEST_CASE("curves are monotone and come back") {
  const Mixed data(300, false);
  Context context;
  ColumnRanges columns(1, 0, context);
  columns.add(data.X.view().block_cols(0, 1), {});
  columns.for_each_column([](int64_t, const SortedColumn& sorted) {
    for (const Transform kind : {Transform::log, Transform::rank}) {
      const Curve curve = make_curve(kind, sorted);
      check_curve(curve, "made");
      double before = -HUGE_VAL;
      int64_t falls = 0;
      double worst = 0;
      sorted.for_each([&](double x, double) {
        falls += curve(x) < before;
        before = curve(x);
        // Of ranks the first and last 1/512 are one number.
        if (x > sorted.quantile(0.01) && x < sorted.quantile(0.99))
          worst = std::max(worst, std::abs(curve.inverse(curve(x)) - x) / std::abs(x));
      });
      CHECK(falls == 0);
      CHECK(worst < 1e-12);
    }
  });
}

Curve rank_curve(const Matrix<double>& numbers, std::span<const double> weights = {}) {
  Context context;
  ColumnRanges columns(1, 0, context);
  columns.add(numbers.view(), weights);
  Curve curve;
  columns.for_each_column(
      [&](int64_t, const SortedColumn& sorted) { curve = make_curve(Transform::rank, sorted); });
  return curve;
}

TEST_CASE("ranks of few rows are no staircase") {
  Matrix<double> numbers(30, 1), twice(60, 1), many_zeros(40, 1);
  for (int64_t i = 0; i < 30; ++i) {
    numbers(i, 0) = std::exp(0.2 * static_cast<double>(i % 7) + 0.1 * static_cast<double>(i));
    twice(i, 0) = twice(30 + i, 0) = numbers(i, 0);
  }
  const Curve curve = rank_curve(numbers);
  for (int64_t i = 0; i < 30; ++i) {
    const double x = numbers(i, 0);
    CHECK(std::abs(curve(x * (1 + 1e-9)) - curve(x * (1 - 1e-9))) < 1e-6);
    CHECK(curve.inverse(curve(x) + 1e-9) - curve.inverse(curve(x) - 1e-9) < 1e-6 * x);
    CHECK(curve.inverse(curve(x)) == Approx(x).epsilon(1e-12));
  }
  for (double x = 1.1; x < 40; x += 0.37) CHECK(curve(x + 0.37) > curve(x));
  const std::vector<double> weights(30, 2.0);
  for (const Curve& other : {rank_curve(twice), rank_curve(numbers, weights)})
    for (double x = 1; x < 40; x += 0.37) CHECK(other(x) == Approx(curve(x)).margin(1e-12));
  // Of many equal numbers a step remains.
  for (int64_t i = 0; i < 40; ++i)
    many_zeros(i, 0) = static_cast<double>(std::max<int64_t>(0, i - 19));
  CHECK(rank_curve(many_zeros)(0) < -1);
  CHECK(rank_curve(many_zeros)(1) > -0.2);
}

TEST_CASE("targets are learnt transformed and predicted back") {
  const Mixed data(300, false), test(80, false, 4);
  Context context;
  for (const Transform kind : {Transform::log, Transform::rank}) {
    FitOptions options = plain();
    options.prepare.target_transform = kind;
    const auto map = gaussian_map(5, 64, 2.0);
    const Model model = fit(map, options, data.X.view(), data.Y.view(), context);
    const Curve curve = model.preparation.targets.at(0);
    Matrix<double> Y(300, 1);
    for (int64_t i = 0; i < 300; ++i) Y(i, 0) = curve(data.Y(i, 0));
    const Model bare = fit(map, plain(), data.X.view(), Y.view(), context);
    Matrix<double> expected = predictions(bare, test.X.view());
    for (int64_t i = 0; i < 80; ++i) expected(i, 0) = curve.inverse(expected(i, 0));
    CHECK(largest_difference(predictions(model, test.X.view()), expected) < 1e-9);
    CHECK(model.ranges.targets[0].highest == quantile(column(data.Y, 0), 1));  // as given
  }
  FitOptions options = plain();
  options.prepare.target_transform = Transform::log;
  options.coding.task = Task::classification;
  options.coding.classes = 2;
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                fit(gaussian_map(5, 16), options, data.X.view(), data.Y.view(), context),
                "target_transform");
}

TEST_CASE("unit rows") {
  const Mixed data(100, false), test(40, false, 4);
  FitOptions options = plain();
  options.prepare.unit_rows = true;
  const Preparation by = fit_preparation(options.prepare, data.X.view(), data.Y.view());
  Preparation without = by;
  without.row_norm = 0;
  const Matrix<double> out = prepared(by, test.X.view()), raw = prepared(without, test.X.view());
  for (int64_t i = 0; i < 40; ++i) {
    double squares = 0, dot = 0, of_raw = 0;
    for (int64_t j = 0; j < 5; ++j) {
      squares += out(i, j) * out(i, j);
      dot += out(i, j) * raw(i, j);
      of_raw += raw(i, j) * raw(i, j);
    }
    CHECK(squares == Approx(1).epsilon(1e-12));
    CHECK(dot == Approx(std::sqrt(of_raw)).epsilon(1e-12));  // the same direction
  }
  check_fit(options, data, test);
  // In units of a lengthscale.
  const Matrix<double> half = prepared(by.divided_by(2.0, 5), test.X.view());
  for (int64_t k = 0; k < 200; ++k)
    CHECK(half.data()[k] == Approx(out.data()[k] / 2).epsilon(1e-12));
}

TEST_CASE("sparse rows are prepared as the dense rows they stand for") {
  auto sparse = sparse_rows<double>(200, 8, 6, 3);
  for (size_t k = 0; k < sparse.values.size(); ++k)
    if (sparse.indices[k] % 3 == 0) sparse.values[k] = std::exp(5 * sparse.values[k]);
  sparse.values[17] = std::nan("");
  const Matrix<double> dense = sparse.dense();
  Matrix<double> Y(200, 1);
  for (int64_t i = 0; i < 200; ++i) Y(i, 0) = std::sin(static_cast<double>(i));
  Context context;
  for (const bool unit : {false, true}) {
    for (const Transform transform : {Transform::none, Transform::log}) {
      FitOptions options = plain();
      options.prepare.unit_rows = unit;
      options.prepare.transform = transform;
      options.prepare.missing = Missing::flag;
      const Preparation by = fit_preparation(options.prepare, sparse.view(), Y.view());
      CHECK(!by.centers());
      CHECK(by.flagged.size() == 1);
      const Matrix<double> of_sparse = prepared(by, sparse.view()),
                           of_dense = prepared(by, dense.view());
      CHECK(largest_difference(of_sparse, of_dense) < 1e-12);
      // The features of sparse rows, which are gathered as they are listed.
      const auto map = gaussian_map(9, 48, 2.0);
      const Model model = fit(map, options, sparse.view(), Y.view(), context);
      CHECK(largest_difference(predictions(model, sparse.view()),
                               predictions(model, dense.view())) < 1e-9);
    }
  }
  FitOptions options = plain();
  options.prepare.transform = Transform::rank;
  CHECK_REFUSED(MERCER_UNSUPPORTED, fit_preparation(options.prepare, sparse.view(), Y.view()),
                "transform = rank of sparse rows");
  options.prepare.transform = Transform::none;
  options.prepare.scale = Scale::robust;
  CHECK_REFUSED(MERCER_UNSUPPORTED, fit_preparation(options.prepare, sparse.view(), Y.view()),
                "scale asks for their centre");
  // A model of dense rows that are centred or ranked predicts sparse ones made dense.
  options.prepare.scale = Scale::standard;
  options.prepare.transform = Transform::rank;
  Matrix<double> finite = copy(dense.view());
  for (int64_t k = 0; k < 1600; ++k)
    if (std::isnan(finite.data()[k])) finite.data()[k] = 0;
  sparse.values[17] = 0;
  const Model ranked = fit(gaussian_map(8, 48, 2.0), options, finite.view(), Y.view(), context);
  const Matrix<double> again = sparse.dense();
  CHECK(largest_difference(predictions(ranked, sparse.view()), predictions(ranked, again.view())) <
        1e-12);
}

TEST_CASE("searches prepare as fits do") {
  const Mixed data(150, true), test(40, true, 5);
  Context context;
  FitOptions options = plain();
  options.prepare.missing = Missing::flag;
  options.prepare.transform = Transform::log;
  options.prepare.target_transform = Transform::log;
  options.prepare.unit_rows = true;
  const Preparation by = fit_preparation(options.prepare, data.X.view(), data.Y.view());
  SearchOptions wanted;
  wanted.fit = options;
  wanted.features = 64;
  const Model found = search(OneLengthscale{7}, wanted, data.X.view(), data.Y.view(), context);
  CHECK(found.inputs() == 5);
  CHECK(found.preparation.flagged == by.flagged);
  FitOptions same = options;
  same.select.lambda = found.fit.select.lambda;
  const Model model = fit(found.map, same, data.X.view(), data.Y.view(), context);
  CHECK(largest_difference(predictions(found, test.X.view()), predictions(model, test.X.view())) <
        1e-3);
}

TEST_CASE("a search flags no input that fewer than five rows miss") {
  const Matrix<double> X(40, 3);
  X.fill(1);
  for (int64_t i = 0; i < 5; ++i) X(3 * i, 1) = NAN;
  for (int64_t i = 0; i < 4; ++i) X(5 * i, 2) = NAN;
  PreparationOptions asked{.missing = Missing::flag};
  std::vector<int64_t> flagged, none;
  CHECK(prepared_inputs(asked, flagged, X.view()) == 5);
  CHECK(leave_out_rare_flags(asked, flagged, X.view()) == 1);
  CHECK(flagged == std::vector<int64_t>{1});
  CHECK(prepared_inputs(asked, flagged, X.view()) == 4);
  CHECK(leave_out_rare_flags(asked, flagged, X.view()) == 0);
  // Rows of weight 0 do not count: the second input has four then.
  std::vector<double> weights(40, 1.0);
  weights[3] = 0;
  CHECK(leave_out_rare_flags(asked, none, X.view(), weights) == 2);
  CHECK(asked.missing == Missing::fill);
}

}  // namespace preparation_test
