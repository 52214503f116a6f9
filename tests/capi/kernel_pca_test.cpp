// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A model "kernel_pca" through the C API: rows without targets, in memory and from callbacks, its
// texts and its file.
#include "fixture.h"
#include "support/catch.h"

namespace kernel_pca_test {
using namespace mercer::test;

constexpr int64_t kRows = 60, kInputs = 3, kComponents = 4;
constexpr const char* kSpec =
    R"({"model":"kernel_pca","components":4,"preimages":true,"lengthscale":1.5,)"
    R"("map":{"features":32},"precision":"f64"})";
const std::vector<double>& inputs() {
  static const std::vector<double> X = numbers(kRows, kInputs);
  return X;
}

DataView rows_alone() { return data_of(rows_of(inputs(), kInputs), mercer_rows{}); }

std::vector<double> ask(const mercer_model* model, const char* what, int64_t columns) {
  std::vector<double> out(kRows * columns, 77.0);
  REQUIRE(mercer_model_predict(model, rows_of(inputs(), kInputs), what, nullptr, nullptr,
                               result_of(out.data(), kRows, columns)) == MERCER_OK);
  return out;
}

double apart(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0.0 : INFINITY;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// Weights 0, 1 and 2.
const std::vector<double>& row_weights() {
  static const std::vector<double> weights = [] {
    std::vector<double> w;
    for (int64_t i = 0; i < kRows; ++i) w.push_back(static_cast<double>(i % 3));
    return w;
  }();
  return weights;
}

/// Blocks of 7 rows, with no targets; of weighted rows Y is the weights alone.
struct Source {
  int64_t at = 0;
  static int32_t rewind(void* user) { return static_cast<Source*>(user)->at = 0, 0; }
  static int32_t next(void* user, mercer_rows* X, mercer_rows* Y) {
    int64_t& at = static_cast<Source*>(user)->at;
    X->n = std::min<int64_t>(7, kRows - at);
    X->values = inputs().data() + at * kInputs;
    Y->n = X->n;
    Y->values = Y->d == 1 ? row_weights().data() + at : nullptr;
    at += X->n;
    return 0;
  }
};

TEST_CASE("kernel_pca: components, pre-images, texts and file of rows without targets") {
  const ModelHandle model = fitted(kSpec, rows_alone());
  REQUIRE(model != nullptr);
  mercer_model_info info{};
  info.struct_size = sizeof info;
  REQUIRE(mercer_model_shape(model.get(), &info) == MERCER_OK);
  CHECK(info.outputs == kComponents);
  CHECK(info.is_linear == 1);
  const auto report =
      text_of([&](auto... buffer) { return mercer_model_text(model.get(), "report", buffer...); });
  CHECK(holds(report, {"\"variances\":[", "\"total_variance\":", "\"explained\":["}));
  const auto back = reloaded(model.get());
  REQUIRE(back != nullptr);
  CHECK(text_of([&](auto... buffer) {
          return mercer_model_text(back.get(), "report", buffer...);
        }) == report);
  CHECK(ask(back.get(), "value", kComponents) == ask(model.get(), "value", kComponents));
  CHECK(ask(back.get(), "preimage", kInputs) == ask(model.get(), "preimage", kInputs));
  // Of components the derivatives are those of any model of weights.
  CHECK(ask(back.get(), "gradient", kInputs * kComponents) ==
        ask(model.get(), "gradient", kInputs * kComponents));
}

TEST_CASE("kernel_pca: rows of a source give the model of the same rows in memory") {
  Source state;
  const mercer_row_source source = {sizeof source, 0,      kInputs, 0, Source::rewind,
                                    Source::next,  &state, nullptr, 0, nullptr,
                                    nullptr,       nullptr};
  const DataView data = data_of(source);
  const ModelHandle streamed = fitted(kSpec, data), whole = fitted(kSpec, rows_alone());
  REQUIRE(streamed != nullptr);
  CHECK(apart(ask(streamed.get(), "value", kComponents), ask(whole.get(), "value", kComponents)) <=
        1e-10);
  CHECK(apart(ask(streamed.get(), "preimage", kInputs), ask(whole.get(), "preimage", kInputs)) <=
        1e-10);
  Slot<mercer_model> slot;
  const auto fit = [&](const char* spec) {
    return mercer_model_fit(spec, data, nullptr, slot.out());
  };
  CHECK(slot.refused(fit(R"({"model":"kernel_pca"})"), "lengthscale") == "");
  CHECK(slot.refused(fit(R"({"lengthscale":1})"), "at least 1") == "");
}

TEST_CASE("kernel_pca: weights of a source's rows are those of rows in memory") {
  Source state;
  const mercer_row_source source = {sizeof source, 1,      kInputs, 0, Source::rewind,
                                    Source::next,  &state, nullptr, 0, nullptr,
                                    nullptr,       nullptr};
  DataView rows = rows_alone();
  rows.weights = row_weights().data();
  const ModelHandle streamed = fitted(kSpec, data_of(source)), whole = fitted(kSpec, rows);
  REQUIRE((streamed != nullptr && whole != nullptr));
  CHECK(apart(ask(streamed.get(), "value", kComponents), ask(whole.get(), "value", kComponents)) <=
        1e-10);
  CHECK(apart(ask(whole.get(), "value", kComponents),
              ask(fitted(kSpec, rows_alone()).get(), "value", kComponents)) > 1e-3);
}

TEST_CASE("kernel_pca: targets are refused, and no others are asked for pre-images") {
  const auto Y = numbers(kRows, 1);
  Slot<mercer_model> slot;
  const DataView both = data_of(rows_of(inputs(), kInputs), rows_of(Y, 1));
  CHECK(slot.refused(mercer_model_fit(kSpec, both, nullptr, slot.out()), "data->Y", "absent") ==
        "");
  const DataView alone = rows_alone();
  CHECK(slot.refused(mercer_model_fit(R"({"search":false})", alone, nullptr, slot.out()), "Y") ==
        "");
  const ModelHandle model = fitted(R"({"model":"kernel_pca","map":{"features":32}})", rows_alone());
  REQUIRE(model != nullptr);
  std::vector<double> out(kRows * kInputs);
  CHECK(fault(mercer_model_predict(model.get(), rows_of(inputs(), kInputs), "preimage", nullptr,
                                   nullptr, result_of(out.data(), kRows, kInputs)),
              MERCER_UNSUPPORTED, "preimage", "value") == "");
}

}  // namespace kernel_pca_test
