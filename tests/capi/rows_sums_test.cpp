// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_rows_sums: the answer of the test in memory from blocks of rows in any order, from several
// sums and processes, from files; levels; and every refusal.
#include <barrier>
#include <cmath>
#include <random>
#include <thread>

#include "fixture.h"
#include "mercer/mercer.hpp"
#include "support/reference.h"
#include "support/statistic.h"

namespace mercer::test::rows_sums_test {
namespace {

constexpr int64_t d = 3, m = 700, n = 520;  // groups of three rows, some rows in none
const std::string kTests[] = {
    R"({"test":"mmd","permutations":60,"bandwidths":[0.5,1],"features":128})",
    R"({"test":"block_mmd"})", R"({"test":"kid","permutations":60})"};
const std::string kGiven =
    R"({"test":"mmd","kernels":[{"kernel":"gaussian"}],"features":32,"permutations":19)";

std::vector<double> drawn(int64_t count, uint64_t seed) {
  std::mt19937_64 words(seed);
  std::vector<double> out(count);
  for (double& value : out) value = static_cast<double>(words() >> 11) * 0x1p-53;
  return out;
}

MatrixView<const double> dense(const std::vector<double>& numbers, int64_t rows, int64_t cols = d,
                               int64_t first = 0) {
  return {numbers.data() + first * cols, rows, cols};
}

struct Samples {
  std::vector<double> x = drawn(m * d, 1), y = drawn(n * d, 2);
  RowsView X(int64_t first = 0, int64_t last = m) const {
    return rows_of(x.data() + first * d, last - first, d);
  }
  RowsView Y(int64_t first = 0, int64_t last = n) const {
    return rows_of(y.data() + first * d, last - first, d);
  }
  RowsSums empty(const std::string& json) const {
    return RowsSums(json, m, n, Rows(dense(x, m)), Rows(dense(y, n)));
  }
  void add(RowsSums& to, int32_t side, int64_t first, int64_t last,
           mercer_context* running = nullptr) const {
    REQUIRE(mercer_rows_sums_add(to.get(), side, first, side == 0 ? X(first, last) : Y(first, last),
                                 running) == MERCER_OK);
  }
  RowsSums full(const std::string& json) const {
    RowsSums sums = empty(json);
    add(sums, 0, 0, m);
    add(sums, 1, 0, n);
    return sums;
  }
  std::string in_memory(const std::string& json) const {
    return rows_test(json, Rows(dense(x, m)), Rows(dense(y, n)));
  }
};

/// Equal but for rounding of sums, in whatever order.
void check_same(const std::string& found, const std::string& expected) {
  const Reference a = Reference::parse(found), b = Reference::parse(expected);
  for (const char* const key : {"mmd2", "kid", "standard_error", "effect"}) {
    CAPTURE(key);
    REQUIRE(a.contains(key) == b.contains(key));
    if (a.contains(key))
      CHECK(a[key].get<double>() == Approx(b[key].get<double>()).epsilon(1e-7).margin(1e-10));
  }
  // Two permutations that are equal but for rounding may change places.
  CHECK(a["p_value"].get<double>() == Approx(b["p_value"].get<double>()).margin(2.0 / 61));
  CHECK(a["seed"] == b["seed"]);
  CHECK(a.size() == b.size());
}

}  // namespace

TEST_CASE("sums of a test: at once they are the test in memory bit for bit") {
  const Samples all;
  for (const std::string& json : kTests) {
    CAPTURE(json);
    CHECK(all.full(json).answer() == all.in_memory(json));
  }
}

TEST_CASE("sums of a test: blocks of any size in any order are the rows in memory") {
  const Samples all;
  for (const std::string& json : kTests) {
    const std::string expected = all.in_memory(json);
    for (const int64_t size : {1, 64}) {
      CAPTURE(json, size);
      RowsSums sums = all.empty(json);
      for (int64_t first = 0; first < m; first += size) {
        all.add(sums, 0, first, std::min(m, first + size));
        if (first < n) all.add(sums, 1, first, std::min(n, first + size));
      }
      check_same(sums.answer(), expected);
    }
    RowsSums backwards = all.empty(json);
    for (const int64_t first : {500, 250, 0}) {
      all.add(backwards, 0, first, std::min(m, first + (first == 500 ? 200 : 250)));
      all.add(backwards, 1, std::min(n, first), std::min(n, first + 250));
    }
    check_same(backwards.answer(), expected);
  }
}

TEST_CASE("sums of a test: several add up, and rows are replaced by others of their numbers") {
  Samples all;
  for (const std::string& json : kTests) {
    CAPTURE(json);
    RowsSums first = all.empty(json), second = all.empty(json), old = all.empty(json);
    all.add(first, 0, 0, 300);
    all.add(first, 1, 100, n);
    all.add(second, 0, 300, m);
    all.add(second, 1, 0, 100);
    first.merge(1, second);
    check_same(first.answer(), all.in_memory(json));
    all.add(old, 1, 0, 70);
    first.merge(-1, old);
    Samples later = all;
    for (int64_t i = 0; i < 70 * d; ++i) later.y[i] += 1;
    RowsSums after = all.empty(json);  // the same pilot
    later.add(after, 0, 0, m);
    later.add(after, 1, 0, n);
    later.add(first, 1, 0, 70);
    check_same(first.answer(), after.answer());
    CHECK(first.answer() != all.in_memory(json));
    first.merge(-1, first);  // nothing is left of them, not even rounding
    CHECK(first.to_bytes() == all.empty(json).to_bytes());
  }
}

TEST_CASE("sums of a test: processes have the answer of all rows in each") {
  const Samples all;
  struct Meeting {
    std::barrier<> barrier{2};
    double* numbers[2] = {};
  } meeting;
  struct Process {
    Meeting& meeting;
    int number;
    static int32_t sum(void* user, int64_t count, double* own) {
      const auto& [with, number] = *static_cast<Process*>(user);
      with.numbers[number] = own;
      with.barrier.arrive_and_wait();
      std::vector<double> total(count);
      for (int64_t i = 0; i < count; ++i) total[i] = with.numbers[0][i] + with.numbers[1][i];
      with.barrier.arrive_and_wait();
      std::ranges::copy(total, own);
      return 0;
    }
  } processes[] = {{meeting, 0}, {meeting, 1}};
  const std::string json = kGiven + "}", other = kGiven + R"(,"seed":1})";
  RowsSums own[] = {all.empty(json), all.empty(json)};
  all.add(own[0], 0, 0, m);
  all.add(own[0], 1, 0, 1);
  all.add(own[1], 1, 1, n);
  std::string said[2];
  const auto reduce = [&](int p, RowsSums& sums) {
    if (mercer_rows_sums_reduce(sums.get(), Process::sum, &processes[p]) != MERCER_OK)
      said[p] = mercer_last_error();
  };
  std::thread second([&] { reduce(1, own[1]); });
  reduce(0, own[0]);
  second.join();
  CHECK((said[0] + said[1]) == "");
  CHECK(own[0].answer() == own[1].answer());
  check_same(own[0].answer(), all.in_memory(json));
  std::thread again([&] { reduce(1, own[1]); });  // every row is there twice now
  reduce(0, own[0]);
  again.join();
  for (const std::string& text : said) CHECK(text.find("X would have") != std::string::npos);
  check_same(own[1].answer(), all.in_memory(json));
  RowsSums strange = all.empty(other);  // all are told, and none waits
  std::thread third([&] { reduce(1, strange); });
  reduce(0, own[0]);
  third.join();
  for (const std::string& text : said)
    CHECK(text.find("differ between the 2 processes") != std::string::npos);
  CHECK(refused(mercer_rows_sums_reduce(own[0].get(), nullptr, nullptr), "sum = NULL") == "");
}

TEST_CASE("sums of a test: through bytes and files half-way, for any number of threads") {
  const Samples all;
  const TemporaryDirectory directory;
  for (const std::string& json : kTests) {
    CAPTURE(json);
    RowsSums sums = all.empty(json);
    all.add(sums, 0, 0, 411);
    const std::string path = directory.file("sums");
    sums.save(path);
    const auto stored = sums.to_bytes();
    RowsSums again = RowsSums::load(path), bytes = RowsSums::from_bytes(stored);
    CHECK((again.to_bytes() == stored && bytes.to_bytes() == stored));
    const Reference info = Reference::parse(file_info(path));
    CHECK((info["kind"] == "rows_sums" && info["x_added"] == 411 && info["y_rows"] == n));
    CHECK((info["spec"]["test"] == Reference::parse(json)["test"] && info["inputs"] == d));
    for (const int32_t threads : {1, 3}) {
      RowsSums copy = RowsSums::load(path);
      copy.merge(1, all.empty(json));  // of the same test
      const auto running = context(threads);
      all.add(copy, 0, 411, m, running.get());
      all.add(copy, 1, 0, n, running.get());
      if (threads == 3) CHECK(copy.to_bytes() == again.to_bytes());
      again = std::move(copy);
    }
    std::vector<std::string> answers(3);
    std::vector<std::thread> asking;
    for (std::string& one : answers) asking.emplace_back([&] { one = again.answer(); });
    for (std::thread& thread : asking) thread.join();
    CHECK((answers[0] == answers[1] && answers[1] == answers[2]));
    check_same(answers[0], all.in_memory(json));
  }
}

TEST_CASE("sums of a test: the level is exact, also of sorted rows and groups of several") {
  constexpr int64_t kTrials = 800, kLate = 300, kEarly = 260;  // groups of two
  int64_t small = 0, smallest = 0;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    std::vector<double> x = drawn(kLate, 2 * trial), y = drawn(kEarly, 2 * trial + 1);
    if (trial % 2 == 0) std::ranges::sort(x), std::ranges::sort(y);
    RowsSums sums(kGiven + R"(,"seed":)" + std::to_string(trial) + "}", kLate, kEarly,
                  Rows(dense(x, 0, 1)), Rows(dense(y, 0, 1)));
    for (int64_t first = 0; first < kLate; first += 100)
      sums.add(0, first, Rows(dense(x, 100, 1, first)));
    sums.add(1, 0, Rows(dense(y, kEarly, 1)));
    const double p = Reference::parse(sums.answer())["p_value"];
    small += p < 0.251 ? 1 : 0;
    smallest += p < 0.051 ? 1 : 0;
  }
  const auto within = [&](int64_t count, double level) {
    return std::abs(static_cast<double>(count) - kTrials * level) <=
           z_threshold(kFailure, 2) * std::sqrt(kTrials * level * (1 - level)) + 1;
  };
  CHECK((within(small, 0.25) && within(smallest, 0.05)));
}

TEST_CASE("sums of a test: what is refused") {
  const Samples all;
  Slot<mercer_rows_sums> slot;
  const auto made_of = [&](const std::string& json, int64_t rows, const mercer_rows& X,
                           const mercer_rows& Y) {
    return mercer_rows_sums_create(json.c_str(), rows, n, X, Y, nullptr, slot.out());
  };
  const std::string given = kGiven + "}", mmd = R"({"test":"mmd"})";
  const RowsView X = all.X(), none = rows_of(all.x.data(), 0, d);
  CHECK(slot.fault(made_of(R"({"test":"hsic"})", m, X, X), MERCER_UNSUPPORTED, "hsic") == "");
  CHECK(slot.fault(made_of(R"({"test":"mmd","witnesses":5})", m, X, X), MERCER_UNSUPPORTED,
                   "witnesses = 5") == "");
  CHECK(slot.refused(made_of(mmd, 0, X, X), "m = 0") == "");
  CHECK(slot.refused(made_of(mmd, kHuge, X, X), "m = ") == "");
  CHECK(slot.refused(made_of(mmd, m, none, none), "X.n + Y.n = 0") == "");
  CHECK(slot.refused(made_of(R"({"test":"block_mmd","block":1000})", m, X, X), "block = 1000") ==
        "");
  CHECK(slot.fault(mercer_rows_sums_create(R"({"test":"block_mmd","block":2})", int64_t{1} << 53,
                                           int64_t{1} << 53, X, X, nullptr, slot.out()),
                   MERCER_OUT_OF_MEMORY) == "");
  CHECK(slot.fault(made_of(mmd, m, X, rows_of(all.x.data(), 4, 2)), MERCER_DIMENSION_MISMATCH,
                   "Y.d = 2") == "");
  CHECK(slot.refused(made_of("{}", m, X, X), "test") == "");
  RowsSums sums = all.empty(given), other = all.empty(kGiven + R"(,"seed":1})"),
           wide = all.empty(mmd);
  const auto adding = [&](int32_t side, int64_t first, const mercer_rows& rows) {
    return mercer_rows_sums_add(sums.get(), side, first, rows, nullptr);
  };
  const auto before = sums.to_bytes();
  CHECK(refused(adding(2, 0, X), "side = 2") == "");
  CHECK(refused(adding(0, -1, X), "first = -1") == "");
  CHECK(refused(adding(0, 1, X), "first = 1", "700") == "");
  CHECK(refused(adding(1, 0, X), "below 520", "Y") == "");
  CHECK(fault(adding(0, 0, rows_of(all.x.data(), 4, 2)), MERCER_DIMENSION_MISMATCH, "X.d = 2") ==
        "");
  auto bad = all.x;
  bad[7] = std::nan("");
  CHECK(refused(adding(0, 0, rows_of(bad, d)), "X: row 2, column 1") == "");
  char text[64];
  CHECK(refused(mercer_rows_sums_answer(sums.get(), nullptr, text, 64, nullptr), "0 rows of X",
                "all 700") == "");
  const auto merged = [&](int32_t sign, const RowsSums& more) {
    return mercer_rows_sums_merge(sums.get(), sign, more.get());
  };
  CHECK(refused(merged(0, other), "sign = 0") == "");
  CHECK((refused(merged(1, other), "\"seed\":1") == "" && refused(merged(1, wide), "bandw") == ""));
  CHECK(refused(merged(-1, all.full(given)), "X would have -") == "");
  CHECK(sums.to_bytes() == before);
  sums = all.full(given);
  CHECK(refused(adding(0, 10, all.X(10, 20)), "X would have", "is there twice") == "");
  CHECK(refused(merged(1, all.full(given)), "X would have") == "");
  CHECK(sums.answer() == all.in_memory(given));
  CHECK(adding(1, n, rows_of(all.y.data(), 0, d)) == MERCER_OK);
  CHECK(refused(mercer_rows_sums_answer(sums.get(), nullptr, text, 4, nullptr), "capacity") == "");
  RowsSums cubes = all.empty(kTests[2]);  // of sums beyond doubles nothing is written
  const std::vector<double> huge(d, 1e120);
  REQUIRE(mercer_rows_sums_add(cubes.get(), 0, 0, rows_of(huge, d), nullptr) == MERCER_OK);
  std::vector<char> room(1 << 24);
  CHECK(refused(mercer_rows_sums_write(cubes.get(), nullptr, room.data(), 1 << 24, nullptr),
                "sums[", "finite") == "");
  sums = all.empty(given);
  const auto capped = context(0, 1000);
  CHECK(mercer_rows_sums_add(sums.get(), 0, 0, X, capped.get()) == MERCER_OUT_OF_MEMORY);
  CHECK((refused(adding(0, 0, X), "a part of some rows") == "" &&
         refused(mercer_rows_sums_write(sums.get(), nullptr, text, 64, nullptr), "part") == ""));
}

}  // namespace mercer::test::rows_sums_test
