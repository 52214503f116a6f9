// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Nystroem features (Williams, Seeger 2001): with D of the rows as landmarks L,
//   Z = K(X, L) B, B B' = K(L, L)^+,
// so that Z Z' = K(X, L) K(L, L)^+ K(L, Y), which is K itself on the landmarks. B is the lower
// trapezoidal root, which takes half the products of the symmetric root that older files hold.
// With an order, each landmark has beside its value all partial derivatives in it up to that order:
// Z spans the representers of values and derivatives there (Szabo, Sriperumbudur 2019, equation 5;
// Rosasco et al. 2013), so that fits to values and derivatives at the landmarks, and fits with
// penalties on them, are those of the kernel itself.
// Eigenvalues below cutoff times the largest, or below what errors of the kernel's values make of 0
// (radial), count as 0; each leaves a column of
// zeros. The root is kept in files, since LAPACK's bits depend on the machine. Where the root would
// magnify rounding, and for sparse landmarks, kernel values and products are computed in double for
// float rows, too.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/derivatives.h"
#include "feature/kernel_field.h"
#include "feature/landmarks.h"
#include "feature/map_entry.h"
#include "feature/nystroem_derivative.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"

namespace mercer::feature {
namespace {

// Rows at a time: their kernel values stay in the cache, and with more rows the root is read less
// often.
constexpr int64_t kTile = 32, kTallTile = 96;
constexpr int64_t kBlock = 512;                // rows whose values in blocks are held
constexpr int64_t kManyRows = 16 * kTallTile;  // enough for every thread
// The largest error of features of float rows, on the scale of sqrt(variance).
constexpr double kFloatError = 1e-5;
// Eigenvalues below 0 by this share of the largest are more than rounding.
constexpr double kIndefinite = 1e-7;
constexpr double kMostOrder = 4;             // of derivatives at landmarks,
constexpr int64_t kMostFunctionals = 65536;  // and how many at each: D^2 numbers are kept
// Units of progress: of the Gram matrix of landmarks, a decomposition and a factorisation.
constexpr int64_t kGramUnits = 1, kEigenUnits = 8, kRootUnits = 2;

/// What is learnt.
struct Landmarks {
  LandmarkRows rows;
  Matrix<double> root;  // D x D
  int64_t rank = 0;
};

struct Options {
  uint64_t seed;
  std::string landmarks;  // how they are chosen
  double cutoff;
  int64_t order;
};

/// All partial derivatives of d inputs up to a total order, the lower orders first.
std::vector<MultiIndex> partials_up_to(int64_t d, int64_t order) {
  std::vector<MultiIndex> all(1);
  for (size_t first = 0; order > 0; --order) {
    const size_t end = all.size();
    for (; first < end; ++first) {
      const MultiIndex p = all[first];
      for (int64_t k = p.empty() ? 0 : p.back().input; k < d; ++k) {
        all.push_back(p);
        if (!p.empty() && p.back().input == k) {
          ++all.back().back().order;
        } else {
          all.back().push_back({k, 1});
        }
      }
    }
  }
  return all;
}

/// How many these are: d + order over order.
int64_t functionals_of(const MapArguments& a) {
  const int64_t order = a.own.integer("order");
  int64_t count = 1;
  for (int64_t k = 1; k <= order; ++k) {
    count = checked_multiply(count, a.inputs + k, "derivatives at a landmark") / k;
    require(count <= kMostFunctionals, MERCER_UNSUPPORTED,
            "order = %ld of %ld inputs, expected no more than %ld derivatives at each landmark",
            order, a.inputs, kMostFunctionals);
  }
  return count;
}

// Whether float kernel values are accurate enough: their rounding reaches a feature as at most
// 2^-24 variance ||root||_F, on the scale of the root of the variance. Landmarks far from the
// origin, in lengthscales, lose as much again before they are subtracted.
bool serves_float(const kernel::Kernel& kernel, MatrixView<const double> rows,
                  const Matrix<double>& root) {
  if (!kernel.traits().is_gaussian || rows.data == nullptr) return false;
  const auto l = kernel.lengthscale();
  double far = 0;
  for (int64_t i = 0; i < rows.rows; ++i)
    for (int64_t k = 0; k < rows.cols; ++k)
      far = std::max(far, std::fabs(rows(i, k)) / l[l.size() > 1 ? static_cast<size_t>(k) : 0]);
  double squares = 0;
  for (int64_t i = 0; i < root.rows() * root.cols(); ++i)
    squares += root.data()[i] * root.data()[i];
  return 0x1p-24 * std::sqrt(kernel.variance() * squares) * std::max(1.0, far) <= kFloatError;
}

/// Kernel values with rows that the map keeps, times a root: their derivatives.
class LandmarkMap : public FeatureMap, public Derivatives, public LengthscaleSlopes {
 public:
  const kernel::Kernel& kernel() const noexcept final { return *kernel_; }

  const Derivatives* derivatives() const noexcept final {
    return most_order() > 0 ? this : nullptr;
  }
  int64_t most_order() const noexcept final {
    return std::min(kernel_->most_derivatives(), kernel::kMostDerivatives) - order_;
  }
  MERCER_DERIVATIVE_CALLS_BY(parts())
  void require_lengthscale_slopes() const final {
    feature::require_lengthscale_slopes(parts(), name(), root().rank);
  }
  void pull_back_to_lengthscale(MatrixView<const float> X, MatrixView<const float> G,
                                Context& context, std::span<double> each) const final {
    pull_to_lengthscale(X, G, context, each);
  }
  void pull_back_to_lengthscale(MatrixView<const double> X, MatrixView<const double> G,
                                Context& context, std::span<double> each) const final {
    pull_to_lengthscale(X, G, context, each);
  }

 protected:
  struct Root {
    MatrixView<const double> numbers = {};
    const NystroemPanels<double>* panels = nullptr;  // null: the identity
    int64_t rank = 0;
  };

  LandmarkMap(std::unique_ptr<const kernel::Kernel> kernel, LandmarkRows rows, int64_t order = 0)
      : LandmarkMap(std::move(kernel), std::move(rows), order,
                    partials_up_to(rows.view().cols(), order)) {}

  const LandmarkRows& landmarks() const noexcept { return rows_; }
  MatrixView<const double> dense_landmarks() const noexcept { return rows_.dense(); }
  /// Those of each landmark; none where it has its value alone.
  std::span<const MultiIndex> functionals() const noexcept {
    return order_ > 0 ? std::span(functionals_) : std::span<const MultiIndex>();
  }

  virtual Root root() const noexcept { return {}; }
  LandmarkParts parts() const {
    LandmarkParts parts{*kernel_, dense_landmarks(), root().numbers, root().panels, functionals()};
    if (const CsrRows* const sparse = rows_.stored()) {
      parts.dense = Matrix<double>(rows_.count(), inputs());
      parts.dense.fill(0);
      for (int64_t l = 0; l < rows_.count(); ++l)
        add_row(sparse->view(), l, parts.dense.view().row(l));
      parts.landmarks = parts.dense.view();
    }
    return parts;
  }

 private:
  LandmarkMap(std::unique_ptr<const kernel::Kernel> kernel, LandmarkRows&& rows, int64_t order,
              std::vector<MultiIndex> functionals)
      : FeatureMap(
            rows.view().cols(),
            checked_multiply(checked_multiply(rows.count(), std::ssize(functionals), "features"),
                             kernel->outputs(rows.view().cols()), "features"),
            false, kernel->outputs(rows.view().cols())),
        kernel_(std::move(kernel)),
        rows_(std::move(rows)),
        order_(order),
        functionals_(std::move(functionals)) {}

  template <class T>
  void pull_to_lengthscale(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                           std::span<double> each) const {
    check_vectors(*this, X, G, row_length(), MatrixView<T>{nullptr, X.rows, inputs()}, inputs());
    pull_rows_to_lengthscale(parts(), X, G, context, each);
  }

  std::unique_ptr<const kernel::Kernel> kernel_;
  LandmarkRows rows_;
  int64_t order_;
  std::vector<MultiIndex> functionals_;
};

class Nystroem final : public LandmarkMap {
 public:
  Nystroem(std::unique_ptr<const kernel::Kernel> kernel, const Options& options, Landmarks learnt)
      : LandmarkMap(std::move(kernel), std::move(learnt.rows), options.order),
        options_(options),
        root_(std::move(learnt.root)),
        rank_(learnt.rank),
        double_(this->kernel(), panel_landmarks(), root_.view()),
        values_(*this) {
    if (functionals().empty() && serves_float(this->kernel(), dense_landmarks(), root_))
      single_.emplace(this->kernel(), dense_landmarks(), root_.view());
  }

  std::string_view name() const noexcept override { return "nystroem"; }
  Parameters parameters() const override {
    Parameters spec = common_parameters(options_.seed);
    spec.set("landmarks", options_.landmarks);
    spec.set("cutoff", options_.cutoff);
    spec.set("order", options_.order);
    spec.set("rank", rank_);
    spec.set("needs", std::string("data"));
    return spec;
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    kernel::check_unit_rows(kernel(), "X", X);
    if (!functionals().empty()) {
      apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
        apply_functionals(parts(), rows, c, context, out);
      });
      return;
    }
    if (in_blocks()) {
      X.visit([&](const auto& rows) {
        apply_blocks(X, c, context, result_of<RowNumberOf<decltype(rows)>>(Z));
      });
      return;
    }
    apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
      apply_dense(rows, c, context, out);
    });
  }

  void prepare(Precision, Context&) const override {}  // the constructor packs

  Factors factors() const noexcept override {
    if (in_blocks() || !functionals().empty()) return {};
    return {&values_, root_.view(), !single_};
  }

  std::vector<NumberArray> numbers() const override {
    const int64_t D = features();
    std::vector<NumberArray> arrays = landmarks().numbers();
    arrays.push_back({"root", {D, D}, std::vector<double>(root_.data(), root_.data() + D * D)});
    arrays.push_back({"rank", {1}, std::vector<int64_t>{rank_}});
    return arrays;
  }

 private:
  Root root() const noexcept override { return {root_.view(), &double_, rank_}; }
  /// What panels compute kernel values with: as many as there are columns.
  MatrixView<const double> panel_landmarks() const noexcept {
    return functionals().empty() ? dense_landmarks()
                                 : MatrixView<const double>(nullptr, features(), inputs());
  }
  /// Kernel values of a block of rows at a time, not of tiles.
  bool in_blocks() const noexcept {
    return landmarks().stored() != nullptr || kernel().traits().calls != kernel::Calls::none;
  }

  // Kernel values of a block of rows with the landmarks, then tiles of the block times the root.
  template <class T>
  void apply_blocks(const Rows& X, Columns c, Context& context, MatrixView<T> Z) const {
    if (X.rows() == 0 || c.begin == c.end) return;
    constexpr int64_t kWidth = NystroemPanels<double>::kWidth;
    const int64_t n = X.rows(), size = std::min(n, kBlock), D = features();
    const Matrix<double> K(size, double_.padded(), context, "the kernel values of a block of rows");
    const AlignedBuffer<double> P(
        checked_multiply(worker_count(context, (size - 1) / kTile + 1), kTile * kWidth, "tiles"),
        context, "products of all threads");
    K.fill(0);
    Stage stage(context, n);
    for (int64_t i0 = 0; i0 < n; i0 += size) {
      const int64_t rows = std::min(size, n - i0);
      stage.share(rows);
      kernel::gram(kernel(), X.block_rows(i0, i0 + rows), landmarks().view(), context,
                   K.view().block_rows(0, rows).block_cols(0, D));
      parallel_for(
          context, (rows - 1) / kTile + 1,
          [&](int64_t chunk, int worker) noexcept {
            const int64_t first = chunk * kTile, last = std::min(rows, first + kTile);
            double_.times_root(MatrixView<const double>(K.view().block_rows(first, last)), c,
                               Z.block_rows(i0 + first, i0 + last),
                               P.data() + worker * kTile * kWidth);
          },
          0);
      stage.advance(rows);
    }
  }

  template <class T>
  void apply_dense(MatrixView<const T> X, Columns c, Context& context, MatrixView<T> Z,
                   bool times_root = true) const {
    if constexpr (std::is_same_v<T, float>) {
      if (single_) return apply_panels(*single_, X, c, context, Z, times_root);
    }
    apply_panels(double_, X, c, context, Z, times_root);
  }

  /// K(X, L) alone.
  class Values final : public FeatureMap {
   public:
    explicit Values(const Nystroem& of) : FeatureMap(of.inputs(), of.features(), false), of_(of) {}
    std::string_view name() const noexcept override { return of_.name(); }
    Parameters parameters() const override { return of_.parameters(); }
    const kernel::Kernel& kernel() const noexcept override { return of_.kernel(); }
    void prepare(Precision, Context&) const override {}
    void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
      kernel::check_unit_rows(kernel(), "X", X);
      apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
        of_.apply_dense(rows, c, context, out, false);
      });
    }

   private:
    const Nystroem& of_;
  };

  template <class C, class T>
  static void apply_panels(const NystroemPanels<C>& panels, MatrixView<const T> X, Columns c,
                           Context& context, MatrixView<T> Z, bool times_root) {
    const int64_t rows = X.rows >= kManyRows ? kTallTile : kTile;
    const int64_t chunks = (X.rows - 1) / rows + 1, each = panels.scratch(rows);
    const AlignedBuffer<C> buffer(checked_multiply(worker_count(context, chunks), each, "tiles"),
                                  context, "the kernel values of all threads");
    parallel_for(
        context, chunks,
        [&](int64_t chunk, int worker) noexcept {
          const int64_t i0 = chunk * rows, i1 = std::min(X.rows, i0 + rows);
          const MatrixView<const T> x = X.block_rows(i0, i1);
          C* const scratch = buffer.data() + worker * each;
          if (times_root) {
            panels.tile(x, c, Z.block_rows(i0, i1), scratch);
          } else {
            panels.values(x, c, Z.block_rows(i0, i1), scratch);
          }
        },
        rows);
  }

  Options options_;
  Matrix<double> root_;  // D x D
  int64_t rank_;
  NystroemPanels<double> double_;
  std::optional<NystroemPanels<float>> single_;  // if that is enough for float rows
  Values values_;
};

/// A lower trapezoidal root B of the pseudo-inverse, B B' = K(L, L)^+, by its eigenvectors, and the
/// rank. functionals: of each landmark, or none.
Landmarks with_root(const kernel::Kernel& kernel, LandmarkRows rows,
                    std::span<const MultiIndex> functionals, double cutoff, Context& context) {
  const int64_t D = rows.count() * std::max<int64_t>(std::ssize(functionals), 1);
  const char* const what = "the kernel matrix of the landmarks";
  const Matrix<double> K(D, D, context, what);
  Stage stage(context, kGramUnits + kEigenUnits + kRootUnits);
  stage.part(kGramUnits, [&] {
    if (functionals.empty()) {
      kernel::gram(kernel, rows.view(), rows.view(), context, K.view());
    } else {
      functional_gram({kernel, rows.dense(), {}, nullptr, functionals}, context, K.view());
    }
  });
  std::vector<double> values(D);
  stage.part(kEigenUnits, [&] { linalg::symmetric_eigen(K.view(), values, context); });
  stage.share(kRootUnits);
  require(values.back() > 0 && std::isfinite(values.back()), MERCER_INVALID_ARGUMENT,
          "the kernel matrix of the landmarks has the largest eigenvalue %g, expected a positive "
          "finite one",
          values.back());
  // Errors of entries move eigenvalues by at most D times as much (Weyl 1912).
  const double known = static_cast<double>(D) * kernel.traits().value_error;
  const double least = std::max(cutoff * values.back(), std::min(known, 0.5 * values.back()));
  require(values.front() >= -std::max(kIndefinite * values.back(), known),
          MERCER_NOT_POSITIVE_DEFINITE,
          "the kernel matrix of the landmarks has the eigenvalue %g beside %g, expected none below "
          "0",
          values.front(), values.back());
  const auto kept = std::upper_bound(values.begin(), values.end(), least);
  const int64_t first = kept - values.begin();
  for (int64_t i = first; i < D; ++i) {
    const double scale = 1 / std::sqrt(values[i]);
    for (int64_t j = 0; j < D; ++j) K(i, j) *= scale;
  }
  const MatrixView<double> R = K.view().block_rows(first, D);
  linalg::upper_trapezoid(R, context);
  Landmarks landmarks{std::move(rows), Matrix<double>(D, D, context, what), D - first};
  landmarks.root.fill(0);
  for (int64_t j = 0; j < R.rows; ++j)
    for (int64_t l = j; l < D; ++l) landmarks.root(l, j) = R(j, l);
  return landmarks;
}

/// Kernels have derivatives at dense rows.
LandmarkRows dense_landmarks(const kernel::Kernel& kernel, const Rows& rows,
                             std::span<const int64_t> chosen, Context& context) {
  const Matrix<double> dense = copied_rows(kernel, rows, chosen, context);
  std::vector<int64_t> all(chosen.size());
  std::iota(all.begin(), all.end(), 0);
  return {kernel, Rows(MatrixView<const double>(dense.view())), all, context};
}

Landmarks learnt(const MapArguments& a, const Options& options) {
  const Rows& rows = *a.data.rows;
  if (a.own.find("rank") != nullptr) {
    fail(MERCER_INVALID_ARGUMENT, "rank = %ld, expected it left out: it follows from the rows",
         a.own.integer("rank"));
  }
  Context& context = *a.data.context;
  Stage stage(context, 2);  // about as much each, of landmarks that are not just drawn
  const int64_t choosing = landmarks_from_pool(options.landmarks) ? 1 : 0;
  stage.share(choosing);
  const std::vector<int64_t> chosen = choose_landmarks(
      options.landmarks, a.kernel, rows, a.features / functionals_of(a), options.seed, context);
  stage.advance(choosing);
  stage.share(2 - choosing);
  LandmarkRows landmarks = options.order > 0 ? dense_landmarks(a.kernel, rows, chosen, context)
                                             : LandmarkRows(a.kernel, rows, chosen, context);
  const std::vector<MultiIndex> functionals = partials_up_to(a.inputs, options.order);
  return with_root(a.kernel, std::move(landmarks),
                   options.order > 0 ? std::span(functionals) : std::span<const MultiIndex>(),
                   options.cutoff, context);
}

/// The arguments of as many rows as a map keeps, each with so many features.
MapArguments of_landmarks(const MapArguments& a, int64_t each) {
  MapArguments rows = a;
  rows.features /= each;
  return rows;
}

Landmarks loaded_landmarks(const MapArguments& a) {
  const int64_t D = a.features;
  const auto& rank = find_integers(a.data.numbers, "rank", std::array<int64_t, 1>{1});
  require(rank[0] >= 1 && rank[0] <= D, MERCER_CORRUPT_FILE, "rank = %ld, expected 1 to %ld",
          rank[0], D);
  const auto& root = find_doubles(a.data.numbers, "root", std::array<int64_t, 2>{D, D});
  return {LandmarkRows(of_landmarks(a, functionals_of(a))), matrix_from(root, D, D), rank[0]};
}

std::unique_ptr<FeatureMap> nystroem_from(const MapArguments& a) {
  a.kernel.check_dimension(a.inputs);
  const Options options{a.seed, a.own.text("landmarks"), a.own.number("cutoff"),
                        a.own.integer("order")};
  require(options.order == 0 || a.kernel.most_derivatives() >= 2 * options.order,
          MERCER_UNSUPPORTED,
          "order = %ld of map nystroem of kernel %s, expected at most %ld, half of the derivatives "
          "that it has",
          options.order, std::string(a.kernel.name()).c_str(), a.kernel.most_derivatives() / 2);
  const int64_t each = functionals_of(a);
  require(a.features % each == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected a multiple of %ld, the value and derivatives at a landmark",
          a.features, each);
  Landmarks landmarks = a.data.rows != nullptr ? learnt(a, options) : loaded_landmarks(a);
  return std::make_unique<Nystroem>(a.kernel.copy(), options, std::move(landmarks));
}

// The kernel's values with every row that the map is made from, Z = K(X, L): no approximation. A
// fit on it is kernel ridge, alpha = (K + n lambda I)^{-1} y (Saunders, Gammerman, Vovk 1998), with
// all that fits on features offer: leave-one-out, weights, searches, files. Of a kernel of p outputs
// rows and columns are those of blocks K(x, x_j), p x p (Brault et al. 2016, section 5.1).
constexpr int64_t kKernelBytes = int64_t{32}
                                 << 20;  // of double values that floats are rounded from

class Exact final : public LandmarkMap, public KernelColumns {
 public:
  Exact(std::unique_ptr<const kernel::Kernel> kernel, uint64_t seed, LandmarkRows rows)
      : LandmarkMap(std::move(kernel), std::move(rows)), seed_(seed) {}

  std::string_view name() const noexcept override { return "exact"; }
  Parameters parameters() const override {
    Parameters spec = common_parameters(seed_);
    spec.set("needs", std::string("data"));
    return spec;
  }
  bool has_kernel_columns() const noexcept override { return true; }
  Rows kept() const override { return landmarks().view(); }
  const kernel::Kernel& of_kept() const override { return kernel(); }
  std::vector<NumberArray> numbers() const override { return landmarks().numbers(); }
  void prepare(Precision, Context&) const override {}  // nothing is packed

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    const auto* const values = Z.get_if<double>();
    const Columns blocks{c.begin / outputs(), ceil_divide(c.end, outputs())};
    if (values != nullptr && (blocks.end - blocks.begin) * outputs() == c.end - c.begin)
      return kernel::gram(kernel(), X, kept().block_rows(blocks.begin, blocks.end), context,
                          *values);
    apply_copied(X, c, blocks, context, Z);
  }

 private:
  /// Columns c of whole blocks, rounded where Z is in single precision.
  void apply_copied(const Rows& X, Columns c, Columns blocks, Context& context,
                    const ResultView& Z) const {
    const int64_t p = outputs(), width = std::max<int64_t>((blocks.end - blocks.begin) * p, 1);
    const int64_t size = std::clamp<int64_t>(kKernelBytes / (8 * width * p), 1, X.rows() + 1);
    const Matrix<double> K(std::min(size, X.rows()) * p, width, context,
                           "a block of kernel values");
    Stage stage(context, X.rows());
    for (int64_t first = 0; first < X.rows() && c.begin < c.end; first += size) {
      const int64_t count = std::min(size, X.rows() - first);
      stage.share(count);
      apply(X.block_rows(first, first + count), {blocks.begin * p, blocks.end * p}, context,
            K.view().block_rows(0, count * p));
      const auto* const doubles = Z.get_if<double>();
      for (int64_t i = 0; i < count * p; ++i)
        for (int64_t j = 0; j < Z.cols(); ++j) {
          const double value = K(i, c.begin - blocks.begin * p + j);
          if (doubles != nullptr)
            (*doubles)(first * p + i, j) = value;
          else
            result_of<float>(Z)(first * p + i, j) = static_cast<float>(value);
        }
      stage.advance(count);
    }
  }

  uint64_t seed_;
};

LandmarkRows all_rows(const MapArguments& a) {
  const Rows& rows = *a.data.rows;
  const int64_t D = checked_multiply(rows.rows(), a.kernel.outputs(a.inputs), "features");
  require(D == a.features, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: map exact has one for each row and output", a.features, D);
  std::vector<int64_t> all(rows.rows());
  std::iota(all.begin(), all.end(), 0);
  return LandmarkRows(a.kernel, rows, all, *a.data.context);
}

std::unique_ptr<FeatureMap> exact_from(const MapArguments& a) {
  const int64_t p = a.kernel.outputs(a.inputs);
  require(a.features % p == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected a multiple of %ld, the outputs of the kernel", a.features, p);
  return std::make_unique<Exact>(
      a.kernel.copy(), a.seed,
      a.data.rows != nullptr ? all_rows(a) : LandmarkRows(of_landmarks(a, p)));
}

}  // namespace

MapEntry nystroem_entry() {
  return {
      .name = "nystroem",
      .help =
          "kernel values with landmarks among the rows, times the inverse root of their kernel "
          "matrix: exact on the landmarks; any kernel of numbers; D (d + D/2) per row",
      .fields = {choice_field("landmarks", "uniform", landmark_choices(),
                              "how the `features` landmarks are chosen among the rows; kmeans: "
                              "by k-means++ seeding, farthest: each is the row farthest from "
                              "those before, both in the kernel's distance; leverage: by ridge "
                              "leverage scores, rpcholesky: by randomly pivoted Cholesky; "
                              "supplied: all rows are landmarks"),
                 number_field("cutoff", 1e-12, 0, 1,
                              "eigenvalues up to this share of the largest count as 0"),
                 integer_field("order", 0, 0, kMostOrder,
                               "beside the value at each landmark all partial derivatives in it "
                               "up to this order: fits to such observations are exact"),
                 integer_field(
                     "rank", kOptional, 1, kUnbounded,
                     "eigenvalues above the cutoff: set when the map is made, not asked for")},
      .make = nystroem_from,
      .needs_rows = true,
      .row_per_feature = true,
      .features_step = functionals_of};
}

MapEntry exact_entry() {
  return {
      .name = "exact",
      .help =
          "the kernel's values with all rows that it is made from, k(x, x_j), one column "
          "each, p of p outputs: a fit on it is kernel ridge itself, (n p)^3; any kernel; n d p "
          "per row",
      .make = exact_from,
      .needs_rows = true,
      .row_per_feature = true,
      .keeps_all_rows = true,
      .features_step = [](const MapArguments& a) { return a.kernel.outputs(a.inputs); },
      .of_outputs = true};
}

}  // namespace mercer::feature
