// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian processes about several centres against plain ones of rows that were moved by hand, and
// against the exact process where features of one centre vanish.
#include <algorithm>
#include <cmath>
#include <string>

#include "io/object_file.h"
#include "model/local.h"
#include "model/predict.h"
#include "spec/report_spec.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/forge.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace local_gp_test {
using namespace mercer;

const std::string kFit = R"({"model":"gp","search":false,"precision":"f64","noise":0.01,)"
                         R"("lambda":1e-4,"prepare":{"standardize":false})";

/// In one dimension a column of signs is exact for each degree.
std::string series(int64_t features) {
  return R"(,"map":{"map":"maclaurin","allocation":"optimized","max_degree":)" +
         std::to_string(features - 1) +
         R"(,"sketch":{"map":"product_sketch","kind":"rademacher","field":"real"},)"
         R"("kernel":{"kernel":"gaussian","lengthscale":0.5},"features":)" +
         std::to_string(features) + "}";
}

/// sin(x_0) + x_1 of rows between -4 and 4.
struct Waves {
  Matrix<double> X, Y;
  explicit Waves(int64_t d) : X(test::random_matrix(100, d, 3)), Y(100, 1) {
    for (int64_t i = 0; i < 100 * d; ++i) X.data()[i] *= 4;
    for (int64_t i = 0; i < 100; ++i) Y(i, 0) = std::sin(X(i, 0)) + (d > 1 ? X(i, 1) : 0);
  }
  model::Model fit(const std::string& keys, const model::GivenMap& map = nullptr) const {
    Context context;
    return test::fit(spec::fit_plan(kFit + keys + "}"), map, Rows(X.view()), Y.view(), {}, context);
  }
  Waves moved(const double* by) const {
    Waves other(X.cols());
    for (int64_t i = 0; i < X.rows(); ++i)
      for (int64_t j = 0; j < X.cols(); ++j) other.X(i, j) -= by[j];
    return other;
  }
};

struct Predicted {
  double mean = 0, variance = 0;
};
Predicted predicted(const model::Model& model, const double* x) {
  Context context;
  const MatrixView<const double> row(x, 1, model.inputs());
  Predicted one;
  model::predict(model, row, context, {&one.mean, 1, 1}, model::Extrapolation::free);
  model::variance(model, row, model::Spread::latent, context, {&one.variance, 1, 1});
  return one;
}

void check_same(const Predicted& a, const Predicted& b) {
  CHECK(std::abs(a.mean - b.mean) < 1e-6);
  CHECK(std::abs(a.variance - b.variance) < 1e-6);
}

TEST_CASE("local gp: about each predicted row the fit is that of rows moved by hand") {
  const Waves waves(1);
  const model::Model local = waves.fit(series(20) + R"(,"local":"test_point")");
  for (const double x : {-3.0, 0.2, 2.5}) {
    const double origin = 0;
    check_same(predicted(local, &x), predicted(waves.moved(&x).fit("", local.map), &origin));
  }
}

TEST_CASE("local gp: a row is predicted by the fit about the nearest of centres that cover all") {
  const Waves waves(1);
  const model::Model local = waves.fit(series(20) + R"(,"local":"clusters","theta":3)");
  REQUIRE(local.local != nullptr);
  const auto& fits = local.local->fits;
  CHECK((fits.size() > 2 && fits.size() < 9));  // rows span 16 lengthscales
  for (int64_t i = 0; i < waves.X.rows(); ++i) {
    double least = kInfinity;
    for (const auto& fit : fits) least = std::min(least, std::abs(waves.X(i, 0) - fit.center[0]));
    CHECK(least <= 3 * 0.5);
  }
  for (const auto& fit : fits) {
    const double x = fit.center[0] + 0.1, there = 0.1;
    check_same(predicted(local, &x),
               predicted(waves.moved(fit.center.data()).fit("", local.map), &there));
  }
}

TEST_CASE("local gp: centres are the mean and then the rows of the reference, in its order") {
  const test::Reference& cases = test::oracle("maclaurin")["farthest_point"];
  REQUIRE(cases.size() == 2);
  for (const test::Reference& one : cases) {
    const auto n = std::ssize(one["X"]), d = std::ssize(one["X"][0]);
    const auto X = test::filled(
        n, d, [&](int64_t i, int64_t k) { return one["X"][i][k].template get<double>(); });
    Context context;
    const model::Model model = test::fit(
        spec::fit_plan(
            R"({"model":"gp","search":false,"lambda":1e-2,"noise":0.1,"prepare":{"standardize":)"
            R"(false},"map":{"map":"maclaurin","features":16,"kernel":{"kernel":)"
            R"("gaussian","lengthscale":1}},"local":"clusters","theta":)" +
            std::to_string(one["theta"].get<double>()) + "}"),
        nullptr, Rows(X.view()), test::random_matrix(n, 1, 2).view(), {}, context);
    REQUIRE(model.local != nullptr);
    const auto& fits = model.local->fits;
    REQUIRE(std::ssize(fits) == std::ssize(one["added"]) + 1);
    for (int64_t k = 0; k < d; ++k)
      CHECK(fits[0].center[k] == Approx(one["mean"][k].get<double>()).epsilon(1e-12));
    double radius = 0;
    for (int64_t i = 0; i < n; ++i) {
      double least = kInfinity;
      for (const auto& fit : fits) {
        double square = 0;
        for (int64_t k = 0; k < d; ++k) square += std::pow(X(i, k) - fit.center[k], 2);
        least = std::min(least, std::sqrt(square));
      }
      radius = std::max(radius, least);
    }
    CHECK(radius == Approx(one["covering_radius"].get<double>()).epsilon(1e-12));
    for (int64_t c = 0; c < std::ssize(one["added"]); ++c)
      for (int64_t k = 0; k < d; ++k)
        CHECK(fits[c + 1].center[k] == X(one["added"][c].get<int64_t>(), k));
  }
}

TEST_CASE(
    "local gp: far from all rows about a test point it is its prior, about one centre nothing") {
  // n lambda = noise: weights of variance 1, and so f, beside the intercept's variance.
  const Waves waves(1);
  const double far = 40;
  const Predicted exact = predicted(
      waves.fit(R"(,"map":{"map":"fourier","features":4096,"kernel":{"kernel":"gaussian",)"
                R"("lengthscale":0.5}})"),
      &far);
  const Predicted local = predicted(waves.fit(series(20) + R"(,"local":"test_point")"), &far);
  const Predicted one = predicted(waves.fit(series(20)), &far);
  CHECK(std::abs(local.variance - 1) < 0.05);
  CHECK(std::abs(exact.variance - 1) < 0.2);  // 4,096 features remember some of it
  CHECK(one.variance < 0.05);
}

TEST_CASE("local gp: where features about one centre vanish, several fit what they cannot") {
  const Waves waves(2);
  const std::string map = R"(,"map":{"map":"maclaurin","allocation":"optimized","features":200,)"
                          R"("kernel":{"kernel":"gaussian","lengthscale":1.5}})";
  Context context;
  const auto error = [&](const model::Model& model) {
    const Matrix<double> found(100, 1);
    model::predict(model, Rows(waves.X.view()), context, found.view());
    double sum = 0;
    for (int64_t i = 0; i < 100; ++i) sum += std::pow(found(i, 0) - waves.Y(i, 0), 2);
    return sum / 100;
  };
  const double one = error(waves.fit(map)),
               several = error(waves.fit(map + R"(,"local":"clusters")"));
  INFO(one << " about one centre, " << several << " about several");
  CHECK(several < one / 2);
}

TEST_CASE("fits warn of features that vanish where the kernel does not, and of no others") {
  const auto warning = [](const model::Model& model) {
    for (const std::string& text : model.report.warnings)
      if (text.find("features keep less") != std::string::npos) return text;
    return std::string();
  };
  const std::string positive = R"(,"map":{"map":"positive","features":300,"kernel":{"kernel":)"
                               R"("gaussian","lengthscale":)";
  const std::string few = R"(,"map":{"map":"nystroem","features":4,"kernel":{"kernel":"gaussian",)"
                          R"("lengthscale":0.1}})";
  const Waves waves(1);
  // A series of 12 degrees lasts some two lengthscales, sqrt(6): rows are up to eight from 0.
  for (const std::string& vanishing : {series(12), positive + R"(1},"tilt":0})", few}) {
    const std::string text = warning(waves.fit(vanishing));
    CAPTURE(vanishing);
    CHECK(text.find("\"local\" fits") != std::string::npos);
    CHECK(text.find("more features") != std::string::npos);
  }
  for (const std::string& sound :
       {series(12) + R"(,"local":"clusters")", series(12) + R"(,"local":"test_point")", series(90),
        positive + R"(4},"tilt":0})", positive + "1}}",
        std::string(R"(,"map":{"map":"fourier","features":64})"),
        std::string(R"(,"map":{"map":"tensor_sketch","features":64,"kernel":{"kernel":)"
                    R"("polynomial","degree":3}})"),
        std::string(R"(,"map":{"map":"random_binning","features":384,"kernel":{"kernel":)"
                    R"("laplacian","lengthscale":0.5}})")}) {
    CAPTURE(sound);
    CHECK(warning(waves.fit(sound)) == "");
  }
  // Of a kernel of several outputs the features of the map of one output count.
  for (const double lengthscale : {0.3, 4.0}) {
    const model::GivenMap joined = spec::map_from_spec(
        R"({"map":"positive","inputs":1,"features":600,"tilt":0,"kernel":{"kernel":"decomposable",)"
        R"("gamma":[[1]],"scalar":{"kernel":"gaussian","lengthscale":)" +
        std::to_string(lengthscale) + "}}}");
    CHECK((warning(waves.fit("", joined)) != "") == (lengthscale < 1));
  }
  // Elsewhere than about the mean local fits are of another kernel.
  const std::string dot = warning(waves.fit(
      R"(,"map":{"map":"positive","features":30,"kernel":{"kernel":"exponential","lengthscale":)"
      R"(1},"tilt":0})"));
  CHECK((dot != "" && dot.find("local") == std::string::npos));
}

TEST_CASE("a search warns of features that vanish; reports of plain fits keep their warnings") {
  const Waves waves(1);
  Context context;
  const auto fit = [&](const std::string& json) {
    return test::fit(spec::fit_plan(json), nullptr, Rows(waves.X.view()), waves.Y.view(), {},
                     context);
  };
  const model::Model found =
      fit(R"({"model":"gp","map":{"map":"maclaurin","features":8,"kernel":{"kernel":"gaussian",)"
          R"("lengthscale":0.2}}})");
  CHECK(spec::print_report(found.report, model::Task::regression).find("features keep less") !=
        std::string::npos);
  const model::Model plain = waves.fit(series(12));
  const std::string text = spec::print_report(plain.report, model::Task::regression);
  CHECK(spec::parse_report(text).warnings == plain.report.warnings);
  CHECK(spec::print_report(spec::parse_report(text), model::Task::regression) == text);
  CHECK_THROWS_AS(spec::parse_report(R"({"warning":[]})"), Error);
}

TEST_CASE("local gp: files keep centres, and rows where each is one") {
  const test::TemporaryDirectory directory;
  const Waves waves(1);
  for (const char* way : {"clusters", "test_point"}) {
    const model::Model model = waves.fit(series(12) + R"(,"local":")" + way + "\"");
    const std::string path = directory.file(way);
    io::save(model, path);
    const auto kept = io::load_model(path);
    CHECK(spec::to_spec(*kept) == spec::to_spec(model));
    for (const double x : {-3.3, 1.0, 7.0}) {
      const Predicted a = predicted(model, &x), b = predicted(*kept, &x);
      CHECK(a.mean == b.mean);
      CHECK(a.variance == b.variance);
    }
  }
}

/// Scores of three classes, then means and variances of their processes.
std::vector<double> of_classes(const model::Model& model, const double* x) {
  Context context;
  const MatrixView<const double> row(x, 1, model.inputs());
  std::vector<double> all(9);
  model::predict(model, row, context, {all.data(), 1, 3}, model::Extrapolation::free);
  model::latent_mean(model, row, context, {all.data() + 3, 1, 3});
  model::variance(model, row, model::Spread::latent, context, {all.data() + 6, 1, 3});
  return all;
}

TEST_CASE("local gp: processes of classes about a centre are those of rows moved by hand") {
  const test::TemporaryDirectory directory;
  const Waves waves(1);
  Matrix<double> labels(100, 1);
  for (int64_t i = 0; i < 100; ++i) labels(i, 0) = std::floor(1.5 * (waves.Y(i, 0) + 1) * 0.999);
  const auto fit = [&](const Waves& rows, const std::string& keys, const model::GivenMap& map) {
    Context context;
    return test::fit(spec::fit_plan(R"({"model":"dirichlet","search":false,"precision":"f64",)"
                                    R"("task":"classification","alpha":0.05,"lambda":1e-3,)"
                                    R"("prepare":{"standardize":false})" +
                                    keys + "}"),
                     map, Rows(rows.X.view()), labels.view(), {}, context);
  };
  for (const char* way : {"clusters", "test_point"}) {
    const model::Model local = fit(waves, series(12) + R"(,"local":")" + way + "\"", nullptr);
    CHECK((local.local->fits.size() > 2) == (way[0] == 'c'));
    io::save(local, directory.file(way));
    const auto kept = io::load_model(directory.file(way));
    for (const double x : {-3.3, 0.2, 2.5}) {
      double center = x;
      for (const auto& one : local.local->fits)
        if (center == x || std::abs(one.center[0] - x) < std::abs(center - x))
          center = one.center[0];
      const double there = x - center;
      const model::Model moved = fit(waves.moved(&center), "", local.map);
      const std::vector<double> own = of_classes(local, &x), expected = of_classes(moved, &there);
      CAPTURE(way, x, center);
      for (size_t k = 0; k < own.size(); ++k) CHECK(std::abs(own[k] - expected[k]) <= 1e-6);
      CHECK(of_classes(*kept, &x) == own);
      int32_t found = -1;
      Context own_context;
      model::classify(*kept, MatrixView<const double>(&x, 1, 1), own_context, {&found, 1});
      CHECK(found == std::max_element(own.begin(), own.begin() + 3) - own.begin());
    }
  }
  Context context;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                test::fit(spec::fit_plan(R"({"model":"dirichlet","search":false,"lambda":1e-3,)"
                                         R"("task":"classification","local":"clusters"})"),
                          nullptr, Rows(waves.X.view()), labels.view(), {}, context),
                "without lambda and alpha");
}

TEST_CASE("local gp: numbers of a file that belong to no fit are refused") {
  const Waves waves(1);
  const model::Model model = waves.fit(series(12) + R"(,"local":"test_point")");
  std::vector<NumberArray> numbers = model::numbers_of(*model.local);
  CHECK_NOTHROW(model::local_of(numbers, model, 1));
  for (size_t at = 0; at < 3; ++at) {
    std::vector<NumberArray> other = numbers;
    other[at].values = std::vector<int64_t>{1, 2};
    other[at].shape = {2};
    CHECK_THROWS_AS(model::local_of(other, model, 1), Error);
    other[at].name = "something";
    CHECK_THROWS_AS(model::local_of(other, model, 1), Error);
  }
  std::swap(numbers[1], numbers[2]);  // names, not places, say what they are
  CHECK_NOTHROW(model::local_of(numbers, model, 1));
}

TEST_CASE("local gp: sizes that the file does not hold are CORRUPT_FILE") {
  const test::TemporaryDirectory directory;
  const Waves waves(1);
  const std::string path = directory.file("model");
  const auto as_word = [](int64_t value) {
    return std::string(reinterpret_cast<char*>(&value), 8);
  };
  for (const char* way : {"clusters", "test_point"}) {
    const model::Model model = waves.fit(series(4) + R"(,"local":")" + way + "\"");
    // Magic and count, then of three arrays a name of 24 bytes, a type, extents and how many.
    for (size_t word = 1; word < 22; ++word)
      for (const int64_t size : {int64_t{-1}, int64_t{1} << 31, int64_t{1} << 61, INT64_MAX}) {
        io::save(model, path);
        test::forge_section(path, "_local", [&](std::string bytes) {
          return bytes.replace(8 * word, 8, as_word(size));
        });
        CAPTURE(way, word, size);
        CHECK(test::outcome([&] { io::load_model(path); }).status == MERCER_CORRUPT_FILE);
      }
  }
}

TEST_CASE("local gp: NaN stays in its row, what has no meaning is refused") {
  const Waves waves(1);
  Context context;
  const model::Model local = waves.fit(series(12) + R"(,"local":"test_point")");
  const double pair[] = {std::nan(""), 0.5};
  Matrix<double> means(2, 1), joint(2, 2);
  model::predict(local, MatrixView<const double>(pair, 2, 1), context, means.view());
  CHECK(std::isnan(means(0, 0)));
  CHECK(means(1, 0) == predicted(local, &pair[1]).mean);
  const double far[] = {0.5, 1e3};
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                model::predict(local, MatrixView<const double>(far, 2, 1), context, means.view(),
                               model::Extrapolation::refuse),
                "row 1");
  CHECK_REFUSED(
      MERCER_UNSUPPORTED,
      model::joint_covariance(local, MatrixView<const double>(pair, 2, 1), context, joint.view()),
      "covariance between rows", "test_point");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, waves.fit(series(12) + R"(,"theta":2)"), "theta = 2");
  const auto refused = [&](const std::string& json) {
    return test::refusal_fault(
        MERCER_UNSUPPORTED,
        [&] {
          test::fit(spec::fit_plan(json), nullptr, Rows(waves.X.view()), waves.Y.view(), {},
                    context);
        },
        "local");
  };
  CHECK(refused(R"({"model":"gp","local":"clusters","lambda":1e-3,"noise":1})") == "");
  // About another centre these would be other kernels, and other processes.
  for (const char* kernel : {R"("exponential","lengthscale":1)", R"("skewed_chi2","c":9)"}) {
    CAPTURE(kernel);
    const std::string map = R"(,"map":{"features":32,"kernel":{"kernel":)" + std::string(kernel) +
                            R"(}},"local":"clusters")";
    CHECK_REFUSED(MERCER_UNSUPPORTED, waves.fit(map), "expected one of x - y and one output");
  }
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                test::fit(spec::fit_plan(R"({"model":"gp","search":false,"local":"clusters"})"),
                          nullptr, Rows(waves.X.view()), waves.Y.view(), {}, context),
                "without lambda and noise");
}

}  // namespace local_gp_test
