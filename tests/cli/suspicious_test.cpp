// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Inputs that number rows, or do not vary.
#include "cli_files.h"
#include "fitting.h"
#include "support/catch.h"

namespace mercer::test::suspicious_test {
namespace {

using Warnings = std::vector<std::string>;

Warnings warned(const std::string& header, int64_t n, int64_t (*value)(int64_t),
                bool ordered = false) {
  std::string content = header + "\n";
  for (int64_t i = 0; i < n; ++i)
    content += std::to_string(value(i)) + "," + std::to_string(i % 7) + ".5," +
               std::to_string(i % 3) + "\n";
  const TemporaryDirectory folder;
  return cli::suspicious_inputs(cli::read_training(folder.write("t.csv", content), {}), ordered);
}

int64_t count_of(int64_t i) { return i + 5; }
int64_t shuffled(int64_t i) { return 7 * i % 101; }
int64_t constant(int64_t) { return 7; }
int64_t kind_of(int64_t i) { return i % 4; }

TEST_CASE("inputs that only number rows are named", "[cli]") {
  const auto numbering = [](const std::string& name, const std::string& typed) {
    return Warnings{"input " + name +
                    " is another whole number in every row, as ids and counts of rows are: "
                    "--ignore " +
                    typed + " leaves it out"};
  };
  CHECK(warned("a,b,y", 30, count_of) == numbering("a", "a"));
  CHECK(warned("a,b,y", 30, count_of, true).empty());  // their time
  CHECK(warned("a,b,y", 19, count_of).empty());
  for (const int64_t n : {5, 50})
    CHECK(warned(",b,y", n, shuffled) == numbering("Unnamed: 0", "'Unnamed: 0'"));
  CHECK(warned("a,b,y", 50, shuffled).empty());
  CHECK(warned("Customer_ID,b,y", 50, shuffled) == numbering("Customer_ID", "Customer_ID"));
  CHECK(warned("id,b,y", 50, kind_of).empty());
  CHECK(warned(",b,y", 50, kind_of).empty());
  CHECK(warned("a,b,y", 5, constant) ==
        Warnings{"inputs that are the same in every row say nothing: a"});
}

}  // namespace
}  // namespace mercer::test::suspicious_test
