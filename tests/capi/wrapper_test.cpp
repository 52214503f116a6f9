// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer.hpp: kernels become specs, what is fitted has its shapes, failures become exceptions.
#include "wrapper.h"

#include <locale>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "fixture.h"

namespace wrapper_test {
using namespace mercer::test;

using mercer::Kernel, mercer::Map, mercer::Matrix, mercer::MatrixView, mercer::Rows;

TEST_CASE("kernels by name are those of their specs") {
  const std::vector<double> l{0.1, 1.0 / 3};
  const auto same = [](const Kernel& made, const std::string& json) {
    CHECK(made.spec() == Kernel::from_spec(json).spec());
  };
  const std::string list = "\"lengthscale\":[0.1,0.33333333333333331]";
  same(Kernel::gaussian(l), "{\"kernel\":\"gaussian\"," + list + "}");
  same(Kernel::gaussian(l, 0.7), "{\"kernel\":\"gaussian\",\"variance\":0.7," + list + "}");
  same(Kernel::matern(1.5, {0.5, 2}), R"({"kernel":"matern","nu":1.5,"lengthscale":[0.5,2]})");
  CHECK(status_of([&] { Kernel::matern(1.5, {0, 1}); }) == MERCER_INVALID_ARGUMENT);
  same(Kernel::laplacian(0.3), R"({"kernel":"laplacian","lengthscale":0.3})");
  same(Kernel::cauchy(l, 2), "{\"kernel\":\"cauchy\",\"variance\":2," + list + "}");
  same(Kernel::matern(2.3, l), "{\"kernel\":\"matern\",\"nu\":2.3," + list + "}");
  same(Kernel::rational_quadratic(1.7, 1e-200),
       R"({"kernel":"rational_quadratic","alpha":1.7,"lengthscale":1e-200})");
  same(Kernel::generalized_gaussian_spectrum(3, l),
       "{\"kernel\":\"generalized_gaussian_spectrum\",\"order\":3," + list + "}");
  same(Kernel::skewed_chi2(0.4, 3), R"({"kernel":"skewed_chi2","c":0.4,"variance":3})");
  same(Kernel::polynomial(3, 0.7, 0.5),
       R"({"kernel":"polynomial","degree":3,"gamma":0.7,"offset":0.5})");
  same(Kernel::bilinear(2), R"({"kernel":"bilinear","left":2})");
  for (const double wrong : {std::nan(""), double{INFINITY}, -1.0}) {
    CHECK(status_of([&] { Kernel::matern(wrong, 1.0); }) == MERCER_INVALID_ARGUMENT);
    CHECK(status_of([&] { Kernel::cauchy(1.0, wrong); }) == MERCER_INVALID_ARGUMENT);
  }
}

struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_CASE("kernels by name are the same in every locale") {
  const std::string expected = Kernel::polynomial(1000, 1234567.5, 0.1).spec();
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Commas));
  std::string spec;
  const mercer_status status =
      status_of([&] { spec = Kernel::polynomial(1000, 1234567.5, 0.1).spec(); });
  std::locale::global(before);
  CHECK(status == MERCER_OK);
  CHECK(spec == expected);
}

TEST_CASE("a kernel's variance multiplies its values") {
  const double X[] = {1, 2, 3}, Y[] = {4, -5, 7};
  const MatrixView<const double> x(X, 1, 3), y(Y, 1, 3);
  Matrix<double> K(1, 1), one(1, 1);
  Kernel::bilinear(1, 2).gram(x, y, K);
  CHECK(K(0, 0) == 2 * 4 * (-10 + 21));
  Kernel::matern(2.5, 0.7, 3).gram(x, y, K);
  Kernel::matern(2.5, 0.7).gram(x, y, one);
  CHECK(K(0, 0) == Approx(3 * one(0, 0)).epsilon(4e-16));
  CHECK(one(0, 0) > 0);
  CHECK(status_of([&] { Kernel::gaussian(1.0).gram(x, MatrixView<const double>(Y, 1, 2), K); }) ==
        MERCER_DIMENSION_MISMATCH);
}

TEST_CASE("variances, predicted errors and recommendations are those of the C API") {
  constexpr int64_t n = 12, d = 3, ld = 4;
  const auto stored = numbers(n, ld);
  const MatrixView<const double> X(stored.data(), n, d, ld), first(stored.data(), 2, d, ld);
  const char* const asked =
      R"({"kernel":{"kernel":"polynomial","degree":3},"features":18,"seed":7})";
  double error = 0, variance[2], pseudo[2];
  mercer_map* out = nullptr;
  REQUIRE(mercer_map_recommend(asked, Rows(X).get(), nullptr, &out, nullptr, 0, nullptr) ==
          MERCER_OK);
  const Map best(out);
  const mercer::Recommendation wrapped = Map::recommend(asked, X);
  CHECK(wrapped.map.spec() == best.spec());
  CHECK(wrapped.answer.find(R"("features":18)") != std::string::npos);
  REQUIRE(mercer_map_kernel_error(out, Rows(X).get(), MERCER_KERNEL_ERROR_PREDICTED, nullptr,
                                  &error) == MERCER_OK);
  CHECK(best.kernel_error(X, MERCER_KERNEL_ERROR_PREDICTED) == error);

  const Map complex = complex_map();
  const MatrixView<const double> second(stored.data() + 2 * ld, 2, d, ld);
  const mercer_rows x = Rows(first).get(), y = Rows(second).get();
  REQUIRE(mercer_map_variance(complex.get(), x, y, MERCER_VARIANCE_ESTIMATE, nullptr, variance) ==
          MERCER_OK);
  REQUIRE(mercer_map_variance(complex.get(), x, y, MERCER_VARIANCE_PSEUDO, nullptr, pseudo) ==
          MERCER_OK);
  CHECK(complex.variance(first, second) == std::vector<double>(variance, variance + 2));
  CHECK(complex.variance(first, second, MERCER_VARIANCE_PSEUDO) ==
        std::vector<double>(pseudo, pseudo + 2));
  CHECK(variance[0] != pseudo[0]);
}

TEST_CASE("statistics and ridge in C++ have their shapes") {
  mercer::Statistics statistics(4, 3);
  const auto Z = numbers(40, 4), Y = numbers(40, 3);
  const MatrixView<const double> z(Z.data(), 40, 4), y(Y.data(), 40, 3);
  statistics.add(z, y);
  const mercer::Ridge ridge(statistics, true);
  CHECK((ridge.rows() == 40 && ridge.features() == 4 && ridge.outputs() == 3));
  CHECK((ridge.solve(1e-3).w.rows() == 4 && ridge.gcv(1e-3).size() == 3));
  CHECK(status_of([&] { statistics.add(z, z); }) == MERCER_DIMENSION_MISMATCH);
  statistics.remove(z, y);
  CHECK((statistics.rows() == 0 && statistics.features() == 4 && statistics.outputs() == 3));
}

/// Rows of two columns and what is learnt from them.
struct Training {
  Matrix<double> X{80, 2}, y{80, 1}, classes{80, 1};
  Training() {
    const auto random = numbers(80, 2);
    for (int64_t i = 0; i < 80; ++i) {
      for (int64_t j = 0; j < 2; ++j) X(i, j) = random[2 * i + j];
      y(i, 0) = std::sin(3 * X(i, 0)) * X(i, 1);
      classes(i, 0) = X(i, 0) > 0 ? 1 : 0;
    }
  }
};

TEST_CASE("models in C++: regression, classes, spec and search") {
  const Training rows;
  const Map map = Map::fourier(Kernel::gaussian(1.0), 2, 16);
  const auto model = mercer::Model::fit("{}", mercer::Data(rows.X, rows.y).map(map));
  CHECK((model.inputs() == 2 && model.outputs() == 1 && model.classes() == 0));
  CHECK(model.map().spec() == map.spec());
  std::vector<double> scores(80);
  const mercer_matrix out = mercer_matrix_f64(80, 1, scores.data());
  REQUIRE(mercer_model_predict(model.get(), Rows(rows.X).get(), "value", nullptr, nullptr, out) ==
          MERCER_OK);
  const Matrix<double> predicted = model.predict(rows.X);
  bool same = true;
  for (int64_t i = 0; i < 80; ++i) same = same && predicted(i, 0) == scores[i];
  CHECK(same);
  CHECK(status_of([&] { model.classify(rows.X); }) == MERCER_UNSUPPORTED);
  CHECK(status_of([&] { model.predict(rows.y); }) == MERCER_DIMENSION_MISMATCH);

  const auto classifier = mercer::Model::fit(R"({"task":"classification"})",
                                             mercer::Data(rows.X, rows.classes).map(map));
  CHECK((classifier.outputs() == 2 && classifier.classes() == 2));
  const std::vector<int32_t> labels = classifier.classify(rows.X);
  int right = 0;
  for (int64_t i = 0; i < 80; ++i) right += labels[i] == static_cast<int32_t>(rows.classes(i, 0));
  CHECK(right > 60);

  const auto by_spec = mercer::Model::fit(
      "{\"search\":false,\"map\":" + map.spec() + ",\"lambda\":0.001}", {rows.X, rows.y});
  CHECK(by_spec.lambda() == 0.001);
  mercer::Context watched;
  int trials = 0;
  watched.tell_trials([&](const std::string& trial) {
    trials += trial.find("\"lengthscale\":") != std::string::npos ? 1 : 0;
  });
  const auto searched =
      mercer::Model::fit(R"({"map":{"features":32}})", {rows.X, rows.y}, &watched);
  CHECK(trials > 3);
  CHECK(searched.map().features() == 32);
  CHECK(searched.report().find("\"kind\":\"nested\"") != std::string::npos);
  CHECK(model.report() == "{}");
  CHECK(model.norms().rfind("{\"norms\":[", 0) == 0);
}

TEST_CASE("models in C++ are fitted on and predict sparse rows") {
  const Sparse<double, int32_t> X;
  const Matrix<double> y = [] {
    Matrix<double> targets(4, 1);
    for (int64_t i = 0; i < 4; ++i) targets(i, 0) = static_cast<double>(i * i);
    return targets;
  }();
  // Sparse rows are scaled, dense ones centred as well.
  const char* const json = R"({"prepare":{"standardize":false},"lambda":0.1,"precision":"f64"})";
  const Map map = Map::fourier(Kernel::gaussian(2.0), 3, 8);
  const auto sparse = mercer::Model::fit(json, mercer::Data(X.csr(), y).map(map)).predict(X.csr());
  const auto dense =
      mercer::Model::fit(json, mercer::Data(X.dense(), y).map(map)).predict(X.dense());
  double worst = 0;
  for (int64_t i = 0; i < 4; ++i) worst = std::max(worst, std::abs(sparse(i, 0) - dense(i, 0)));
  // Features agree to about 1e-13; a system of condition below 10 / lambda passes that on.
  CHECK(worst < 1e-9);
}

TEST_CASE("every status comes out of C++ with its text") {
  const auto map = Map::fourier(Kernel::gaussian(1.0), 3, 8);
  Matrix<double> X(200, 3), y(200, 1);
  for (int64_t i = 0; i < 600; ++i) X(i / 3, i % 3) = std::sin(0.7 * static_cast<double>(i));
  for (int64_t i = 0; i < 200; i += 2) y(i, 0) = 1;
  const auto damaged = [&](size_t at) {
    auto bytes = map.to_bytes();
    bytes[at] ^= std::byte{64};
    Map::from_bytes(bytes);
  };
  const auto fit = [&](const char* json, mercer::Context&& context) {
    mercer::Model::fit(json, mercer::Data(X, y), &context);
  };
  struct Row {
    mercer_status status;
    const char* word;
    std::function<void()> call;
  };
  const char* one_step =
      R"({"model":"logistic","task":"classification","classes":2,"iterations":1,"tolerance":1e-12,"lambda":1e-8,"search":false,"map":{"features":32}})";
  for (const Row& row :
       {Row{MERCER_INVALID_ARGUMENT, "gausian",
            [] { Kernel::from_spec(R"({"kernel":"gausian"})"); }},
        Row{MERCER_DIMENSION_MISMATCH, "mercer_map", [&] { map.apply(Matrix<double>(2, 2)); }},
        Row{MERCER_OUT_OF_MEMORY, "memory", [&] { fit("{}", mercer::Context(0, 1000)); }},
        Row{MERCER_UNSUPPORTED, "polynomial",
            [] {
              Map::from_spec(
                  R"({"map":"fourier","kernel":{"kernel":"polynomial"},"inputs":3,"features":8})");
            }},
        Row{MERCER_NOT_POSITIVE_DEFINITE, "gamma",
            [] { Kernel::from_spec(R"({"kernel":"decomposable","gamma":[[1,2],[2,1]]})"); }},
        Row{MERCER_NOT_CONVERGED, "lambda = 1e-08", [&] { fit(one_step, mercer::Context()); }},
        Row{MERCER_IO, "absent", [] { Map::load("/absent/map"); }},
        Row{MERCER_CORRUPT_FILE, "mercer_map_read", [&] { damaged(40); }},
        Row{MERCER_NEWER_VERSION, "newer", [&] { damaged(8); }},
        Row{MERCER_CANCELLED, "mercer_model_fit",
            [&] { fit("{}", mercer::Context(0, 0, [](int64_t, int64_t) { return false; })); }}}) {
    INFO(row.word);
    try {
      row.call();
      FAIL_CHECK("no exception");
    } catch (const mercer::Error& error) {
      CHECK(error.status() == row.status);
      CHECK(says(error.fields(), row.word));
    }
  }
}

template <class Entry, class = void>
constexpr bool has_nu = false;
template <class Entry>
constexpr bool has_nu<Entry, std::void_t<decltype(std::declval<Entry>().nu(1))>> = true;

// What has to be refused by the compiler.
static_assert(has_nu<mercer::spec::kernels::Matern> && !has_nu<mercer::spec::kernels::Gaussian>);
static_assert(!std::is_convertible_v<const char*, mercer::spec::Boolean>);
static_assert(!std::is_convertible_v<double, mercer::spec::Integer>);
static_assert(!std::is_convertible_v<bool, mercer::spec::Number>);
static_assert(
    !std::is_convertible_v<mercer::spec::maps::Linear, mercer::spec::Of<mercer::spec::Kernel>>);

TEST_CASE("specs by setters are those of their texts") {
  namespace spec = mercer::spec;
  const auto matern = spec::kernels::Matern().nu(2).nu(0.1 + 0.2).lengthscale({2.0, 0.5});
  const std::vector<std::vector<double>> gamma{{1, 0.5}, {0.5, 1}};
  const auto sum = spec::kernels::Sum().parts({matern, R"({"kernel":"polynomial","degree":1})"});
  const auto map = spec::maps::Sum()
                       .kernel(sum)
                       .inputs(2)
                       .features(64)
                       .seed(UINT64_MAX)
                       .parts({spec::maps::Fourier().projection("orthogonal").whole_blocks(true),
                               spec::maps::Linear()});
  CHECK(map.json() ==
        R"({"map":"sum","kernel":{"kernel":"sum","parts":[{"kernel":"matern",)"
        R"("nu":0.30000000000000004,"lengthscale":[2,0.5]},{"kernel":"polynomial","degree":1}]},)"
        R"("inputs":2,"features":64,"seed":18446744073709551615,"parts":[{"map":"fourier",)"
        R"("projection":"orthogonal","whole_blocks":true},{"map":"linear"}]})");
  CHECK(Map::from_spec(map).spec().find("\"whole_blocks\":true") != std::string::npos);
  CHECK(spec::kernels::Decomposable().gamma(gamma).cutoff(1).json() ==
        R"({"kernel":"decomposable","gamma":[[1,0.5],[0.5,1]],"cutoff":1})");
  CHECK(spec::kernels::Anova().subsets("\"\n\\").json() ==
        R"({"kernel":"anova","subsets":"\u0022\u000a\u005c"})");
  CHECK(spec::kernels::SpectralMixture().weights({}).means({}).json() ==
        R"({"kernel":"spectral_mixture","weights":[],"means":[]})");
  CHECK(spec::kernels::Gaussian().lengthscale({}).variance(-0.0).json() ==
        R"({"kernel":"gaussian","lengthscale":[],"variance":-0.0})");
  const auto prepare = spec::others::Prepare().transform("rank");
  const auto fit = spec::models::Ridge().map(spec::maps::Auto().kernel(matern).features(32));
  const Training rows;
  const auto model =
      mercer::Model::fit(fit.search(false).prepare(prepare), mercer::Data(rows.X, rows.y));
  CHECK(model.spec().find(R"("transform":"rank")") != std::string::npos);
  try {
    (void)matern.lengthscale(std::vector<float>{1, NAN});
    FAIL_CHECK("no exception");
  } catch (const mercer::Error& error) {
    CHECK(std::string(error.what()) ==
          "mercer::spec: lengthscale = [1,nan], expected finite numbers");
  }
}

TEST_CASE("a text stays under its key, and kernels and views of texts go into builders") {
  namespace spec = mercer::spec;
  const spec::maps::Fourier fourier;
  for (const char* text : {R"({"kernel":"gaussian"},"seed":7)", R"({"kernel":"gaussian")", "{}}",
                           R"({"kernel":"gaussian\"})", R"("a":"b")"}) {
    INFO(text);
    CHECK(status_of([&] { (void)fourier.kernel(text); }) == MERCER_INVALID_ARGUMENT);
  }
  const std::string_view sorf("sorf and more", 4);
  const Kernel kernel = Kernel::matern(2.5, std::vector<double>{1, 2});
  const auto map = fourier.kernel(kernel).projection(sorf).inputs(2).features(8);
  CHECK(Map::from_spec(map).kernel().spec() == kernel.spec());
  CHECK(map.json().find(R"("projection":"sorf","inputs")") != std::string::npos);
  CHECK(fourier.kernel(R"( {"kernel":"gaussian", "lengthscale":[1,2]} )").json().size() > 60);
}

TEST_CASE("vectors are targets and groups; temporaries last for the call they are written in") {
  const Training rows;
  std::vector<double> y(80), groups(80);
  for (int64_t i = 0; i < 80; ++i) y[i] = rows.y(i, 0), groups[i] = static_cast<double>(i / 4);
  const Map map = Map::fourier(Kernel::gaussian(1.0), 2, 16);
  const auto by_vector = mercer::Model::fit("{}", mercer::Data(rows.X, y).map(map).groups(groups));
  const Matrix<double> each = [&] {
    Matrix<double> made(80, 1);
    for (int64_t i = 0; i < 80; ++i) made(i, 0) = groups[i];
    return made;
  }();
  const auto by_rows = mercer::Model::fit("{}", mercer::Data(rows.X, rows.y).map(map).groups(each));
  CHECK(by_vector.to_bytes() == by_rows.to_bytes());
  CHECK(mercer::Model::from_bytes(by_rows.to_bytes()).spec() == by_rows.spec());
  CHECK(status_of([&] {
          mercer::Model::fit("{}", {rows.X, std::vector<double>(3)});
        }) == MERCER_DIMENSION_MISMATCH);
}

TEST_CASE("a recommendation whose progress throws at its end, with the map made, throws") {
  const Training rows;
  mercer::Context context(1, 0, [&](int64_t done, int64_t total) {
    if (done == total) throw std::logic_error("enough");
    return true;
  });
  CHECK_THROWS_AS(
      Map::recommend(R"({"kernel":{"kernel":"gaussian"},"features":18})", rows.X, &context),
      std::logic_error);  // LeakSanitizer sees whether the map is freed
}

TEST_CASE("what a progress function throws comes out of the call it cancelled") {
  mercer::Context context(1, 0, [](int64_t, int64_t) -> bool { throw std::logic_error("enough"); });
  const Map map = Map::fourier(Kernel::gaussian(1.0), 2, 16);
  const Training rows;
  CHECK_THROWS_AS(map.apply(rows.X, &context), std::logic_error);
  mercer::Context stopping(1, 0, [](int64_t, int64_t) { return false; });
  CHECK(status_of([&] { map.apply(rows.X, &stopping); }) == MERCER_CANCELLED);

  // A call that is refused after another has thrown, and before that one ends, takes nothing.
  int refused = 0;
  bool thrown = false;
  mercer::Context shared(1, 0, [&](int64_t, int64_t) {
    if (thrown && refused == 0) {
      std::thread([&] { refused = status_of([&] { map.apply(rows.X, &shared); }); }).join();
    }
    return true;
  });
  shared.tell_trials([&](const std::string&) {
    thrown = true;
    throw std::logic_error("enough");
  });
  CHECK_THROWS_AS(mercer::Model::fit(R"({"map":{"features":32}})", {rows.X, rows.y}, &shared),
                  std::logic_error);
  CHECK(refused == MERCER_INVALID_ARGUMENT);
}

}  // namespace wrapper_test
