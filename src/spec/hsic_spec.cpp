// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// "hsic": whether row i of X and row i of Y, or its label, depend on each other.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/csr_rows.h"
#include "base/error.h"
#include "base/fields.h"
#include "bound/bound.h"
#include "spec/test_spec.h"
#include "statistic/independence.h"

namespace mercer::spec {
namespace {

constexpr int64_t kFeatures = 64;  // unless asked for: a permutation costs their square
constexpr int64_t kMostLabels = 4096;

/// Rows with a one in the column of their label, one of the numbers in Y.
ListedRows one_hot(const Rows& Y, Context& context) {
  require(Y.cols() == 1, MERCER_DIMENSION_MISMATCH, "Y.d = %ld, expected 1 column of labels",
          Y.cols());
  std::vector<double> labels(Y.rows());
  Y.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i)
      for_each_listed(rows, i, [&](int64_t, auto value) { labels[i] += value; });
  });
  std::map<double, int64_t> columns;
  for (const double label : labels) columns.emplace(label, std::ssize(columns));
  require(std::ssize(columns) <= kMostLabels, MERCER_INVALID_ARGUMENT,
          "Y has %zu different labels, expected at most %ld", columns.size(), kMostLabels);
  ListedRows rows(Y.rows(), std::ssize(columns), Y.rows(), context, "labels");
  for (const double label : labels) rows.add([&](const auto& put) { put(columns.at(label), 1.0); });
  return rows;
}

/// Whether labels are equal: x'y of such rows.
Tried same_label() {
  const Parameters given{
      {"kernel", std::string("polynomial")}, {"degree", int64_t{1}}, {"offset", 0.0}};
  const auto kernel = std::make_shared<const Parameters>(kernel::canonical_kernel(given, ""));
  return {kernel, kernel, kMonomials};
}

struct Side {
  const Rows& rows;
  std::vector<Tried> kernels;
  const Tried& kernel(size_t k) const { return kernels[kernels.size() == 1 ? 0 : k]; }
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
  std::vector<statistic::Permuted> values;
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
std::vector<Tried> kernels_of(const Parameters& asked, const char* key, const Rows& rows,
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
  const ListedRows labels = one_hot(Y, context);
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

}  // namespace mercer::spec
