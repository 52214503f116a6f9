// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps whose columns are said to estimate the kernel alone: the mean of the product of two of each,
// by every projection, is the kernel's square. Others are refused.
#include "base/fields.h"
#include "base/parameters.h"
#include "feature/map_entry.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/refusal.h"

namespace product_means_test {
using namespace mercer;
using namespace mercer::test;

constexpr int64_t kInputs = 4;

using Spec = std::shared_ptr<const Parameters>;

Parameters product_of(const Parameters& kernel, const Parameters& map, int64_t D, uint64_t seed) {
  const Spec k = std::make_shared<const Parameters>(kernel),
             part = std::make_shared<const Parameters>(map);
  const Parameters product{{"kernel", std::string("product")}, {"parts", ObjectList{k, k}}};
  const Parameters given{{"map", std::string("product")},
                         {"kernel", std::make_shared<const Parameters>(product)},
                         {"inputs", kInputs},
                         {"features", D},
                         {"seed", seed},
                         {"parts", ObjectList{part, part}}};
  return feature::canonical_map(given, "", feature::Data::refused);
}

// Of one row each.
double estimate(const FeatureMap& map, const Matrix<double>& x, const Matrix<double>& y) {
  const Matrix<double> a = features_of(map, x), b = features_of(map, y);
  double sum = 0;  // of a complex map the real part
  for (int64_t j = 0; j < map.row_length(); ++j) sum += a(0, j) * b(0, j);
  return sum;
}

// How many standard errors the mean of many products is off.
double deviation(const Parameters& kernel, const Parameters& part, int64_t D) {
  constexpr int64_t kSeeds = 150;
  const Matrix<double> x = filled(1, kInputs, [](int64_t, int64_t k) { return 0.5 - 0.1 * k; }),
                       y = filled(1, kInputs, [](int64_t, int64_t k) { return 0.3 + 0.1 * k; });
  double mean = 0, squares = 0, value = 0;
  for (int64_t s = 0; s < kSeeds; ++s) {
    const auto map = feature::make_map(product_of(kernel, part, D, static_cast<uint64_t>(s)));
    value = map->kernel().value(kInputs, x.view().row(0), y.view().row(0));
    const double one = estimate(*map, x, y) - value;
    mean += one / kSeeds;
    squares += one * one / kSeeds;
  }
  const double error = std::sqrt((squares - mean * mean) / (kSeeds - 1));
  return std::fabs(mean) / (error + 1e-12 * value);
}

bool is_joint(const Parameters& kernel, const Parameters& part, int64_t D) {
  Parameters given = part;
  given.set("kernel", std::make_shared<const Parameters>(kernel));
  given.set("inputs", kInputs);
  given.set("features", D);
  const auto map = feature::make_map(feature::canonical_map(given, "", feature::Data::refused));
  return map->column_form() == feature::ColumnForm::joint;
}

std::vector<Parameters> choices_of(const feature::MapEntry& entry) {
  std::vector<Parameters> choices;
  for (const Field& field : entry.fields) {
    if (std::string(field.key) != "projection") continue;
    for (const auto& choice : field.choices) {
      if (std::string(choice) == "supplied") continue;
#ifndef MERCER_WITH_FFTW
      if (std::string(choice) == "circulant") continue;
#endif
      choices.push_back({{"map", std::string(entry.name)}, {"projection", std::string(choice)}});
      if (std::string(choice) == "grid") choices.back().set("diameter", 1.0);
    }
  }
  if (choices.empty()) choices.push_back({{"map", std::string(entry.name)}});
  return choices;
}

TEST_CASE("products are unbiased for every map and projection whose columns are estimates alone") {
  // By Student's law of 149 degrees 5.5 is exceeded with probability 2e-7, by one of 60 with 1e-5.
  constexpr int64_t D = 32;
  int64_t tested = 0, refused = 0;
  for (const feature::MapEntry& entry : feature::map_table()) {
    if (entry.sizes != nullptr || entry.needs_rows || entry.only_features != nullptr) continue;
    Parameters kernel = entry.default_kernel;
    for (const Parameters& part : choices_of(entry)) {
      INFO(print_object(part));
      if (is_joint(kernel, part, D)) {
        ++refused;
        CHECK_REFUSED(MERCER_UNSUPPORTED, feature::make_map(product_of(kernel, part, D, 1)),
                      "no column of this map");
        continue;
      }
      ++tested;
      CHECK(deviation(kernel, part, D) < 5.5);
    }
  }
  CHECK(tested >= 40);
  CHECK(refused >= 4);  // quadrature, of every map that heeds weights
}

TEST_CASE("products of OSNAP: as many columns in every block, or refused") {
  const Parameters kernel{{"kernel", std::string("polynomial")}, {"degree", int64_t{1}}},
      part{{"map", std::string("linear")},
           {"projection", std::string("osnap")},
           {"nonzeros", int64_t{4}}};
  CHECK_FALSE(is_joint(kernel, part, 8));
  CHECK(deviation(kernel, part, 8) < 5.5);
  CHECK(is_joint(kernel, part, 7));
  CHECK_REFUSED(MERCER_UNSUPPORTED, feature::make_map(product_of(kernel, part, 7, 1)),
                "parts[0]: no column of this map linear");
}

}  // namespace product_means_test
