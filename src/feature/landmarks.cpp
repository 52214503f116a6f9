// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/landmarks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::feature {
namespace {

/// rows: their numbers in X.
void require_inside(const kernel::Kernel& kernel, std::span<const int64_t> rows,
                    MatrixView<const double> x) {
  if (kernel.matrix() != nullptr) return;  // of the blocks a fit says it
  std::vector<double> own(rows.size());
  kernel::diagonal(kernel, x, own);
  for (size_t l = 0; l < own.size(); ++l)
    require(std::isfinite(own[l]), MERCER_INVALID_ARGUMENT, at_row(rows[l]),
            "X has the value %g of kernel %s with itself, expected rows for which it does not "
            "overflow",
            own[l], std::string(kernel.name()).c_str());
}

constexpr int64_t kPoolPerLandmark = 16, kPoolOfFactor = 4;
constexpr int64_t kLeastPool = 10000;

std::vector<double> own_values(const LandmarkPool& pool) {
  std::vector<double> own(static_cast<size_t>(pool.rows.rows));
  kernel::diagonal(pool.kernel, pool.rows, own);
  return own;
}

Matrix<double> gathered(const LandmarkPool& pool, std::span<const int64_t> rows, const char* what) {
  Matrix<double> X(std::ssize(rows), pool.rows.cols, pool.context, what);
  for (int64_t i = 0; i < X.rows(); ++i)
    std::copy_n(pool.rows.row(rows[i]), X.cols(), X.view().row(i));
  return X;
}

// The squared distance of every row of a pool from the nearest landmark so far.
class Distances {
 public:
  explicit Distances(const LandmarkPool& pool)
      : pool_(pool),
        own_(own_values(pool)),
        nearest_(own_.size(), kInfinity),
        values_(pool.rows.rows, 1, pool.context, "kernel values with a landmark") {}

  /// Makes row l a landmark, which is marked by a distance below 0.
  void add(int64_t l) {
    const Stage own(pool_.context, 0);  // the caller counts landmarks
    kernel::gram(pool_.kernel, pool_.rows, pool_.rows.block_rows(l, l + 1), pool_.context,
                 values_.view());
    for (int64_t i = 0; i < pool_.rows.rows; ++i) {
      const double distance = own_[i] + own_[l] - 2 * values_(i, 0);
      nearest_[i] = std::min(nearest_[i], std::max(distance, 0.0));
    }
    nearest_[l] = -1;
  }
  std::span<const double> nearest() const noexcept { return nearest_; }

 private:
  const LandmarkPool& pool_;
  std::vector<double> own_;
  std::vector<double> nearest_;
  Matrix<double> values_;
};

// Chooses landmarks one after the other; next(nearest) is the index of each but the first.
template <class Next>
std::vector<int64_t> greedily(const LandmarkPool& pool, int64_t D, random::Cursor& cursor,
                              const Next& next) {
  Distances distances(pool);
  std::vector<int64_t> chosen{
      static_cast<int64_t>(random::uniform_below(cursor, static_cast<uint64_t>(pool.rows.rows)))};
  Stage stage(pool.context, D);
  while (std::ssize(chosen) < D) {
    distances.add(chosen.back());
    stage.advance(1);
    pool.context.checkpoint();
    chosen.push_back(next(distances.nearest()));
  }
  return chosen;
}

int64_t farthest(std::span<const double> nearest) {
  return std::max_element(nearest.begin(), nearest.end()) - nearest.begin();
}

struct Chooser {
  const char* name;
  std::vector<int64_t> (*choose)(const LandmarkPool&, int64_t D);
  int64_t pool = kPoolPerLandmark;  // rows
};
constexpr const char* kSuppliedRows = "supplied";
constexpr Chooser kFromPool[] = {{"kmeans", kmeans_landmarks},
                                 {"farthest", farthest_landmarks},
                                 {"leverage", leverage_landmarks},
                                 {"rpcholesky", cholesky_landmarks, kPoolOfFactor}};

// Landmarks by randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber 2023): each is drawn with a
// probability proportional to what is left of k(x, x) after projection on those before. In blocks
// (Epperly, Tropp, Webber 2024, algorithms 2 and 4): indices are drawn by what was left before the
// block, then one after the other accepted with the ratio of what is left now, which has the same
// distribution and needs products of matrices alone.
constexpr int64_t kDrawn = 128;     // at a time
constexpr double kNothing = 1e-13;  // of k(x, x): what is left is rounding
constexpr const char* kPivots = "the factor of randomly pivoted Cholesky";

class PivotedCholesky {
 public:
  PivotedCholesky(const LandmarkPool& pool, int64_t D)
      : pool_(pool),
        F_(D, pool.rows.rows, pool.context, kPivots),
        own_(own_values(pool)),
        left_(own_) {}
  const std::vector<int64_t>& pivots() const noexcept { return pivots_; }

  /// False if nothing is left to draw by.
  bool extend(random::Cursor& cursor) {
    const std::vector<int64_t> rows = drawn(cursor);
    if (rows.empty()) return false;
    const Matrix<double> H = residual_gram(rows);
    const std::vector<int64_t> accepted = accept(rows, H, cursor);
    append(accepted);
    return true;
  }

 private:
  int64_t count() const noexcept { return std::ssize(pivots_); }

  std::vector<int64_t> drawn(random::Cursor& cursor) const {
    std::vector<double> sums;
    double total = 0;
    for (const double left : left_) sums.push_back(total += left);
    std::vector<int64_t> rows;
    for (int64_t b = 0; b < kDrawn && total > 0; ++b) {
      const double u = random::uniform(cursor.next()) * total;
      const auto at = std::ranges::upper_bound(sums, u) - sums.begin();
      if (at < std::ssize(left_) && left_[at] > 0) rows.push_back(at);
    }
    return rows;
  }

  /// K - F'F between those rows.
  Matrix<double> residual_gram(const std::vector<int64_t>& rows) const {
    const Matrix<double> X = gathered(pool_, rows, kPivots), f = columns_of(rows);
    Matrix<double> H(X.rows(), X.rows(), pool_.context, kPivots);
    kernel::gram(pool_.kernel, X.view(), X.view(), pool_.context, H.view());
    linalg::multiply(-1.0, linalg::Transpose::yes, f.view(), linalg::Transpose::no, f.view(), 1.0,
                     H.view());
    return H;
  }

  /// Eliminates accepted rows from a copy of H.
  std::vector<int64_t> accept(const std::vector<int64_t>& rows, const Matrix<double>& H,
                              random::Cursor& cursor) {
    const int64_t b = H.rows();
    std::vector<int64_t> accepted;
    for (int64_t i = 0; i < b && count() + std::ssize(accepted) < F_.rows(); ++i) {
      const int64_t row = rows[i];
      const bool keeps = random::uniform(cursor.next()) * left_[row] < H(i, i);
      if (H(i, i) <= kNothing * own_[row]) {
        left_[row] = 0;
      } else if (keeps) {
        accepted.push_back(row);
        for (int64_t j = i + 1; j < b; ++j)
          for (int64_t k = i + 1; k < b; ++k) H(j, k) -= H(j, i) / H(i, i) * H(i, k);
      }
    }
    return accepted;
  }

  /// Computes their rows of F, and updates what is left.
  void append(std::vector<int64_t> rows) {
    const auto b = static_cast<int64_t>(rows.size());
    if (b == 0) return;
    const Matrix<double> X = gathered(pool_, rows, kPivots), f = columns_of(rows),
                         L = residual_gram(rows);
    const MatrixView<double> G = F_.view().block_rows(count(), count() + b);
    kernel::gram(pool_.kernel, X.view(), pool_.rows, pool_.context, G);
    linalg::multiply(-1.0, linalg::Transpose::yes, f.view(), linalg::Transpose::no,
                     F_.view().block_rows(0, count()), 1.0, G);
    if (const int64_t pivot = linalg::cholesky(L.view()); pivot > 0) {  // by rounding
      left_[rows[pivot - 1]] = 0;
      rows.resize(pivot - 1);
      return append(std::move(rows));
    }
    linalg::triangular_solve(L.view(), G);
    for (size_t j = 0; j < left_.size(); ++j) {
      for (int64_t k = 0; k < b; ++k)
        left_[j] -= G(k, static_cast<int64_t>(j)) * G(k, static_cast<int64_t>(j));
      if (left_[j] <= kNothing * own_[j]) left_[j] = 0;
    }
    for (const int64_t row : rows) left_[row] = 0;
    pivots_.insert(pivots_.end(), rows.begin(), rows.end());
  }

  Matrix<double> columns_of(const std::vector<int64_t>& rows) const {
    Matrix<double> f(count(), std::ssize(rows), pool_.context, kPivots);
    for (int64_t k = 0; k < f.rows(); ++k)
      for (int64_t i = 0; i < f.cols(); ++i) f(k, i) = F_(k, rows[i]);
    return f;
  }

  const LandmarkPool& pool_;
  Matrix<double> F_;  // pivots x rows: K ~ F'F
  std::vector<double> own_, left_;
  std::vector<int64_t> pivots_;
};

// Landmarks by recursively approximated ridge leverage scores (Musco, Musco 2017, algorithm 2). The
// first sample are the first D of the rows in random order. Then each time twice as many rows get
// scores by the last sample S, whose rows are divided by the square root of the probability p with
// which they were drawn,
//   l_i = (k_ii - k_iS (K_SS + lambda I)^-1 k_Si) / lambda,
// and D of them are drawn by these scores. lambda is 2/D times the sum of the eigenvalues of K_SS
// after the largest D/2, so that about D/2 directions matter. Two deviations: D rows exactly, drawn
// without replacement, and no oversampling factor.
constexpr int64_t kLeverageRows = 512;  // rows whose scores are computed together
constexpr const char* kLeverageScores = "leverage scores";

struct Sample {
  std::vector<int64_t> rows;
  std::vector<double> scale;  // 1 / sqrt(p)
};

// (scale k(x_i, x_j) scale) of rows i of the pool and j of the sample, into K.
void scaled_gram(const LandmarkPool& pool, std::span<const int64_t> rows, const double* row_scale,
                 const Sample& sample, MatrixView<double> K) {
  const Matrix<double> X = gathered(pool, rows, kLeverageScores),
                       S = gathered(pool, sample.rows, kLeverageScores);
  const Stage own(pool.context, 0);  // without progress
  kernel::gram(pool.kernel, S.view(), X.view(), pool.context, K);
  for (int64_t j = 0; j < K.rows; ++j)
    for (int64_t i = 0; i < K.cols; ++i)
      K(j, i) *= sample.scale[j] * (row_scale == nullptr ? 1 : row_scale[i]);
}

double ridge_of(const Matrix<double>& K, int64_t D, Context& context) {
  const Matrix<double> vectors(K.rows(), K.rows(), context, kLeverageScores);
  std::copy_n(K.data(), K.rows() * K.rows(), vectors.data());
  std::vector<double> values(K.rows());
  linalg::symmetric_eigen(vectors.view(), values, context);
  const int64_t behind = std::max<int64_t>(std::ssize(values) - D / 2, 0);
  const double tail = std::accumulate(values.begin(), values.begin() + behind, 0.0);
  const double largest = std::max(values.back(), 0.0);
  require(largest > 0, MERCER_INVALID_ARGUMENT,
          "the kernel is 0 on all rows drawn, expected a kernel that is not");
  // For a rank below D/2 the tail is rounding; errors of the kernel's values may leave eigenvalues
  // below 0.
  return std::max({2 * tail / static_cast<double>(std::max<int64_t>(D, 2)), 1e-10 * largest,
                   -2 * values.front()});
}

// Scores of the first `count` rows in the order, up to the common factor 1 / lambda.
std::vector<double> scores_by(const LandmarkPool& pool, std::span<const int64_t> order,
                              const Sample& sample, int64_t D) {
  const auto s = static_cast<int64_t>(sample.rows.size());
  const Matrix<double> L(s, s, pool.context, kLeverageScores),
      B(s, kLeverageRows, pool.context, kLeverageScores);
  scaled_gram(pool, sample.rows, sample.scale.data(), sample, L.view());
  const double lambda = ridge_of(L, D, pool.context);
  for (int64_t i = 0; i < s; ++i) L(i, i) += lambda;
  const int64_t pivot = linalg::cholesky(L.view());
  require(pivot == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "leverage scores: pivot %ld of the kernel matrix of %ld rows is not positive", pivot, s);
  std::vector<double> scores;
  for (int64_t i0 = 0; i0 < std::ssize(order); i0 += kLeverageRows) {
    const int64_t n = std::min<int64_t>(kLeverageRows, std::ssize(order) - i0);
    const auto rows = order.subspan(i0, n);
    const MatrixView<double> b = B.view().block_cols(0, n);
    scaled_gram(pool, rows, nullptr, sample, b);
    linalg::triangular_solve(L.view(), b);
    std::vector<double> own(static_cast<size_t>(n));
    kernel::diagonal(pool.kernel, gathered(pool, rows, kLeverageScores).view(), own);
    for (int64_t i = 0; i < n; ++i) {
      const double k = own[i];
      double explained = 0;
      for (int64_t j = 0; j < s; ++j) explained += b(j, i) * b(j, i);
      scores.push_back(std::max(k - explained, 1e-15 * k));
    }
    pool.context.checkpoint();
  }
  return scores;
}

// Draws D of those rows by weight, without replacement: the largest u^(1/w) (Efraimidis, Spirakis
// 2006).
Sample drawn(std::span<const int64_t> order, const std::vector<double>& weights, int64_t D,
             random::Cursor& cursor) {
  std::vector<std::pair<double, size_t>> keys;
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double u = random::uniform(cursor.next());
    keys.emplace_back(weights[i] > 0 ? random::portable_log(u) / weights[i] : -kInfinity, i);
    total += weights[i];
  }
  std::partial_sort(keys.begin(), keys.begin() + D, keys.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  Sample sample;
  for (int64_t j = 0; j < D; ++j) {
    const size_t i = keys[j].second;
    const double p = std::min(1.0, static_cast<double>(D) * weights[i] / total);
    sample.rows.push_back(order[i]);
    sample.scale.push_back(p > 0 ? 1 / std::sqrt(p) : 1);
  }
  return sample;
}

using LandmarkNumbers = std::variant<Matrix<double>, CsrRows>;

LandmarkNumbers chosen_rows(const kernel::Kernel& kernel, const Rows& rows,
                            std::span<const int64_t> chosen, Context& context) {
  if (kernel::pairs_stored_numbers(kernel, rows)) return stored_rows(kernel, rows, chosen, context);
  return copied_rows(kernel, rows, chosen, context);
}

std::vector<NumberArray> arrays_of(const CsrView<double>& rows) {
  const int64_t count = rows.nonzeros();
  std::vector<int64_t> offsets, columns;
  for (int64_t l = 0; l <= rows.rows; ++l) offsets.push_back(rows.offsets[l]);
  for (int64_t p = 0; p < count; ++p) columns.push_back(rows.indices[p]);
  return {{"landmark_offsets", {rows.rows + 1}, std::move(offsets)},
          {"landmark_columns", {count}, std::move(columns)},
          {"landmark_values", {count}, std::vector<double>(rows.values, rows.values + count)}};
}

/// Checked before it is used.
CsrRows loaded_list(const MapArguments& a) {
  const int64_t D = a.features;
  const std::array<int64_t, 1> any{-1};
  const auto& offsets =
      find_integers(a.data.numbers, "landmark_offsets", std::array<int64_t, 1>{D + 1});
  const auto& columns = find_integers(a.data.numbers, "landmark_columns", any);
  const std::array<int64_t, 1> count{std::ssize(columns)};
  const auto& values = find_doubles(a.data.numbers, "landmark_values", count);
  require(offsets.front() == 0 && offsets.back() == count[0] && std::ranges::is_sorted(offsets),
          MERCER_CORRUPT_FILE, "landmark_offsets do not ascend from 0 to %ld", count[0]);
  for (const int64_t column : columns)
    require(column >= 0 && column < a.inputs, MERCER_CORRUPT_FILE,
            "landmark_columns hold %ld, expected 0 to %ld", column, a.inputs - 1);
  for (const double value : values)
    require(std::isfinite(value), MERCER_CORRUPT_FILE, "landmark_values hold %g", value);
  const CsrView<double> view{D, a.inputs, offsets.data(), columns.data(), values.data()};
  Context context;
  return CsrRows(view, context, "landmarks");
}

LandmarkNumbers loaded(const MapArguments& a) {
  const bool sparse = std::ranges::any_of(
      a.data.numbers, [](const NumberArray& array) { return array.name == "landmark_offsets"; });
  if (sparse) return loaded_list(a);
  const std::array<int64_t, 2> shape{a.features, a.inputs};
  return matrix_from(find_doubles(a.data.numbers, "landmarks", shape), a.features, a.inputs);
}

}  // namespace

std::vector<int64_t> uniform_rows(int64_t rows, int64_t count, uint64_t seed) {
  std::vector<int64_t> chosen(count);
  random::Cursor cursor(random::Stream(seed, random::Tag::sample, 0));
  random::sample_without_replacement(cursor, rows, chosen);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Matrix<double> copied_rows(const kernel::Kernel& kernel, const Rows& rows,
                           std::span<const int64_t> chosen, Context& context) {
  Matrix<double> out(std::ssize(chosen), rows.cols(), context, "landmarks");
  out.fill(0);
  rows.visit([&](const auto& X) {
    for (int64_t l = 0; l < out.rows(); ++l) {
      const int64_t i = chosen[l];
      for_each_stored(X, i, [&](int64_t j, auto value) { out(l, j) += value; });
    }
  });
  require_inside(kernel, chosen, out.view());
  return out;
}

CsrRows stored_rows(const kernel::Kernel& kernel, const Rows& rows, std::span<const int64_t> chosen,
                    Context& context) {
  int64_t numbers = 0;
  for (const int64_t i : chosen) numbers += stored_numbers(rows.block_rows(i, i + 1));
  CsrRows out(std::ssize(chosen), rows.cols(), numbers, context, "landmarks");
  rows.visit([&](const auto& X) {
    for (const int64_t i : chosen) out.add([&](const auto& put) { for_each_stored(X, i, put); });
  });
  const CsrView<double> stored = out.view();
  for (int64_t l = 0; l < stored.rows; ++l) {
    const int64_t first = stored.begin(l), length = stored.end(l) - first;
    const double zero = 0;
    require_inside(kernel, chosen.subspan(l, 1),
                   {length > 0 ? stored.values + first : &zero, 1, std::max<int64_t>(length, 1)});
  }
  return out;
}

std::vector<int64_t> kmeans_landmarks(const LandmarkPool& pool, int64_t D) {
  random::Cursor cursor(random::Stream(pool.seed, random::Tag::sample, 1));
  return greedily(pool, D, cursor, [&](std::span<const double> nearest) {
    double total = 0;
    for (const double distance : nearest) total += std::max(distance, 0.0);
    double left = random::uniform(cursor.next()) * total;
    for (size_t i = 0; i < nearest.size() && total > 0; ++i) {
      left -= std::max(nearest[i], 0.0);
      if (left < 0 && nearest[i] > 0) return static_cast<int64_t>(i);
    }
    return farthest(nearest);  // all others equal landmarks, or rounding of `left`
  });
}

std::vector<int64_t> farthest_landmarks(const LandmarkPool& pool, int64_t D) {
  random::Cursor cursor(random::Stream(pool.seed, random::Tag::sample, 1));
  return greedily(pool, D, cursor, farthest);
}

std::vector<const char*> landmark_choices() {
  std::vector<const char*> names{"uniform"};
  for (const Chooser& choice : kFromPool) names.push_back(choice.name);
  names.push_back(kSuppliedRows);
  return names;
}

bool landmarks_from_pool(std::string_view choice) noexcept {
  return std::ranges::find(kFromPool, choice, &Chooser::name) != std::end(kFromPool);
}

std::vector<int64_t> choose_landmarks(const std::string& choice, const kernel::Kernel& kernel,
                                      const Rows& rows, int64_t D, uint64_t seed,
                                      Context& context) {
  require(choice != kSuppliedRows || rows.rows() == D, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: the rows, which are the landmarks", D, rows.rows());
  for (const Chooser& from_pool : kFromPool) {
    if (choice != from_pool.name) continue;
    const int64_t most = std::max(checked_multiply(from_pool.pool, D, "rows"), kLeastPool);
    const std::vector<int64_t> drawn = uniform_rows(rows.rows(), std::min(rows.rows(), most), seed);
    const Matrix<double> pool = copied_rows(kernel, rows, drawn, context);
    std::vector<int64_t> chosen = from_pool.choose({kernel, pool.view(), seed, context}, D);
    for (int64_t& l : chosen) l = drawn[l];
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }
  return uniform_rows(rows.rows(), D, seed);
}

std::vector<int64_t> cholesky_landmarks(const LandmarkPool& pool, int64_t D) {
  random::Cursor cursor(random::Stream(pool.seed, random::Tag::sample, 1));
  PivotedCholesky factor(pool, D);
  Stage stage(pool.context, D);
  for (bool more = true; more && std::ssize(factor.pivots()) < D;) {
    const int64_t before = std::ssize(factor.pivots());
    more = factor.extend(cursor);
    stage.advance(std::ssize(factor.pivots()) - before);
    pool.context.checkpoint();
  }
  std::vector<int64_t> chosen = factor.pivots();
  std::vector<bool> taken(pool.rows.rows, false);
  for (const int64_t row : chosen) taken[row] = true;
  // The others are combinations of those.
  for (int64_t i = 0; std::ssize(chosen) < D; ++i)
    if (!taken[i]) chosen.push_back(i);
  return chosen;
}

std::vector<int64_t> leverage_landmarks(const LandmarkPool& pool, int64_t D) {
  random::Cursor cursor(random::Stream(pool.seed, random::Tag::sample, 1));
  std::vector<int64_t> order(pool.rows.rows);
  random::permutation(cursor, order);
  int64_t count = D;
  Sample sample{{order.begin(), order.begin() + D}, std::vector<double>(D, 1.0)};
  while (count < pool.rows.rows) {
    count = std::min(2 * count, pool.rows.rows);
    const std::span<const int64_t> first(order.data(), count);
    sample = drawn(first, scores_by(pool, first, sample, D), D, cursor);
  }
  return sample.rows;
}

LandmarkRows::LandmarkRows(const kernel::Kernel& kernel, const Rows& rows,
                           std::span<const int64_t> chosen, Context& context)
    : rows_(chosen_rows(kernel, rows, chosen, context)) {}

LandmarkRows::LandmarkRows(const MapArguments& a) : rows_(loaded(a)) {}

Rows LandmarkRows::view() const {
  return std::visit([](const auto& own) -> Rows { return own.view(); }, rows_);
}

MatrixView<const double> LandmarkRows::dense() const noexcept {
  if (const auto* const own = std::get_if<Matrix<double>>(&rows_)) return own->view();
  const CsrView<double> rows = stored()->view();
  return {nullptr, rows.rows, rows.cols};
}

std::vector<NumberArray> LandmarkRows::numbers() const {
  if (stored() != nullptr) return arrays_of(stored()->view());
  const MatrixView<const double> own = dense();
  return {{"landmarks",
           {own.rows, own.cols},
           std::vector<double>(own.data, own.data + own.rows * own.cols)}};
}

Matrix<double> matrix_from(const std::vector<double>& values, int64_t rows, int64_t cols) {
  Matrix<double> A(rows, cols);
  for (const double value : values) {
    require(std::isfinite(value), MERCER_CORRUPT_FILE, "landmarks or their root hold %g", value);
  }
  std::copy(values.begin(), values.end(), A.data());
  return A;
}

}  // namespace mercer::feature
