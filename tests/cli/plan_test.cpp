// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// --kernel, --map, --lengthscale and --lambda to specs.
#include "cli_files.h"
#include "commands.h"
#include "mercer/base.hpp"
#include "support/catch.h"

namespace mercer::test::plan_test {
namespace {

using cli::Plan;
using cli::PlanRequest;

TEST_CASE("names and JSON are two spellings of one plan", "[cli]") {
  CHECK(cli::read_plan({}).map == R"({"kernel":{"kernel":"gaussian"}})");
  CHECK(cli::read_plan({"matern", "", "auto", "auto"}).map == R"({"kernel":{"kernel":"matern"}})");
  CHECK(cli::read_plan({R"({"kernel":"matern","nu":2.5})", R"({"map":"fourier","form":"phase"})",
                        "auto", "auto"})
            .map == R"({"map":"fourier","form":"phase","kernel":{"kernel":"matern","nu":2.5}})");
  // Other maps have kernels of their own, which the library knows.
  CHECK(cli::read_plan({"", "tensor_srht", "auto", "auto"}).map == R"({"map":"tensor_srht"})");
}

TEST_CASE("the usual other name of the Gaussian kernel is understood", "[cli]") {
  CHECK(cli::read_plan({"rbf", "", "auto", "auto"}).map == R"({"kernel":{"kernel":"gaussian"}})");
}

TEST_CASE("numbers of a plan", "[cli]") {
  const Plan plan = cli::read_plan({"", "", "0.5", "1e-6"});
  CHECK(plan.lengthscale == 0.5);
  CHECK(plan.lambda == 1e-6);
  const Plan automatic = cli::read_plan({});
  CHECK(automatic.lengthscale == 0);
  CHECK(automatic.lambda < 0);
}

TEST_CASE("bad plans name the option", "[cli]") {
  CHECK(refusal([] {
          cli::read_plan({"", "", "-1", "auto"});
        }) == "--lengthscale '-1': expected auto or a number > 0");
  CHECK(refusal([] {
          cli::read_plan({"", "", "0", "auto"});
        }) == "--lengthscale '0': expected auto or a number > 0");
  CHECK(refusal([] {
          cli::read_plan({"", "", "auto", "nan"});
        }) == "--lambda 'nan': expected auto or a number >= 0");
  CHECK(refusal([] {
          cli::read_plan({R"({"kernel":)", "", "auto", "auto"});
        }).find("--kernel: malformed JSON") == 0);
  CHECK(refusal([] {
          cli::read_plan({"", R"({"map":"fourier","features":8})", "auto", "auto"});
        }) == "--map: leave \"features\" out; the data, --features and --seed say it");
  CHECK(refusal([] {
          cli::read_plan({"matern", R"({"map":"fourier","kernel":{}})", "auto", "auto"});
        }) == "--kernel: the spec of --map already holds one");
  CHECK(refusal([] {
          cli::read_plan({R"({"kernel":"gaussian","lengthscale":2})", "", "3", "auto"});
        }) == "--lengthscale: the spec of the kernel already holds one");
  CHECK(refusal([] {
          cli::read_plan({R"({"kernel":"sum","parts":[]})", "sum", "3", "auto"});
        }) == "--lengthscale: the parts of the kernel hold theirs");
}

TEST_CASE("a seed is digits alone, up to 2^64 - 1", "[cli]") {
  CHECK(cli::read_seed("0") == 0);
  CHECK(cli::read_seed("18446744073709551615") == 18446744073709551615u);
  CHECK(cli::read_seed("010") == 10);
  for (const char* bad : {"18446744073709551616", "99999999999999999999999", "-1", "+1", " 1", "1 ",
                          "1x", "1.0", "1e3", "0x10", "", "nan"}) {
    CHECK(refusal([&] { cli::read_seed(bad); }) ==
          std::string("--seed '") + bad +
              "': expected a whole number from 0 to 18446744073709551615");
  }
}

TEST_CASE("a fraction of test rows is a number from 0 to below 1", "[cli]") {
  CHECK(cli::read_fraction("--test-fraction", "0") == 0);
  CHECK(cli::read_fraction("--test-fraction", "0.25") == 0.25);
  CHECK(cli::read_fraction("--test-fraction", "1e-3") == 1e-3);
  CHECK(refusal([] { cli::read_fraction("--test-fraction", "20"); }) ==
        "--test-fraction '20': expected a number >= 0 and < 1; did you mean 0.2?");
  for (const char* bad : {"nan", "-nan", "inf", "100", "-0.1", "0.2x", "", "0,2", "1e999"}) {
    CHECK(refusal([&] { cli::read_fraction("--test-fraction", bad); }) ==
          std::string("--test-fraction '") + bad + "': expected a number >= 0 and < 1");
  }
}

TEST_CASE("folds are a whole number from 2 on, or loo", "[cli]") {
  CHECK(cli::read_folds("2") == 2);
  CHECK(cli::read_folds("1000000") == 1000000);
  CHECK(cli::read_folds("loo") == 0);
  for (const char* bad : {"0", "1", "-2", "2.5", "5x", "", "LOO", "n", "99999999999999999999"}) {
    CHECK(refusal([&] { cli::read_folds(bad); }) ==
          std::string("--folds '") + bad +
              "': expected a whole number of at least 2, or loo: as many as rows");
  }
}

TEST_CASE("what is wrong with a spec is told without rows", "[cli]") {
  const auto check = [](const char* kernel, const char* map, int64_t features) {
    cli::check_plan(cli::read_plan({kernel, map, "auto", "auto"}), features);
  };
  CHECK_NOTHROW(check("", "", 64));
  CHECK_NOTHROW(check("additive_chi2", "", 64));
  CHECK_NOTHROW(check("", "nystroem", 64));
  CHECK_NOTHROW(check(R"({"kernel":"matern","lengthscale":[1,2]})", "", 64));
  CHECK_THROWS_AS(check("polka", "", 64), Error);
  CHECK_THROWS_AS(check("", "polka", 64), Error);
  CHECK_THROWS_AS(check("", "", 33), Error);
  CHECK_THROWS_AS(check("", R"({"map":"nystroem","colour":1})", 64), Error);
}

TEST_CASE("kernels and lengthscales of a spec as texts", "[cli]") {
  const std::string one = R"({"kernel":{"kernel":"matern","lengthscale":0.25}})";
  CHECK(cli::lengthscale_text(one) == "0.25");
  CHECK(cli::kernel_name(one) == "matern");
  CHECK(cli::lengthscale_text(R"({"kernel":{"kernel":"polynomial"}})") == "-");
  CHECK(cli::lengthscale_text(R"({"kernel":{"kernel":"gaussian","lengthscale":[1,2]}})") ==
        "per input");
  CHECK(cli::lengthscale_text(
            R"({"kernel":{"kernel":"sum","parts":[{"kernel":"gaussian","lengthscale":2}]}})") ==
        "per part");
}

}  // namespace
}  // namespace mercer::test::plan_test
