// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Named values in order, with checked access.
#include "base/parameters.h"

#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;
using mercer::test::refusal_fault;

namespace {

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

TEST_CASE("values come back with their types", "[base]") {
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

TEST_CASE("a missing key or another type is a defect of the library", "[base]") {
  const Parameters p = example();
  CHECK(refusal_fault(
            MERCER_INTERNAL, [&] { p.number("absent"); }, "absent") == "");
  CHECK(refusal_fault(
            MERCER_INTERNAL, [&] { p.number("count"); }, "count") == "");
}

TEST_CASE("setting again replaces in place and keeps the order", "[base]") {
  Parameters p = example();
  p.set("count", int64_t{9});
  CHECK(p.entries().size() == 7);
  CHECK(p.entries()[1].first == "count");
  CHECK(p.integer("count") == 9);
}

}  // namespace
