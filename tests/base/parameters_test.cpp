// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Named values in order, with checked access.
#include "base/parameters.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/fields.h"
#include "support/refusal.h"

namespace parameters_test {
std::atomic<int64_t> left_before_failure{0};  // allocations, the last of which fails; 0: none does
}  // namespace parameters_test

void* operator new(std::size_t size) {
  std::atomic<int64_t>& left = parameters_test::left_before_failure;
  if (left > 0 && --left == 0) throw std::bad_alloc();
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace parameters_test {
using namespace mercer;
using mercer::test::refusal_fault;

Parameters example() {
  Parameters inner;
  inner.set("nu", 2.5);
  Parameters outer;
  outer.set("name", std::string("matern"));
  outer.set("count", int64_t{-3});
  outer.set("seed", ~uint64_t{0});
  outer.set("on", true);
  outer.set("one", 0.5);
  outer.set("many", std::vector<double>{1, 2});
  outer.set("inner", std::make_shared<const Parameters>(inner));
  return outer;
}

TEST_CASE("values come back with their types") {
  const Parameters p = example();
  CHECK(p.text("name") == "matern");
  CHECK(p.integer("count") == -3);
  CHECK(p.seed("seed") == ~uint64_t{0});
  CHECK(p.boolean("on"));
  CHECK(p.number("one") == 0.5);
  CHECK(p.numbers("one") == std::vector<double>{0.5});
  CHECK(p.numbers("many") == std::vector<double>{1, 2});
  CHECK(p.object("inner").number("nu") == 2.5);
  CHECK(p.find("absent") == nullptr);
}

TEST_CASE("a missing key or another type is a defect of the library") {
  const Parameters p = example();
  CHECK_REFUSED(MERCER_INTERNAL, p.number("absent"), "absent");
  CHECK_REFUSED(MERCER_INTERNAL, p.number("count"), "count");
}

TEST_CASE("setting again replaces in place and keeps the order") {
  Parameters p = example();
  p.set("count", int64_t{9});
  CHECK(p.entries().size() == 7);
  CHECK(p.entries()[1].first == "count");
  CHECK(p.integer("count") == 9);
}

TEST_CASE("a choice reads, prints and declares the words of its enumerators") {
  enum class Side { left, right, both };
  static constexpr const char* kWords[] = {"left", "right", "both"};
  constexpr Choice<Side> kSide{"side", kWords, "which", Side::right};
  CHECK(kSide.count() == 3);
  Parameters p;
  for (const Side side : {Side::left, Side::right, Side::both}) {
    kSide.write(p, side);
    CHECK(p.text("side") == kSide.word(side));
    CHECK(kSide.read(p) == side);
  }
  const std::vector<Field> fields = {kSide.field()};
  CHECK(kSide.read(check_fields({}, fields, "")) == Side::right);
  CHECK(check_fields(p, fields, "").text("side") == "both");
  const std::vector<Field> some = {kSide.field_of(std::vector{Side::left, Side::right})};
  CHECK(kSide.read(check_fields({}, some, "")) == Side::left);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, check_fields(p, some, ""), "both");
  p.set("side", "top");
  CHECK_REFUSED(MERCER_INTERNAL, kSide.read(p), "side");
}

TEST_CASE("a copy that runs out of memory at any of its allocations leaves nothing broken") {
  Parameters all = example();
  all.set("long", std::string(100, 'a'));
  all.set("lists", NumberLists{{1, 2}, {3, 4}});
  all.set("objects", ObjectList{std::make_shared<const Parameters>(example())});
  bool copied = false;
  int64_t failures = 0;
  for (int64_t k = 1; !copied && k < 1000; ++k) {
    left_before_failure = k;
    try {
      const Parameters copy(all);
      Value value = *copy.find("long");
      value = *copy.find("lists");
      copied = true;
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    left_before_failure = 0;
  }
  CHECK(copied);
  CHECK(failures > 10);  // keys, values, and the lists within
  CHECK(all.text("long") == std::string(100, 'a'));
}

}  // namespace parameters_test
