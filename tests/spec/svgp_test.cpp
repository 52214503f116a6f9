// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variational classification by spec: calibrated probabilities of two and more classes, on batches
// and for rows that depend on each other; refusals.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "contract/round_trip.h"
#include "model/estimator/model_entry.h"
#include "spec/coin.h"
#include "spec/report_spec.h"
#include "support/fit.h"
#include "support/refusal.h"

namespace svgp_test {
using namespace mercer;
using test::Coin;
using test::probabilities;

constexpr const char* kPlain =
    R"(,"search":false,"map":{"features":200,"kernel":{"kernel":"gaussian","lengthscale":0.7}})";

std::string plain(const char* keys) { return std::string(keys).append(kPlain); }

TEST_CASE("svgp: a search's probabilities are near those that were drawn, and calibrated") {
  Coin rows(600, 3), fresh(4000, 9);
  const model::Model model = rows.fit("svgp", R"(,"assess":false,"map":{"features":256})");
  check_probabilities(probabilities(model, fresh.X), fresh, 0.08);
  CHECK(model.path.size() > 2);
  CHECK(model.report.elbo < -200);  // 600 log 2 without any knowledge, less with what can be known
  CHECK(model.report.elbo > -600 * std::log(2.0));
}

TEST_CASE("svgp: lambda is that of the largest bound, batches end near, order of time is kept") {
  Coin rows(1200, 3), fresh(4000, 9);
  const model::Model model = rows.fit("svgp", plain(""));
  double least = model.path[0].score;
  for (const model::PathPoint& point : model.path) least = std::min(least, point.score);
  for (const model::PathPoint& point : model.path)
    if (point.lambda == model.fit.select.lambda) CHECK(point.score == least);
  CHECK_THAT(model.report.elbo, Catch::Matchers::WithinRel(-1200 * least, 1e-3));
  const std::string report = spec::print_report(model.report, model::Task::classification);
  CHECK(spec::parse_report(report).elbo == model.report.elbo);
  const Matrix<double> p = probabilities(model, fresh.X);
  check_probabilities(p, fresh, 0.06);
  for (const char* keys : {R"(,"batch":300,"epochs":4)", R"(,"ordered":true)"}) {
    const Matrix<double> q = probabilities(rows.fit("svgp", plain(keys)), fresh.X);
    double apart = 0;
    for (int64_t i = 0; i < 4000; ++i) apart += std::abs(p(i, 1) - q(i, 1)) / 4000;
    CHECK(apart < 0.02);
  }
}

TEST_CASE("svgp: of three classes, each against the rest") {
  Coin rows(900, 3), fresh(3000, 9);
  // Class 2: heads where a > 0; then P(1) = p, P(2) = (1 - p) [a > 0].
  for (Coin* coin : {&rows, &fresh})
    for (int64_t i = 0; i < coin->X.rows(); ++i)
      if (coin->y(i, 0) == 0 && coin->X(i, 0) > 0) coin->y(i, 0) = 2;
  // A fourth class has no rows.
  const Matrix<double> p = probabilities(rows.fit("svgp", plain(R"(,"classes":4)")), fresh.X);
  double right = 0, sum_of_largest = 0, apart = 0;
  for (int64_t i = 0; i < 3000; ++i) {
    const double* row = p.view().row(i);
    const auto largest = std::max_element(row, row + 4) - row;
    CHECK(row[0] + row[1] + row[2] + row[3] == Approx(1));
    CHECK(row[3] < 0.02);
    right += static_cast<double>(largest) == fresh.y(i, 0) ? 1 : 0;
    sum_of_largest += row[largest];
    apart += std::abs(row[1] - fresh.p(i, 0)) / 3000;
  }
  CHECK(apart < 0.1);
  CHECK(std::abs(right - sum_of_largest) / 3000 < 0.03);
}

/// Moves rows into as many clouds, 0.86 wide to either side, with centres `apart` from the first's.
void part(Coin& rows, int64_t classes, double apart) {
  for (int64_t i = 0; i < rows.X.rows(); ++i) {
    const int64_t k = i % classes;
    rows.X(i, 0) = 0.43 * rows.X(i, 0) + (k == 1 ? apart : 0);
    rows.X(i, 1) = 0.43 * rows.X(i, 1) + (k == 2 ? apart : 0);
    rows.y(i, 0) = static_cast<double>(k);
  }
}

double log_loss(const Matrix<double>& p, const Coin& rows) {
  double sum = 0;
  for (int64_t i = 0; i < p.rows(); ++i) sum -= std::log(p(i, static_cast<int64_t>(rows.y(i, 0))));
  return sum / static_cast<double>(p.rows());
}

TEST_CASE("svgp: few rows of classes that are apart have probabilities that say so") {
  constexpr const char* kFew =
      R"(,"search":false,"map":{"features":64,"kernel":{"kernel":"gaussian","lengthscale":1.5}})";
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const int64_t classes = 2 + static_cast<int64_t>(seed % 2);
    Coin rows(16 + static_cast<int64_t>(seed * 7 % 38), seed), fresh(100, seed + 1000);
    const double apart = 4 + 0.25 * static_cast<double>(seed);
    part(rows, classes, apart), part(fresh, classes, apart);
    const std::string keys = R"(,"classes":)" + std::to_string(classes) + kFew;
    const Matrix<double> p = probabilities(rows.fit("svgp", keys), fresh.X);
    int64_t wrong = 0;
    for (int64_t i = 0; i < p.rows(); ++i)
      wrong += std::max_element(p.view().row(i), p.view().row(i) + classes) - p.view().row(i) !=
               static_cast<int64_t>(fresh.y(i, 0));
    CAPTURE(seed, classes, wrong);
    CHECK(wrong == 0);
    // Any of them knows these classes; an even guess would have log 2 nats or more.
    for (const char* other : {"dirichlet", "logistic"})
      CHECK(log_loss(p, fresh) <
            log_loss(probabilities(rows.fit(other, keys), fresh.X), fresh) + 0.05);
  }
}

TEST_CASE("svgp: a search takes maps without gradients; few rows keep one lengthscale") {
  Coin rows(60, 3), few(20, 3);
  for (const char* map : {"nystroem", "random_binning"}) {
    CAPTURE(map);
    CHECK_NOTHROW(rows.fit(
        "svgp", std::string(R"(,"assess":false,"map":{"features":64,"map":")") + map + "\"}"));
  }
  for (const model::SearchCandidate& one :
       few.fit("svgp", R"(,"assess":false,"map":{"features":64})").report.trials)
    CHECK(one.stage != 2);  // fewer than twelve rows for each input
}

TEST_CASE("svgp: rows in time whose earlier ones are of one class have probabilities") {
  Coin rows(120, 7);
  for (int64_t i = 0; i < 120; ++i) rows.y(i, 0) = i < 70 ? 0 : 1;
  const Matrix<double> p =
      probabilities(rows.fit("svgp", plain(R"(,"ordered":true,"lambda":0.01)")), rows.X);
  for (int64_t i = 0; i < 120; ++i) CHECK((p(i, 1) > 0 && p(i, 1) < 1));
}

std::string on(const char* kernel, const char* keys) {
  return std::string(R"(,"search":false,"prepare":{"standardize":false})") + keys +
         R"(,"map":{"features":128,"kernel":{)" + kernel + "}}";
}
double bound(const model::Model& model) { return model.report.elbo; }

// The bound of fits at given parameters, which know of no gradient, is no larger anywhere.
TEST_CASE("svgp: learnt lengthscales have the largest bound, from starts on both sides") {
  Coin rows(500, 3);
  double best = -HUGE_VAL;
  for (double l = 0.25; l < 3; l *= 1.2)
    best = std::max(
        best, bound(rows.fit(
                  "svgp",
                  on((R"("kernel":"gaussian","lengthscale":)" + std::to_string(l)).c_str(), ""))));
  for (const char* l : {"0.2", "4"}) {
    const std::string start = std::string(R"("kernel":"gaussian","lengthscale":)") + l;
    const std::string keys = on(start.c_str(), R"(,"hyperparameters":"learnt")");
    const model::Model model = rows.fit("svgp", keys);
    CAPTURE(l, best, bound(model), model.map->kernel().lengthscale()[0]);
    CHECK(bound(model) > best - 1.5);  // nats of 500 rows: the grids' steps
    CHECK(rows.fit("svgp", keys).map->kernel().lengthscale()[0] ==
          model.map->kernel().lengthscale()[0]);
    const auto load = [](const std::string& path) { return io::load_model(path); };
    const auto back = test::through_file(model, load);
    CHECK(back->map->kernel().lengthscale()[0] == model.map->kernel().lengthscale()[0]);
    CHECK(test::difference(probabilities(*back, rows.X).view(), probabilities(model, rows.X).view(),
                           0) == "");
  }
  // Its lambda is the bound's own, between those of the path.
  const model::Model model = rows.fit(
      "svgp", on(R"("kernel":"gaussian","lengthscale":1)", R"(,"hyperparameters":"learnt")"));
  for (const double factor : {0.7, 1.4}) {
    char kernel[64], lambda[64];
    std::snprintf(kernel, sizeof kernel, R"("kernel":"gaussian","lengthscale":%.17g)",
                  model.map->kernel().lengthscale()[0]);
    std::snprintf(lambda, sizeof lambda, R"(,"lambda":%.17g)", factor * model.fit.select.lambda);
    CHECK(bound(rows.fit("svgp", on(kernel, lambda))) < bound(model) + 1e-3);
  }
  const model::Model each = rows.fit(
      "svgp", on(R"("kernel":"gaussian","lengthscale":[1,2])", R"(,"hyperparameters":"learnt")"));
  CHECK(bound(each) > best - 1.5);  // a lengthscale for each input is no worse than one
}

TEST_CASE(
    "svgp: gamma and offset of a polynomial kernel are learnt at a given lambda, then batches "
    "fit") {
  Coin rows(2000, 3);
  const auto at = [](double gamma, double offset) {
    return R"("kernel":"polynomial","degree":4,"gamma":)" + std::to_string(gamma) +
           R"(,"offset":)" + std::to_string(offset);
  };
  const char* const lambda = R"(,"lambda":0.01)";
  double best = -HUGE_VAL;
  for (double gamma = 0.1; gamma < 4; gamma *= 1.6)
    for (double offset = 0.05; offset < 4; offset *= 2)
      best = std::max(best, bound(rows.fit("svgp", on(at(gamma, offset).c_str(), lambda))));
  const double start = bound(rows.fit("svgp", on(at(0.05, 4).c_str(), lambda)));
  for (const char* batch : {"", R"(,"batch":250,"epochs":40)"}) {
    const std::string keys = std::string(lambda) + batch + R"(,"hyperparameters":"learnt")";
    const model::Model model = rows.fit("svgp", on(at(0.05, 4).c_str(), keys.c_str()));
    CAPTURE(batch, start, best, bound(model));
    CHECK(bound(model) > best - 0.05 * (best - start));
    CHECK(model.fit.select.lambda == 0.01);
  }
  const model::Model zero =
      rows.fit("svgp", on(at(0.5, 0).c_str(), R"(,"hyperparameters":"learnt")"));
  CHECK(zero.map->kernel().parameters().number("offset") == 0);
}

TEST_CASE(
    "svgp: a search learns the kernel's parameters last; where none has a larger bound says so") {
  Coin rows(300, 3);
  const model::Model
      plain = rows.fit("svgp", R"(,"assess":false,"ard":"off","map":{"features":128})"),
      learnt = rows.fit(
          "svgp",
          R"(,"assess":false,"ard":"off","map":{"features":128},"hyperparameters":"learnt")");
  CHECK(bound(learnt) > bound(plain) - 0.5);
  CHECK(learnt.report.lengthscale == learnt.map->kernel().lengthscale()[0]);
  CHECK(learnt.report.lengthscale != plain.report.lengthscale);
  const auto at = [&](double l) {
    char kernel[64];
    std::snprintf(kernel, sizeof kernel, R"("kernel":"gaussian","lengthscale":%.17g)", l);
    return rows.fit("svgp", on(kernel, R"(,"lambda":0.001,"hyperparameters":"learnt")"));
  };
  const model::Model end = at(2), none = at(end.map->kernel().lengthscale()[0]);
  CHECK(std::ranges::count(end.report.warnings, model::kGivenKernel) == 0);
  CHECK(std::ranges::count(none.report.warnings, model::kGivenKernel) == 1);
}

TEST_CASE("svgp: maps without derivatives in parameters of a kernel learn none, by name") {
  Coin rows(80, 5);
  const auto refused = [&](const char* map, auto... words) {
    CHECK_REFUSED(
        MERCER_UNSUPPORTED,
        rows.fit("svgp", std::string(R"(,"search":false,"hyperparameters":"learnt","map":)") + map),
        words...);
  };
  refused(R"({"map":"nystroem","features":32,"kernel":{"kernel":"gaussian","lengthscale":1}})",
          "hyperparameters = learnt", "nystroem");
  refused(
      R"({"map":"random_binning","features":32,"kernel":{"kernel":"laplacian","lengthscale":1}})",
      "random_binning");
  refused(R"({"features":32,"kernel":{"kernel":"arc_cosine"}})", "arc_cosine");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, rows.fit("svgp", plain(R"(,"hyperparameters":"free")")),
                "\"given\", \"learnt\"");
}

TEST_CASE("svgp: what is given is kept, what cannot be is refused") {
  Coin rows(80, 5);
  CHECK(rows.fit("svgp", plain(R"(,"lambda":0.01)")).fit.select.lambda == 0.01);
  for (const char* keys : {R"(,"lambda":0)", R"(,"batch":0)", R"(,"epochs":0)"})
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, rows.fit("svgp", keys), "expected");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, rows.fit("svgp", plain(R"(,"epochs":5)")),
                "epochs = 5 without batch, where a step takes all 80 rows");
  for (const char* keys : {R"(,"map":"exact","lengthscale":1,"search":false)",
                           R"(,"search":false,"select":{"by":"folds"})",
                           R"(,"search":false,"select":{"by":"evidence","count":5})"})
    CHECK_REFUSED(MERCER_UNSUPPORTED, rows.fit("svgp", keys), "expected");
  rows.X(3, 1) = std::nan("");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, rows.fit("svgp", plain("")), "row 3");
  rows.X(3, 1) = 1e140;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                rows.fit("svgp", R"(,"search":false,"lambda":0.01,"prepare":{"standardize":false},)"
                                 R"("map":{"features":256,"kernel":{"kernel":"polynomial"}})"),
                "features of X are not finite");
  rows.X(3, 1) = 0;
  rows.y.fill(1);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, rows.fit("svgp", plain(R"(,"classes":2)")), "two classes");
  const MatrixView<const double> Y = rows.p.view();
  const model::FitPlan plan = spec::fit_plan(R"({"model":"svgp","search":false})");
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                test::fit(plan, nullptr, Rows(rows.X.view()), Y, {}, rows.context), "regression");
}

}  // namespace svgp_test
