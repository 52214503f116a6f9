// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of making maps: status, and a message that names function, argument and
// value. Handles become NULL.
#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

TEST_CASE("map constructors refuse bad sizes", "[capi]") {
  const auto one = gaussian();
  Slot<mercer_map> slot;
  const auto create = [&](const mercer_kernel* kernel, int64_t d, int64_t D, mercer_status expected,
                          auto... parts) {
    return slot.fault(mercer_fourier_create(kernel, d, D, nullptr, slot.out()), expected,
                      "mercer_fourier_create: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(create(one.get(), 0, 8, invalid, "d = 0") == "");
  CHECK(create(one.get(), 3, 0, invalid, "D = 0") == "");
  CHECK(create(one.get(), 3, 7, invalid, "7", "even") == "");
  CHECK(create(one.get(), 3, kHuge - 1, invalid, "2147483647") == "");
  CHECK(create(one.get(), kHuge / 2, 8, invalid, "2147483647") == "");
  CHECK(create(nullptr, 3, 8, invalid, "kernel = NULL") == "");
  CHECK(slot.refused(mercer_map_from_spec("{", slot.out()), "mercer_map_from_spec") == "");
  const double ard[] = {1, 2};
  mercer_kernel* two = nullptr;
  REQUIRE(mercer_kernel_gaussian(ard, 2, &two) == MERCER_OK);
  const KernelHandle owned(two);
  CHECK(create(two, 3, 8, MERCER_DIMENSION_MISMATCH, "2", "3") == "");
}

TEST_CASE("linear maps refuse kernels, sizes and projections they cannot serve", "[capi]") {
  Slot<mercer_map> slot;
  const std::string plain = R"({"kernel":"polynomial","degree":1,"gamma":1,"offset":0})";
  const auto make = [&](const std::string& kernel, const char* projection, int64_t d, int64_t D,
                        mercer_status expected, auto... parts) {
    const std::string json = "{\"map\":\"linear\",\"kernel\":" + kernel + ",\"projection\":\"" +
                             projection + "\",\"inputs\":" + std::to_string(d) +
                             ",\"features\":" + std::to_string(D) + "}";
    return slot.fault(mercer_map_from_spec(json.c_str(), slot.out()), expected,
                      "mercer_map_from_spec: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(make(plain, "srht", 0, 4, invalid, "inputs = 0") == "");
  CHECK(make(plain, "srht", 3, 0, invalid, "features = 0") == "");
  CHECK(make(plain, "hadamard", 3, 4, invalid, "projection", "hadamard") == "");
  CHECK(make(R"({"kernel":"gaussian"})", "srht", 3, 4, MERCER_UNSUPPORTED, "gaussian") == "");
  CHECK(make(R"({"kernel":"polynomial","degree":2,"offset":0})", "srht", 3, 4, MERCER_UNSUPPORTED,
             "degree = 2") == "");
  CHECK(make(R"({"kernel":"polynomial","degree":1,"offset":3})", "srht", 3, 4, MERCER_UNSUPPORTED,
             "offset = 3") == "");
  CHECK(make(plain, "srht", int64_t{1} << 29, 4, invalid, "inputs = 536870912") == "");
  CHECK(make(plain, "countsketch", int64_t{1} << 32, 4, invalid, "inputs = 4294967296") == "");
  CHECK(make(plain, "srht", 3, kHuge, invalid, "2147483647") == "");
}

TEST_CASE("supplied frequencies are checked", "[capi]") {
  const auto one = gaussian();
  const auto W = numbers(4, 3);
  const double negative[] = {1, 1, -1, 1};
  mercer_map* out = nullptr;
  const auto supply = [&](const mercer_rows* w, const double* weights,
                          const mercer_rows* roots = nullptr) {
    return mercer_fourier_create_supplied(one.get(), w, weights, roots, nullptr, &out);
  };
  CHECK(refused(supply(rows_of(W.data(), 0, 3), nullptr), "mercer_fourier_create_supplied",
                "frequencies->n = 0") == "");
  CHECK(refused(supply(nullptr, nullptr), "frequencies") == "");
  CHECK(refused(supply(rows_of(W.data(), 4, 3, 2), nullptr), "frequencies->ld = 2") == "");
  CHECK(refused(supply(rows_of(W, 3), negative), "weight", "-1") == "");
  CHECK(fault(supply(rows_of(W, 3), nullptr, rows_of(W.data(), 6, 2)), MERCER_DIMENSION_MISMATCH,
              "6 x 2") == "");
  auto options = fourier_options();
  options.projection = MERCER_PROJECTION_SORF;
  CHECK(fault(mercer_fourier_create_supplied(one.get(), rows_of(W, 3), nullptr, nullptr, &options,
                                             &out),
              MERCER_UNSUPPORTED, "options->projection is sorf") == "");
  options = fourier_options();
  options.radius = MERCER_RADIUS_FIXED;
  CHECK(fault(mercer_fourier_create_supplied(one.get(), rows_of(W, 3), nullptr, nullptr, &options,
                                             &out),
              MERCER_UNSUPPORTED, "radius") == "");
  CHECK(fault(mercer_fourier_create_supplied(polynomial().get(), rows_of(W, 3), nullptr, nullptr,
                                             nullptr, &out),
              MERCER_UNSUPPORTED, "mercer_fourier_create_supplied", "polynomial") == "");
  CHECK(out == nullptr);
}

}  // namespace
