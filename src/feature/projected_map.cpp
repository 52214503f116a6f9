// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/projected_map.h"

#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "feature/projected_derivative.h"
#include "feature/projected_gradient.h"

namespace mercer::feature {
namespace {

const projection::Projection& first_of(const ProjectedParts& parts) {
  const transform::EpilogueShape& epilogue = parts.epilogue->shape();
  const int numbers = parts.prologue == nullptr ? 0 : parts.prologue->shape().row_numbers;
  require(std::ssize(parts.projections) == epilogue.factors && epilogue.factors >= 1 &&
              numbers == epilogue.row_numbers,
          MERCER_INTERNAL, "an epilogue of %d factors and %d row numbers got %zu and %d",
          epilogue.factors, epilogue.row_numbers, parts.projections.size(), numbers);
  const projection::Projection& first = *parts.projections[0];
  for (const auto& projection : parts.projections) {
    require(projection->inputs() == first.inputs() && projection->outputs() == first.outputs() &&
                projection->shape(float{}).columns == first.shape(float{}).columns &&
                projection->shape(double{}).columns == first.shape(double{}).columns,
            MERCER_INTERNAL, "the projections of an epilogue are not of one shape");
  }
  return first;
}

int64_t feature_count(const ProjectedParts& parts) {
  return checked_multiply(parts.epilogue->shape().parts, first_of(parts).outputs(), "features");
}

}  // namespace

ProjectedMap::ProjectedMap(ProjectedParts parts)
    : FeatureMap(first_of(parts).inputs(), feature_count(parts),
                 parts.epilogue->shape().reals == 2),
      parts_(std::move(parts)),
      single_(parts_.projections[0]->outputs(), parts_.projections[0]->shape(float{}).columns,
              parts_.columns),
      double_(parts_.projections[0]->outputs(), parts_.projections[0]->shape(double{}).columns,
              parts_.columns) {}

void ProjectedMap::apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const {
  X.visit([&](const auto& rows) { apply_rows(rows, c, context, Z); });
}

template <class View>
void ProjectedMap::apply_rows(const View& X, Columns c, Context& context,
                              const ResultView& Z) const {
  using T = RowNumberOf<View>;
  if constexpr (kIsSparse<View>) {
    if (!reads_sparse()) return apply_by_dense_tiles(X, c, context, result_of<T>(Z));
  }
  apply_projected(parts_, columns(T{}), X, c, context, result_of<T>(Z));
}

bool ProjectedMap::has_gradient() const noexcept {
  return parts_.epilogue->gradient() != nullptr && parts_.prologue == nullptr;
}

template <class T>
void ProjectedMap::check_shapes(MatrixView<const T> X, MatrixView<const T> other,
                                int64_t other_cols, MatrixView<T> out, int64_t out_cols) const {
  using Long = long long;
  require(X.cols == inputs() && other.cols == other_cols && out.cols == out_cols &&
              other.rows == X.rows && out.rows == X.rows,
          MERCER_DIMENSION_MISMATCH,
          "X %lld x %lld, its vectors %lld x %lld, out %lld x %lld, expected as many rows each, "
          "%lld inputs, %lld numbers of a vector and %lld of out",
          Long{X.rows}, Long{X.cols}, Long{other.rows}, Long{other.cols}, Long{out.rows},
          Long{out.cols}, Long{inputs()}, Long{other_cols}, Long{out_cols});
}

template <class T>
void ProjectedMap::pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                                  MatrixView<T> out) const {
  if (!has_gradient()) return FeatureMap::pull_back(X, G, context, out);
  check_shapes(X, G, row_length(), out, inputs());
  pull_back_projected(parts_, columns(T{}), X, G, context, out);
}

template <class T>
void ProjectedMap::push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                                     MatrixView<T> out) const {
  if (!has_gradient()) return FeatureMap::push_forward(X, V, context, out);
  check_shapes(X, V, inputs(), out, row_length());
  push_forward_projected(parts_, columns(T{}), X, V, context, out);
}

template <class T>
void ProjectedMap::differentiate_rows(const Derivative& what, MatrixView<const T> X,
                                      Context& context, MatrixView<T> out) const {
  if (!has_gradient()) return FeatureMap::differentiate(what, X, context, out);
  require(what.highest() <= parts_.epilogue->gradient()->most_order(), MERCER_UNSUPPORTED,
          "derivatives of order %lld of map %s, expected the first at most",
          static_cast<long long>(what.highest()), std::string(name()).c_str());
  check_shapes(X, X, inputs(), out,
               checked_multiply(what.blocks(inputs()), row_length(), "derivatives"));
  differentiate_projected(parts_, columns(T{}), what, X, context, out);
}

#define MERCER_DERIVATIVES(T)                                                                     \
  void ProjectedMap::pull_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,    \
                               MatrixView<T> out) const {                                         \
    pull_rows_back(X, G, context, out);                                                           \
  }                                                                                               \
  void ProjectedMap::push_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context, \
                                  MatrixView<T> out) const {                                      \
    push_rows_forward(X, V, context, out);                                                        \
  }                                                                                               \
  void ProjectedMap::differentiate(const Derivative& what, MatrixView<const T> X,                 \
                                   Context& context, MatrixView<T> out) const {                   \
    differentiate_rows(what, X, context, out);                                                    \
  }
MERCER_DERIVATIVES(float)
MERCER_DERIVATIVES(double)
#undef MERCER_DERIVATIVES

bool ProjectedMap::reads_sparse() const noexcept {
  bool all = parts_.prologue == nullptr || parts_.prologue->shape().keeps_zeros;
  for (const auto& projection : parts_.projections) all = all && projection->sparse() != nullptr;
  return all;
}

void ProjectedMap::prepare(Precision precision, Context& context) const {
  if (precision == Precision::f32) prepare_all(single_, context);
  if (precision == Precision::f64) prepare_all(double_, context);
}

template <class T>
void ProjectedMap::prepare_all(const ColumnNumbers<T>& columns, Context& context) const {
  const projection::Projection& first = *parts_.projections[0];
  const projection::Blocks all{0, (first.outputs() - 1) / first.shape(T{}).columns + 1};
  // In permille, so that a single projection's own stage is seen.
  Stage stage(context, 1000 * std::ssize(parts_.projections));
  for (const auto& projection : parts_.projections) {
    stage.share(1000);
    projection->prepare(all, T{}, context);
    stage.advance(1000);
  }
  columns.prepare(all, context);
}

}  // namespace mercer::feature
