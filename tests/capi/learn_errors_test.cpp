// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of models and exact kernel ridge.
#include <cmath>

#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

TEST_CASE("fitting refuses bad data, naming row and column", "[capi]") {
  const auto map = fourier(2, 8);
  auto X = numbers(20, 2), Y = numbers(20, 1);
  const auto x = rows_of(X, 2), y = rows_of(Y, 1);
  Slot<mercer_model> slot;
  const auto fit = [&](const mercer_map* on, const mercer_rows* rows, const mercer_rows* targets,
                       mercer_status expected, auto... parts) {
    return slot.fault(mercer_model_fit(on, nullptr, rows, targets, 0, nullptr, slot.out()),
                      expected, "mercer_model_fit: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, mismatch = MERCER_DIMENSION_MISMATCH;
  CHECK(fit(nullptr, x, y, invalid, "map = NULL") == "");
  CHECK(fit(map.get(), nullptr, y, invalid, "X = NULL") == "");
  CHECK(fit(map.get(), x, nullptr, invalid, "Y = NULL") == "");
  CHECK(fit(map.get(), rows_of(X.data(), 1, 2), rows_of(Y.data(), 1, 1), invalid, "n = 1") == "");
  CHECK(fit(map.get(), rows_of(X.data(), 20, 2, 1), y, invalid, "ld = 1") == "");
  CHECK(fit(map.get(), x, rows_of(Y.data(), 20, 0), invalid, "Y->d = 0") == "");
  CHECK(fit(map.get(), x, rows_of(Y.data(), 20, 2, 1), invalid, "ld = 1", "columns of Y") == "");
  CHECK(fit(map.get(), x, rows_of(Y.data(), 19, 1), mismatch, "Y->n = 19", "20 as in X") == "");
  CHECK(fit(map.get(), rows_of(X.data(), 13, 3), rows_of(Y.data(), 13, 1), mismatch, "3", "2") ==
        "");
  X[2 * 13 + 1] = std::nan("");
  CHECK(fit(map.get(), x, y, invalid, "X: row 13, column 1") == "");
  X[2 * 13 + 1] = 0;
  Y[7] = INFINITY;
  CHECK(fit(map.get(), x, y, invalid, "Y: row 7, column 0") == "");
  Y[7] = 0;
  CHECK(fit(fourier(2, 8, MERCER_FORM_COMPLEX).get(), x, y, MERCER_UNSUPPORTED, "complex") == "");
  CHECK(refused(mercer_model_fit(map.get(), nullptr, x, y, 0, nullptr, nullptr), "out = NULL") ==
        "");
}

TEST_CASE("fitting refuses bad numbers of sparse rows, naming row and column", "[capi]") {
  const auto map = fourier(3, 8);
  const auto Y = numbers(20, 1);
  for (const double bad : {std::nan(""), double{INFINITY}, -1e200}) {
    auto X = sparse_numbers(20, 3);
    const auto first = static_cast<size_t>(X.offsets[10]);
    REQUIRE(X.offsets[11] > X.offsets[10]);
    X.values[first] = bad;
    Slot<mercer_model> slot;
    CHECK(slot.refused(
              mercer_model_fit(map.get(), nullptr, X.view(), rows_of(Y, 1), 0, nullptr, slot.out()),
              "mercer_model_fit: X: row 10, column " + std::to_string(X.indices[first])) == "");
  }
}

TEST_CASE("classes out of range are refused", "[capi]") {
  const auto map = fourier(2, 8);
  const auto X = numbers(20, 2);
  const auto x = rows_of(X, 2);
  std::vector<double> labels(20, 1);
  Slot<mercer_model> slot;
  const auto fit = [&](int64_t K, const RowsView& codes, auto... parts) {
    return slot.refused(mercer_model_fit(map.get(), nullptr, x, codes, K, nullptr, slot.out()),
                        "mercer_model_fit: ", parts...);
  };
  for (const double wrong : {5.0, -1.0, 0.5}) {
    labels[4] = wrong;
    CHECK(fit(3, rows_of(labels, 1), "Y: row 4", "class", "from 0 to 2") == "");
  }
  CHECK(fit(1, rows_of(labels, 1), "K = 1") == "");
  CHECK(fit(-2, rows_of(labels, 1), "K = -2") == "");
  CHECK(fit(3, rows_of<double>(nullptr, 20, 1), "Y->values = NULL") == "");
  CHECK(fit(3, x, "m = 2", "K = 3") == "");
  const auto search = [&](int64_t K, auto... parts) {
    return slot.refused(mercer_model_search(nullptr, x, x, K, nullptr, slot.out()),
                        "mercer_model_search: ", parts...);
  };
  CHECK(search(1, "K = 1") == "");
  CHECK(search(3, "m = 2") == "");
}

TEST_CASE("model specs are checked before anything is fitted", "[capi]") {
  const auto X = numbers(20, 2);
  const auto x = rows_of(X, 2), y = rows_of(X.data(), 20, 1, 2);
  Slot<mercer_model> slot;
  const auto fit = [&](const char* json, auto... parts) {
    return slot.refused(mercer_model_fit_spec(json, x, y, nullptr, slot.out()),
                        "mercer_model_fit_spec: ", parts...);
  };
  CHECK(fit(nullptr, "json = NULL") == "");
  CHECK(fit("{\"model\":\"forest\"}", "forest") == "");
  const std::string map =
      R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":2,"features":8})";
  const std::string ridge = R"({"model":"ridge","map":)" + map;
  CHECK(fit((ridge + R"(,"lambda":-1})").c_str(), "lambda", "-1") == "");
  const std::string classes = ridge + R"(,"task":"classification"})";
  CHECK(fit(classes.c_str(), "class") == "");
  const std::vector<double> zeros(20);
  CHECK(slot.refused(
            mercer_model_fit_spec(classes.c_str(), x, rows_of(zeros, 1), nullptr, slot.out()),
            "largest class number in Y is 0") == "");
}

TEST_CASE("prediction refuses bad rows, regression refuses classify", "[capi]") {
  const auto model = small_model();
  auto X = numbers(5, 2);
  const auto x = rows_of(X, 2);
  double scores[5] = {77};
  int32_t labels[5] = {77};
  const auto predict = [&](const mercer_rows* rows, const ResultView& to, mercer_status expected,
                           auto... parts) {
    return fault(mercer_model_predict(model.get(), rows, nullptr, nullptr, to), expected,
                 "mercer_model_predict: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, mismatch = MERCER_DIMENSION_MISMATCH;
  const auto fits = result_of(scores, 5, 1);
  CHECK(predict(rows_of(X.data(), -1, 2), fits, invalid, "X->n = -1") == "");
  CHECK(predict(nullptr, fits, invalid, "X = NULL") == "");
  CHECK(predict(rows_of<double>(nullptr, 5, 2), fits, invalid, "X->values = NULL") == "");
  CHECK(predict(rows_of(X.data(), 5, 2, 1), fits, invalid, "ld = 1") == "");
  CHECK(predict(x, result_of(scores, 5, 1, 0), invalid, "ld = 0") == "");
  CHECK(predict(x, result_of<double>(nullptr, 5, 1), invalid, "scores->data = NULL") == "");
  CHECK(predict(x, result_of(X.data() + 3, 5, 1), invalid, "scores overlaps X") == "");
  CHECK(predict(x, result_of(scores, 2, 1, -1, true), mismatch, "scores is 2 x 1") == "");
  CHECK(predict(x, result_of(scores, 5, 1, -1, true), invalid, "scores->number = 3") == "");
  CHECK(predict(x, result_of(scores, 1, 5), mismatch, "scores is 1 x 5, expected 5 x 1") == "");
  CHECK(predict(rows_of(X.data(), 3, 3), fits, mismatch, "X->d = 3", "inputs, 2") == "");
  CHECK(mercer_model_predict(model.get(), rows_of<double>(nullptr, 0, 2), nullptr, nullptr,
                             result_of<double>(nullptr, 0, 1)) == MERCER_OK);
  CHECK(fault(mercer_model_classify(model.get(), x, nullptr, nullptr, labels), MERCER_UNSUPPORTED,
              "mercer_model_classify", "regression") == "");
  const auto classifier = small_classifier();
  CHECK(refused(mercer_model_classify(classifier.get(), x, nullptr, nullptr, nullptr),
                "labels = NULL") == "");
  CHECK(fault(mercer_model_classify(classifier.get(), rows_of(X.data(), 3, 3), nullptr, nullptr,
                                    labels),
              MERCER_DIMENSION_MISMATCH, "X->d = 3") == "");
  const auto over = reinterpret_cast<int32_t*>(X.data());
  CHECK(refused(mercer_model_classify(classifier.get(), x, nullptr, nullptr, over),
                "labels overlaps X") == "");
  X[3] = std::nan("");
  CHECK(refused(mercer_model_classify(classifier.get(), x, nullptr, nullptr, labels), "row 1") ==
        "");
  CHECK((scores[0] == 77 && labels[0] == 77));
}

TEST_CASE("exact kernel ridge wants fixed lambda", "[capi]") {
  const auto one = gaussian();
  const auto X = numbers(10, 2);
  const auto x = rows_of(X, 2), y = rows_of(X.data(), 10, 1, 2);
  Slot<mercer_kernel_ridge> slot;
  const auto fit = [&](const mercer_fit_options* options, const RowsView& rows, int64_t K,
                       mercer_status expected, auto... parts) {
    return slot.fault(mercer_kernel_ridge_fit(one.get(), options, rows, y, K, nullptr, slot.out()),
                      expected, "mercer_kernel_ridge_fit: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const auto gcv = fit_options(MERCER_SELECTION_GCV), fixed = fit_options(MERCER_SELECTION_FIXED);
  CHECK(fit(nullptr, x, 0, invalid, "options = NULL") == "");
  CHECK(fit(&gcv, x, 0, invalid, "options->selection = 3") == "");
  CHECK(fit(&fixed, rows_of(X.data(), 1, 2), 0, invalid, "X->n = 1") == "");
  CHECK(fit(&fixed, rows_of(X.data(), 9, 2), 0, MERCER_DIMENSION_MISMATCH, "Y->n = 10") == "");
  CHECK(fit(&fixed, x, 1, invalid, "K = 1") == "");
  auto other = fixed;
  other.extrapolation = MERCER_EXTRAPOLATION_CLIP;
  CHECK(fit(&other, x, 0, MERCER_UNSUPPORTED, "options->extrapolation", "FREE") == "");
  other = fixed;
  other.precision = MERCER_PRECISION_F64;
  CHECK(fit(&other, x, 0, MERCER_UNSUPPORTED, "options->precision = MERCER_PRECISION_F64",
            "expected F32") == "");
  other = fixed;
  other.folds = 7;
  CHECK(fit(&other, x, 0, invalid, "options->folds = 7", "expected the default, 5") == "");
  other = fixed;
  other.standardize = 0, other.scale = MERCER_SCALE_ROBUST;
  CHECK(fit(&other, x, 0, invalid, "scale = robust and standardize = false") == "");
  other = fixed;
  other.missing = MERCER_MISSING_FILL;
  auto holes = X;
  for (size_t i = 0; i < 10; ++i) holes[2 * i + 1] = std::nan("");
  CHECK(fit(&other, rows_of(holes, 2), 0, invalid, "column 1", "holds no number") == "");
  mercer_kernel_ridge* out = nullptr;
  REQUIRE(mercer_kernel_ridge_fit(one.get(), &fixed, x, y, 0, nullptr, &out) == MERCER_OK);
  const KernelRidgeHandle exact(out);
  double scores[10] = {77};
  const auto predict = [&](const RowsView& rows, const ResultView& to, mercer_status expected,
                           auto... parts) {
    return fault(mercer_kernel_ridge_predict(out, rows, nullptr, to), expected,
                 "mercer_kernel_ridge_predict: ", parts...);
  };
  const auto fits = result_of(scores, 10, 1);
  CHECK(predict(rows_of(X.data(), 10, 2, 1), fits, invalid, "ld = 1") == "");
  CHECK(predict(rows_of(X.data(), 6, 3), fits, MERCER_DIMENSION_MISMATCH, "X->d = 3") == "");
  CHECK(predict(x, result_of(scores, 5, 2), MERCER_DIMENSION_MISMATCH, "scores is 5 x 2") == "");
  CHECK(scores[0] == 77);
}

TEST_CASE("questions to a model refuse NULL", "[capi]") {
  const auto model = small_model();
  double w[16] = {77}, lambda = 77;
  int64_t d = 77, outputs = 77, K = 77;
  CHECK(refused(mercer_model_shape(nullptr, &d, &outputs, &K, &lambda), "mercer_model_shape",
                "model = NULL") == "");
  CHECK((d == 77 && outputs == 77 && K == 77 && lambda == 77));
  CHECK(mercer_model_shape(model.get(), nullptr, nullptr, nullptr, nullptr) == MERCER_OK);
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
  mercer_kernel_ridge_free(nullptr);
  SUCCEED("no crash");
}

}  // namespace
