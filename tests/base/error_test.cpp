// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a call of fail declares: the fields of an error, the sentence that is made of them, and JSON.
#include "base/error.h"

#include "support/refusal.h"

namespace error_test {
using namespace mercer;
using mercer::test::field_of, mercer::test::says;

struct Told {
  std::string sentence, json;
};

template <class... Argument>
Told told(const Argument&... arguments) {
  try {
    fail(MERCER_INVALID_ARGUMENT, arguments...);
  } catch (const Error& error) {
    return {error.what(), json_text("f", error.fields())};
  }
}

// clang-format off
TEST_CASE("every form of a sentence has its fields") {
  const std::vector<const char*> words = {"dense", "sorf"};
  const struct {
    Told told;
    std::string sentence, fields;  // after the function
  } kRows[] = {
      {told("features = %ld, expected an even number", -3L),
       "features = -3, expected an even number",
       R"("argument":"features","value":-3,"problem":"= -3","expected":"an even number")"},
      {told("%s = %g, expected a finite number", "options->lambda", NAN),
       "options->lambda = nan, expected a finite number",
       R"("argument":"options->lambda","value":"nan","problem":"= nan","expected":"a finite number")"},
      {told(at(3, 2), "%s is %g, expected a number %s %g", "X", -1.5, ">=", 0.0),
       "X: row 3, column 2 (counted from 0) is -1.5, expected a number >= 0",
       R"("argument":"X","row":3,"column":2,"value":-1.5,"problem":"is -1.5","expected":"a number >= 0")"},
      {told(at_row(0), "Y has class %g", 2.0), "Y: row 0 (counted from 0) has class 2",
       R"("argument":"Y","row":0,"value":2,"problem":"has class 2")"},
      {told(at_column(size_t{4}), "X holds no number"), "X: column 4 (counted from 0) holds no number",
       R"("argument":"X","column":4,"problem":"holds no number")"},
      {told(among(words), "projection = %s, expected one of %s", "\"sorrf\"", "two"),
       "projection = \"sorrf\", expected one of two",
       R"("argument":"projection","value":"sorrf","problem":"= \"sorrf\"","expected":"one of two","choices":["dense","sorf"])"},
      {told("unknown key %s = %s", "\"map.kernal\"", "3.0"), "unknown key \"map.kernal\" = 3.0",
       R"("noun":"unknown key","argument":"map.kernal","value":3.0,"problem":"= 3.0")"},
      {told("key \"%s\" of %s, expected none", "select", "a fit"), "key \"select\" of a fit, expected none",
       R"("noun":"key","argument":"select","problem":"of a fit","expected":"none")"},
      {told("kernel %s has no %s, expected gaussian", "sign", "series"),
       "kernel sign has no series, expected gaussian",
       R"("argument":"kernel","value":"sign","problem":"sign has no series","expected":"gaussian")"},
      {told("%s is %ld x %ld, expected a square matrix", "K", 3L, 4L), "K is 3 x 4, expected a square matrix",
       R"("argument":"K","value":"3 x 4","problem":"is 3 x 4","expected":"a square matrix")"},
      {told("projection = circulant: this build lacks FFTW"), "projection = circulant: this build lacks FFTW",
       R"("argument":"projection","value":"circulant","problem":"= circulant: this build lacks FFTW")"},
      {told("shares = a list of %zu numbers, expected %zu", size_t{3}, size_t{2}),
       "shares = a list of 3 numbers, expected 2",
       R"("argument":"shares","value":3,"problem":"= a list of 3 numbers","expected":"2")"},
      {told("gamma[%ld, %ld] = %g, expected 0", 1L, 0L, 2.5), "gamma[1, 0] = 2.5, expected 0",
       R"("argument":"gamma[1, 0]","value":2.5,"problem":"= 2.5","expected":"0")"},
      {told("%s: %ld rows, expected at least 1", "ridge", 0L), "ridge: 0 rows, expected at least 1",
       R"("argument":"ridge","value":0,"problem":": 0 rows","expected":"at least 1")"},
      {told("tau, expected it left out"), "tau, expected it left out",
       R"("argument":"tau","expected":"it left out")"},
      {told("the map is complex, expected a real one"), "the map is complex, expected a real one",
       R"("problem":"the map is complex","expected":"a real one")"},
      {told("no rows"), "no rows", R"("problem":"no rows")"},
  };
  for (const auto& row : kRows) {
    CHECK(row.told.sentence == row.sentence);
    CHECK(row.told.json == "{\"function\":\"f\"," + row.fields + "}");
  }
}
// clang-format on

TEST_CASE("values are no words of the format, whatever they hold") {
  const Told odd = told("%s = %s, expected %s", "a = b", "\"x, expected y\"", "z");
  CHECK(field_of(odd.json, "argument") == "a = b");
  CHECK(field_of(odd.json, "value") == "x, expected y");
  CHECK(field_of(odd.json, "expected") == "z");
  // What only looks like a number is a text in JSON.
  for (const char* text : {"007", ".5", "5.", "-", "1e", "inf", "0x1", ""})
    CHECK(field_of(told("seed = %s", text).json, "value") == text);
  CHECK(says(told("seed = %s", "1e-5").json, "seed = 1e-5"));
  const std::string member = told("%s = %d", "data->X.nnz", -7).json;
  for (const char* name : {"data->X.nnz", "X.nnz", ".nnz", "nnz"})
    CHECK(says(member, std::string(name) + " = -7"));
  CHECK((!says(member, "nz = -7") && !says(member, "Y.nnz = -7")));
  const std::string key = told("key \"%s\" is missing", "nu").json;
  CHECK((says(key, "key \"nu\" is missing") && says(key, "\"nu\" is missing") &&
         !says(key, "\"n\" is missing")));
}

TEST_CASE("places enclose each other, and a name that was cut stays a word") {
  ErrorFields fields;
  fields.argument = "degree";
  fields.problem = "= 3";
  const Error error = Error(MERCER_UNSUPPORTED, fields).within("parts[1]").within("\"x.mrc\"");
  CHECK(error.status() == MERCER_UNSUPPORTED);
  CHECK(std::string(error.what()) == "\"x.mrc\": parts[1]: degree = 3");
  CHECK(json_text("f", error.fields()) ==
        R"({"function":"f","place":"\"x.mrc\": parts[1]","argument":"degree","problem":"= 3"})");
  const Told cut = told("unknown key %s = %s", "\"abc\"...", "1");
  CHECK(cut.sentence == "unknown key \"abc\"... = 1");
  CHECK(field_of(cut.json, "argument") == "unknown key \"abc\"...");
}

TEST_CASE("a requirement that holds throws nothing, one that does not its fields") {
  require(true, MERCER_INTERNAL, "%s", "no");
  require(true, MERCER_INTERNAL, at_row(1), "%s", "no");
  CHECK_REFUSED(MERCER_INTERNAL, require(false, MERCER_INTERNAL, "D = %d, expected 1", 7),
                "D = 7, expected 1");
  CHECK_REFUSED(MERCER_IO, require(false, MERCER_IO, at(1, 2), "X is %d", 7),
                "X: row 1, column 2 is 7");
}

TEST_CASE("what tests ask of fields is read as fields") {
  const std::string json = told(at(3, 2), "X is %d, expected less", 50).json;
  for (const char* right :
       {"X: row 3, column 2 (counted from 0) is 50, expected less", "row 3", "column 2", "X",
        "is 50", "less", "expected less", "is 50, expected", "f: X: row 3"})
    CHECK(says(json, right));
  for (const char* wrong :
       {"X: row 30", "row 2", "column 3", "Y: row 3", "X: row 3, column 2 (counted from 0) is 51",
        "row 3, column 22", "row 3, column 2 is 5", "expected more", "is 50, expected more"})
    CHECK(!says(json, wrong));
}

}  // namespace error_test
