// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "base/fields.h"

#include "spec/json.h"
#include "support/refusal.h"

namespace fields_test {
using namespace mercer;
using mercer::test::refusal_fault;

const std::vector<Field>& table() {
  static const std::vector<Field> fields = {
      {.key = "flag", .type = FieldType::boolean, .fallback = true},
      {.key = "count", .type = FieldType::integer, .fallback = int64_t{3}, .least = 1, .most = 10},
      {.key = "seed", .type = FieldType::seed, .fallback = uint64_t{0}},
      {.key = "scale", .type = FieldType::number, .fallback = 1.0, .least = 0, .least_open = true},
      {.key = "form",
       .type = FieldType::text,
       .fallback = std::string("pair"),
       .choices = {"pair", "phase"}},
      {.key = "ell", .type = FieldType::number_or_numbers, .fallback = 1.0, .least = 0.5},
      {.key = "list",
       .type = FieldType::numbers,
       .fallback = std::vector<double>{1, 2},
       .least = -1,
       .most = 9},
      {.key = "rows",
       .type = FieldType::numbers_or_lists,
       .fallback = std::nan(""),
       .least = -1,
       .most = 9},
      {.key = "maybe", .type = FieldType::number, .fallback = std::nan(""), .least = 0},
      {.key = "perhaps", .type = FieldType::integer, .fallback = std::nan(""), .least = 1},
  };
  return fields;
}

std::string canonical(const std::string& json) {
  return print_object(check_fields(spec::parse_object(json), table(), "map."));
}

template <class... Part>
std::string refused(const std::string& json, const Part&... parts) {
  return refusal_fault(
      MERCER_INVALID_ARGUMENT, [&] { canonical(json); }, parts...);
}

TEST_CASE("defaults are filled in and keys come in table order") {
  CHECK(canonical("{}") ==
        R"({"flag":true,"count":3,"seed":0,"scale":1,"form":"pair","ell":1,"list":[1,2]})");
  CHECK(
      canonical(
          R"({"perhaps":12,"maybe":0,"list":[3],"form":"phase","ell":[2,0.5],"seed":"7","count":10,"flag":false,"scale":2})") ==
      R"({"flag":false,"count":10,"seed":7,"scale":2,"form":"phase","ell":[2,0.5],"list":[3],"maybe":0,"perhaps":12})");
}

TEST_CASE("canonical text is a fixed point") {
  const std::string once = canonical(R"({"scale":0.1,"ell":[7e-1,3],"seed":18446744073709551615})");
  CHECK(print_object(check_fields(spec::parse_object(once), table(), "")) == once);
}

TEST_CASE("a list of one number is that number where both are allowed") {
  CHECK(canonical(R"({"ell":[0.75]})") == canonical(R"({"ell":0.75})"));
}

TEST_CASE("lists of lists are as long as each other, of one number each they are one list") {
  const auto rows = [](const std::string& value) { return R"({"rows":)" + value + "}"; };
  const auto read = [&](const std::string& value) {
    return check_fields(spec::parse_object(rows(value)), table(), "").number_lists("rows");
  };
  CHECK(read("[[1,2],[3,4],[5,6]]") == NumberLists{{1, 2}, {3, 4}, {5, 6}});
  CHECK(read("[1,2]") == NumberLists{{1}, {2}});
  CHECK(canonical(rows("[[1],[2]]")) == canonical(rows("[1,2]")));
  CHECK(canonical(rows("[[1,2],[3,4]]")).find(R"("rows":[[1,2],[3,4]])") != std::string::npos);
  CHECK(refused(rows("[[1,2],[3]]"),
                "map.rows[1] = a list of 1 numbers, expected 2, as in map.rows[0]") == "");
  CHECK(refused(rows("[[1],[2,3]]"), "map.rows[1] = a list of 2 numbers, expected 1") == "");
  CHECK(refused(rows("[]"),
                "map.rows = a list of 0 numbers, expected a list of numbers or of lists "
                "of numbers >= -1 and <= 9") == "");
  CHECK(refused(rows("[[1],[]]"), "map.rows[1] = a list of 0 numbers") == "");
  CHECK(refused(rows("[[1,2],[3,10]]"), "map.rows[1][1] = 10") == "");
  CHECK(refused(rows("[3,-2]"), "map.rows[1] = -2") == "");
  CHECK(refused(rows("1"), "map.rows = 1") == "");
  CHECK(refused(R"({"list":[[1]]})", "map.list = a list of 1 lists, expected a list of numbers") ==
        "");
  CHECK(refused(R"({"scale":[[1]]})", "map.scale = a list of 1 lists") == "");
}

TEST_CASE("seeds are read over their whole range in both spellings") {
  for (const char* seed :
       {"0", "9007199254740992", "9223372036854775808", "18446744073709551615"}) {
    const std::string bare = std::string("{\"seed\":") + seed + "}";
    const std::string text = std::string("{\"seed\":\"") + seed + "\"}";
    CAPTURE(seed);
    CHECK(check_fields(spec::parse_object(bare), table(), "").seed("seed") == std::stoull(seed));
    CHECK(canonical(bare) == canonical(text));
  }
  for (const char* seed :
       {"-1", "1.0", "1e3", "18446744073709551616", "\"18446744073709551616\"", "\"\"", "\"-1\"",
        "\"+1\"", "\" 1\"", "\"1 \"", "\"0x1\"", "true", "null", "[1]"}) {
    CAPTURE(seed);
    CHECK(refused(std::string("{\"seed\":") + seed + "}",
                  "map.seed = ", "from 0 to 18446744073709551615") == "");
  }
}

TEST_CASE("an unknown key is named with its value and with what is allowed") {
  CHECK(refused(R"({"lenghtscale":0.25})", "unknown key \"map.lenghtscale\" = 0.25",
                "\"flag\", \"count\"") == "");
}

TEST_CASE("wrong types are named with what is expected") {
  CHECK(refused(R"({"flag":1})", "map.flag = 1, expected true or false") == "");
  CHECK(refused(R"({"count":3.0})", "map.count = 3.0, expected an integer >= 1 and <= 10",
                "without point") == "");
  CHECK(refused(R"({"count":"3"})", "map.count = \"3\", expected an integer") == "");
  CHECK(refused(R"({"count":18446744073709551615})", "map.count = 18446744073709551615") == "");
  CHECK(refused(R"({"scale":"1"})", "map.scale = \"1\", expected a number > 0") == "");
  CHECK(refused(R"({"scale":[1]})", "map.scale = a list of 1 numbers") == "");
  CHECK(refused(R"({"scale":null})", "map.scale = null") == "");
  CHECK(refused(R"({"form":1})", "map.form = 1, expected one of \"pair\", \"phase\"") == "");
  CHECK(refused(R"({"ell":{"a":1}})",
                "map.ell = an object, expected a number or a list of numbers >= 0.5") == "");
  CHECK(refused(R"({"list":1})", "map.list = 1, expected a list of numbers") == "");
}

TEST_CASE("values out of range are named with the range") {
  CHECK(refused(R"({"count":0})", "map.count = 0", ">= 1 and <= 10") == "");
  CHECK(refused(R"({"count":11})", "map.count = 11", "<= 10") == "");
  CHECK(refused(R"({"scale":0})", "map.scale = 0", "> 0") == "");
  CHECK(refused(R"({"scale":-0.0})", "map.scale = -0.0", "> 0") == "");
  CHECK(refused(R"({"form":"pears"})", "map.form = \"pears\"", "\"phase\"") == "");
  CHECK(refused(R"({"ell":0.4})", "map.ell = 0.4", ">= 0.5") == "");
  CHECK(refused(R"({"ell":[1,0.4]})", "map.ell[1] = 0.4", ">= 0.5") == "");
  CHECK(refused(R"({"ell":[]})", "map.ell = a list of 0 numbers") == "");
  CHECK(refused(R"({"list":[]})", "map.list = a list of 0 numbers") == "");
  CHECK(refused(R"({"list":[0,10]})", "map.list[1] = 10", "<= 9") == "");
  CHECK(refused(R"({"maybe":-1})", "map.maybe = -1", ">= 0") == "");
  CHECK(refused(R"({"perhaps":0})", "map.perhaps = 0", "an integer >= 1") == "");
  CHECK(refused(R"({"perhaps":2.5})", "map.perhaps = 2.5", "an integer >= 1") == "");
  CHECK(refused(R"({"perhaps":null})", "map.perhaps = null", "an integer >= 1") == "");
}

TEST_CASE("a number that is not finite is refused even where no limit is set") {
  const std::vector<Field> any = {{.key = "x", .type = FieldType::number, .fallback = 0.0}};
  for (const double x : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Parameters given;
    given.set("x", x);
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, check_fields(given, any, ""), "x = ", "a number");
  }
}

TEST_CASE("a required key that is missing is named with what it should be") {
  const std::vector<Field> needed = {
      {.key = "degree", .type = FieldType::integer, .fallback = {}, .least = 1}};
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, check_fields({}, needed, "kernel."),
                "key \"kernel.degree\" is missing", "an integer >= 1");
}

TEST_CASE("long texts are cut in messages, between characters") {
  const std::string omega = "\xcf\x89";
  std::string text = "a";
  for (int i = 0; i < 500; ++i) text += omega;
  const auto result = test::outcome([&] { canonical("{\"form\":\"" + text + "\"}"); });
  CHECK(result.status == MERCER_INVALID_ARGUMENT);
  CHECK(result.message.size() < 200);
  CHECK(result.message.find(omega + "\"...") != std::string::npos);
}

TEST_CASE("the version and the need for data are read apart from the parameters") {
  const auto open = [](const char* json) { return open_envelope(spec::parse_object(json), "k."); };
  CHECK_FALSE(open(R"({"mercer":1,"a":2})").needs_data);
  CHECK(open(R"({"mercer":1,"a":2})").body.entries().size() == 1);
  CHECK(open(R"({"needs":"data"})").needs_data);
  const auto refuses = [&](mercer_status status, const char* json, const char* part) {
    return refusal_fault(
        status, [&] { open(json); }, part);
  };
  CHECK(refuses(MERCER_NEWER_VERSION, R"({"mercer":2,"whatever":true})",
                "k.mercer = 2, expected at most 1") == "");
  CHECK(refuses(MERCER_NEWER_VERSION, R"({"mercer":18446744073709551615})", "expected at most 1") ==
        "");
  CHECK(refuses(MERCER_INVALID_ARGUMENT, R"({"mercer":0})", "k.mercer = 0") == "");
  CHECK(refuses(MERCER_INVALID_ARGUMENT, R"({"mercer":1.0})", "k.mercer = 1.0") == "");
  CHECK(refuses(MERCER_INVALID_ARGUMENT, R"({"mercer":"1"})", "k.mercer = \"1\"") == "");
  CHECK(refuses(MERCER_INVALID_ARGUMENT, R"({"needs":"luck"})",
                "k.needs = \"luck\", expected one of \"data\"") == "");
}

}  // namespace fields_test
