// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/fourier.h"
#include "spec/json.h"
#include "spec/questions.h"
#include "spec/spec.h"
#include "spec_door.h"
#include "support/dense.h"
#include "support/kernels.h"

namespace map_spec_test {
using namespace mercer;
using Door = mercer::test::SpecDoor<&spec::map_from_spec>;

constexpr const char* kSmall =
    R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":3,"features":8)";

std::string small_with(const std::string& more) { return std::string(kSmall) + more + "}"; }

std::vector<double> features_of(const feature::FeatureMap& map) {
  std::vector<double> X(5 * map.inputs()), Z(5 * map.row_length());
  for (size_t i = 0; i < X.size(); ++i) X[i] = 0.37 * static_cast<double>(i % 11) - 1.5;
  Context context;
  map.apply(MatrixView<const double>(X.data(), 5, map.inputs()), {0, map.features()}, context,
            MatrixView<double>(Z.data(), 5, map.row_length()));
  return Z;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST_CASE("a map prints every default, its kernel without a version") {
  CHECK(
      Door::printed(small_with("")) ==
      R"({"mercer":1,"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":1,"variance":1},"inputs":3,)"
      R"("features":8,"seed":0,"projection":"dense","form":"pair",)"
      R"("radius":"drawn","scramble":"owen","whole_blocks":false,"weights":"given"})");
}

TEST_CASE("a spec that names no map has the default map of its kernel") {
  const auto with = [](const char* kernel) {
    return R"({"kernel":)" + std::string(kernel) + R"(,"inputs":3,"features":8,"seed":5})";
  };
  for (const auto& [kernel, map] : {std::pair{R"({"kernel":"gaussian"})", "fourier"},
                                    {R"({"kernel":"sign"})", "sign"},
                                    {R"({"kernel":"anova"})", "anova"},
                                    {R"({"kernel":"reciprocal_semigroup"})", "laplace"}}) {
    const std::string named = R"({"map":")" + std::string(map) + "\"," + with(kernel).substr(1);
    CHECK(Door::printed(with(kernel)) == Door::printed(named));
  }
  CHECK(Door::refused(MERCER_INVALID_ARGUMENT, with(R"({"kernel":"polka"})"),
                      "kernel.kernel = \"polka\", expected one of") == "");
  CHECK(Door::refused(MERCER_INVALID_ARGUMENT, with("{}"), "key \"kernel.kernel\" is missing") ==
        "");
  CHECK(Door::refused(MERCER_INVALID_ARGUMENT, with("7"), "kernel = 7, expected a kernel spec") ==
        "");
  CHECK(Door::refused(MERCER_UNSUPPORTED, with(R"({"kernel":"dot_product","coefficients":[1]})"),
                      "map nystroem is made from rows") == "");
}

TEST_CASE("the kind of a sketch is read by its earlier keys") {
  const auto printed = [](const std::string& head) {
    return Door::printed(R"({"map":)" + head +
                         R"(,"kernel":{"kernel":"polynomial"},"inputs":3,"features":8})");
  };
  CHECK(printed(R"("tensor_srht","variant":"stacked")") ==
        printed(R"("tensor_srht","kind":"stacked")"));
  CHECK(printed(R"("product_sketch","weights":"gaussian")") ==
        printed(R"("product_sketch","kind":"gaussian")"));
  CHECK(
      Door::refused(MERCER_INVALID_ARGUMENT,
                    R"({"map":"tensor_srht","weights":"gaussian","kernel":{"kernel":"polynomial"},)"
                    R"("inputs":3,"features":8})",
                    "unknown key \"weights\"") == "");
}

TEST_CASE("a sketch prints what its base and its inner columns default to") {
  const auto printed = [](const std::string& head, const std::string& more) {
    return Door::printed(R"({"map":")" + head +
                         R"(","kernel":{"kernel":"polynomial"},"inputs":3,"features":8)" + more +
                         "}");
  };
  const auto expected = [](const std::string& head, const std::string& own) {
    return R"({"mercer":1,"map":")" + head +
           R"(","kernel":{"kernel":"polynomial","degree":2,"gamma":1,"offset":0,"variance":1},)"
           R"("inputs":3,"features":8,"seed":0,)" +
           own + "}";
  };
  const std::string base =
      R"("base":{"map":"tensor_srht","kind":"upsampled","field":"complex_to_real"},"intermediate":)";
  CHECK(printed("product_sketch", "") ==
        expected("product_sketch", R"("kind":"rademacher","field":"real")"));
  CHECK(printed("tensor_srht", "") ==
        expected("tensor_srht", R"("kind":"upsampled","field":"complex_to_real")"));
  CHECK(printed("hierarchical_sketch", "") == expected("hierarchical_sketch", base + "8"));
  CHECK(printed("hierarchical_sketch", R"(,"intermediate":12)") ==
        expected("hierarchical_sketch", base + "12"));
  CHECK(printed("craft", "") == expected("craft", base + R"(32,"projection":"srht")"));
  CHECK(
      printed(
          "craft",
          R"(,"base":{"weights":"gaussian","map":"product_sketch","mercer":1},"projection":"gaussian")") ==
      expected(
          "craft",
          R"("base":{"map":"product_sketch","kind":"gaussian","field":"real"},"intermediate":32,"projection":"gaussian")"));
}

TEST_CASE("what is wrong with the spec of a sketch is said, with the path of the key") {
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const auto craft = [](const std::string& more) {
    return R"({"map":"craft","kernel":{"kernel":"polynomial"},"inputs":3,"features":8,)" + more +
           "}";
  };
  const auto with_base = [&](const std::string& base) { return craft("\"base\":" + base); };
  CHECK(Door::refused(invalid, with_base("\"tensor_srht\""),
                      "base = \"tensor_srht\", expected a sketch spec", "\"tensor_srht\"") == "");
  CHECK(Door::refused(invalid, with_base("{}"), "key \"base.map\" is missing", "\"tensor_srht\"") ==
        "");
  CHECK(Door::refused(invalid, with_base(R"({"map":"craft"})"), "base.map = \"craft\"",
                      "one of \"product_sketch\"") == "");
  CHECK(Door::refused(invalid, with_base(R"({"map":"fourier"})"), "base.map = \"fourier\"") == "");
  CHECK(Door::refused(invalid, with_base(R"({"map":"tensor_srht","weights":"gaussian"})"),
                      "unknown key \"base.weights\"", "\"kind\"") == "");
  CHECK(Door::refused(invalid, with_base(R"({"map":"tensor_srht","inputs":3})"),
                      "unknown key \"base.inputs\"") == "");
  CHECK(Door::refused(invalid, with_base(R"({"map":"tensor_srht","field":"quaternion"})"),
                      "base.field = \"quaternion\"", "\"complex_to_real\"") == "");
  CHECK(Door::refused(MERCER_NEWER_VERSION, with_base(R"({"mercer":2,"map":"tensor_srht"})"),
                      "base.mercer = 2") == "");
  CHECK(Door::refused(MERCER_UNSUPPORTED, with_base(R"({"map":"tensor_srht","needs":"data"})"),
                      "base.needs") == "");
  CHECK(Door::refused(invalid, craft(R"("intermediate":0)"), "intermediate = 0", ">= 1") == "");
  CHECK(Door::refused(invalid, craft(R"("intermediate":9)"), "intermediate = 9", "even") == "");
  CHECK(Door::refused(
            MERCER_UNSUPPORTED,
            R"({"map":"tensor_srht","kernel":{"kernel":"gaussian"},"inputs":3,"features":8})",
            "kernel gaussian", "polynomial or bilinear") == "");
}

TEST_CASE("a map of supplied frequencies needs its numbers") {
  const auto kernel = kernel::make_gaussian({1.0}, 2.0);
  const std::vector<double> frequencies{0.1, -0.2, 0.3, 1.5, 2.5, -3.5}, weights{0.25, 0.75};
  const auto map = feature::make_fourier_supplied(*kernel, {frequencies.data(), 2, 3}, weights, {});
  const std::string text = spec::to_spec(*map);
  CHECK(text.ends_with(R"("needs":"data"})"));
  CHECK(Door::refused(MERCER_UNSUPPORTED, text, "needs = \"data\"") == "");
  const std::vector<NumberArray> numbers = map->numbers();
  const auto back = spec::map_from_spec_and_numbers(text, numbers);
  CHECK(spec::to_spec(*back) == text);
  const auto again = back->numbers();
  REQUIRE(again.size() == numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) CHECK(again[i].values == numbers[i].values);
  CHECK(same_bits(features_of(*back), features_of(*map)));
}

TEST_CASE("numbers that do not belong to the spec are refused") {
  const std::vector<NumberArray> numbers{{"", {3}, std::vector<double>{1, 2, 3}}};
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, spec::map_from_spec_and_numbers(small_with(""), numbers),
                "1 arrays of numbers given, expected none");
  CHECK(Door::refused(MERCER_UNSUPPORTED, small_with(R"(,"projection":"supplied")"), "supplied") ==
        "");
}

TEST_CASE("what is wrong with a map spec is said, with the path of the key") {
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(Door::refused(invalid, "{}", "key \"map\" is missing", "\"fourier\"") == "");
  CHECK(Door::refused(invalid, R"({"kernl":{"kernel":"gaussian"},"inputs":2})",
                      "key \"map\" is missing beside \"kernl\"") == "");
  CHECK(Door::refused(invalid, R"({"map":"furrier"})", "map = \"furrier\"") == "");
  CHECK(Door::refused(invalid, R"({"map":"fourier"})", "key \"kernel\" is missing",
                      "a kernel spec") == "");
  CHECK(Door::refused(invalid, R"({"map":"fourier","kernel":7})",
                      "kernel = 7, expected a kernel spec") == "");
  CHECK(Door::refused(invalid, R"({"map":"fourier","kernel":{"kernel":"gaussian"}})",
                      "key \"inputs\" is missing") == "");
  CHECK(Door::refused(invalid, small_with(R"(,"inptus":3)"), "unknown key \"inptus\"") == "");
  CHECK(Door::refused(invalid, small_with(R"(,"form":"triple")"), "form = \"triple\"",
                      "\"pair\"") == "");
  CHECK(Door::refused(invalid, small_with(R"(,"seed":1.5)"), "seed = 1.5") == "");
  const auto sized = [](const std::string& inputs, const std::string& features) {
    return R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":)" + inputs +
           ",\"features\":" + features + "}";
  };
  CHECK(Door::refused(invalid, sized("0", "8"), "inputs = 0", ">= 1") == "");
  CHECK(Door::refused(invalid, sized("3", "-8"), "features = -8") == "");
  CHECK(Door::refused(invalid, sized("3", "8.0"), "features = 8.0", "without point") == "");
  CHECK(Door::refused(invalid, sized("3", "7"), "features = 7", "even") == "");
  CHECK(Door::refused(invalid, sized("2147483648", "8"), "inputs = 2147483648", "2147483647") ==
        "");
  const auto kernel = [](const std::string& spec) {
    return R"({"map":"fourier","inputs":3,"features":8,"kernel":)" + spec + "}";
  };
  CHECK(Door::refused(invalid, kernel(R"({"kernel":"gaussian","lengthscale":"1"})"),
                      "kernel.lengthscale = \"1\"") == "");
  CHECK(Door::refused(invalid, kernel(R"({"kernel":"gaussian","mu":1})"),
                      "unknown key \"kernel.mu\"") == "");
  CHECK(Door::refused(MERCER_NEWER_VERSION, kernel(R"({"mercer":9,"kernel":"gaussian"})"),
                      "kernel.mercer = 9") == "");
  CHECK(Door::refused(MERCER_DIMENSION_MISMATCH,
                      kernel(R"({"kernel":"gaussian","lengthscale":[1,2]})"), "lengthscale") == "");
  CHECK(Door::refused(MERCER_UNSUPPORTED, kernel(R"({"kernel":"gaussian","needs":"data"})"),
                      "kernel.needs") == "");
}

TEST_CASE("sizes that no machine has are an error, not a crash") {
  const auto result = test::outcome([] {
    spec::map_from_spec(
        R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":2147483647,"features":2147483646})");
  });
  CHECK(result.status == MERCER_OUT_OF_MEMORY);
}

TEST_CASE("a key by its former name, as in files of 0.1.0, is printed by its own") {
  const auto map = spec::map_from_spec(
      R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":20,"features":200,)"
      R"("projection":"sorf","round_blocks":true})");
  CHECK(map->features() == 192);
  CHECK(spec::to_spec(*map).find(R"("whole_blocks":true)") != std::string::npos);
  CHECK(spec::to_spec(*map).find("round_blocks") == std::string::npos);
}

TEST_CASE("recommendations for rows as fits take them are those for standardised rows") {
  Matrix<double> X = test::random_matrix(90, 3, 4), plain(90, 3);
  for (int64_t j = 0; j < 3; ++j) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < 90; ++i) mean += X(i, j) / 90;
    for (int64_t i = 0; i < 90; ++i) square += (X(i, j) - mean) * (X(i, j) - mean) / 90;
    for (int64_t i = 0; i < 90; ++i) {
      plain(i, j) = (X(i, j) - mean) / std::sqrt(square);
      X(i, j) = 100 * static_cast<double>(j + 1) * X(i, j) - 7;
    }
  }
  Context context;
  const auto answer = [&](const char* more, MatrixView<const double> rows) {
    const std::string text = R"({"kernel":{"kernel":"gaussian")" + std::string(more);
    return spec::parse_object(spec::recommend(text, rows, context).answer);
  };
  const Parameters taken = answer(R"(},"features":32,"taken":"standardized"})", X.view());
  const double l = taken.object("kernel").numbers("lengthscale").front();
  std::vector<double> distances;
  for (int64_t i = 0; i < 90; ++i)
    for (int64_t k = 0; k < i; ++k) {
      double square = 0;
      for (int64_t j = 0; j < 3; ++j) square += std::pow(plain(i, j) - plain(k, j), 2);
      distances.push_back(std::sqrt(square));
    }
  std::ranges::sort(distances);
  const size_t half = distances.size() / 2;
  CHECK(std::abs(l - distances[half]) < 0.01);
  const Parameters given = answer(
      (",\"lengthscale\":" + std::to_string(l) + R"(},"features":32})").c_str(), plain.view());
  const auto best = [](const Parameters& one) {
    return one.objects("maps").front()->number("error");
  };
  CHECK(std::abs(best(taken) / best(given) - 1) < 1e-4);  // six digits of l
  const Parameters own =
      answer(R"(,"lengthscale":2.5},"features":32,"taken":"standardized"})", X.view());
  CHECK(own.object("kernel").numbers("lengthscale").front() == 2.5);
}

}  // namespace map_spec_test
