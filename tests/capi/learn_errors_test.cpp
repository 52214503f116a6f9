// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of models, exact kernel ridge, files and string buffers.
#include <cstring>
#include <limits>

#include "fixture.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace mercer::test;

namespace {

template <class... Part>
std::string refused(mercer_status status, const Part&... parts) {
  return fault(status, MERCER_INVALID_ARGUMENT, parts...);
}

TEST_CASE("fitting refuses bad data, naming row and column", "[capi]") {
  const auto map = fourier(2, 8);
  auto X = numbers(20, 2);
  auto Y = numbers(20, 1);
  mercer_model* const before = reinterpret_cast<mercer_model*>(8);
  mercer_model* out = before;
  const auto fit = [&](int64_t n, int64_t ldx, int64_t m) {
    out = before;
    return mercer_model_fit_f64(map.get(), nullptr, n, X.data(), ldx, m, Y.data(), 1, nullptr,
                                &out);
  };
  CHECK(refused(fit(1, 2, 1), "mercer_model_fit_f64", "n = 1") == "");
  CHECK(out == nullptr);
  CHECK(refused(fit(20, 1, 1), "ldx = 1") == "");
  CHECK(refused(fit(20, 2, 0), "m = 0") == "");
  CHECK(refused(fit(20, 2, 2), "ldy = 1") == "");
  X[2 * 13 + 1] = std::nan("");
  CHECK(refused(fit(20, 2, 1), "13", "1") == "");
  X[2 * 13 + 1] = 0;
  Y[7] = INFINITY;
  CHECK(refused(fit(20, 2, 1), "Y", "7") == "");
  CHECK(out == nullptr);
  Y[7] = 0;
  const auto complex = fourier(2, 8, MERCER_FORM_COMPLEX);
  CHECK(fault(mercer_model_fit_f64(complex.get(), nullptr, 20, X.data(), 2, 1, Y.data(), 1, nullptr,
                                   &out),
              MERCER_UNSUPPORTED, "complex") == "");
}

TEST_CASE("classes out of range are refused", "[capi]") {
  const auto map = fourier(2, 8);
  const auto X = numbers(20, 2);
  std::vector<int32_t> labels(20, 1);
  labels[4] = 5;
  mercer_model* out = nullptr;
  const auto fit = [&](int64_t K, const int32_t* codes) {
    return mercer_model_fit_classes_f64(map.get(), nullptr, 20, X.data(), 2, K, codes, nullptr,
                                        &out);
  };
  CHECK(refused(fit(3, labels.data()), "mercer_model_fit_classes_f64", "labels[4] = 5", "2") == "");
  CHECK(refused(fit(1, labels.data()), "K = 1") == "");
  CHECK(refused(fit(3, nullptr), "labels = NULL") == "");
  CHECK(refused(
            mercer_model_search_f64(nullptr, 20, 2, X.data(), 2, 1, X.data(), 2, 1, nullptr, &out),
            "mercer_model_search_f64", "K = 1") == "");
  CHECK(refused(
            mercer_model_search_f64(nullptr, 10, 2, X.data(), 2, 2, X.data(), 2, 3, nullptr, &out),
            "m = 2") == "");
}

TEST_CASE("model specs are checked before anything is fitted", "[capi]") {
  const auto X = numbers(20, 2);
  mercer_model* out = nullptr;
  const auto fit = [&](const char* json) {
    return mercer_model_fit_spec_f64(json, 20, X.data(), 2, 1, X.data(), 2, nullptr, &out);
  };
  CHECK(refused(fit(nullptr), "mercer_model_fit_spec_f64", "json = NULL") == "");
  CHECK(refused(fit("{\"model\":\"forest\"}"), "forest") == "");
  CHECK(refused(fit("{\"model\":\"ridge\",\"lambda\":-1,\"map\":{\"map\":\"fourier\",\"kernel\":{"
                    "\"kernel\":"
                    "\"gaussian\"},\"inputs\":2,\"features\":8}}"),
                "lambda", "-1") == "");
  CHECK(out == nullptr);
}

TEST_CASE("prediction refuses bad rows, regression refuses classify", "[capi]") {
  const auto model = small_model();
  const auto X = numbers(5, 2);
  double scores[5] = {77};
  int32_t labels[5] = {77};
  const auto predict = [&](int64_t n, const double* x, int64_t ldx, int64_t lds) {
    return mercer_model_predict_f64(model.get(), n, x, ldx, nullptr, scores, lds);
  };
  CHECK(refused(predict(-1, X.data(), 2, 1), "mercer_model_predict_f64", "n = -1") == "");
  CHECK(refused(predict(5, nullptr, 2, 1), "X = NULL") == "");
  CHECK(refused(predict(5, X.data(), 1, 1), "ldx = 1") == "");
  CHECK(refused(predict(5, X.data(), 2, 0), "lds = 0") == "");
  CHECK(predict(0, nullptr, 0, 0) == MERCER_OK);
  CHECK(fault(mercer_model_classify_f64(model.get(), 5, X.data(), 2, nullptr, labels),
              MERCER_UNSUPPORTED, "mercer_model_classify_f64", "regression") == "");
  CHECK(
      refused(mercer_model_classify_f64(small_classifier().get(), 5, X.data(), 2, nullptr, nullptr),
              "labels = NULL") == "");
  CHECK((scores[0] == 77 && labels[0] == 77));
}

TEST_CASE("exact kernel ridge wants fixed lambda", "[capi]") {
  const auto kernel = gaussian();
  const auto X = numbers(10, 2);
  mercer_exact* out = nullptr;
  const auto fit = [&](const mercer_fit_options* options, int64_t n, int64_t K) {
    return mercer_exact_fit_f64(kernel.get(), options, n, 2, X.data(), 2, 1, X.data(), 2, K,
                                nullptr, &out);
  };
  const auto gcv = fit_options(MERCER_SELECTION_GCV);
  const auto fixed = fit_options(MERCER_SELECTION_FIXED);
  CHECK(refused(fit(nullptr, 10, 0), "mercer_exact_fit_f64", "options = NULL") == "");
  CHECK(refused(fit(&gcv, 10, 0), "options->selection = 3") == "");
  CHECK(refused(fit(&fixed, 1, 0), "n = 1") == "");
  CHECK(refused(fit(&fixed, 10, 1), "K = 1") == "");
  REQUIRE(fit(&fixed, 10, 0) == MERCER_OK);
  const ExactHandle exact(out);
  double scores[10];
  CHECK(refused(mercer_exact_predict_f64(exact.get(), 10, X.data(), 1, nullptr, scores, 1),
                "mercer_exact_predict_f64", "ldx = 1") == "");
}

TEST_CASE("files: absent, of another kind, corrupt, no place to write", "[capi]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("map.mercer");
  const std::string absent = directory.file("absent/map.mercer");
  const auto map = fourier(2, 8);
  mercer_map* out = nullptr;
  mercer_model* model = nullptr;
  CHECK(fault(mercer_map_load(absent.c_str(), &out), MERCER_IO, "mercer_map_load", absent) == "");
  CHECK(fault(mercer_map_save(map.get(), absent.c_str()), MERCER_IO, "mercer_map_save", "absent") ==
        "");
  CHECK(refused(mercer_map_save(map.get(), nullptr), "path = NULL") == "");
  CHECK(refused(mercer_map_save(map.get(), ""), "path = \"\"") == "");
  REQUIRE(mercer_map_save(map.get(), path.c_str()) == MERCER_OK);
  CHECK(refused(mercer_model_load(path.c_str(), &model), "mercer_model_load", "map") == "");
  FILE* file = std::fopen(path.c_str(), "r+b");
  REQUIRE(file != nullptr);
  std::fseek(file, -3, SEEK_END);
  std::fputc('!', file);
  std::fclose(file);
  CHECK(fault(mercer_map_load(path.c_str(), &out), MERCER_CORRUPT_FILE, "mercer_map_load") == "");
  CHECK(out == nullptr);
}

TEST_CASE("string buffers: ask, too small, exact", "[capi]") {
  const auto kernel = gaussian();
  int64_t needed = 0;
  REQUIRE(mercer_kernel_spec(kernel.get(), nullptr, 0, &needed) == MERCER_OK);
  REQUIRE(needed > 10);
  std::vector<char> buffer(static_cast<size_t>(needed), '#');
  int64_t again = 0;
  CHECK(refused(mercer_kernel_spec(kernel.get(), buffer.data(), needed - 1, &again),
                "mercer_kernel_spec", "capacity = " + std::to_string(needed - 1),
                std::to_string(needed)) == "");
  CHECK(again == needed);
  CHECK(std::count(buffer.begin(), buffer.end(), '#') == needed);
  CHECK(mercer_kernel_spec(kernel.get(), buffer.data(), needed, nullptr) == MERCER_OK);
  CHECK(static_cast<int64_t>(std::strlen(buffer.data())) == needed - 1);
  CHECK(refused(mercer_kernel_spec(kernel.get(), nullptr, 5, &again), "buffer = NULL") == "");
  CHECK(refused(mercer_kernel_spec(kernel.get(), buffer.data(), -1, &again), "capacity = -1") ==
        "");
  CHECK(refused(mercer_specs("no such kernel", nullptr, 0, &again), "mercer_specs",
                "no such kernel") == "");
}

TEST_CASE("the last error survives success and a copy that is too small", "[capi]") {
  mercer_kernel* out = nullptr;
  CHECK(mercer_kernel_gaussian(nullptr, 1, &out) == MERCER_INVALID_ARGUMENT);
  const std::string text = mercer_last_error();
  CHECK(gaussian() != nullptr);
  CHECK(mercer_last_error() == text);
  char small[4] = "abc";
  int64_t needed = 0;
  CHECK(mercer_copy_last_error(small, 4, &needed) == MERCER_INVALID_ARGUMENT);
  CHECK(needed == static_cast<int64_t>(text.size()) + 1);
  CHECK(std::string(small) == "abc");
  std::string copy(text.size() + 1, '\0');
  CHECK(mercer_copy_last_error(copy.data(), needed, nullptr) == MERCER_OK);
  CHECK(copy.c_str() == text);
}

TEST_CASE("a message longer than the buffer is cut, not lost", "[capi]") {
  const std::string json = "{\"kernel\":\"" + std::string(5000, 'x') + "\"}";
  const std::string path(5000, 'y');
  mercer_map* out = nullptr;
  CHECK(mercer_map_load(path.c_str(), &out) == MERCER_IO);
  CHECK(std::strlen(mercer_last_error()) == 1023);
}

TEST_CASE("questions to a model refuse NULL", "[capi]") {
  const auto model = small_model();
  double w[16] = {77}, lambda = 0;
  int64_t number = 0;
  CHECK(refused(mercer_model_inputs(nullptr, &number), "mercer_model_inputs", "model = NULL") ==
        "");
  CHECK(refused(mercer_model_outputs(model.get(), nullptr), "outputs = NULL") == "");
  CHECK(refused(mercer_model_task(model.get(), nullptr), "task = NULL") == "");
  CHECK(refused(mercer_model_lambda(nullptr, &lambda), "model = NULL") == "");
  CHECK(refused(mercer_model_weights_f64(model.get(), w, 0, nullptr), "mercer_model_weights_f64",
                "ldw = 0") == "");
  CHECK(refused(mercer_model_set_metadata(model.get(), nullptr), "text = NULL") == "");
  const std::string long_text((size_t{1} << 20) + 1, 'a');
  CHECK(refused(mercer_model_set_metadata(model.get(), long_text.c_str()), "1048577") == "");
  CHECK(w[0] == 77);
}

TEST_CASE("freeing NULL does nothing", "[capi]") {
  mercer_context_free(nullptr);
  mercer_kernel_free(nullptr);
  mercer_map_free(nullptr);
  mercer_statistics_free(nullptr);
  mercer_ridge_free(nullptr);
  mercer_model_free(nullptr);
  mercer_exact_free(nullptr);
  SUCCEED("no crash");
}

}  // namespace
