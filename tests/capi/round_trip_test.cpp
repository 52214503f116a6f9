// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What goes in by one door comes out by another: kernels, maps, statistics, ridge, models, search.
#include "fixture.h"

namespace round_trip_test {
using namespace mercer::test;

std::vector<double> features(const mercer_map* map, int64_t D) {
  const auto X = numbers(7, 3);
  std::vector<double> Z(7 * D);
  if (mercer_map_apply_f64(map, 7, X.data(), 3, nullptr, Z.data(), D) != MERCER_OK) Z.clear();
  return Z;
}

TEST_CASE("typed constructor, spec and file make the same map") {
  const auto drawn = fourier(3, 8);
  const auto parsed = made<MapHandle>(
      [&](auto out) { return mercer_map_from_spec(spec_of(drawn.get()).c_str(), out); });
  const MapHandle loaded = reloaded(drawn.get());
  REQUIRE(loaded);
  CHECK(spec_of(parsed.get()) == spec_of(drawn.get()));
  CHECK(spec_of(loaded.get()) == spec_of(drawn.get()));
  const auto Z = features(drawn.get(), 8);
  REQUIRE(Z.size() == 56);
  CHECK(features(parsed.get(), 8) == Z);
  CHECK(features(loaded.get(), 8) == Z);
}

TEST_CASE("Gram matrices with and without views have the same bits") {
  const auto kernel = gaussian(0.8);
  const auto X = numbers(6, 5), Y = numbers(4, 3);
  std::vector<double> flat(6 * 4), viewed(6 * 7, -9), x;
  for (size_t i = 0; i < 6; ++i) x.insert(x.end(), X.data() + 5 * i, X.data() + 5 * i + 3);
  REQUIRE(mercer_kernel_gram(kernel.get(), rows_of(x.data(), 6, 3), rows_of(Y.data(), 4, 3), {},
                             nullptr, result_of(flat.data(), 6, 4)) == MERCER_OK);
  REQUIRE(mercer_kernel_gram(kernel.get(), rows_of(X.data(), 6, 3, 5), rows_of(Y, 3), {}, nullptr,
                             result_of(viewed.data(), 6, 4, 7)) == MERCER_OK);
  int64_t wrong = 0;
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = 0; j < 7; ++j) wrong += viewed[7 * i + j] != (j < 4 ? flat[4 * i + j] : -9);
  }
  CHECK(wrong == 0);
}

TEST_CASE("what exists can be asked for") {
  const std::string all = text_of([](auto... buffer) { return mercer_specs(nullptr, buffer...); });
  CHECK(all.find("\"gaussian\"") != std::string::npos);
  CHECK(all.find("\"fourier\"") != std::string::npos);
  const std::string one = text_of([](auto... buffer) { return mercer_specs("matern", buffer...); });
  CHECK(one.find("\"nu\"") != std::string::npos);
  CHECK(one.find("\"laplacian\"") == std::string::npos);
  CHECK(one.find("\"projection\"") == std::string::npos);
}

TEST_CASE("statistics: both triangles, sums, removal, a file") {
  const int64_t n = 40, D = 4;
  const auto sums = small_statistics(n, D, 1);
  const auto Z = numbers(n, D);
  const auto Y = numbers(n, 1);
  double gram[16], cross[4], sum_z[4], sum_y = 0, sum_y2 = 0;
  REQUIRE(get_sums(sums.get(), gram, cross, sum_z, &sum_y, &sum_y2) == MERCER_OK);
  double worst = 0;  // n products of numbers below 1: error at most n^2 eps
  for (size_t a = 0; a < 4; ++a) {
    for (size_t b = 0; b < 4; ++b) {
      double exact = 0;
      for (size_t i = 0; i < 40; ++i) exact += Z[4 * i + a] * Z[4 * i + b];
      worst = std::max(worst, std::abs(gram[4 * a + b] - exact));
    }
  }
  double exact_y = 0;
  for (const double y : Y) exact_y += y;
  worst = std::max(worst, std::abs(sum_y - exact_y));
  CHECK(worst < 40 * 40 * 2.3e-16);
  CHECK(gram[1] == gram[4]);

  const StatisticsHandle again = reloaded(sums.get());
  mercer_statistics* const loaded = again.get();
  REQUIRE(loaded != nullptr);
  double gram_again[16];
  REQUIRE(get_sums(loaded, gram_again, nullptr, nullptr, nullptr, nullptr) == MERCER_OK);
  CHECK(std::memcmp(gram, gram_again, sizeof gram) == 0);
  REQUIRE(mercer_statistics_add(loaded, -1, rows_of(Z, D), rows_of(Y, 1), nullptr) == MERCER_OK);
  const mercer_shape shape = shape_of(loaded);
  CHECK((shape.rows == 0 && shape.columns == 4 && shape.outputs == 1));
}

TEST_CASE("a path of lambda and a Cholesky factor give the same weights") {
  double b[4], c[4], intercept[2];
  const auto ridge = small_ridge();
  REQUIRE(solve(ridge.get(), 1e-3, b, &intercept[0]) == MERCER_OK);
  REQUIRE(cholesky(small_statistics().get(), 1, 1e-3, nullptr, c, &intercept[1]) == MERCER_OK);
  double worst = std::abs(intercept[0] - intercept[1]);
  for (size_t j = 0; j < 4; ++j) worst = std::max(worst, std::abs(b[j] - c[j]));
  CHECK(worst < 1e-9);  // two routes; the condition number is below 1/lambda = 1e3, so 1e3 * 4 *
                        // eps is far below
}

TEST_CASE("generalised cross-validation and the effective dimension, together or alone") {
  const auto ridge = small_ridge();
  double error_of_all = 0, dimension = 0, alone = 0;
  REQUIRE(gcv(ridge.get(), 0, &error_of_all, &dimension) == MERCER_OK);
  // The columns of numbers() are sines of one frequency: two directions, and the intercept.
  CHECK(std::abs(dimension - 3) < 1e-12);
  // n RSS/(n - 3)^2, n = 40.
  const auto Z = numbers(40, 4), Y = numbers(40, 1);
  double w[4], intercept = 0, residual = 0;
  REQUIRE(solve(ridge.get(), 0, w, &intercept) == MERCER_OK);
  for (size_t i = 0; i < 40; ++i) {
    double error = Y[i] - intercept;
    for (size_t j = 0; j < 4; ++j) error -= Z[4 * i + j] * w[j];
    residual += error * error;
  }
  CHECK(std::abs(error_of_all - 40 * residual / (37 * 37)) < 1e-12);
  REQUIRE(gcv(ridge.get(), 0, &alone, nullptr) == MERCER_OK);
  CHECK(alone == error_of_all);
  REQUIRE(gcv(ridge.get(), 0, nullptr, &alone) == MERCER_OK);
  CHECK(alone == dimension);
}

TEST_CASE("a model comes back from its file with metadata, map and weights") {
  const auto model = small_classifier();
  REQUIRE(mercer_model_set_metadata(model.get(), "{\"classes\":[\"no\",\"yes\"]}") == MERCER_OK);
  const ModelHandle loaded = reloaded(model.get());
  const mercer_model* const read = loaded.get();
  REQUIRE(read != nullptr);
  CHECK(text_of([&](auto... buffer) { return mercer_model_text(read, "metadata", buffer...); }) ==
        "{\"classes\":[\"no\",\"yes\"]}");
  const mercer_model_info info = info_of(read);
  CHECK((info.inputs == 2 && info.outputs == 2 && info.classes == 2));
  const auto X = numbers(60, 2);
  double scores[2][120];
  int32_t labels[2][60];
  const mercer_model* both[] = {model.get(), loaded.get()};
  for (size_t i = 0; i < 2; ++i) {
    REQUIRE(mercer_model_predict(both[i], rows_of(X, 2), "value", nullptr, nullptr,
                                 result_of(scores[i], 60, 2)) == MERCER_OK);
    REQUIRE(classify(both[i], rows_of(X, 2), nullptr, nullptr, labels[i]) == MERCER_OK);
  }
  CHECK(std::memcmp(scores[0], scores[1], sizeof scores[0]) == 0);
  CHECK(std::memcmp(labels[0], labels[1], sizeof labels[0]) == 0);
  const auto owned = made<MapHandle>([&](auto out) { return mercer_model_map(loaded.get(), out); });
  CHECK(spec_of(owned.get()) == spec_of(fourier(2, 16).get()));
}

TEST_CASE("a map of the caller's and the same by its spec make the same model") {
  const auto X = numbers(80, 2), Y = numbers(80, 1);
  const auto map = fourier(2, 16);
  const std::string rest = R"("lambda":0.001,"precision":"f64"})";
  const ModelHandle by_spec = fitted(R"({"search":false,"map":)" + spec_of(map.get()) + "," + rest,
                                     data_of(rows_of(X, 2), rows_of(Y, 1)));
  const ModelHandle given = fitted("{" + rest, data_of(rows_of(X, 2), rows_of(Y, 1), map.get()));
  REQUIRE((by_spec && given));
  double a[16], b[16];
  REQUIRE(weights_of(by_spec.get(), a, nullptr) == MERCER_OK);
  REQUIRE(weights_of(given.get(), b, nullptr) == MERCER_OK);
  CHECK(std::memcmp(a, b, sizeof a) == 0);
}

/// How many trials of each stage there were.
struct Trials {
  int search = 0, final = 0;
};

void count_trial(void* user, const char* json) {
  auto& trials = *static_cast<Trials*>(user);
  const std::string trial = json;
  const auto is = [&](const std::string& stage) {
    return trial.starts_with("{\"stage\":\"" + stage + "\",");
  };
  if (trial.find("\"seconds\":") == std::string::npos) return;
  trials.search += is("coarse") || is("fine") || is("per_input");
  trials.final += is("final");
}

std::string report_of(const mercer_model* model) {
  return text_of([&](auto... buffer) { return mercer_model_text(model, "report", buffer...); });
}

TEST_CASE("a search tells its trials and fits what was asked for") {
  const int64_t n = 400;
  const auto X = numbers(n, 2);
  std::vector<double> Y(n);
  for (size_t i = 0; i < Y.size(); ++i) Y[i] = std::sin(3 * X[2 * i]) * X[2 * i + 1];
  Trials trials;
  const auto told = context(0, 0, nullptr, &trials, count_trial);
  const DataView data = data_of(rows_of(X, 2), rows_of(Y, 1));
  const std::string map = R"({"map":{"kernel":{"kernel":"matern","nu":2.5},"features":128})";
  const ModelHandle model = fitted(map + "}", data, told.get());
  REQUIRE(model);
  CHECK(trials.search > 1);
  CHECK(trials.final <= 1);
  const MapHandle chosen = map_of(model.get());
  CHECK(columns_of(chosen.get()) == 128);
  CHECK(spec_of(chosen.get()).find("\"nu\":2.5") != std::string::npos);

  const std::string report = report_of(model.get());
  CHECK(report.find("\"kind\":\"nested\",\"measure\":\"r_squared\",\"rows\":400") !=
        std::string::npos);
  const ModelHandle loaded = reloaded(model.get());
  REQUIRE(loaded);
  CHECK(report_of(loaded.get()) == report);
  const ModelHandle plain = fitted(map + R"(,"assess":false})", data);
  REQUIRE(plain);
  CHECK(report_of(plain.get()).find("\"kind\":\"none\"") != std::string::npos);

  const char* const scaled = R"({"map":{"kernel":{"kernel":"skewed_chi2"}},"lengthscale":2})";
  mercer_model* out = nullptr;
  CHECK(fault(mercer_model_fit(scaled, data, nullptr, &out), MERCER_UNSUPPORTED,
              "mercer_model_fit: lengthscale = 2") == "");
}

TEST_CASE("a ridge says which sizes its arrays have") {
  const auto sums = small_statistics(40, 4, 3);
  const auto ridge =
      made<RidgeHandle>([&](auto out) { return mercer_ridge_create(sums.get(), 1, nullptr, out); });
  CHECK((shape_of(ridge.get()).rows == 40 && shape_of(ridge.get()).columns == 4 &&
         shape_of(ridge.get()).outputs == 3));
}

TEST_CASE("a model says its inputs, outputs and classes") {
  const auto info = info_of(small_model(60, 3).get()), two = info_of(small_classifier().get());
  CHECK((info.inputs == 3 && info.outputs == 1 && info.classes == 0 && info.rows == 60));
  CHECK((info.features == 16 && info.is_linear == 1 && info.has_probabilities == 0));
  CHECK((two.outputs == 2 && two.classes == 2 && two.has_probabilities == 1 && two.penalty > 0));
}

}  // namespace round_trip_test
