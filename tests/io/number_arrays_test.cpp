// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Named arrays as bytes and back; what is not such bytes is refused.
#include "io/number_arrays.h"

#include <cmath>
#include <cstring>

#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;

namespace {

std::vector<NumberArray> some() {
  return {{"landmarks", {2, 3}, std::vector<double>{1, -2.5, 1e-300, 0.0, -0.0, 7}},
          {"rank", {1}, std::vector<int64_t>{-4}},
          {"nothing", {0}, std::vector<double>{}}};
}

bool equal(const NumberArray& a, const NumberArray& b) {
  return a.name == b.name && a.shape == b.shape && a.values == b.values;
}

}  // namespace

TEST_CASE("named arrays come back as they were", "[io]") {
  const auto back = io::decode(io::encode(some()));
  REQUIRE(back.size() == some().size());
  for (size_t i = 0; i < back.size(); ++i) CHECK(equal(back[i], some()[i]));
  CHECK(io::encode({}).empty());
  CHECK(io::decode({}).empty());
}

TEST_CASE("numbers of older files are one array without a name", "[io]") {
  const std::vector<double> numbers = {0.5, -1, 3};
  const auto back = io::decode(std::as_bytes(std::span(numbers)));
  REQUIRE(back.size() == 1);
  CHECK(equal(back[0], {"", {3}, numbers}));
  CHECK(test::refusal_fault(
            MERCER_CORRUPT_FILE, [&] { io::decode(std::as_bytes(std::span(numbers)).first(20)); },
            "numbers") == "");
}

TEST_CASE("every shortened or altered table is refused or read as something else", "[io]") {
  const std::vector<std::byte> whole = io::encode(some());
  for (size_t length = 8; length < whole.size(); length += 8) {
    INFO(length);
    CHECK(test::refusal_fault(
              MERCER_CORRUPT_FILE, [&] { io::decode(std::span(whole).first(length)); },
              "section numbers") == "");
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

TEST_CASE("numbers are found by name, type and shape", "[io]") {
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
}
