// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The C API from end to end: what goes in by one door comes out by another.
#include <cstring>

#include "fixture.h"
#include "mercer/mercer.hpp"
#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace mercer::test;

namespace {

template <class Ask>
std::string text(Ask ask) {
  int64_t needed = 0;
  if (ask(nullptr, int64_t{0}, &needed) != MERCER_OK) return "?";
  std::string result(static_cast<size_t>(needed), '\0');
  if (ask(result.data(), needed, &needed) != MERCER_OK) return "?";
  result.pop_back();
  return result;
}

std::string spec(const mercer_map* map) {
  return text([&](auto... buffer) { return mercer_map_spec(map, buffer...); });
}

std::vector<double> features(const mercer_map* map, int64_t D) {
  const auto X = numbers(7, 3);
  std::vector<double> Z(static_cast<size_t>(7 * D));
  if (mercer_map_apply_f64(map, 7, X.data(), 3, Z.data(), D) != MERCER_OK) Z.clear();
  return Z;
}

TEST_CASE("typed constructor, spec and file make the same map", "[capi]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("map.mercer");
  const auto made = fourier(3, 8);
  mercer_map* from_spec = nullptr;
  REQUIRE(mercer_map_from_spec(spec(made.get()).c_str(), &from_spec) == MERCER_OK);
  const MapHandle parsed(from_spec);
  REQUIRE(mercer_map_save(made.get(), path.c_str()) == MERCER_OK);
  mercer_map* from_file = nullptr;
  REQUIRE(mercer_map_load(path.c_str(), &from_file) == MERCER_OK);
  const MapHandle loaded(from_file);
  CHECK(spec(parsed.get()) == spec(made.get()));
  CHECK(spec(loaded.get()) == spec(made.get()));
  const auto Z = features(made.get(), 8);
  REQUIRE(Z.size() == 56);
  CHECK(features(parsed.get(), 8) == Z);
  CHECK(features(loaded.get(), 8) == Z);
}

TEST_CASE("with_variance changes the amplitude alone", "[capi]") {
  mercer_kernel* matern = nullptr;
  const double l = 0.7;
  REQUIRE(mercer_kernel_matern(2.5, &l, 1, &matern) == MERCER_OK);
  const KernelHandle one(matern);
  mercer_kernel* tripled = nullptr;
  REQUIRE(mercer_kernel_with_variance(one.get(), 3, &tripled) == MERCER_OK);
  const KernelHandle three(tripled);
  const double x[] = {0.1, 0.2}, y[] = {-0.4, 0.9};
  double a = 0, b = 0;
  REQUIRE(mercer_kernel_gram_f64(one.get(), 2, 1, x, 2, 1, y, 2, &a, 1) == MERCER_OK);
  REQUIRE(mercer_kernel_gram_f64(three.get(), 2, 1, x, 2, 1, y, 2, &b, 1) == MERCER_OK);
  CHECK(b == Approx(3 * a).epsilon(4e-16));
  CHECK(a > 0);
}

TEST_CASE("the bilinear kernel multiplies the inner products of the parts", "[capi]") {
  mercer_kernel* made = nullptr;
  REQUIRE(mercer_kernel_bilinear(2, &made) == MERCER_OK);
  const KernelHandle kernel(made);
  CHECK(text([&](auto... buffer) { return mercer_kernel_spec(made, buffer...); }) ==
        R"({"mercer":1,"kernel":"bilinear","left":2,"variance":1})");
  const double X[] = {1, 2, 3}, Y[] = {4, -5, 7};
  double K = 0;
  REQUIRE(mercer_kernel_gram_f64(made, 3, 1, X, 3, 1, Y, 3, &K, 1) == MERCER_OK);
  CHECK(K == (4 - 10) * 21);
  const mercer::Kernel wrapped = mercer::Kernel::bilinear(1).with_variance(2);
  wrapped.gram({X, 1, 3}, {Y, 1, 3}, {&K, 1, 1});
  CHECK(K == 2 * 4 * (-10 + 21));
}

TEST_CASE("a callback's frequencies and the same array make the same map", "[capi]") {
  const auto W = numbers(4, 3);
  const auto fill = [](void* user, int64_t F, int64_t d, double* out) -> int32_t {
    std::memcpy(out, user, static_cast<size_t>(F * d) * sizeof(double));
    return 0;
  };
  const auto kernel = gaussian();
  mercer_map *called = nullptr, *given = nullptr;
  REQUIRE(mercer_fourier_create_callback(kernel.get(), 3, 4, fill, const_cast<double*>(W.data()),
                                         nullptr, nullptr, &called) == MERCER_OK);
  const MapHandle first(called);
  REQUIRE(mercer_fourier_create_supplied(kernel.get(), 3, 4, W.data(), 3, nullptr, nullptr,
                                         &given) == MERCER_OK);
  const MapHandle second(given);
  const auto Z = features(first.get(), 8);
  REQUIRE(Z.size() == 56);
  CHECK(features(second.get(), 8) == Z);
}

TEST_CASE("columns of a complex map are those of the whole, interleaved", "[capi]") {
  const auto map = fourier(3, 6, MERCER_FORM_COMPLEX);
  int32_t complex = 0;
  int64_t D = 0, d = 0;
  REQUIRE(mercer_map_is_complex(map.get(), &complex) == MERCER_OK);
  REQUIRE(mercer_map_features(map.get(), &D) == MERCER_OK);
  REQUIRE(mercer_map_inputs(map.get(), &d) == MERCER_OK);
  CHECK((complex == 1 && D == 6 && d == 3));
  const auto X = numbers(5, 3);
  std::vector<double> Z(5 * 12), part(5 * 8, -9);
  REQUIRE(mercer_map_apply_c64(map.get(), 5, X.data(), 3, Z.data(), 6) == MERCER_OK);
  REQUIRE(mercer_map_apply_columns_c64(map.get(), 2, 5, 5, X.data(), 3, nullptr, part.data(), 4) ==
          MERCER_OK);
  bool same = true, gap_untouched = true;
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < 6; ++j) same = same && part[8 * i + j] == Z[12 * i + 4 + j];
    gap_untouched = gap_untouched && part[8 * i + 6] == -9 && part[8 * i + 7] == -9;
  }
  CHECK(same);
  CHECK(gap_untouched);
}

TEST_CASE("statistics: both triangles, sums, removal, a file", "[capi]") {
  const int64_t n = 40, D = 4;
  const auto sums = small_statistics(n, D, 1);
  const auto Z = numbers(n, D);
  const auto Y = numbers(n, 1);
  double gram[16], cross[4], sum_z[4], sum_y = 0, sum_y2 = 0;
  REQUIRE(mercer_statistics_get_f64(sums.get(), gram, 4, cross, 1, sum_z, &sum_y, &sum_y2) ==
          MERCER_OK);
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

  const TemporaryDirectory directory;
  const std::string path = directory.file("sums.mercer");
  REQUIRE(mercer_statistics_save(sums.get(), path.c_str()) == MERCER_OK);
  mercer_statistics* loaded = nullptr;
  REQUIRE(mercer_statistics_load(path.c_str(), &loaded) == MERCER_OK);
  const StatisticsHandle again(loaded);
  double gram_again[16];
  REQUIRE(mercer_statistics_get_f64(loaded, gram_again, 4, nullptr, 0, nullptr, nullptr, nullptr) ==
          MERCER_OK);
  CHECK(std::memcmp(gram, gram_again, sizeof gram) == 0);
  REQUIRE(mercer_statistics_remove_f64(loaded, n, Z.data(), D, Y.data(), 1, nullptr) == MERCER_OK);
  int64_t rows = -1, features_of = 0, outputs = 0;
  REQUIRE(mercer_statistics_shape(loaded, &rows, &features_of, &outputs) == MERCER_OK);
  CHECK((rows == 0 && features_of == 4 && outputs == 1));
}

TEST_CASE("consumed statistics are gone, and the ridge is the same", "[capi]") {
  mercer_statistics* given = small_statistics().release();
  mercer_ridge* made = nullptr;
  REQUIRE(mercer_ridge_create_consuming(&given, 1, nullptr, &made) == MERCER_OK);
  const RidgeHandle consumed(made);
  CHECK(given == nullptr);
  double a[4], b[4], c[4], intercept[3];
  REQUIRE(mercer_ridge_solve_f64(consumed.get(), 1e-3, a, 1, &intercept[0]) == MERCER_OK);
  REQUIRE(mercer_ridge_solve_f64(small_ridge().get(), 1e-3, b, 1, &intercept[1]) == MERCER_OK);
  REQUIRE(mercer_ridge_cholesky_f64(small_statistics().get(), 1, 1e-3, nullptr, c, 1,
                                    &intercept[2]) == MERCER_OK);
  CHECK(std::memcmp(a, b, sizeof a) == 0);
  double worst = std::abs(intercept[0] - intercept[2]);
  for (size_t j = 0; j < 4; ++j) worst = std::max(worst, std::abs(a[j] - c[j]));
  CHECK(worst < 1e-9);  // two routes; the condition number is below 1/lambda = 1e3, so 1e3 * 4 *
                        // eps is far below
}

TEST_CASE("a model comes back from its file with metadata, map and weights", "[capi]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model.mercer");
  const auto model = small_classifier();
  REQUIRE(mercer_model_set_metadata(model.get(), "{\"classes\":[\"no\",\"yes\"]}") == MERCER_OK);
  REQUIRE(mercer_model_save(model.get(), path.c_str()) == MERCER_OK);
  mercer_model* read = nullptr;
  REQUIRE(mercer_model_load(path.c_str(), &read) == MERCER_OK);
  const ModelHandle loaded(read);
  const auto metadata = [](const mercer_model* m) {
    return text([&](auto... buffer) { return mercer_model_metadata(m, buffer...); });
  };
  CHECK(metadata(loaded.get()) == "{\"classes\":[\"no\",\"yes\"]}");
  int32_t task = -1;
  REQUIRE(mercer_model_task(loaded.get(), &task) == MERCER_OK);
  CHECK(task == MERCER_TASK_CLASSIFICATION);
  const auto X = numbers(60, 2);
  double scores[2][120];
  int32_t labels[2][60];
  const mercer_model* both[] = {model.get(), loaded.get()};
  for (size_t i = 0; i < 2; ++i) {
    REQUIRE(mercer_model_predict_f64(both[i], 60, X.data(), 2, nullptr, scores[i], 2) == MERCER_OK);
    REQUIRE(mercer_model_classify_f64(both[i], 60, X.data(), 2, nullptr, labels[i]) == MERCER_OK);
  }
  CHECK(std::memcmp(scores[0], scores[1], sizeof scores[0]) == 0);
  CHECK(std::memcmp(labels[0], labels[1], sizeof labels[0]) == 0);
  mercer_map* map = nullptr;
  REQUIRE(mercer_model_map(loaded.get(), &map) == MERCER_OK);
  const MapHandle owned(map);
  CHECK(spec(map) == spec(fourier(2, 16).get()));
}

TEST_CASE("a model fitted from a spec predicts as the typed one does", "[capi]") {
  const int64_t n = 80;
  const auto X = numbers(n, 2);
  const auto Y = numbers(n, 1);
  const std::string json = "{\"model\":\"ridge\",\"map\":" + spec(fourier(2, 16).get()) +
                           ",\"lambda\":0.001,\"precision\":\"f64\"}";
  mercer_model *from_spec = nullptr, *typed = nullptr;
  REQUIRE(mercer_model_fit_spec_f64(json.c_str(), n, X.data(), 2, 1, Y.data(), 1, nullptr,
                                    &from_spec) == MERCER_OK);
  const ModelHandle first(from_spec);
  auto options = fit_options(MERCER_SELECTION_FIXED);
  options.lambda = 0.001;
  options.precision = MERCER_PRECISION_F64;
  REQUIRE(mercer_model_fit_f64(fourier(2, 16).get(), &options, n, X.data(), 2, 1, Y.data(), 1,
                               nullptr, &typed) == MERCER_OK);
  const ModelHandle second(typed);
  double a[16], b[16];
  REQUIRE(mercer_model_weights_f64(from_spec, a, 1, nullptr) == MERCER_OK);
  REQUIRE(mercer_model_weights_f64(typed, b, 1, nullptr) == MERCER_OK);
  CHECK(std::memcmp(a, b, sizeof a) == 0);
}

void count_candidates(void* user, const mercer_candidate* candidate) {
  auto& counts = *static_cast<std::vector<int>*>(user);
  if (candidate->struct_size == sizeof *candidate && candidate->stage >= 0 &&
      candidate->stage < 4) {
    ++counts[static_cast<size_t>(candidate->stage)];
  }
}

TEST_CASE("a search reports its candidates and fits what was asked for", "[capi]") {
  const int64_t n = 400;
  const auto X = numbers(n, 2);
  std::vector<double> Y(static_cast<size_t>(n));
  for (size_t i = 0; i < Y.size(); ++i) Y[i] = std::sin(3 * X[2 * i]) * X[2 * i + 1];
  std::vector<int> counts(4);
  mercer_search_options options{};
  options.struct_size = sizeof options;
  REQUIRE(mercer_search_options_init(&options) == MERCER_OK);
  options.features = 128;
  options.report = count_candidates;
  options.user = &counts;
  options.map = "{\"kernel\":{\"kernel\":\"matern\",\"nu\":2.5}}";
  mercer_model* out = nullptr;
  REQUIRE(mercer_model_search_f64(&options, n, 2, X.data(), 2, 1, Y.data(), 1, 0, nullptr, &out) ==
          MERCER_OK);
  const ModelHandle model(out);
  CHECK(counts[0] + counts[1] + counts[2] > 1);
  CHECK(counts[3] <= 1);
  mercer_map* map = nullptr;
  REQUIRE(mercer_model_map(out, &map) == MERCER_OK);
  const MapHandle owned(map);
  int64_t D = 0;
  REQUIRE(mercer_map_features(map, &D) == MERCER_OK);
  CHECK(D == 128);
  CHECK(spec(map).find("\"nu\":2.5") != std::string::npos);
  options.lengthscale = 2;
  options.map = "{\"kernel\":{\"kernel\":\"skewed_chi2\"}}";
  CHECK(
      fault(mercer_model_search_f64(&options, n, 2, X.data(), 2, 1, Y.data(), 1, 0, nullptr, &out),
            MERCER_UNSUPPORTED, "mercer_model_search_f64", "options->lengthscale = 2") == "");
}

TEST_CASE("exact kernel ridge interpolates as lambda vanishes", "[capi]") {
  const auto X = numbers(12, 2);
  const auto Y = numbers(12, 1);
  auto options = fit_options(MERCER_SELECTION_FIXED);
  options.lambda = 1e-12;
  mercer_exact* out = nullptr;
  REQUIRE(mercer_exact_fit_f64(gaussian(0.3).get(), &options, 12, 2, X.data(), 2, 1, Y.data(), 1, 0,
                               nullptr, &out) == MERCER_OK);
  const ExactHandle exact(out);
  double scores[12];
  REQUIRE(mercer_exact_predict_f64(exact.get(), 12, X.data(), 2, nullptr, scores, 1) == MERCER_OK);
  double worst = 0;  // residual = n lambda alpha; K's smallest eigenvalue here is above 1e-4
  for (size_t i = 0; i < 12; ++i) worst = std::max(worst, std::abs(scores[i] - Y[i]));
  CHECK(worst < 1e-6);
}

TEST_CASE("ridge and exact kernel ridge say which sizes their arrays have", "[capi]") {
  int64_t n = 0, D = 0, m = 0;
  const auto sums = small_statistics(40, 4, 3);
  mercer_ridge* made = nullptr;
  REQUIRE(mercer_ridge_create(sums.get(), 1, nullptr, &made) == MERCER_OK);
  const RidgeHandle ridge(made);
  REQUIRE(mercer_ridge_shape(made, &n, &D, &m) == MERCER_OK);
  CHECK((n == 40 && D == 4 && m == 3));
  REQUIRE(mercer_ridge_shape(made, nullptr, &n, nullptr) == MERCER_OK);
  CHECK(n == 4);
  CHECK(mercer_ridge_shape(made, nullptr, nullptr, nullptr) == MERCER_OK);

  mercer::Matrix<double> X(12, 2), classes(12, 1);
  for (int64_t i = 0; i < 12; ++i) {
    X(i, i % 2) = 0.1 * static_cast<double>(i);
    classes(i, 0) = static_cast<double>(i % 2);
  }
  const mercer::Exact exact(mercer::Kernel::gaussian(1.0), X.view(), classes.view(), 5,
                            fit_options(MERCER_SELECTION_FIXED));
  REQUIRE(mercer_exact_shape(exact.get(), &n, &D, &m) == MERCER_OK);
  CHECK((n == 12 && D == 2 && m == 5));
  REQUIRE(mercer_exact_shape(exact.get(), nullptr, nullptr, &n) == MERCER_OK);
  CHECK(n == 5);
  CHECK((exact.rows() == 12 && exact.inputs() == 2 && exact.outputs() == 5));
  CHECK(exact.predict(X.view()).cols() == 5);
}

TEST_CASE("a ridge in C++ has the shapes of its statistics", "[capi]") {
  mercer::Statistics statistics(4, 3);
  const auto Z = numbers(40, 4), Y = numbers(40, 3);
  statistics.add(mercer::MatrixView<const double>(Z.data(), 40, 4),
                 mercer::MatrixView<const double>(Y.data(), 40, 3));
  const mercer::Ridge ridge(statistics, true);
  CHECK((ridge.rows() == 40 && ridge.features() == 4 && ridge.outputs() == 3));
  CHECK((ridge.solve(1e-3).w.rows() == 4 && ridge.gcv(1e-3).size() == 3));
}

TEST_CASE("what exists can be asked for", "[capi]") {
  const std::string all = text([](auto... buffer) { return mercer_specs(nullptr, buffer...); });
  CHECK(all.find("\"gaussian\"") != std::string::npos);
  CHECK(all.find("\"fourier\"") != std::string::npos);
  const std::string one = text([](auto... buffer) { return mercer_specs("matern", buffer...); });
  CHECK(one.find("\"nu\"") != std::string::npos);
  CHECK(one.find("\"fourier\"") == std::string::npos);
}

}  // namespace
