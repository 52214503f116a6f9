// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Updates of models: rows that are added, weighted, forgotten or taken away give the model of the
// fit of all rows that are left; files keep the sums; what has none, or other rows, is refused.
#include <cmath>
#include <string>

#include "fixture.h"
#include "wrapper.h"

namespace update_test {
using namespace mercer::test;

using mercer::Data, mercer::Kernel, mercer::Map, mercer::Matrix, mercer::MatrixView, mercer::Model,
    mercer::test::status_of;

constexpr int64_t n = 400, d = 3, D = 32, half = 250;
constexpr double kRounding = 1e-9;

struct Rows {
  std::vector<double> X = numbers(n, d), Y, C, W;
  Rows() {
    for (int64_t i = 0; i < n; ++i) {
      const double* const row = X.data() + i * d;
      const double noise = 0.1 * static_cast<double>(i * 7 % 11 - 5);
      Y.push_back(std::sin(3 * row[0]) + row[1] * row[2] + noise);
      C.push_back(Y.back() > 0.5 ? 2 : Y.back() > -0.2 ? 1 : 0);
      W.push_back(0.001 * static_cast<double>(1 + i % 4));
    }
  }
  MatrixView<const double> x(int64_t first = 0, int64_t last = n) const {
    return {X.data() + first * d, last - first, d};
  }
  MatrixView<const double> y(int64_t first = 0, int64_t last = n) const {
    return {Y.data() + first, last - first, 1};
  }
  MatrixView<const double> c(int64_t first = 0, int64_t last = n) const {
    return {C.data() + first, last - first, 1};
  }
  mercer::Span<const double> w(int64_t first = 0, int64_t last = n) const {
    return {W.data() + first, last - first};
  }
};
const Rows rows;

Map map() { return Map::fourier(Kernel::gaussian(1.0), d, D); }
/// A spec whose model keeps sums, with rows as they are, so that all fits prepare them alike.
std::string spec(const std::string& more) {
  return R"({"keep":"sums","precision":"f64","prepare":{"standardize":false,"extrapolation":"free"})" +
         (more.empty() ? "" : "," + more) + "}";
}
void check_same(const Model& one, const Model& other, const char* what = "value",
                double tolerance = kRounding) {
  const Matrix<double> a = one.predict(rows.x(), what), b = other.predict(rows.x(), what);
  REQUIRE(a.cols() == b.cols());
  double largest = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < a.cols(); ++k) largest = std::max(largest, std::abs(a(i, k) - b(i, k)));
  CHECK(largest < tolerance);
}

TEST_CASE("rows added are those of a fit of all rows") {
  const Map features = map();
  for (const char* model : {R"("lambda":1e-3)", R"("model":"gp","lambda":1e-3)",
                            R"("model":"gp","lambda":1e-3,"noise":0.1)", R"("select":{"by":"gcv"})",
                            R"("model":"gp","select":{"by":"evidence"})"}) {
    const Model whole = Model::fit(spec(model), Data(rows.x(), rows.y()).map(features));
    Model grown = Model::fit(spec(model), Data(rows.x(0, half), rows.y(0, half)).map(features));
    for (int64_t first = half; first < n; first += 50)
      grown = grown.update("{}", Data(rows.x(first, first + 50), rows.y(first, first + 50)));
    INFO(model);
    CHECK(grown.info().rows == n);
    CHECK(grown.lambda() == Approx(whole.lambda()).epsilon(1e-12));
    check_same(grown, whole);
    if (std::string(model).find("gp") == std::string::npos) continue;
    check_same(grown, whole, "latent_variance");
    check_same(grown, whole, "predictive_variance");
  }
}

TEST_CASE("weights of an update are in the units of the fit's") {
  const Map features = map();
  const std::string asked = spec(R"("model":"gp","lambda":1e-3)");
  const Model whole = Model::fit(asked, Data(rows.x(), rows.y()).weights(rows.w()).map(features));
  const Model grown =
      Model::fit(asked,
                 Data(rows.x(0, half), rows.y(0, half)).weights(rows.w(0, half)).map(features))
          .update("{}", Data(rows.x(half), rows.y(half)).weights(rows.w(half)));
  check_same(grown, whole);
  check_same(grown, whole, "predictive_variance", 1e-3);  // counts 400.8 rows, not 400
}

TEST_CASE("classes that are added are those of least squares on all rows") {
  const Map features = map();
  const std::string asked = spec(R"("task":"classification","classes":3,"lambda":1e-3)");
  const Model whole = Model::fit(asked, Data(rows.x(), rows.c()).map(features));
  const Model first = Model::fit(asked, Data(rows.x(0, half), rows.c(0, half)).map(features));
  const Model grown = first.update("{}", Data(rows.x(half), rows.c(half)));
  check_same(grown, whole);
  CHECK(grown.has_probabilities());
  const std::vector<double> fourth = {3, 1};
  CHECK(status_of([&] {
          first.update("{}", Data(rows.x(0, 2), MatrixView<const double>(fourth.data(), 2, 1)));
        }) == MERCER_INVALID_ARGUMENT);
}

TEST_CASE("rows taken away and rows forgotten are those of fits without them") {
  const Map features = map();
  const std::string asked = spec(R"("lambda":1e-3)");
  const Model whole = Model::fit(asked, Data(rows.x(), rows.y()).map(features));
  const Model first = Model::fit(asked, Data(rows.x(0, half), rows.y(0, half)).map(features));
  const Model fewer = whole.update(R"({"remove":true})", Data(rows.x(half), rows.y(half)));
  CHECK(fewer.info().rows == half);
  check_same(fewer, first);
  std::vector<double> ages(n, 1.0);
  std::fill_n(ages.begin(), half, 0.25);
  const Model weighted = Model::fit(asked, Data(rows.x(), rows.y()).weights(ages).map(features));
  check_same(first.update(R"({"decay":0.25})", Data(rows.x(half), rows.y(half))), weighted);
}

TEST_CASE("files keep the sums, and updates after them have the same bits") {
  const Map features = map();
  const Model first = Model::fit(spec(""), Data(rows.x(0, half), rows.y(0, half)).map(features));
  const Model read = Model::from_bytes(first.to_bytes());
  CHECK(read.to_bytes() == first.to_bytes());
  const Data more(rows.x(half), rows.y(half));
  CHECK(read.update("{}", more).to_bytes() == first.update("{}", more).to_bytes());
}

TEST_CASE("a search that keeps sums chooses features, and least squares of classes") {
  const Model model = Model::fit(R"({"keep":"sums"})", Data(rows.x(), rows.y()));
  CHECK(model.spec().find(R"("map":"exact")") == std::string::npos);
  const Model grown = model.update("{}", Data(rows.x(0, 50), rows.y(0, 50)));
  CHECK(grown.score(rows.x(), rows.y()) > 0.8);
  const Model classes =
      Model::fit(R"({"keep":"sums","task":"classification"})", Data(rows.x(), rows.c()));
  CHECK(classes.spec().find(R"("model":"ridge")") != std::string::npos);
  CHECK(classes.update("{}", Data(rows.x(0, 9), rows.c(0, 9))).info().rows == n + 9);
}

void check_refused(mercer_status expected, const std::string& json, const Data& data,
                   const Model& model) {
  INFO(json);
  CHECK(status_of([&] { model.update(json, data); }) == expected);
}

TEST_CASE("what an update cannot do is refused") {
  const Map features = map();
  const Model plain = Model::fit(R"({"lambda":1e-3})", Data(rows.x(), rows.y()).map(features));
  const Data some(rows.x(0, 50), rows.y(0, 50));
  check_refused(MERCER_UNSUPPORTED, "{}", some, plain);
  const Model model =
      Model::fit(spec(R"("lambda":1e-3)"), Data(rows.x(0, half), rows.y(0, half)).map(features));
  for (const char* bad : {R"({"decay":0})", R"({"decay":1.5})", R"({"decay":-1})",
                          R"({"remove":1})", R"({"age":2})", "[]", ""})
    check_refused(MERCER_INVALID_ARGUMENT, bad, some, model);
  check_refused(MERCER_INVALID_ARGUMENT, R"({"remove":true})", Data(rows.x(), rows.y()), model);
  check_refused(MERCER_INVALID_ARGUMENT, R"({"remove":true})",
                Data(rows.x(0, half), rows.y(0, half)), model);
  std::vector<double> far(rows.X.begin(), rows.X.begin() + 50 * d), heavy(50, 1e3);
  check_refused(MERCER_INVALID_ARGUMENT, R"({"remove":true})",
                Data(rows.x(0, 50), rows.y(0, 50)).weights(heavy), model);
  check_refused(MERCER_INVALID_ARGUMENT, R"({"remove":true})",
                Data(rows.x(0, 2), mercer::Span<const double>(heavy.data(), 2)), model);
  far[7] = std::nan("");
  check_refused(MERCER_INVALID_ARGUMENT, "{}",
                Data(MatrixView<const double>(far.data(), 50, d), rows.y(0, 50)), model);
  check_refused(MERCER_DIMENSION_MISMATCH, "{}",
                Data(MatrixView<const double>(far.data(), 50, 2), rows.y(0, 50)), model);
  check_refused(MERCER_UNSUPPORTED, "{}", Data(rows.x(0, 50), rows.y(0, 50)).map(features), model);
}

TEST_CASE("a fit whose rows sums do not say is refused with keep") {
  for (const char* more :
       {R"("map":"exact")", R"("model":"logistic","task":"classification")",
        R"("model":"gp","local":"clusters","lambda":1e-3,"noise":0.1,"search":false)",
        R"("map":{"map":"fourier","form":"complex"},"search":false)",
        R"("solver":"cg","search":false,"lambda":1e-3)"}) {
    const std::string asked = R"({"keep":"sums",)" + std::string(more) + "}";
    const bool classes = asked.find("classification") != std::string::npos;
    INFO(asked);
    CHECK(status_of([&] { Model::fit(asked, Data(rows.x(), classes ? rows.c() : rows.y())); }) ==
          MERCER_UNSUPPORTED);
  }
  std::vector<double> gaps = rows.Y;
  gaps[3] = std::nan("");
  CHECK(status_of([&] {
          Model::fit(spec(R"("lambda":1e-3)"),
                     Data(rows.x(), MatrixView<const double>(gaps.data(), n, 1)).map(map()));
        }) == MERCER_UNSUPPORTED);
}

}  // namespace update_test
