// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The library's messages in words of the command.
#include "message.h"

#include "support/catch.h"

namespace mercer::cli::message_test {
namespace {

TEST_CASE("arguments of functions become options, files and columns", "[cli]") {
  CHECK(in_words("mercer_search: options->features = 7, expected 8") ==
        "--features = 7, expected 8");
  CHECK(in_words("mercer_search: X.n = 1, expected at least 2") ==
        "the data has 1 row, expected at least 2");
  CHECK(in_words("X has 3 columns, the model expects 4 inputs") ==
        "the data has 3 inputs, the model expects 4 inputs");
  CHECK(in_words("mercer_model_fit: X.ld = 3, expected 4") == "the inputs = 3, expected 4");
  CHECK(in_words("plain text of row 3") == "plain text of row 3");
}

TEST_CASE("rows and inputs count from 1, or have names", "[cli]") {
  const std::string text =
      "mercer_model_predict: X: row 0, input 2 (counted from 0) is 50, outside the range";
  CHECK(in_words(text) == "row 1, input 3 is 50, outside the range");
  CHECK(in_words(text, {"a", "b", "age"}) == "row 1, input 'age' is 50, outside the range");
  CHECK(in_words("X: column 1 (counted from 0) holds no number", {"a", "b"}) ==
        "column 'b' holds no number");
}

TEST_CASE("a value that is nearly one of those expected is corrected", "[cli]") {
  CHECK(in_words("projection = \"sorrf\", expected one of \"dense\", \"sorf\"") ==
        "projection = \"sorrf\", expected one of \"dense\", \"sorf\"; did you mean 'sorf'?");
  CHECK(in_words("unknown key \"projectoin\" = \"sorf\", expected one of \"map\", \"projection\"")
            .find("; did you mean 'projection'?") != std::string::npos);
  CHECK(in_words("kernel = \"polka\", expected one of \"gaussian\"").find("mean") ==
        std::string::npos);
}

}  // namespace
}  // namespace mercer::cli::message_test
