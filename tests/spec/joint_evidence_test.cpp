// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Outputs that are learnt together, by their marginal likelihood: weight, mixture, lambda, refusals.
#include "linalg/blas.h"
#include "model/outputs/outputs.h"
#include "model/select/selection.h"
#include "random/distributions.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/matrix_source.h"
#include "support/refusal.h"

namespace joint_evidence_test {
using namespace mercer;
using mercer::test::filled, mercer::test::refusal_fault;

constexpr int64_t kTasks = 5;
constexpr double kWeight = 3, kNoise = 0.3;
constexpr const char* kRing =
    R"("outputs":{"structure":"graph","matrix":[[0,1,0,0,1],[1,0,1,0,0],[0,1,0,1,0],)"
    R"([0,0,1,0,1],[1,0,0,1,0]])";

void fill_noise(uint64_t draws, MatrixView<double> A) {
  random::fill_normal({29, random::Tag::generated, draws}, 0,
                      {A.data, static_cast<size_t>(A.rows * A.cols)});
}

/// Tasks on a ring, processes of covariance k (I + w L)^-1 of mean variance 1, with noise.
struct Ring {
  Matrix<double> X, Y;
  Context context;
  explicit Ring(int64_t n) : X(n, 2), Y(n, kTasks) {
    fill_noise(1, X.view());
    const auto map = spec::map_from_spec(
        R"({"inputs":2,"features":512,"seed":77,"kernel":{"kernel":"gaussian","lengthscale":1}})");
    Matrix<double> Z(n, 512), theta(512, kTasks), V(kTasks, kTasks);
    map->apply(MatrixView<const double>(X.view()), {0, 512}, context, Z.view());
    fill_noise(2, theta.view());
    for (int64_t k = 0; k < kTasks; ++k)
      for (int64_t l = 0; l < kTasks; ++l)
        V(k, l) = k == l                                                             ? 1
                  : (k - l + kTasks) % kTasks == 1 || (l - k + kTasks) % kTasks == 1 ? -0.5
                                                                                     : 0;
    std::vector<double> values(kTasks);
    linalg::symmetric_eigen(V.view(), values, context);
    double trace = 0;
    for (const double value : values) trace += 1 / (1 + kWeight * value) / kTasks;
    fill_noise(3, Y.view());
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < kTasks; ++k) {
        Y(i, k) *= kNoise;
        for (int64_t j = 0; j < kTasks; ++j) {
          double f = 0;
          for (int64_t c = 0; c < 512; ++c) f += Z(i, c) * theta(c, j);
          Y(i, k) += f * V(j, k) / std::sqrt(trace * (1 + kWeight * values[j]));
        }
      }
  }
  model::Model fit(const std::string& more, const std::string& select = "") {
    return test::fit(spec::fit_plan(R"({"model":"gp","precision":"f64","prepare":)"
                                    R"({"standardize":false},"select":{"by":"evidence")" +
                                    select + "}," + more + "}"),
                     nullptr, Rows(X.view()), Y.view(), {}, context);
  }
  /// The negative log evidence at the features of the model, by log w.
  double negative(const model::Model& model, double log_weight) {
    const int64_t D = model.map->features();
    Matrix<double> Z(X.rows(), D);
    model.map->apply(MatrixView<const double>(X.view()), {0, D}, context, Z.view());
    model::Outputs asked = model.fit.outputs;
    asked.weight = std::exp(log_weight);
    const model::OutputRelations relations(asked, model.fit.coding, Y.view(), {},
                                           solver::RowSet(X.rows()), context);
    const auto coupling = relations.coupling(asked.weight, context);
    const test::MatrixSource source{Z.view(), Y.view(), 64, false, {}};
    const auto path = solver::make_coupled_system(source, {true, coupling.get()}, context);
    std::vector<model::PathPoint> points = model::empty_path({});
    return model::likeliest_point(*path, points).score;
  }
};

/// The deviation of noise over that drawn, in the mean of logarithms: each output's is in its own
/// unit, which the rows tell.
double excess(const model::Model& model) {
  double sum = 0;
  for (int64_t k = 0; k < kTasks; ++k) sum += std::log(model.posterior->noise(k)) / 2;
  return sum / kTasks - std::log(kNoise);
}

constexpr const char* kGaussian =
    R"("assess":false,"map":{"kernel":{"kernel":"gaussian"},"features":256})";

TEST_CASE("joint evidence: a search finds the weight of the tasks' graph, where the slope is 0") {
  Ring rows(240);
  const model::Model model = rows.fit(kRing + std::string("},") + kGaussian);
  const double at = std::log(model.report.shape), step = 0.1;
  CHECK(model.fit.outputs.weight == model.report.shape);
  const double here = rows.negative(model, at), up = rows.negative(model, at + step),
               down = rows.negative(model, at - step);
  const double slope = (up - down) / (2 * step), curvature = (up - 2 * here + down) / (step * step);
  CAPTURE(model.report.shape, model.report.lengthscale, slope, curvature);
  REQUIRE(curvature > 0);
  // Of log w; the difference itself is off by step^2 / 6 of the third derivative.
  CHECK(std::abs(slope / curvature) < 0.01);
  // 3.3 deviations: one set of rows of a thousand.
  CHECK(std::abs(at - std::log(kWeight)) * std::sqrt(curvature) < 3.3);
  CHECK(std::abs(std::log(model.report.lengthscale)) < 0.15);
  CHECK(std::abs(excess(model)) < 0.1);
}

TEST_CASE(
    "joint evidence: lambda of a given weight, of targets with gaps, is near the noise drawn") {
  Ring rows(240);
  const std::string one = R"("search":false,"lengthscale":1,"map":{"features":256},)";
  CHECK(std::abs(excess(rows.fit(one + kRing + R"(,"weight":3})"))) < 0.1);
  for (int64_t i = 0; i < 240; i += 3) rows.Y(i, i % kTasks) = std::nan("");
  for (const std::string& outputs :
       {kRing + std::string(R"(,"weight":3})"), std::string(R"("outputs":"independent")")}) {
    const model::Model model =
        rows.fit(R"("search":false,"lengthscale":1,"map":{"features":64},)" + outputs);
    CAPTURE(outputs);
    CHECK(std::abs(excess(model)) < 0.2);
    CHECK(model.path.size() > 1);
    const model::Model searched = rows.fit(
        R"("assess":false,"map":{"kernel":{"kernel":"gaussian"},"features":64},)" + outputs);
    CHECK(std::abs(std::log(searched.report.lengthscale)) < 0.3);
    CHECK(std::abs(excess(searched)) < 0.3);
  }
}

TEST_CASE("joint evidence: a search takes the mixture of a field that is likeliest") {
  Ring rows(80);
  Matrix<double> field(80, 2);
  for (int64_t i = 0; i < 80; ++i) {
    const double a = rows.X(i, 0), b = rows.X(i, 1);
    field(i, 0) = std::cos(a) * std::cos(b) + 0.3 * std::cos(a) * std::sin(b) + 0.1 * rows.Y(i, 0);
    field(i, 1) = -std::sin(a) * std::sin(b) + 0.3 * std::sin(a) * std::cos(b) + 0.1 * rows.Y(i, 1);
  }
  rows.Y = std::move(field);
  const auto fit = [&](const std::string& alpha, const char* more, const char* select = "") {
    return rows.fit(more + std::string(R"(,"map":{"kernel":{"kernel":"helmholtz",)") + alpha +
                        R"("scalar":{"kernel":"gaussian","lengthscale":1.2}},"features":128})",
                    select);
  };
  const double shape = fit("", R"("assess":false)").report.shape;
  double least = kInfinity, best = kNaN;
  for (const double alpha : {0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0}) {
    const auto path =
        fit("\"alpha\":" + std::to_string(alpha) + ",", R"("search":false)", R"(,"count":500)")
            .path;
    const double score = model::best_point(path).score;
    UNSCOPED_INFO(alpha << " " << score);
    if (score < least) least = score, best = alpha;
  }
  CHECK(shape == best);
}

TEST_CASE("joint evidence: what it cannot do is refused") {
  Ring rows(30);
  const auto fault = [&](const std::string& keys, const char* says) {
    return refusal_fault(
        MERCER_UNSUPPORTED, [&] { rows.fit(keys); }, "select.by = evidence", says);
  };
  CHECK(fault(R"("outputs":"auto")", "outputs = auto, expected one structure") == "");
  CHECK(fault(kRing + std::string(R"(},"noise":0.1)"), "noise, expected it left out") == "");
  CHECK(fault(R"("outputs":"covariance","spectrum":"learnt")", "spectrum = learnt") == "");
}

}  // namespace joint_evidence_test
