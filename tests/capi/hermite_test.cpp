// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of sets of observations and derivatives of models: what is learnt from values and slopes,
// files of such models, every refusal.
#include "fixture.h"

namespace hermite_test {
using namespace mercer::test;

constexpr int64_t n = 60, d = 2, D = 200;

/// f(x) = sin(2 x_0) + x_0 x_1 and its derivatives.
struct Known {
  std::vector<double> X = numbers(n, d), f, first, second, mixed;
  Known() {
    for (int64_t i = 0; i < n; ++i) {
      const double a = X[2 * i], b = X[2 * i + 1];
      f.push_back(std::sin(2 * a) + a * b + 30);
      first.push_back(2 * std::cos(2 * a) + b);
      second.push_back(a);
      mixed.push_back(1);
    }
  }
};

MapHandle fourier() {
  return make_map(R"("fourier","kernel":{"kernel":"gaussian","lengthscale":1.5})", d, D);
}

TEST_CASE("Hermite learning in C: a model of values and slopes, and its file") {
  const Known known;
  const MapHandle map = fourier();
  const RowsView X = rows_of(known.X, d), some = part_of(X, 0, 12);
  const RowsView Y = part_of(rows_of(known.f, 1), 0, 12);
  const RowsView slopes[] = {part_of(rows_of(known.first, 1), 0, 12),
                             part_of(rows_of(known.second, 1), 0, 12)};
  const int32_t p[] = {1, 0}, q[] = {0, 1};
  std::vector<mercer_observations> sets = {mercer_observations_of(nullptr, 1, some, Y),
                                           mercer_observations_of(p, 1, some, slopes[0]),
                                           mercer_observations_of(q, 1, some, slopes[1])};
  const char* const spec = R"({"lambda":1e-10})";
  const ModelHandle model = fitted(spec, data_of(sets, map.get()));
  REQUIRE(model);
  const auto error_of = [&](const mercer_model* of) {
    const std::vector<double> predicted = values_of(of, X);
    double worst = 0;
    for (size_t i = 0; i < predicted.size(); ++i)
      worst = std::max(worst, std::fabs(predicted[i] - known.f[i]));
    return worst;
  };
  CHECK(error_of(model.get()) < 0.03);
  sets.resize(1);
  const ModelHandle of_values = fitted(spec, data_of(sets, map.get()));
  REQUIRE(of_values);
  CHECK(error_of(of_values.get()) > 3 * error_of(model.get()));

  std::vector<double> gradient(n * d);
  REQUIRE(mercer_model_predict(model.get(), X, "gradient", nullptr, nullptr,
                               result_of(gradient, d)) == MERCER_OK);
  const int32_t both[] = {1, 1, 0, 0};
  std::vector<float> partials(n * 2);
  mercer_predict_options options{};
  options.struct_size = sizeof options;
  options.partial_count = 2;
  options.partials = both;
  REQUIRE(mercer_model_predict(model.get(), X, "partials", &options, nullptr,
                               result_of(partials, 2)) == MERCER_OK);
  const std::vector<double> predicted = values_of(model.get(), X);
  for (size_t i = 0; i < n; ++i) {
    CHECK(std::fabs(gradient[2 * i] - known.first[i]) < 0.3);
    CHECK(std::fabs(gradient[2 * i + 1] - known.second[i]) < 0.3);
    CHECK(std::fabs(partials[2 * i] - known.mixed[i]) < 0.3);
    CHECK(partials[2 * i + 1] == static_cast<float>(predicted[i]));
  }

  CHECK(values_of(reloaded(model.get()).get(), X) == predicted);
  CHECK(text_of([&](auto... buffer) {
          return mercer_model_text(model.get(), "report", buffer...);
        }) == "{}");
}

TEST_CASE("Hermite learning in C: gp has variances, and in its file") {
  const Known known;
  const MapHandle map = fourier();
  const RowsView X = rows_of(known.X, d);
  const int32_t p[] = {1, 0};
  std::vector<mercer_observations> sets = {
      mercer_observations_of(nullptr, 1, part_of(X, 0, 12), part_of(rows_of(known.f, 1), 0, 12))};
  const auto variances = [&](const mercer_model* of, const char* what) {
    std::vector<double> out(n);
    REQUIRE(mercer_model_predict(of, X, what, nullptr, nullptr, result_of(out, 1)) == MERCER_OK);
    return out;
  };
  const char* const spec = R"({"model":"gp","lambda":1e-4,"noise":1e-4})";
  const ModelHandle of_values = fitted(spec, data_of(sets, map.get()));
  sets.push_back(
      mercer_observations_of(p, 1, part_of(X, 0, 12), part_of(rows_of(known.first, 1), 0, 12)));
  const ModelHandle model = fitted(spec, data_of(sets, map.get()));
  REQUIRE((model && of_values));
  const std::vector<double> sure = variances(model.get(), "latent_variance"),
                            less = variances(of_values.get(), "latent_variance");
  for (size_t i = 0; i < n; ++i) CHECK((sure[i] > 0 && sure[i] < less[i]));  // n of values stays
  CHECK(variances(reloaded(model.get()).get(), "latent_variance") == sure);
  std::vector<double> slopes(n * d);
  CHECK(mercer_model_predict(model.get(), X, "gradient_variance", nullptr, nullptr,
                             result_of(slopes, d)) == MERCER_OK);
}

TEST_CASE("Hermite learning in C: the spec's map, its lengthscale by rows held out") {
  const Known known;
  const RowsView X = rows_of(known.X, d);
  const int32_t p[] = {1, 0}, q[] = {0, 1};
  std::vector<mercer_observations> sets;
  const std::vector<double>* const of[] = {&known.f, &known.first, &known.second};
  const int32_t* const partials[] = {nullptr, p, q};
  for (int s = 0; s < 3; ++s)
    sets.push_back(mercer_observations_of(partials[s], 1, part_of(X, 0, 20),
                                          part_of(rows_of(*of[s], 1), 0, 20)));
  const auto learnt = [&](const std::string& keys) {
    return fitted((R"({"model":"gp",)" + keys + "}").c_str(), data_of(sets, nullptr));
  };
  const std::string map = R"("map":{"map":"nystroem","order":1,"features":60,"kernel":)";
  const ModelHandle model = learnt(map + R"({"kernel":"gaussian"}})");
  REQUIRE(model);
  const std::string spec =
      text_of([&](auto... buffer) { return mercer_model_text(model.get(), "spec", buffer...); });
  const auto number = [&](const char* key) {
    return std::stod(spec.substr(spec.find(key) + std::string(key).size()));
  };
  const double l = number("\"lengthscale\":"), lambda = number("\"lambda\":");
  char rest[200];
  std::snprintf(rest, sizeof rest, R"({"kernel":"gaussian","lengthscale":%.17g}},"lambda":%.17g)",
                l, lambda);
  const ModelHandle again = learnt(map + rest);
  REQUIRE(again);
  const std::vector<double> values = values_of(again.get(), X), found = values_of(model.get(), X);
  for (size_t i = 0; i < n; ++i) CHECK(std::fabs(values[i] - found[i]) < 1e-3);  // sums of folds
  const auto error_of = [&](const mercer_model* one) {
    const std::vector<double> f = values_of(one, part_of(X, 20, n - 20));
    double sum = 0;
    for (size_t i = 0; i < f.size(); ++i) sum += std::pow(f[i] - known.f[i + 20], 2);
    return std::sqrt(sum / static_cast<double>(f.size()));
  };
  const ModelHandle far = learnt(map + R"({"kernel":"gaussian","lengthscale":0.05}})");
  CHECK(error_of(model.get()) < 0.05);
  CHECK(error_of(far.get()) > 3 * error_of(model.get()));
}

TEST_CASE("Hermite learning in C: what is refused") {
  const Known known;
  const MapHandle map = fourier();
  const RowsView X = rows_of(known.X, d), Y = rows_of(known.f, 1);
  const mercer_observations good = mercer_observations_of(nullptr, 1, X, Y);
  std::vector<mercer_observations> sets = {good, good};
  Slot<mercer_model> slot;
  const auto fit = [&](const char* json = R"({"lambda":1e-6})") {
    return mercer_model_fit(json, data_of(sets, map.get()), nullptr, slot.out());
  };
  const auto without_map = [&](const char* json) {
    return mercer_model_fit(json, data_of(sets, nullptr), nullptr, slot.out());
  };
  CHECK(slot.refused(without_map(R"({"lambda":1})"), "lengthscale") == "");
  CHECK(slot.fault(without_map(R"({"lambda":1,"lengthscale":1,"map":"exact"})"), MERCER_UNSUPPORTED,
                   "exact", "nystroem") == "");
  CHECK(slot.fault(fit(R"({"lambda":1,"map":"fourier"})"), MERCER_UNSUPPORTED, "\"map\"") == "");
  CHECK(fitted("{}", data_of(sets, map.get())) != nullptr);  // lambda by folds
  CHECK(slot.fault(fit(R"({"select":{"by":"gcv"}})"), MERCER_UNSUPPORTED, "gcv", "folds") == "");
  CHECK(slot.refused(fit(R"({"select":{"by":"folds","folds":100000}})"), "folds = 100000") == "");
  CHECK(slot.refused(fit(R"({"lambda":-1})"), "lambda = -1") == "");
  CHECK(slot.refused(fit(R"({"lambda":1,"center":2})"), "center = 2", "true or false") == "");
  CHECK(slot.fault(fit(R"({"lambda":1,"prepare":{}})"), MERCER_UNSUPPORTED, "\"prepare\"") == "");
  CHECK(slot.fault(fit(R"({"lambda":1,"model":"logistic"})"), MERCER_UNSUPPORTED, "logistic") ==
        "");
  DataView none = data_of(sets, map.get());
  none.set_count = 0;
  CHECK(slot.refused(mercer_model_fit(R"({"lambda":1})", none, nullptr, slot.out()),
                     "data->set_count = 0") == "");
  const auto refuses = [&](void (*change)(mercer_observations&), auto... parts) {
    sets[1] = good;
    change(sets[1]);
    return slot.refused(fit(), parts...);
  };
  using Set = mercer_observations;
  CHECK(refuses([](Set& set) { set.struct_size = 168; }, "sets[1].struct_size", "176") == "");
  CHECK(refuses([](Set& set) { set.reserved = 1; }, "sets[1].reserved") == "");
  CHECK(refuses([](Set& set) { set.weight = 0; }, "sets[1].weight") == "");
  static const int32_t negative[] = {0, -1};
  CHECK(refuses([](Set& set) { set.partial = negative; }, "sets[1].partial[1]", "-1") == "");
  CHECK(refuses([](Set& set) { set.Y = {}; }, "sets[1].Y is missing, expected rows") == "");
  static const std::vector<double> odd_weights = [] {
    std::vector<double> weights(n, 1);
    weights[7] = -2;
    return weights;
  }();
  CHECK(refuses([](Set& set) { set.row_weights = odd_weights.data(); }, "-2") == "");
  sets[1] = good;
  sets[1].Y.n = 3;
  CHECK(slot.fault(fit(), MERCER_DIMENSION_MISMATCH, "sets[1].Y.n = 3") == "");

  const ModelHandle model = fitted(R"({"lambda":1e-6})", data_of({good}, map.get()));
  std::vector<double> out(n * d);
  const auto gradient = [&](const mercer_model* of, const mercer_rows& at, int64_t columns) {
    return mercer_model_predict(of, at, "gradient", nullptr, nullptr, result_of(out, columns));
  };
  CHECK(fault(gradient(model.get(), X, 1), MERCER_DIMENSION_MISMATCH, "out") == "");
  CHECK(fault(gradient(model.get(), Y, d), MERCER_DIMENSION_MISMATCH, "X.d = 1") == "");
  CHECK(refused(gradient(nullptr, X, d), "model") == "");
}

TEST_CASE("a default fit of 300 rows in C, by the kernel itself, has derivatives") {
  // Points spread evenly, and noise that a fit does not follow, so that weights stay small and
  // differences lose few digits.
  constexpr double kSteps[] = {0.8567, 0.7339, 0.6287, 0.5386};
  std::vector<double> X, y;
  for (int64_t i = 0; i < 300; ++i) {
    for (const double step : kSteps) X.push_back(2 * std::fmod(step * double(i + 1), 1.0) - 1);
    const double* const x = &X[4 * i];
    y.push_back(std::sin(2 * x[0]) + x[1] * x[2] + 0.05 * std::sin(1e4 * double(i)));
  }
  const bool plain = GENERATE(false, true);  // second derivatives are those of scaled inputs
  const ModelHandle model =
      fitted(plain ? R"({"prepare":{"transform":"none","target_transform":"none"}})" : "{}",
             data_of(rows_of(X, 4), rows_of(y, 1)));
  REQUIRE(model);
  const MapHandle map = map_of(model.get());
  CHECK(holds(spec_of(map.get()), R"("map":"exact")"));
  CHECK(columns_of(map.get()) == 300);
  const int64_t rows = 8;
  const RowsView some = part_of(rows_of(X, 4), 0, rows);
  std::vector<double> gradient(rows * 4), hessian(rows * 4), laplacian(rows), partials(rows);
  mercer_predict_options options{};
  options.struct_size = sizeof options;
  const auto ask = [&](const char* what, const RowsView& at, std::vector<double>& out,
                       int64_t columns) {
    const mercer_status status =
        mercer_model_predict(model.get(), at, what, &options, nullptr, result_of(out, columns));
    INFO(what << ": " << mercer_last_error());
    REQUIRE(status == MERCER_OK);
  };
  ask("gradient", some, gradient, 4);
  double steepest = 0;
  for (const double slope : gradient) steepest = std::max(steepest, std::fabs(slope));
  CHECK(steepest > 0.3);
  constexpr double kStep = 1e-3;
  for (int64_t k = 0; k < 4; ++k) {
    std::vector<double> above(X.begin(), X.begin() + rows * 4), below = above, f(rows), g(rows);
    for (int64_t i = 0; i < rows; ++i) {
      above[4 * i + k] += kStep;
      below[4 * i + k] -= kStep;
    }
    options.extrapolation = MERCER_EXTRAPOLATION_FREE;
    ask("value", rows_of(above, 4), f, 1);
    ask("value", rows_of(below, 4), g, 1);
    for (int64_t i = 0; i < rows; ++i)
      CHECK(std::fabs((f[i] - g[i]) / (2 * kStep) - gradient[4 * i + k]) < 1e-3 * steepest);
  }
  std::vector<double> again(rows * 4);
  REQUIRE(mercer_model_predict(reloaded(model.get()).get(), some, "gradient", nullptr, nullptr,
                               result_of(again, 4)) == MERCER_OK);
  CHECK(again == gradient);
  if (!plain) return;
  ask("hessian_diagonal", some, hessian, 4);
  ask("laplacian", some, laplacian, 1);
  const int32_t twice[] = {0, 2, 0, 0};
  options.partial_count = 1;
  options.partials = twice;
  ask("partials", some, partials, 1);
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0, size = 0;
    for (int64_t k = 0; k < 4; ++k) {
      sum += hessian[4 * i + k];
      size += std::fabs(hessian[4 * i + k]);
    }
    CHECK(std::fabs(sum - laplacian[i]) <= 1e-6 * size);
    CHECK(std::fabs(partials[i] - hessian[4 * i + 1]) <= 1e-9 * size);
  }
  const mercer_observations values =
      mercer_observations_of(nullptr, 1, some, part_of(rows_of(y, 1), 0, rows));
  Slot<mercer_model> slot;
  CHECK(slot.fault(mercer_model_fit(R"({"lambda":1e-3})", data_of({values}, map.get()), nullptr,
                                    slot.out()),
                   MERCER_UNSUPPORTED, "exact", "nystroem") == "");
}

}  // namespace hermite_test
