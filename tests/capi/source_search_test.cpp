// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Default fits of rows that callbacks hand over, more than are searched, in one process and in two
// played by threads: one model, its score, and an end for both where one fails.
#include <thread>

#include "fixture.h"
#include "meeting.h"

namespace source_search_test {
using namespace mercer::test;

constexpr int64_t kRows = 50000, kInputs = 3, kBlock = 4096;
const char* const kSpec = R"({"effort":"quick","map":{"features":32},"precision":"f64"})";

/// x, one row after the other, and y = sin(2 x_0) + x_1 x_2 and noise.
struct Data {
  std::vector<double> X = numbers(kRows, kInputs), Y;
  Data() {
    for (int64_t i = 0; i < kRows; ++i) {
      const double* x = X.data() + i * kInputs;
      Y.push_back(std::sin(2 * x[0]) + x[1] * x[2] + 0.05 * static_cast<double>(i % 7 - 3));
    }
  }
};

/// The rows from `first` to `last`.
struct Process {
  const Data& data;
  Meeting* meeting = nullptr;  // null: it is alone
  int number = 0;
  int64_t first = 0, last = kRows, at = 0;
  int64_t passes = 0, failing_pass = -1, short_pass = -1;
  std::vector<int64_t> asked = {};
  int64_t first_row = 0;

  mercer_row_source source() {
    mercer_row_source made = {};
    made.struct_size = sizeof made;
    made.d = kInputs;
    made.m = 1;
    made.user = this;
    made.first_row = first_row;
    made.rewind = [](void* user) {
      auto& own = *static_cast<Process*>(user);
      own.at = own.first;
      return own.passes++ == own.failing_pass ? 5 : 0;
    };
    made.next = [](void* user, mercer_rows* X, mercer_rows* Y) {
      auto& own = *static_cast<Process*>(user);
      const int64_t last = own.last - (own.passes - 1 == own.short_pass ? 1 : 0);
      const int64_t count = std::min(kBlock, last - own.at);
      *X = mercer_rows_f64(count, kInputs, own.data.X.data() + own.at * kInputs);
      *Y = mercer_rows_f64(count, 1, own.data.Y.data() + own.at);
      own.at += count;
      return 0;
    };
    if (meeting != nullptr)
      made.sum = [](void* user, int64_t n, double* numbers) {
        auto& own = *static_cast<Process*>(user);
        own.asked.push_back(n);
        own.meeting->sum(own.number, n, numbers);
        return 0;
      };
    return made;
  }
};

struct Fitted {
  mercer_status status = MERCER_INTERNAL;
  std::string says;
  ModelHandle model;
};

Fitted fit(Process& process, const char* spec = kSpec) {
  const mercer_row_source source = process.source();
  mercer_model* model = nullptr;
  const mercer_status status = mercer_model_fit(spec, data_of(source, nullptr), nullptr, &model);
  return {status, status == MERCER_OK ? "" : mercer_last_error(), ModelHandle(model)};
}

/// Two processes, of which the second has the last 20,000 rows.
struct Pair {
  Meeting meeting;
  Process processes[2];
  Fitted fitted[2];

  explicit Pair(const Data& data)
      : processes{{data, &meeting, 0, 0, 30000}, {data, &meeting, 1, 30000, kRows}} {}
  void run(const char* first = kSpec, const char* second = kSpec) {
    std::thread other([&] { fitted[1] = fit(processes[1], second); });
    fitted[0] = fit(processes[0], first);
    other.join();
  }
};

/// How far predictions of the first rows are from the function without noise, root mean square.
double error_of(const mercer_model* model, const Data& data) {
  constexpr int64_t kJudged = 2000;
  const std::vector<double> f = values_of(model, mercer_rows_f64(kJudged, kInputs, data.X.data()));
  double squares = 0;
  for (int64_t i = 0; i < kJudged; ++i) {
    const double* x = data.X.data() + i * kInputs;
    const double error = f[i] - std::sin(2 * x[0]) - x[1] * x[2];
    squares += error * error / kJudged;
  }
  return std::sqrt(squares);
}

std::string text_of(const mercer_model* model, const char* what) {
  int64_t needed = 0;
  if (mercer_model_text(model, what, nullptr, 0, &needed) != MERCER_OK) return "?";
  std::string text(needed, ' ');
  return mercer_model_text(model, what, text.data(), needed, nullptr) == MERCER_OK ? text : "!";
}

TEST_CASE("a default fit of a source is a search with a score") {
  const Data data;
  Process alone{data};
  const Fitted one = fit(alone);
  CHECK(one.says == "");
  REQUIRE(one.status == MERCER_OK);
  CHECK(alone.passes == 3);
  CHECK(error_of(one.model.get(), data) < 0.05);
  const std::string report = text_of(one.model.get(), "report");
  CHECK(report.find("\"unseen\"") != std::string::npos);
  CHECK(report.find("5000") != std::string::npos);  // rows that give the score
  Pair pair(data);
  pair.run();
  REQUIRE((pair.fitted[0].says.empty() && pair.fitted[1].says.empty()));
  CHECK(text_of(pair.fitted[0].model.get(), "spec") == text_of(pair.fitted[1].model.get(), "spec"));
  const double error = error_of(pair.fitted[0].model.get(), data);
  CHECK(error == error_of(pair.fitted[1].model.get(), data));
  CHECK(error < 0.05);
  // The sums that are documented, before those of any fit.
  CHECK(pair.processes[0].asked == pair.processes[1].asked);
  std::vector<int64_t> expected = {1, 3, 1, 1, 1, 1024, 1, 8};
  for (int64_t left = 40000 * (kInputs + 3); left > 0; left -= 65536)
    expected.insert(expected.end(), {1, std::min<int64_t>(left, 65536)});
  std::vector<int64_t> asked = pair.processes[0].asked;
  asked.resize(expected.size());
  CHECK(asked == expected);
}

TEST_CASE("processes that number their rows choose what one process with all rows does") {
  const Data data;
  // A lambda that is searched is found to some digits only.
  const char* const spec =
      R"({"effort":"quick","map":{"features":32},"precision":"f64","lambda":1e-3})";
  Process alone{data};
  const Fitted one = fit(alone, spec);
  REQUIRE(one.says == "");
  Pair pair(data);
  // The second has the first rows.
  pair.processes[0].first_row = 30001;
  pair.processes[0].first = 30000;
  pair.processes[0].last = kRows;
  pair.processes[1].first_row = 1;
  pair.processes[1].first = 0;
  pair.processes[1].last = 30000;
  pair.run(spec, spec);
  REQUIRE((pair.fitted[0].says.empty() && pair.fitted[1].says.empty()));
  const mercer_rows judged = mercer_rows_f64(2000, kInputs, data.X.data());
  const std::vector<double> expected = values_of(one.model.get(), judged);
  for (const Fitted& fitted : pair.fitted) {
    const std::vector<double> found = values_of(fitted.model.get(), judged);
    double worst = 0;
    for (size_t i = 0; i < expected.size(); ++i)
      worst = std::max(worst, std::fabs(found[i] - expected[i]));
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("first rows that cannot be are refused") {
  const Data data;
  Process alone{data};
  alone.first_row = 1;
  const Fitted one = fit(alone);
  CHECK(one.status == MERCER_INVALID_ARGUMENT);
  CHECK(one.says.find("source->first_row = 1") != std::string::npos);
  Pair pair(data);
  pair.processes[0].first_row = 1;
  pair.processes[1].first_row = 30000;  // which is the other's
  pair.run();
  for (const Fitted& fitted : pair.fitted)
    CHECK(fitted.says.find("source->first_row = 30000") != std::string::npos);
  Pair half(data);
  half.processes[0].first_row = 1;
  half.run();
  for (const Fitted& fitted : half.fitted)
    CHECK(fitted.says.find("whether first_row is 0") != std::string::npos);
}

TEST_CASE("where a search of one process fails all of them end, and say why") {
  const Data data;
  const auto says = [](const Fitted& fitted, mercer_status status, const char* part) {
    return fitted.status == status && fitted.model == nullptr &&
           fitted.says.find(part) != std::string::npos;
  };
  const auto other = [&](const Fitted& fitted) {
    return says(fitted, MERCER_IO, "the call of 1 of the processes that share the rows failed");
  };
  for (const int64_t pass : {0, 1, 2}) {
    Pair pair(data);
    pair.processes[1].failing_pass = pass;
    pair.run();
    CHECK(says(pair.fitted[1], MERCER_IO, "source->rewind returned 5"));
    CHECK(other(pair.fitted[0]));
  }
  for (const int64_t pass : {1, 2}) {
    Pair pair(data);
    pair.processes[0].short_pass = pass;
    pair.run();
    CHECK(says(pair.fitted[0], MERCER_INVALID_ARGUMENT, "30000 rows, and 29999"));
    CHECK(other(pair.fitted[1]));
  }
  Pair different(data);
  different.run(kSpec, R"({"effort":"quick","map":{"features":32},"seed":2})");
  for (const Fitted& fitted : different.fitted)
    CHECK(says(fitted, MERCER_INVALID_ARGUMENT, "differ between the 2 processes"));
  Pair timed(data);
  timed.run(R"({"budget":10})", R"({"budget":10})");
  for (const Fitted& fitted : timed.fitted)
    CHECK(says(fitted, MERCER_UNSUPPORTED, "budget of rows that several processes share"));
}

}  // namespace source_search_test
