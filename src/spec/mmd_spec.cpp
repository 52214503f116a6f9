// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// "mmd", "block_mmd" and "kid": whether two samples have one distribution.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/fields.h"
#include "spec/bound_spec.h"
#include "spec/test_spec.h"
#include "statistic/two_sample.h"

namespace mercer::spec {
namespace {

using statistic::Grouping;
using statistic::GroupSums;
using statistic::TwoSample;

constexpr double kMostFeatures = 1024;  // unless asked for
constexpr int64_t kDegree = 3;          // of the kernel of "kid"
constexpr double kMostRowsOfBlock = 1 << 30;

/// The level holds with any number; the noise of features falls with it, that of rows with n.
int64_t features_for(int64_t rows) {
  const double wanted = std::clamp(8 * std::sqrt(static_cast<double>(rows)), 128.0, kMostFeatures);
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted)));
}

/// Groups of the samples are drawn by streams of their own.
std::pair<GroupSums, GroupSums> sums_of(const feature::FeatureMap& map, const Rows& X,
                                        const Rows& Y, std::pair<Grouping, Grouping> groups,
                                        uint64_t seed, Context& context) {
  Stage stage(context, X.rows() + Y.rows());
  const auto part = [&](const Rows& rows, const Grouping& grouping, uint64_t sample) {
    return stage.part(rows.rows(), [&] {
      return statistic::group_sums(map, rows, grouping,
                                   random::Stream(seed, random::Tag::split, sample), context);
    });
  };
  GroupSums x = part(X, groups.first, 0);
  return {std::move(x), part(Y, groups.second, 1)};
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
Compared compare(const std::vector<Tried>& kernels, const Parameters& asked, const Rows& X,
                 const Rows& Y, Context& context) {
  const uint64_t seed = asked.seed("seed");
  const auto groups = statistic::exchangeable_groups(X.rows(), Y.rows());
  const Matrix<double> relabelled = statistic::relabellings(
      groups.first, groups.second, asked.integer("permutations"), seed, context);
  Compared out;
  Stage stage(context, std::ssize(kernels));
  for (size_t k = 0; k < kernels.size(); ++k) {
    stage.part(1, [&] {
      const auto map =
          test_map(kernels[k], X.cols(), asked.integer("features"), test_map_seed(asked, k));
      const auto [x, y] = sums_of(*map, X, Y, groups, seed, context);
      out.each.push_back(statistic::compare_samples(x, y, relabelled.view(), context));
    });
    out.permuted.push_back(std::move(out.each.back().permuted));
    if (out.each[k].deviations > out.each[out.best].deviations) out.best = k;
  }
  return out;
}

/// The statistic under its name, with its error and effect.
void set_statistic(Parameters& to, const char* name, const TwoSample& found) {
  set_answer(to, name, found.mmd2);
  to.set("standard_error", number_or_null(found.standard_error));
  set_answer(to, "effect", found.effect);
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

void set_witnesses(Parameters& asked, const Tried& kernel, size_t k, const Rows& X, const Rows& Y,
                   Context& context) {
  const int64_t count = asked.integer("witnesses");
  if (count == 0) return;
  const auto map = test_map(kernel, X.cols(), asked.integer("features"), test_map_seed(asked, k));
  const auto [x, y] = sums_of(*map, X, Y, {}, asked.seed("seed"), context);
  const std::vector<double> difference = statistic::mean_difference(x, y);
  const auto of_x = statistic::witnesses(*map, X, difference, count, 1, context);
  const auto of_y = statistic::witnesses(*map, Y, difference, count, -1, context);
  asked.set("x_rows", of_x.rows);
  asked.set("x_witness", of_x.values);
  asked.set("y_rows", of_y.rows);
  asked.set("y_witness", of_y.values);
}

void fill_features(Parameters& asked, int64_t features) {
  if (asked.find("features") == nullptr) asked.set("features", features);
}

Parameters answer_mmd(Parameters asked, const Rows& X, const Rows& Y, Context& context) {
  fill_features(asked, features_for(X.rows() + Y.rows()));
  const std::array samples = {X, Y};
  const std::vector<Tried> kernels = tried_kernels(asked, "kernels", samples, false, context);
  const int64_t passes = asked.integer("witnesses") == 0 ? 0 : 2;
  Stage stage(context, std::ssize(kernels) + passes);
  const Compared found =
      stage.part(std::ssize(kernels), [&] { return compare(kernels, asked, X, Y, context); });
  asked.set("p_value", number_or_null(found.p_value()));
  set_statistic(asked, "mmd2", found.each[found.best]);
  asked.set("kernel", kernels[found.best].kernel);
  asked.set("by_kernel", by_kernel(kernels, found));
  stage.part(passes, [&] { set_witnesses(asked, kernels[found.best], found.best, X, Y, context); });
  return asked;
}

/// The root of the rows, but two blocks where that is possible.
void fill_block(Parameters& asked, int64_t fewer) {
  const int64_t root = std::llround(std::sqrt(static_cast<double>(fewer)));
  if (asked.find("block") == nullptr)
    asked.set("block", std::clamp<int64_t>(root, 2, std::max<int64_t>(fewer / 2, 2)));
}

/// The kernel asked for; with none, gaussian at the median distance.
Tried block_kernel(const Parameters& asked, const Rows& X, const Rows& Y, Context& context) {
  if (const Value* given = asked.find("kernel"); given != nullptr) {
    const auto kernel = std::get<std::shared_ptr<const Parameters>>(*given);
    return {kernel, kernel};
  }
  const std::array samples = {X, Y};
  const std::array factor = {1.0};
  return kernels_at(statistic::pooled_scales(samples, asked.text("scale") == "columns",
                                             asked.seed("seed"), context),
                    factor, true)
      .front();
}

Parameters answer_block_mmd(Parameters asked, const Rows& X, const Rows& Y, Context& context) {
  const int64_t fewer = std::min(X.rows(), Y.rows());
  fill_features(asked, features_for(X.rows() + Y.rows()));
  fill_block(asked, fewer);
  const Grouping blocks{asked.integer("block"), fewer / asked.integer("block")};
  require(blocks.count >= 1, MERCER_INVALID_ARGUMENT,
          "block = %ld, expected at most %ld, the rows of the smaller sample", blocks.size, fewer);
  const Tried kernel = block_kernel(asked, X, Y, context);
  const auto map = test_map(kernel, X.cols(), asked.integer("features"), test_map_seed(asked, 0));
  const auto [x, y] = sums_of(*map, X, Y, {blocks, blocks}, asked.seed("seed"), context);
  const statistic::BlockMean found = statistic::compare_blocks(x, y);
  asked.set("kernel", kernel.kernel);
  asked.set("p_value", found.p_value);
  set_answer(asked, "mmd2", found.mmd2);
  asked.set("standard_error", number_or_null(found.standard_error));
  return asked;
}

/// (x'y / d + 1)^3. All monomials where there are not more than features.
Parameters answer_kid(Parameters asked, const Rows& X, const Rows& Y, Context& context) {
  const auto d = static_cast<double>(X.cols());
  const double monomials = (d + 1) * (d + 2) * (d + 3) / 6;
  const Parameters given{{"kernel", std::string("polynomial")},
                         {"degree", kDegree},
                         {"gamma", 1 / d},
                         {"offset", 1.0}};
  const auto kernel = std::make_shared<const Parameters>(kernel::canonical_kernel(given, ""));
  fill_features(asked, 4096);
  const bool exact = monomials <= static_cast<double>(asked.integer("features"));
  Tried tried{kernel, kernel};
  if (exact) tried.map = kMonomials;
  const Compared found = compare({tried}, asked, X, Y, context);
  asked.set("exact", exact);
  set_statistic(asked, "kid", found.each.front());
  asked.set("p_value", number_or_null(found.p_value()));
  return asked;
}

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
            .help = "lengthscales of gaussian and laplacian, times the median distance"},
           scale_field(),
           features_field("D; absent: 8 sqrt(m + n) as a power of two from 128 to 1024"),
           permutations_field(500),
           integer_field("witnesses", int64_t{0}, 0, 1000,
                         "so many rows of each sample that differ most are told"),
           test_seed_field()},
          false,
          answer_mmd};
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
          answer_block_mmd};
}

TestEntry kid_entry() {
  return {"kid",
          "the kernel inception distance of two samples of image features: the squared discrepancy "
          "for (x'y/d + 1)^3",
          {features_field("D; all monomials if there are not more; absent: 4096"),
           permutations_field(500), test_seed_field()},
          false,
          answer_kid};
}

}  // namespace mercer::spec
