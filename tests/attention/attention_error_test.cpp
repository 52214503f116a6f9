// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Predicted errors of attention against errors of many seeds; covariances against simulation.
#include "attention/attention.h"
#include "attention/attention_cases.h"
#include "feature/feature_map.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace mercer::test::attention_error_test {
namespace {

const Parameters kForms[] = {{{"form", "exp"}},
                             {{"form", "exp"}, {"tilt", -0.2}},
                             {{"form", "hyperbolic"}},
                             {{"form", "trigonometric"}}};

/// Maps whose covariances are not those of one law of columns, for 4 inputs.
struct OtherMap {
  const char* name;
  Parameters kernel;
  int64_t features;
  Parameters options;
  SharedMap made(uint64_t seed) const { return made_map(name, kernel, 4, features, seed, options); }
};
std::vector<OtherMap> other_maps(int64_t D) {
  const Parameters softmax{{"kernel", "exponential"}, {"lengthscale", 1.4}};
  const Parameters gaussian{{"kernel", "gaussian"}, {"lengthscale", 1.4}};
  const Parameters cubic{{"kernel", "polynomial"}, {"degree", 3}, {"gamma", 0.3}, {"offset", 1.0}};
  const auto given = [](int64_t each, const char* field) {
    const double columns[] = {static_cast<double>(each), static_cast<double>(2 * each),
                              static_cast<double>(each)};
    return Parameters{
        {"allocation", "given"},
        {"columns", std::vector<double>(columns, columns + 3)},
        {"sketch", std::make_shared<const Parameters>(
                       Parameters{{"map", "tensor_srht"}, {"kind", "stacked"}, {"field", field}})}};
  };
  return {{"fourier", gaussian, D, {}},
          {"fourier", gaussian, D, {{"form", "phase"}}},
          {"maclaurin", softmax, D + 1, given(D / 4, "real")},
          {"maclaurin", softmax, D + 1, given(D / 4, "complex_to_real")},
          {"maclaurin", gaussian, D + 1, given(D / 4, "real")},
          {"tensor_srht", cubic, D, {}},
          {"tensor_srht", cubic, D, {{"kind", "upsampled"}, {"field", "complex_to_real"}}},
          {"product_sketch", cubic, D, {{"field", "complex_to_real"}}},
          {"tensor_sketch", cubic, D, {}}};
}

double predicted(const SharedMap& map, const TokenRows<double>& t, bool causal, int threads = 1) {
  Context context;
  context.threads = threads;
  return attention::predicted_attention_error(*map, t.shape, causal, t.view(), context);
}
double measured(const SharedMap& map, const TokenRows<double>& t, bool causal) {
  Context context;
  return attention::measured_attention_error(map, t.shape, causal, t.view(), context);
}

}  // namespace

TEST_CASE("covariances of the estimates of positive features") {
  constexpr int64_t kDraws = 60000, d = 3;
  const Matrix<double> X = random_matrix(3, d, 4);  // x, y, z
  for (const char* kernel : {"exponential", "gaussian"}) {
    for (const Parameters& form : kForms) {
      const auto made = [&](int64_t D) {
        return made_map("positive", {{"kernel", kernel}, {"lengthscale", 1.3}}, d, D, 9, form);
      };
      // Columns are independent: D/2 maps of two columns.
      const auto map = made(2 * kDraws);
      const Matrix<double> Z = features_of(*map, X);
      std::vector<double> products;
      const double ky = map->kernel().value(d, X.view().row(0), X.view().row(1));
      const double kz = map->kernel().value(d, X.view().row(0), X.view().row(2));
      const bool pairs = form.text("form") != "exp";
      for (int64_t m = 0; m < kDraws; ++m) {
        const int64_t other = pairs ? kDraws + m : 2 * kDraws - 1 - m;
        const auto estimate = [&](int64_t j) {
          return static_cast<double>(kDraws) * (Z(0, m) * Z(j, m) + Z(0, other) * Z(j, other));
        };
        products.push_back((estimate(1) - ky) * (estimate(2) - kz));
      }
      const double expected =
          *made(2)->moments().covariance_at(X.view().row(0), X.view().row(1), X.view().row(2));
      CAPTURE(kernel, form.text("form"), expected);
      CHECK(std::fabs(studentised_z_score(products, expected)) <= z_threshold(kFailure, 8));
      CHECK(std::fabs(studentised_z_score(products, 1.5 * expected)) > z_threshold(kFailure, 8));
      const double variance =
          *made(2)->moments().covariance_at(X.view().row(0), X.view().row(1), X.view().row(1));
      CHECK(variance == Approx(variance_of(*made(2), X)).epsilon(1e-12));
    }
  }
}

TEST_CASE("covariances of the estimates of sketches and Fourier features") {
  constexpr int kSeeds = 20000;
  const Matrix<double> X = random_matrix(3, 4, 5);
  for (const OtherMap& of : other_maps(8)) {
    const SharedMap map = of.made(0);
    const double *x = X.view().row(0), *y = X.view().row(1), *z = X.view().row(2);
    const double ky = map->kernel().value(4, x, y) + map->moments().bias_at(x, y);
    const double kz = map->kernel().value(4, x, z) + map->moments().bias_at(x, z);
    std::vector<double> products;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const SharedMap own = of.made(seed);
      const Matrix<double> Z = features_of(*own, X);
      double first = -ky, second = -kz;
      for (int64_t j = 0; j < Z.cols(); ++j) {
        first += Z(0, j) * Z(1, j);
        second += Z(0, j) * Z(2, j);
      }
      products.push_back(first * second);
    }
    const double expected = *map->moments().covariance_at(x, y, z);
    CAPTURE(of.name, print_object(map->parameters()), expected);
    CHECK(std::fabs(studentised_z_score(products, expected)) <= z_threshold(kFailure, 9));
    CHECK(std::fabs(studentised_z_score(products, 0)) > 3);
    CHECK(*map->moments().covariance_at(x, y, y) ==
          Approx(map->moments().variance_at(x, y)).epsilon(1e-10));
  }
}

// The error of the prediction is of order 1/D beside it.
TEST_CASE("the predicted error of attention is the root mean square of the errors of seeds") {
  constexpr int64_t kSeeds = 400;
  const TokenRows<double> t({1, 1, 12, 12, 3}, 4, 0, 0.7);
  for (const Parameters& form : kForms) {
    for (const bool causal : {false, true}) {
      const double expected = std::pow(predicted(softmax_map(4, 1000, form), t, causal), 2);
      std::vector<double> squares;
      for (uint64_t seed = 0; seed < kSeeds; ++seed)
        squares.push_back(std::pow(measured(softmax_map(4, 1000, form, seed), t, causal), 2));
      CAPTURE(form.text("form"), causal, expected);
      const double z = z_threshold(kFailure, 8);
      CHECK(std::fabs(studentised_z_score(squares, expected)) <= z);
      CHECK(std::fabs(studentised_z_score(squares, 2 * expected)) > z);
    }
  }
}

TEST_CASE("the predicted error of attention by sketches and Fourier features, bias included") {
  constexpr uint64_t kSeeds = 400;
  const TokenRows<double> t({1, 1, 12, 12, 3}, 4, 0, 0.7);
  for (const OtherMap& of : other_maps(1600)) {
    const double expected = std::pow(predicted(of.made(0), t, false), 2);
    std::vector<double> squares;
    for (uint64_t seed = 0; seed < kSeeds; ++seed)
      squares.push_back(std::pow(measured(of.made(seed), t, false), 2));
    CAPTURE(of.name, print_object(of.made(0)->parameters()), expected);
    CHECK(std::fabs(studentised_z_score(squares, expected)) <= z_threshold(kFailure, 9));
    CHECK(std::fabs(studentised_z_score(squares, 2 * expected)) > z_threshold(kFailure, 9));
  }
}

TEST_CASE("errors of attention: heads, stabilised maps, threads, refusals") {
  const TokenRows<double> t({2, 2, 20, 20, 3}, 4);
  const auto map = softmax_map(4, 64);
  const auto out = attended(map, t, true);
  const auto exact = attended_plainly(t, true, [&](int64_t i, int64_t j, int64_t h) {
    return map->kernel().value(4, t.Q.view().row(i) + 4 * h, t.K.view().row(j) + 4 * h);
  });
  double error = 0, norm = 0;
  for (int64_t i = 0; i < out.rows() * out.cols(); ++i) {
    error += std::pow(out.data()[i] - exact.data()[i], 2);
    norm += std::pow(exact.data()[i], 2);
  }
  CHECK(measured(map, t, true) == Approx(std::sqrt(error / norm)).epsilon(1e-10));
  CHECK(predicted(map, t, true, 7) == predicted(map, t, true));
  for (const Parameters& form : {kForms[0], kForms[2], kForms[3]}) {
    Parameters stable = form;
    stable.set("stabilize", true);
    CHECK(predicted(softmax_map(4, 64, stable), t, false) ==
          Approx(predicted(softmax_map(4, 64, form), t, false)).epsilon(1e-12));
  }
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                predicted(made_map("maclaurin", {{"kernel", "exponential"}}, 4, 9), t, true),
                "closed form", "positive");
  TokenRows<double> missing({1, 1, 3, 3, 1}, 4);
  missing.K(1, 1) = std::nan("");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, measured(map, missing, true), "nan");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, predicted(map, missing, true), "nan");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                measured(map, TokenRows<double>({1, 1, 3, 0, 1}, 4), false), "keys");
}

}  // namespace mercer::test::attention_error_test
