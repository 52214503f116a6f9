// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The rules of option structs, for every struct alike: struct_size decides how many bytes are
// touched and read.
#include "fixture.h"

using namespace mercer::test;

namespace {

/// One option struct: its size now and in the first release, and a call that reads it.
struct Rule {
  const char* name;
  uint32_t size, first_size;
  mercer_status (*read)(const void* options);
};

mercer_status read_transform(const void* options) {
  const auto X = numbers(3, 2);
  std::vector<double> Z(12);
  return mercer_map_transform(fourier(2, 4).get(), rows_of(X, 2),
                              static_cast<const mercer_transform_options*>(options), nullptr,
                              result_of(Z, 4));
}

mercer_status read_predict(const void* options) {
  const auto X = numbers(3, 2);
  std::vector<double> scores(3);
  return mercer_model_predict(small_model().get(), rows_of(X, 2), "value",
                              static_cast<const mercer_predict_options*>(options), nullptr,
                              result_of(scores, 1));
}

mercer_status read_context(const void* options) {
  mercer_context* made = nullptr;
  const mercer_status status =
      mercer_context_create(static_cast<const mercer_context_options*>(options), &made);
  mercer_context_free(made);
  return status;
}

const Rule kRules[] = {
    {"mercer_transform_options", 104, 104, read_transform},
    {"mercer_predict_options", 56, 56, read_predict},
    {"mercer_context_options", 40, 32, read_context},
};

/// A struct of a future release: larger than any of today's.
struct alignas(8) Storage {
  std::array<unsigned char, 256> bytes;
  explicit Storage(uint32_t struct_size, unsigned char fill) {
    bytes.fill(fill);
    std::memcpy(bytes.data(), &struct_size, sizeof struct_size);
  }
};

TEST_CASE("zeros are defaults, of today's and of the first release's size", "[capi]") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    CHECK(rule.read(nullptr) == MERCER_OK);
    for (const uint32_t size : {rule.size, rule.first_size})
      CHECK(rule.read(Storage(size, 0).bytes.data()) == MERCER_OK);
  }
}

TEST_CASE("a larger struct is accepted when its unknown tail is zero", "[capi]") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    Storage storage(rule.size + 16, 0);
    CHECK(rule.read(storage.bytes.data()) == MERCER_OK);
    storage.bytes[rule.size + 9] = 1;
    CHECK(fault(rule.read(storage.bytes.data()), MERCER_INVALID_ARGUMENT,
                "options->struct_size = " + std::to_string(rule.size + 16),
                "byte " + std::to_string(rule.size + 9)) == "");
  }
}

TEST_CASE("a struct smaller than the first release, or absurdly large, is refused", "[capi]") {
  for (const Rule& rule : kRules) {
    for (const uint32_t size : {0u, 4u, rule.first_size - 1, 0xABABABABu}) {
      INFO(rule.name << " of " << size);
      CHECK(fault(rule.read(Storage(size, 0).bytes.data()), MERCER_INVALID_ARGUMENT,
                  "struct_size = " + std::to_string(size)) == "");
    }
  }
}

}  // namespace
