// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files of maps of one and of several outputs: what comes back, what is corrupt.
// States of attention in files, also with right checksums and wrong contents.
// Sums of tests in files, also with right checksums and wrong contents.
#include <array>
#include <cstring>

#include "feature/field_fourier.h"
#include "feature/fourier.h"
#include "io/container.h"
#include "io/corrupt_file.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/forge.h"
#include "support/kernels.h"
#include "support/made_map.h"

namespace object_file_test {
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
  CHECK_REFUSED(MERCER_CORRUPT_FILE, io::load_map(directory.file("text")),
                "begins with other bytes, expected a mercer file");
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

attention::Attention small_state(bool stabilize) {
  const std::shared_ptr<const feature::FeatureMap> map =
      made_map("positive", {{"kernel", "exponential"}}, 3, 8, 1, {{"stabilize", stabilize}});
  attention::Attention state(map, 2, 1, 2);
  const Matrix<double> K = random_matrix(10, 3, 1), V = random_matrix(10, 2, 2);
  Context context;
  state.absorb<double>({{}, K.view(), V.view()}, context);
  return state;
}

std::unique_ptr<attention::Attention> loaded_state(const std::string& path) {
  io::InputFile file(path);
  return io::load_attention(file);
}

TEST_CASE("states of attention come back from their file bit for bit") {
  const TemporaryDirectory directory;
  for (const bool stabilize : {false, true}) {
    const attention::Attention state = small_state(stabilize);
    io::save(state, directory.file("first"));
    const auto back = loaded_state(directory.file("first"));
    CHECK((back->keys() == 5 && back->batch() == 2 && back->values() == 2));
    io::save(*back, directory.file("second"));
    CHECK(directory.read(directory.file("first")) == directory.read(directory.file("second")));
  }
}

TEST_CASE("states of attention with right checksums and wrong contents are refused") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("state");
  const auto refuses = [&](const char* section, const auto& change, auto... parts) {
    io::save(small_state(false), path);
    forge_section(path, section, change);
    return refusal_fault(
        MERCER_CORRUPT_FILE, [&] { loaded_state(path); }, "state", parts...);
  };
  const auto shape = [&](const char* from, const char* to, auto... parts) {
    return refuses(
        "shape", [&](const std::string& text) { return replaced(text, from, to); }, parts...);
  };
  CHECK(shape("\"batch\":2", "\"batch\":3", "sums and most") == "");
  CHECK(shape("\"batch\":2", "\"batch\":2147483647", "sums and most") == "");
  CHECK(shape("\"heads\":1", "\"heads\":0", "heads = 0") == "");
  CHECK(shape("\"heads\":1", "\"heads\":1e99", "heads") == "");
  CHECK(shape("\"values\":2", "\"values\":2147483647", "sums and most") == "");
  CHECK(shape("\"values\":2", "\"values\":-1", "values") == "");
  CHECK(shape("\"keys\":5", "\"keys\":-5", "keys") == "");
  CHECK(shape("\"keys\"", "\"key\"", "key") == "");
  const auto twice = [](const std::string& bytes) { return bytes + bytes; };
  CHECK(refuses("sums", twice, "sums and most") == "");
  CHECK(refuses("most", twice, "sums and most") == "");
  CHECK(refuses("most", [](const std::string& bytes) { return bytes.substr(1); }) == "");
  CHECK(refuses("spec", [](const std::string& text) {
          return replaced(text, "\"positive\"", "\"negative\"");
        }) == "");
  const auto infinite = [](const std::string& bytes) {
    const double most = std::numeric_limits<double>::infinity();
    return std::string(reinterpret_cast<const char*>(&most), 8) + bytes.substr(8);
  };
  CHECK(refuses("most", infinite, "most holds inf", "0 for this map") == "");
  io::save(small_state(true), path);
  forge_section(path, "most", infinite);
  CHECK_REFUSED(MERCER_CORRUPT_FILE, loaded_state(path), "most holds inf");
}

/// 4 of 5 rows of X, 3 of Y; none of Y has been added.
spec::RowsSums small_sums(const char* json) {
  Context context;
  const Matrix<double> X = random_matrix(5, 2, 1);
  const std::array<Rows, 2> pilot = {Rows(X.view()), Rows(X.view())};
  spec::RowsSums sums = spec::rows_sums(spec::parse_test(json), {5, 3}, pilot, context);
  sums.add(0, 0, X.view().block_rows(0, 4), context);
  return sums;
}
constexpr const char* kScaled = R"({"test":"mmd","bandwidths":[1],"features":4})";
constexpr const char* kGiven = R"({"test":"mmd","kernels":[{"kernel":"gaussian"}],"features":4})";

std::unique_ptr<spec::RowsSums> loaded_sums(const std::string& path) {
  io::InputFile file(path);
  return io::load_rows_sums(file);
}

TEST_CASE("sums of tests come back from their file bit for bit") {
  const TemporaryDirectory directory;
  for (const char* const json : {kScaled, kGiven}) {
    io::save(small_sums(json), directory.file("first"));
    const auto back = loaded_sums(directory.file("first"));
    CHECK((back->added(0) == 4 && back->added(1) == 0 && back->sizes().rows[1] == 3));
    io::save(*back, directory.file("second"));
    CHECK(directory.read(directory.file("first")) == directory.read(directory.file("second")));
  }
}

/// The k-th double of a section replaced.
auto with_number(int64_t k, double value) {
  return [=](std::string bytes) {
    std::memcpy(bytes.data() + 8 * k, &value, 8);
    return bytes;
  };
}

TEST_CASE("sums of tests with right checksums and wrong contents are refused") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("sums");
  const auto refuses = [&](const char* section, const auto& change, const char* part) {
    io::save(small_sums(kScaled), path);
    forge_section(path, section, change);
    return corruption_fault(path, loaded_sums, part);
  };
  const double huge = 0x1p53, infinite = std::numeric_limits<double>::infinity();
  CHECK(refuses("sizes", with_number(0, 0), "sizes holds 0") == "");
  CHECK(refuses("sizes", with_number(0, 4.5), "sizes holds 4.5") == "");
  CHECK(refuses("sizes", with_number(0, huge), "section counts") == "");
  CHECK(refuses("sizes", with_number(2, 2147483647), "section scales") == "");
  CHECK(refuses("sizes", with_number(2, std::nan("")), "sizes holds") == "");
  CHECK(refuses("scales", with_number(0, -1), "scales holds -1") == "");
  CHECK(refuses("scales", with_number(3, infinite), "scales holds inf") == "");
  CHECK(refuses("counts", with_number(0, 2), "2 rows in its group 0") == "");
  CHECK(refuses("counts", with_number(0, 0.5), "0.5 rows") == "");
  CHECK(refuses("counts", with_number(0, -1), "-1 rows") == "");
  CHECK(refuses("counts", with_number(0, std::nan("")), "rows, expected a count") == "");
  CHECK(refuses("sums", with_number(0, std::nan("")), "sums[0] = ") == "");
  CHECK(refuses("sums", with_number(4, infinite), "sums[4] = inf") == "");
  const auto text = [&](const char* from, const char* to, const char* part) {
    return refuses(
        "test", [=](const std::string& json) { return replaced(json, from, to); }, part);
  };
  CHECK(text("\"mmd\"", "\"hsic\"", "witnesses") == "");
  CHECK(text("\"mmd\"", "\"kid\"", "bandwidths") == "");
  CHECK(text("\"features\":4", "\"features\":1048576", "section sums") == "");
  CHECK(text("\"permutations\"", "\"permutation\"", "permutation") == "");
  CHECK(text("[1]", "[0]", "bandwidths") == "");
  const auto twice = [](const std::string& bytes) { return bytes + bytes; };
  for (const char* const section : {"sizes", "scales", "counts", "sums"})
    CHECK(refuses(section, twice, section) == "");
  CHECK(refuses(
            "sums", [](const std::string& bytes) { return bytes.substr(1); }, "sums") == "");
  io::save(small_sums(kGiven), path);
  forge_section(path, "scales", [](const std::string&) { return std::string(32, '\0'); });
  CHECK(corruption_fault(path, loaded_sums, "section scales") == "");
}

solver::RowStatistics small_statistics(int64_t features, int64_t outputs) {
  solver::RowStatistics statistics(features, outputs);
  Matrix<double> Z(11, features), Y(11, outputs);
  for (int64_t i = 0; i < 11 * features; ++i) Z.data()[i] = std::sin(static_cast<double>(i) + 0.5);
  for (int64_t i = 0; i < 11 * outputs; ++i) Y.data()[i] = std::cos(static_cast<double>(i)) / 3;
  Context context;
  statistics.add(MatrixView<const double>(Z.view()), Y.view(), context);
  return statistics;
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

std::string difference(const solver::RowStatistics& a, const solver::RowStatistics& b) {
  if (a.features() != b.features() || a.outputs() != b.outputs() || a.rows() != b.rows())
    return "shape";
  const auto row = [](MatrixView<const double> m, int64_t i, int64_t count) {
    return std::span<const double>(m.row(i), count);
  };
  for (int64_t i = 0; i < a.features(); ++i) {
    if (!same_bits(row(a.gram(), i, i + 1), row(b.gram(), i, i + 1))) return "gram";
    if (!same_bits(row(a.cross(), i, a.outputs()), row(b.cross(), i, a.outputs()))) return "cross";
  }
  if (!same_bits(a.sum_features(), b.sum_features())) return "sum_features";
  if (!same_bits(a.sum_outputs(), b.sum_outputs())) return "sum_outputs";
  if (!same_bits(a.origin_features(), b.origin_features())) return "origin_features";
  if (!same_bits(a.origin_outputs(), b.origin_outputs())) return "origin_outputs";
  return same_bits(a.sum_squared_outputs(), b.sum_squared_outputs()) ? "" : "sum_squared_outputs";
}

TEST_CASE("statistics come back from their file bit for bit") {
  const TemporaryDirectory directory;
  for (const int64_t features : {1, 2, 17}) {
    for (const int64_t outputs : {0, 1, 3}) {
      const auto statistics = small_statistics(features, outputs);
      io::save(statistics, directory.file("first"));
      const auto back = io::load_statistics(directory.file("first"));
      io::save(*back, directory.file("second"));
      CAPTURE(features, outputs);
      CHECK(difference(*back, statistics) == "");
      CHECK(directory.read(directory.file("first")) == directory.read(directory.file("second")));
    }
  }
}

TEST_CASE("statistics of weighted rows keep their weight, others have no section for it") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("s");
  auto weighted = small_statistics(3, 1);
  weighted.parts().weight = 4.25;
  io::save(weighted, path);
  CHECK(io::load_statistics(path)->weight() == 4.25);
  CHECK(difference(*io::load_statistics(path), weighted) == "");
  forge_section(path, "weight", [](const std::string& bytes) { return bytes + bytes; });
  CHECK_REFUSED(MERCER_CORRUPT_FILE, io::load_statistics(path), "section weight has 2 numbers");
  weighted.parts().weight = -1;
  io::save(weighted, path);
  CHECK_REFUSED(MERCER_CORRUPT_FILE, io::load_statistics(path), "weight = -1");
  io::save(small_statistics(3, 1), path);
  bool has_weight = false;
  forge_sections(path, [&](const auto& sections) {
    for (const auto& section : sections) has_weight = has_weight || section.name == "weight";
  });
  CHECK(!has_weight);
}

TEST_CASE("statistics read back go on adding up") {
  const TemporaryDirectory directory;
  auto twice = small_statistics(5, 2);
  io::save(twice, directory.file("s"));
  auto back = io::load_statistics(directory.file("s"));
  Context context;
  twice.merge(twice.clone(context));
  back->merge(back->clone(context));
  CHECK(difference(*back, twice) == "");
}

TEST_CASE("what a statistics file holds") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("s");
  io::save(small_statistics(5, 2), path);
  const std::string bytes = std::to_string(directory.read(path).size());
  CHECK(io::describe_file(path) == R"({"kind":"statistics","version":1,"bytes":)" + bytes +
                                       R"(,"features":5,"outputs":2,"rows":11})");
}

TEST_CASE("statistics files with right checksums and wrong sizes are CORRUPT_FILE") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("s");
  const auto refused = [&](const char* section, auto change, const char* part) {
    io::save(small_statistics(5, 2), path);
    forge_section(path, section, change);
    return corruption_fault(
        path, [](const std::string& name) { io::load_statistics(name); }, part);
  };
  const auto cut = [](const std::string& bytes) { return bytes.substr(8); };
  const auto becomes = [](const char* from, const char* to) {
    return [=](const std::string& text) { return replaced(text, from, to); };
  };
  CHECK(refused("gram", cut, "section gram has 14 numbers, expected 15") == "");
  CHECK(refused(
            "sums", [](const std::string& b) { return b.substr(3); }, "multiple of 8") == "");
  CHECK(refused("cross", cut, "section cross has 9 numbers, expected 10") == "");
  CHECK(refused("sums", cut, "section sums has 15 numbers, expected 16") == "");
  CHECK(refused("shape", becomes("\"features\":5", "\"features\":2147483647"), "section gram") ==
        "");
  CHECK(refused("shape", becomes("\"features\":5", "\"features\":4294967296"),
                "features = 4294967296") == "");
  CHECK(refused("shape", becomes("\"features\":5", "\"features\":0"), "features = 0") == "");
  CHECK(refused("shape", becomes("\"outputs\":2", "\"outputs\":2147483647"), "section cross") ==
        "");
  CHECK(refused("shape", becomes("\"rows\":11", "\"rows\":-11"), "rows = -11") == "");
  CHECK(refused("shape", becomes("\"rows\":11", "\"rows\":1e3"), "rows = 1000.0") == "");
}

TEST_CASE("a statistics file of 0.1.0, whose sums are about zero, is read as such") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("s");
  auto about_zero = small_statistics(5, 2);
  auto parts = about_zero.parts();
  std::ranges::fill(parts.origin_features, 0.0);
  std::ranges::fill(parts.origin_outputs, 0.0);
  io::save(about_zero, path);
  forge_section(path, "sums", [](const std::string& bytes) { return bytes.substr(0, 8 * 9); });
  CHECK(difference(*io::load_statistics(path), about_zero) == "");
}

TEST_CASE("negative sums of squares about zero are CORRUPT_FILE, rounding writes none") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("s");
  const auto refused = [&](bool gram, const char* part) {
    auto about_zero = small_statistics(2, 1);
    auto parts = about_zero.parts();
    std::ranges::fill(parts.origin_features, 0.0);
    std::ranges::fill(parts.origin_outputs, 0.0);
    (gram ? parts.gram(1, 1) : parts.sum_squared_outputs[0]) = -0.5;
    io::save(about_zero, path);
    return refusal_fault(
        MERCER_CORRUPT_FILE, [&] { io::load_statistics(path); }, part);
  };
  CHECK(refused(true, "gram(1, 1) = -0.5") == "");
  CHECK(refused(false, "sum_y2(0, 0) = -0.5") == "");
  // 1e-18 is lost beside 1, and taken away all the same.
  solver::RowStatistics rows(1, 0);
  Context context;
  const double z[] = {0, 1e-9, -1e-9, 1};
  for (const int64_t i : {0, 1, 2, 3}) rows.add(MatrixView<const double>{z + i, 1, 1}, {}, context);
  for (const int64_t i : {3, 1}) rows.remove(MatrixView<const double>{z + i, 1, 1}, {}, context);
  CHECK(rows.gram()(0, 0) >= 0);
}

TEST_CASE("a length that is asked for is that of the file") {
  class Length final : public io::Output {
   public:
    bool begin(int64_t length) override {
      bytes = length;
      return false;
    }
    void write(std::span<const std::byte>) override { bytes = -1; }
    void commit() override { bytes = -1; }
    int64_t bytes = 0;
  };
  const TemporaryDirectory directory;
  const std::string path = directory.file("s");
  for (const double weight : {11.0, 4.25}) {
    auto statistics = small_statistics(17, 3);
    statistics.parts().weight = weight;
    Length length;
    io::save(statistics, length);
    io::save(statistics, path);
    CHECK(length.bytes == static_cast<int64_t>(directory.read(path).size()));
  }
}

TEST_CASE("a statistics file with sums that are not finite is CORRUPT_FILE") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("s");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* section : {"sums", "gram"}) {
    io::save(small_statistics(5, 2), path);
    forge_section(path, section, [&](std::string bytes) {
      std::memcpy(bytes.data(), &nan, sizeof nan);
      return bytes;
    });
    CHECK_REFUSED(MERCER_CORRUPT_FILE, io::load_statistics(path), path, "finite");
  }
}

}  // namespace object_file_test
