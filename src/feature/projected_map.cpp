// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/projected_map.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "feature/projected_derivative.h"
#include "feature/projected_gradient.h"
#include "kernel/unit_rows.h"

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

/// A row without entries has none that the prologue could make NaN.
template <class T>
void clear_empty_rows(const CsrView<T>& X, MatrixView<T> Z) noexcept {
  for (int64_t i = 0; i < X.rows; ++i)
    if (X.begin(i) == X.end(i)) std::fill_n(Z.row(i), Z.cols, std::numeric_limits<T>::quiet_NaN());
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
  kernel::check_unit_rows(kernel(), "X", X);
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
  if constexpr (kIsSparse<View>) {
    if (parts_.prologue != nullptr && parts_.prologue->shape().needs_entries)
      clear_empty_rows(X, result_of<T>(Z));
  }
}

int64_t ProjectedMap::most_order() const noexcept {
  const transform::EpilogueGradient* const gradient = parts_.epilogue->gradient();
  if (gradient == nullptr) return 0;
  const bool passes = parts_.prologue == nullptr || parts_.prologue->derivative() != nullptr;
  return passes ? gradient->most_order() : 0;
}

template <class T>
void ProjectedMap::pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                                  MatrixView<T> out) const {
  pull_back_projected(parts_, columns(T{}), X, G, context, out);
}

template <class T>
void ProjectedMap::push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                                     MatrixView<T> out) const {
  push_forward_projected(parts_, columns(T{}), X, V, context, out);
}

template <class T>
void ProjectedMap::differentiate_rows(const Derivative& what, MatrixView<const T> X,
                                      Context& context, MatrixView<T> out) const {
  differentiate_projected(parts_, columns(T{}), what, X, context, out);
}

MERCER_INSTANTIATE_DERIVATIVE_MEMBERS(ProjectedMap)

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
  // In permille, so that the stage of a single projection shows.
  Stage stage(context, 1000 * std::ssize(parts_.projections));
  for (const auto& projection : parts_.projections) {
    stage.share(1000);
    projection->prepare(all, T{}, context);
    stage.advance(1000);
  }
  columns.prepare(all, context);
}

}  // namespace mercer::feature
