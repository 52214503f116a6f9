// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of bounded inputs: fits of every kind keep inputs inside, and refuse rows outside by
// name.
#include "model/prepare/input_domain.h"

#include "model_problem.h"
#include "prepared_by.h"
#include "spec/spec.h"
#include "statistic/metrics.h"
#include "support/fit.h"
#include "support/partial_map.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace input_domain_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

/// Histograms of three bins with counts of very different sizes; y depends on their ratios.
Problem histograms(int64_t n, uint64_t seed) {
  Problem problem{random_matrix(n, 3, seed), Matrix<double>(n, 1)};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < 3; ++j)
      problem.X(i, j) = std::exp(2 * problem.X(i, j)) * (j == 1 ? 50 : 1);
    problem.Y(i, 0) = std::log(1 + problem.X(i, 0)) + std::sqrt(problem.X(i, 1)) / 10;
  }
  return problem;
}

Parameters named(const std::string& kernel) {
  Parameters given;
  given.set("kernel", kernel);
  return given;
}
std::shared_ptr<const kernel::Kernel> kernel_of(const std::string& name) {
  return kernel::make_kernel(named(name));
}

std::string refusal_of_row(const char* number) {
  return "row 7, column 2 (counted from 0) is " + std::string(number);
}

struct Blocks final : RowStream {
  const Problem& problem;
  int64_t at = 0;
  explicit Blocks(const Problem& p) : problem(p) {}
  void rewind() override { at = 0; }
  Block next() override {
    const int64_t end = std::min(at + 50, problem.X.rows()), from = std::exchange(at, end);
    return {problem.x().block_rows(from, end), problem.y().block_rows(from, end), {}};
  }
};

TEST_CASE("kernels say what inputs they take, and are NaN beyond") {
  const std::string bounded[] = {"additive_chi2", "intersection",          "jensen_shannon",
                                 "hellinger",     "exponential_semigroup", "reciprocal_semigroup",
                                 "skewed_chi2",   "exponential_chi2",      "tanimoto"};
  size_t found = 0;
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    const bool listed = std::ranges::find(bounded, entry.name) != std::end(bounded);
    found += listed ? 1 : 0;
    if (!listed) {
      std::unique_ptr<kernel::Kernel> other;
      const Outcome made = outcome([&] { other = kernel::make_kernel(named(entry.name)); });
      CHECK((made.status != MERCER_OK || !other->traits().input_bound));  // some have no defaults
      continue;
    }
    const auto kernel = kernel_of(entry.name);
    const auto bound = kernel->traits().input_bound;
    REQUIRE(bound);
    const double least = bound->least, inside[] = {least + 0.5}, below[] = {least - 1e-9};
    CHECK(std::isnan(kernel->value(1, inside, below)));
    CHECK(std::isfinite(kernel->value(1, inside, inside)));
    CHECK(std::isnan(kernel->value(1, inside, &least)) == bound->open);
    CHECK(bound->excludes(0, least) == bound->open);
    CHECK_FALSE(bound->excludes(0, std::nan("")));
  }
  CHECK(found == std::size(bounded));
}

TEST_CASE("a search by default learns from non-negative rows with kernels of these") {
  // The targets are exact and additive: what a linear model leaves, 0.05 of them, is curvature.
  const Problem train = histograms(300, 3), fresh = histograms(300, 4);
  const auto left = [&](const Model& model) {
    return 1 - statistic::r_squared(fresh.y(), predictions(model, fresh.x()).view());
  };
  SearchOptions options;
  options.features = 150;
  options.assess = false;
  const Model line = search(*test::map_maker(R"({"map":"linear"})", 3, 1), options, train);
  for (const char* map : {R"({"map":"additive","kernel":{"kernel":"additive_chi2"}})",
                          R"({"map":"additive","kernel":{"kernel":"intersection"}})",
                          R"({"map":"laplace","kernel":{"kernel":"exponential_semigroup"}})",
                          R"({"map":"fourier","kernel":{"kernel":"skewed_chi2"}})",
                          R"({"map":"nystroem","kernel":{"kernel":"jensen_shannon"}})"}) {
    INFO(map);
    const auto maker = test::map_maker(map, 3, 1);
    const Model model = search(*maker, options, train);
    for (const double mean : model.preparation.mean) CHECK(mean == 0);
    CHECK(left(model) < left(line) / 100);
  }
}

/// Of the rows X of a problem, for a kernel of rows without negative entries.
template <class X>
Preparation bounded_preparation(const X& rows, const Problem& problem, Transform transform,
                                Missing missing) {
  return fit_preparation({.missing = missing, .transform = transform}, rows, problem.y(), {},
                         {domain_of(*kernel_of("additive_chi2"))});
}

TEST_CASE("inputs of bounded kernels are divided by their root mean square alone") {
  const Problem problem = histograms(200, 5);
  for (const Transform transform : {Transform::none, Transform::log}) {
    const Preparation by = bounded_preparation(problem.x(), problem, transform, Missing::refuse);
    for (size_t j = 0; j < 3; ++j) {
      const Curve curve = by.curves.empty() ? Curve() : by.curves[j];
      double squares = 0;
      for (int64_t i = 0; i < 200; ++i)
        squares += std::pow(curve(problem.X(i, static_cast<int64_t>(j))), 2) / 200;
      CHECK(by.mean[j] == 0);
      CHECK(std::abs(by.scale[j] / std::sqrt(squares) - 1) < 1e-12);
    }
  }
}

TEST_CASE("the root mean square of a constant column is its number") {
  Problem problem = histograms(200, 13);
  for (int64_t i = 0; i < 200; ++i) problem.X(i, 1) = 0.001;
  for (const Missing missing : {Missing::refuse, Missing::fill}) {  // all rows, and the sample
    const Preparation by = bounded_preparation(problem.x(), problem, Transform::none, missing);
    CHECK(std::abs(by.scale[1] / 0.001 - 1) < 1e-12);
  }
}

TEST_CASE("sparse inputs of bounded kernels are divided by that of their listed numbers") {
  const Problem problem = histograms(200, 14);
  SparseRows<double> sparse;
  sparse.cols = 3;
  double squares[3] = {}, listed[3] = {};
  for (int64_t i = 0; i < 200; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      if (i % (j + 1) != 0) continue;
      sparse.add(j, problem.X(i, j));
      squares[j] += problem.X(i, j) * problem.X(i, j);
      listed[j] += 1;
    }
    sparse.end_row();
  }
  for (const Missing missing : {Missing::refuse, Missing::fill}) {
    const Preparation by = bounded_preparation(sparse.view(), problem, Transform::none, missing);
    for (size_t j = 0; j < 3; ++j) {
      CHECK(by.mean[j] == 0);
      CHECK(std::abs(by.scale[j] / std::sqrt(squares[j] / listed[j]) - 1) < 1e-12);
    }
  }
}

TEST_CASE("negative inputs of a kernel that takes some are not scaled up") {
  Problem problem = histograms(200, 6);
  for (int64_t i = 0; i < 200; ++i) problem.X(i, 0) = 0.01 * problem.X(i, 0);
  const auto domain = domain_of(*kernel_of("skewed_chi2"));
  const auto scale = [&] {
    const PreparationFacts found = within(domain, {}, problem.x());
    return fit_preparation({}, problem.x(), problem.y(), {}, found).scale[0];
  };
  CHECK(scale() < 0.1);
  problem.X(7, 0) = -0.9;
  CHECK(scale() == 1);
  const PreparationOptions unit{.unit_rows = true};
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, within(domain, unit, problem.x()), "is -0.9", ">= 0");
}

TEST_CASE("every fit refuses rows outside the kernel's domain by row, column and value") {
  Problem problem = histograms(120, 7);
  problem.X(7, 2) = -0.25;
  const auto kernel = kernel_of("additive_chi2");
  const auto maker =
      test::map_maker(R"({"map":"additive","kernel":{"kernel":"additive_chi2"}})", 3, 1);
  const auto map = maker->make(1, 21);
  const std::string place = refusal_of_row("-0.25");
  const char* expected = ">= 0, as kernel additive_chi2";
  Context context;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fit(map, {}, problem), place.c_str(), expected);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, search(*maker, {}, problem), place.c_str(), expected);
  const Observations values{{}, 1, problem.x(), problem.y(), {}};
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fit_hermite(map, {&values, 1}, {}, context),
                ("sets[0].X: " + place).c_str(), expected);
  Blocks blocks(problem);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fit_stream(map, {}, blocks, 1, context), place.c_str(),
                expected, "the block after 0 rows");
  const auto plan =
      spec::fit_plan(R"({"search":false,"map":{"map":"nystroem","inputs":3,"features":9,)"
                     R"("kernel":{"kernel":"skewed_chi2","c":[0.75,2,0.25]}}})");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                test::fit(plan, nullptr, problem.x(), problem.y(), {}, context), place.c_str(),
                "> -0.25, as kernel skewed_chi2");
}

TEST_CASE("kernels of unit rows are fitted to rows that are made so") {
  const Problem problem = histograms(120, 9);
  const auto with = [](const char* unit_rows) {
    return test::map_maker(
        std::string(R"({"map":"fourier","kernel":{"kernel":"sphere_polynomial",)") +
            R"("unit_rows":)" + unit_rows + "}}",
        3, 1);
  };
  const auto plain = with("false"), scaling = with("true");
  Context context;
  Blocks blocks(problem);
  const char* expected = "expected unit_rows = true";
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fit(plain->make(1, 20), {}, problem), expected);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, search(*plain, {}, problem), expected);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fit_stream(plain->make(1, 20), {}, blocks, 1, context),
                expected);
  FitOptions prepared;
  prepared.prepare.unit_rows = true;
  CHECK(plain->make(1, 20)->parameters().text("projection") == "sorf");  // sobol does not serve it
  const Model model = fit(plain->make(1, 20), prepared, problem);
  const Model other = fit(scaling->make(1, 20), {}, problem);
  const Matrix<double> a = predictions(model, problem.x()), b = predictions(other, problem.x());
  for (int64_t i = 0; i < 120; ++i) CHECK(a(i, 0) == Approx(b(i, 0)).margin(1e-5));
}

TEST_CASE("preparations that leave the kernel's domain are refused") {
  const Problem problem = histograms(50, 8);
  const auto maker = test::map_maker(R"({"map":"additive","kernel":{"kernel":"hellinger"}})", 3, 1);
  SearchOptions options;
  const auto refuses = [&](const char* what) {
    CHECK_REFUSED(MERCER_UNSUPPORTED, search(*maker, options, problem), what, "hellinger");
    CHECK_REFUSED(MERCER_UNSUPPORTED, fit(maker->make(1, 3), options.fit, problem), what,
                  "hellinger");
  };
  options.fit.prepare.scale = Scale::robust;
  refuses("scale = robust");
  options.fit.prepare.scale = Scale::center;
  refuses("scale = center");
  options.fit.prepare.scale = Scale::standard;
  options.fit.prepare.transform = Transform::rank;
  refuses("transform = rank");
}

TEST_CASE("a search tries the transforms alone that keep inputs inside") {
  // A kernel with a domain and a lengthscale.
  const auto bounded = test::map_maker(
      R"({"kernel":{"kernel":"sum","parts":[{"kernel":"gaussian"},{"kernel":"intersection"}]}})", 3,
      5);
  const Problem problem = histograms(200, 11);
  const SearchOptions options = choosing_transforms();
  const Model model = search(*bounded, options, problem);
  bool log = false, rank = false;
  for (const SearchCandidate& trial : model.report.trials) {
    log = log || trial.transform == Transform::log;
    rank = rank || trial.transform == Transform::rank;
  }
  CHECK(log);
  CHECK_FALSE(rank);
  const PreparationFacts negative{InputDomain{"skewed_chi2", {-1, true}, false}};
  CHECK_FALSE(stays_inside(negative, Transform::log));
}

TEST_CASE("a prediction of rows outside the domain is refused by row, column and value") {
  const Problem train = histograms(100, 9);
  Problem fresh = histograms(20, 10);
  fresh.X(4, 1) = -1;
  fresh.X(5, 0) = -1;
  const auto maker =
      test::map_maker(R"({"map":"additive","kernel":{"kernel":"intersection"}})", 3, 1);
  Context context;
  SearchOptions options;
  options.features = 21;
  const Model model = search(*maker, options, train);
  Matrix<double> scores(20, 1);
  const auto refused = [&](const Rows& X) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT,
        [&] { predict(model, X, context, scores.view(), Extrapolation::free); },
        "X: row 4, column 1 (counted from 0) is -1", ">= 0, as kernel intersection");
  };
  CHECK(refused(fresh.x()) == "");
  SparseRows<double> sparse;
  sparse.cols = 3;
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t j = 0; j < 3; ++j) sparse.add(j, fresh.X(i, j) / 2);
    for (int64_t j = 0; j < 3; ++j) sparse.add(j, fresh.X(i, j) / 2);
    sparse.end_row();
  }
  CHECK(refused(sparse.view()) == "");
  CHECK(predict(model, fresh.x(), context, scores.view(), Extrapolation::clip).rows >= 2);
  CHECK(std::isfinite(scores(4, 0)));
  fresh.X(4, 1) = fresh.X(5, 0) = std::nan("");  // inside, and of its own rows alone
  predict(model, fresh.x(), context, scores.view(), Extrapolation::free);
  for (int64_t i = 0; i < 20; ++i) CHECK(std::isnan(scores(i, 0)) == (i == 4 || i == 5));
}

TEST_CASE("a number above the bound that is prepared to one below it is outside") {
  Problem train = histograms(100, 12);
  for (int64_t i = 0; i < 100; ++i) train.X(i, 0) = 0.01 * train.X(i, 0);
  const auto maker =
      test::map_maker(R"({"map":"fourier","kernel":{"kernel":"skewed_chi2"}})", 3, 1);
  Context context;
  const Model model = fit(maker->make(1, 32), {}, train);
  Matrix<double> scores(100, 1);
  train.X(7, 0) = -0.5;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                predict(model, train.x(), context, scores.view(), Extrapolation::free),
                "X: row 7, column 0 (counted from 0) is -0.5, prepared as the model's rows were -",
                "> -1");
}

}  // namespace input_domain_test
