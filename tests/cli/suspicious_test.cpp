// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Inputs that number rows, or are dates.
#include "suspicious.h"

#include "cli_files.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

using Warnings = std::vector<std::string>;

Warnings warned(const std::string& header, int64_t n, int64_t (*value)(int64_t)) {
  std::string content = header + "\n";
  for (int64_t i = 0; i < n; ++i)
    content += std::to_string(value(i)) + "," + std::to_string(i % 7) + ".5," +
               std::to_string(i % 3) + "\n";
  const TemporaryDirectory folder;
  return cli::suspicious_inputs(cli::read_training(folder.write("t.csv", content), {}));
}

int64_t count_of(int64_t i) { return i + 5; }
int64_t shuffled(int64_t i) { return 7 * i % 101; }
int64_t date_of(int64_t i) { return 20240101 + 100 * (i % 12) + i % 28; }
int64_t constant(int64_t) { return 7; }
int64_t kind_of(int64_t i) { return i % 4; }

TEST_CASE("inputs that only number rows are named", "[cli]") {
  CHECK(warned("a,b,y", 30, count_of) ==
        Warnings{"input a counts the rows; unless it is a time: --ignore a leaves it out"});
  CHECK(warned("a,b,y", 19, count_of).empty());
  CHECK(warned(",b,y", 5, shuffled) ==
        Warnings{"input Unnamed: 0 has no name and numbers the rows, as the index of a data frame "
                 "does: --ignore 'Unnamed: 0' leaves it out"});
  CHECK(warned(",b,y", 50, shuffled).size() == 1);
  CHECK(warned("a,b,y", 50, shuffled).empty());
  CHECK(warned("Customer_ID,b,y", 50, shuffled) ==
        Warnings{"input Customer_ID is another whole number in every row, as ids are: --ignore "
                 "Customer_ID leaves it out"});
  CHECK(warned("when,b,y", 50, date_of) ==
        Warnings{"input when holds what look like dates, whose differences are no days: --ignore "
                 "when leaves it out"});
  CHECK(warned("id,b,y", 50, kind_of).empty());
  CHECK(warned(",b,y", 50, kind_of).empty());
  CHECK(warned("a,b,y", 5, constant).size() == 1);
  CHECK(warned("a,b,y", 5, constant)[0] == "1 input is the same in every row and says nothing: a");
}

}  // namespace
}  // namespace mercer::test
