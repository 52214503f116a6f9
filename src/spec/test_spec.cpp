// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/test_spec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/parameters.h"
#include "base/size.h"
#include "base/views.h"
#include "bound/bound.h"
#include "feature/map_entry.h"
#include "feature/projected_map.h"
#include "random/stream.h"
#include "spec/json.h"
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

/// The map of a polynomial kernel without error, of as many features as it takes.
constexpr const char* kMonomials = "exact_polynomial";

static Field kernels_field(const char* key) {
  return {.key = key,
          .type = FieldType::kernels,
          .fallback = kOptional,
          .least = 1,
          .most = 64,
          .help = "kernels as they are; absent: those of the bandwidths",
          .canonical = kernel::canonical_kernel};
}

static Field scale_field() {
  return choice_field(
      "scale", "columns", {"columns", "none"},
      "whether lengthscales count standard deviations of columns; not of `kernels`");
}

static Field features_field(const char* help) {
  return count_field("features", kOptional, 1 << 20, help);
}

static Field permutations_field(int64_t fallback) {
  return integer_field("permutations", fallback, 0, 100000,
                       "behind the p-value; 0: it is that of the gamma limit");
}

static Field test_seed_field() {
  return {.key = "seed",
          .type = FieldType::seed,
          .fallback = uint64_t{0},
          .help = "of features, groups and permutations"};
}

/// A number, or null where it is not finite.
static Value number_or_null(double value) { return std::isfinite(value) ? Value(value) : Value(); }

/// Gaussian at the median distance times each of `factors`, and then, unless `gaussian_only`,
/// Laplacian.
static std::vector<KernelCandidate> kernels_at(const statistic::Scales& scales,
                                               std::span<const double> factors,
                                               bool gaussian_only) {
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

/// The kernels under this key.
static std::vector<KernelCandidate> given_kernels(const Parameters& asked, const char* key) {
  std::vector<KernelCandidate> out;
  for (const auto& kernel : asked.objects(key)) out.push_back({kernel, kernel});
  return out;
}

/// Scales of the rows as `asked` wants them.
static statistic::Scales asked_scales(const Parameters& asked, std::span<const Rows> samples,
                                      Context& context) {
  return statistic::pooled_scales(samples, asked.text("scale") == "columns", asked.seed("seed"),
                                  context);
}

/// The default map of a kernel, real, with about so many features.
static std::unique_ptr<feature::FeatureMap> test_map(const KernelCandidate& tried, int64_t inputs,
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

/// Seeds of the maps of different kernels, and of what else is drawn.
static uint64_t test_map_seed(const Parameters& asked, size_t kernel) {
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

/// All monomials, d + p over p, where there are not more than features.
bool is_exact(const Parameters& asked, int64_t inputs) {
  double monomials = 1;
  for (int64_t k = 1; k <= asked.integer("degree"); ++k)
    monomials *= static_cast<double>(inputs + k) / static_cast<double>(k);
  return std::round(monomials) <= static_cast<double>(asked.integer("features"));
}

/// (x'y / d + 1)^p.
SumsPlan plan_kid(Parameters& asked, const SampleSizes& sizes, const statistic::Scales&) {
  const Parameters given{{"kernel", std::string("polynomial")},
                         {"degree", asked.integer("degree")},
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
          "for (x'y/d + 1)^degree",
          {count_field("degree", int64_t{3}, 30, "of the kernel"),
           features_field("D; all monomials if there are not more; absent: 4096"),
           permutations_field(500), test_seed_field()},
          false,
          nullptr,
          &kKid};
}

namespace {

constexpr int64_t kRowsBetweenChecks = int64_t{1} << 16;
constexpr int64_t kWorkOfAnswer = 1024;  // rows whose features take as long

std::vector<int64_t> whole_numbers(std::span<const double> counts) {
  std::vector<int64_t> out;
  for (const double count : counts) {
    require(count >= 0 && count <= 0x1p53 && count == std::floor(count), MERCER_INVALID_ARGUMENT,
            "a group has %g rows, expected a count", count);
    out.push_back(static_cast<int64_t>(count));
  }
  return out;
}

/// Rows that differ most by the kernel of the most deviations.
void set_witnesses(Parameters& found, const RowsSums& sums, std::span<const Rows> samples,
                   Context& context) {
  const int64_t count = rows_asked(found);
  if (count == 0) return;
  const ObjectList& kernels = found.objects("by_kernel");
  const auto best = std::ranges::max_element(
      kernels, {}, [](const auto& one) { return one->number("deviations"); });
  const auto k = static_cast<size_t>(best - kernels.begin());
  const std::vector<double> difference =
      statistic::mean_difference(sums.of(0, k), sums.of(1, k), context);
  Stage stage(context, 2);
  for (const int64_t s : {0, 1}) {
    const statistic::Witness rows = stage.part(1, [&] {
      return statistic::witnesses(sums.map(k), samples[s], difference, count, s == 0 ? 1 : -1,
                                  context);
    });
    found.set(s == 0 ? "x_rows" : "y_rows", rows.rows);
    found.set(s == 0 ? "x_witness" : "y_witness", rows.values);
  }
}

}  // namespace

RowsSums::RowsSums(TestRequest test, const SampleSizes& sizes, statistic::Scales scales)
    : test_(std::move(test)), sizes_(sizes), scales_(std::move(scales)) {
  require_summed(test_);
  plan_ = test_.entry->summed->plan(test_.asked, sizes_, scales_);
  test_.asked = check_fields(test_.asked, test_fields(*test_.entry), "");  // in the table's order
  for (size_t k = 0; k < plan_.kernels.size(); ++k)
    maps_.push_back(test_map(plan_.kernels[k], sizes_.inputs, test_.asked.integer("features"),
                             test_map_seed(test_.asked, k)));
}

void RowsSums::clear(Context& context) {
  samples_.clear();
  for (int64_t s = 0; s < 2; ++s) {
    std::vector<statistic::GroupSums> sums;
    for (const auto& map : maps_)
      sums.push_back(statistic::empty_sums(sizes_.rows[s], groups()[s], map->features(), context));
    samples_.push_back({std::move(sums), std::vector<int64_t>(groups()[s].count + 1), new_draw(s)});
  }
}

/// Groups of the samples are drawn by streams of their own.
statistic::GroupDraw RowsSums::new_draw(int64_t sample) const {
  return {sizes_.rows[sample], groups()[sample],
          random::Stream(asked().seed("seed"), random::Tag::split, static_cast<uint64_t>(sample))};
}

statistic::GroupDraw RowsSums::draw_from(int64_t sample, int64_t first, Context& context) const {
  const Sample& at = samples_[sample];
  const bool ahead = first >= at.next;
  statistic::GroupDraw draw = ahead ? at.draw : new_draw(sample);
  for (int64_t i = ahead ? at.next : 0; i < first; ++i) {
    draw.next();
    if (i % kRowsBetweenChecks == 0) context.checkpoint();
  }
  return draw;
}

int64_t RowsSums::room(int64_t sample, int64_t group) const {
  const statistic::Grouping& in = groups()[sample];
  return group < in.count ? in.size : sizes_.rows[sample] - in.size * in.count;
}

/// The counts, if no group has more rows than it can have.
std::vector<int64_t> RowsSums::checked(int64_t sample, std::vector<int64_t> counts) const {
  for (int64_t g = 0; g < std::ssize(counts); ++g)
    require(counts[g] >= 0 && counts[g] <= room(sample, g), MERCER_INVALID_ARGUMENT,
            "%s would have %ld rows in its group %ld, expected 0 to %ld: a row is there twice, or "
            "was never added",
            kSampleNames[sample], counts[g], g, room(sample, g));
  return counts;
}

void RowsSums::add(int64_t sample, int64_t first, const Rows& X, Context& context) {
  require_whole();
  const int64_t all = sizes_.rows[sample];
  require(first >= 0 && first <= all && X.rows() <= all - first, MERCER_INVALID_ARGUMENT,
          "first = %ld with %ld rows, expected numbers below %ld, the rows of %s", first, X.rows(),
          all, kSampleNames[sample]);
  require(X.cols() == sizes_.inputs, MERCER_DIMENSION_MISMATCH,
          "X.d = %ld, expected %ld as in the pilot", X.cols(), sizes_.inputs);
  require_summable("X", X);
  Sample& to = samples_[sample];
  const statistic::GroupDraw draw = draw_from(sample, first, context);
  statistic::GroupDraw ahead = draw;
  std::vector<int64_t> counts = to.counts;
  for (int64_t i = 0; i < X.rows(); ++i) ++counts[ahead.next()];
  to.counts = checked(sample, std::move(counts));
  whole_ = false;
  Stage stage(context, std::ssize(maps_));
  for (size_t k = 0; k < maps_.size(); ++k)
    stage.part(1, [&] { statistic::add_rows(*maps_[k], X, draw, to.sums[k], context); });
  to.draw = std::move(ahead);
  to.next = first + X.rows();
  whole_ = true;
}

void RowsSums::merge(int sign, const RowsSums& other) {
  require_whole();
  other.require_whole();
  require(print_test(*this) == print_test(other) && scales_ == other.scales_,
          MERCER_INVALID_ARGUMENT,
          "other has the test, sizes and scales %s, expected %s and the same scales",
          print_test(other).c_str(), print_test(*this).c_str());
  std::array<std::vector<int64_t>, 2> counts = {samples_[0].counts, samples_[1].counts};
  for (int64_t s = 0; s < 2; ++s) {
    for (size_t g = 0; g < counts[s].size(); ++g)
      counts[s][g] += sign * other.samples_[s].counts[g];
    counts[s] = checked(s, std::move(counts[s]));
  }
  for (int64_t s = 0; s < 2; ++s) {
    samples_[s].counts = std::move(counts[s]);
    for (size_t k = 0; k < maps_.size(); ++k) {
      const Matrix<double>&to = of(s, k).sums, &from = other.of(s, k).sums;
      for (int64_t g = 0; g < to.rows(); ++g)
        for (int64_t j = 0; j < to.cols(); ++j)  // of no rows nothing is left, not even rounding
          to(g, j) = samples_[s].counts[g] == 0 ? 0 : to(g, j) + sign * from(g, j);
    }
  }
}

Parameters RowsSums::answer(Context& context) const {
  require_whole();
  for (int64_t s = 0; s < 2; ++s)
    require(added(s) == sizes_.rows[s], MERCER_INVALID_ARGUMENT,
            "%ld rows of %s have been added, expected all %ld", added(s), kSampleNames[s],
            sizes_.rows[s]);
  return test_.entry->summed->answer(asked(), *this, context);
}

int64_t RowsSums::added(int64_t sample) const {
  const std::vector<int64_t>& counts = samples_[sample].counts;
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

std::vector<double> RowsSums::counts() const {
  std::vector<double> out;
  for (const Sample& one : samples_) out.insert(out.end(), one.counts.begin(), one.counts.end());
  return out;
}

std::vector<double> RowsSums::numbers() const {
  std::vector<double> out;
  for (const Sample& one : samples_)
    for (const statistic::GroupSums& of : one.sums)
      out.insert(out.end(), of.sums.data(), of.sums.data() + of.sums.rows() * of.sums.cols());
  return out;
}

int64_t RowsSums::count_of_counts() const {
  return checked_add(groups()[0].count + 1, groups()[1].count + 1, "groups");
}

int64_t RowsSums::count_of_numbers() const {
  int64_t out = 0;
  for (const auto& map : maps_)
    out =
        checked_add(out, checked_multiply(count_of_counts(), map->features() + 1, "sums"), "sums");
  return out;
}

void RowsSums::set(std::span<const double> counts, std::span<const double> numbers) {
  const int64_t of_x = groups()[0].count + 1;
  std::vector<int64_t> x = checked(0, whole_numbers(counts.first(of_x))),
                       y = checked(1, whole_numbers(counts.subspan(of_x)));
  samples_[0].counts = std::move(x);
  samples_[1].counts = std::move(y);
  auto next = numbers.begin();
  for (int64_t s = 0; s < 2; ++s)
    for (size_t k = 0; k < maps_.size(); ++k) {
      const Matrix<double>& sums = of(s, k).sums;
      for (int64_t g = 0; g < sums.rows(); ++g, next += sums.cols())
        std::transform(next, next + sums.cols(), sums.view().row(g),
                       [&](double sum) { return samples_[s].counts[g] == 0 ? 0 : sum; });
    }
}

void RowsSums::require_whole() const {
  require(whole_, MERCER_INVALID_ARGUMENT,
          "the sums hold a part of some rows, whose addition failed, expected ones that are whole");
}

std::string print_test(const RowsSums& sums) {
  Parameters out = sums.asked();
  out.set("x_rows", sums.sizes().rows[0]);
  out.set("y_rows", sums.sizes().rows[1]);
  out.set("inputs", sums.sizes().inputs);
  return print_object(out);
}

RowsSums rows_sums(TestRequest test, const std::array<int64_t, 2>& rows,
                   std::span<const Rows> pilot, Context& context) {
  statistic::Scales scales;
  if (needs_scales(test.asked)) {
    require(pilot[0].rows() + pilot[1].rows() >= 1, MERCER_INVALID_ARGUMENT,
            "X.n + Y.n = 0, expected rows that lengthscales are found with, or kernels that are "
            "given");
    scales = asked_scales(test.asked, pilot, context);
  }
  RowsSums out(std::move(test), {rows, pilot[0].cols()}, std::move(scales));
  out.clear(context);
  return out;
}

Parameters answer_by_sums(TestRequest test, const Rows& X, const Rows& Y, Context& context) {
  const std::array samples = {X, Y};
  const int64_t all = X.rows() + Y.rows();
  Stage stage(context, 3 * all + kWorkOfAnswer);
  RowsSums sums = rows_sums(std::move(test), {X.rows(), Y.rows()}, samples, context);
  for (int64_t s = 0; s < 2; ++s)
    stage.part(samples[s].rows(), [&] { sums.add(s, 0, samples[s], context); });
  Parameters found = stage.part(kWorkOfAnswer, [&] { return sums.answer(context); });
  stage.part(2 * all, [&] { set_witnesses(found, sums, samples, context); });
  return found;
}

}  // namespace mercer::spec
