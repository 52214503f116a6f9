// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "io/corrupt_file.h"
#include "support/forge.h"

namespace statistics_file_test {
using namespace mercer;
using namespace mercer::test;

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
  twice.merge(twice.clone());
  back->merge(back->clone());
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

}  // namespace statistics_file_test
