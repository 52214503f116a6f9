// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of models and exact kernel ridge.
#include "fixture.h"

namespace learn_errors_test {
using namespace mercer::test;

constexpr mercer_status kInvalid = MERCER_INVALID_ARGUMENT, kMismatch = MERCER_DIMENSION_MISMATCH;

/// fault of a fit.
template <class... Part>
std::string fit_fault(const char* json, const mercer_data* data, mercer_status expected,
                      const Part&... parts) {
  Slot<mercer_model> slot;
  return slot.fault(mercer_model_fit(json, data, nullptr, slot.out()), expected,
                    "mercer_model_fit: ", parts...);
}

TEST_CASE("fitting refuses bad rows, naming row and column") {
  const auto map = fourier(2, 8);
  auto X = numbers(20, 2), Y = numbers(20, 1);
  const auto x = rows_of(X, 2), y = rows_of(Y, 1);
  const auto fit = [&](const RowsView& rows, const RowsView& targets, mercer_status expected,
                       auto... parts) {
    return fit_fault("{}", data_of(rows, targets, map.get()), expected, parts...);
  };
  CHECK(fit(rows_of(X.data(), 1, 2), rows_of(Y.data(), 1, 1), kInvalid, "n = 1") == "");
  CHECK(fit(rows_of(X.data(), 20, 2, 1), y, kInvalid, "ld = 1") == "");
  CHECK(fit(x, rows_of(Y.data(), 20, 0), kInvalid, "Y.d = 0") == "");
  CHECK(fit(x, rows_of(Y.data(), 20, 2, 1), kInvalid, "ld = 1", "columns of Y") == "");
  CHECK(fit(x, rows_of(Y.data(), 19, 1), kMismatch, "Y.n = 19", "20 as in X") == "");
  CHECK(fit(rows_of(X.data(), 13, 3), rows_of(Y.data(), 13, 1), kMismatch, "3", "2") == "");
  X[2 * 13 + 1] = std::nan("");
  CHECK(fit(x, y, kInvalid, "X: row 13, column 1") == "");
  X[2 * 13 + 1] = 0;
  Y[7] = INFINITY;
  CHECK(fit(x, y, kInvalid, "Y: row 7, column 0") == "");
  Y[7] = 0;
  CHECK(refused(mercer_model_fit("{}", data_of(x, y), nullptr, nullptr), "out = NULL") == "");
}

TEST_CASE("fitting refuses bad numbers of sparse rows, naming row and column") {
  const auto map = fourier(3, 8);
  const auto Y = numbers(20, 1);
  for (const double bad : {std::nan(""), double{INFINITY}, -1e200}) {
    auto X = sparse_numbers(20, 3);
    const auto first = static_cast<size_t>(X.offsets[10]);
    REQUIRE(X.offsets[11] > X.offsets[10]);
    X.values[first] = bad;
    CHECK(fit_fault("{}", data_of(X.view(), rows_of(Y, 1), map.get()), kInvalid,
                    "X: row 10, column " + std::to_string(X.indices[first])) == "");
  }
}

TEST_CASE("what a fit is given is one of rows, a source and sets") {
  const auto X = numbers(20, 2);
  const RowsView x = rows_of(X, 2);
  const mercer_row_source source{};
  const mercer_observations set = mercer_observations_of(nullptr, 1, x, x);
  const auto refuses = [&](void (*change)(mercer_data&), auto... parts) {
    DataView data = data_of(x, x);
    change(data);
    return fit_fault("{}", data, kInvalid, parts...);
  };
  using Data = mercer_data;
  CHECK(fit_fault("{}", nullptr, kInvalid, "data = NULL, expected a mercer_data") == "");
  CHECK(refuses([](Data& data) { data.struct_size = 0; }, "data->struct_size = 0") == "");
  CHECK(refuses([](Data& data) { data.struct_size = 191; }, "data->struct_size = 191") == "");
  CHECK(refuses([](Data& data) { data.reserved = 1; }, "data->reserved = 1") == "");
  CHECK(refuses([](Data& data) { data.Y = {}; }, "Y is missing, expected rows") == "");
  CHECK(refuses([](Data& data) { data.X = {}; }, "no X, no source and no sets") == "");
  DataView data = data_of(x, x);
  data.source = &source;
  CHECK(fit_fault("{}", data, kInvalid, "data has X, source and no sets") == "");
  data.source = nullptr, data.sets = &set, data.set_count = 1;
  CHECK(fit_fault("{}", data, kInvalid, "data has X, no source and sets") == "");
  data.X = {};
  CHECK(fit_fault("{}", data, kInvalid, "data->Y or data->weights without data->X") == "");
  data.Y.struct_size = 0;  // of no size, but not absent
  CHECK(fit_fault("{}", data, kInvalid, "data->Y or data->weights without data->X") == "");
  data.Y = {}, data.weights = X.data();
  CHECK(fit_fault("{}", data, kInvalid, "data->Y or data->weights without data->X") == "");
}

TEST_CASE("given weights are refused where they do not belong") {
  const auto X = numbers(40, 3), Y = numbers(40, 1);
  std::vector<double> w(20, 1.0), b(1, 0.5), spoilt = w;
  spoilt[7] = std::numeric_limits<double>::quiet_NaN();
  const auto map = fourier(3, 20);
  DataView data = data_of(rows_of(X, 3), rows_of(Y, 1), map.get());
  data.intercept = b.data();
  const std::string spec = R"({"lambda":1e-3})";
  CHECK(fit_fault(spec.c_str(), data, kInvalid, "data->intercept without data->w") == "");
  data.w = w.data();
  CHECK(fit_fault("{}", data, kInvalid, "given weights without \"lambda\"") == "");
  CHECK(fit_fault(R"({"model":"gp","lambda":1e-3})", data, MERCER_UNSUPPORTED,
                  "given weights of model = \"gp\"") == "");
  CHECK(fit_fault(R"({"model":"logistic","lambda":1e-3,"loss":"huber"})", data, MERCER_UNSUPPORTED,
                  "given weights of model = \"logistic\"") == "");
  data.map = nullptr;
  CHECK(fit_fault(spec.c_str(), data, kInvalid, "data->w without data->map") == "");
  data.map = map.get(), data.w = spoilt.data();
  CHECK(fit_fault(spec.c_str(), data, kInvalid, "data->w has NaN or Inf") == "");
  const auto field = made<MapHandle>([](auto out) {
    return mercer_map_from_spec(R"({"kernel":{"kernel":"curl_free"},"inputs":3,"features":20})",
                                out);
  });
  const auto of_field = numbers(40, 3);
  const std::vector<double> many(60, 1.0);
  DataView fields = data_of(rows_of(X, 3), rows_of(of_field, 3), field.get());
  fields.w = many.data();
  CHECK(fit_fault(spec.c_str(), fields, MERCER_UNSUPPORTED, "several outputs") == "");
}

TEST_CASE("classes out of range are refused, with a map and without") {
  const auto map = fourier(2, 8);
  const auto X = numbers(20, 2);
  const auto x = rows_of(X, 2);
  std::vector<double> labels(20, 1);
  const std::vector<double> zeros(20);
  for (const mercer_map* on : {static_cast<const mercer_map*>(map.get()), {}}) {
    const auto fit = [&](const std::string& classes, const RowsView& codes, mercer_status expected,
                         auto... parts) {
      return fit_fault((R"({"task":"classification")" + classes + "}").c_str(),
                       data_of(x, codes, on), expected, parts...);
    };
    const std::string three = R"(,"classes":3)";
    for (const double wrong : {5.0, -1.0, 0.5}) {
      labels[4] = wrong;
      CHECK(fit(three, rows_of(labels, 1), kInvalid, "Y: row 4", "class", "from 0 to 2") == "");
    }
    CHECK(fit(R"(,"classes":1)", rows_of(labels, 1), kInvalid, "classes = 1") == "");
    CHECK(fit(R"(,"classes":-2)", rows_of(labels, 1), kInvalid, "classes = -2") == "");
    CHECK(fit(three, rows_of<double>(nullptr, 20, 1), kInvalid, "Y.values = NULL") == "");
    CHECK(fit(three, x, kMismatch, "Y.d = 2", "task = \"classification\"") == "");
    CHECK(fit("", rows_of(zeros, 1), kInvalid, "largest class number in Y is 0") == "");
    std::vector<double> gaps = zeros;
    gaps[3] = 1, gaps[7] = 1000;
    CHECK(fit("", rows_of(gaps, 1), kInvalid, "largest class number in Y is 1000",
              "rows are of 3 of the numbers", "\"classes\": 1001") == "");
    CHECK(fit_fault(R"({"classes":3})", data_of(x, rows_of(zeros, 1), on), kInvalid,
                    "classes = 3 of task = \"regression\"") == "");
  }
}

TEST_CASE("the spec of a fit is checked before anything is fitted") {
  const auto map = fourier(2, 8);
  const auto X = numbers(20, 2);
  const DataView data = data_of(rows_of(X, 2), rows_of(X.data(), 20, 1, 2));
  CHECK(fit_fault(nullptr, data, kInvalid, "json = NULL") == "");
  CHECK(fit_fault(R"({"lambada":1})", data, kInvalid, "unknown key \"lambada\"") == "");
  DataView mapped = data;
  mapped.map = map.get();
  CHECK(fit_fault(R"({"map":"fourier"})", mapped, MERCER_UNSUPPORTED,
                  "of a fit with a map of the caller's") == "");
}

TEST_CASE("prediction refuses bad rows, regression refuses classify") {
  const auto model = small_model();
  auto X = numbers(5, 2);
  const auto x = rows_of(X, 2);
  double scores[5] = {77};
  int32_t labels[5] = {77};
  const auto predict = [&](const mercer_rows& rows, const ResultView& to, mercer_status expected,
                           auto... parts) {
    return fault(mercer_model_predict(model.get(), rows, "value", nullptr, nullptr, to), expected,
                 "mercer_model_predict: ", parts...);
  };
  const auto fits = result_of(scores, 5, 1);
  CHECK(predict(x, result_of(X.data() + 3, 5, 1), kInvalid, "out overlaps X") == "");
  CHECK(predict(x, result_of(scores, 2, 1, -1, true), kMismatch, "out is 2 x 1") == "");
  CHECK(predict(x, result_of(scores, 1, 5), kMismatch, "out is 1 x 5, expected 5 x 1") == "");
  CHECK(predict(rows_of(X.data(), 3, 3), fits, kMismatch, "X.d = 3", "inputs, 2") == "");
  CHECK(mercer_model_predict(model.get(), rows_of<double>(nullptr, 0, 2), "value", nullptr, nullptr,
                             result_of<double>(nullptr, 0, 1)) == MERCER_OK);
  CHECK(fault(classify(model.get(), x, nullptr, nullptr, labels), MERCER_UNSUPPORTED,
              "mercer_model_predict", "what = \"class\"",
              "expected value, prepared, gradient") == "");
  const auto classifier = small_classifier();
  CHECK(refused(classify(classifier.get(), x, nullptr, nullptr, nullptr), "out.data = NULL") == "");
  CHECK(fault(classify(classifier.get(), rows_of(X.data(), 3, 3), nullptr, nullptr, labels),
              kMismatch, "X.d = 3") == "");
  const auto over = reinterpret_cast<int32_t*>(X.data());
  CHECK(refused(classify(classifier.get(), x, nullptr, nullptr, over), "out overlaps X") == "");
  X[3] = std::nan("");
  CHECK(refused(classify(classifier.get(), x, nullptr, nullptr, labels), "row 1") == "");
  CHECK((scores[0] == 77 && labels[0] == 77));
}

TEST_CASE("questions to a model refuse NULL") {
  const auto model = small_model();
  double w[16] = {77};
  mercer_model_info info{sizeof info, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
  CHECK(refused(mercer_model_shape(nullptr, &info), "mercer_model_shape", "model = NULL") == "");
  CHECK((info.inputs == 7 && info.penalty == 7));
  CHECK(refused(mercer_model_shape(model.get(), nullptr), "info = NULL") == "");
  info.struct_size = 8;
  CHECK(refused(mercer_model_shape(model.get(), &info), "struct_size = 8") == "");
  CHECK(fault(mercer_model_weights(model.get(), mercer_matrix_f64(16, 2, w), {}),
              MERCER_DIMENSION_MISMATCH, "mercer_model_weights", "16 x 2") == "");
  CHECK(refused(mercer_model_text(model.get(), "spice", nullptr, 0, nullptr), "spice",
                "expected spec, report, preparation, numbers, norms or metadata") == "");
  CHECK(refused(mercer_model_set_metadata(model.get(), nullptr), "text = NULL") == "");
  const std::string long_text((size_t{1} << 20) + 1, 'a');
  CHECK(refused(mercer_model_set_metadata(model.get(), long_text.c_str()), "1048577") == "");
  CHECK(w[0] == 77);
}

TEST_CASE("freeing NULL does nothing") {
  mercer_context_free(nullptr);
  mercer_kernel_free(nullptr);
  mercer_map_free(nullptr);
  mercer_statistics_free(nullptr);
  mercer_ridge_free(nullptr);
  mercer_model_free(nullptr);
  SUCCEED("no crash");
}

}  // namespace learn_errors_test
