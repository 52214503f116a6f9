// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/test_spec.h"

#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/views.h"
#include "feature/map_entry.h"
#include "feature/projected_map.h"
#include "random/stream.h"
#include "spec/json.h"
#include "spec/rows_sums.h"
#include "spec/specs.h"

namespace mercer::spec {
namespace {

constexpr size_t kMostBandwidths = 32;  // two kernels each

Field test_name_field() { return name_field("test", test_table(), "which test"); }

void check_samples(const TestEntry& entry, const Rows& X, const Rows& Y) {
  for (const auto& [name, rows] : {std::pair{"X", &X}, {"Y", &Y}}) {
    require(rows->rows() >= 1, MERCER_INVALID_ARGUMENT, "%s.n = %ld, expected at least 1", name,
            rows->rows());
    require(rows->cols() >= 1, MERCER_INVALID_ARGUMENT, "%s.d = %ld, expected at least 1", name,
            rows->cols());
    require_summable(name, *rows);
  }
  if (entry.pairs)
    require(X.rows() == Y.rows(), MERCER_DIMENSION_MISMATCH, "Y.n = %ld, expected %ld as in X",
            Y.rows(), X.rows());
  else
    require(X.cols() == Y.cols(), MERCER_DIMENSION_MISMATCH, "Y.d = %ld, expected %ld as in X",
            Y.cols(), X.cols());
}

std::shared_ptr<const Parameters> kernel_of(const char* name, Value lengthscale) {
  const Parameters given{{"kernel", std::string(name)}, {"lengthscale", std::move(lengthscale)}};
  return std::make_shared<const Parameters>(kernel::canonical_kernel(given, ""));
}

Tried kernel_at(const char* name, double lengthscale, const std::vector<double>& columns) {
  std::vector<double> each = columns;
  for (double& scale : each) scale *= lengthscale;
  return {kernel_of(name, lengthscale), kernel_of(name, std::move(each))};
}

}  // namespace

std::span<const TestEntry> test_table() {
  static const TestEntry kTable[] = {mmd_entry(), block_mmd_entry(), kid_entry(), hsic_entry()};
  return kTable;
}

std::vector<Field> test_fields(const TestEntry& entry) {
  std::vector<Field> fields = {test_name_field()};
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  return fields;
}

AskedTest asked_test(std::string_view json) {
  const Parameters given = open_envelope(parse_object(json), "").body;
  const TestEntry& entry = named_entry(given, test_name_field(), test_table(), "");
  return {&entry, check_fields(given, test_fields(entry), "")};
}

void require_summed(const AskedTest& test) {
  require(test.entry->summed != nullptr, MERCER_UNSUPPORTED,
          "test %s needs its rows in memory, expected one that sums over rows answer",
          test.entry->name);
}

int64_t rows_asked(const Parameters& asked) {
  return asked.find("witnesses") == nullptr ? 0 : asked.integer("witnesses");
}

bool needs_scales(const Parameters& asked) {
  return asked.find("scale") != nullptr && asked.find("kernels") == nullptr &&
         asked.find("kernel") == nullptr;
}

std::string answer_test(std::string_view json, const Rows& X, const Rows& Y, Context& context) {
  AskedTest test = asked_test(json);
  check_samples(*test.entry, X, Y);
  Parameters found = test.entry->answer != nullptr
                         ? test.entry->answer(std::move(test.asked), X, Y, context)
                         : answer_by_sums(std::move(test), X, Y, context);
  return print_versioned(found);
}

Field kernels_field(const char* key) {
  return {.key = key,
          .type = FieldType::kernels,
          .fallback = kOptional,
          .least = 1,
          .most = 64,
          .help = "kernels as they are; absent: those of the bandwidths",
          .canonical = kernel::canonical_kernel};
}

Field scale_field() {
  return choice_field(
      "scale", "columns", {"columns", "none"},
      "whether lengthscales count standard deviations of columns; not of `kernels`");
}

Field features_field(const char* help) { return count_field("features", kOptional, 1 << 20, help); }

Field permutations_field(int64_t fallback) {
  return integer_field("permutations", fallback, 0, 100000,
                       "behind the p-value; 0: it is that of the gamma limit");
}

Field test_seed_field() {
  return {.key = "seed",
          .type = FieldType::seed,
          .fallback = uint64_t{0},
          .help = "of features, groups and permutations"};
}

Value number_or_null(double value) { return std::isfinite(value) ? Value(value) : Value(); }

std::vector<Tried> kernels_at(const statistic::Scales& scales, std::span<const double> factors,
                              bool gaussian_only) {
  require(factors.size() <= kMostBandwidths, MERCER_INVALID_ARGUMENT,
          "bandwidths has %zu numbers, expected at most %zu", factors.size(), kMostBandwidths);
  std::vector<Tried> out;
  for (const double factor : factors)
    out.push_back(kernel_at("gaussian", factor * scales.euclidean, scales.columns));
  if (gaussian_only) return out;
  for (const double factor : factors)
    out.push_back(kernel_at("laplacian", factor * scales.absolute, scales.columns));
  return out;
}

std::vector<Tried> given_kernels(const Parameters& asked, const char* key) {
  std::vector<Tried> out;
  for (const auto& kernel : asked.objects(key)) out.push_back({kernel, kernel});
  return out;
}

statistic::Scales asked_scales(const Parameters& asked, std::span<const Rows> samples,
                               Context& context) {
  return statistic::pooled_scales(samples, asked.text("scale") == "columns", asked.seed("seed"),
                                  context);
}

std::unique_ptr<feature::FeatureMap> test_map(const Tried& tried, int64_t inputs, int64_t features,
                                              uint64_t seed) {
  const char* const map = tried.map != nullptr ? tried.map : kernel::default_map(*tried.used, "");
  Parameters asked{{"map", std::string(map)},
                   {"kernel", tried.used},
                   {"inputs", inputs},
                   {"features", features},
                   {"seed", seed}};
  if (feature::map_entry(asked).chooses_projection)
    asked.set("projection",
              std::string(feature::projection_for(*kernel::make_kernel(*tried.used), inputs)));
  Parameters canonical = feature::canonical_map(asked, "", feature::Data::refused);
  const feature::MapSizes sizes = feature::map_sizes(canonical, 1);
  if (sizes.step > 0 && features > sizes.least)
    canonical.set("features", sizes.least + (features - sizes.least) / sizes.step * sizes.step);
  else
    canonical.set("features", sizes.least);
  auto made = feature::make_map(canonical);
  made->require_one_output();
  require(!made->is_complex(), MERCER_UNSUPPORTED,
          "map %s of kernel %s has complex features, expected a kernel of real ones", map,
          tried.used->text("kernel").c_str());
  return made;
}

uint64_t test_map_seed(const Parameters& asked, size_t kernel) {
  return random::child_seed(asked.seed("seed"), 0, kernel);
}

}  // namespace mercer::spec
