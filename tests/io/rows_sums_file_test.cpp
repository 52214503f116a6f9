// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums of tests in files, also with right checksums and wrong contents.

#include <array>
#include <cstring>
#include <random>

#include "io/corrupt_file.h"
#include "support/dense.h"
#include "support/forge.h"
#include "support/mutation.h"

namespace rows_sums_file_test {
using namespace mercer;
using namespace mercer::test;

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

std::unique_ptr<spec::RowsSums> loaded(const std::string& path) {
  io::InputFile file(path);
  return io::load_rows_sums(file);
}

TEST_CASE("sums of tests come back from their file bit for bit") {
  const TemporaryDirectory directory;
  for (const char* const json : {kScaled, kGiven}) {
    io::save(small_sums(json), directory.file("first"));
    const auto back = loaded(directory.file("first"));
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
    return corruption_fault(path, loaded, part);
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
  CHECK(corruption_fault(path, loaded, "section scales") == "");
}

TEST_CASE("damaged sums of tests are never read") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("sums");
  io::save(small_sums(kScaled), path);
  const std::string original = directory.read(path);
  std::mt19937_64 words(1);
  std::string fault;
  for (int trial = 0; trial < 300 && fault.empty(); ++trial) {
    const std::string damaged = mutated({original}, words);
    io::MemoryInput data(std::as_bytes(std::span(damaged)));
    const Outcome result = outcome([&] { io::load_rows_sums(data); });
    if (damaged != original && result.status != MERCER_CORRUPT_FILE &&
        result.status != MERCER_NEWER_VERSION)
      fault = "trial " + std::to_string(trial) + ": " + result.message;
  }
  CHECK(fault == "");
  for (int trial = 0; trial < 300 && fault.empty(); ++trial) {  // right checksums
    directory.write("sums", original);
    const char* const sections[] = {"test", "sizes", "scales", "counts"};
    forge_section(path, sections[words() % 4],
                  [&](const std::string& bytes) { return mutated({bytes}, words); });
    const Outcome result = outcome([&] { loaded(path); });
    if (result.status != MERCER_OK && result.status != MERCER_CORRUPT_FILE)
      fault = "trial " + std::to_string(trial) + ": " + result.message;
  }
  CHECK(fault == "");
}

}  // namespace rows_sums_file_test
