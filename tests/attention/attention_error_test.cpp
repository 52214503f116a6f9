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
                predicted(made_map("fourier", {{"kernel", "gaussian"}}, 4, 8), t, true),
                "closed form", "positive");
  TokenRows<double> missing({1, 1, 3, 3, 1}, 4);
  missing.K(1, 1) = std::nan("");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, measured(map, missing, true), "nan");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, predicted(map, missing, true), "nan");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                measured(map, TokenRows<double>({1, 1, 3, 0, 1}, 4), false), "keys");
}

}  // namespace mercer::test::attention_error_test
