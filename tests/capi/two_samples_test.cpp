// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_rows_test: what every test answers, for shifts, sparse rows, labels, any number of threads
// and bad rows; and every refusal.
#include <cmath>
#include <limits>
#include <random>

#include "fixture.h"
#include "mercer/mercer.hpp"
#include "mercer/rows_test.h"
#include "support/reference.h"

namespace mercer::test::two_samples_test {
namespace {

constexpr const char* kTests[] = {"mmd", "block_mmd", "kid", "hsic"};

Reference answer(const std::string& json, const mercer_rows& X, const mercer_rows& Y,
                 mercer_context* running = nullptr) {
  static char text[1 << 16];
  const mercer_status status =
      mercer_rows_test(json.c_str(), X, Y, running, text, sizeof text, nullptr);
  CAPTURE(json, mercer_last_error());
  REQUIRE(status == MERCER_OK);
  return Reference::parse(text);
}

std::string asks(const std::string& test, const std::string& keys = "") {
  return R"({"test":")" + test + '"' + (keys.empty() ? "" : "," + keys) + "}";
}

/// Normal numbers, as near as twelve uniform ones come.
std::vector<double> drawn(int64_t count, uint64_t seed) {
  std::mt19937_64 words(seed);
  std::vector<double> out(count);
  for (double& value : out)
    for (int k = 0; k < 12; ++k) value += static_cast<double>(words() >> 11) * 0x1p-53 - 0.5;
  return out;
}

double p_of(const Reference& found) { return found["p_value"]; }

}  // namespace

TEST_CASE("tests of rows: a shift is seen, where it is and how much; none is not") {
  const auto x = drawn(200 * 4, 1);
  auto y = drawn(150 * 4, 2);
  const auto X = rows_of(x, 4);
  const Reference alike = answer(asks("mmd"), X, rows_of(y, 4));
  CHECK(p_of(alike) > 0.05);
  CHECK(alike["by_kernel"].size() == 10);
  CHECK((alike["features"] == 256 && !alike.contains("x_rows")));
  CHECK(alike["kernel"].contains("lengthscale"));
  for (int64_t i = 0; i < 150; ++i) y[4 * i + 2] += i < 100 ? 0 : 3;
  y[4 * 17] = 8;
  const Reference found = answer(asks("mmd", R"("witnesses":3,"seed":5)"), X, rows_of(y, 4));
  CHECK(p_of(found) < 0.01);
  CHECK((found["effect"].get<double>() > 0.005 && found["effect"].get<double>() < 0.5));
  CHECK(found["mmd2"].get<double>() > 3 * found["standard_error"].get<double>());
  REQUIRE((found["x_rows"].size() == 3 && found["y_witness"].size() == 3));
  CHECK(found["x_witness"].at(0).get<double>() >= found["x_witness"].at(2).get<double>());
  CHECK(found["x_witness"].at(2).get<double>() > 0);
  CHECK(found["y_witness"].at(0).get<double>() < 0);
  for (const Reference& row : found["y_rows"])
    CHECK((row.get<int64_t>() >= 100 && row.get<int64_t>() < 150));
  const std::string own = R"("kernels":[{"kernel":"gaussian","lengthscale":0.5}])";
  const Reference given = answer(asks("mmd", own), X, rows_of(y, 4));
  CHECK((given["by_kernel"].size() == 1 && p_of(given) == p_of(given["by_kernel"].at(0))));
  const Reference limit = answer(asks("mmd", R"("permutations":0)"), X, rows_of(y, 4));
  CHECK((p_of(limit) < 0.01 && !limit["by_kernel"].at(0).contains("p_value")));
  const Reference both = answer(asks("mmd"), X, rows_of(y, 4));
  CHECK(limit["by_kernel"].at(0)["p_limit"].get<double>() ==
        Approx(both["by_kernel"].at(0)["p_limit"].get<double>()).epsilon(1e-9));
  for (const char* test : {"mmd", "kid"})
    CHECK(answer(asks(test, R"("permutations":0)"), rows_of(x, 40), rows_of(y, 40))["p_value"]
              .is_null());
  const Reference block = answer(asks("block_mmd"), X, rows_of(y, 4));
  CHECK((block["block"] == 12 && p_of(block) < 0.05));
}

TEST_CASE("tests of rows: kid of few and of many inputs") {
  const auto x = drawn(60 * 4, 1), y = drawn(50 * 4, 2);
  const Reference exact = answer(asks("kid"), rows_of(x, 4), rows_of(y, 4));
  CHECK((exact["exact"] == true && exact["features"] == 4096 && p_of(exact) > 0.01));
  for (const int64_t p : {1, 2, 5}) {  // the unbiased estimate, pair by pair
    const auto mean = [&](const std::vector<double>& a, int64_t m, const std::vector<double>& b,
                          int64_t n, bool same) {
      double sum = 0;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double product = 0;
          for (int64_t k = 0; k < 4; ++k) product += a[4 * i + k] * b[4 * j + k];
          if (!same || i != j) sum += std::pow(product / 4 + 1, p);
        }
      return sum / static_cast<double>(m * (same ? n - 1 : n));
    };
    const Reference of_p = answer(asks("kid", (R"("degree":)" + std::to_string(p)).c_str()),
                                  rows_of(x, 4), rows_of(y, 4));
    CHECK(of_p["exact"] == true);
    CHECK(of_p["kid"].get<double>() == Approx(mean(x, 60, x, 60, true) + mean(y, 50, y, 50, true) -
                                              2 * mean(x, 60, y, 50, false))
                                           .margin(1e-10));
  }
  CHECK(answer(asks("kid", R"("degree":30)"), rows_of(x, 4), rows_of(y, 4))["exact"] == false);
  const Reference few = answer(asks("kid"), rows_of(x.data(), 2, 4), rows_of(y.data(), 3, 4));
  CHECK(std::isfinite(few["kid"].get<double>()));
  CHECK(std::isfinite(few["standard_error"].get<double>()));
  CHECK(answer(asks("kid"), rows_of(x.data(), 1, 4), rows_of(y, 4))["standard_error"].is_null());
  const Reference wide = answer(asks("kid", R"("features":512,"permutations":50)"), rows_of(x, 60),
                                rows_of(y.data(), 3, 60));
  CHECK(wide["exact"] == false);
}

TEST_CASE("tests of rows: dependence on rows and on labels") {
  const auto x = drawn(120 * 2, 1), other = drawn(120, 3);
  std::vector<double> y(120), labels(120);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = x[2 * i] * x[2 * i] + 0.1 * other[i];
    labels[i] = std::floor(2 * std::abs(x[2 * i + 1]));
  }
  const auto X = rows_of(x, 2);
  CHECK(p_of(answer(asks("hsic"), X, rows_of(other, 1))) > 0.05);
  const Reference seen = answer(asks("hsic"), X, rows_of(y, 1));
  CHECK((p_of(seen) < 0.01 && seen["by_kernel"].size() == 3));
  CHECK(p_of(answer(asks("hsic", R"("permutations":0)"), X, rows_of(y, 1))) < 1e-6);
  const Reference named = answer(asks("hsic", R"("labels":true)"), X, rows_of(labels, 1));
  CHECK((p_of(named) < 0.01 && named["by_kernel"].size() == 3));
  CHECK(p_of(answer(asks("hsic", R"("labels":true,"permutations":0)"), X, rows_of(y, 1))) > 0.05);
}

TEST_CASE("tests of rows: the same answer for any number of threads, and about it in floats") {
  const auto x = drawn(700 * 3, 1), y = drawn(700 * 3, 2);
  for (const char* const test : kTests) {
    CAPTURE(test);
    const std::string json =
        asks(test, std::string(test) == "block_mmd" ? "" : R"("permutations":30)");
    const Reference plain = answer(json, rows_of(x, 3), rows_of(y, 3));
    for (const int32_t threads : {1, 2, 7}) {
      mercer_context_options options{};
      options.struct_size = sizeof options;
      options.threads = threads;
      mercer_context* made = nullptr;
      REQUIRE(mercer_context_create(&options, &made) == MERCER_OK);
      CHECK(answer(json, rows_of(x, 3), rows_of(y, 3), made) == plain);
      mercer_context_free(made);
    }
    const std::vector<float> f(x.begin(), x.end());
    CHECK(answer(json, rows_of(f, 3), rows_of(y, 3))["p_value"].get<double>() ==
          Approx(p_of(plain)).margin(0.05));
    CHECK(rows_test(json, Matrix<double>(3, 2), Matrix<double>(3, 2)).find("p_value") !=
          std::string::npos);
  }
}

TEST_CASE("tests of rows: memory does not grow with the rows") {
  const auto x = drawn(30000, 1);
  const auto needed = [&](int64_t n, int64_t cap) {
    const auto capped = context(0, cap);
    const auto X = rows_of(x.data(), n, 1), Y = rows_of(x.data() + n, n, 1);
    const std::string json = asks("mmd", R"("features":128,"permutations":30,"bandwidths":[1])");
    return mercer_rows_test(json.c_str(), X, Y, capped.get(), nullptr, 0, nullptr);
  };
  constexpr int64_t kEnough = int64_t{12} << 20;  // of 15,000 rows all features take 30 MB
  CHECK(needed(1500, kEnough) == MERCER_OK);
  CHECK(needed(15000, kEnough) == MERCER_OK);
  CHECK(needed(1500, int64_t{1} << 20) == MERCER_OUT_OF_MEMORY);
}

TEST_CASE("tests of rows: sparse rows have the answer of the dense ones that they stand for") {
  const SparseRows<double, int32_t> X = sparse_numbers(120, 6);
  const SparseRows<float, int64_t> narrow = sparse_numbers<float, int64_t>(120, 6);
  for (const char* const test : kTests) {
    CAPTURE(test);
    const std::string json = asks(test), name = std::string(test) == "block_mmd" ? "mmd2" : test;
    const Reference dense = answer(json, X.dense_view(), X.dense_view()),
                    sparse = answer(json, X.view(), X.view()),
                    mixed = answer(json, X.dense_view(), narrow.view());
    const char* const key = name == "mmd" ? "mmd2" : name.c_str();
    CHECK(sparse[key].get<double>() == Approx(dense[key].get<double>()).margin(1e-9));
    CHECK(mixed[key].get<double>() == Approx(dense[key].get<double>()).margin(1e-3));
  }
}

TEST_CASE("tests of rows: equal rows, constant columns and one row have limit values") {
  const auto x = drawn(40 * 3, 1);
  const std::vector<double> constant(40 * 3, 2.5);
  for (const char* const test : kTests) {
    CAPTURE(test);
    const bool paired = std::string(test) == "hsic";
    if (!paired) CHECK(p_of(answer(asks(test), rows_of(x, 3), rows_of(x, 3))) > 0.9);
    CHECK(p_of(answer(asks(test), rows_of(constant, 3), rows_of(constant, 3))) == 1);
    const std::vector<double> far(40 * 3, 1e149);
    CHECK((test == std::string("kid") ||
           p_of(answer(asks(test), rows_of(far, 3), rows_of(far, 3))) == 1));
    if (std::string(test) == "block_mmd") continue;  // a block has two rows
    CHECK(p_of(answer(asks(test), rows_of(x.data(), 1, 3), rows_of(x.data() + 3, 1, 3))) == 1);
  }
  auto column = x;
  for (size_t i = 0; i < column.size(); i += 3) column[i] = 1e9;
  CHECK(p_of(answer(asks("mmd"), rows_of(column, 3), rows_of(x, 3))) < 0.01);
}

TEST_CASE("tests of rows: columns of any unit have one answer, those below all lengthscales none") {
  const auto plain_x = drawn(60 * 3, 1), plain_y = drawn(60 * 3, 2);
  for (const char* const test : {"mmd", "block_mmd", "hsic"}) {
    const double plain = p_of(answer(asks(test), rows_of(plain_x, 3), rows_of(plain_y, 3)));
    for (const double unit : {1e-270, 1e-160, 1e-150, 1e148}) {
      CAPTURE(test, unit);
      auto x = plain_x, y = plain_y;
      for (auto* sample : {&x, &y})
        for (size_t i = 1; i < sample->size(); i += 3) (*sample)[i] *= unit;
      CHECK(p_of(answer(asks(test), rows_of(x, 3), rows_of(y, 3))) == Approx(plain).margin(0.01));
      for (auto* sample : {&x, &y})
        for (size_t i = 0; i < sample->size(); ++i) (*sample)[i] = i % 3 == 1 ? 2 : unit;
      CHECK(p_of(answer(asks(test), rows_of(x, 3), rows_of(y, 3))) == 1);
      x = plain_x, y = plain_y;
      for (auto* sample : {&x, &y})
        for (double& one : *sample) one *= unit;
      const std::string none = asks(test, R"("scale":"none")");
      CHECK(p_of(answer(none, rows_of(x, 3), rows_of(y, 3))) ==
            Approx(p_of(answer(none, rows_of(plain_x, 3), rows_of(plain_y, 3)))).margin(0.01));
    }
    auto x = plain_x;
    for (size_t i = 1; i < x.size(); i += 3) x[i] *= 1e-300;
    CHECK(fault(mercer_rows_test(asks(test).c_str(), rows_of(x, 3), rows_of(x, 3), nullptr, nullptr,
                                 0, nullptr),
                MERCER_INVALID_ARGUMENT, "mercer_rows_test: ", "column 1 (counted from 0)",
                "e-301") == "");
  }
}

TEST_CASE("tests of rows: what is refused") {
  auto x = drawn(20 * 3, 1);
  const auto good = x;
  char text[64] = "?";
  const auto says = [&](const std::string& json, const mercer_rows& X, const mercer_rows& Y,
                        mercer_status expected, auto... parts) {
    return fault(mercer_rows_test(json.c_str(), X, Y, nullptr, nullptr, 0, nullptr), expected,
                 "mercer_rows_test: ", parts...);
  };
  const auto X = rows_of(good, 3);
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, mismatch = MERCER_DIMENSION_MISMATCH;
  CHECK(says("{}", X, X, invalid, "test", "missing") == "");
  CHECK(says(asks("mdm"), X, X, invalid, "mdm", "block_mmd") == "");
  CHECK(says(asks("mmd", R"("permutation":5)"), X, X, invalid, "permutation") == "");
  CHECK(says(asks("mmd", R"("permutations":-1)"), X, X, invalid, "permutations = -1") == "");
  CHECK(says(asks("mmd", R"("bandwidths":[0])"), X, X, invalid, "bandwidths") == "");
  std::string many = "1";
  for (int k = 0; k < 32; ++k) many += ",1";
  CHECK(says(asks("mmd", R"("bandwidths":[)" + many + "]"), X, X, invalid, "33 numbers",
             "at most 32") == "");
  for (const char* const test : {"mmd", "hsic"}) {
    const auto help = text_of([&](auto... buffer) { return mercer_specs(test, buffer...); });
    CHECK(help.find(R"("help":"at most 32: lengthscales)") != std::string::npos);
  }
  CHECK(says(asks("mmd", R"("kernels":[])"), X, X, invalid, "kernels") == "");
  CHECK(says(asks("mmd", R"("kernels":[{"kernel":"gausian"}])"), X, X, invalid, "gausian") == "");
  CHECK(says(asks("mmd", R"("kernels":[{"kernel":"curl_free"}])"), X, X, MERCER_UNSUPPORTED,
             "curl_free") == "");
  CHECK(says(asks("block_mmd", R"("block":21)"), X, X, invalid, "block = 21", "20") == "");
  CHECK(says(asks("block_mmd"), rows_of(x.data(), 1, 3), X, invalid, "block = 2") == "");
  CHECK(says(asks("hsic", R"("labels":true)"), X, X, mismatch, "Y.d = 3") == "");
  CHECK(says(asks("hsic", R"("labels":true,"y_kernels":[{"kernel":"gaussian"}])"), X,
             rows_of(x.data(), 20, 1), invalid, "y_kernels") == "");
  CHECK(says(asks("hsic", R"("kernels":[{"kernel":"gaussian"},{"kernel":"gaussian"}])"), X, X,
             invalid, "2 kernels of X and 3 of Y") == "");
  for (const char* const test : kTests) {
    const bool paired = std::string(test) == "hsic";
    CHECK(says(asks(test), rows_of(x.data(), 0, 3), X, invalid, "X.n = 0") == "");
    CHECK(says(asks(test), X, rows_of(x.data(), 20, 0), invalid, "Y.d = 0") == "");
    if (paired)
      CHECK(says(asks(test), X, rows_of(x.data(), 19, 3), mismatch, "Y.n = 19") == "");
    else
      CHECK(says(asks(test), X, rows_of(x.data(), 30, 2), mismatch, "Y.d = 2") == "");
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      x[7] = bad;
      CHECK(says(asks(test), X, rows_of(x, 3), invalid, "Y: row 2, column 1") == "");
      x = good;
    }
  }
  const std::vector<double> huge(20 * 3, 1e120);
  CHECK(says(asks("kid"), X, rows_of(huge, 3), invalid, "finite") == "");
  CHECK(says(asks("hsic", R"("kernels":[{"kernel":"polynomial","degree":3}])"), rows_of(huge, 3), X,
             invalid, "finite") == "");
  CHECK(refused(mercer_rows_test(nullptr, X, X, nullptr, nullptr, 0, nullptr), "json") == "");
  CHECK(refused(mercer_rows_test(asks("mmd").c_str(), X, X, nullptr, text, 4, nullptr),
                "capacity") == "");
  CHECK(std::string(text) == "?");
}

}  // namespace mercer::test::two_samples_test
