// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sketches by spec: every kind, field and composition is printed as it was asked for, and what
// cannot be made is refused by name.
#include "sketches.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

const std::string kCubic = R"({"kernel":"polynomial","degree":3,"gamma":0.5,"offset":1})";

/// What follows the name of a map in its spec.
std::string after_name(const std::string& level) { return level.substr(level.find(',') + 1); }

TEST_CASE("sketches of every kind, field and composition print their own spec", "[capi]") {
  for_each_kind([](const std::string& kind) {
    for (const std::string field : {"real", "complex", "complex_to_real"}) {
      Sketch wanted{kind, field};
      const std::string plain = kind + ",\"field\":\"" + field + '"';
      INFO(plain);
      const auto map = sketch(kCubic, 3, 8, wanted);
      REQUIRE(map != nullptr);
      CHECK(own_spec(map.get()) == after_name(plain) + '}');
      CHECK(info_of(map.get()).is_complex == (field == "complex"));
      wanted.composition = Composition::hierarchical;
      wanted.intermediate = 12;
      CHECK(own_spec(sketch(kCubic, 3, 8, wanted).get()) ==
            R"("base":{"map":)" + plain + R"(},"intermediate":12})");
      wanted.composition = Composition::craft;
      wanted.intermediate = 0;
      wanted.projection = "gaussian";
      CHECK(own_spec(sketch(kCubic, 3, 8, wanted).get()) ==
            R"("base":{"map":)" + plain + R"(},"intermediate":32,"projection":"gaussian"})");
    }
  });
}

TEST_CASE("defaults of sketches", "[capi]") {
  const auto craft = sketch(kCubic, 3, 8, {.composition = Composition::craft});
  CHECK(own_spec(craft.get()).find(R"("intermediate":32,"projection":"srht")") !=
        std::string::npos);
  const auto tree = sketch(kCubic, 3, 8, {.composition = Composition::hierarchical});
  CHECK(own_spec(tree.get()).find(R"("intermediate":8})") != std::string::npos);
  const auto srht = make_map(R"("tensor_srht","kernel":)" + kCubic, 3, 8);
  CHECK(own_spec(srht.get()) == R"("kind":"upsampled","field":"complex_to_real"})");
}

TEST_CASE("a sketch that cannot be made is refused, the handle becomes NULL", "[capi]") {
  Slot<mercer_map> slot;
  const auto make = [&](const std::string& kernel, int64_t d, int64_t D, const Sketch& wanted,
                        mercer_status expected, auto... parts) {
    const std::string json = "{\"map\":" + wanted.spec() + ",\"kernel\":" + kernel +
                             ",\"inputs\":" + std::to_string(d) +
                             ",\"features\":" + std::to_string(D) + "}";
    return slot.fault(mercer_map_from_spec(json.c_str(), slot.out()), expected,
                      "mercer_map_from_spec", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const Sketch usual{kKinds[3], "complex_to_real"};
  CHECK(make(kPolynomial, 0, 8, usual, invalid, "inputs = 0") == "");
  CHECK(make(kPolynomial, 3, 0, usual, invalid, "features = 0") == "");
  CHECK(make(kPolynomial, 3, 7, usual, invalid, "features = 7", "even") == "");
  CHECK(make(kPolynomial, int64_t{1} << 29, 8, usual, invalid, "inputs = 536870912") == "");
  CHECK(make(R"({"kernel":"gaussian"})", 3, 8, usual, MERCER_UNSUPPORTED, "kernel gaussian",
             "polynomial or bilinear") == "");
  CHECK(make(bilinear_spec(3), 3, 8, usual, MERCER_DIMENSION_MISMATCH, "d = 3",
             "3 inputs of the left") == "");
  CHECK(make(kPolynomial, 3, 18, {kTuple}, invalid, "18 columns", "4^2") == "");
  CHECK(make(kPolynomial, 3, 8, {R"("product_sketch","weights":"cauchy")"}, invalid, "kind",
             "cauchy") == "");
  CHECK(make(kPolynomial, 3, 8, {R"("tensor_srht","kind":"sorted")"}, invalid, "kind", "sorted") ==
        "");
  CHECK(make(kPolynomial, 3, 8, {.field = "quaternion"}, invalid, "field", "quaternion") == "");
  CHECK(make(kPolynomial, 3, 8, {R"("pyramid_sketch")"}, invalid, "pyramid_sketch") == "");
  const Sketch with_key{kKinds[0] + R"(,"intermediate":8)"};
  CHECK(make(kPolynomial, 3, 8, with_key, invalid, "intermediate") == "");
  const Sketch with_projection{kKinds[0] + R"(,"projection":"gaussian")"};
  CHECK(make(kPolynomial, 3, 8, with_projection, invalid, "projection") == "");
  Sketch craft{kKinds[3], "complex_to_real", Composition::craft};
  craft.projection = "dense";
  CHECK(make(kPolynomial, 3, 8, craft, invalid, "projection", "dense") == "");
  craft.projection = "";
  craft.intermediate = -2;
  CHECK(make(kPolynomial, 3, 8, craft, invalid, "intermediate = -2") == "");
  craft.intermediate = 9;
  CHECK(make(kPolynomial, 3, 8, craft, invalid, "intermediate = 9", "even") == "");
  CHECK(refused(mercer_map_from_spec("{}", nullptr), "out = NULL") == "");
}

TEST_CASE("a sketch of a size that no machine has is an error, not a crash", "[capi]") {
  mercer_map* out = nullptr;
  const auto says = [&](const Sketch& wanted, int64_t D, const std::string& what) {
    const std::string json = "{\"map\":" + wanted.spec() + ",\"kernel\":" + kPolynomial +
                             ",\"inputs\":3,\"features\":" + std::to_string(D) + "}";
    return refused(mercer_map_from_spec(json.c_str(), &out), what, "2147483647");
  };
  for_each_kind([&](const std::string& kind) {
    for (const Composition composition : kCompositions) {
      for (const int64_t huge : {kHuge, kHuge - 1, int64_t{1} << 31}) {
        INFO(kind << ", " << static_cast<int>(composition) << ", " << huge);
        const std::string number = std::to_string(huge);
        CHECK(says({kind, "real", composition}, huge, "features = " + number) == "");
        if (composition == Composition::plain) continue;
        CHECK(says({kind, "real", composition, huge}, 8, "intermediate = " + number) == "");
      }
    }
  });
  const auto large = sketch(kPolynomial, 3, 2147483646, {kKinds[3], "complex_to_real"});
  REQUIRE(large != nullptr);
  const auto small = context(1, int64_t{1} << 30);
  CHECK(fault(mercer_map_prepare(large.get(), MERCER_NUMBER_F32, small.get()), MERCER_OUT_OF_MEMORY,
              "mercer_map_prepare") == "");
}

TEST_CASE("a map says its sizes", "[capi]") {
  const auto two = info_of(sketch(bilinear_spec(3), 5, 8, {}).get());
  CHECK((two.inputs == 5 && two.outputs == 1 && two.features == 8 && two.is_complex == 0));
  CHECK((two.right_inputs == 2 && two.incomplete_block == 0 && two.frequencies == 0));
  const auto one = sketch(kPolynomial, 5, 8, {});
  CHECK(info_of(one.get()).right_inputs == 0);
  const auto blocks = make_map(
      "\"fourier\",\"kernel\":{\"kernel\":\"gaussian\"},"
      "\"projection\":\"sorf\"",
      16, 40);
  CHECK((info_of(blocks.get()).incomplete_block == 4 && info_of(blocks.get()).frequencies == 20));
  mercer_map_info info{};
  CHECK(refused(mercer_map_shape(one.get(), &info), "struct_size") == "");
  info.struct_size = sizeof info;
  CHECK(refused(mercer_map_shape(nullptr, &info), "mercer_map_shape: map = NULL") == "");
  CHECK(info.inputs == 0);
  CHECK(refused(mercer_map_shape(one.get(), nullptr), "info") == "");
}

}  // namespace
