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

constexpr int64_t kPoolPerLandmark = 16, kLeastPool = 10000;

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
};
constexpr const char* kSuppliedRows = "supplied";
constexpr Chooser kFromPool[] = {{"kmeans", kmeans_landmarks},
                                 {"farthest", farthest_landmarks},
                                 {"leverage", leverage_landmarks},
                                 {"rpcholesky", cholesky_landmarks}};

// Landmarks by randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber 2023): each is drawn with a
// probability proportional to r_i, what is left of k(x_i, x_i) after projection on those before.
// Blocks of rows are proposed by bounds of r, then one after the other accepted with the ratio of r
// to its bound, which has the same distribution (Epperly, Tropp, Webber 2024). A bound is r where
// its row was last proposed. So r is computed of proposed rows alone, not of all; those whose bound
// is far too high are the most often proposed, and n proposals lower all bounds.
constexpr int64_t kFewest = 128, kMost = 2048;  // proposals at a time
constexpr double kNothing = 1e-13;              // of k(x, x): what is left is rounding
constexpr const char* kPivots = "the factor of randomly pivoted Cholesky";

class PivotedCholesky {
 public:
  PivotedCholesky(const LandmarkPool& pool, int64_t D)
      : pool_(pool),
        L_(D, D, pool.context, kPivots),
        X_(D, pool.rows.cols, pool.context, kPivots),
        own_(own_values(pool)),
        bounds_(own_),
        sums_(own_.size()),
        taken_(own_.size(), false) {
    for (double& bound : bounds_) bound = std::max(bound, 0.0);
  }
  const std::vector<int64_t>& pivots() const noexcept { return pivots_; }

  /// False if nothing is left to draw by.
  bool extend(random::Cursor& cursor) {
    std::vector<Proposal> proposals = proposed(cursor);
    if (proposals.empty()) return false;
    std::vector<int64_t> rows;
    for (const Proposal& proposal : proposals) rows.push_back(proposal.row);
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    const Matrix<double> F = factor_columns(rows);
    lower_bounds(rows, F);
    std::erase_if(proposals, [&](const Proposal& p) { return p.level >= bounds_[p.row]; });
    accept(proposals, rows, F);
    const auto kept = std::ssize(proposals);
    if (2 * kept < kFewest) at_a_time_ = std::min(2 * at_a_time_, kMost);
    if (kept > kFewest) at_a_time_ = std::max(at_a_time_ / 2, kFewest);
    return true;
  }

 private:
  struct Proposal {
    int64_t row;
    double level;  // accepted where more than this is left
  };
  int64_t count() const noexcept { return std::ssize(pivots_); }

  std::vector<Proposal> proposed(random::Cursor& cursor) {
    double total = 0;
    for (size_t i = 0; i < sums_.size(); ++i) sums_[i] = total += bounds_[i];
    std::vector<Proposal> proposals;
    for (int64_t b = 0; b < at_a_time_ && total > 0; ++b) {
      const double u = random::uniform(cursor.next()) * total;
      const double level = random::uniform(cursor.next());
      const auto at = std::ranges::upper_bound(sums_, u) - sums_.begin();
      if (at < std::ssize(sums_)) proposals.push_back({at, level * bounds_[at]});
    }
    return proposals;
  }

  /// L^-1 K between the pivots and those rows.
  Matrix<double> factor_columns(std::span<const int64_t> rows) const {
    Matrix<double> F(count(), std::ssize(rows), pool_.context, kPivots);
    if (count() == 0) return F;
    const Matrix<double> X = gathered(pool_, rows, kPivots);
    kernel::gram(pool_.kernel, X_.view().block_rows(0, count()), X.view(), pool_.context, F.view());
    linalg::triangular_solve(L_.view().block_rows(0, count()).block_cols(0, count()), F.view());
    return F;
  }

  double above_rounding(double left, int64_t row) const noexcept {
    return !taken_[row] && left > kNothing * own_[row] ? left : 0;
  }

  void lower_bounds(std::span<const int64_t> rows, const Matrix<double>& F) {
    std::vector<double> left;
    for (const int64_t row : rows) left.push_back(own_[row]);
    for (int64_t k = 0; k < F.rows(); ++k)
      for (int64_t j = 0; j < F.cols(); ++j) left[j] -= F(k, j) * F(k, j);
    for (size_t j = 0; j < left.size(); ++j) bounds_[rows[j]] = above_rounding(left[j], rows[j]);
  }

  /// Of H = K - F'F between proposals the diagonal is what is left, once accepted rows are
  /// eliminated: row i of H becomes that of L'.
  void accept(std::span<const Proposal> proposals, std::span<const int64_t> rows,
              const Matrix<double>& F) {
    const Matrix<double> f = columns_of(proposals, rows, F), H = residual_gram(proposals, f);
    std::vector<int64_t> accepted;
    for (int64_t i = 0; i < H.rows() && count() < L_.rows(); ++i) {
      const auto [row, level] = proposals[i];
      bounds_[row] = above_rounding(H(i, i), row);
      if (level >= bounds_[row]) continue;
      eliminate(H.view(), i);
      accepted.push_back(i);
      append(row, i, f, H, accepted);
    }
  }

  static Matrix<double> columns_of(std::span<const Proposal> proposals,
                                   std::span<const int64_t> rows, const Matrix<double>& F) {
    Matrix<double> f(F.rows(), std::ssize(proposals));
    for (int64_t i = 0; i < f.cols(); ++i) {
      const auto at = std::ranges::lower_bound(rows, proposals[i].row) - rows.begin();
      for (int64_t k = 0; k < f.rows(); ++k) f(k, i) = F(k, at);
    }
    return f;
  }

  Matrix<double> residual_gram(std::span<const Proposal> proposals, const Matrix<double>& f) const {
    std::vector<int64_t> rows;
    for (const Proposal& proposal : proposals) rows.push_back(proposal.row);
    const Matrix<double> X = gathered(pool_, rows, kPivots);
    Matrix<double> H(X.rows(), X.rows(), pool_.context, kPivots);
    kernel::gram(pool_.kernel, X.view(), X.view(), pool_.context, H.view());
    linalg::multiply(-1.0, linalg::kTransposed, f.view(), linalg::kPlain, f.view(), 1.0, H.view());
    return H;
  }

  static void eliminate(MatrixView<double> H, int64_t i) {
    const double root = std::sqrt(H(i, i));
    for (int64_t j = i; j < H.rows; ++j) H(i, j) /= root;
    for (int64_t j = i + 1; j < H.rows; ++j)
      for (int64_t k = j; k < H.rows; ++k) H(j, k) -= H(i, j) * H(i, k);
  }

  void append(int64_t row, int64_t i, const Matrix<double>& f, const Matrix<double>& H,
              std::span<const int64_t> accepted) {
    const int64_t last = count();
    for (int64_t k = 0; k < f.rows(); ++k) L_(last, k) = f(k, i);
    for (int64_t k = f.rows(); k <= last; ++k) L_(last, k) = H(accepted[k - f.rows()], i);
    std::copy_n(pool_.rows.row(row), X_.cols(), X_.view().row(last));
    taken_[row] = true;
    bounds_[row] = 0;
    pivots_.push_back(row);
  }

  const LandmarkPool& pool_;
  Matrix<double> L_, X_;                     // K = L L' between the pivots, and their inputs
  std::vector<double> own_, bounds_, sums_;  // sums of bounds
  std::vector<bool> taken_;
  std::vector<int64_t> pivots_;
  int64_t at_a_time_ = kFewest;
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
    const int64_t most = std::max(checked_multiply(kPoolPerLandmark, D, "rows"), kLeastPool);
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
  std::copy(values.begin(), values.end(), A.data());
  return A;
}

}  // namespace mercer::feature
