// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Hierarchical sketches: Ahle, Kapralov, Knudsen, Pagh, Velingkar, Woodruff, Zandieh 2020; CRAFT:
// Hamid, Xiao, Gittens, DeCoste 2014. Factors are numbered across the tree, so that every node has
// its own streams.
#include "feature/sketch_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/size.h"

namespace mercer::feature {
namespace {

using projection::FactorShape;
using projection::SketchKind;

constexpr int64_t kMostPlanned = 2147483647;

class Planner {
 public:
  Planner(const SketchLeaves& leaves, int64_t D, const SketchOptions& options)
      : leaves_(leaves),
        options_(options),
        complex_(options.field != SketchField::real),
        columns_(projects_reals() ? D : tree_columns("features", D)),
        inner_(tree_columns("intermediate", intermediate_of(options, D))) {}

  SketchTree plan() {
    switch (options_.composition) {
      case Composition::plain:
        add_plain(columns_, leaves_.scale);
        break;
      case Composition::hierarchical:
        add_tree();
        break;
      case Composition::craft:
        add_craft();
        break;
    }
    return SketchTree(std::move(nodes_));
  }

  static int64_t intermediate_of(const SketchOptions& options, int64_t D) {
    if (options.intermediate != 0) return options.intermediate;
    return options.composition == Composition::craft ? checked_multiply(4, D, "intermediate") : D;
  }

 private:
  // A CRAFT of field complex_to_real reads its wide sketch as [Re | Im]: everything after it is
  // real.
  bool projects_reals() const {
    return options_.composition == Composition::craft &&
           options_.field == SketchField::complex_to_real;
  }

  // The tree's complex columns for so many features.
  int64_t tree_columns(const char* name, int64_t count) const {
    check_sketch_columns(name, count);
    if (options_.field != SketchField::complex_to_real) return count;
    require(count % 2 == 0, MERCER_INVALID_ARGUMENT,
            "%s = %ld, expected an even number for field = complex_to_real", name, count);
    return count / 2;
  }

  int64_t add(const SketchKind& kind, bool complex, std::vector<FactorShape> factors,
              std::vector<int64_t> children, int64_t columns, double scale) {
    projection::SketchShape shape{&kind,        complex, std::move(factors), columns, options_.seed,
                                  next_factor_, scale};
    next_factor_ += static_cast<int64_t>(shape.factors.size());
    nodes_.push_back({projection::make_multilinear(shape), std::move(children), false});
    return static_cast<int64_t>(nodes_.size()) - 1;
  }

  int64_t add_plain(int64_t columns, double scale) {
    if (leaves_.two) {
      return add(*options_.kind, complex_, {leaves_.first, leaves_.second},
                 {kFirstInput, kSecondInput}, columns, scale);
    }
    const auto p = static_cast<size_t>(leaves_.degree);
    return add(*options_.kind, complex_, std::vector<FactorShape>(p, leaves_.first),
               std::vector<int64_t>(p, kFirstInput), columns, scale);
  }

  // Every sketch keeps a table of what it has drawn, some bytes for every few columns: a spec of
  // one line must not ask for a thousand tables of a gigabyte.
  void add_tree() {
    const auto leaves = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(leaves_.degree)));
    const int64_t inner = 2 * leaves - 2;
    const int64_t per_column = options_.field == SketchField::complex_to_real ? 2 : 1;
    require(inner == 0 || inner_ <= kMostPlanned / inner, MERCER_INVALID_ARGUMENT,
            "intermediate = %ld, expected at most %ld for a tree of %ld inner sketches",
            per_column * inner_, per_column * (kMostPlanned / std::max(inner, int64_t{1})), inner);
    add_subtree(0, leaves, columns_, leaves_.scale);
  }

  // Leaves [first, first + count) of the tree; leaves past the degree are e_1.
  int64_t add_subtree(int64_t first, int64_t count, int64_t columns, double scale) {
    if (count == 1) {
      const bool second = leaves_.two && first == 1;
      const FactorShape shape = first >= leaves_.degree ? FactorShape{0, 1, 1}
                                : second                ? leaves_.second
                                                        : leaves_.first;
      return add(projection::single_kind(*options_.kind), complex_, {shape},
                 {second ? kSecondInput : kFirstInput}, columns, scale);
    }
    const int64_t left = add_subtree(first, count / 2, inner_, 1);
    const int64_t right = add_subtree(first + count / 2, count / 2, inner_, 1);
    return add(*options_.kind, complex_, {{inner_}, {inner_}}, {left, right}, columns, scale);
  }

  void add_craft() {
    const int64_t wide = add_plain(inner_, 1);
    const bool as_real = projects_reals();
    add(*options_.down, complex_ && !as_real, {{as_real ? 2 * inner_ : inner_}}, {wide}, columns_,
        leaves_.scale);
    nodes_.back().children_as_real = as_real;
  }

  const SketchLeaves& leaves_;
  const SketchOptions& options_;
  bool complex_;
  int64_t columns_;
  int64_t inner_;
  int64_t next_factor_ = 0;
  std::vector<SketchNode> nodes_;
};

// The fields of a plain sketch, in table order.
void add_plain_parameters(const SketchOptions& options, Parameters& spec) {
  if (projection::family_of(*options.kind).kinds.size() > 1) spec.set("kind", options.kind->name);
  projection::kSketchField.write(spec, options.field);
}

double root_of(const char* name, double value) {
  require(std::isfinite(value) && value > 0 && std::sqrt(value) > 0, MERCER_INVALID_ARGUMENT,
          "%s = %g, expected a positive finite number", name, value);
  return std::sqrt(value);
}

}  // namespace

SketchLeaves sketch_leaves(const kernel::Kernel& kernel, int64_t d) {
  const std::optional<kernel::InnerPower> power = kernel.inner_power();
  require(power.has_value(), MERCER_UNSUPPORTED,
          "kernel %s has no polynomial sketch, expected polynomial or bilinear",
          std::string(kernel.name()).c_str());
  const double scale = root_of("variance", kernel.variance());
  FactorShape first{d, root_of("gamma", power->gamma), std::sqrt(power->offset)}, second = first;
  const int64_t left = kernel.left_inputs();
  if (left > 0) {
    first.inputs = left;
    second.inputs = d - left;
  }
  return {power->degree, left > 0, first, second, scale};
}

void check_sketch_columns(const char* name, int64_t count) {
  require(count >= 1 && count <= kMostPlanned, MERCER_INVALID_ARGUMENT,
          "%s = %ld, expected 1 to %ld", name, count, kMostPlanned);
}

SketchTree plan_sketch(const SketchLeaves& leaves, int64_t D, const SketchOptions& options) {
  return Planner(leaves, D, options).plan();
}

const char* sketch_name(const SketchOptions& options) {
  return options.composition == Composition::hierarchical ? "hierarchical_sketch"
         : options.composition == Composition::craft      ? "craft"
                                                     : projection::family_of(*options.kind).name;
}

void add_sketch_parameters(const SketchOptions& options, int64_t D, Parameters& spec) {
  if (options.composition == Composition::plain) return add_plain_parameters(options, spec);
  Parameters base{{"map", projection::family_of(*options.kind).name}};
  add_plain_parameters(options, base);
  spec.set("base", std::make_shared<const Parameters>(std::move(base)));
  spec.set("intermediate", Planner::intermediate_of(options, D));
  if (options.composition == Composition::craft) spec.set("projection", options.down->projection);
}

}  // namespace mercer::feature
