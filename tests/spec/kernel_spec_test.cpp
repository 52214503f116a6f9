// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/json.h"
#include "spec/spec.h"
#include "spec_door.h"
#include "support/kernels.h"

namespace kernel_spec_test {
using namespace mercer;
using Door = mercer::test::SpecDoor<&spec::kernel_from_spec>;

ObjectList two_specs(double l) {
  const Parameters one{{"kernel", "gaussian"}, {"lengthscale", l}, {"variance", 1 / l}};
  const Parameters other{{"kernel", "polynomial"},
                         {"degree", int64_t{3}},
                         {"gamma", l},
                         {"offset", 0.25},
                         {"variance", 2.0}};
  return {std::make_shared<const Parameters>(one), std::make_shared<const Parameters>(other)};
}

Value gaussian_spec(double l) {
  return std::make_shared<const Parameters>(
      Parameters{{"kernel", "gaussian"}, {"lengthscale", l}, {"variance", l}});
}
bool is_gamma(const Field& field) {
  return field.type == FieldType::numbers_or_lists && std::string(field.key) == "gamma";
}
Value gamma_of(double u) { return NumberLists{{2, u}, {u, 1}}; }

TEST_CASE("every kernel of the table can be made from what is required and prints its defaults") {
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    CAPTURE(entry.name);
    Parameters given;
    given.set("kernel", entry.name);
    Parameters expected = given;
    for (const Field& field : entry.fields) {
      const bool required = std::holds_alternative<std::monostate>(field.fallback);
      const Value value = field.type == FieldType::kernel      ? gaussian_spec(1)
                          : !required                          ? field.fallback
                          : is_gamma(field)                    ? gamma_of(0.5)
                          : field.type == FieldType::kernels   ? Value(two_specs(0.5))
                          : field.type == FieldType::integer   ? Value(int64_t{2})
                          : std::string(field.key) == "radii"  ? Value(std::vector<double>{0, 2})
                          : std::string(field.key) == "values" ? Value(std::vector<double>{1, 1})
                                                               : Value(std::vector<double>{0.5, 2});
      if (required) given.set(field.key, value);
      expected.set(field.key, value);
    }
    const auto kernel = spec::kernel_from_spec(print_object(given));
    CHECK(kernel->name() == entry.name);
    CHECK(spec::to_spec(*kernel) == spec::print_versioned(expected));
    CHECK(Door::printed(spec::to_spec(*kernel)) == spec::to_spec(*kernel));
  }
}

TEST_CASE("typed constructors and specs are two doors to the same object") {
  CHECK(spec::to_spec(*kernel::make_matern(1.5, {0.7}, 1.0)) ==
        R"({"mercer":1,"kernel":"matern","nu":1.5,"lengthscale":0.7,"variance":1})");
  CHECK(spec::to_spec(*kernel::make_gaussian({0.1, 2}, 3.0)) ==
        R"({"mercer":1,"kernel":"gaussian","lengthscale":[0.1,2],"variance":3})");
  CHECK(Door::printed(R"({"variance":3,"lengthscale":[0.1,2.0],"kernel":"gaussian"})") ==
        R"({"mercer":1,"kernel":"gaussian","lengthscale":[0.1,2],"variance":3})");
}

TEST_CASE("kernels of kernels print every default of every part, to the depth of specs") {
  CHECK(Door::printed(R"({"kernel":"sum","parts":[{"kernel":"sign"},{"parts":[{"kernel":"cauchy"},)"
                      R"({"mercer":1,"kernel":"sign","variance":2}],"kernel":"product"}]})") ==
        R"({"mercer":1,"kernel":"sum","parts":[{"kernel":"sign","variance":1},)"
        R"({"kernel":"product","parts":[{"kernel":"cauchy","lengthscale":1,"variance":1},)"
        R"({"kernel":"sign","variance":2}],"variance":1}],"variance":1})");
  // An object and a list for each level, and the innermost kernels.
  std::string deep = R"({"kernel":"sign","variance":1})";
  for (int level = 0; level < 15; ++level)
    deep = R"({"kernel":"product","parts":[{"kernel":"sign","variance":1},)" + deep +
           R"(],"variance":1})";
  CHECK(Door::printed(deep) == R"({"mercer":1,)" + deep.substr(1));
  const std::string deeper =
      R"({"kernel":"sum","parts":[{"kernel":"sum","parts":[)" + deep + "," + deep + "]}]}";
  CHECK(Door::refused(MERCER_INVALID_ARGUMENT, deeper, "nested deeper than 32 levels") == "");
}

TEST_CASE("what is wrong with a list of kernels is said") {
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const auto parts = [](const std::string& json) {
    return R"({"kernel":"sum","parts":)" + json + "}";
  };
  const std::string sign = R"({"kernel":"sign"})", expected = "expected a list of 2 to 64 kernel";
  CHECK(Door::refused(invalid, R"({"kernel":"sum"})", "key \"parts\" is missing", expected) == "");
  CHECK(Door::refused(invalid, parts("[]"), "parts = a list of 0 numbers", expected) == "");
  CHECK(Door::refused(invalid, parts("[1,2]"), "parts = a list of 2 numbers", expected) == "");
  CHECK(Door::refused(invalid, parts("2"), "parts = 2", expected) == "");
  CHECK(Door::refused(invalid, parts(sign), "parts = an object", expected) == "");
  CHECK(Door::refused(invalid, parts("\"sign\""), "parts = \"sign\"", expected) == "");
  CHECK(Door::refused(invalid, parts("[" + sign + "]"), "parts = a list of 1 objects", expected) ==
        "");
  std::string many = "[" + sign;
  for (int i = 1; i < 1000; ++i) many += "," + sign;
  CHECK(Door::refused(invalid, parts(many + "]"), "parts = a list of 1000 objects", expected) ==
        "");
  CHECK(Door::refused(invalid, parts("[" + sign + R"(,{"kernel":"sine"}])"),
                      "parts[1].kernel = \"sine\"", "\"gaussian\"") == "");
  CHECK(Door::refused(invalid, parts("[" + sign + ",{}]"), "key \"parts[1].kernel\" is missing") ==
        "");
  CHECK(Door::refused(
            invalid,
            parts("[" + sign + "," +
                  parts("[" + sign + R"(,{"kernel":"gaussian",)" + R"("lengthscale":-1}])") + "]"),
            "parts[1].parts[1].lengthscale = -1") == "");
  CHECK(Door::refused(MERCER_NEWER_VERSION, parts("[" + sign + R"(,{"mercer":2,"kernel":"new"}])"),
                      "parts[1].mercer = 2") == "");
}

TEST_CASE("what is wrong with a kernel spec is said") {
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(Door::refused(invalid, "{}", "key \"kernel\" is missing", "\"gaussian\"") == "");
  CHECK(Door::refused(invalid, R"({"kernel":"gausian"})", "kernel = \"gausian\", expected one of",
                      "\"gaussian\"") == "");
  CHECK(Door::refused(invalid, R"({"kernel":7})", "kernel = 7") == "");
  CHECK(Door::refused(invalid, R"({"kernel":"gaussian","gamma":1})", "unknown key \"gamma\"",
                      "\"lengthscale\"") == "");
  CHECK(Door::refused(invalid, R"({"kernel":"gaussian","lengthscale":-1})", "lengthscale = -1") ==
        "");
  CHECK(Door::refused(invalid, R"({"kernel":"gaussian","lengthscale":[1,0]})",
                      "lengthscale[1] = 0") == "");
  CHECK(Door::refused(invalid, R"({"kernel":"gaussian","variance":0})",
                      "variance = 0, expected a number > 0") == "");
  CHECK(Door::refused(invalid, R"({"kernel":"skewed_chi2","lengthscale":1})",
                      "unknown key \"lengthscale\"") == "");
  CHECK(Door::refused(invalid, R"({"kernel":"generalized_gaussian_spectrum","order":1.5})",
                      "order = 1.5") == "");
  CHECK(Door::refused(invalid, R"({"kernel":"bilinear"})",
                      "key \"left\" is missing, expected an integer",
                      ">= 1 and <= 2147483646") == "");
  CHECK(Door::refused(invalid, R"({"kernel":"bilinear","left":0})", "left = 0") == "");
  CHECK(Door::refused(MERCER_NEWER_VERSION, R"({"mercer":2,"kernel":"new"})", "mercer = 2") == "");
  CHECK(Door::refused(MERCER_UNSUPPORTED, R"({"kernel":"gaussian","needs":"data"})", "needs") ==
        "");
}

TEST_CASE("a kernel's name alone stands for its spec, and rbf for gaussian") {
  const std::string gaussian = spec::to_spec(*spec::kernel_from_spec(R"({"kernel":"gaussian"})"));
  for (const char* json : {"gaussian", "rbf", R"({"kernel":"rbf"})"})
    CHECK(spec::to_spec(*spec::kernel_from_spec(json)) == gaussian);
  const auto map = [](const std::string& kernel) {
    return spec::to_spec(*spec::map_from_spec(
        R"({"map":"fourier","inputs":2,"features":4,"kernel":)" + kernel + "}"));
  };
  CHECK(map(R"("rbf")") == map(R"({"kernel":"gaussian"})"));
  CHECK(map(R"("laplacian")") == map(R"({"kernel":"laplacian"})"));
  CHECK(map(R"({"kernel":"decomposable","scalar":"rbf","gamma":[[1]]})") ==
        map(R"({"kernel":"decomposable","scalar":{"kernel":"gaussian"},"gamma":[[1]]})"));
  const auto sum = [](const char* parts) {
    return spec::to_spec(
        *spec::kernel_from_spec(std::string(R"({"kernel":"sum","parts":)") + parts + "}"));
  };
  CHECK(sum(R"([{"kernel":"rbf"},{"kernel":"cauchy"}])") ==
        sum(R"([{"kernel":"gaussian"},{"kernel":"cauchy"}])"));
  for (const char* parts : {R"(["rbf","cauchy"])", R"(["gaussian",{"kernel":"cauchy"}])",
                            R"([{"kernel":"gaussian"},"cauchy"])"})
    CHECK(sum(parts) == sum(R"([{"kernel":"gaussian"},{"kernel":"cauchy"}])"));
  for (const char* parts : {R"(["gaussian",1])", R"([1,"gaussian"])", R"([["gaussian"]])"})
    CHECK(Door::refused(MERCER_INVALID_ARGUMENT,
                        std::string(R"({"kernel":"sum","parts":)") + parts + "}",
                        "\"parts\"") == "");
  CHECK(Door::refused(MERCER_INVALID_ARGUMENT, "no_kernel", "kernel = \"no_kernel\"") == "");
}

}  // namespace kernel_spec_test
