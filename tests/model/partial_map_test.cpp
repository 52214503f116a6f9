// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "support/partial_map.h"

#include "feature/map_entry.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/refusal.h"

namespace partial_map_test {
using namespace mercer;
using mercer::test::refusal_fault;

template <class... Part>
std::string refused(mercer_status status, const std::string& json, const Part&... parts) {
  return refusal_fault(
      status, [&] { test::map_maker(json, 3, 0); }, parts...);
}

TEST_CASE("candidates are the map of the spec with lengthscale, size and seed filled in") {
  const auto maker = test::map_maker(
      R"({"map":"fourier","projection":"dense","form":"phase","kernel":{"kernel":"matern","nu":2.5,"lengthscale":9,"variance":2}})",
      3, 42);
  CHECK(maker->has_lengthscale());
  CHECK(maker->lengthscale() == 9.0);
  const std::string expected = spec::to_spec(*spec::map_from_spec(
      R"({"map":"fourier","form":"phase","kernel":{"kernel":"matern","nu":2.5,"lengthscale":0.3,"variance":2},)"
      R"("inputs":3,"features":7,"seed":42})"));
  CHECK(spec::to_spec(*maker->make(0.3, 7)) == expected);
  CHECK(spec::to_spec(*maker->make(0.3, 7)) ==
        expected);  // a candidate leaves no trace in the maker
}

TEST_CASE("a kernel alone has its own map") {
  const auto maker = test::map_maker(R"({"kernel":{"kernel":"exponential"}})", 3, 5);
  CHECK(
      spec::to_spec(*maker->make(2, 4)) ==
      spec::to_spec(*spec::map_from_spec(
          R"({"map":"positive","kernel":{"kernel":"exponential","lengthscale":2},"inputs":3,"features":4,"seed":5})")));
  const char* const kChi2 = R"({"kernel":{"kernel":"additive_chi2"}})";
  CHECK(test::map_maker(kChi2, 3, 5)->make(0, 4)->name() == "additive");
  CHECK(model::hash_buckets(spec::parse_object(kChi2), 1 << 20) == 0);
  CHECK(refused(MERCER_INVALID_ARGUMENT, R"({"kernel":{"kernel":"polka"}})", "polka") == "");
}

TEST_CASE("a metric keeps its matrix: lengthscales of the kernel inside are multiplied") {
  const std::string kernel = R"({"kernel":"metric","matrix":[[1,0.5,-2],[0,1,3]],"of":)";
  const auto maker =
      test::map_maker(R"({"kernel":)" + kernel + R"({"kernel":"matern","nu":1.5}}})", 3, 5);
  CHECK((maker->has_lengthscale() && maker->scales_inputs() && maker->start() == 1));
  CHECK((!maker->has_input_lengthscales() && !maker->gives_lengthscale()));
  const auto map = maker->make(2, 8);
  // The projection is that of a kernel of two inputs.
  CHECK(spec::to_spec(*map) ==
        spec::to_spec(*spec::map_from_spec(
            R"({"map":"fourier","projection":"sobol","kernel":)" + kernel +
            R"({"kernel":"matern","nu":1.5,"lengthscale":2}},"inputs":3,"features":8,"seed":5})")));
  // What a search relies on where it scales rows in place of the lengthscale.
  const Matrix<double> X = test::filled(
      4, 3, [](int64_t i, int64_t k) { return static_cast<double>((i + 1) * (k - 1)) / 4; });
  const Matrix<double> scaled =
      test::filled(4, 3, [&](int64_t i, int64_t k) { return X(i, k) / 2; });
  CHECK(
      test::equal_bytes(test::features_of(*map, X), test::features_of(*maker->make(1, 8), scaled)));
  const auto of_sum = test::map_maker(
      R"({"kernel":)" + kernel + R"({"kernel":"sum","parts":["gaussian","laplacian"]}}})", 3, 5);
  CHECK((of_sum->has_lengthscale() && of_sum->scales_inputs()));
  const auto polynomial = test::map_maker(R"({"kernel":)" + kernel + R"("polynomial"}})", 3, 5);
  CHECK_FALSE(polynomial->has_lengthscale());
  CHECK(refused(MERCER_DIMENSION_MISMATCH,
                R"({"kernel":)" + kernel + R"("gaussian"},"inputs":4})") == "");
}

TEST_CASE("positive features take the tilt that suits the rows, at every lengthscale") {
  const auto maker = test::map_maker(R"({"map":"positive"})", 3, 5);
  CHECK((maker->needs_rows() && !maker->requires_rows() && !maker->scales_inputs()));
  const Matrix<double> rows = test::random_matrix(50, 3, 2);
  const auto tilt = [&](double lengthscale) {
    Context context;
    return maker->make_from(lengthscale, 8, rows.view(), {}, context)->parameters().number("tilt");
  };
  CHECK(tilt(1) < 2 * tilt(2));
  CHECK(tilt(2) < 0);
  CHECK(tilt(0.1) == tilt(0.01));  // single precision allows no more
  CHECK(maker->make(1, 8)->parameters().number("tilt") == 0);
  const auto given = test::map_maker(R"({"map":"positive","tilt":-0.1})", 3, 5);
  CHECK((given->scales_inputs() && !given->needs_rows()));
}

TEST_CASE("what is left out is the Sobol Fourier map of a Gaussian") {
  const std::string expected = spec::to_spec(*spec::map_from_spec(
      R"({"map":"fourier","projection":"sobol","kernel":{"kernel":"gaussian","lengthscale":2},"inputs":3,"features":4,"seed":5})"));
  for (const char* partial :
       {"{}", R"({"map":"fourier"})", R"({"mercer":1,"kernel":{"kernel":"gaussian"}})"}) {
    CAPTURE(partial);
    CHECK(spec::to_spec(*test::map_maker(partial, 3, 5)->make(2, 4)) == expected);
  }
}

TEST_CASE("every map can be made with the kernel it takes by default") {
  for (const feature::MapEntry& entry : feature::map_table()) {
    CAPTURE(entry.name);
    const auto maker = test::map_maker(std::string(R"({"map":")") + entry.name + "\"}", 3, 5);
    const auto kernel = kernel::make_kernel(entry.default_kernel);
    // Those made of others have a Gaussian and a part without a lengthscale.
    const bool composed = kernel->composition().has_value();
    CHECK(maker->has_lengthscale() == (composed || !kernel->lengthscale().empty()));
    CHECK(maker->requires_rows() == entry.needs_rows);
    const bool of_scaled = maker->has_lengthscale() && !composed && !maker->needs_rows() &&
                           std::string(entry.name) != "poisson";
    CHECK((!maker->has_lengthscale() || maker->scales_inputs() == of_scaled));
    const Matrix<double> rows = test::random_matrix(9, 3, 2);
    const test::Outcome made = test::outcome([&] {
      Context context;
      if (entry.needs_rows) {
        maker->make_from(1, maker->features_of(8, 9), rows.view(), {}, context);
      } else {
        maker->make(1, 32);
      }
    });
    const bool lacks_fft = made.message.find("lacks FFTW") != std::string::npos;
    CHECK((made.status == MERCER_OK || lacks_fft));
  }
}

TEST_CASE("lengthscales of parts are multiplied by one factor") {
  const auto maker = test::map_maker(
      R"({"kernel":{"kernel":"sum","parts":[{"kernel":"gaussian","lengthscale":0.5},)"
      R"({"kernel":"product","parts":[{"kernel":"cauchy","lengthscale":[1,2,4]},{"kernel":"matern"}]}]}})",
      3, 5);
  CHECK(maker->has_lengthscale());
  CHECK(maker->start() == 1);
  CHECK_FALSE(maker->has_input_lengthscales());
  CHECK_FALSE(maker->needs_rows());
  const std::string text = spec::to_spec(*maker->make(2, 24));
  CHECK(text.find(R"("kernel":"gaussian","lengthscale":1,)") != std::string::npos);
  CHECK(text.find(R"("kernel":"cauchy","lengthscale":[2,4,8],)") != std::string::npos);
  CHECK(text.find(R"("kernel":"matern","nu":1.5,"lengthscale":2,)") != std::string::npos);
  CHECK(text.find(R"("parts":[{"map":"fourier","projection":"sobol")") != std::string::npos);
}

TEST_CASE("candidates of a part without a lengthscale are made anew, their rows not scaled") {
  const char* kernel =
      R"({"kernel":{"kernel":"sum","parts":[{"kernel":"gaussian"},{"kernel":"polynomial"}]}})";
  const auto maker = test::map_maker(kernel, 3, 5);
  CHECK(maker->has_lengthscale());
  CHECK(maker->start() == 0);
  CHECK_FALSE(maker->scales_inputs());
  const std::string text = spec::to_spec(*maker->make(3, 8));
  CHECK(text.find(R"("kernel":"gaussian","lengthscale":3,)") != std::string::npos);
}

TEST_CASE("maps whose law depends on the lengthscale are made anew, as short as there are any") {
  for (const char* text :
       {R"({"map":"poisson"})",
        R"({"map":"product","parts":[{"map":"poisson"},{"map":"fourier"}],"kernel":{"kernel":)"
        R"("product","parts":[{"kernel":"gaussian"},{"kernel":"matern"}]}})"}) {
    CAPTURE(text);
    const auto maker = test::map_maker(text, 3, 5);
    CHECK_FALSE(maker->scales_inputs());
    CHECK_FALSE(maker->has_input_lengthscales());
    CHECK(maker->has_candidate(0.1));
    CHECK_FALSE(maker->has_candidate(0.0999));
  }
  CHECK(test::map_maker("{}", 3, 5)->has_candidate(1e-6));
}

TEST_CASE("a linear map without a kernel keeps inner products, a sketch takes degree 2") {
  CHECK(spec::to_spec(test::map_maker(R"({"map":"linear"})", 3, 5)->make(1, 4)->kernel()) ==
        R"({"mercer":1,"kernel":"polynomial","degree":1,"gamma":1,"offset":0,"variance":1})");
  CHECK(spec::to_spec(test::map_maker(R"({"map":"craft"})", 3, 5)->make(1, 4)->kernel()) ==
        R"({"mercer":1,"kernel":"polynomial","degree":2,"gamma":1,"offset":0,"variance":1})");
}

TEST_CASE("a search finds the ratio of a polynomial kernel's offset and an open gamma") {
  const auto kernel_of = [](const std::string& keys, double lengthscale) {
    const auto maker = test::map_maker(
        R"({"map":"tensor_srht","kernel":{"kernel":"polynomial")" + keys + "}}", 3, 5);
    CHECK_FALSE(maker->has_lengthscale());  // without a search
    maker->take_ratio();
    CHECK((!maker->has_lengthscale() || maker->learns_lengthscale()));
    CHECK_FALSE(maker->has_input_lengthscales());
    const auto map = maker->make(lengthscale, 8);
    const Parameters& kernel = map->kernel().parameters();
    return std::pair(kernel.number("gamma"), kernel.number("offset"));
  };
  CHECK(kernel_of("", 2) == std::pair(0.25, 1.0));
  CHECK(kernel_of(R"(,"degree":3,"offset":2)", 2) == std::pair(0.5, 2.0));
  for (const char* keys : {R"(,"gamma":3)", R"(,"offset":0)", R"(,"degree":1)"}) {
    CAPTURE(keys);
    CHECK(kernel_of(keys, 2) == std::pair(std::string(keys) == R"(,"gamma":3)" ? 3.0 : 1.0, 0.0));
  }
}

TEST_CASE("a kernel without a lengthscale is kept as it is") {
  const auto maker = test::map_maker(R"({"kernel":{"kernel":"skewed_chi2","c":0.5}})", 2, 0);
  CHECK_FALSE(maker->has_lengthscale());
  CHECK_FALSE(maker->lengthscale().has_value());
  CHECK(spec::to_spec(maker->make(123, 4)->kernel()) ==
        R"({"mercer":1,"kernel":"skewed_chi2","c":0.5,"variance":1})");
}

TEST_CASE("frequencies that nothing is said of are points, blocks or dense, by width and law") {
  const auto projection = [](const char* json, int64_t d) {
    return test::map_maker(json, d, 0)->make(1, 4)->parameters().text("projection");
  };
  CHECK(projection("{}", 64) == "sobol");
  CHECK(projection("{}", 65) == "sorf");
  CHECK(projection("{}", 4096) == "sorf");
  CHECK(projection("{}", 4097) == "dense");
  const char* const product = R"({"kernel":{"kernel":"laplacian"}})";
  CHECK(projection(product, 1023) == "sobol");
  CHECK(projection(product, 1024) == "dense");
  CHECK(projection(R"({"projection":"orthogonal"})", 3) == "orthogonal");
}

TEST_CASE("lengthscales for each input are multiplied by the candidate's") {
  const auto maker =
      test::map_maker(R"({"kernel":{"kernel":"gaussian","lengthscale":[1,2,0.5]}})", 3, 0);
  CHECK(maker->start() == 1);
  CHECK_FALSE(maker->has_input_lengthscales());
  const auto scaled = maker->make(4, 8);
  const auto lengthscale = scaled->kernel().lengthscale();
  CHECK(std::vector<double>(lengthscale.begin(), lengthscale.end()) ==
        std::vector<double>{4, 8, 2});
}

TEST_CASE("a candidate may have a lengthscale for each input") {
  const auto maker = test::map_maker("{}", 3, 0);
  CHECK(maker->start() == 0);
  CHECK(maker->has_input_lengthscales());
  const std::vector<double> wanted = {1, 2, 0.5};
  const auto made = maker->make_per_input(wanted, 8);
  const auto lengthscale = made->kernel().lengthscale();
  CHECK(std::vector<double>(lengthscale.begin(), lengthscale.end()) == wanted);
}

TEST_CASE("bad partial specs are refused when the maker is made") {
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(refused(MERCER_DIMENSION_MISMATCH, R"({"inputs":2})", "map.inputs = 2", "3") == "");
  CHECK(refused(invalid, R"({"features":0})", "map.features = 0") == "");
  CHECK(refused(invalid, R"({"map":"furrier"})", "map = \"furrier\"") == "");
  CHECK(refused(invalid, R"({"frm":"pair"})", "unknown key \"map.frm\"") == "");
  CHECK(refused(invalid, R"({"kernel":{"kernel":"gaussian","lengthscale":0}})",
                "kernel.lengthscale = 0") == "");
  CHECK(refused(invalid, R"({"kernel":7})", "kernel = 7, expected a kernel spec") == "");
  CHECK(refused(MERCER_DIMENSION_MISMATCH,
                R"({"kernel":{"kernel":"gaussian","lengthscale":[1,2,3,4,5]}})", "5") == "");
  CHECK(refused(MERCER_UNSUPPORTED, R"({"needs":"data"})", "needs") == "");
  CHECK(refused(MERCER_NEWER_VERSION, R"({"mercer":2})", "mercer = 2") == "");
}

TEST_CASE("candidates outside the domain are refused") {
  const auto maker = test::map_maker("{}", 3, 0);
  for (const double lengthscale : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, maker->make(lengthscale, 4), "lengthscale");
  }
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, maker->make(1, 5), "features = 5");
}

}  // namespace partial_map_test
