// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Nystroem features (Williams, Seeger 2001): with D landmarks L out of the rows,
//   Z = K(X, L) K(L, L)^(-1/2),
// so that Z Z' = K(X, L) K(L, L)^+ K(L, Y), which is K itself on the landmarks. The symmetric root
// keeps D columns whatever the rank; eigenvalues below cutoff times the largest count as 0, since
// what is left of them is rounding. The root is kept in files: LAPACK's bits are the machine's.
// Kernel values and products are double for float rows, too: the root magnifies rounding.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/parallel.h"
#include "feature/landmarks.h"
#include "feature/map_entry.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "transform/dense_panel.h"

namespace mercer::feature {
namespace {

constexpr int64_t kWidth = transform::kPanelColumns<double>;
constexpr int64_t kRows = 32;  // of X at a time: their kernel values stay in the cache

int64_t panels_of(int64_t D) { return (D - 1) / kWidth + 1; }

/// What is learnt.
struct Landmarks {
  Matrix<double> rows;  // D x d
  Matrix<double> root;  // D x D
  int64_t rank = 0;
};

struct Options {
  uint64_t seed;
  std::string landmarks;  // how they are chosen
  double cutoff;
};

class Nystroem final : public FeatureMap {
 public:
  Nystroem(std::unique_ptr<const kernel::Kernel> kernel, const Options& options,
           Landmarks landmarks)
      : FeatureMap(landmarks.rows.cols(), landmarks.rows.rows(), false),
        kernel_(std::move(kernel)),
        options_(options),
        landmarks_(std::move(landmarks)),
        panels_(checked_multiply(panels_of(features()) * kWidth, features(), "the root")) {
    for (int64_t k = 0; k < features(); ++k) {
      for (int64_t j = 0; j < panels_of(features()) * kWidth; ++j) {
        panels_[j / kWidth * kWidth * features() + k * kWidth + j % kWidth] =
            j < features() ? landmarks_.root(k, j) : 0.0;
      }
    }
  }

  std::string_view name() const noexcept override { return "nystroem"; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override {
    Parameters spec = common_parameters(options_.seed);
    spec.set("landmarks", options_.landmarks);
    spec.set("cutoff", options_.cutoff);
    spec.set("rank", landmarks_.rank);
    spec.set("needs", std::string("data"));
    return spec;
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
      apply_dense(rows, c, context, out);
    });
  }

  void prepare(Precision, Context&) const override {}  // the constructor packs

  std::vector<NumberArray> numbers() const override {
    const int64_t D = features(), d = inputs();
    return {{"landmarks", {D, d}, copied(landmarks_.rows)},
            {"root", {D, D}, copied(landmarks_.root)},
            {"rank", {1}, std::vector<int64_t>{landmarks_.rank}}};
  }

 private:
  static std::vector<double> copied(const Matrix<double>& A) {
    return {A.data(), A.data() + A.rows() * A.cols()};
  }

  /// Doubles that a worker needs: kernel values, a panel of Z, a row of X.
  int64_t scratch() const {
    return checked_add(checked_multiply(kRows, checked_add(features(), kWidth, "a tile"), "a tile"),
                       inputs(), "a tile") /
               8 * 8 +
           8;
  }

  template <class T>
  void apply_dense(MatrixView<const T> X, Columns c, Context& context, MatrixView<T> Z) const {
    const int64_t chunks = (X.rows - 1) / kRows + 1;
    const int64_t numbers = checked_multiply(worker_count(context, chunks), scratch(), "tiles");
    const AlignedBuffer<double> buffer(numbers, context, "the kernel values of all threads");
    parallel_for(
        context, chunks,
        [&](int64_t chunk, int worker) noexcept {
          const int64_t i0 = chunk * kRows, i1 = std::min(X.rows, i0 + kRows);
          tile(X.block_rows(i0, i1), c, Z.block_rows(i0, i1), buffer.data() + worker * scratch());
        },
        kRows);
  }

  template <class T>
  void tile(MatrixView<const T> X, Columns c, MatrixView<T> Z, double* scratch) const noexcept {
    double* const P = scratch;  // aligned for the panels
    double* const K = P + kRows * kWidth;
    double* const x = K + kRows * features();
    for (int64_t i = 0; i < X.rows; ++i) {
      std::copy_n(X.row(i), inputs(), x);
      for (int64_t l = 0; l < features(); ++l) {
        K[i * features() + l] = kernel_->value(inputs(), x, landmarks_.rows.view().row(l));
      }
    }
    const MatrixView<const double> values{K, X.rows, features(), features()};
    for (int64_t panel = c.begin / kWidth; panel * kWidth < c.end; ++panel) {
      transform::project_panel(values, panels_.data() + panel * kWidth * features(), P);
      const int64_t j0 = std::max(c.begin, panel * kWidth);
      const int64_t j1 = std::min(c.end, (panel + 1) * kWidth);
      for (int64_t i = 0; i < X.rows; ++i) {
        const double* const p = P + i * kWidth - panel * kWidth;
        for (int64_t j = j0; j < j1; ++j) Z(i, j - c.begin) = static_cast<T>(p[j]);
      }
    }
  }

  std::unique_ptr<const kernel::Kernel> kernel_;
  Options options_;
  Landmarks landmarks_;
  AlignedBuffer<double> panels_;  // of the root, 16 columns side by side
};

/// K(L, L)^(-1/2) by its eigenvectors, and the rank.
Landmarks with_root(const kernel::Kernel& kernel, Matrix<double> rows, double cutoff,
                    Context& context) {
  const int64_t D = rows.rows();
  const char* const what = "the kernel matrix of the landmarks";
  const Matrix<double> K(D, D, context, what);
  kernel::gram(kernel, rows.view(), rows.view(), context, K.view());
  std::vector<double> values(static_cast<size_t>(D));
  linalg::symmetric_eigen(K.view(), values, context);
  require(values.back() > 0 && std::isfinite(values.back()), MERCER_INVALID_ARGUMENT,
          "the kernel matrix of the landmarks has the largest eigenvalue %g, expected a positive "
          "finite one",
          values.back());
  const auto kept = std::upper_bound(values.begin(), values.end(), cutoff * values.back());
  const int64_t first = kept - values.begin();
  for (int64_t i = first; i < D; ++i) {
    const double scale = 1 / std::sqrt(std::sqrt(values[static_cast<size_t>(i)]));
    for (int64_t j = 0; j < D; ++j) K(i, j) *= scale;
  }
  Landmarks landmarks{std::move(rows), Matrix<double>(D, D, context, what), D - first};
  landmarks.root.fill(0);
  linalg::rank_update(1, K.view().block_rows(first, D), landmarks.root.view());
  for (int64_t i = 0; i < D; ++i) {
    for (int64_t j = 0; j < i; ++j) landmarks.root(j, i) = landmarks.root(i, j);
  }
  return landmarks;
}

Landmarks learnt(const MapArguments& a, const Options& options) {
  const Rows& rows = *a.data.rows;
  if (a.own.find("rank") != nullptr) {
    fail(MERCER_INVALID_ARGUMENT, "rank = %lld, expected it left out: it follows from the rows",
         static_cast<long long>(a.own.integer("rank")));
  }
  Context& context = *a.data.context;
  return with_root(
      a.kernel,
      choose_landmarks(options.landmarks, a.kernel, rows, a.features, options.seed, context),
      options.cutoff, context);
}

Matrix<double> matrix_from(const std::vector<double>& values, int64_t rows, int64_t cols) {
  Matrix<double> A(rows, cols);
  for (const double value : values) {
    require(std::isfinite(value), MERCER_CORRUPT_FILE, "landmarks or their root hold %g", value);
  }
  std::copy(values.begin(), values.end(), A.data());
  return A;
}

Landmarks loaded(const MapArguments& a) {
  const int64_t D = a.features, d = a.inputs;
  const auto& rank = find_integers(a.data.numbers, "rank", std::array<int64_t, 1>{1});
  require(rank[0] >= 1 && rank[0] <= D, MERCER_CORRUPT_FILE, "rank = %lld, expected 1 to %lld",
          static_cast<long long>(rank[0]), static_cast<long long>(D));
  const auto& rows = find_doubles(a.data.numbers, "landmarks", std::array<int64_t, 2>{D, d});
  const auto& root = find_doubles(a.data.numbers, "root", std::array<int64_t, 2>{D, D});
  return {matrix_from(rows, D, d), matrix_from(root, D, D), rank[0]};
}

std::unique_ptr<FeatureMap> nystroem_from(const MapArguments& a) {
  a.kernel.check_dimension(a.inputs);
  const Options options{a.seed, a.own.text("landmarks"), a.own.number("cutoff")};
  Landmarks landmarks = a.data.rows != nullptr ? learnt(a, options) : loaded(a);
  return std::make_unique<Nystroem>(a.kernel.copy(), options, std::move(landmarks));
}

}  // namespace

MapEntry nystroem_entry() {
  return {
      .name = "nystroem",
      .help =
          "kernel values with landmarks out of the rows, times the inverse root of their "
          "kernel matrix: exact on the landmarks; any kernel; D (d + D) per row",
      .fields = {choice_field("landmarks", "uniform", landmark_choices(),
                              "how the `features` landmarks are chosen out of the rows; kmeans: "
                              "by the seeding of k-means++, farthest: each the farthest from "
                              "those before, both in the kernel's distance; leverage: by ridge "
                              "leverage scores; supplied: all rows are landmarks"),
                 {.key = "cutoff",
                  .type = FieldType::number,
                  .fallback = 1e-12,
                  .least = 0,
                  .most = 1,
                  .help = "eigenvalues up to this share of the largest count as 0"},
                 {.key = "rank",
                  .type = FieldType::integer,
                  .fallback = std::nan(""),
                  .least = 1,
                  .help = "eigenvalues above the cutoff: said of a fitted map, not asked for"}},
      .make = nystroem_from,
      .needs_rows = true,
      .row_per_feature = true};
}

}  // namespace mercer::feature
