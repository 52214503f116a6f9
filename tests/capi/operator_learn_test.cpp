// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator_learn.h: the same as the core in both precisions, and refusals that name what
// they refuse.
#include "mercer/operator_learn.h"

#include <cmath>
#include <string>
#include <vector>

#include "operators.h"
#include "support/catch.h"
#include "support/reference.h"
#include "wrong_field.h"

namespace mercer::test {
namespace {

using Fit = mercer_operator_fit;
using Bound = mercer_operator_bound;

std::vector<double> coefficients(const LearntHandle& model) {
  std::vector<double> theta(40);
  REQUIRE(mercer_operator_model_parts(model.get(), nullptr, result_of(theta, 1)) == MERCER_OK);
  return theta;
}

constexpr const char* kJoint =
    R"({"kernel":{"kernel":"decomposable","gamma":[2,1,1,2]},"inputs":3,"features":40})";

}  // namespace

TEST_CASE("operator fits: answers, both precisions, losses and gaps", "[capi]") {
  const MapHandle map = make_operator(kJoint);
  const std::vector<double> X = numbers(40, 3), Y = numbers(40, 2);
  const double lambdas[] = {1.0, 1e-2, 1e-4};
  Fit fit = mercer_operator_fit_of(lambdas, 3);
  const LearntHandle exact = learnt(map, X, 3, Y, 2, fit);
  REQUIRE(exact);
  CHECK(fit.taken == MERCER_OPERATOR_METHOD_STEIN);
  CHECK(fit.method == MERCER_OPERATOR_METHOD_AUTOMATIC);  // to be used again
  CHECK((fit.error > 0 && fit.residual == 0 && fit.iterations == 0 && fit.lambdas == lambdas));
  const std::vector<double> theta = coefficients(exact);
  double norm = 0;
  for (const double t : theta) norm += t * t;
  CHECK(std::fabs(norm - fit.squared_norm) < 1e-12 * norm);

  Fit folds = mercer_operator_fit_of(lambdas, 3);
  folds.folds = 5;
  REQUIRE(learnt(map, X, 3, Y, 2, folds));
  CHECK((folds.error > 0 && folds.error != fit.error));
  folds.folds = 1;
  CHECK(!learnt(map, X, 3, Y, 2, folds));
  CHECK(std::string(mercer_last_error()).find("fit->folds = 1") != std::string::npos);

  Fit steps = mercer_operator_fit_of(lambdas + fit.chosen, 1);
  steps.method = MERCER_OPERATOR_METHOD_LSQR;
  steps.tolerance = 1e-13;
  const LearntHandle narrow = learnt(map, std::vector<float>(X.begin(), X.end()), 3,
                                     std::vector<float>(Y.begin(), Y.end()), 2, steps);
  REQUIRE(narrow);
  CHECK((steps.iterations > 0 && steps.residual < 1e-10));
  const std::vector<double> other = coefficients(narrow);
  for (size_t j = 0; j < 40; ++j) CHECK(std::fabs(other[j] - theta[j]) < 1e-5);

  // One output of two observed in every row; quantiles of their own.
  std::vector<double> gaps = Y;
  for (size_t i = 0; i < 40; ++i) gaps[2 * i + i % 2] = std::nan("");
  const double tau[] = {0.2, 0.7};
  Fit quantiles = mercer_operator_fit_of(lambdas + 1, 1);
  quantiles.loss = "quantile";
  quantiles.tau = tau;
  quantiles.delta = 0.1;
  REQUIRE(learnt(map, X, 3, gaps, 2, quantiles));
  // A step brings at most 1e-8 of f: |gradient|^2 / (2 L) if it were the best one. f is below 0.8,
  // its value at 0, and L below 15: 3, the norm of Gamma, over the width 2 delta. Twice that for a
  // step that is not.
  CHECK(quantiles.taken == MERCER_OPERATOR_METHOD_LBFGS);
  CHECK(quantiles.residual < 2 * std::sqrt(2 * 15 * 1e-8 * 0.8));
}

TEST_CASE("operator models: predictions are the map's, files are the model to the bit", "[capi]") {
  const MapHandle map = make_operator(kJoint);
  const std::vector<double> X = numbers(40, 3), Y = numbers(40, 2);
  const double lambda = 1;
  Fit fit = mercer_operator_fit_of(&lambda, 1);
  fit.loss = "huber";
  const LearntHandle model = learnt(map, X, 3, Y, 2, fit);
  REQUIRE(model);
  const std::vector<double> theta = coefficients(model);
  std::vector<double> by_map(80), by_model(80), by_file(80);
  REQUIRE(mercer_map_multiply(map.get(), rows_of(X, 3), rows_of(theta, 1), MERCER_FIELD_VALUE,
                              nullptr, result_of(by_map, 2)) == MERCER_OK);
  REQUIRE(mercer_operator_model_predict(model.get(), rows_of(X, 3), MERCER_FIELD_VALUE, nullptr,
                                        result_of(by_model, 2)) == MERCER_OK);
  CHECK(by_model == by_map);
  std::vector<float> narrow(240);
  const std::vector<float> X32(X.begin(), X.end());
  REQUIRE(mercer_operator_model_predict(model.get(), rows_of(X32, 3), MERCER_FIELD_JACOBIAN,
                                        nullptr, result_of(narrow, 6)) == MERCER_OK);
  CHECK(narrow[0] != 0);

  const TemporaryDirectory directory;
  const std::string path = directory.file("model.mercer");
  REQUIRE(mercer_operator_model_save(model.get(), path.c_str()) == MERCER_OK);
  mercer_operator_model* read = nullptr;
  REQUIRE(mercer_operator_model_load(path.c_str(), &read) == MERCER_OK);
  const LearntHandle again(read);
  CHECK(coefficients(again) == theta);
  REQUIRE(mercer_operator_model_predict(again.get(), rows_of(X, 3), MERCER_FIELD_VALUE, nullptr,
                                        result_of(by_file, 2)) == MERCER_OK);
  CHECK(by_file == by_map);
  mercer_map* part = nullptr;
  REQUIRE(mercer_operator_model_parts(again.get(), &part, nullptr) == MERCER_OK);
  const MapHandle owned(part);
  CHECK(columns_of(part) == 40);
  const std::string info =
      text_of([&](auto... buffer) { return mercer_file_info(path.c_str(), buffer...); });
  CHECK(info.find(R"("kind":"operator_model")") != std::string::npos);
  CHECK(info.find(R"("model":"operator_ridge","loss":"huber","lambda":1)") != std::string::npos);
  CHECK(info.find(R"("coefficients":40)") != std::string::npos);

  Slot<mercer_map> slot;
  CHECK(slot.refused(mercer_map_load(path.c_str(), slot.out()), "operator_model") == "");
  CHECK(refused(mercer_operator_model_predict(model.get(), rows_of(X, 3), 6, nullptr,
                                              result_of(by_map, 2)),
                "kind = 6") == "");
  CHECK(fault(mercer_operator_model_predict(model.get(), rows_of(X, 3), MERCER_FIELD_VALUE, nullptr,
                                            result_of(by_map, 1)),
              MERCER_DIMENSION_MISMATCH, "out") == "");
}

TEST_CASE("the greatest cutoff keeps one column of Gamma, in fits and files, too", "[capi]") {
  const MapHandle map = make_operator(
      R"({"kernel":{"kernel":"decomposable","gamma":[2,1,1,2],"cutoff":1},"inputs":3,"features":20})");
  REQUIRE(map);
  const mercer_map_info info = info_of(map.get());
  CHECK((info.features == 20 && std::fabs(info.dropped - 1.5 / 4) < 1e-15));
  const std::vector<double> X = numbers(40, 3), Y = numbers(40, 2);
  const double lambda = 1e-2;
  for (const int32_t method : {MERCER_OPERATOR_METHOD_STEIN, MERCER_OPERATOR_METHOD_LSQR}) {
    Fit fit = mercer_operator_fit_of(&lambda, 1);
    fit.method = method;
    const LearntHandle model = learnt(map, X, 3, Y, 2, fit);
    REQUIRE(model);
    const LearntHandle again = through_file<LearntHandle>(model.get(), mercer_operator_model_save,
                                                          mercer_operator_model_load);
    REQUIRE(again);
    std::vector<double> before(80), after(80);
    REQUIRE(mercer_operator_model_predict(model.get(), rows_of(X, 3), MERCER_FIELD_VALUE, nullptr,
                                          result_of(before, 2)) == MERCER_OK);
    REQUIRE(mercer_operator_model_predict(again.get(), rows_of(X, 3), MERCER_FIELD_VALUE, nullptr,
                                          result_of(after, 2)) == MERCER_OK);
    CHECK(before == after);
    CHECK(before[0] != 0);
    // One column: the second output is half the first.
    for (size_t i = 0; i < 40; ++i) CHECK(std::fabs(before[2 * i + 1] - before[2 * i] / 2) < 1e-12);
  }
}

TEST_CASE("operator fits refuse what they cannot do, naming it", "[capi]") {
  const MapHandle map = make_operator(kJoint);
  const std::vector<double> X = numbers(10, 3), Y = numbers(10, 2);
  const double lambdas[] = {1e-2, -1};
  Slot<mercer_operator_model> model;
  const auto ask = [&](auto change) {
    Fit fit = mercer_operator_fit_of(lambdas, 1);
    change(fit);
    return mercer_operator_model_fit(map.get(), rows_of(X, 3), rows_of(Y, 2), &fit, nullptr,
                                     model.out());
  };
  CHECK(refused(ask([](Fit& f) { f.method = 6; }), "fit->method = 6") == "");
  CHECK(refused(ask([](Fit& f) { f.lambda_count = 0; }), "fit->lambda_count") == "");
  CHECK(refused(ask([](Fit& f) { f.lambda_count = 2; }), "fit->lambdas = -1") == "");
  CHECK(refused(ask([](Fit& f) { f.lambdas = nullptr; }), "fit->lambdas") == "");
  CHECK(refused(ask([](Fit& f) { f.loss = "hinge"; }), "fit->loss = \"hinge\"") == "");
  CHECK(refused(ask([](Fit& f) { f.delta = 0; }), "fit->delta") == "");
  CHECK(refused(ask([](Fit& f) { f.separate = 2; }), "fit->separate") == "");
  // What squares, and losses without it, would not read.
  static const double tau[] = {0.2, 0.7};
  CHECK(refused(ask([](Fit& f) { f.tau = tau; }), "fit->tau") == "");
  CHECK(refused(ask([](Fit& f) { f.delta = 0.5; }), "fit->delta = 0.5") == "");
  CHECK(refused(ask([](Fit& f) { f.separate = 1; }), "fit->separate = 1") == "");
  const auto of_huber = [&](auto change) {
    return ask([&](Fit& f) {
      f.loss = "huber";
      change(f);
    });
  };
  Fit narrow = mercer_operator_fit_of(lambdas, 1);
  narrow.loss = "huber";
  narrow.delta = 0.5;
  CHECK(learnt(map, X, 3, Y, 2, narrow));
  CHECK(refused(of_huber([](Fit& f) { f.tau = tau; }), "fit->tau") == "");
  CHECK(refused(of_huber([](Fit& f) { f.separate = 1; }), "fit->separate = 1") == "");
  CHECK(refused(ask([](Fit& f) { f.tolerance = -1; }), "fit->tolerance") == "");
  CHECK(refused(ask([](Fit& f) {
                  f.method = MERCER_OPERATOR_METHOD_GRADIENTS;
                  f.tolerance = 1e-6;
                }),
                "fit->tolerance = 1e-06") == "");
  Fit passes = mercer_operator_fit_of(lambdas, 1);
  passes.method = MERCER_OPERATOR_METHOD_GRADIENTS;
  passes.most_iterations = 2;
  CHECK(learnt(map, X, 3, Y, 2, passes));
  CHECK(refused(ask([](Fit& f) { f.most_iterations = 0; }), "fit->most_iterations") == "");
  CHECK(refused(ask([](Fit& f) { f.struct_size = 8; }), "struct_size") == "");
  CHECK(refused(ask([](Fit& f) { f.loss = "logistic"; }), "0 or 1") == "");
  const auto huber = [](Fit& f) {
    f.loss = "huber";
    f.method = MERCER_OPERATOR_METHOD_STEIN;
  };
  CHECK(fault(ask(huber), MERCER_UNSUPPORTED, "huber") == "");
  Fit fit = mercer_operator_fit_of(lambdas, 1);
  CHECK(fault(mercer_operator_model_fit(map.get(), rows_of(X, 3), rows_of(X, 3), &fit, nullptr,
                                        model.out()),
              MERCER_DIMENSION_MISMATCH, "Y") == "");
  CHECK(model.refused(mercer_operator_model_fit(map.get(), rows_of(X, 3), rows_of(Y, 2), nullptr,
                                                nullptr, model.out()),
                      "fit") == "");
}

TEST_CASE("operator bounds: the reference numbers through the door, and refusals", "[capi]") {
  for (const auto& entry : oracle("stats")["orff_corollaries"])
    for (const int32_t printed : {0, 1})
      for (const int32_t kind : {MERCER_OPERATOR_BOUND_31, MERCER_OPERATOR_BOUND_32}) {
        Bound bound = mercer_operator_bound_of(kind, MERCER_BOUNDED_KERNEL_GIVEN, entry["d"]);
        bound.p = entry["p"];
        bound.printed = printed;
        bound.m = entry["m"];
        bound.u = entry["u"];
        bound.v = entry["v"];
        bound.intrinsic = entry["pint"];
        bound.diameter = entry["C"];
        bound.epsilon = entry["eps"];
        bound.frequencies = entry["F"];
        REQUIRE(mercer_operator_frequencies(&bound) == MERCER_OK);
        const std::string key = std::string("corollary") +
                                (kind == MERCER_OPERATOR_BOUND_31 ? "31" : "32") +
                                (printed == 1 ? "_printed" : "_corrected");
        const double expected = entry[key.c_str()];
        CHECK(std::fabs(bound.delta - expected) < 1e-10 * expected);
      }
  // Gamma = 1 and a Gaussian kernel: s^2 = d / sigma^2.
  Bound gaussian =
      mercer_operator_bound_of(MERCER_OPERATOR_BOUND_28, MERCER_BOUNDED_KERNEL_DECOMPOSABLE, 2);
  gaussian.sigma = 0.5;
  gaussian.epsilon = 0.2;
  REQUIRE(mercer_operator_frequencies(&gaussian) == MERCER_OK);
  const int64_t F = gaussian.frequencies;
  CHECK((gaussian.delta <= 0.01 && std::fabs(gaussian.m * gaussian.m - 8) < 1e-12));
  const double by_hand = 256 * 8 / 0.04 * std::exp(-0.04 * static_cast<double>(F) / 16);
  CHECK(std::fabs(gaussian.delta - by_hand) < 1e-10 * by_hand);

  const auto ask = [](Bound& bound) { return mercer_operator_frequencies(&bound); };
  Bound good =
      mercer_operator_bound_of(MERCER_OPERATOR_BOUND_47, MERCER_BOUNDED_KERNEL_CURL_FREE, 3);
  good.bounded = 1;
  good.epsilon = 0.5;
  good.radius = 1e-4;
  good.covering = 1e12;
  Bound asked = good;
  CHECK(ask(asked) == MERCER_OK);
  constexpr WrongField<Bound> kFields[] = {
      WRONG(kind, 5),     WRONG(printed, 2),    WRONG(kernel, -1),      WRONG(reserved, 1),
      WRONG(d, 0),        WRONG(p, 2),          WRONG(sigma, 0),        WRONG(diameter, 0),
      WRONG(epsilon, 0),  WRONG(delta, 1),      WRONG(frequencies, -1), WRONG(radius, 0),
      WRONG(covering, 0), WRONG(intrinsic, 0.5)};
  constexpr WrongField<Bound> kOthers[] = {
      {[](auto& o) { o.struct_size = 4; }, "struct_size"},
      {[](auto& o) { o.kernel = MERCER_BOUNDED_KERNEL_GIVEN; }, "bound->bounded"},
      {[](auto& o) {
         o.kernel = MERCER_BOUNDED_KERNEL_GIVEN;
         o.bounded = 0;
       },
       "bound->m"},
      // Its third power underflows.
      {[](auto& o) {
         o.sigma = 1e-120;
         o.frequencies = 0;
       },
       "bound->m = inf"},
      {[](auto& o) {
         o.sigma = 1e-120;
         o.frequencies = 100;
       },
       "bound->m = inf"}};
  CHECK(unrefused("mercer_operator_frequencies", "bound", kFields, good, ask) == "");
  CHECK(unrefused("mercer_operator_frequencies", "", kOthers, good, ask) == "");
  asked = good;
  asked.bounded = 0;
  CHECK(fault(ask(asked), MERCER_UNSUPPORTED, "bounded") == "");
  asked = good;
  asked.kind = MERCER_OPERATOR_BOUND_28;
  CHECK(fault(ask(asked), MERCER_UNSUPPORTED, "28") == "");
  CHECK(refused(mercer_operator_frequencies(nullptr), "bound") == "");
}

}  // namespace mercer::test
