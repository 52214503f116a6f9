// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// --kernel, --map, --lengthscale and --lambda to specs.
#include "plan.h"

#include "cli_files.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

using cli::Plan;
using cli::PlanRequest;

TEST_CASE("names and JSON are two spellings of one plan", "[cli]") {
  CHECK(cli::read_plan({}).map == R"({"map":"fourier","kernel":{"kernel":"gaussian"}})");
  CHECK(cli::read_plan({"matern", "", "auto", "auto"}).map ==
        R"({"map":"fourier","kernel":{"kernel":"matern"}})");
  CHECK(cli::read_plan({R"({"kernel":"matern","nu":2.5})", R"({"map":"fourier","form":"phase"})",
                        "auto", "auto"})
            .map == R"({"map":"fourier","form":"phase","kernel":{"kernel":"matern","nu":2.5}})");
}

TEST_CASE("without a kernel it is the map's own default", "[cli]") {
  const std::string specs =
      R"({"kernels":[{"name":"odd"}],"maps":[{"name":"fourier","default_kernel":{"kernel":"smooth"}},)"
      R"({"name":"odd","default_kernel":{"kernel":"rough","degree":1}},{"name":"old"}]})";
  const auto kernel = [&](const char* map, const char* given = "") {
    return cli::kernel_name(cli::read_plan({given, map, "auto", "auto"}, specs).map);
  };
  CHECK(cli::read_plan({"", "odd", "auto", "auto"}, specs).map ==
        R"({"map":"odd","kernel":{"kernel":"rough","degree":1}})");
  CHECK(kernel("") == "smooth");
  CHECK(kernel("odd") == "rough");
  CHECK(kernel(R"({"map":"odd","form":1})") == "rough");
  CHECK(kernel(R"({"form":1})") == "smooth");
  CHECK(kernel("odd", "matern") == "matern");
  CHECK(kernel(R"({"map":"odd","kernel":{"kernel":"cauchy"}})") == "cauchy");
  CHECK(kernel("old") == "gaussian");
  CHECK(kernel("unknown") == "gaussian");
  CHECK(kernel(R"({"map":7})") == "gaussian");
}

TEST_CASE("without a map it is the kernel's own default", "[cli]") {
  const std::string specs =
      R"({"kernels":[{"name":"rough","default_map":"odd"},{"name":"smooth","default_map":"fourier"}],)"
      R"("maps":[{"name":"fourier","default_kernel":{"kernel":"smooth"}},{"name":"odd","one_size":true}]})";
  const auto plan = [&](const char* kernel, const char* map = "") {
    return cli::read_plan({kernel, map, "auto", "auto"}, specs);
  };
  CHECK(plan("rough").map == R"({"map":"odd","kernel":{"kernel":"rough"}})");
  CHECK(plan("rough").one_size);
  CHECK(plan("smooth").map == R"({"map":"fourier","kernel":{"kernel":"smooth"}})");
  CHECK(plan(R"({"kernel":"rough","c":2})").map ==
        R"({"map":"odd","kernel":{"kernel":"rough","c":2}})");
  CHECK(plan("", R"({"kernel":{"kernel":"rough"},"form":1})").map ==
        R"({"kernel":{"kernel":"rough"},"form":1,"map":"odd"})");
  CHECK(plan("rough", "fourier").map == R"({"map":"fourier","kernel":{"kernel":"rough"}})");
  CHECK(plan("unknown").map == R"({"map":"fourier","kernel":{"kernel":"unknown"}})");
  CHECK(plan("").map == R"({"map":"fourier","kernel":{"kernel":"smooth"}})");
}

TEST_CASE("what a plan says of maps made from data is the library's word", "[cli]") {
  const std::string specs =
      R"({"maps":[{"name":"learnt","needs_rows":true,"row_per_feature":true,"one_size":true},{"name":"drawn"}]})";
  const Plan learnt = cli::read_plan({"", "learnt", "auto", "auto"}, specs);
  CHECK((learnt.needs_rows && learnt.row_per_feature && learnt.one_size));
  const Plan drawn = cli::read_plan({"", "drawn", "auto", "auto"}, specs);
  CHECK_FALSE((drawn.needs_rows || drawn.row_per_feature || drawn.one_size));
  CHECK(cli::kernel_of(drawn.map, 2.5) == R"({"kernel":"gaussian","lengthscale":2.5})");
  CHECK(cli::listed_lengthscales(drawn.map) == 0);
  CHECK(cli::listed_lengthscales(R"({"kernel":{"kernel":"gaussian","lengthscale":[1,2]}})") == 2);
  CHECK(cli::kernel_of(drawn.map, 0) == R"({"kernel":"gaussian"})");
}

TEST_CASE("numbers of a plan", "[cli]") {
  const Plan plan = cli::read_plan({"", "", "0.5", "1e-6"});
  CHECK(plan.lengthscale == 0.5);
  CHECK(plan.lambda == 1e-6);
  const Plan automatic = cli::read_plan({});
  CHECK(automatic.lengthscale == 0);
  CHECK(automatic.lambda < 0);
  CHECK(cli::read_plan({R"({"kernel":"gaussian","lengthscale":2})", "", "auto", "auto"})
            .lengthscale == 2);
  CHECK(cli::read_plan({R"({"kernel":"gaussian","lengthscale":[2,3]})", "", "auto", "auto"})
            .per_input);
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
  CHECK(cli::read_test_fraction("0") == 0);
  CHECK(cli::read_test_fraction("0.25") == 0.25);
  CHECK(cli::read_test_fraction("1e-3") == 1e-3);
  for (const char* bad : {"nan", "-nan", "inf", "1", "2", "-0.1", "0.2x", "", "0,2", "1e999"}) {
    CHECK(refusal([&] { cli::read_test_fraction(bad); }) ==
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

TEST_CASE("specs are completed and read back", "[cli]") {
  const std::string map = cli::read_plan({"matern", "", "auto", "auto"}).map;
  const std::string complete = cli::complete_map(map, 0.25, 3, 8, 18446744073709551615u);
  CHECK(
      complete ==
      R"({"map":"fourier","kernel":{"kernel":"matern","lengthscale":0.25},"inputs":3,"features":8,)"
      R"("seed":"18446744073709551615","projection":"sobol"})");
  const auto holds = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(holds(cli::complete_map(map, 0.25, 65, 8, 0), "sorf"));
  CHECK_FALSE(holds(cli::complete_map(map, 0.25, 4097, 8, 0), "projection"));
  const std::string product = cli::read_plan({"laplacian", "", "auto", "auto"}).map;
  CHECK(holds(cli::complete_map(product, 0.25, 1023, 8, 0), "sobol"));
  CHECK_FALSE(holds(cli::complete_map(product, 0.25, 1024, 8, 0), "projection"));
  CHECK(cli::lengthscale_of(complete) == 0.25);
  CHECK(cli::lengthscale_of(map) == 0);
  CHECK(cli::lengthscale_text(map) == "-");
  const std::string fitted =
      R"({"kernel":{"kernel":"sum","parts":[{"kernel":"gaussian","lengthscale":2}]},"seed":1})";
  CHECK(cli::lengthscale_text(fitted) == "per part");
  CHECK(
      cli::with_kernel_of(R"({"map":"sum","kernel":{"kernel":"sum"}})", fitted) ==
      R"({"map":"sum","kernel":{"kernel":"sum","parts":[{"kernel":"gaussian","lengthscale":2}]}})");
  CHECK(cli::kernel_name(complete) == "matern");
}

}  // namespace
}  // namespace mercer::test
