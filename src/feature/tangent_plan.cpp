// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/tangent_plan.h"

#include <algorithm>

#include "base/size.h"

namespace mercer::feature {
namespace {

constexpr const char* kWhat = "the tangents of a tile of sketches";

int64_t round_up(int64_t count) noexcept { return (count + 15) / 16 * 16; }

// One part of the scratch behind the other, each on a cache line.
class Layout {
 public:
  explicit Layout(int64_t rows) : rows_(rows) {}

  int64_t add(int64_t count) {
    const int64_t at = numbers_;
    numbers_ = checked_add(numbers_, count, kWhat);
    return at;
  }
  int64_t add_rows(int64_t cols) { return add(checked_multiply(rows_, round_up(cols), kWhat)); }
  int64_t numbers() const noexcept { return numbers_; }

 private:
  int64_t rows_;
  int64_t numbers_ = 0;
};

}  // namespace

template <class T>
TangentPlan TangentPlan::of(const SketchTree& tree, int64_t d) {
  TangentPlan plan{.rows = std::clamp(tree.tile_rows(), int64_t{1}, kMostRows), .nodes = {}};
  Layout layout(plan.rows);
  int64_t scratch = 0, widest = d;
  for (const SketchNode& node : tree.nodes()) {
    const int64_t size = round_up(node.map->columns() * (node.map->is_complex() ? 2 : 1));
    plan.nodes.push_back(
        {size, layout.add_rows(size), layout.add_rows(size), layout.add_rows(size)});
    widest = std::max(widest, size);
    scratch = std::max(scratch, node.map->scratch(plan.rows, node.map->columns(), T{}));
    plan.most_factors = std::max(plan.most_factors, std::ssize(node.children));
  }
  plan.zeros_width = round_up(widest);
  plan.direction = layout.add_rows(d);
  plan.zeros = layout.add_rows(widest);
  plan.term = layout.add_rows(widest);
  plan.scaled = layout.add_rows(widest);
  plan.scratch = layout.add(round_up(scratch));
  constexpr auto kRows = static_cast<int64_t>(sizeof(projection::FactorRows<T>));
  plan.inputs_bytes = (plan.most_factors * kRows + 63) / 64 * 64;
  plan.bytes =
      checked_add(plan.inputs_bytes, checked_multiply(layout.numbers(), sizeof(T), kWhat), kWhat);
  return plan;
}

template TangentPlan TangentPlan::of<float>(const SketchTree&, int64_t);
template TangentPlan TangentPlan::of<double>(const SketchTree&, int64_t);

}  // namespace mercer::feature
