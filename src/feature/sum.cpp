// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of sums of kernels: those of the parts side by side, each with its own seed (SPEC
// section 6). Means, biases and variances of the estimate add up, since the parts are independent.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/size.h"
#include "feature/allotment.h"
#include "feature/composed_map.h"
#include "feature/derivative_calls.h"
#include "feature/side_by_side.h"

namespace mercer::feature {
namespace {

constexpr auto kSumRule = kernel::Composition::Rule::sum;
// Bytes of derivatives of one part at a time, before they are copied to their columns.
constexpr int64_t kSumBytes = int64_t{8} << 20;

class Sum final : public ComposedMap {
 public:
  Sum(const MapArguments& arguments, PartMaps maps, bool is_complex, std::vector<double> shares)
      : ComposedMap(arguments, std::move(maps), is_complex), shares_(std::move(shares)) {}

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      const auto out = result_of<RowNumberOf<decltype(rows)>>(Z);
      if (rows.rows == 0 || c.begin == c.end) return;
      apply_side_by_side(parts(), 0, X, c, context, out);
    });
  }

  double variance_at(const double* x, const double* y) const override {
    return add_up(&Moments::variance_at, x, y);
  }
  double pseudo_variance_at(const double* x, const double* y) const override {
    return add_up(&Moments::pseudo_variance_at, x, y);
  }
  double bias_at(const double* x, const double* y) const override {
    return add_up(&Moments::bias_at, x, y);
  }

  double estimated_kernel(const double* x, const double* y) const override {
    if (!shows_other_rows()) return kernel().value(inputs(), x, y);
    double sum = 0;
    for (const auto& part : parts()) sum += part->estimated_kernel(x, y);
    return sum;
  }

  MERCER_DERIVATIVE_CALLS

 private:
  void add_parameters(Parameters& spec) const override {
    if (!shares_.empty()) spec.set("shares", shares_);
  }

  /// body(part, its first column).
  template <class Body>
  void for_each_part(const Body& body) const {
    int64_t begin = 0;
    for (const auto& part : parts()) {
      body(*part, begin);
      begin += part->features();
    }
  }
  /// The same as one stage of the context, counted in real numbers of a row.
  template <class Body>
  void for_each_stage(Context& context, const Body& body) const {
    Stage stage(context, row_length());
    const int64_t reals = is_complex() ? 2 : 1;
    for_each_part([&](const FeatureMap& part, int64_t begin) {
      stage.share(part.row_length());
      body(part, begin * reals, begin * reals + part.row_length());
      stage.advance(part.row_length());
      context.checkpoint();
    });
  }

  double add_up(double (Moments::*moment)(const double*, const double*) const, const double* x,
                const double* y) const {
    double sum = 0;
    for (const auto& part : parts()) sum += (part->moments().*moment)(x, y);
    return sum;
  }

  template <class T>
  void pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                      MatrixView<T> out) const {
    const Matrix<T> own(X.rows, inputs(), context, "the gradient of one part");
    for_each_stage(context, [&](const FeatureMap& part, int64_t begin, int64_t end) {
      if (begin == 0)
        return part.derivatives()->pull_back(X, G.block_cols(begin, end), context, out);
      part.derivatives()->pull_back(X, G.block_cols(begin, end), context, own.view());
      for (int64_t i = 0; i < out.rows; ++i)
        for (int64_t k = 0; k < out.cols; ++k) out(i, k) += own(i, k);
    });
  }

  template <class T>
  void push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
    for_each_stage(context, [&](const FeatureMap& part, int64_t begin, int64_t end) {
      part.derivatives()->push_forward(X, V, context, out.block_cols(begin, end));
    });
  }

  // The blocks of a part lie side by side in a tile.
  template <class T>
  void differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                          MatrixView<T> out) const {
    const int64_t blocks = what.blocks(inputs());
    for_each_stage(context, [&](const FeatureMap& part, int64_t begin, int64_t end) {
      const int64_t width = end - begin;
      const int64_t row_bytes = std::max<int64_t>(blocks * width, 1) * int64_t{sizeof(T)};
      const int64_t rows =
          std::clamp(kSumBytes / row_bytes, int64_t{1}, std::max<int64_t>(X.rows, 1));
      const Matrix<T> tile(rows, blocks * width, context, "the derivatives of one part");
      for (int64_t i0 = 0; i0 < X.rows; i0 += rows) {
        const int64_t count = std::min(rows, X.rows - i0);
        part.derivatives()->differentiate(what, X.block_rows(i0, i0 + count), context,
                                          tile.view().block_rows(0, count));
        for (int64_t i = 0; i < count; ++i)
          for (int64_t b = 0; b < blocks; ++b)
            std::copy_n(&tile(i, b * width), width, out.row(i0 + i) + b * row_length() + begin);
        context.checkpoint();
      }
    });
  }

  std::vector<double> shares_;  // as given
};

bool have_complex_columns(const PartMaps& maps) {
  const auto kind = [](const auto& map) { return map->is_complex() ? "complex" : "real"; };
  for (size_t i = 1; i < maps.size(); ++i) {
    require(maps[i]->is_complex() == maps[0]->is_complex(), MERCER_UNSUPPORTED,
            "parts[%zu] has %s columns and parts[0] %s ones, expected one kind", i, kind(maps[i]),
            kind(maps[0]));
  }
  return maps[0]->is_complex();
}

std::vector<double> shares_of(const Parameters& own, size_t count) {
  if (own.find("shares") == nullptr) return {};
  std::vector<double> shares = own.numbers("shares");
  require(shares.size() == count, MERCER_INVALID_ARGUMENT,
          "shares = a list of %zu numbers, expected %zu, one for each part", shares.size(), count);
  return shares;
}

struct Sizes {
  std::vector<PartSize> parts;
  std::vector<int64_t> most;  // of each part
};

Sizes sizes_of(const std::vector<MapSizes>& parts, const std::vector<double>& shares) {
  Sizes sizes;
  for (size_t i = 0; i < parts.size(); ++i) {
    sizes.parts.push_back({shares.empty() ? 1 : shares[i], parts[i].least, parts[i].step});
    sizes.most.push_back(parts[i].most);
  }
  return sizes;
}

bool fits(int64_t total, const Sizes& sizes) {
  const std::vector<int64_t> features = allot(total, sizes.parts);
  for (size_t i = 0; i < features.size(); ++i)
    if (features[i] > sizes.most[i]) return false;
  return true;
}

/// A total, from the least in steps, that gives no part more than it can have: the largest, except
/// for what the last steps of unequal shares may cost.
int64_t most_of(const MapSizes& all, const Sizes& sizes) {
  int64_t low = 0, high = std::max(kMostFeatures - all.least, int64_t{0}) / all.step;  // in steps
  while (low < high) {
    const int64_t middle = high - (high - low) / 2;
    if (fits(all.least + middle * all.step, sizes)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return all.least + low * all.step;
}

/// The smallest step of a part, whose multiples are all possible totals.
MapSizes total_sizes(const Parameters& canonical, int64_t rows) {
  const std::vector<MapSizes> parts = sizes_of_parts(canonical, rows);
  if (parts.empty()) return {1, 1, kMostFeatures};
  const Sizes sizes = sizes_of(parts, shares_of(canonical, parts.size()));
  MapSizes all{0, 0, kMostFeatures};
  bool limited = false;
  for (size_t i = 0; i < sizes.parts.size(); ++i) {
    const PartSize& part = sizes.parts[i];
    all.least = checked_add(all.least, part.least, "features");
    if (part.step == 0) continue;
    all.step = all.step == 0 ? part.step : std::min(all.step, part.step);
    limited = limited || sizes.most[i] < kMostFeatures;
  }
  if (all.step == 0) all.most = all.least;
  if (limited) all.most = most_of(all, sizes);
  return all;
}

std::unique_ptr<FeatureMap> sum_from(const MapArguments& a) {
  const PartMaker maker(a, kSumRule);
  std::vector<double> shares = shares_of(a.own, maker.count());
  const std::vector<int64_t> features = allot(a.features, sizes_of(maker.sizes(), shares).parts);
  PartMaps maps;
  for (size_t i = 0; i < maker.count(); ++i) maps.push_back(maker.make(i, features[i]));
  const bool is_complex = have_complex_columns(maps);
  return std::make_unique<Sum>(a, std::move(maps), is_complex, std::move(shares));
}

}  // namespace

MapEntry sum_entry() {
  return {.name = "sum",
          .help = "the features of the parts of a sum of kernels side by side; their costs add up",
          .fields = {part_maps_field(),
                     {.key = "shares",
                      .type = FieldType::numbers,
                      .fallback = std::nan(""),
                      .least = 0,
                      .most = std::numeric_limits<double>::max(),
                      .least_open = true,
                      .help = "the share of each part in the features; left out: equal shares"}},
          .make = sum_from,
          .default_kernel = composed_kernel("sum"),
          .rule = kSumRule,
          .sizes = total_sizes};
}

}  // namespace mercer::feature
