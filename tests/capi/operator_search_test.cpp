// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator_learn.h: searches, intercepts and what is known of a model, through files too.
#include <cmath>
#include <string>
#include <vector>

#include "fixture.h"
#include "mercer/mercer.hpp"
#include "support/catch.h"
#include "support/reference.h"
#include "support/temporary_directory.h"

namespace mercer::test {
namespace {

using Search = mercer_operator_search;
constexpr const char* kFree = R"({"kernel":{"kernel":"divergence_free"},"features":40})";

/// Rows and (-x_2 + 3, x_1) of them.
struct Turning {
  Matrix<double> X{60, 2}, Y{60, 2};
  Turning() {
    const std::vector<double> x = numbers(60, 2);
    for (int64_t i = 0; i < 60; ++i)
      for (int64_t j = 0; j < 2; ++j) {
        X(i, j) = x[static_cast<size_t>(2 * i + j)];
        Y(i, 1 - j) = j == 0 ? X(i, j) : 3 - x[static_cast<size_t>(2 * i + j)];
      }
  }
};

Matrix<double> predicted(const OperatorModel& model, const Matrix<double>& X) {
  Matrix<double> out(X.rows(), 2);
  model.predict(X, out);
  return out;
}

double most_apart(const Matrix<double>& A, const Matrix<double>& B) {
  double most = 0;
  for (int64_t i = 0; i < A.rows(); ++i)
    for (int64_t j = 0; j < A.cols(); ++j) most = std::max(most, std::fabs(A(i, j) - B(i, j)));
  return most;
}

}  // namespace

TEST_CASE("operator searches: a model with its report, told candidates, file and metadata",
          "[capi]") {
  const Turning data;
  Search how = mercer_operator_search_of(3);
  std::vector<mercer_operator_candidate> told;
  how.user = &told;
  how.report = [](void* user, const mercer_operator_candidate* candidate) {
    static_cast<std::vector<mercer_operator_candidate>*>(user)->push_back(*candidate);
  };
  how.metadata = "{\"targets\":[\"u\"]}";
  const OperatorModel model = OperatorModel::search(kFree, data.X, data.Y, how);
  CHECK(most_apart(predicted(model, data.X), data.Y) < 0.02);
  const Reference known = Reference::parse(model.report());
  CHECK(known["metadata"] == "{\"targets\":[\"u\"]}");
  CHECK((known["inputs"] == 2 && known["outputs"] == 2 && known["offset"].size() == 2));
  CHECK(known["spec"]["map"]["kernel"]["kernel"] == "divergence_free");
  const Reference& report = known["report"];
  CHECK((report["score"]["kind"] == "nested" && report["score"]["rows"] == 60));
  CHECK(report["score"]["value"].get<double>() > 0.99);
  CHECK(report["trials"].size() == told.size());
  REQUIRE(!told.empty());
  CHECK((told[0].struct_size == sizeof told[0] && told[0].left_out == 1 && told[0].rows == 60));
  CHECK(report["trials"][0]["lengthscale"] == told[0].lengthscale);

  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/model";
  model.save(path);
  const OperatorModel loaded = OperatorModel::load(path);
  CHECK(loaded.report() == model.report());
  CHECK(most_apart(predicted(loaded, data.X), predicted(model, data.X)) == 0);
  const Reference described = Reference::parse(file_info(path));
  CHECK((described["kind"] == "operator_model" && described["outputs"] == 2));
  CHECK(Reference::parse(described["report"].get<std::string>()) == report);
}

TEST_CASE("operator fits: an intercept is the targets' means, and none is what it was", "[capi]") {
  const Turning data;
  const Map map = Map::from_spec(
      R"({"kernel":{"kernel":"divergence_free"},"inputs":2,"features":40,"root":"orthonormal"})");
  const double lambda = 1e-6;
  mercer_operator_fit how = mercer_operator_fit_of(&lambda, 1);
  const OperatorModel plain = OperatorModel::fit(map, data.X, data.Y, how);
  CHECK(!Reference::parse(plain.report()).contains("offset"));
  how.intercept = 1;
  const OperatorModel lifted = OperatorModel::fit(map, data.X, data.Y, how);
  const Reference offset = Reference::parse(lifted.report())["offset"];
  for (int64_t k = 0; k < 2; ++k) {
    double mean = 0;
    for (int64_t i = 0; i < 60; ++i) mean += data.Y(i, k) / 60;
    CHECK(std::fabs(offset[static_cast<size_t>(k)].get<double>() - mean) < 1e-14);
  }
  // By hand: centred targets, and the means on top.
  Matrix<double> centred(60, 2), sum(60, 2);
  for (int64_t i = 0; i < 60; ++i)
    for (int64_t k = 0; k < 2; ++k)
      centred(i, k) = data.Y(i, k) - offset[static_cast<size_t>(k)].get<double>();
  how.intercept = 0;
  const OperatorModel of_centred = OperatorModel::fit(map, data.X, centred, how);
  sum = predicted(of_centred, data.X);
  for (int64_t i = 0; i < 60; ++i)
    for (int64_t k = 0; k < 2; ++k) sum(i, k) += offset[static_cast<size_t>(k)].get<double>();
  CHECK(most_apart(sum, predicted(lifted, data.X)) < 1e-13);
}

TEST_CASE("operator searches: arguments that are refused, by name", "[capi]") {
  const Turning data;
  const Rows X = data.X, Y = data.Y;
  mercer_operator_model* model = nullptr;
  const double one = 1;
  const auto ask = [&](auto change, const char* json = kFree) {
    Search how = mercer_operator_search_of(0);
    how.assess = 0;
    change(how);
    const mercer_status status =
        mercer_operator_model_search(json, X.get(), Y.get(), &how, nullptr, &model);
    mercer_operator_model_free(model);
    return status;
  };
  CHECK(ask([](Search&) {}) == MERCER_OK);
  CHECK(refused(ask([](Search& s) { s.structure = 3; }), "search->structure") == "");
  CHECK(refused(ask([](Search& s) { s.structure = 1; }), "search->graph") == "");
  CHECK(refused(ask([&](Search& s) { s.graph = X.get(); }), "search->graph") == "");
  CHECK(refused(ask([](Search& s) { s.lambda_count = 1; }), "search->lambda") == "");
  CHECK(refused(ask([&](Search& s) { s.lengthscales = &one; }), "search->lengthscale") == "");
  CHECK(refused(ask([&](Search& s) {
                  s.shapes = &one;
                  s.shape_count = -1;
                }),
                "search->shape_count") == "");
  CHECK(refused(ask([](Search& s) { s.assess = 2; }), "search->assess") == "");
  CHECK(refused(ask([](Search& s) { s.reserved = 1; }), "search->reserved") == "");
  CHECK(refused(ask([](Search& s) { s.struct_size = 8; }), "struct_size") == "");
  CHECK(refused(ask([](Search& s) { s.metadata = "\xff"; }), "search->metadata") == "");
  const auto as_it_is = [](Search&) {};
  CHECK(refused(ask(as_it_is, "{}"), "\"kernel\"") == "");
  CHECK(refused(ask(as_it_is, R"({"kernel":{"kernel":"rotating"}})"), "rotating", "curl_free") ==
        "");
  CHECK(refused(ask(as_it_is, R"({"kernel":{"kernel":"curl_free","scalar":3}})"), "scalar") == "");
  CHECK(refused(ask(as_it_is, R"({"kernel":{"kernel":"curl_free"},"features":"many"})"),
                "features") == "");
  CHECK(fault(ask(as_it_is, R"({"kernel":{"kernel":"curl_free"},"inputs":3})"),
              MERCER_DIMENSION_MISMATCH, "inputs") == "");
  CHECK(refused(mercer_operator_model_search(kFree, X.get(), Y.get(), nullptr, nullptr, &model),
                "search") == "");
  const Map map = Map::from_spec(R"({"kernel":{"kernel":"curl_free"},"inputs":2,"features":4})");
  mercer_operator_fit fit = mercer_operator_fit_of(&one, 1);
  fit.intercept = 2;
  CHECK(refused(mercer_operator_model_fit(map.get(), X.get(), Y.get(), &fit, nullptr, &model),
                "fit->intercept") == "");
  fit.intercept = 1;
  fit.loss = "poisson";
  CHECK(fault(mercer_operator_model_fit(map.get(), X.get(), Y.get(), &fit, nullptr, &model),
              MERCER_UNSUPPORTED, "fit->intercept") == "");
}

}  // namespace mercer::test
