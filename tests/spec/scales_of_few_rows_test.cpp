// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Real data of few rows: a lengthscale for each input, asked for, is never worse than one for all
// by more than its error. Skipped where the data is not there.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "model/predict.h"
#include "spec/spec.h"
#include "statistic/metrics.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/fit.h"

namespace scales_of_few_rows_test {
using namespace mercer;

constexpr int64_t kTested = 1000;

/// Lines of numbers below a header; the last column is the target.
std::vector<std::vector<double>> read(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<double>> rows;
  std::string line, field;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    rows.emplace_back();
    while (std::getline(fields, field, ',')) rows.back().push_back(std::stod(field));
  }
  return rows;
}

/// Rows in random order.
std::vector<int64_t> shuffled(int64_t n, uint64_t seed) {
  std::mt19937_64 words(seed);
  std::vector<int64_t> order(n);
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t i = n - 1; i > 0; --i)
    std::swap(order[i], order[words() % static_cast<uint64_t>(i + 1)]);
  return order;
}

struct Part {
  Matrix<double> X, Y;
};
Part part_of(const std::vector<std::vector<double>>& rows, std::span<const int64_t> some) {
  const int64_t d = std::ssize(rows[0]) - 1;
  Part part{Matrix<double>(std::ssize(some), d), Matrix<double>(std::ssize(some), 1)};
  for (int64_t i = 0; i < part.X.rows(); ++i) {
    const std::vector<double>& row = rows[static_cast<size_t>(some[static_cast<size_t>(i)])];
    std::copy_n(row.data(), d, part.X.view().row(i));
    part.Y(i, 0) = row.back();
  }
  return part;
}

double tested(const std::string& keys, const Part& train, const Part& test) {
  Context context;
  const std::string json = R"({"assess":false,"map":{"features":256},)" + keys + "}";
  const model::Model model =
      test::fit(spec::fit_plan(json), nullptr, Rows(train.X.view()), train.Y.view(), {}, context);
  Matrix<double> scores(test.X.rows(), 1);
  model::predict(model, Rows(test.X.view()), context, scores.view());
  return statistic::r_squared(test.Y.view(), scores.view());
}

struct Difference {
  double mean = 0, error = 0;
};
Difference summed(const std::vector<double>& each) {
  const auto n = static_cast<double>(each.size());
  Difference found;
  for (const double one : each) found.mean += one / n;
  for (const double one : each) found.error += (one - found.mean) * (one - found.mean);
  found.error = std::sqrt(found.error / (n * (n - 1)));
  return found;
}

TEST_CASE("a lengthscale for each input is never below one for all by more than its error",
          "[data]") {
  const char* const folder = std::getenv("MERCER_DATA_DIR");
  const std::string data = folder == nullptr ? "" : folder;
  if (!std::ifstream(data + "/energy/energy.csv")) {
    std::printf("skipped: \"%s\" has no data sets (set MERCER_DATA_DIR)\n", data.c_str());
    return;
  }
  constexpr const char* kSets[] = {"energy", "yacht", "concrete", "airfoil", "abalone", "kin8nm"};
  constexpr const char* kModels[] = {R"("model":"ridge")", R"("model":"gp")",
                                     R"("model":"gp","select":{"by":"evidence"})"};
  constexpr int64_t kRows[] = {40, 80, 160};
  for (const char* const set : kSets) {
    const auto rows = read(data + "/" + set + "/" + set + ".csv");
    for (const char* const keys : kModels) {
      std::vector<double> gains;
      for (uint64_t seed = 0; seed < 30; ++seed) {
        const std::vector<int64_t> order = shuffled(std::ssize(rows), seed);
        const int64_t n = kRows[seed % std::size(kRows)];
        const Part train = part_of(rows, std::span(order).first(n));
        const Part test =
            part_of(rows, std::span(order).subspan(n, std::min(kTested, std::ssize(order) - n)));
        const double one = tested(keys + std::string(R"(,"ard":"off")"), train, test);
        gains.push_back(tested(keys + std::string(R"(,"ard":"on")"), train, test) - one);
      }
      const Difference gain = summed(gains);
      std::printf("%s %s: %.4f +- %.4f\n", set, keys, gain.mean, gain.error);
      INFO(set << " " << keys << " " << gain.mean << " +- " << gain.error);
      CHECK(gain.mean >= -2 * gain.error);
    }
  }
}

}  // namespace scales_of_few_rows_test
