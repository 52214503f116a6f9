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
    return slot.fault(make_fourier(kernel, d, D, "", slot.out()), expected,
                      "mercer_map_fit: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(create(one.get(), 0, 8, invalid, "inputs = 0") == "");
  CHECK(create(one.get(), 3, 0, invalid, "features = 0") == "");
  CHECK(create(one.get(), 3, 7, invalid, "7", "even") == "");
  CHECK(create(one.get(), 3, kHuge - 1, invalid, "2147483647") == "");
  CHECK(create(one.get(), kHuge / 2, 8, invalid, "2147483647") == "");
  CHECK(slot.refused(mercer_map_from_spec("{", slot.out()), "mercer_map_from_spec") == "");
  const auto two = gaussian({1, 2});
  CHECK(create(two.get(), 3, 8, MERCER_DIMENSION_MISMATCH, "2", "3") == "");
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
  const auto supply = [&](const mercer_rows& w, const double* weights,
                          const mercer_rows& roots = {}) {
    return make_supplied(one.get(), w, weights, roots, "", &out);
  };
  CHECK(refused(supply(rows_of(W.data(), 0, 3), nullptr), "mercer_map_fit", "frequencies.n = 0") ==
        "");
  CHECK(refused(supply(rows_of(W.data(), 4, 3, 2), nullptr), "frequencies.ld = 2") == "");
  CHECK(refused(supply(rows_of(W, 3), negative), "weight", "-1") == "");
  CHECK(fault(supply(rows_of(W, 3), nullptr, rows_of(W.data(), 6, 2)), MERCER_DIMENSION_MISMATCH,
              "6 x 2") == "");
  const auto with = [&](const char* keys) {
    return make_supplied(one.get(), rows_of(W, 3), nullptr, {}, keys, &out);
  };
  CHECK(fault(with(R"("projection":"sorf")"), MERCER_UNSUPPORTED, "projection = sorf") == "");
  CHECK(fault(with(R"("radius":"fixed")"), MERCER_UNSUPPORTED, "radius") == "");
  CHECK(fault(with(R"("map":"linear")"), MERCER_UNSUPPORTED, "map linear") == "");
  CHECK(fault(with(R"("inputs":4)"), MERCER_DIMENSION_MISMATCH, "inputs", "3") == "");
  CHECK(fault(with(R"("features":4)"), MERCER_DIMENSION_MISMATCH, "features", "8") == "");
  CHECK(refused(with(R"("kernel":{"kernel":"gaussian"})"), "\"kernel\"") == "");
  CHECK(fault(make_supplied(polynomial().get(), rows_of(W, 3), nullptr, {}, "", &out),
              MERCER_UNSUPPORTED, "mercer_map_fit", "polynomial") == "");
  CHECK(out == nullptr);
}

}  // namespace
