// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// "mmd", "block_mmd" and "kid": whether two samples have one distribution.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/fields.h"
#include "base/size.h"
#include "bound/bound.h"
#include "spec/rows_sums.h"
#include "statistic/two_sample.h"

namespace mercer::spec {
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

struct Compared {
  std::vector<TwoSample> each;
  std::vector<statistic::Permuted> permuted;
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
Compared compare(const Parameters& asked, const RowsSums& sums, Context& context) {
  const Matrix<double> relabelled =
      statistic::relabellings(sums.groups()[0], sums.groups()[1], asked.integer("permutations"),
                              asked.seed("seed"), context);
  Compared out;
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

ObjectList by_kernel(const std::vector<Tried>& kernels, const Compared& found) {
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
  const Compared found = compare(asked, sums, context);
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
Tried block_kernel(const Parameters& asked, const statistic::Scales& scales) {
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
  Tried tried{kernel, kernel};
  if (is_exact(asked, sizes.inputs)) tried.map = kMonomials;
  return {{tried}, exchangeable(sizes)};
}

Parameters answer_kid(Parameters asked, const RowsSums& sums, Context& context) {
  const Compared found = compare(asked, sums, context);
  asked.set("exact", is_exact(asked, sums.sizes().inputs));
  set_statistic(asked, "kid", found.each.front());
  asked.set("p_value", number_or_null(found.p_value()));
  return asked;
}

constexpr SummedTest kMmd{plan_mmd, answer_mmd}, kBlockMmd{plan_block_mmd, answer_block_mmd},
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
