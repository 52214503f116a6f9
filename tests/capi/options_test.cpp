// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The rules of option structs, for every struct alike: struct_size decides how many bytes are
// touched and read.
#include <array>
#include <cstring>

#include "fixture.h"
#include "support/catch.h"
#include "wrong_field.h"

using namespace mercer::test;

namespace {

/// One option struct: its size now and in the first release, its init, and a call that reads it.
struct Rule {
  const char* name;
  uint32_t size, first_size;
  mercer_status (*init)(void* options);
  mercer_status (*read)(const void* options);
};

mercer_status read_fourier(const void* options) {
  mercer_map* map = nullptr;
  const mercer_status status = mercer_fourier_create(
      gaussian().get(), 2, 4, static_cast<const mercer_fourier_options*>(options), &map);
  mercer_map_free(map);
  return status;
}

mercer_status read_transform(const void* options) {
  const auto X = numbers(3, 2);
  std::vector<double> Z(12);
  return mercer_map_transform(fourier(2, 4).get(), rows_of(X, 2),
                              static_cast<const mercer_transform_options*>(options), nullptr,
                              result_of(Z, 4));
}

mercer_status read_context(const void* options) {
  mercer_context* made = nullptr;
  const mercer_status status =
      mercer_context_create(static_cast<const mercer_context_options*>(options), &made);
  mercer_context_free(made);
  return status;
}

const Rule kRules[] = {
    {"mercer_fourier_options", 32, 32,
     [](void* o) { return mercer_fourier_options_init(static_cast<mercer_fourier_options*>(o)); },
     read_fourier},
    {"mercer_transform_options", 40, 40,
     [](void* o) {
       return mercer_transform_options_init(static_cast<mercer_transform_options*>(o));
     },
     read_transform},
    {"mercer_context_options", 40, 32,
     [](void* o) { return mercer_context_options_init(static_cast<mercer_context_options*>(o)); },
     read_context},
};

/// A struct of a future release: larger than any of today's.
struct alignas(8) Storage {
  std::array<unsigned char, 256> bytes;
  explicit Storage(uint32_t struct_size, unsigned char fill = 0xAB) {
    bytes.fill(fill);
    std::memcpy(bytes.data(), &struct_size, sizeof struct_size);
  }
  uint32_t struct_size() const {
    uint32_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    return size;
  }
  bool holds(size_t from, size_t to, unsigned char value) const {
    for (size_t i = from; i < to; ++i) {
      if (bytes[i] != value) return false;
    }
    return true;
  }
};

TEST_CASE("init fills in defaults that are accepted, and keeps struct_size", "[capi]") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    Storage storage(rule.size);
    CHECK(rule.init(storage.bytes.data()) == MERCER_OK);
    CHECK(storage.struct_size() == rule.size);
    CHECK(storage.holds(rule.size, 256, 0xAB));  // no byte past struct_size
    CHECK(rule.read(storage.bytes.data()) == MERCER_OK);
  }
}

TEST_CASE("a struct of the first release is accepted, and not written past", "[capi]") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    Storage storage(rule.first_size);
    CHECK(rule.init(storage.bytes.data()) == MERCER_OK);
    CHECK(storage.holds(rule.first_size, 256, 0xAB));
    CHECK(rule.read(storage.bytes.data()) == MERCER_OK);
  }
}

TEST_CASE("a larger struct is accepted when its unknown tail is zero", "[capi]") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    Storage storage(rule.size + 16);
    CHECK(rule.init(storage.bytes.data()) == MERCER_OK);
    CHECK(storage.holds(rule.size, rule.size + 16, 0));
    CHECK(storage.holds(rule.size + 16, 256, 0xAB));
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
      Storage storage(size, 0);
      const std::string says = "struct_size = " + std::to_string(size);
      CHECK(fault(rule.init(storage.bytes.data()), MERCER_INVALID_ARGUMENT, says, "_init: ") == "");
      CHECK(fault(rule.read(storage.bytes.data()), MERCER_INVALID_ARGUMENT, says) == "");
    }
    CHECK(fault(rule.init(nullptr), MERCER_INVALID_ARGUMENT, "options = NULL") == "");
  }
}

TEST_CASE("NULL options mean the defaults", "[capi]") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    CHECK(rule.read(nullptr) == MERCER_OK);
  }
}

TEST_CASE("documented defaults", "[capi]") {
  const mercer_fourier_options fourier = fourier_options();
  CHECK((fourier.form == MERCER_FORM_PAIR && fourier.projection == MERCER_PROJECTION_DENSE));
  mercer_transform_options transform{};
  transform.struct_size = sizeof transform;
  REQUIRE(mercer_transform_options_init(&transform) == MERCER_OK);
  CHECK((transform.begin == 0 && transform.end == -1 && transform.right == nullptr));
  CHECK((transform.locations == 1 && transform.reserved == 0));
}

TEST_CASE("fields out of range are named", "[capi]") {
  const WrongField<mercer_fourier_options> fourier_fields[] = {
      WRONG(form, 3),   WRONG(form, -1),     WRONG(projection, 99),
      WRONG(radius, 2), WRONG(scramble, -1), WRONG(whole_blocks, 2)};
  CHECK(unrefused("mercer_fourier_create", "options", fourier_fields, fourier_options(),
                  [](const auto& options) { return read_fourier(&options); }) == "");
}

}  // namespace
