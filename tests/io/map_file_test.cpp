// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files of maps of one and of several outputs: what comes back, what is corrupt.
#include "feature/field_fourier.h"
#include "feature/fourier.h"
#include "io/container.h"
#include "io/corrupt_file.h"
#include "spec/spec.h"
#include "support/forge.h"
#include "support/kernels.h"

namespace map_file_test {
using namespace mercer;
using namespace mercer::test;

constexpr const char* kSpec =
    R"({"map":"fourier","kernel":{"kernel":"matern","lengthscale":[0.1,0.7]},"inputs":2,"features":6,"seed":3})";

std::unique_ptr<feature::FeatureMap> supplied_map(feature::FourierForm form) {
  const auto kernel = kernel::make_gaussian({1.0}, 0.3);
  const std::vector<double> frequencies{0.1, -0.2, 1.0 / 3, 1.5, -2.5, 1e-300},
      weights{0.2, 0.5, 0.0};
  feature::FourierOptions options;
  options.form = form;
  options.seed = 9;
  return feature::make_fourier_supplied(*kernel, {frequencies.data(), 3, 2}, weights, options);
}

template <class T>
std::vector<T> features_of(const feature::FeatureMap& map) {
  std::vector<T> X, Z(20 * map.row_length());
  for (int i = 0; i < 20 * map.inputs(); ++i) X.push_back(static_cast<T>(0.3 * (i % 13) - 1.7));
  Context context;
  map.apply(MatrixView<const T>(X.data(), 20, map.inputs()), {0, map.features()}, context,
            MatrixView<T>(Z.data(), 20, map.row_length()));
  return Z;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEST_CASE(
    "a map file with a lengthscale for each of many inputs may outgrow the limit of typed specs") {
  const TemporaryDirectory directory;
  std::vector<double> lengthscale(60000);
  for (size_t j = 0; j < lengthscale.size(); ++j)
    lengthscale[j] = 1.0 / (3.0 + static_cast<double>(j));
  const auto map = feature::make_fourier(*kernel::make_gaussian(lengthscale, 1), 60000, 2, {});
  REQUIRE(spec::to_spec(*map).size() > (1 << 20));
  io::save(*map, directory.file("wide"));
  CHECK(spec::to_spec(*io::load_map(directory.file("wide"))) == spec::to_spec(*map));
}

TEST_CASE(
    "map files with right checksums and wrong contents are CORRUPT_FILE naming path and fault") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("map");
  const auto refused = [&](const feature::FeatureMap& map, const char* section, auto change,
                           const char* part) {
    io::save(map, path);
    forge_section(path, section, change);
    return corruption_fault(
        path, [](const std::string& name) { io::load_map(name); }, part);
  };
  const auto drawn = spec::map_from_spec(kSpec);
  const auto given = supplied_map(feature::FourierForm::pair);
  const auto spec_with = [](const char* from, const char* to) {
    return [=](const std::string& text) { return replaced(text, from, to); };
  };
  CHECK(refused(*drawn, "spec", spec_with("}", ""), "not valid JSON") == "");
  CHECK(refused(*drawn, "spec", spec_with("fourier", "furrier"), "map = \"furrier\"") == "");
  CHECK(refused(*drawn, "spec", spec_with("\"inputs\":2", "\"inputs\":3"), "lengthscale") == "");
  CHECK(refused(*drawn, "spec", spec_with("\"features\":6", "\"features\":5"), "features = 5") ==
        "");
  CHECK(refused(*drawn, "spec", spec_with("dense", "sideways"), "projection = \"sideways\"") == "");
  CHECK(refused(*drawn, "spec", spec_with("dense", "supplied"), "supplied") == "");
  CHECK(refused(
            *drawn, "numbers", [](const std::string&) { return std::string(8, '\0'); },
            "expected none") == "");
  CHECK(refused(
            *given, "numbers", [](const std::string& b) { return b.substr(1); }, "multiple of 8") ==
        "");
  CHECK(refused(
            *given, "numbers", [](const std::string& b) { return b.substr(8); }, "numbers") == "");
  CHECK(refused(
            *given, "numbers", [](const std::string& b) { return b + b; }, "numbers") == "");
  CHECK(refused(
            *given, "numbers", [](const std::string& b) { return std::string(b.size(), '\xff'); },
            "numbers") == "");
  CHECK(refused(
            *given, "numbers",
            [](const std::string& b) { return b.substr(0, b.size() - 8) + std::string(8, '\xff'); },
            "nan") == "");
  CHECK(refused(*given, "spec", spec_with("\"inputs\":2", "\"inputs\":2147483647"), "numbers") ==
        "");
  CHECK(refused(*given, "spec", spec_with("\"features\":6", "\"features\":2147483646"),
                "numbers") == "");
}

TEST_CASE("a spec from a newer library inside a file is VERSION") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("map");
  io::save(*spec::map_from_spec(kSpec), path);
  forge_section(path, "spec", [](const std::string& text) {
    return replaced(text, "\"mercer\":1", "\"mercer\":2");
  });
  CHECK_REFUSED(MERCER_NEWER_VERSION, io::load_map(path), path, "mercer = 2");
}

TEST_CASE("a missing, added or renamed section is CORRUPT_FILE") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("map");
  const std::byte bytes[8]{};
  const io::SectionView spec{"spec", bytes}, numbers{"numbers", {}}, other{"other", {}};
  const auto refused = [&](std::vector<io::SectionView> sections) {
    io::FileOutput file(path);
    io::write_container(file, "map", sections);
    return refusal_fault(
        MERCER_CORRUPT_FILE, [&] { io::load_map(path); }, path, "spec, numbers");
  };
  CHECK(refused({}) == "");
  CHECK(refused({spec}) == "");
  CHECK(refused({spec, other}) == "");
  CHECK(refused({numbers, spec}) == "");
  CHECK(refused({spec, numbers, other}) == "");
}

TEST_CASE("files that are not there or of another kind say so") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("map");
  CHECK_REFUSED(MERCER_IO, io::load_map(path), path, std::strerror(ENOENT));
  io::save(*spec::map_from_spec(kSpec), path);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, io::load_model(path), path,
                "holds a map, expected a model");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, io::load_statistics(path), "holds a map");
  directory.write("text", "x,y\n1,2\n" + std::string(100, ' '));
  CHECK_REFUSED(MERCER_CORRUPT_FILE, io::load_map(directory.file("text")), "does not begin");
}

const std::vector<double> kFrequencies = {0.1, -0.2, 1.0 / 3, 1.5},
                          kRoots = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

std::unique_ptr<feature::FeatureMap> supplied() {
  return feature::make_field_supplied(*kernel::make_kernel({{"kernel", "gaussian"}}),
                                      {kFrequencies.data(), 2, 2}, {}, {3, 2, kRoots}, {});
}

/// "" if a file of that spec and those numbers is CORRUPT_FILE and says `part`.
std::string corrupt(const std::string& spec, const std::vector<NumberArray>& numbers,
                    const char* part) {
  const std::vector<std::byte> bytes = io::encode(numbers);
  const io::SectionView sections[] = {{"spec", io::bytes_of(spec)}, {"numbers", bytes}};
  const auto load = [](const std::string& path) { io::load_map(path); };
  return misfit("map", sections, load, part);
}

TEST_CASE("maps of several outputs come back from files") {
  const auto drawn = spec::map_from_spec(
      R"({"kernel":{"kernel":"helmholtz","alpha":0.1},"inputs":2,"features":24,"seed":4})");
  const auto own = supplied();
  for (const feature::FeatureMap* map : {drawn.get(), own.get()}) {
    const TemporaryDirectory directory;
    const std::string first = directory.file("first"), second = directory.file("second");
    io::save(*map, first);
    const auto back = io::load_map(first);
    io::save(*back, second);
    CHECK(directory.read(first) == directory.read(second));
    CHECK(spec::to_spec(*back) == spec::to_spec(*map));
    CHECK(back->outputs() == map->outputs());
  }
}

TEST_CASE("maps of several outputs that do not fit together are corrupt") {
  const std::string spec = spec::to_spec(*supplied());
  const std::vector<NumberArray> numbers = supplied()->numbers();
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = spec;
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK(corrupt(changed("\"features\":8", "\"features\":12"), numbers, "roots") == "");
  CHECK(corrupt(changed("\"inputs\":2", "\"inputs\":3"), numbers, "frequencies") == "");
  std::vector<NumberArray> flat = numbers;
  flat.back().shape = {2, 6};
  CHECK(corrupt(spec, flat, "roots") == "");
  CHECK(corrupt(R"({"map":"fourier","kernel":{"kernel":"decomposable","gamma":[[5e-324]]},)"
                R"("inputs":2,"features":4})",
                {}, "too small") == "");
  const std::string curl = R"({"map":"fourier","kernel":{"kernel":"curl_free"},"inputs":2,)";
  CHECK(corrupt(curl + R"("features":3})", {}, "features = 3") == "");
  CHECK(corrupt(R"({"map":"fourier","kernel":{"kernel":"helmholz"},"inputs":2,"features":4})", {},
                "helmholtz") == "");
}

}  // namespace map_file_test
