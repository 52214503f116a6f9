// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The library's messages in words of the command.
#include "message.h"

#include "support/catch.h"

namespace mercer::cli::message_test {
namespace {

std::string said(const char* json, const std::vector<std::string>& names = {}) {
  return in_words(parse_json(json), names);
}

TEST_CASE("arguments of functions become options, files and columns", "[cli]") {
  CHECK(said(R"({"argument":"options->features","value":7,"problem":"= 7","expected":"8"})") ==
        "--features 7, expected 8");
  CHECK(said(R"({"argument":"X.n","value":1,"problem":"= 1","expected":"at least 2"})") ==
        "the data has 1 row, expected at least 2");
  CHECK(said(R"({"argument":"X.d","value":3,"problem":"= 3","expected":"the model's 4 inputs"})") ==
        "the data has 3 inputs, expected the model's 4 inputs");
  CHECK(said(R"({"argument":"X.ld","value":3,"problem":"= 3","expected":"4"})") ==
        "the inputs = 3, expected 4");
  CHECK(said(R"({"problem":"plain text of row 3"})") == "plain text of row 3");
  CHECK(said(R"({"argument":"model","value":"gp","problem":"= \"gp\" of a classification"})") ==
        "--estimator gp of a classification");
  CHECK(said(R"({"place":"parts[1]","argument":"degree","value":3,"problem":"= 3"})") ==
        "parts[1]: degree = 3");
  CHECK(said(R"({"noun":"unknown key","argument":"outputs.x","problem":"= 3"})") ==
        "--operator: unknown key \"outputs.x\" = 3");
}

TEST_CASE("rows and columns count from 1, or have names", "[cli]") {
  const char* const json =
      R"({"argument":"X","row":0,"column":2,"value":50,"problem":"is 50, outside the range"})";
  CHECK(said(json) == "row 1, column 3 is 50, outside the range");
  CHECK(said(json, {"a", "b", "age"}) == "row 1, column 'age' is 50, outside the range");
  CHECK(said(R"({"argument":"X","column":1,"problem":"holds no number"})", {"a", "b"}) ==
        "column 'b' holds no number");
  CHECK(said(R"({"argument":"Y","row":1,"column":0,"problem":"is nan"})", {"a", "b"}) ==
        "targets: row 2, column 1 is nan");
}

TEST_CASE("a value that is nearly one of those expected is corrected", "[cli]") {
  CHECK(said(R"({"argument":"projection","value":"sorrf","problem":"= \"sorrf\"",)"
             R"("expected":"one of these","choices":["dense","sorf"]})") ==
        "projection = \"sorrf\", expected one of these; did you mean 'sorf'?");
  CHECK(said(R"({"noun":"unknown key","argument":"map.projectoin","value":"sorf",)"
             R"("problem":"= \"sorf\"","choices":["map","projection"]})") ==
        "unknown key \"map.projectoin\" = \"sorf\"; did you mean 'projection'?");
  CHECK(said(R"({"argument":"kernel","value":"polka","problem":"= \"polka\"",)"
             R"("choices":["gaussian"]})") == "kernel = \"polka\"");
}

}  // namespace
}  // namespace mercer::cli::message_test
