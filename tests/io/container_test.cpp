// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The container of files and the arrays of numbers in it.
#include "io/container.h"

#include "io/input_output.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace container_test {
using namespace mercer;
using mercer::test::Outcome, mercer::test::outcome, mercer::test::refusal_fault,
    mercer::test::TemporaryDirectory;

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A file with a text, an empty and a binary section.
std::string small_file(const TemporaryDirectory& directory) {
  const std::string path = directory.file("small.mercer");
  const auto text = bytes_of("{\"a\":1}"), numbers = bytes_of(std::string("\0\x01\xff\x7f\0", 5));
  const io::SectionView sections[] = {{"spec", text}, {"empty", {}}, {"numbers", numbers}};
  io::FileOutput file(path);
  io::write_container(file, "map", sections);
  return path;
}

io::Container read(const std::string& path, std::string_view kind) {
  io::InputFile file(path);
  return io::read_container(file, kind);
}

void put_u64(std::string& file, size_t offset, uint64_t value) {
  for (size_t i = 0; i < 8; ++i) file[offset + i] = static_cast<char>(value >> (8 * i));
}

/// The same file with `change` made to its header and the header's checksum made to fit again.
template <class Change>
std::string forged(std::string file, size_t sections, Change change) {
  change(file);
  const size_t end = 40 + 48 * sections;
  put_u64(file, end, io::crc64(bytes_of(file.substr(0, end))));
  return file;
}

TEST_CASE("CRC-64/XZ has its published check value, for any split into words") {
  CHECK(io::crc64(bytes_of("123456789")) == 0x995DC9BBDF1939FAu);
  CHECK(io::crc64({}) == 0);
  // Bit by bit from the definition, for every length around the eight-byte steps.
  std::string text;
  for (int i = 0; i < 40; ++i, text += static_cast<char>(i * 37 + 11)) {
    uint64_t crc = ~uint64_t{0};
    for (const char c : text) {
      crc ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0xC96C5795D7870F42u : 0);
    }
    REQUIRE(io::crc64(bytes_of(text)) == ~crc);
  }
}

TEST_CASE("sections come back as written, in order") {
  const TemporaryDirectory directory;
  const io::Container c = read(small_file(directory), "map");
  CHECK(c.kind == "map");
  CHECK(c.version == io::kFormatVersion);
  REQUIRE(c.sections.size() == 3);
  CHECK(c.sections[0].name == "spec");
  CHECK(c.sections[0].bytes == bytes_of("{\"a\":1}"));
  CHECK(c.sections[1].bytes.empty());
  CHECK(c.sections[2].bytes == bytes_of(std::string("\0\x01\xff\x7f\0", 5)));
  CHECK(read(directory.file("small.mercer"), "").kind == "map");
}

TEST_CASE("a file of another kind is INVALID_ARGUMENT naming both") {
  const TemporaryDirectory directory;
  const std::string path = small_file(directory);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, read(path, "model"), path,
                "holds a map, expected a model");
}

TEST_CASE("every single-bit flip of a file is noticed") {
  const TemporaryDirectory directory;
  const std::string original = directory.read(small_file(directory));
  const std::string path = directory.file("flipped.mercer");
  std::string faults;
  for (size_t bit = 0; bit < 8 * original.size(); ++bit) {
    std::string file = original;
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << (bit % 8)));
    directory.write("flipped.mercer", file);
    const Outcome result = outcome([&] { read(path, ""); });
    const bool in_version = bit / 8 >= 8 && bit / 8 < 12;
    const bool noticed = result.status == MERCER_CORRUPT_FILE ||
                         (in_version && result.status == MERCER_NEWER_VERSION);
    if (!noticed) faults.append(" ").append(std::to_string(bit));
  }
  CHECK(faults == "");
}

TEST_CASE("every truncation and every lengthening of a file is noticed") {
  const TemporaryDirectory directory;
  const std::string original = directory.read(small_file(directory));
  const std::string path = directory.file("cut.mercer");
  std::string faults;
  for (size_t length = 0; length <= original.size() + 9; ++length) {
    if (length == original.size()) continue;
    std::string file = original;
    file.resize(length, '\0');
    directory.write("cut.mercer", file);
    const std::string fault = refusal_fault(
        MERCER_CORRUPT_FILE, [&] { read(path, ""); }, path);
    if (!fault.empty()) faults.append(" ").append(std::to_string(length));
  }
  CHECK(faults == "");
}

TEST_CASE("a newer format is VERSION, whatever else it holds") {
  const TemporaryDirectory directory;
  std::string file = directory.read(small_file(directory));
  file[8] = 2;
  const std::string path = directory.write("newer.mercer", file);
  CHECK_REFUSED(MERCER_NEWER_VERSION, read(path, ""), path, "version 2", "at most 1");
}

TEST_CASE("impossible sizes with a right checksum are refused before anything is allocated") {
  const TemporaryDirectory directory;
  const std::string original = directory.read(small_file(directory));
  const size_t entry = 40 + 24;  // of the first section: offset, length, checksum
  const uint64_t length = original.size();
  const auto refused = [&](auto change, const char* part) {
    const std::string path = directory.write("forged.mercer", forged(original, 3, change));
    return refusal_fault(
        MERCER_CORRUPT_FILE, [&] { read(path, ""); }, path, part);
  };
  const char* outside = "does not lie inside it";
  CHECK(refused([&](std::string& f) { put_u64(f, entry + 8, uint64_t{1} << 62); }, outside) == "");
  CHECK(refused([&](std::string& f) { put_u64(f, entry + 8, ~uint64_t{0}); }, outside) == "");
  CHECK(refused([&](std::string& f) { put_u64(f, entry + 8, length); }, outside) == "");
  CHECK(refused([&](std::string& f) { put_u64(f, entry, 0); }, outside) == "");
  CHECK(refused([&](std::string& f) { put_u64(f, entry + 96 + 8, 4); }, "after the last section") ==
        "");
  CHECK(refused([&](std::string& f) { put_u64(f, 16, length + 1); }, "truncated or lengthened") ==
        "");
  CHECK(refused([&](std::string& f) { f.replace(40 + 48, 5, std::string("spec\0", 5)); },
                "impossible name") == "");
  CHECK(refused([&](std::string& f) { f[40 + 23] = 'x'; }, "impossible name") == "");
  CHECK(refused([&](std::string& f) { f[40] = '/'; }, "impossible name") == "");
  CHECK(refused([&](std::string& f) { f[24] = '\0'; }, "impossible kind") == "");
  CHECK(refused([&](std::string& f) { f[12] = f[13] = f[14] = f[15] = '\xff'; },
                "sections do not fit") == "");
  CHECK(refused([&](std::string& f) { f[12] = 4; }, "") == "");
}

std::vector<NumberArray> some() {
  return {{"landmarks", {2, 3}, std::vector<double>{1, -2.5, 1e-300, 0.0, -0.0, 7}},
          {"rank", {1}, std::vector<int64_t>{-4}},
          {"nothing", {0}, std::vector<double>{}}};
}

bool equal(const NumberArray& a, const NumberArray& b) {
  return a.name == b.name && a.shape == b.shape && a.values == b.values;
}

TEST_CASE("named arrays come back as they were") {
  const auto back = io::decode(io::encode(some()));
  REQUIRE(back.size() == some().size());
  for (size_t i = 0; i < back.size(); ++i) CHECK(equal(back[i], some()[i]));
  CHECK(io::encode({}).empty());
  CHECK(io::decode({}).empty());
}

TEST_CASE("numbers of older files are one array without a name") {
  const std::vector<double> numbers = {0.5, -1, 3};
  const auto back = io::decode(std::as_bytes(std::span(numbers)));
  REQUIRE(back.size() == 1);
  CHECK(equal(back[0], {"", {3}, numbers}));
  CHECK_REFUSED(MERCER_CORRUPT_FILE, io::decode(std::as_bytes(std::span(numbers)).first(20)),
                "numbers");
}

TEST_CASE("every shortened or altered table is refused or read as something else") {
  const std::vector<std::byte> whole = io::encode(some());
  for (size_t length = 8; length < whole.size(); length += 8) {
    INFO(length);
    CHECK_REFUSED(MERCER_CORRUPT_FILE, io::decode(std::span(whole).first(length)),
                  "section numbers");
  }
  const size_t table = 16 + 3 * 40 + (2 + 1 + 1) * 8;
  for (size_t i = 8; i < table; ++i) {
    std::vector<std::byte> altered = whole;
    altered[i] ^= std::byte{0x80};
    const test::Outcome result = test::outcome([&] { io::decode(altered); });
    INFO(i << ": " << result.message);
    CHECK((result.status == MERCER_CORRUPT_FILE || result.status == MERCER_INVALID_ARGUMENT));
  }
}

TEST_CASE("numbers are found by name, type and shape") {
  const auto arrays = some();
  CHECK(find_doubles(arrays, "landmarks", std::array<int64_t, 2>{2, -1}).size() == 6);
  CHECK(find_integers(arrays, "rank", std::array<int64_t, 1>{1})[0] == -4);
  const auto refused = [&](auto&& call, const char* part) {
    return test::refusal_fault(MERCER_CORRUPT_FILE, call, part);
  };
  CHECK(refused([&] { find_doubles(arrays, "root", std::array<int64_t, 1>{1}); },
                "root are missing") == "");
  CHECK(refused([&] { find_doubles(arrays, "rank", std::array<int64_t, 1>{1}); }, "rank are i64") ==
        "");
  CHECK(refused(
            [&] {
              find_doubles(arrays, "landmarks", std::array<int64_t, 2>{3, 2});
            },
            "expected f64 of shape 3 x 2") == "");
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    const NumberArray own[] = {{"root", {2}, std::vector<double>{1, bad}}};
    CHECK(refused([&] { find_doubles(own, "root", std::array<int64_t, 1>{2}); },
                  "numbers root hold") == "");
  }
}

}  // namespace container_test
