// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <memory>

#include "options/command_line.h"
#include "options/declare.h"
#include "options/shared.h"

namespace mercer::cli {

void add_compare(CLI::App& app) {
  const auto request = std::make_shared<CompareRequest>();
  CLI::App* compare =
      app.add_subcommand("compare",
                         "Exact kernel ridge on a subsample against random features and, "
                         "of up to 2,000 inputs, linear ridge");
  add_learn_options(compare, &request->learn);
  compare->add_option("--features", request->features, "Sizes to compare; default 256,1024,4096")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(1, (int64_t{1} << 31) - 1))
      ->type_name("D,D,...");
  compare
      ->add_option("--rows", request->rows,
                   "Rows to fit on at most; default 4000 (exact: 8 n^2 bytes, n^3 time)")
      ->check(whole_number(2, int64_t{1} << 20))
      ->type_name("N");
  compare->callback([request] {
    settle_train(&request->learn);
    run_compare(*request);
  });
}

}  // namespace mercer::cli
