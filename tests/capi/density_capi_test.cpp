// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A model "density" through the C API: rows without targets, its derivatives, texts and file.
#include "fixture.h"
#include "support/catch.h"

namespace density_capi_test {
using namespace mercer::test;

constexpr int64_t kRows = 60, kInputs = 2;
constexpr const char* kSpec =
    R"({"model":"density","lengthscale":1.5,"normaliser":500,"select":{"folds":3,"smallest":0.01},)"
    R"("map":{"features":32},"precision":"f64"})";

std::vector<double> ask(const mercer_model* model, const std::vector<double>& X, const char* what,
                        int64_t columns) {
  std::vector<double> out(kRows * columns, 77.0);
  REQUIRE(mercer_model_predict(model, rows_of(X, kInputs), what, nullptr, nullptr,
                               result_of(out.data(), kRows, columns)) == MERCER_OK);
  return out;
}

TEST_CASE("density: values, derivatives, texts and file of rows without targets") {
  const std::vector<double> X = numbers(kRows, kInputs);
  const ModelHandle model = fitted(kSpec, data_of(rows_of(X, kInputs), mercer_rows{}));
  REQUIRE(model != nullptr);
  mercer_model_info info{};
  info.struct_size = sizeof info;
  REQUIRE(mercer_model_shape(model.get(), &info) == MERCER_OK);
  CHECK(info.outputs == 1);
  CHECK(info.classes == 0);
  const auto text = [](const mercer_model* of, const char* what) {
    return text_of([&](auto... buffer) { return mercer_model_text(of, what, buffer...); });
  };
  const std::string report = text(model.get(), "report");
  CHECK(holds(report, {"\"density\":{\"loss\":", "\"standard_error\":", "\"base_loss\":",
                       "\"log_normaliser\":", "\"effective_draws\":"}));
  const auto back = reloaded(model.get());
  REQUIRE(back != nullptr);
  CHECK(text(back.get(), "report") == report);
  CHECK(text(back.get(), "spec") == text(model.get(), "spec"));
  constexpr double kStep = 1e-5;
  std::vector<double> moved[2] = {X, X};
  for (int64_t i = 0; i < kRows; ++i) {
    moved[0][i * kInputs] += kStep;
    moved[1][i * kInputs] -= kStep;
  }
  const auto up = ask(model.get(), moved[0], "value", 1),
             down = ask(model.get(), moved[1], "value", 1),
             gradient = ask(back.get(), X, "gradient", kInputs);
  for (int64_t i = 0; i < kRows; ++i)
    CHECK(gradient[i * kInputs] ==
          Approx((up[i] - down[i]) / (2 * kStep)).epsilon(1e-6).margin(1e-6));
  CHECK(ask(back.get(), X, "value", 1) == ask(model.get(), X, "value", 1));
}

TEST_CASE("density: targets, and quantities that it does not have, are refused") {
  const std::vector<double> X = numbers(kRows, kInputs), Y = numbers(kRows, 1);
  Slot<mercer_model> slot;
  const DataView both = data_of(rows_of(X, kInputs), rows_of(Y, 1));
  CHECK(slot.refused(mercer_model_fit(kSpec, both, nullptr, slot.out()), "data->Y", "absent") ==
        "");
  const ModelHandle model = fitted(kSpec, data_of(rows_of(X, kInputs), mercer_rows{}));
  REQUIRE(model != nullptr);
  std::vector<double> out(kRows);
  CHECK(fault(mercer_model_predict(model.get(), rows_of(X, kInputs), "probability", nullptr,
                                   nullptr, result_of(out.data(), kRows, 1)),
              MERCER_UNSUPPORTED, "probability", "value, prepared, gradient") == "");
}

}  // namespace density_capi_test
