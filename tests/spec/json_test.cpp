// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// JSON as specs use it: what reads and prints, what is refused with the place.
#include "spec/json.h"

#include "support/refusal.h"

namespace json_test {
using namespace mercer;

using mercer::print_object, mercer::spec::parse_object, mercer::test::refusal_fault;

std::string refused(const std::string& text, const std::string& part) {
  return refusal_fault(
      MERCER_INVALID_ARGUMENT, [&] { parse_object(text); }, part);
}

std::string nested(int levels) {
  std::string text;
  for (int i = 1; i < levels; ++i) text += "{\"a\":";
  text += "{}";
  return text + std::string(levels - 1, '}');
}

TEST_CASE("JSON of every shape reads into Parameters and prints without spaces") {
  const Parameters p = parse_object(
      " { \"b\" : true , \"i\" : -7, \"u\":18446744073709551615, \"x\": 0.1, \"t\":\"a\\u00e9\\n\","
      " \"l\" : [1, 2.5, -3e2], \"n\" : null, \"o\" : { \"k\" : { } } } ");
  CHECK(p.boolean("b"));
  CHECK(p.integer("i") == -7);
  CHECK(p.seed("u") == 18446744073709551615u);
  CHECK(p.number("x") == 0.1);
  CHECK(p.text("t") == "a\xc3\xa9\n");
  CHECK(p.numbers("l") == std::vector<double>{1, 2.5, -300});
  CHECK(std::holds_alternative<std::monostate>(*p.find("n")));
  CHECK(p.object("o").object("k").entries().empty());
  CHECK(print_object(p) ==
        "{\"b\":true,\"i\":-7,\"u\":\"18446744073709551615\",\"x\":0.1,\"t\":\"a\xc3\xa9\\u000a\","
        "\"l\":[1,2.5,-300],\"n\":null,\"o\":{\"k\":{}}}");
}

TEST_CASE("integers keep their type at the limits of 64 bits") {
  const Parameters p = parse_object(
      "{\"a\":9223372036854775807,\"b\":9223372036854775808,\"c\":-9223372036854775808,"
      "\"d\":18446744073709551616,\"e\":1.0}");
  CHECK(p.integer("a") == std::numeric_limits<int64_t>::max());
  CHECK(p.seed("b") == uint64_t{1} << 63);
  CHECK(p.integer("c") == std::numeric_limits<int64_t>::min());
  CHECK(p.number("d") == 18446744073709551616.0);
  CHECK(p.number("e") == 1.0);
}

TEST_CASE("seeds print as strings from 2^53 on") {
  Parameters p;
  p.set("a", uint64_t{9007199254740991});
  p.set("b", uint64_t{9007199254740992});
  CHECK(print_object(p) == "{\"a\":9007199254740991,\"b\":\"9007199254740992\"}");
}

TEST_CASE("doubles print and read back bit for bit") {
  std::mt19937_64 words(1);  // its output is fixed by the standard
  std::vector<double> values{0.0,
                             -0.0,
                             5e-324,
                             -1.7976931348623157e308,
                             2.2250738585072014e-308,
                             1e20,
                             1e22,
                             9007199254740993.0,
                             18446744073709551616.0,
                             1.0 / 3};
  while (values.size() < 20000) {
    // Every bit pattern is as likely as any other: all exponents, subnormals included.
    const double value = std::bit_cast<double>(words());
    if (std::isfinite(value)) values.push_back(value);
  }
  Parameters p;
  p.set("list", values);
  const std::vector<double> back = parse_object(print_object(p)).numbers("list");
  REQUIRE(back.size() == values.size());
  CHECK(std::memcmp(back.data(), values.data(), values.size() * sizeof(double)) == 0);
  Parameters single;
  single.set("zero", -0.0);
  CHECK(std::signbit(parse_object(print_object(single)).number("zero")));
}

TEST_CASE("a text that is no JSON object is refused with the place") {
  for (const char* text : {"", "   ", "[1]", "1", "\"a\"", "null", "true"}) {
    CHECK(refused(text, "expected a JSON object, {") == "");
  }
  CHECK(refused("fourier", "spec = \"fourier\", expected a JSON object") == "");
  CHECK(refused("{\"a\":1", "line 1, column 7") == "");
  CHECK(refused("{\"a\":\n1,}", "line 2") == "");
  CHECK(refused("{\"a\":1} x", "not valid JSON") == "");
  CHECK(refused("{\"a\":NaN}", "not valid JSON") == "");
  CHECK(refused("{\"a\":Infinity}", "not valid JSON") == "");
  CHECK(refused("{\"a\":1e999}", "1e999") == "");
  CHECK(refused("{\"a\":01}", "not valid JSON") == "");
  CHECK(refused("{\"a\":1}// comment", "not valid JSON") == "");
  CHECK(refused("{'a':1}", "not valid JSON") == "");
  CHECK(refused(std::string("{}\0{}", 5), "NUL byte at offset 2") == "");
}

TEST_CASE("duplicate keys, lists of anything but numbers and crowded objects are refused") {
  CHECK(refused("{\"ab\":1,\"ab\":1}", "duplicate key \"ab\"") == "");
  CHECK(refused("{\"o\":{\"x\":1,\"x\":{}}}", "duplicate key \"x\"") == "");
  CHECK(refused("{\"l\":[1,\"2\"]}", "key \"l\" holds a list") == "");
  CHECK(refused("{\"l\":[1,[2]]}", "key \"l\" holds a list with numbers beside lists") == "");
  CHECK(refused("{\"l\":[[2],1]}", "key \"l\" holds a list with numbers beside lists") == "");
  CHECK(refused("{\"l\":[[],1]}", "key \"l\" holds a list with numbers beside lists") == "");
  CHECK(refused("{\"l\":[[1,[2]]]}", "key \"l\" holds a list with lists inside a list") == "");
  CHECK(refused("{\"l\":[[[]]]}",
                "expected a list of numbers, of lists of numbers or of objects") == "");
  CHECK(refused("{\"l\":[[1],{}]}", "key \"l\" holds a list with an object") == "");
  CHECK(refused("{\"l\":[[1,\"2\"]]}", "key \"l\" holds a list with something else") == "");
  CHECK(refused("{\"l\":[1,{}]}", "key \"l\" holds a list with an object beside numbers") == "");
  CHECK(refused("{\"l\":[{},1]}", "key \"l\" holds a list with a number beside objects") == "");
  CHECK(refused("{\"l\":[{},{\"m\":[1,true]}]}", "key \"m\" holds a list") == "");
  CHECK(refused("{\"l\":[{},\"a\"]}", "key \"l\" holds a list") == "");
  std::string many = "{\"l\":[{}";
  for (int i = 0; i < 1024; ++i) many += ",{}";
  CHECK(refused(many + "]}", "key \"l\" holds more than 1024 objects") == "");
  CHECK(refused("{\"l\":[{},[1]]}", "key \"l\" holds a list with a list beside objects") == "");
  CHECK(refused("{\"l\":[[1],{}]}", "key \"l\" holds a list with an object beside lists") == "");
  CHECK(refused("{\"l\":[[{}]]}", "key \"l\" holds a list with an object beside lists") == "");
  CHECK(refused("{\"l\":[null]}", "expected a list of numbers") == "");
  std::string crowded = "{";
  for (int i = 0; i < 65; ++i) crowded += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":0";
  CHECK(refused(crowded + "}", "more than 64 keys") == "");
}

TEST_CASE("lists of lists of numbers are read, of any lengths, so many of them") {
  const Parameters read = parse_object(R"({"a":[[1,-2.5],[3e2]],"b":[[]],"c":[],"d":[7]})");
  CHECK(*read.find("a") == Value(NumberLists{{1, -2.5}, {300}}));
  CHECK(*read.find("b") == Value(NumberLists{{}}));
  CHECK(*read.find("c") == Value(std::vector<double>{}));
  CHECK(*read.find("d") == Value(std::vector<double>{7}));
  CHECK(print_object(read) == R"({"a":[[1,-2.5],[300]],"b":[[]],"c":[],"d":[7]})");
  const auto lists = [](int count) {
    std::string text = "{\"l\":[[]";
    for (int i = 1; i < count; ++i) text += ",[]";
    return text + "]}";
  };
  CHECK(std::get<NumberLists>(*parse_object(lists(1024)).find("l")).size() == 1024);
  CHECK(refused(lists(1025), "key \"l\" holds more than 1024 lists") == "");
  CHECK(refused("{\"l\":[[1],[2]", "not valid JSON") == "");
}

TEST_CASE("nesting to 32 levels is read, deeper is refused while parsing") {
  CHECK_NOTHROW(parse_object(nested(32)));
  CHECK(refused(nested(33), "deeper than 32") == "");
  // Never closed: the limit must hold before the end is seen, and no recursion may follow the text.
  std::string braces;
  while (braces.size() < 1000000) braces += "{\"a\":";
  CHECK(refused(braces, "deeper than 32") == "");
  CHECK(refused("{\"a\":" + std::string(1000000, '['), "list") == "");
}

TEST_CASE("text over 1 MiB is refused, exactly 1 MiB is read") {
  const std::string fits = "{}" + std::string((1 << 20) - 2, ' ');
  CHECK_NOTHROW(parse_object(fits));
  CHECK(refused(fits + " ", "1048577 bytes, expected at most 1048576") == "");
}

TEST_CASE("UTF-8 is checked by RFC 3629") {
  for (const char* good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(good);
    CHECK(spec::is_utf8(good));
  }
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "a\xc2 "}) {
    CAPTURE(bad);
    CHECK_FALSE(spec::is_utf8(bad));
    CHECK(refused("{\"a\":\"" + std::string(bad) + "\"}", "UTF-8") == "");
  }
  CHECK(refused("{\"a\":\"\\ud800\"}", "not valid JSON") == "");
}

}  // namespace json_test
