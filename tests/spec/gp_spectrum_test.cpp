// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// "spectrum": "learnt" by spec: kept where it is better, in files as supplied frequencies are, with
// warnings and refusals.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "io/object_file.h"
#include "model/estimator/model_entry.h"
#include "model/predict.h"
#include "random/distributions.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace gp_spectrum_test {
using namespace mercer;

/// height * sin(5 a) cos(7 b) and normal noise.
struct Ripples {
  Matrix<double> X, Y;
  Context context;
  Ripples(int64_t n, double height, double deviation, uint64_t seed)
      : X(test::random_matrix(n, 2, seed)), Y(n, 1) {
    Matrix<double> noise(n, 1);
    random::fill_normal({seed, random::Tag::generated, 1}, 0,
                        {noise.data(), static_cast<size_t>(n)});
    for (int64_t i = 0; i < n; ++i)
      Y(i, 0) = height * std::sin(5 * X(i, 0)) * std::cos(7 * X(i, 1)) + deviation * noise(i, 0);
  }
  model::Model fit(const std::string& keys) {
    return test::fit(
        spec::fit_plan(R"({"model":"gp","select":{"by":"evidence"},"ard":"off",)" + keys + "}"),
        nullptr, Rows(X.view()), Y.view(), {}, context);
  }
  Matrix<double> predicted(const model::Model& model) {
    Matrix<double> out(X.rows(), 1);
    model::predict(model, Rows(X.view()), context, out.view());
    return out;
  }
  double r_squared(const model::Model& model) {
    const Matrix<double> out = predicted(model);
    double mean = 0, error = 0, variance = 0;
    for (int64_t i = 0; i < X.rows(); ++i) mean += Y(i, 0) / static_cast<double>(X.rows());
    for (int64_t i = 0; i < X.rows(); ++i) {
      error += (Y(i, 0) - out(i, 0)) * (Y(i, 0) - out(i, 0));
      variance += (Y(i, 0) - mean) * (Y(i, 0) - mean);
    }
    return 1 - error / variance;
  }
};

bool warns(const model::Model& model, const char* words) {
  return std::ranges::any_of(model.report.warnings, [&](const std::string& text) {
    return text.find(words) != std::string::npos;
  });
}

constexpr const char* kLearnt = R"("spectrum":"learnt","assess":false,"map":{"features":48})";

TEST_CASE("gp: a learnt spectrum predicts better than the kernel's own, and is kept in files") {
  Ripples rows(300, 1, 0.2, 3), fresh(1000, 1, 0, 8);
  const model::Model own = rows.fit(R"("assess":false,"map":{"features":48})"),
                     learnt = rows.fit(kLearnt);
  CHECK(learnt.map->parameters().text("projection") == "supplied");
  CHECK(learnt.map->features() == 48);
  CHECK(!warns(learnt, "spectrum"));
  // A third of its error at most.
  CHECK(1 - fresh.r_squared(learnt) < (1 - fresh.r_squared(own)) / 3);
  CHECK(std::abs(std::sqrt(learnt.posterior->noise(0)) / 0.2 - 1) <
        4 * std::sqrt(0.5 / 300) + 0.05);
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("learnt.mercer");
  io::save(learnt, path);
  const auto loaded = io::load_model(path);
  const Matrix<double> before = fresh.predicted(learnt), after = fresh.predicted(*loaded);
  CHECK(std::equal(before.data(), before.data() + 1000, after.data()));
}

TEST_CASE("gp: ridge by a learnt spectrum is a fit on its map") {
  Ripples rows(300, 1, 0.2, 3), fresh(1000, 1, 0, 8);
  const model::Model learnt = rows.fit(kLearnt);
  model::FitOptions ridge = learnt.fit;
  ridge.estimate.entry = &model::ridge_model();
  ridge.estimate.parameters = model::default_parameters(model::ridge_model());
  ridge.select.selection = model::Selection::fixed;
  const model::Model fitted =
      test::fit(learnt.map, ridge, Rows(rows.X.view()), rows.Y.view(), rows.context);
  CHECK(fitted.posterior == nullptr);
  const Matrix<double> of_ridge = fresh.predicted(fitted), of_gp = fresh.predicted(learnt);
  for (int64_t i = 0; i < 1000; ++i) CHECK(std::abs(of_ridge(i, 0) - of_gp(i, 0)) <= 1e-6);
  CHECK(fresh.r_squared(fitted) > 0.9);
}

TEST_CASE("gp: a spectrum is learnt from rows with weights, in groups, of two targets") {
  Ripples rows(300, 1, 0.2, 3);
  Matrix<double> both(300, 2);
  std::vector<double> weights(300), groups(300);
  for (int64_t i = 0; i < 300; ++i) {
    both(i, 0) = rows.Y(i, 0);
    both(i, 1) = 3 - rows.Y(i, 0);
    weights[i] = i % 3 == 0 ? 2 : 1;
    groups[i] = static_cast<double>(i / 10);
  }
  const model::Model model =
      test::fit(spec::fit_plan(R"({"model":"gp","select":{"by":"evidence"},"ard":"off",)" +
                               std::string(kLearnt) + "}"),
                nullptr, Rows(rows.X.view()), both.view(), weights, rows.context, groups);
  CHECK(model.map->parameters().text("projection") == "supplied");
  Matrix<double> out(300, 2);
  model::predict(model, Rows(rows.X.view()), rows.context, out.view());
  for (int64_t i = 0; i < 300; ++i) CHECK(out(i, 0) + out(i, 1) == Approx(3).margin(1e-3));
}

TEST_CASE("gp: where rows are noise the spectrum stays as it was drawn, with a warning") {
  Ripples rows(200, 0, 0.2, 5), fresh(1000, 0, 0.2, 6);
  const model::Model model = rows.fit(kLearnt);
  CHECK(warns(model, "are kept"));
  CHECK(model.map->parameters().text("projection") != "supplied");
  CHECK(fresh.r_squared(model) > -0.1);  // a few directions of noise: -k / n
}

TEST_CASE("gp: a spectrum of more features than half the rows is warned of") {
  Ripples rows(60, 1, 0.2, 4);
  const std::string keys = R"("spectrum":"learnt","assess":false,"map":{"features":)";
  CHECK(warns(rows.fit(keys + "32}"), "expected at most 30"));
  CHECK(!warns(rows.fit(keys + "30}"), "expected at most"));
}

TEST_CASE("gp: spectra that cannot be learnt are refused") {
  Ripples rows(40, 1, 0.2, 11);
  const auto fault = [&](const char* keys, const char* says) {
    return test::refusal_fault(
        MERCER_UNSUPPORTED,
        [&] {
          test::fit(spec::fit_plan(std::string(R"({"spectrum":"learnt",)") + keys + "}"), nullptr,
                    Rows(rows.X.view()), rows.Y.view(), {}, rows.context);
        },
        says);
  };
  const std::string evidence = R"("model":"gp","select":{"by":"evidence"},"map":)";
  CHECK(fault(R"("model":"gp")", "with select.by = evidence") == "");
  CHECK(fault(R"("model":"ridge")", "with select.by = evidence") == "");
  CHECK(fault((evidence + R"({"form":"phase"})").c_str(), "of form pair") == "");
  CHECK(fault((evidence + R"({"map":"tensor_srht"})").c_str(), "of form pair") == "");
  CHECK(fault(R"("model":"gp","search":false)", "\"spectrum\"") == "");
}

}  // namespace gp_spectrum_test
