// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//
// An angle x'w is rounded to u times its size: beyond 1/u turns nothing is left of it. So rows of
// large angles are found by their size, whichever columns are asked for, and done again with
// products that are exact modulo 2 pi (random/scalar_math.h), in fixed point, where sums are exact
// and do not depend on their order. What is left is the rounding of W: of the angle itself there
// is none. Other rows keep the fast sums, whose error then is below kMostTurns u turns or so.
#include "feature/projected_map.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/parallel.h"
#include "base/size.h"
#include "kernel/kernel.h"
#include "projection/projection.h"
#include "random/points.h"
#include "random/scalar_math.h"

namespace mercer::feature {
namespace {

/// For few inputs low-discrepancy points: on 200 rows of kin8nm with D = 1024, R^2 rose from .56 to
/// .64, that of the kernel itself. For more, structured orthogonal blocks, whose error falls with d
/// where that of the points rises (.31 and .74 of that of dense at d = 784). Beyond, rows are
/// mostly sparse: a dense W costs what is stored, a structured one the whole width.
/// Isotropic distributions that the points do not serve have the blocks for few inputs, too: of
/// sphere_polynomial at d = 16 and D = 1,024 they leave 0.31 (degree 3, a = 4) to 0.98 (10, 2) of
/// the error of independent columns.
constexpr ProjectionRule kRules[] = {{&projection::kSorf, 65, 4096},
                                     {&projection::kSobol, 1, random::kSobolDimensions - 1},
                                     {&projection::kSorf, 1, 64}};

constexpr const char* kLargeAngles = "rows of large angles";
// A row is large from here on. Errors of the others: 2^-12 of a turn in single precision, below
// what any number of features in use can tell from the kernel, and 2^-23 in double.
template <class T>
constexpr double kMostTurns = sizeof(T) == sizeof(float) ? 0x1p12 : 0x1p30;
// Rows whose largest numbers show how angles grow.
constexpr int64_t kSampledFrequencies = 32;
// Rewritten rows are logarithms of finite numbers, directions or bits.
constexpr double kMostRewritten = 746;
constexpr int64_t kScannedRows = 256;  // at a time
constexpr int64_t kMostRedone = 1024;  // rows, and bytes of them
constexpr int64_t kRedoneBytes = int64_t{64} << 20;

// P of a projection in turns, without the whole ones. The frequencies last as long as it does.
class ReducedAngles final : public projection::TypedProjection<ReducedAngles> {
 public:
  explicit ReducedAngles(const projection::Projection& projection)
      : TypedProjection(projection.inputs(), projection.outputs()), projection_(projection) {}

  template <class T>
  projection::BlockShape shape_of() const noexcept {
    const projection::BlockShape shape = projection_.shape(T{});
    return {shape.columns, shape.rows, 0, shape.transpose_scratch};
  }
  template <class T>
  void prepare_blocks(projection::Blocks blocks, Context& context) const {
    const int64_t width = projection_.shape(T{}).columns, first = blocks.begin * width;
    const int64_t count = std::min(outputs(), blocks.end * width) - first;
    if (first == first_ && count == omega_.rows()) return;
    omega_ = {};
    omega_ = Matrix<double>(count, inputs(), context, kLargeAngles);
    projection_.frequencies(first, context, omega_.view());
    first_ = first;
  }
  template <class T>
  void project_rows(MatrixView<const T> X, int64_t block, T* P, T*) const noexcept {
    const int64_t width = projection_.shape(T{}).columns, j0 = block * width - first_;
    for (int64_t i = 0; i < X.rows; ++i)
      for (int64_t j = 0; j < width; ++j)
        P[i * width + j] = j0 + j < omega_.rows() ? turns(X.row(i), omega_.view().row(j0 + j)) : 0;
  }
  template <class T>
  void add_rows(const T* G, int64_t block, MatrixView<T> X, T* scratch) const noexcept {
    projection_.project_transpose(G, block, X, scratch);
  }

 private:
  template <class T>
  T turns(const T* x, const double* omega) const noexcept {
    uint64_t sum = 0;
    for (int64_t k = 0; k < inputs(); ++k)
      if (x[k] != 0) sum += random::portable_turns_of_product(static_cast<double>(x[k]), omega[k]);
    return static_cast<T>(static_cast<double>(static_cast<int64_t>(sum)) * 0x1p-64);
  }

  const projection::Projection& projection_;
  mutable int64_t first_ = 0;
  mutable Matrix<double> omega_;
};

template <class T>
bool some_go_beyond(const auto& X, T most, Context& context) {
  if (X.rows <= kScannedRows) return goes_beyond(X, 0, X.rows, most);
  const Stage unseen(context, 0);
  std::atomic<bool> some{false};
  parallel_for(context, ceil_divide(X.rows, kScannedRows), [&](int64_t chunk, int) noexcept {
    const int64_t i0 = chunk * kScannedRows, i1 = std::min(X.rows, i0 + kScannedRows);
    if (goes_beyond(X, i0, i1, most)) some.store(true, std::memory_order_relaxed);
  });
  return some;
}

/// Copies row i.
template <class T>
void copy_row(MatrixView<const T> X, int64_t i, T* to) noexcept {
  std::copy_n(X.row(i), X.cols, to);
}
template <class T>
void copy_row(const CsrView<T>& X, int64_t i, T* to) noexcept {
  std::fill_n(to, X.cols, T{0});
  add_row(X, i, to);
}

template <class T>
Matrix<T> copied_rows(const auto& X, std::span<const int64_t> rows, Context& context) {
  Matrix<T> copy(std::ssize(rows), X.cols, context, kLargeAngles);
  for (int64_t i = 0; i < copy.rows(); ++i) copy_row(X, rows[i], copy.view().row(i));
  return copy;
}

/// A row without entries has none that the prologue could make NaN.
template <class T>
void clear_empty_rows(const CsrView<T>& X, MatrixView<T> Z) noexcept {
  for (int64_t i = 0; i < X.rows; ++i)
    if (X.begin(i) == X.end(i)) std::fill_n(Z.row(i), Z.cols, std::numeric_limits<T>::quiet_NaN());
}

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

void ProjectionChoice::check() const {
  const projection::ProjectionEntry& entry = projection::find_projection(projection);
  entry.check_options(radius, scramble);
  require(entry.block != nullptr || !whole_blocks, MERCER_UNSUPPORTED,
          "whole_blocks = true does not apply to projection = %s, which has no blocks", entry.name);
}

bool ProjectionChoice::is_independent() const noexcept {
  return projection::find_projection(projection).independent;
}

bool ProjectionChoice::has_equal_shares() const noexcept {
  return projection::find_projection(projection).share == nullptr;
}

void ProjectionChoice::require_equal_shares() const {
  require(has_equal_shares(), MERCER_UNSUPPORTED,
          "the columns of projection %s have weights: the variance has no closed form",
          projection.c_str());
}

int64_t ProjectionChoice::columns(int64_t d, int64_t F) const {
  check();  // that there are blocks
  if (!whole_blocks) return F;
  const int64_t block = projection::find_projection(projection).block(d);
  return std::max<int64_t>(F / block, 1) * block;
}

int64_t ProjectionChoice::incomplete_block(int64_t d, int64_t F) const {
  const auto block = projection::find_projection(projection).block;
  return block == nullptr ? 0 : F % block(d);
}

void ProjectionChoice::write(Parameters& spec) const {
  spec.set("projection", projection);
  projection::kRadius.write(spec, radius);
  projection::kScramble.write(spec, scramble);
  spec.set("whole_blocks", whole_blocks);
}

ProjectionChoice read_projection_choice(const Parameters& own) {
  return {own.text("projection"), projection::kRadius.read(own), projection::kScramble.read(own),
          own.boolean("whole_blocks")};
}

std::vector<Field> projection_fields(const char* what, std::vector<const char*> more,
                                     bool weighs_columns) {
  std::vector<const char*> names;
  for (const projection::ProjectionEntry* entry : projection::projection_table()) {
    if (entry->share == nullptr || weighs_columns) names.push_back(entry->name);
  }
  names.insert(names.end(), more.begin(), more.end());
  return {choice_field("projection", "dense", std::move(names), what),
          projection::kRadius.field(),
          projection::kScramble.field(),
          {.key = "whole_blocks",
           .type = FieldType::boolean,
           .fallback = false,
           .help = "round features down to whole blocks of a structured projection",
           .former = "round_blocks"}};
}

std::span<const ProjectionRule> projection_rules() { return kRules; }

const char* projection_for(const kernel::Kernel& kernel, int64_t d) {
  if (const kernel::Metric* const metric = kernel.traits().metric)
    return projection_for(*metric->kernel, metric->A.rows());
  const std::optional<kernel::StandIn> stand_in = kernel.stand_in(d);
  const random::Law* const law =
      stand_in ? stand_in->kernel->spectral_law() : kernel.spectral_law();
  for (const ProjectionRule& rule : kRules)
    if (law != nullptr && d >= rule.least && d <= rule.most && rule.projection->serves(*law))
      return rule.projection->name;
  return projection::kDense.name;
}

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
  const MatrixView<T> out = result_of<T>(Z);
  RowWatch<T> watch{reach_of<T>(context)};
  apply_projected(parts_, columns(T{}), X, c, context, out,
                  std::isinf(watch.most) ? nullptr : &watch);
  if (watch.found || rewrites())
    redo_rows<T>(X, large_rows<T>(X, context), context, out,
                 [&](const ProjectedParts& parts, const auto& rows, auto, auto to) {
                   apply_projected(parts, columns(T{}), rows, c, context, to);
                 });
  if constexpr (kIsSparse<View>) {
    if (parts_.prologue != nullptr && parts_.prologue->shape().needs_entries)
      clear_empty_rows(X, out);
  }
}

bool ProjectedMap::has_angles() const noexcept {
  const transform::EpilogueGradient* const gradient = parts_.epilogue->gradient();
  return gradient != nullptr && gradient->angle() != 1;
}

void ProjectedMap::prepare_growth(Context& context) const {
  const Stage unseen(context, 0);
  const int64_t bytes = checked_multiply(inputs(), int64_t{sizeof(double)}, kLargeAngles);
  growth_.prepare(0, {bytes, 0, kLargeAngles}, context,
                  [&](int64_t) { return find_growth(context); });
}

ProjectedMap::Growth ProjectedMap::find_growth(Context& context) const {
  const projection::Projection& projection = *parts_.projections[0];
  const int64_t d = inputs(), F = std::min(projection.outputs(), kSampledFrequencies);
  const int64_t step = std::clamp<int64_t>(kRedoneBytes / (d * int64_t{sizeof(double)}), 1, F);
  const Matrix<double> omega(step, d, context, kLargeAngles);
  Growth growth{AlignedBuffer<double>(d), 0};
  std::ranges::fill(growth.scales, 0.0);
  for (int64_t j0 = 0; j0 < F; j0 += step) {
    const MatrixView<double> some = omega.view().block_rows(0, std::min(step, F - j0));
    projection.frequencies(j0, context, some);
    for (int64_t j = 0; j < some.rows; ++j)
      for (int64_t k = 0; k < d; ++k)
        growth.scales[k] = std::max(growth.scales[k], std::fabs(some(j, k)));
  }
  double square = 0;
  for (double& scale : growth.scales) {
    scale *= projection::factor_of(projection::Unit::turns);
    square += scale * scale;
  }
  growth.norm = std::sqrt(square);
  return growth;
}

template <class T>
bool ProjectedMap::Growth::is_large(const std::vector<T>& row, double most) const noexcept {
  double square = 0;
  for (size_t k = 0; k < row.size(); ++k) {
    if (!std::isfinite(row[k])) return false;
    const double turns = scales[static_cast<int64_t>(k)] * static_cast<double>(row[k]);
    square += turns * turns;
  }
  return square > most * most;
}

bool ProjectedMap::rewrites() const noexcept {
  return parts_.prologue != nullptr && parts_.prologue->shape().rewrites;
}

/// Rows of smaller numbers are not large; with those that are not rewritten this is seen as they
/// are computed.
template <class T>
T ProjectedMap::reach_of(Context& context) const {
  constexpr T kNever = std::numeric_limits<T>::infinity();
  if (!has_angles()) return kNever;
  double norm = norm_.load(std::memory_order_relaxed);
  if (norm < 0) {
    prepare_growth(context);
    norm = growth_[0].norm;
    norm_.store(norm, std::memory_order_relaxed);
  }
  const double reach = kMostTurns<T> / norm;
  if (rewrites() && reach >= kMostRewritten) return kNever;
  return static_cast<T>(std::min<double>(reach, std::numeric_limits<T>::max()));
}

template <class T>
std::vector<int64_t> ProjectedMap::large_rows(const auto& X, Context& context) const {
  const T most = reach_of<T>(context);
  if (std::isinf(most) || X.rows == 0) return {};
  prepare_growth(context);
  const Growth& growth = growth_[0];
  std::vector<int64_t> large;
  std::vector<T> row(X.cols);
  for (int64_t i = 0; i < X.rows; ++i) {
    if (!rewrites() && !goes_beyond(X, i, i + 1, most)) continue;
    copy_row(X, i, row.data());
    if (rewrites()) {
      std::vector<T> numbers(parts_.prologue->shape().row_numbers);
      parts_.prologue->run(row.data(), X.cols, row.data(), numbers.data());
    }
    if (growth.is_large(row, kMostTurns<T>)) large.push_back(i);
  }
  return large;
}

template <class T, class Body>
void ProjectedMap::run_rows(const auto& X, Context& context, MatrixView<T> out, const Body& body,
                            MatrixView<const T> V) const {
  body(parts_, X, V, out);
  const T most = reach_of<T>(context);
  if (std::isinf(most)) return;
  if (rewrites() || some_go_beyond(X, most, context))
    redo_rows<T>(X, large_rows<T>(X, context), context, out, body, V);
}

template <class T, class Body>
void ProjectedMap::redo_rows(const auto& X, const std::vector<int64_t>& large, Context& context,
                             MatrixView<T> out, const Body& body, MatrixView<const T> V) const {
  const int64_t count = std::ssize(large);
  const Stage unseen(context, 0);
  ProjectedParts exact = parts_;
  exact.reduced = std::make_shared<const ReducedAngles>(*parts_.projections[0]);
  const int64_t row = checked_add(X.cols + V.cols, out.cols, kLargeAngles);
  const int64_t step = std::clamp<int64_t>(kRedoneBytes / row / int64_t{sizeof(T)}, 1, kMostRedone);
  for (int64_t i = 0; i < count; i += step) {
    const std::span<const int64_t> rows = std::span(large).subspan(i, std::min(step, count - i));
    const Matrix<T> own = copied_rows<T>(X, rows, context),
                    vectors = copied_rows<T>(V, rows, context);
    const Matrix<T> made(own.rows(), out.cols, context, kLargeAngles);
    body(exact, MatrixView<const T>(own.view()), MatrixView<const T>(vectors.view()), made.view());
    for (int64_t r = 0; r < own.rows(); ++r)
      std::copy_n(made.view().row(r), out.cols, out.row(rows[r]));
    context.checkpoint();
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
  run_rows<T>(
      X, context, out,
      [&](const ProjectedParts& parts, auto rows, auto cotangents, auto to) {
        pull_back_projected<T>(parts, columns(T{}), rows, cotangents, context, to);
      },
      G);
}

template <class T>
void ProjectedMap::push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                                     MatrixView<T> out) const {
  run_rows<T>(
      X, context, out,
      [&](const ProjectedParts& parts, auto rows, auto directions, auto to) {
        push_forward_projected<T>(parts, columns(T{}), rows, directions, context, to);
      },
      V);
}

template <class T>
void ProjectedMap::differentiate_rows(const Derivative& what, MatrixView<const T> X,
                                      Context& context, MatrixView<T> out) const {
  run_rows<T>(X, context, out, [&](const ProjectedParts& parts, auto rows, auto, auto to) {
    differentiate_projected<T>(parts, columns(T{}), what, rows, context, to);
  });
}

MERCER_INSTANTIATE_DERIVATIVE_MEMBERS(ProjectedMap)

bool ProjectedMap::reads_sparse() const noexcept {
  bool all = parts_.prologue == nullptr || parts_.prologue->shape().keeps_zeros;
  for (const auto& projection : parts_.projections) all = all && projection->sparse() != nullptr;
  return all;
}

void ProjectedMap::prepare(Precision precision, Context& context) const {
  if (has_angles()) prepare_growth(context);
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
