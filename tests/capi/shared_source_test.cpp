// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Several processes, played by threads, fit one model, each from rows of its own: the model of all
// rows, the sums that are asked for, and an end for all where one fails.
#include <thread>

#include "fixture.h"
#include "meeting.h"

namespace shared_source_test {
using namespace mercer::test;

constexpr int64_t kRows = 90, kInputs = 3, kFeatures = 32;
constexpr double kLambda = 1e-4;

/// Rows of both processes: targets, or classes in one column, and weights where they are wanted.
struct Data {
  std::vector<double> X = numbers(kRows, kInputs), Y = numbers(kRows, 2);
  int64_t m = 2;
  bool weighted = false;
  std::vector<double> weights() const {
    std::vector<double> weights;
    for (int64_t i = 0; i < kRows; ++i) weights.push_back(static_cast<double>(i % 4));
    return weights;
  }
};

Data classes_of_three() {
  Data data;
  data.m = 1;
  data.Y.clear();
  for (int64_t i = 0; i < kRows; ++i) {
    const double x = data.X[i * kInputs];
    data.Y.push_back(i % 7 == 0 ? 2 : x > 0.3 ? 1 : 0);
  }
  return data;
}

/// One process: the rows from `at` to `last`, 17 at a time.
struct Process {
  const Data& data;
  Meeting* meeting;  // null: it is alone
  int number;
  int64_t first, last, at = 0;
  int32_t sum_answer = 0;
  int64_t passes = 0, failing_pass = -1;
  std::vector<int64_t> asked{};  // how many numbers each sum had
  std::vector<double> table{};

  mercer_row_source source() {
    mercer_row_source made = {};
    made.struct_size = sizeof made;
    made.weighted = data.weighted ? 1 : 0;
    made.d = kInputs;
    made.m = data.m;
    made.user = this;
    made.rewind = [](void* user) {
      auto& own = *static_cast<Process*>(user);
      own.at = own.first;
      return own.passes++ == own.failing_pass ? 5 : 0;
    };
    made.next = [](void* user, mercer_rows* X, mercer_rows* Y) {
      static_cast<Process*>(user)->next(X, Y);
      return 0;
    };
    if (meeting != nullptr)
      made.sum = [](void* user, int64_t n, double* numbers) {
        auto& own = *static_cast<Process*>(user);
        own.asked.push_back(n);
        own.meeting->sum(own.number, n, numbers);
        return own.sum_answer;
      };
    return made;
  }

  void next(mercer_rows* X, mercer_rows* Y) {
    const int64_t count = std::min<int64_t>(17, last - at);
    const std::vector<double> weights = data.weights();
    table.clear();
    for (int64_t i = at; i < at + count; ++i) {
      for (int64_t o = 0; o < data.m; ++o) table.push_back(data.Y[i * data.m + o]);
      if (data.weighted) table.push_back(weights[i]);
    }
    *X = mercer_rows_f64(count, kInputs, data.X.data() + at * kInputs);
    *Y = mercer_rows_f64(count, data.m + (data.weighted ? 1 : 0), table.data());
    at += count;
  }
};

/// "": lambda is given; more: further keys.
std::string spec_by(const std::string& by, const std::string& more = "") {
  const std::string how =
      by.empty() ? R"("lambda":1e-4)" : R"("select":{"by":")" + by + R"(","smallest":1e-4})";
  return R"({"precision":"f64",)" + how + more + "}";
}
const std::string kThreeClasses = R"(,"task":"classification","classes":3)";

struct Fitted {
  mercer_status status = MERCER_INTERNAL;
  std::string says;
  ModelHandle model;
};

Fitted fit(Process& process, const std::string& spec) {
  const mercer_row_source source = process.source();
  const auto map = fourier(kInputs, kFeatures);
  mercer_model* model = nullptr;
  const mercer_status status =
      mercer_model_fit(spec.c_str(), data_of(source, map.get()), nullptr, &model);
  return {status, status == MERCER_OK ? "" : mercer_last_error(), ModelHandle(model)};
}

/// Two processes, of which the second has the rows from `split` on.
struct Pair {
  Meeting meeting;
  Process processes[2];
  Fitted fitted[2];

  explicit Pair(const Data& data, int64_t split = 40)
      : processes{{data, &meeting, 0, 0, split}, {data, &meeting, 1, split, kRows}} {}
  void run(const std::string& first, const std::string& second) {
    std::thread other([&] { fitted[1] = fit(processes[1], second); });
    fitted[0] = fit(processes[0], first);
    other.join();
  }
  void run(const std::string& spec) { run(spec, spec); }
};

std::string bytes_of(const mercer_model* model) {
  int64_t needed = 0;
  if (mercer_model_write(model, nullptr, nullptr, 0, &needed) != MERCER_OK) return "?";
  std::string bytes(needed, '#');
  return mercer_model_write(model, nullptr, bytes.data(), needed, nullptr) == MERCER_OK ? bytes
                                                                                        : "!";
}

/// Of the rows, and of rows far outside, which ranges limit.
std::vector<double> predictions(const mercer_model* model, const Data& data) {
  std::vector<double> X = data.X;
  for (const double x : data.X) X.push_back(50 * x);
  return values_of(model, rows_of(X, kInputs));
}

/// As in source_test.cpp: sums of n terms in another order, over lambda, and as much for inputs.
double rounding(const std::vector<double>& Y) {
  double most = 0;
  for (const double y : Y) most = std::max(most, std::abs(y));
  return 4 * kRows * 0x1p-52 * most / (kLambda * std::sqrt(kLambda));
}

void check_one_model(const Data& data, const std::string& spec, int64_t split) {
  Pair pair(data, split);
  pair.run(spec);
  CHECK(pair.fitted[0].says == "");
  REQUIRE((pair.fitted[0].status == MERCER_OK && pair.fitted[1].status == MERCER_OK));
  CHECK(bytes_of(pair.fitted[0].model.get()) == bytes_of(pair.fitted[1].model.get()));
  CHECK(pair.processes[0].asked == pair.processes[1].asked);
  Process alone{data, nullptr, 0, 0, kRows};
  const Fitted whole = fit(alone, spec);
  REQUIRE(whole.status == MERCER_OK);
  const auto a = predictions(pair.fitted[0].model.get(), data),
             b = predictions(whole.model.get(), data);
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  CHECK(worst <= rounding(data.Y));
}

TEST_CASE("processes that share rows without targets get the components or density of all rows") {
  const int64_t split = GENERATE(40, 3, 0);
  const char* const spec =
      GENERATE(R"({"model":"kernel_pca","components":3,"preimages":true,"precision":"f64"})",
               R"({"model":"density","base":"diagonal","lambda":0.01,"precision":"f64"})");
  Data data;
  data.m = 0;
  data.weighted = GENERATE(false, true);
  CAPTURE(split, spec, data.weighted);
  check_one_model(data, spec, split);
}

TEST_CASE("processes that share the rows get the model of all rows") {
  const std::string by = GENERATE("", "gcv", "leave_one_out");
  const int64_t split = GENERATE(40, 3, 0);  // the last: one process has no rows
  CAPTURE(by, split);
  Data data;
  check_one_model(data, spec_by(by), split);
  check_one_model(data, spec_by(by, R"(,"prepare":{"standardize":false},"center":false)"), split);
  data.weighted = true;
  check_one_model(data, spec_by(by), split);
  const Data classes = classes_of_three();
  check_one_model(classes, spec_by(by, kThreeClasses), split);
  check_one_model(classes, spec_by(by, kThreeClasses + R"(,"class_weight":"balanced")"), split);
}

TEST_CASE("processes that share the rows hold out rows of their own, for one model") {
  const std::string by = GENERATE("held_out", "folds");
  for (const std::string& more :
       {std::string(), kThreeClasses, std::string(R"(,"model":"density","base":"diagonal")"),
        std::string(R"(,"model":"sparse_inputs")")}) {
    Data data = more == kThreeClasses ? classes_of_three() : Data();
    if (more.find("density") != std::string::npos) data.m = 0;
    Pair pair(data);
    pair.run(spec_by(by, more));
    CHECK(pair.fitted[0].says == "");
    REQUIRE(pair.fitted[1].status == MERCER_OK);
    CHECK(bytes_of(pair.fitted[0].model.get()) == bytes_of(pair.fitted[1].model.get()));
  }
}

TEST_CASE("processes that share the rows are asked for the sums that are documented") {
  Data data;
  data.weighted = GENERATE(false, true);
  Pair pair(data);
  pair.run(spec_by(""));
  REQUIRE(pair.fitted[0].status == MERCER_OK);
  const int64_t d = kInputs, D = kFeatures, m = data.m;
  std::vector<int64_t> sums = {3};
  if (data.weighted) sums.push_back(2);
  sums.push_back(5 * d + 2);
  sums.insert(sums.end(), 16, 64 * d);
  sums.push_back(5 * m + 2);
  sums.insert(sums.end(), 16, 64 * m);
  sums.insert(sums.end(),
              {d + 3, 2 * d, 2 * m + 1, D + m + 1, D * (D + 1) / 2 + D * m + D + 2 * m + 2});
  std::vector<int64_t> expected;
  for (const int64_t n : sums) expected.insert(expected.end(), {1, n});
  expected.push_back(1);
  CHECK(pair.processes[0].asked == expected);
  CHECK(pair.processes[1].asked == expected);
}

TEST_CASE("where one process fails all of them end, and say why") {
  const auto says = [](const Fitted& fitted, mercer_status status, const char* part) {
    return fitted.status == status && fitted.model == nullptr &&
           fitted.says.find(part) != std::string::npos;
  };
  const auto other = [&](const Fitted& fitted) {
    return says(fitted, MERCER_IO, "the call of 1 of the processes that share the rows failed");
  };
  const std::string gcv = spec_by("gcv");
  Data data;
  for (const int64_t pass : {0, 1}) {
    Pair pair(data);
    pair.processes[1].failing_pass = pass;
    pair.run(gcv);
    CHECK(says(pair.fitted[1], MERCER_IO, "source->rewind returned 5"));
    CHECK(other(pair.fitted[0]));
  }
  {
    Data spoilt;
    spoilt.X[4] = std::nan("");
    Pair pair(spoilt);
    pair.run(gcv);
    CHECK(says(pair.fitted[0], MERCER_INVALID_ARGUMENT, "X: row 1, column 1"));
    CHECK(other(pair.fitted[1]));
  }
  {
    Pair pair(data);
    pair.processes[0].sum_answer = pair.processes[1].sum_answer = 7;
    pair.run(gcv);
    for (const Fitted& fitted : pair.fitted)
      CHECK(says(fitted, MERCER_IO, "source->sum returned 7, expected 0"));
    CHECK(pair.processes[0].asked == std::vector<int64_t>{1});
  }
  {
    Pair pair(data);
    pair.run(gcv, spec_by("gcv", R"(,"seed":1)"));
    for (const Fitted& fitted : pair.fitted)
      CHECK(says(fitted, MERCER_INVALID_ARGUMENT, "differ between the 2 processes"));
  }
  {
    Pair pair(data);
    pair.run(gcv, spec_by("gcv", R"(,"center":2)"));
    CHECK(says(pair.fitted[1], MERCER_INVALID_ARGUMENT, "center = 2"));
    CHECK(other(pair.fitted[0]));
  }
}

TEST_CASE("what would need a column in one process is refused where rows are shared") {
  const Data data;
  const auto refused = [&](const std::string& key, const std::string& word, const char* part) {
    Pair pair(data);
    pair.run(spec_by("gcv", R"(,"prepare":{")" + key + "\":\"" + word + "\"}"));
    for (const Fitted& fitted : pair.fitted)
      if (fitted.status != MERCER_UNSUPPORTED || fitted.says.find(part) == std::string::npos)
        return fitted.says + "?";
    return std::string();
  };
  CHECK(refused("missing", "fill", "missing = fill") == "");
  CHECK(refused("scale", "robust", "scale = robust") == "");
  CHECK(refused("scale", "center", "scale = center") == "");
  CHECK(refused("transform", "log", "transform") == "");
  CHECK(refused("target_transform", "rank", "transform") == "");
}

}  // namespace shared_source_test
