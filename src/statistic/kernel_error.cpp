// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/kernel_error.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::statistic {
namespace {

constexpr const char kScratch[] = "products of bounds";

/// out := A A' + beta out, by rows between which the call may be stopped.
void multiply_rows(MatrixView<const double> A, double beta, Context& context,
                   MatrixView<double> out) {
  constexpr int64_t kRows = 256;
  for (int64_t i = 0; i < out.rows; i += kRows) {
    const int64_t end = std::min(i + kRows, out.rows);
    linalg::multiply(1.0, linalg::Transpose::no, A.block_rows(i, end), linalg::Transpose::yes, A,
                     beta, out.block_rows(i, end));
    context.checkpoint();
  }
}

/// Both triangles of Re ZZ^H. Real and imaginary parts lie side by side, so this is a product of
/// real matrices.
void estimate_gram(const feature::FeatureMap& map, const Rows& X, Context& context,
                   MatrixView<double> out) {
  const int64_t D = map.features(), reals = map.is_complex() ? 2 : 1;
  const int64_t width = std::min(D, kErrorColumns / reals);
  const Matrix<double> Z(map.outputs() * X.rows(), reals * width, context,
                         "the features of the rows");
  for (int64_t first = 0; first < D; first += width) {
    const feature::Columns columns{first, std::min(first + width, D)};
    const auto part = Z.view().block_cols(0, reals * (columns.end - columns.begin));
    map.apply(X, columns, context, part);
    multiply_rows(part, first == 0 ? 0.0 : 1.0, context, out);
  }
}

/// The Gram matrix, value by value, of a map that estimates the kernel of changed rows.
void gram_of_shown(const feature::FeatureMap& map, const Rows& X, Context& context,
                   MatrixView<double> out) {
  const Matrix<double> dense(X.rows(), X.cols(), context, "the rows, dense");
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      double* const row = dense.view().row(i);
      std::fill_n(row, X.cols(), 0.0);
      if constexpr (kIsSparse<std::remove_cvref_t<decltype(rows)>>) {
        for_each_stored(rows, i, [&](int64_t k, auto value) { row[k] += value; });
      } else {
        std::copy_n(rows.row(i), X.cols(), row);
      }
    }
  });
  parallel_for(context, X.rows(), [&](int64_t i, int) noexcept {
    for (int64_t j = 0; j < X.rows(); ++j)
      out(i, j) = map.estimated_kernel(dense.view().row(i), dense.view().row(j));
  });
}

}  // namespace

KernelError kernel_error(MatrixView<const double> approximate, MatrixView<const double> exact) {
  require(approximate.rows == exact.rows && approximate.cols == exact.cols,
          MERCER_DIMENSION_MISMATCH,
          "approximate is %ld x %ld and exact %ld x %ld, expected the same shape", approximate.rows,
          approximate.cols, exact.rows, exact.cols);
  double difference = 0;
  double norm = 0;
  double largest = 0;
  for (int64_t i = 0; i < exact.rows; ++i) {
    double row_difference =
        0;  // rows apart: rounding grows with a row's length, not with the matrix's
    double row_norm = 0;
    for (int64_t j = 0; j < exact.cols; ++j) {
      const double error = approximate(i, j) - exact(i, j);
      row_difference += error * error;
      row_norm += exact(i, j) * exact(i, j);
      if (!(std::fabs(error) <= largest))
        largest = std::isnan(largest) ? largest : std::fabs(error);
    }
    difference += row_difference;
    norm += row_norm;
  }
  require(norm != 0, MERCER_INVALID_ARGUMENT,
          "the norm of exact is 0, expected a matrix that is not zero");
  return {std::sqrt(difference / norm), largest};
}

double measured_error(const feature::FeatureMap& map, const Rows& X, Context& context) {
  require(!map.has_kernel_columns(), MERCER_UNSUPPORTED,
          "the kernel error of map %s, expected a map of features: its columns are kernel values",
          std::string(map.name()).c_str());
  const int64_t n = X.rows();
  require(n >= 1, MERCER_INVALID_ARGUMENT, "n = %ld, expected at least 1 row", n);
  Stage stage(context, 2);
  stage.share(1);
  const int64_t size = checked_multiply(map.outputs(), n, "the Gram matrix");
  const Matrix<double> exact(size, size, context, "the Gram matrix");
  if (map.shows_other_rows()) {
    map.require_one_output();
    gram_of_shown(map, X, context, exact.view());
  } else {
    kernel::gram(map.kernel(), X, X, context, exact.view());
  }
  stage.advance(1);
  stage.share(1);
  const Matrix<double> estimate(size, size, context, "its estimate");
  estimate_gram(map, X, context, estimate.view());
  const double error = kernel_error(estimate.view(), exact.view()).relative_frobenius;
  require(std::isfinite(error), MERCER_INVALID_ARGUMENT,
          "X: the error of the map is %g, expected finite rows whose kernel does not overflow",
          error);
  stage.advance(1);
  return error;
}

// Variances summed over the pairs of a sample of rows are the expected squared Frobenius error of
// its Gram matrix.

namespace {

using feature::FeatureMap;

struct Sums {
  double error = 0;   // squared: variances and squares of biases
  double square = 0;  // of the kernel
};

// Pairs (i, j) with j >= i, those with j > i counted twice.
Sums row_sums(const FeatureMap& map, MatrixView<const double> X, int64_t i,
              std::span<double> scratch) {
  const int64_t count = X.rows - i;
  const std::span<double> variances = scratch.first(count);
  const std::span<double> biases = scratch.last(count);
  // The same row against all later ones: a leading dimension of 0 repeats it.
  const MatrixView<const double> row(X.row(i), count, X.cols, 0);
  map.variance(row, X.block_rows(i, X.rows), variances);
  map.bias(row, X.block_rows(i, X.rows), biases);
  Sums sums;
  for (int64_t j = 0; j < count; ++j) {
    const double weight = j == 0 ? 1 : 2;
    const double k = map.estimated_kernel(X.row(i), X.row(i + j));
    const double bias = biases[j];
    sums.error += weight * (variances[j] + bias * bias);
    sums.square += weight * k * k;
  }
  return sums;
}

// NaN or infinite where rows are so, or where their kernel overflows.
double error_over_pairs(const FeatureMap& map, MatrixView<const double> X, Context& context) {
  require(X.rows >= 1, MERCER_INVALID_ARGUMENT, "n = %ld, expected at least 1 row", X.rows);
  // The first row runs on the calling thread: a map without a closed form is refused here.
  std::vector<Sums> sums(X.rows);
  const int64_t numbers = checked_multiply(2, X.rows, "variances of a row");
  const Matrix<double> scratch(worker_count(context, X.rows), numbers);
  sums[0] = row_sums(map, X, 0, std::span(scratch.data(), numbers));
  std::atomic<bool> failed{false};
  parallel_for(context, X.rows - 1, [&](int64_t i, int worker) noexcept {
    try {
      sums[i + 1] = row_sums(map, X, i + 1, std::span(scratch.view().row(worker), numbers));
    } catch (...) {  // nothing but memory can fail on a later row
      failed.store(true, std::memory_order_relaxed);
    }
  });
  require(!failed, MERCER_OUT_OF_MEMORY, "no memory for the variances of a row");
  Sums total;
  for (const Sums& row : sums) {
    total.error += row.error;
    total.square += row.square;
  }
  require(total.square != 0, MERCER_INVALID_ARGUMENT,
          "kernel %s is 0 for all pairs of rows, expected a Gram matrix that is not zero",
          std::string(map.kernel().name()).c_str());
  // Without error the quotient would be 0 even where the kernel overflows.
  return std::isfinite(total.square) ? std::sqrt(total.error / total.square) : kNaN;
}

}  // namespace

double predicted_error(const FeatureMap& map, MatrixView<const double> X, Context& context) {
  map.require_one_output();
  const double error = error_over_pairs(map, X, context);
  require(std::isfinite(error), MERCER_INVALID_ARGUMENT,
          "X: the predicted error is %g, expected finite rows whose kernel does not overflow",
          error);
  return error;
}

// With T the mean's deviation over its standard error and a = skewness / (3 sqrt(n)),
//   ((1 + a T)^3 - 1) / (3 a) + a / 2
// is nearly normal; it grows with T, so that its quantiles give those of T.

namespace {

struct Moments {
  double mean = 0, error = 0, skew = 0;  // of the mean; a above
};

Moments moments(std::span<const double> draws) {
  const auto n = static_cast<double>(draws.size());
  Moments out;
  for (const double x : draws) out.mean += x / n;
  double squares = 0, cubes = 0;
  for (const double x : draws) {
    const double deviation = x - out.mean;
    squares += deviation * deviation;
    cubes += deviation * deviation * deviation;
  }
  out.error = std::sqrt(squares / (n * (n - 1)));
  if (squares > 0) out.skew = cubes / n / std::pow(squares / n, 1.5) / std::sqrt(n) / 3;
  return out;
}

/// The quantile of Student's distribution at a normal quantile, to order 1/n^2.
double student(double z, double degrees) {
  return z + (z * z * z + z) / (4 * degrees) +
         (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * degrees * degrees);
}

/// T where the transform is q.
double inverse(double a, double q) {
  if (std::fabs(a) < 1e-9) return q;
  return (std::cbrt(1 + 3 * a * (q - a / 2)) - 1) / a;
}

}  // namespace

Bounds mean_bounds(std::span<const double> draws, double alpha) {
  const Moments m = moments(draws);
  const double q =
      student(random::normal_quantile(1 - alpha), static_cast<double>(draws.size()) - 1);
  return {m.mean - m.error * inverse(m.skew, q), m.mean - m.error * inverse(m.skew, -q)};
}

Bounds quotient_bounds(std::span<const double> numerators, std::span<const double> denominators,
                       double alpha) {
  std::vector<double> differences(numerators.size());
  double above = 0, below = 0;
  for (size_t i = 0; i < numerators.size(); ++i) {
    above += numerators[i];
    below += denominators[i];
  }
  const auto may_be = [&](double quotient) {
    for (size_t i = 0; i < differences.size(); ++i)
      differences[i] = numerators[i] - quotient * denominators[i];
    const Bounds mean = mean_bounds(differences, alpha / 2);
    return mean.low <= 0 && mean.high >= 0;
  };
  const double estimate = above / below;
  double inside = estimate, outside = 0;
  for (int step = 0; step < 60; ++step) {
    const double middle = (inside + outside) / 2;
    (may_be(middle) ? inside : outside) = middle;
  }
  Bounds out{inside, kInfinity};
  double factor = 1;
  while (factor < 1e6 && may_be(estimate * factor)) factor *= 1.5;
  if (!(factor < 1e6)) return out;
  inside = estimate, outside = estimate * factor;
  for (int step = 0; step < 60; ++step) {
    const double middle = (inside + outside) / 2;
    (may_be(middle) ? inside : outside) = middle;
  }
  out.high = outside;
  return out;
}

// Rows i are drawn with replacement with probabilities p_i, half uniform, half in proportion to the
// diagonals of K and K^, and of A = K^ - K the columns of these rows are formed, a block of rows at
// a time; only their inner products G_st = A_s'A_t are kept, and those of K's columns.
//   ||A||_F^2   = E G_ss / p_s; the squares of the diagonal are summed exactly.
//   tr B^4      = E G_st G_tu G_uv G_vs / (p_s p_t p_u p_v), B = A^2 without its diagonal, with
//                 ||A||_2^2 <= (tr B^4)^{1/4} + max A^2_ss.
//   ||A y||^2   = E (A_t'y)^2 / p_t, at most ||A||_2^2 ||y||^2, with y = sum_s A_s u_s / p_s^{1/2}
//                 of the first half of the draws, which u makes nearly a leading eigenvector, and t
//                 of the second half; and no columns have a larger norm together than A.
// Draws are independent, so that means of functions of one of them have bounds; those of tr B^4 are
// of the means over cycles through each draw (the jackknife of a U-statistic; Hoeffding 1948).

namespace {

using feature::FeatureMap;

constexpr int64_t kBlockRows = 512;
constexpr int64_t kLeastDraws = 16;

/// Diagonals of K and of A.
struct Diagonals {
  std::vector<double> kernel, error;
};

/// Z of some rows.
Matrix<double> features_of_rows(const FeatureMap& map, MatrixView<const double> X,
                                Context& context) {
  Matrix<double> Z(X.rows, map.row_length(), context, "features of rows");
  map.apply(X, {0, map.features()}, context, Z.view());
  return Z;
}

template <class Body>
void blocks_of_rows(int64_t n, Context& context, const Body& body) {
  Stage stage(context, n);
  for (int64_t i = 0; i < n; i += kBlockRows) {
    const int64_t end = std::min(i + kBlockRows, n);
    stage.share(end - i);
    body(i, end);
    stage.advance(end - i);
    context.checkpoint();
  }
}

Diagonals diagonals(const FeatureMap& map, MatrixView<const double> X, Context& context) {
  Diagonals out{std::vector<double>(X.rows), std::vector<double>(X.rows)};
  blocks_of_rows(X.rows, context, [&](int64_t first, int64_t end) {
    const Matrix<double> Z = features_of_rows(map, X.block_rows(first, end), context);
    parallel_for(context, end - first, [&](int64_t i, int) noexcept {
      const double* const z = Z.view().row(i);
      double square = 0;
      for (int64_t j = 0; j < Z.cols(); ++j) square += z[j] * z[j];
      const double k = map.estimated_kernel(X.row(first + i), X.row(first + i));
      out.kernel[first + i] = k;
      out.error[first + i] = square - k;
    });
  });
  return out;
}

/// Rows with their probabilities; all rows, once, with probabilities 1, if they are not more.
struct Draws {
  std::vector<int64_t> rows;
  std::vector<double> probability;
  bool all = false;
};

Draws draw_rows(const Diagonals& diagonals, const CertificateRequest& request) {
  const auto n = std::ssize(diagonals.kernel);
  Draws out;
  out.all = n <= request.rows;
  if (out.all) {
    out.rows.resize(n);
    std::iota(out.rows.begin(), out.rows.end(), int64_t{0});
    out.probability.assign(n, 1.0);
    return out;
  }
  std::vector<double> sums(n);
  double total = 0;
  const auto size = [&](int64_t i) {
    return std::fabs(diagonals.kernel[i]) + std::fabs(diagonals.kernel[i] + diagonals.error[i]);
  };
  for (int64_t i = 0; i < n; ++i) total += size(i);
  const auto probability = [&](int64_t i) {
    return 0.5 / static_cast<double>(n) +
           (total > 0 ? 0.5 * size(i) / total : 0.5 / static_cast<double>(n));
  };
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sums[i] = sum += probability(i);
  std::vector<double> uniform(request.rows);
  random::fill_uniform(random::Stream(request.seed, random::Tag::sample, 0), 0, uniform);
  for (const double u : uniform) {
    const auto at = std::upper_bound(sums.begin(), sums.end(), u * sum) - sums.begin();
    out.rows.push_back(std::min<int64_t>(at, n - 1));
    out.probability.push_back(probability(out.rows.back()));
  }
  return out;
}

/// K(X, S), of the rows as the map changes them before its kernel.
void kernel_block(const FeatureMap& map, MatrixView<const double> X, MatrixView<const double> S,
                  Context& context, MatrixView<double> out) {
  if (!map.shows_other_rows()) return kernel::gram(map.kernel(), X, S, context, out);
  parallel_for(context, X.rows, [&](int64_t i, int) noexcept {
    for (int64_t j = 0; j < S.rows; ++j) out(i, j) = map.estimated_kernel(X.row(i), S.row(j));
  });
}

/// Inner products of the drawn columns of K and of A.
struct Products {
  Matrix<double> kernel, error;
};

Products column_products(const FeatureMap& map, MatrixView<const double> X, const Draws& draws,
                         Context& context) {
  const int64_t m = std::ssize(draws.rows), size = std::min(X.rows, kBlockRows);
  const Matrix<double> S(m, X.cols, context, "the drawn rows");
  for (int64_t t = 0; t < m; ++t) std::copy_n(X.row(draws.rows[t]), X.cols, S.view().row(t));
  const Matrix<double> Zs = features_of_rows(map, S.view(), context);
  const Matrix<double> K(size, m, context, "columns of the kernel"), A(size, m, context, "errors");
  Products out{Matrix<double>(m, m, context, "products"),
               Matrix<double>(m, m, context, "products")};
  out.kernel.fill(0);
  out.error.fill(0);
  blocks_of_rows(X.rows, context, [&](int64_t first, int64_t end) {
    const auto rows = X.block_rows(first, end);
    const auto k = K.view().block_rows(0, rows.rows), a = A.view().block_rows(0, rows.rows);
    kernel_block(map, rows, S.view(), context, k);
    for (int64_t i = 0; i < rows.rows; ++i) std::copy_n(k.row(i), m, a.row(i));
    const Matrix<double> Z = features_of_rows(map, rows, context);
    linalg::multiply(1.0, linalg::kPlain, Z.view(), linalg::kTransposed, Zs.view(), -1.0, a);
    linalg::rank_update(1.0, k, out.kernel.view());
    linalg::rank_update(1.0, a, out.error.view());
  });
  for (const Matrix<double>* G : {&out.kernel, &out.error})
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < i; ++j) (*G)(j, i) = (*G)(i, j);
  return out;
}

/// For each draw an estimate of the sum of all squares, of which those of the diagonal are exact.
std::vector<double> square_sums(const Matrix<double>& G, const Draws& draws,
                                const std::vector<double>& diagonal) {
  double exact = 0;
  for (const double x : diagonal) exact += x * x;
  std::vector<double> out;
  for (size_t t = 0; t < draws.rows.size(); ++t) {
    const double own = diagonal[static_cast<size_t>(draws.rows[t])];
    const auto i = static_cast<int64_t>(t);
    out.push_back(std::max(G(i, i) - own * own, 0.0) / draws.probability[t] + exact);
  }
  return out;
}

double largest_eigenvalue(const Matrix<double>& G, Context& context) {
  std::vector<double> values(G.rows());
  linalg::symmetric_eigen(G.view(), values, context);
  return std::max(values.back(), 0.0);
}

/// The norm of different columns together, which is at most that of the matrix.
double norm_of_columns(const Matrix<double>& G, const Draws& draws, Context& context) {
  std::vector<int64_t> first;
  for (size_t t = 0; t < draws.rows.size(); ++t)
    if (std::find(draws.rows.begin(), draws.rows.begin() + static_cast<std::ptrdiff_t>(t),
                  draws.rows[t]) == draws.rows.begin() + static_cast<std::ptrdiff_t>(t))
      first.push_back(static_cast<int64_t>(t));
  const Matrix<double> part(std::ssize(first), std::ssize(first), context, kScratch);
  for (int64_t i = 0; i < part.rows(); ++i)
    for (int64_t j = 0; j < part.cols(); ++j) part(i, j) = G(first[i], first[j]);
  return std::sqrt(largest_eigenvalue(part, context));
}

/// At most ||A||_2, with probability 1 - alpha.
double spectral_low(const Matrix<double>& G, const Draws& draws, double alpha, Context& context) {
  const int64_t m = G.rows(), half = m / 2;
  const auto weight = [&](int64_t t) { return 1 / std::sqrt(draws.probability[t]); };
  const Matrix<double> first(half, half, context, kScratch);
  for (int64_t s = 0; s < half; ++s)
    for (int64_t t = 0; t < half; ++t) first(s, t) = G(s, t) * weight(s) * weight(t);
  std::vector<double> values(half), squares;
  linalg::symmetric_eigen(first.view(), values, context);
  const double* const u = first.view().row(half - 1);
  const double norm = values.back();  // ||y||^2
  if (!(norm > 0)) return 0;
  for (int64_t t = half; t < m; ++t) {
    double product = 0;
    for (int64_t s = 0; s < half; ++s) product += G(t, s) * u[s] * weight(s);
    squares.push_back(product * product / draws.probability[t] / norm);
  }
  const double sure = norm_of_columns(G, draws, context);
  return std::max(sure, std::sqrt(std::max(mean_bounds(squares, alpha).low, 0.0)));
}

/// G without the products of a row with itself, G_st / (p_s p_t)^{1/2} over the largest of them, so
/// that eighth powers neither overflow nor vanish.
struct ScaledProducts {
  Matrix<double> H;
  double scale = 0;
};

ScaledProducts scaled_products(const Matrix<double>& G, const Draws& draws, Context& context) {
  const int64_t m = G.rows();
  ScaledProducts out{Matrix<double>(m, m, context, kScratch)};
  for (int64_t s = 0; s < m; ++s)
    for (int64_t t = 0; t < m; ++t) {
      const double p = draws.probability[s] * draws.probability[t];
      out.H(s, t) = draws.rows[s] == draws.rows[t] ? 0 : G(s, t) / std::sqrt(p);
      out.scale = std::max(out.scale, std::fabs(out.H(s, t)));
    }
  for (int64_t i = 0; out.scale > 0 && i < m * m; ++i) out.H.data()[i] /= out.scale;
  return out;
}

/// For each draw s the mean product over cycles s t u v of different draws: walks of four steps
/// back to s, less those with s = u or t = v.
std::vector<double> cycle_means(const Matrix<double>& H, Context& context) {
  const int64_t m = H.rows();
  const Matrix<double> H2(m, m, context, kScratch);  // H is symmetric
  multiply_rows(H.view(), 0.0, context, H2.view());
  const auto count = static_cast<double>(m);
  std::vector<double> means(m);
  for (int64_t s = 0; s < m; ++s) {
    double walks = 0, fourth = 0, returning = 0;
    for (int64_t t = 0; t < m; ++t) {
      const double square = H(s, t) * H(s, t);
      walks += H2(s, t) * H2(s, t);
      fourth += square * square;
      returning += square * H2(t, t);
    }
    means[s] = (walks - H2(s, s) * H2(s, s) - returning + fourth) /
               ((count - 1) * (count - 2) * (count - 3));
  }
  return means;
}

/// At least ||A||_2, with probability 1 - alpha.
double spectral_high(const Matrix<double>& G, const Draws& draws, double alpha, Context& context) {
  double longest = 0;
  for (int64_t s = 0; s < G.rows(); ++s) longest = std::max(longest, G(s, s));
  const ScaledProducts products = scaled_products(G, draws, context);
  std::vector<double> cycles = cycle_means(products.H, context);
  // A draw is in four places of a cycle: 4 of its mean less 3 of all have the variance of the
  // whole.
  const double mean =
      std::accumulate(cycles.begin(), cycles.end(), 0.0) / static_cast<double>(cycles.size());
  for (double& one : cycles) one = 4 * one - 3 * mean;
  const double high = std::max(mean_bounds(cycles, alpha).high, 0.0);
  return std::sqrt(products.scale * std::pow(high, 0.25) + longest);
}

Bounds spectral_bounds(const Matrix<double>& G, const Draws& draws, double alpha,
                       Context& context) {
  if (draws.all) {
    const Matrix<double> copy(G.rows(), G.cols(), context, kScratch);
    std::copy_n(G.data(), G.rows() * G.cols(), copy.data());
    const double norm = std::sqrt(largest_eigenvalue(copy, context));
    return {norm, norm};
  }
  const double low = spectral_low(G, draws, alpha, context);
  return {low, std::max(low, spectral_high(G, draws, alpha, context))};
}

double quotient(double a, double b) { return b > 0 ? a / b : kInfinity; }

void check(const FeatureMap& map, MatrixView<const double> X, const CertificateRequest& request) {
  map.require_one_output();
  require(!map.has_kernel_columns(), MERCER_UNSUPPORTED,
          "the kernel error of map %s, expected a map of features: its columns are kernel values",
          std::string(map.name()).c_str());
  require(X.rows >= 2, MERCER_INVALID_ARGUMENT, "n = %ld, expected at least 2 rows", X.rows);
  require(request.rows >= kLeastDraws, MERCER_INVALID_ARGUMENT, "rows = %ld, expected at least %ld",
          request.rows, kLeastDraws);
}

/// ||A||_F / ||K||_F, into out.relative and out.frobenius.
void bound_frobenius(const FeatureMap& map, const Diagonals& diagonal, const Draws& draws,
                     const Products& products, double alpha, KernelCertificate& out) {
  const auto errors = square_sums(products.error, draws, diagonal.error);
  const auto squares = square_sums(products.kernel, draws, diagonal.kernel);
  const auto sum_of = [&](const std::vector<double>& sums, const Matrix<double>& G) {
    double trace = 0;
    for (int64_t t = 0; t < G.rows(); ++t) trace += G(t, t);
    return draws.all ? trace : std::accumulate(sums.begin(), sums.end(), 0.0);
  };
  const double above = sum_of(errors, products.error), below = sum_of(squares, products.kernel);
  require(below != 0, MERCER_INVALID_ARGUMENT,
          "kernel %s is 0 for all pairs of rows, expected a Gram matrix that is not zero",
          std::string(map.kernel().name()).c_str());
  require(std::isfinite(above) && std::isfinite(below), MERCER_INVALID_ARGUMENT,
          "X: the error of the map is %g, expected finite rows whose kernel does not overflow",
          above / below);
  out.relative = std::sqrt(above / below);
  out.frobenius = {out.relative, out.relative};
  if (draws.all) return;
  const Bounds squared = quotient_bounds(errors, squares, alpha / 2);
  out.frobenius = {std::sqrt(squared.low), std::sqrt(squared.high)};
}

}  // namespace

KernelCertificate certify(const FeatureMap& map, MatrixView<const double> X,
                          const CertificateRequest& request, Context& context) {
  check(map, X, request);
  Stage stage(context, 4);
  const Diagonals diagonal = stage.part(1, [&] { return diagonals(map, X, context); });
  const Draws draws = draw_rows(diagonal, request);
  const Products products = stage.part(3, [&] { return column_products(map, X, draws, context); });
  KernelCertificate out;
  out.exact = draws.all;
  bound_frobenius(map, diagonal, draws, products, request.alpha, out);
  // Four bounds, each with a quarter of alpha, hold together.
  out.spectral = spectral_bounds(products.error, draws, request.alpha / 4, context);
  const Bounds kernel = spectral_bounds(products.kernel, draws, request.alpha / 4, context);
  out.relative_spectral = {quotient(out.spectral.low, kernel.high),
                           quotient(out.spectral.high, kernel.low)};
  return out;
}

}  // namespace mercer::statistic
