// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a model "gp" says of its uncertainty, through the C API and from its file.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "fixture.h"
#include "support/catch.h"

namespace gaussian_process_test {
using namespace mercer::test;

constexpr int64_t kRows = 80, kInputs = 2, kTargets = 2;
const std::vector<double>& inputs() {
  static const std::vector<double> X = numbers(kRows, kInputs);
  return X;
}

ModelHandle process(const char* spec = R"({"model":"gp","lambda":0.01})") {
  const auto Y = numbers(kRows, kTargets);
  return fitted(
      spec, data_of(rows_of(inputs(), kInputs), rows_of(Y, kTargets), fourier(kInputs, 24).get()));
}

mercer_predict_options predict_options() {
  mercer_predict_options options{};
  options.struct_size = sizeof options;
  return options;
}

mercer_status ask(const ModelHandle& model, const char* what, std::vector<double>& out,
                  int64_t columns, const mercer_predict_options* options = nullptr) {
  out.assign(kRows * columns, 77.0);
  return mercer_model_predict(model.get(), rows_of(inputs(), kInputs), what, options, nullptr,
                              result_of(out.data(), kRows, columns));
}

TEST_CASE("gp: variances, quantiles, covariances and draws agree") {
  const ModelHandle model = process();
  REQUIRE(model != nullptr);
  std::vector<double> f, mean, latent, predictive, C, J, q, draws, again;
  REQUIRE(ask(model, "value", f, 2) == MERCER_OK);
  REQUIRE(ask(model, "latent_mean", mean, 2) == MERCER_OK);
  REQUIRE(ask(model, "latent_variance", latent, 2) == MERCER_OK);
  REQUIRE(ask(model, "predictive_variance", predictive, 2) == MERCER_OK);
  REQUIRE(ask(model, "covariance", C, 4) == MERCER_OK);
  REQUIRE(ask(model, "joint_covariance", J, kRows * 4) == MERCER_OK);
  auto options = predict_options();
  const double levels[] = {0.05, 0.5, 0.95};
  options.quantile_count = 3;
  options.quantiles = levels;
  REQUIRE(ask(model, "quantile", q, 6, &options) == MERCER_OK);
  for (size_t i = 0; i < kRows; ++i)
    for (size_t k = 0; k < 2; ++k) {
      const size_t at = 2 * i + k;
      CHECK(mean[at] == Approx(f[at]).margin(1e-12));
      CHECK(latent[at] > 0);
      CHECK(latent[at] == Approx(C[4 * i + 3 * k]));
      CHECK(latent[at] == Approx(J[i * kRows * 4 + (i * 2 + k) * 2 + k]));
      // One noise for all rows of an output.
      CHECK(predictive[at] - latent[at] == Approx(predictive[k] - latent[k]));
      CHECK(q[3 * at + 1] == Approx(f[at]).margin(1e-12));
      CHECK(q[3 * at + 2] - f[at] == Approx(1.6448536269514722 * std::sqrt(predictive[at])));
      CHECK(f[at] - q[3 * at] == Approx(q[3 * at + 2] - f[at]));
    }
  options = predict_options();
  options.sample_count = 3;
  options.seed = 5;
  REQUIRE(ask(model, "sample", draws, 6, &options) == MERCER_OK);
  options.sample_count = 1;
  REQUIRE(ask(model, "sample", again, 2, &options) == MERCER_OK);
  for (size_t i = 0; i < kRows; ++i)
    for (size_t k = 0; k < 2; ++k) {
      CHECK(again[2 * i + k] == Approx(draws[6 * i + k]).margin(1e-10));
      CHECK(std::abs(draws[6 * i + k] - f[2 * i + k]) < 8 * std::sqrt(latent[2 * i + k]));
    }
}

TEST_CASE("gp: classes have the moments of their processes, and no noise") {
  std::vector<double> labels = numbers(kRows, 1), out;
  for (double& one : labels) one = one > 0 ? 1 : 0;
  for (const char* spec : {R"({"model":"svgp","task":"classification","lambda":0.01})",
                           R"({"model":"dirichlet","task":"classification","lambda":0.01})"}) {
    const ModelHandle model = fitted(
        spec, data_of(rows_of(inputs(), kInputs), rows_of(labels, 1), fourier(kInputs, 24).get()));
    REQUIRE(model != nullptr);
    const int64_t processes = spec[10] == 's' ? 1 : 2;
    for (const char* what : {"latent_mean", "latent_variance"}) {
      REQUIRE(ask(model, what, out, processes) == MERCER_OK);
      CHECK(ask(model, what, out, processes + 1) == MERCER_DIMENSION_MISMATCH);
    }
    CHECK(ask(model, "predictive_variance", out, processes) == MERCER_UNSUPPORTED);
    CHECK(std::string(mercer_last_error()).find("latent_mean") != std::string::npos);
  }
}

TEST_CASE("gp: the noise that is given is the noise that is added") {
  const ModelHandle model = process(R"({"model":"gp","lambda":0.01,"noise":0.25})");
  REQUIRE(model != nullptr);
  std::vector<double> latent, predictive;
  REQUIRE(ask(model, "latent_variance", latent, 2) == MERCER_OK);
  REQUIRE(ask(model, "predictive_variance", predictive, 2) == MERCER_OK);
  for (size_t i = 0; i < latent.size(); ++i) CHECK(predictive[i] - latent[i] == Approx(0.25));
}

TEST_CASE("gp: a file keeps its posterior") {
  const ModelHandle model = process();
  const ModelHandle copy = reloaded(model.get());
  REQUIRE(copy != nullptr);
  std::vector<double> one, other;
  REQUIRE(ask(model, "predictive_variance", one, 2) == MERCER_OK);
  REQUIRE(ask(copy, "predictive_variance", other, 2) == MERCER_OK);
  CHECK(one == other);
}

TEST_CASE("gp: what is asked wrongly is refused, and nothing is written") {
  const ModelHandle model = process();
  const double half = 0.5, one = 1;
  auto options = predict_options();
  std::vector<double> out;
  const auto wrong = [&](const char* what, int64_t columns, const char* says) {
    const std::string text = refused(ask(model, what, out, columns, &options), says);
    return out[0] == 77 ? text : "written";
  };
  CHECK(wrong("quantile", 2, "options->quantile_count = 0, expected a positive number") == "");
  options.quantile_count = 1;
  CHECK(wrong("quantile", 2, "options->quantiles") == "");
  options.quantiles = &one;
  CHECK(wrong("quantile", 2, "quantiles[0] = 1, expected a number between 0 and 1, both") == "");
  options.quantiles = &half;
  CHECK(wrong("latent_variance", 2, "but for what = \"quantile\"") == "");
  CHECK(fault(ask(model, "quantile", out, 3, &options), MERCER_DIMENSION_MISMATCH, "out") == "");
  options = predict_options();
  CHECK(wrong("sample", 2, "options->sample_count = 0, expected a positive number") == "");
  options.sample_count = 1;
  CHECK(wrong("value", 2, "but for what = \"sample\"") == "");
  CHECK(
      fault(mercer_model_predict(small_model().get(), rows_of(inputs(), kInputs), "latent_variance",
                                 nullptr, nullptr, result_of(out.data(), kRows, 1)),
            MERCER_UNSUPPORTED, "it needs the processes of model gp, dirichlet or svgp") == "");
}

}  // namespace gaussian_process_test
