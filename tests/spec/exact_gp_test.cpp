// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian processes of the kernel itself (map exact): against scikit-learn's, against features
// whose products are the kernel, draws by their moments, files, and what is refused.
#include <cmath>
#include <cstdio>
#include <string>

#include "io/object_file.h"
#include "model/model_derivative.h"
#include "model/predict.h"
#include "spec/report_spec.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/forge.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"
#include "support/worst.h"

namespace exact_gp_test {
using namespace mercer;

const std::string kPlain = R"({"model":"gp","search":false,"precision":"f64",)"
                           R"("prepare":{"standardize":false,"extrapolation":"free"})";

struct Problem {
  Matrix<double> X, Y;
  std::vector<double> weights = {};
  model::Model fit(const std::string& keys) const {
    Context context;
    return test::fit(spec::fit_plan(kPlain + keys + "}"), nullptr, Rows(X.view()), Y.view(),
                     weights, context);
  }
};

Matrix<double> matrix_of(const test::Reference& rows) {
  Matrix<double> A(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()));
  for (int64_t i = 0; i < A.rows(); ++i)
    for (int64_t j = 0; j < A.cols(); ++j) A(i, j) = rows[i][j].get<double>();
  return A;
}

/// `n` rows of d inputs, and smooth targets with noise; row i has weight 1 + i mod `weights`, or 0
/// for every seventh, unless that is 0.
Problem problem_of(int64_t n, int64_t d, int64_t outputs, int weights = 0) {
  Problem problem{test::random_matrix(n, d, 3), test::random_matrix(n, outputs, 4)};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < outputs; ++k)
      problem.Y(i, k) = 0.2 * problem.Y(i, k) + std::sin(2 * problem.X(i, 0) + double(k)) + 1;
    if (weights > 0) problem.weights.push_back(i % 7 == 6 ? 0.0 : 1.0 + double(i % weights));
  }
  return problem;
}

/// All that a posterior says at rows.
struct Said {
  Matrix<double> mean, latent, predictive, covariance, joint;
};
Said said(const model::Model& model, const Matrix<double>& X) {
  Context context;
  const Rows rows(X.view());
  const int64_t n = X.rows(), p = model.outputs();
  Said is{Matrix<double>(n, p), Matrix<double>(n, p), Matrix<double>(n, p),
          Matrix<double>(n, p * p), Matrix<double>(n, n * p * p)};
  model::predict(model, rows, context, is.mean.view());
  model::variance(model, rows, model::Spread::latent, context, is.latent.view());
  model::variance(model, rows, model::Spread::predictive, context, is.predictive.view());
  model::covariance(model, rows, context, is.covariance.view());
  model::joint_covariance(model, rows, context, is.joint.view());
  return is;
}

TEST_CASE("exact gp: mean, covariance and evidence are scikit-learn's") {
  const test::Reference& all = test::oracle("exact_gp");
  const Matrix<double> T = matrix_of(all["X_test"]);
  for (const test::Reference& one : all["cases"]) {
    Problem problem{matrix_of(all["X"]), matrix_of(all["y"])};
    const auto n = static_cast<double>(problem.X.rows());
    double log_weights = 0, mean = 0;
    for (const test::Reference& w : one["weights"]) {
      problem.weights.push_back(w.get<double>());
      mean += w.get<double>() / n;
    }
    for (const double w : problem.weights) log_weights += std::log(w / mean);
    const double noise = one["noise"].get<double>();
    char lambda[32];
    std::snprintf(lambda, sizeof lambda, "%.17g", noise / one["amplitude"].get<double>() / n);
    const std::string kernel =
        std::string(R"(,"center":false,"noise":0.05,"map":{"map":"exact",)") + R"("kernel":)" +
        one["kernel"].get<std::string>() + "}";
    const model::Model model =
        problem.fit(kernel + R"(,"select":{"by":"evidence","count":1,)" + R"("largest":)" + lambda +
                    R"(,"smallest":)" + lambda + "}");
    const Said is = said(model, T);
    for (int64_t i = 0; i < T.rows(); ++i)
      for (int64_t k = 0; k < 2; ++k) {
        CHECK(is.mean(i, k) == Approx(one["mean"][i][k].get<double>()).epsilon(1e-8).margin(1e-9));
        const double own = one["covariance"][i][i].get<double>();
        CHECK(is.latent(i, k) == Approx(own).epsilon(1e-8));
        CHECK(is.predictive(i, k) == Approx(own + noise).epsilon(1e-8));
        for (int64_t j = 0; j < T.rows(); ++j)
          for (int64_t l = 0; l < 2; ++l)
            CHECK(is.joint(i, (j * 2 + k) * 2 + l) ==
                  Approx(k == l ? one["covariance"][i][j].get<double>() : 0.0)
                      .epsilon(1e-8)
                      .margin(1e-9));
      }
    const double lml = one["lml"][0].get<double>() + one["lml"][1].get<double>();
    CHECK(model.report.log_evidence == Approx(lml).epsilon(1e-8));
    CHECK(test::Reference::parse(spec::print_report(model.report, model::Task::regression))
              .at("log_evidence") == model.report.log_evidence);
    // The score of lambda by the evidence is that of rows times the roots of their weights.
    CHECK(log_weights - n * model.path.at(0).score == Approx(lml).epsilon(1e-8));
  }
}

/// Features whose products are the kernel: the same process, by sums of D^2 numbers.
TEST_CASE("exact gp: about the mean, by weights, and its noise, as with features of the kernel") {
  const std::string kernel = R"("kernel":{"kernel":"polynomial","degree":2,"offset":1})";
  const Matrix<double> T = test::random_matrix(5, 3, 8);
  const auto check = [&](const Problem& problem, const std::string& keys, double epsilon) {
    const model::Model one = problem.fit(keys + R"(,"map":{"map":"exact",)" + kernel + "}");
    const model::Model other =
        problem.fit(keys + R"(,"map":{"map":"exact_polynomial",)" + kernel + "}");
    const Said is = said(one, T), expected = said(other, T);
    for (const auto part :
         {&Said::mean, &Said::latent, &Said::predictive, &Said::covariance, &Said::joint}) {
      const Matrix<double>&a = is.*part, &b = expected.*part;
      for (int64_t i = 0; i < a.rows() * a.cols(); ++i)
        CHECK(a.data()[i] == Approx(b.data()[i]).epsilon(epsilon).margin(1e-10));
    }
    for (int64_t k = 0; k < one.outputs(); ++k)
      CHECK(one.posterior->noise(k) == Approx(other.posterior->noise(k)).epsilon(epsilon));
    CHECK(one.posterior->effective_dimension() ==
          Approx(other.posterior->effective_dimension()).epsilon(1e-8));
  };
  for (const char* center : {"true", "false"})
    for (const int weights : {0, 3}) {
      CAPTURE(center, weights);
      const std::string keys = std::string(R"(,"center":)") + center;
      check(problem_of(40, 3, 2, weights), keys + R"(,"lambda":1e-3)", 1e-8);
      check(problem_of(40, 3, 2, weights), keys + R"(,"lambda":1e-3,"noise":0.3)", 1e-8);
    }
  // Through all rows: the noise is that of the largest likelihood.
  check(problem_of(8, 3, 1), R"(,"lambda":1e-8)", 1e-5);
}

// By a factor, and by eigenvectors with which lambda is chosen.
TEST_CASE("exact gp: the evidence about an intercept, and of rows that do not count") {
  for (const bool center : {true, false}) {
    const Problem problem = problem_of(40, 2, 2, 3);
    const std::string keys =
        R"(,"noise":0.05,"map":{"map":"exact"},"select":{"by":"evidence","count":1,)"
        R"("largest":0.01,"smallest":0.01},"center":)";
    const model::Model model = problem.fit(keys + (center ? "true" : "false"));
    double all = 0, count = 0, log_weights = 0;
    for (const double w : problem.weights) all += w, count += w > 0;
    for (const double w : problem.weights) log_weights += w > 0 ? std::log(w * count / all) : 0;
    CHECK(
        model.report.log_evidence ==
        Approx(log_weights - (center ? count - 1 : count) * model.path.at(0).score).epsilon(1e-7));
  }
}

TEST_CASE("exact gp: far from all rows the variance is the prior's") {
  const Problem problem = problem_of(30, 2, 1);
  const model::Model model =
      problem.fit(R"(,"center":false,"lambda":1e-3,"noise":0.06,"map":{"map":"exact",)"
                  R"("kernel":{"kernel":"gaussian","lengthscale":0.5}})");
  Matrix<double> far(2, 2);
  far.fill(0);
  far(0, 0) = 1e3;
  far(1, 0) = std::nan("");
  const Said is = said(model, far);
  CHECK(is.latent(0, 0) == Approx(2.0).epsilon(1e-12));  // noise / (n lambda)
  CHECK(std::isnan(is.latent(1, 0)));
  CHECK(model.report.warnings.empty());
}

constexpr int64_t kDraws = 4000;

TEST_CASE("exact gp: draws have its mean and covariance, and a row's depend on those before it") {
  const Problem problem = problem_of(25, 2, 2);
  const model::Model model = problem.fit(R"(,"lambda":1e-3,"map":{"map":"exact",)"
                                         R"("kernel":{"kernel":"matern","nu":1.5}})");
  Matrix<double> T = test::random_matrix(4, 2, 9);
  std::copy_n(T.view().row(0), 2, T.view().row(1));  // the same place twice
  Context context;
  Matrix<double> drawn(4, 2 * kDraws), first(2, 2 * 3), other(4, 2);
  model::samples(model, Rows(T.view()), 7, kDraws, context, drawn.view());
  model::samples(model, Rows(T.view().block_rows(0, 2)), 7, 3, context, first.view());
  model::samples(model, Rows(T.view()), 8, 1, context, other.view());
  for (int64_t a = 0; a < 6; ++a) CHECK(first(0, a) == Approx(drawn(0, a)).epsilon(1e-6));
  CHECK(std::abs(other(0, 0) - drawn(0, 0)) > 1e-3);
  const Said is = said(model, T);
  const auto about = [&](int64_t i, int64_t s, int64_t k) {
    return drawn(i, 2 * s + k) - is.mean(i, k);
  };
  for (int64_t s = 0; s < kDraws; ++s) CHECK(std::abs(about(0, s, 0) - about(1, s, 0)) < 1e-4);
  // 8 means and 64 covariances, each 5 of its errors: probability 4e-5.
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t k = 0; k < 2; ++k) {
      double mean = 0;
      for (int64_t s = 0; s < kDraws; ++s) mean += about(i, s, k) / kDraws;
      CHECK(std::abs(mean) < 5 * std::sqrt(is.latent(i, k) / kDraws));
      for (int64_t j = 0; j < 4; ++j)
        for (int64_t l = 0; l < 2; ++l) {
          double product = 0;
          for (int64_t s = 0; s < kDraws; ++s) product += about(i, s, k) * about(j, s, l) / kDraws;
          const double expected = is.joint(i, (j * 2 + k) * 2 + l);
          CHECK(std::abs(product - expected) <
                5 * std::sqrt((is.latent(i, k) * is.latent(j, l) + expected * expected) / kDraws));
        }
    }
  T(2, 1) = std::nan("");
  Matrix<double> gaps(4, 2);
  model::samples(model, Rows(T.view()), 7, 1, context, gaps.view());
  for (int64_t i = 0; i < 4; ++i) CHECK(std::isnan(gaps(i, 1)) == (i == 2));
  CHECK(gaps(1, 0) == Approx(drawn(1, 0)).epsilon(1e-6));
  // Without noise at a training row itself the variance is 0 but for rounding.
  const model::Model sure =
      problem.fit(R"(,"lambda":1e-12,"noise":1e-12,"center":false,"map":{"map":"exact",)"
                  R"("kernel":{"kernel":"gaussian","lengthscale":0.2}})");
  Matrix<double> at(25, 2);
  model::samples(sure, Rows(problem.X.view()), 7, 1, context, at.view());
  for (int64_t i = 0; i < 25; ++i) CHECK(at(i, 0) == Approx(problem.Y(i, 0)).margin(1e-4));
}

TEST_CASE("exact gp: files keep the posterior, and one of another map is corrupt") {
  const Problem problem = problem_of(25, 2, 2, 3);
  const auto fitted = [&](const std::string& map) {
    return problem.fit(R"(,"lambda":1e-3,"map":{"map":)" + map +
                       R"(,"kernel":{"kernel":"gaussian"}})");
  };
  const model::Model model = fitted(R"("exact")");
  const Matrix<double> T = test::random_matrix(4, 2, 9);
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("model");
  io::save(model, path);
  const auto back = io::load_model(path);
  CHECK(back->posterior->numbers() == model.posterior->numbers());
  CHECK(back->report.log_evidence == model.report.log_evidence);
  const Said is = said(model, T), again = said(*back, T);
  for (int64_t i = 0; i < 4 * 16; ++i) CHECK(is.joint.data()[i] == again.joint.data()[i]);
  Context context;
  Matrix<double> a(4, 6), b(4, 6);
  model::samples(model, Rows(T.view()), 1, 3, context, a.view());
  model::samples(*back, Rows(T.view()), 1, 3, context, b.view());
  for (int64_t i = 0; i < 24; ++i) CHECK(a.data()[i] == b.data()[i]);
  model::Model mixed = model;
  mixed.posterior = fitted(R"("nystroem","features":20)").posterior;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, io::save(mixed, path), "_posterior");
  std::vector<double> numbers = model.posterior->numbers();
  for (const size_t count : {numbers.size() - 1, size_t{3}, size_t{60}})
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                  solver::Posterior({numbers.data(), count}, 25, 2, context), "posterior");
}

TEST_CASE("exact gp: variances of a gradient are those of differences of f") {
  // Central differences h = 1e-3 apart err by h^2 of third derivatives and by 2^-53 / h^2.
  constexpr double kStep = 1e-3;
  const Problem problem = problem_of(40, 2, 2, 3);
  const Matrix<double> X = test::random_matrix(5, 2, 8);
  for (const std::string kernel :
       {R"({"kernel":"gaussian","lengthscale":[0.8,1.5],"variance":2})",
        R"({"kernel":"matern","nu":2.5})",
        R"({"kernel":"metric","matrix":[[1,0.5],[0,1]],"of":{"kernel":"gaussian"}})"})
    for (const std::string rest : {R"(,"center":false,"prepare":{"standardize":false)",
                                   R"(,"prepare":{"scale":"standard")"}) {
      INFO(kernel << rest);
      Context context;
      const model::Model model = test::fit(
          spec::fit_plan(R"({"model":"gp","search":false,"precision":"f64","lambda":1e-2,)"
                         R"("map":{"map":"exact","kernel":)" +
                         kernel + "}" + rest + R"(,"extrapolation":"free"}})"),
          nullptr, Rows(problem.X.view()), problem.Y.view(), problem.weights, context);
      Matrix<double> variance(5, 4);
      model::gradient_variance(model, X.view(), context, variance.view());
      double worst = 0;
      for (int64_t k = 0; k < 2; ++k) {
        const Matrix<double> sides = test::filled(10, 2, [&](int64_t i, int64_t j) {
          return X(i / 2, j) + (j == k) * (i % 2 == 0 ? kStep : -kStep);
        });
        Matrix<double> C(10, 40);
        model::joint_covariance(model, Rows(sides.view()), context, C.view());
        for (int64_t i = 0; i < 5; ++i)
          for (int64_t o = 0; o < 2; ++o) {
            const auto of = [&](int64_t a, int64_t b) {
              return C(2 * i + a, ((2 * i + b) * 2 + o) * 2 + o);
            };
            const double slope = (of(0, 0) + of(1, 1) - 2 * of(0, 1)) / (4 * kStep * kStep);
            test::keep_worst(worst, std::abs(slope - variance(i, 2 * k + o)));
          }
      }
      CHECK(worst < 1e-4 * test::largest(variance.view()));
    }
}

TEST_CASE("exact gp: a search, and the score of its intervals") {
  const Problem problem = problem_of(150, 2, 1);
  Context context;
  const auto fit = [&](const std::string& keys) {
    return test::fit(spec::fit_plan(R"({"model":"gp","map":{"map":"exact"})" + keys + "}"), nullptr,
                     Rows(problem.X.view()), problem.Y.view(), {}, context);
  };
  const model::Model model = fit("");
  REQUIRE(model.posterior != nullptr);
  CHECK(model.posterior->is_of_kernel());
  CHECK(std::isfinite(model.report.log_evidence));
  // Uniform noise of variance 0.04 / 3; four errors of its estimate, sqrt(0.8 / 130) each.
  CHECK(model.posterior->noise(0) == Approx(0.04 / 3).epsilon(0.32));
  // Of 150 rows 90 % hold but for sqrt(0.09 / 150) of them, four of these.
  CHECK(std::abs(model.report.assessment.coverage - 0.9) < 0.1);
  CHECK(model.report.assessment.nll < 0);
}

TEST_CASE("exact gp: a search by evidence ends at the lengthscale of the largest, one or each") {
  const Problem problem = problem_of(150, 2, 1);
  Context context;
  const auto fit = [&](const std::string& keys, const std::string& l = "") {
    return test::fit(
        spec::fit_plan(R"({"model":"gp","assess":false,"prepare":{"transform":"none"},)"
                       R"("select":{"by":"evidence"},"map":{"map":"exact",)"
                       R"("kernel":{"kernel":"gaussian")" +
                       l + "}}" + keys + "}"),
        nullptr, Rows(problem.X.view()), problem.Y.view(), {}, context);
  };
  double best = -HUGE_VAL;
  for (double l = 0.3; l < 20; l *= 1.1) {
    const model::Model at = fit(R"(,"search":false)", ",\"lengthscale\":" + std::to_string(l));
    best = std::max(best, at.report.log_evidence);
  }
  CHECK_REFUSED(MERCER_UNSUPPORTED, fit(R"(,"spectrum":"learnt")"), "spectrum = learnt");
  const model::Model one = fit(R"(,"ard":"off")"), each = fit(R"(,"ard":"on")");
  for (const model::Model* model : {&one, &each}) CHECK(model->posterior->is_of_kernel());
  CHECK(one.map->kernel().lengthscale().size() == 1);
  CHECK(one.report.log_evidence > best - 0.02);  // nats, beside steps of the grid
  CHECK(one.report.log_evidence < best + 0.5);
  CHECK(each.report.log_evidence > best - 0.02);
}

TEST_CASE("exact gp: what is refused") {
  const Problem problem = problem_of(25, 2, 2);
  const std::string map = R"(,"lambda":1e-3,"map":{"map":"exact","kernel":{"kernel":"gaussian"}})";
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                problem.fit(map + R"(,"outputs":{"structure":"given","matrix":[2,1,1,2]})"),
                "outputs that are joined", "map exact");
  CHECK_REFUSED(MERCER_UNSUPPORTED, problem.fit(map + R"(,"noise":0.1,"local":"clusters")"),
                "every centre", "map exact");
  Context context;
  Matrix<double> slopes(25, 4);
  const auto variance_of = [&](const char* kernel) {
    const std::string keys = R"(,"lambda":1e-3,"map":{"map":"exact","kernel":)";
    model::gradient_variance(problem.fit(keys + kernel + "}"), problem.X.view(), context,
                             slopes.view());
  };
  CHECK_REFUSED(MERCER_UNSUPPORTED, variance_of(R"("laplacian")"), "laplacian", "up to order 0",
                "expected 2");
  CHECK_REFUSED(MERCER_NOT_POSITIVE_DEFINITE,
                problem.fit(R"(,"lambda":1e-18,"map":{"map":"exact"})"), "lost in the rounding");
}

}  // namespace exact_gp_test
