// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/test_spec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "base/csr_rows.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/size.h"
#include "base/views.h"
#include "bound/bound.h"
#include "feature/map_entry.h"
#include "feature/projected_map.h"
#include "random/stream.h"
#include "spec/json.h"
#include "spec/rows_sums.h"
#include "spec/spec.h"
#include "statistic/independence.h"
#include "statistic/two_sample.h"

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

KernelCandidate kernel_at(const char* name, double lengthscale,
                          const std::vector<double>& columns) {
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

TestRequest parse_test(std::string_view json) {
  const Parameters given = open_envelope(parse_object(json), "").body;
  const TestEntry& entry = named_entry(given, test_name_field(), test_table(), "");
  return {&entry, check_fields(given, test_fields(entry), "")};
}

void require_summed(const TestRequest& test) {
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
  TestRequest test = parse_test(json);
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

std::vector<KernelCandidate> kernels_at(const statistic::Scales& scales,
                                        std::span<const double> factors, bool gaussian_only) {
  require(factors.size() <= kMostBandwidths, MERCER_INVALID_ARGUMENT,
          "bandwidths has %zu numbers, expected at most %zu", factors.size(), kMostBandwidths);
  std::vector<KernelCandidate> out;
  for (const double factor : factors)
    out.push_back(kernel_at("gaussian", factor * scales.euclidean, scales.columns));
  if (gaussian_only) return out;
  for (const double factor : factors)
    out.push_back(kernel_at("laplacian", factor * scales.absolute, scales.columns));
  return out;
}

std::vector<KernelCandidate> given_kernels(const Parameters& asked, const char* key) {
  std::vector<KernelCandidate> out;
  for (const auto& kernel : asked.objects(key)) out.push_back({kernel, kernel});
  return out;
}

statistic::Scales asked_scales(const Parameters& asked, std::span<const Rows> samples,
                               Context& context) {
  return statistic::pooled_scales(samples, asked.text("scale") == "columns", asked.seed("seed"),
                                  context);
}

std::unique_ptr<feature::FeatureMap> test_map(const KernelCandidate& tried, int64_t inputs,
                                              int64_t features, uint64_t seed) {
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

// "hsic": whether row i of X and row i of Y, or its label, depend on each other.

namespace {

constexpr int64_t kFeatures = 64;  // unless asked for: a permutation costs their square
constexpr int64_t kMostLabels = 4096;

/// Rows with a one in the column of their label, one of the numbers in Y.
CsrRows one_hot(const Rows& Y, Context& context) {
  require(Y.cols() == 1, MERCER_DIMENSION_MISMATCH, "Y.d = %ld, expected 1 column of labels",
          Y.cols());
  std::vector<double> labels(Y.rows());
  Y.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i)
      for_each_stored(rows, i, [&](int64_t, auto value) { labels[i] += value; });
  });
  std::map<double, int64_t> columns;
  for (const double label : labels) columns.emplace(label, std::ssize(columns));
  require(std::ssize(columns) <= kMostLabels, MERCER_INVALID_ARGUMENT,
          "Y has %zu different labels, expected at most %ld", columns.size(), kMostLabels);
  CsrRows rows(Y.rows(), std::ssize(columns), Y.rows(), context, "labels");
  for (const double label : labels) rows.add([&](const auto& put) { put(columns.at(label), 1.0); });
  return rows;
}

/// Whether labels are equal: x'y of such rows.
KernelCandidate same_label() {
  const Parameters given{
      {"kernel", std::string("polynomial")}, {"degree", int64_t{1}}, {"offset", 0.0}};
  const auto kernel = std::make_shared<const Parameters>(kernel::canonical_kernel(given, ""));
  return {kernel, kernel, kMonomials};
}

struct Side {
  const Rows& rows;
  std::vector<KernelCandidate> kernels;
  const KernelCandidate& kernel(size_t k) const { return kernels[kernels.size() == 1 ? 0 : k]; }
};

/// Pairs of kernels, in order; one kernel goes with all of the other side.
size_t pairs_of(const Side& x, const Side& y) {
  const size_t p = x.kernels.size(), q = y.kernels.size();
  require(p == q || p == 1 || q == 1, MERCER_INVALID_ARGUMENT,
          "%zu kernels of X and %zu of Y, expected as many, or one on a side", p, q);
  return std::max(p, q);
}

std::vector<statistic::Independence> found_of(const Side& x, const Side& y, const Parameters& asked,
                                              Context& context) {
  const size_t pairs = pairs_of(x, y);
  const int64_t D = asked.integer("features");
  std::vector<statistic::Independence> found;
  Stage stage(context, static_cast<int64_t>(pairs));
  for (size_t k = 0; k < pairs; ++k) {
    const auto left = test_map(x.kernel(k), x.rows.cols(), D, test_map_seed(asked, 2 * k));
    const auto right = test_map(y.kernel(k), y.rows.cols(), D, test_map_seed(asked, 2 * k + 1));
    found.push_back(stage.part(1, [&] {
      return statistic::independence({*left, x.rows}, {*right, y.rows},
                                     asked.integer("permutations"), asked.seed("seed"), context);
    }));
  }
  return found;
}

void set_statistic(Parameters& to, const statistic::Independence& found) {
  bound::set_answer(to, "hsic", found.hsic);
  bound::set_answer(to, "effect", found.effect);
}

Parameters answer_of(const Side& x, const Side& y, Parameters asked, Context& context) {
  const auto found = found_of(x, y, asked, context);
  const bool permuted = asked.integer("permutations") > 0;
  std::vector<statistic::PermutationValues> values;
  std::vector<double> limits;
  ObjectList each;
  for (size_t k = 0; k < found.size(); ++k) {
    Parameters one{{"x_kernel", x.kernel(k).kernel}, {"y_kernel", y.kernel(k).kernel}};
    set_statistic(one, found[k]);
    one.set("p_limit", number_or_null(found[k].p_limit));
    if (permuted) one.set("p_value", statistic::p_value(found[k].permuted));
    each.push_back(std::make_shared<const Parameters>(std::move(one)));
    values.push_back(found[k].permuted);
    limits.push_back(found[k].p_limit);
  }
  asked.set("p_value", number_or_null(permuted ? statistic::p_value_of_largest(values)
                                               : statistic::combined_p_value(limits)));
  set_statistic(asked, found[std::ranges::min_element(limits) - limits.begin()]);
  asked.set("by_kernel", std::move(each));
  return asked;
}

/// The kernels under this key; with none, Gaussian ones at the bandwidths.
std::vector<KernelCandidate> kernels_of(const Parameters& asked, const char* key, const Rows& rows,
                                        Context& context) {
  if (asked.find(key) != nullptr) return given_kernels(asked, key);
  return kernels_at(asked_scales(asked, std::array{rows}, context), asked.numbers("bandwidths"),
                    true);
}

Parameters answer_hsic(Parameters asked, const Rows& X, const Rows& Y, Context& context) {
  if (asked.find("features") == nullptr) asked.set("features", kFeatures);
  const Side x{X, kernels_of(asked, "kernels", X, context)};
  if (!asked.boolean("labels")) {
    const Side y{Y, kernels_of(asked, "y_kernels", Y, context)};
    return answer_of(x, y, std::move(asked), context);
  }
  require(asked.find("y_kernels") == nullptr, MERCER_INVALID_ARGUMENT,
          "both \"labels\" and \"y_kernels\", expected one of the two");
  const CsrRows labels = one_hot(Y, context);
  const Rows rows = labels.view();
  return answer_of(x, {rows, {same_label()}}, std::move(asked), context);
}

}  // namespace

TestEntry hsic_entry() {
  return {"hsic",
          "whether row i of X and row i of Y depend on each other: the largest of several "
          "Hilbert-Schmidt independence criteria, each standardised by permutations of Y",
          {kernels_field("kernels"),
           kernels_field("y_kernels"),
           {.key = "labels",
            .type = FieldType::boolean,
            .fallback = false,
            .help = "Y has one column, of labels: the kernel is 1 where they are equal"},
           {.key = "bandwidths",
            .type = FieldType::numbers,
            .fallback = std::vector<double>{0.5, 1, 2},
            .least = 0,
            .least_open = true,
            .help = "at most 32: lengthscales of gaussian in median distances, for both sides"},
           scale_field(),
           features_field("D of either side; absent: 64. A permutation costs 2 n D^2 operations"),
           permutations_field(200),
           test_seed_field()},
          true,
          answer_hsic};
}

// "mmd", "block_mmd" and "kid": whether two samples have one distribution.

namespace {

using statistic::Grouping;
using statistic::TwoSample;

constexpr double kMostFeatures = 1024;  // unless asked for
constexpr int64_t kDegree = 3;          // of the kernel of "kid"
constexpr double kMostRowsOfBlock = 1 << 30;

/// The level holds with any number; the noise of features falls with it, that of rows with n.
int64_t features_for(int64_t rows) {
  const double wanted = std::clamp(8 * std::sqrt(static_cast<double>(rows)), 128.0, kMostFeatures);
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted)));
}

struct KernelResults {
  std::vector<TwoSample> each;
  std::vector<statistic::PermutationValues> permuted;
  size_t best = 0;  // that of the most deviations

  bool is_permuted() const { return permuted.front().values.size() > 1; }
  /// NaN without permutations for a few rows.
  double p_value() const {
    if (is_permuted()) return statistic::p_value_of_largest(permuted);
    std::vector<double> limits;
    for (const TwoSample& one : each) limits.push_back(one.p_limit);
    return statistic::combined_p_value(limits);
  }
};

/// Every kernel with the same groups and relabellings.
KernelResults compare(const Parameters& asked, const RowsSums& sums, Context& context) {
  const Matrix<double> relabelled =
      statistic::relabellings(sums.groups()[0], sums.groups()[1], asked.integer("permutations"),
                              asked.seed("seed"), context);
  KernelResults out;
  const size_t kernels = sums.kernels().size();
  Stage stage(context, static_cast<int64_t>(kernels));
  for (size_t k = 0; k < kernels; ++k) {
    out.each.push_back(stage.part(1, [&] {
      return statistic::compare_samples(sums.of(0, k), sums.of(1, k), relabelled.view(), context);
    }));
    out.permuted.push_back(std::move(out.each.back().permuted));
    if (out.each[k].deviations > out.each[out.best].deviations) out.best = k;
  }
  return out;
}

/// The statistic under its name, with its error and effect.
void set_statistic(Parameters& to, const char* name, const TwoSample& found) {
  bound::set_answer(to, name, found.mmd2);
  to.set("standard_error", number_or_null(found.standard_error));
  bound::set_answer(to, "effect", found.effect);
}

ObjectList by_kernel(const std::vector<KernelCandidate>& kernels, const KernelResults& found) {
  ObjectList out;
  for (size_t k = 0; k < kernels.size(); ++k) {
    Parameters one{{"kernel", kernels[k].kernel}};
    set_statistic(one, "mmd2", found.each[k]);
    one.set("deviations", found.each[k].deviations);
    one.set("p_limit", number_or_null(found.each[k].p_limit));
    if (found.is_permuted()) one.set("p_value", statistic::p_value(found.permuted[k]));
    out.push_back(std::make_shared<const Parameters>(std::move(one)));
  }
  return out;
}

void fill_features(Parameters& asked, int64_t features) {
  if (asked.find("features") == nullptr) asked.set("features", features);
}

int64_t total(const SampleSizes& sizes) {
  return checked_add(sizes.rows[0], sizes.rows[1], "rows");
}

std::array<Grouping, 2> exchangeable(const SampleSizes& sizes) {
  const auto [x, y] = statistic::exchangeable_groups(sizes.rows[0], sizes.rows[1]);
  return {x, y};
}

SumsPlan plan_mmd(Parameters& asked, const SampleSizes& sizes, const statistic::Scales& scales) {
  fill_features(asked, features_for(total(sizes)));
  return {needs_scales(asked) ? kernels_at(scales, asked.numbers("bandwidths"), false)
                              : given_kernels(asked, "kernels"),
          exchangeable(sizes)};
}

Parameters answer_mmd(Parameters asked, const RowsSums& sums, Context& context) {
  const KernelResults found = compare(asked, sums, context);
  asked.set("p_value", number_or_null(found.p_value()));
  set_statistic(asked, "mmd2", found.each[found.best]);
  asked.set("kernel", sums.kernels()[found.best].kernel);
  asked.set("by_kernel", by_kernel(sums.kernels(), found));
  return asked;
}

/// The root of the rows, but two blocks where that is possible.
void fill_block(Parameters& asked, int64_t fewer) {
  const int64_t root = std::llround(std::sqrt(static_cast<double>(fewer)));
  if (asked.find("block") == nullptr)
    asked.set("block", std::clamp<int64_t>(root, 2, std::max<int64_t>(fewer / 2, 2)));
}

/// The kernel asked for; with none, gaussian at the median distance.
KernelCandidate block_kernel(const Parameters& asked, const statistic::Scales& scales) {
  if (needs_scales(asked)) return kernels_at(scales, std::array{1.0}, true).front();
  const auto kernel = std::get<std::shared_ptr<const Parameters>>(*asked.find("kernel"));
  return {kernel, kernel};
}

SumsPlan plan_block_mmd(Parameters& asked, const SampleSizes& sizes,
                        const statistic::Scales& scales) {
  const int64_t fewer = std::ranges::min(sizes.rows);
  fill_features(asked, features_for(total(sizes)));
  fill_block(asked, fewer);
  const Grouping blocks{asked.integer("block"), fewer / asked.integer("block")};
  require(blocks.count >= 1, MERCER_INVALID_ARGUMENT,
          "block = %ld, expected at most %ld, the rows of the smaller sample", blocks.size, fewer);
  return {{block_kernel(asked, scales)}, {blocks, blocks}};
}

Parameters answer_block_mmd(Parameters asked, const RowsSums& sums, Context& context) {
  const statistic::BlockMean found =
      statistic::compare_blocks(sums.of(0, 0), sums.of(1, 0), context);
  asked.set("kernel", sums.kernels().front().kernel);
  asked.set("p_value", number_or_null(found.p_value));
  bound::set_answer(asked, "mmd2", found.mmd2);
  asked.set("standard_error", number_or_null(found.standard_error));
  return asked;
}

/// All monomials where there are not more than features.
bool is_exact(const Parameters& asked, int64_t inputs) {
  const auto d = static_cast<double>(inputs);
  return (d + 1) * (d + 2) * (d + 3) / 6 <= static_cast<double>(asked.integer("features"));
}

/// (x'y / d + 1)^3.
SumsPlan plan_kid(Parameters& asked, const SampleSizes& sizes, const statistic::Scales&) {
  const Parameters given{{"kernel", std::string("polynomial")},
                         {"degree", kDegree},
                         {"gamma", 1 / static_cast<double>(sizes.inputs)},
                         {"offset", 1.0}};
  const auto kernel = std::make_shared<const Parameters>(kernel::canonical_kernel(given, ""));
  fill_features(asked, 4096);
  KernelCandidate tried{kernel, kernel};
  if (is_exact(asked, sizes.inputs)) tried.map = kMonomials;
  return {{tried}, exchangeable(sizes)};
}

Parameters answer_kid(Parameters asked, const RowsSums& sums, Context& context) {
  const KernelResults found = compare(asked, sums, context);
  asked.set("exact", is_exact(asked, sums.sizes().inputs));
  set_statistic(asked, "kid", found.each.front());
  asked.set("p_value", number_or_null(found.p_value()));
  return asked;
}

constexpr SumsTest kMmd{plan_mmd, answer_mmd}, kBlockMmd{plan_block_mmd, answer_block_mmd},
    kKid{plan_kid, answer_kid};

}  // namespace

TestEntry mmd_entry() {
  return {"mmd",
          "whether two samples have one distribution: the largest of several squared maximum mean "
          "discrepancies, each standardised by permutations, which give its exact level",
          {kernels_field("kernels"),
           {.key = "bandwidths",
            .type = FieldType::numbers,
            .fallback = std::vector<double>{0.25, 0.5, 1, 2, 4},
            .least = 0,
            .least_open = true,
            .help = "at most 32: lengthscales of gaussian and laplacian, in median distances"},
           scale_field(),
           features_field("D; absent: 8 sqrt(m + n) as a power of two from 128 to 1024"),
           permutations_field(500),
           integer_field(
               "witnesses", int64_t{0}, 0, 1e6,
               "so many rows of each sample are told: of its dense places that the other lacks. "
               "A few rows far from all weigh 1/n each and may not be among them"),
           test_seed_field()},
          false,
          nullptr,
          &kMmd};
}

TestEntry block_mmd_entry() {
  return {"block_mmd",
          "the same from the mean over blocks of rows, with a normal p-value and no permutation",
          {{.key = "kernel",
            .type = FieldType::kernel,
            .fallback = kOptional,
            .help = "absent: gaussian at the median distance",
            .canonical = kernel::canonical_kernel},
           scale_field(),
           features_field("D; absent: 8 sqrt(m + n) as a power of two from 128 to 1024"),
           integer_field("block", kOptional, 2, kMostRowsOfBlock,
                         "rows of a block; absent: the root of the smaller sample"),
           test_seed_field()},
          false,
          nullptr,
          &kBlockMmd};
}

TestEntry kid_entry() {
  return {"kid",
          "the kernel inception distance of two samples of image features: the squared discrepancy "
          "for (x'y/d + 1)^3",
          {features_field("D; all monomials if there are not more; absent: 4096"),
           permutations_field(500), test_seed_field()},
          false,
          nullptr,
          &kKid};
}

}  // namespace mercer::spec
