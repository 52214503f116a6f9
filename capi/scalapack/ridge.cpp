// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Criteria: Golub, Heath, Wahba 1979; Rasmussen and Williams 2006, section 5.4. With A = Z'Z + n
// lambda I and b = Z'y the residual sum of squares is y'y - b'w - n lambda w'w, y'K^{-1}y is (y'y -
// b'w)/(n lambda), and log |K| = log |A| + (k - D) log(n lambda).
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "ridge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace mercer::scalapack {
namespace {

constexpr double kEigenWork = 9, kFactorWork = 1.0 / 3;  // D^3 products
constexpr double kInterpolates = 1e-8;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What a criterion needs to know at one penalty, of each target.
struct Quadratics {
  std::vector<double> explained;  // b'w
  std::vector<double> norms;      // w'w
  double log_determinant = 0;     // of Z'Z + n lambda I
  double dimension = 0;           // Tr Z(Z'Z + n lambda I)^{-1}Z'
};

struct Criterion {
  bool by_evidence, centered;
  double rows, features;
  std::vector<double> squares;  // y'y

  double dimension(const Quadratics& at) const { return at.dimension + (centered ? 1 : 0); }
  double score(size_t k, double shift, const Quadratics& at) const {
    const double left = std::max(0.0, squares[k] - at.explained[k]);
    if (by_evidence) {
      const double degrees = rows - (centered ? 1 : 0);
      const double determinant = at.log_determinant + (degrees - features) * std::log(shift);
      return left > 0 ? std::log(left / shift) / 2 + determinant / (2 * degrees) : 0;
    }
    const double free = rows - dimension(at);
    const double residual = std::max(0.0, left - shift * at.norms[k]);
    if (free <= kInterpolates * rows) return kInfinity;
    return squares[k] > 0 ? residual / squares[k] * (rows / free) * (rows / free) : 0;
  }
};

class Ridge {
 public:
  Ridge(const RidgeOptions& options, NormalSums& sums, CenteredRows& rows)
      : all_(rows.all()),
        options_(options),
        sums_(sums),
        rows_(rows),
        progress_(rows.progress()),
        probes_(sums.features(), std::max<int64_t>(1, options.probes)) {
    if (options.probes > 0 && options.criterion == MERCER_SCALAPACK_LEAVE_ONE_OUT)
      left_out_.emplace(rows, probes_);
  }

  Solution solve() {
    finish_sums();
    rows_.center(means_);
    if (options_.by_passes()) return by_passes();
    Solution best = options_.method == MERCER_SCALAPACK_FACTORS ? by_factors() : by_eigenvalues();
    if (left_out_) return best_left_out();
    return best;
  }

 private:
  double shift_of(double penalty) const { return penalty * static_cast<double>(sums_.y.rows); }
  double mean(int64_t place) const { return means_[static_cast<size_t>(place)]; }
  int64_t block() const noexcept { return sums_.block(); }
  size_t targets() const noexcept { return sums_.y.sum.size(); }

  /// Sums about the means if they are wanted, in units of the mean weight of rows above 0.
  void finish_sums() {
    const TargetSums& y = sums_.y;
    all_.each([&] {
      require(y.rows > 0, MERCER_INVALID_ARGUMENT, "no rows of positive weight, expected some");
    });
    const auto m = static_cast<int64_t>(targets());
    std::vector<double> all_sums = gathered(all_, sums_.cross, m + 1);
    const double unit = y.weight / static_cast<double>(y.rows);
    all_.each([&] { take_means(all_sums, m); });
    scale_sums(unit);
    for (int64_t k = 0; k < m; ++k) {
      const auto at = static_cast<size_t>(k);
      squares_.push_back(
          (y.squares[at] - (options_.centers ? y.sum[at] * (y.sum[at] / y.weight) : 0)) / unit);
    }
    if (options_.is_scored()) products_ = gathered(all_, sums_.cross, m);
    all_.each([&] {
      require(std::all_of(squares_.begin(), squares_.end(),
                          [](double s) { return std::isfinite(s); }) &&
                  std::all_of(all_sums.begin(), all_sums.end(),
                              [](double s) { return std::isfinite(s); }),
              MERCER_INVALID_ARGUMENT,
              "sums of features or targets are not finite, expected smaller numbers");
    });
  }
  void take_means(const std::vector<double>& all_sums, int64_t m) {
    means_.assign(static_cast<size_t>(sums_.features()), 0.0);
    for (size_t i = 0; i < means_.size() && options_.centers; ++i)
      means_[i] =
          all_sums[i * static_cast<size_t>(m + 1) + static_cast<size_t>(m)] / sums_.y.weight;
  }
  void scale_sums(double unit) {
    scale_gram(unit, sums_.gram);
    scale_gram(unit, sums_.single);
    scale_cross(unit);
  }
  template <class Number>
  void scale_gram(double unit, GridPart<Number>& gram) {
    std::vector<double> of_rows;
    for (int64_t i = 0; i < gram.local_rows(); ++i) of_rows.push_back(mean(gram.row_place(i)));
    for (int64_t j = 0; j < gram.local_columns(); ++j) {
      const double of_column = mean(gram.column_place(j)) * sums_.y.weight;
      Number* const column = gram.column(j);
      for (size_t i = 0; i < of_rows.size(); ++i)
        column[i] = static_cast<Number>((column[i] - of_rows[i] * of_column) / unit);
    }
  }
  void scale_cross(double unit) {
    GridMatrix& cross = sums_.cross;
    for (int64_t k = 0; k + 1 < cross.local_columns(); ++k)
      for (int64_t i = 0; i < cross.local_rows(); ++i)
        cross.column(k)[i] =
            (cross.column(k)[i] - mean(cross.row_place(i)) * sums_.y.sum[static_cast<size_t>(k)]) /
            unit;
  }
  /// Z'Y without the sums of features.
  GridMatrix targets_matrix() const {
    const GridMatrix& cross = sums_.cross;
    const auto m = static_cast<int64_t>(targets());
    GridMatrix B(cross.grid(), cross.rows(), m, block(), m);
    std::copy_n(cross.data(), B.local_rows() * B.local_columns(), B.data());
    return B;
  }

  // -- A factor for each penalty.

  Solution by_factors() {
    Solution best{};
    double least = kInfinity;
    for (size_t at = 0; at < options_.penalties.size(); ++at) {
      Solution one{options_.penalties[at], kNaN, {}};
      const double score = factor_at(at, one);
      if (left_out_) candidates_.push_back(one);
      if (at > 0 && !(score < least)) continue;
      least = score;
      best = std::move(one);
    }
    require_score(least);
    return best;
  }
  double factor_at(size_t at, Solution& one) {
    std::optional<GridMatrix> copy, B;
    all_.each([&] {
      if (options_.keeps_sums()) copy.emplace(sums_.gram);
      B.emplace(targets_matrix());
    });
    GridMatrix& A = copy ? *copy : sums_.gram;
    factor(A, one.penalty, shift_of(one.penalty));
    cholesky_solve(A, *B);
    one.weights = gathered(all_, *B, static_cast<int64_t>(targets()));
    if (left_out_) add_left_out(A, one.weights);
    return is_scored_here() ? score_at(at, of_factor(A, one), one) : 0;
  }
  void add_left_out(const GridMatrix& L, const std::vector<double>& weights) {
    std::optional<GridMatrix> R;
    all_.each([&] { R.emplace(probes([](int64_t) { return 1.0; })); });
    solve_transposed(L, *R);
    left_out_->add(weights, gathered(all_, *R, R->columns()));
  }
  template <class Number>
  void factor(GridPart<Number>& A, double penalty, double shift) {
    for (int64_t j = 0; j < A.local_columns(); ++j)
      if (Number* const on_diagonal = A.diagonal(j)) *on_diagonal += static_cast<Number>(shift);
    const auto D = static_cast<double>(A.rows());
    double before = 0;
    const int64_t pivot = cholesky(A, [&](int64_t columns) {
      const double left = 1 - static_cast<double>(columns) / D, share = 1 - left * left * left;
      progress_.advance(kFactorWork * D * (share - before));
      before = share;
      all_.each([&] { progress_.report(); });
    });
    all_.each([&] {
      require(pivot == 0, MERCER_NOT_POSITIVE_DEFINITE,
              "Z'Z + n lambda I at lambda = " + std::to_string(penalty) + ": pivot " +
                  std::to_string(pivot) + " of " + std::to_string(A.rows()) +
                  " is not positive, expected a larger lambda");
    });
  }
  Quadratics of_factor(GridMatrix& L, const Solution& one) {
    const std::vector<double>& weights = one.weights;
    Quadratics at;
    const size_t m = targets();
    at.explained.assign(m, 0.0);
    at.norms.assign(m, 0.0);
    for (size_t i = 0; i < weights.size(); ++i) {
      at.explained[i % m] += products_[i] * weights[i];
      at.norms[i % m] += weights[i] * weights[i];
    }
    if (options_.criterion == MERCER_SCALAPACK_EVIDENCE) {
      at.log_determinant = all_.sum(log_determinant(L));
      return at;
    }
    invert_lower(L);
    progress_.advance(kFactorWork * static_cast<double>(L.rows()));
    at.dimension =
        static_cast<double>(L.rows()) - shift_of(one.penalty) * all_.sum(squares_of_lower(L));
    return at;
  }
  static double log_determinant(const GridMatrix& L) {
    double sum = 0;
    for (int64_t j = 0; j < L.local_columns(); ++j)
      if (const double* const on_diagonal = L.diagonal(j)) sum += 2 * std::log(*on_diagonal);
    return sum;
  }
  static double squares_of_lower(const GridMatrix& L) {
    double sum = 0;
    for (int64_t j = 0; j < L.local_columns(); ++j)
      for (int64_t i = L.first_below(L.column_place(j)); i < L.local_rows(); ++i)
        sum += L.column(j)[i] * L.column(j)[i];
    return sum;
  }

  // -- Eigenvectors for all penalties.

  Solution by_eigenvalues() {
    const auto m = static_cast<int64_t>(targets());
    GridMatrix& A = sums_.gram;
    std::optional<GridMatrix> V, B, C;
    all_.each([&] {
      V.emplace(A.grid(), A.rows(), A.rows(), block(), block());
      B.emplace(targets_matrix());
      C.emplace(A.grid(), A.rows(), m, block(), m);
    });
    std::vector<double> values;
    all_.each([&] { values = symmetric_eigen(A, *V); });
    if (all_.rank() != 0) std::fill(values.begin(), values.end(), 0.0);
    all_.sum(values);
    progress_.advance(kEigenWork * static_cast<double>(A.rows()));
    all_.each([&] { progress_.report(); });
    multiply(*V, true, *B, *C);
    std::vector<double> projected = gathered(all_, *C, m);
    if (left_out_) {
      for (const double penalty : options_.penalties)
        add_left_out(*V, values, {penalty, kNaN, weights_of(*V, values, projected, penalty)});
      return {};
    }
    Solution best = best_of(values, projected);
    best.weights = weights_of(*V, values, projected, best.penalty);
    return best;
  }
  std::vector<double> weights_of(const GridMatrix& V, const std::vector<double>& values,
                                 const std::vector<double>& projected, double penalty) {
    std::optional<GridMatrix> B, C;
    all_.each([&] {
      B.emplace(targets_matrix());
      C.emplace(*B);
    });
    set_coefficients(values, projected, penalty, *B);
    multiply(V, false, *B, *C);
    return gathered(all_, *C, C->columns());
  }
  void add_left_out(const GridMatrix& V, const std::vector<double>& values, Solution&& one) {
    std::optional<GridMatrix> S, R;
    const double shift = shift_of(one.penalty);
    all_.each([&] {
      S.emplace(probes([&](int64_t place) {
        return std::sqrt(inverse(values, static_cast<size_t>(place), shift));
      }));
      R.emplace(*S);
    });
    multiply(V, false, *S, *R);
    left_out_->add(one.weights, gathered(all_, *R, R->columns()));
    candidates_.push_back(std::move(one));
  }
  Solution best_of(const std::vector<double>& values, const std::vector<double>& projected) {
    Solution best{};
    double least = kInfinity;
    for (size_t at = 0; at < options_.penalties.size(); ++at) {
      Solution one{options_.penalties[at], kNaN, {}};
      const double score = score_at(at, of_values(values, projected, one.penalty), one);
      if (at > 0 && !(score < least)) continue;
      least = score;
      best = one;
    }
    if (is_scored_here()) require_score(least);
    return best;
  }
  /// 1/(s + n lambda), 0 of a direction that is dropped.
  double inverse(const std::vector<double>& values, size_t i, double shift) const {
    const double largest = std::max(0.0, values.back());
    const double level =
        std::numeric_limits<double>::epsilon() * static_cast<double>(values.size()) * largest;
    const double sum = std::max(0.0, values[i]) + shift;
    return sum > level ? 1 / sum : 0;
  }
  Quadratics of_values(const std::vector<double>& values, const std::vector<double>& projected,
                       double penalty) const {
    const size_t m = targets();
    const double shift = shift_of(penalty);
    Quadratics at;
    at.explained.assign(m, 0.0);
    at.norms.assign(m, 0.0);
    for (size_t i = 0; i < values.size(); ++i) {
      const double inverted = inverse(values, i, shift);
      at.dimension += std::max(0.0, values[i]) * inverted;
      at.log_determinant += std::log(std::max(0.0, values[i]) + shift);
      for (size_t k = 0; k < m; ++k) {
        const double square = projected[i * m + k] * projected[i * m + k];
        at.explained[k] += square * inverted;
        at.norms[k] += square * inverted * inverted;
      }
    }
    return at;
  }
  void set_coefficients(const std::vector<double>& values, const std::vector<double>& projected,
                        double penalty, GridMatrix& B) const {
    const size_t m = targets();
    for (int64_t k = 0; k < B.local_columns(); ++k)
      for (int64_t i = 0; i < B.local_rows(); ++i) {
        const auto place = static_cast<size_t>(B.row_place(i));
        B.column(k)[i] = projected[place * m + static_cast<size_t>(k)] *
                         inverse(values, place, shift_of(penalty));
      }
  }

  // -- Passes over the rows, with more right-hand sides where Tr H is estimated: by random signs s,
  // of which s'(Z'Z + n lambda I)^{-1}s has the trace as its mean.

  /// From the largest penalty on, each from the solution before.
  Solution by_passes() {
    std::vector<size_t> order(options_.penalties.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return options_.penalties[a] > options_.penalties[b];
    });
    const std::vector<double> B = right_hand_sides();
    std::vector<double> X(B.size());
    std::optional<Sketch> sketch;
    if (options_.method == MERCER_SCALAPACK_CG) sketch.emplace(rows_, options_.block_rows);
    Solution best{};
    double least = kInfinity, left = static_cast<double>(order.size());
    for (const size_t at : order) {
      Solution one{options_.penalties[at], kNaN, {}};
      one.iterations = sketch ? iterate(*sketch, one.penalty, left, B, X)
                              : iterate_by_factor(one.penalty, left, B, X);
      one.weights = weights_of(X);
      const double score = is_scored_here() ? score_at(at, of_vectors(B, X, one.penalty), one) : 0;
      if (left-- == static_cast<double>(order.size()) || score < least) {
        least = score;
        best = std::move(one);
      }
    }
    require_score(least);
    return best;
  }
  int64_t columns() const noexcept { return static_cast<int64_t>(targets()) + options_.probes; }
  std::vector<double> right_hand_sides() {
    const GridMatrix& cross = sums_.cross;
    const auto m = static_cast<int64_t>(targets());
    std::vector<double> B;
    all_.each([&] {
      B.resize(static_cast<size_t>(rows_.own() * columns()));
      if (cross.local_columns() > 0) std::copy_n(cross.data(), rows_.own() * m, B.begin());
      cross.grid().sum_of_row(B);
    });
    for (int64_t k = 0; k < options_.probes; ++k)
      for (int64_t i = 0; i < rows_.own(); ++i)
        B[static_cast<size_t>((m + k) * rows_.own() + i)] = probes_.at(cross.row_place(i), k);
    return B;
  }
  int64_t iterate(const Preconditioner& by, double penalty, double penalties_left,
                  const std::vector<double>& B, std::vector<double>& X) {
    const double begin = progress_.done(), share = progress_.left() / penalties_left;
    const auto done = [&](double part) { progress_.reach(begin + part * share); };
    return conjugate_gradients(rows_, by, shift_of(penalty), B, columns(), options_.limits, done,
                               X);
  }
  int64_t iterate_by_factor(double penalty, double penalties_left, const std::vector<double>& B,
                            std::vector<double>& X) {
    std::optional<SingleMatrix> copy;
    all_.each([&] {
      if (options_.keeps_sums()) copy.emplace(sums_.single);
    });
    SingleMatrix& A = copy ? *copy : sums_.single;
    factor(A, penalty, std::max(shift_of(penalty), rounding_of(A)));
    return iterate(SingleFactor(rows_, A), penalty, penalties_left, B, X);
  }
  /// What n lambda is hidden by: the sums of blocks are rounded to 2^-24 of entries as large as those
  /// on the diagonal, at random, and so are those of the factor.
  double rounding_of(const SingleMatrix& A) {
    double trace = 0;
    for (int64_t j = 0; j < A.local_columns(); ++j)
      if (const float* const on_diagonal = A.diagonal(j)) trace += *on_diagonal;
    const auto D = static_cast<double>(A.rows());
    const double blocks =
        static_cast<double>(sums_.y.rows) / static_cast<double>(options_.block_rows);
    return 0x1p-22 * std::sqrt(D * std::max(1.0, blocks)) * all_.sum(trace) / D;
  }
  std::vector<double> weights_of(const std::vector<double>& X) {
    std::optional<GridMatrix> W;
    all_.each([&] {
      W.emplace(targets_matrix());
      std::copy_n(X.begin(), W->local_rows() * W->local_columns(), W->data());
    });
    return gathered(all_, *W, W->columns());
  }
  Quadratics of_vectors(const std::vector<double>& B, const std::vector<double>& X,
                        double penalty) {
    const auto m = static_cast<std::ptrdiff_t>(targets());
    Quadratics at;
    at.explained = rows_.dots(B, X, columns());
    at.norms = rows_.dots(X, X, columns());
    const double trace = std::accumulate(at.explained.begin() + m, at.explained.end(), 0.0);
    at.dimension = static_cast<double>(sums_.features()) - shift_of(penalty) * trace;
    return at;
  }

  // -- All.

  /// By sums alone.
  bool is_scored_here() const noexcept { return options_.is_scored() && !left_out_; }
  /// Probes, their rows times a factor.
  template <class RowFactor>
  GridMatrix probes(const RowFactor& factor) const {
    const Probes& of = probes_;
    GridMatrix S(sums_.cross.grid(), sums_.cross.rows(), of.count(), block(), of.count());
    for (int64_t i = 0; i < S.local_rows(); ++i) {
      const double by = factor(S.row_place(i));
      for (int64_t k = 0; k < S.local_columns(); ++k)
        S.column(k)[i] = by * of.at(S.row_place(i), k);
    }
    return S;
  }
  Solution best_left_out() {
    const std::vector<double> squares = left_out_->squares(options_.centers);
    size_t best = 0;
    double least = kInfinity;
    for (size_t at = 0; at < candidates_.size(); ++at) {
      double total = 0;
      for (size_t k = 0; k < targets(); ++k) {
        const double score = squares_[k] > 0 ? squares[at * targets() + k] / squares_[k] : 0;
        total += score;
        if (options_.scores != nullptr) options_.scores[at * targets() + k] = score;
      }
      if (total < least) least = total, best = at;
    }
    require_score(least);
    return std::move(candidates_[best]);
  }

  double score_at(size_t at, const Quadratics& quadratics, Solution& one) const {
    const Criterion criterion{options_.criterion == MERCER_SCALAPACK_EVIDENCE, options_.centers,
                              static_cast<double>(sums_.y.rows),
                              static_cast<double>(sums_.features()), squares_};
    const double shift = shift_of(one.penalty);
    if (is_scored_here() && !criterion.by_evidence) one.dimension = criterion.dimension(quadratics);
    double total = 0;
    for (size_t k = 0; k < targets() && is_scored_here(); ++k) {
      const double score = criterion.score(k, shift, quadratics);
      total += score;
      if (options_.scores != nullptr) options_.scores[at * targets() + k] = score;
    }
    return total;
  }
  void require_score(double least) {
    all_.each([&] {
      require(!options_.is_scored() || std::isfinite(least) || options_.penalties.size() == 1,
              MERCER_INVALID_ARGUMENT,
              "no penalty has a finite score: the features have more degrees of freedom than there "
              "are rows, expected more rows or larger penalties");
    });
  }

  Processes& all_;
  const RidgeOptions& options_;
  NormalSums& sums_;
  CenteredRows& rows_;
  Progress& progress_;
  Probes probes_;
  std::optional<LeaveOneOut> left_out_;
  std::vector<double> means_, squares_, products_;
  std::vector<Solution> candidates_;
};

}  // namespace

Solution solve_ridge(const RidgeOptions& options, NormalSums& sums, CenteredRows& rows) {
  return Ridge(options, sums, rows).solve();
}

double ridge_work(const RidgeOptions& options, int64_t features) noexcept {
  if (options.method == MERCER_SCALAPACK_CG) return 0;
  const bool inverts = options.is_scored() && options.criterion == MERCER_SCALAPACK_GCV &&
                       options.method == MERCER_SCALAPACK_FACTORS;
  const double factors = static_cast<double>(options.penalties.size()) * (inverts ? 2 : 1);
  return static_cast<double>(features) *
         (options.method == MERCER_SCALAPACK_EIGENVALUES ? kEigenWork : kFactorWork * factors);
}

}  // namespace mercer::scalapack
