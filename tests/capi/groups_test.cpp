// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Groups of rows and rows in the order of time, through the API.
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.h"
#include "wrapper.h"

using namespace mercer;

namespace {

constexpr const char* kMap =
    R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":1},"inputs":2,"features":30})";

/// 12 groups of 5 rows, each with a target of its own.
struct Grouped {
  Matrix<double> X{60, 2}, Y{60, 1}, groups{60, 1};
  Matrix<float> single{60, 1};
  Grouped() {
    for (int64_t i = 0; i < 60; ++i) {
      const auto g = static_cast<double>(i % 12);
      X(i, 0) = std::sin(g * g) + 0.01 * std::sin(static_cast<double>(i));
      X(i, 1) = std::cos(3 * g) + 0.01 * std::cos(static_cast<double>(i));
      Y(i, 0) = std::sin(7 * g * g);
      groups(i, 0) = g;
      single(i, 0) = static_cast<float>(g);
    }
  }
  std::string report(const std::string& spec) const {
    return Model::fit(spec, Data(X, Y).groups(groups)).report();
  }
};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("groups and order reach the search, in either precision", "[capi]") {
  const Grouped rows;
  const std::string spec = R"({"map":{"features":32},"ard":"off"})";
  const std::string report = rows.report(spec);
  CHECK(contains(report, R"("rows_are":"grouped")"));
  CHECK(contains(report, R"("criterion":"folds")"));
  CHECK(contains(report, R"("rows":60,"groups":12)"));
  CHECK(Model::fit(spec, Data(rows.X, rows.Y).groups(rows.single)).report() == report);
  const std::string ordered =
      Model::fit(R"({"map":{"features":32},"ard":"off","ordered":true})", Data(rows.X, rows.Y))
          .report();
  CHECK(contains(ordered, R"("rows_are":"ordered")"));
  CHECK(contains(ordered, R"("rows":30,"groups":0)"));
}

TEST_CASE("lambda of groups is chosen by folds over them", "[capi]") {
  const Grouped rows;
  const Map map = Map::from_spec(kMap);
  const Model alone = Model::fit("{}", Data(rows.X, rows.Y).map(map));
  const Model grouped = Model::fit("{}", Data(rows.X, rows.Y).groups(rows.groups).map(map));
  // Rows of the same group tell each other's target: no other group does.
  CHECK(grouped.lambda() > 100 * alone.lambda());
  // A caller's struct of before there were groups.
  mercer_data old = mercer_data_of(Rows(rows.X).get(), Rows(rows.Y).get());
  old.struct_size = offsetof(mercer_data, groups);
  old.map = map.get();
  mercer_model* model = nullptr;
  REQUIRE(mercer_model_fit("{}", &old, nullptr, &model) == MERCER_OK);
  mercer_model_free(model);
}

TEST_CASE("groups that cannot be, and places that take none, are refused", "[capi]") {
  Grouped rows;
  const Map map = Map::from_spec(kMap);
  const auto refused = [&](mercer_status status, const std::string& spec,
                           const Matrix<double>& each, const char* part) {
    try {
      Model::fit(spec, Data(rows.X, rows.Y).groups(each));
    } catch (const Error& error) {
      INFO(error.what());
      return error.status() == status && contains(error.what(), part);
    }
    return false;
  };
  Matrix<double> one(60, 1), few(59, 1), wide(60, 2);
  for (int64_t i = 0; i < 60; ++i) one(i, 0) = 4;
  const std::string fixed = R"({"search":false,"map":{"features":32},"lambda":1e-3})";
  for (const std::string& spec : {std::string("{}"), fixed}) {
    CHECK(refused(MERCER_INVALID_ARGUMENT, spec, one, "every row is of group 4"));
    CHECK(refused(MERCER_DIMENSION_MISMATCH, spec, few, "data->groups"));
    CHECK(refused(MERCER_DIMENSION_MISMATCH, spec, wide, "data->groups"));
  }
  CHECK(refused(MERCER_UNSUPPORTED, R"({"ordered":true})", rows.groups, "ordered"));
  CHECK(refused(MERCER_UNSUPPORTED, R"({"search":false,"select":{"by":"leave_one_out"}})",
                rows.groups, "select.by = leave_one_out"));
  CHECK(refused(MERCER_UNSUPPORTED, R"({"search":false,"select":{"by":"gcv"}})", rows.groups,
                "select.by = gcv"));
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Matrix<double> bad(60, 1);
    for (int64_t i = 0; i < 60; ++i) bad(i, 0) = rows.groups(i, 0);
    bad(7, 0) = wrong;
    CHECK(refused(MERCER_INVALID_ARGUMENT, "{}", bad, "groups: row 7"));
  }
}
