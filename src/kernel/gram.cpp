// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// K(i, j) = k(X_i, Y_j). Dense double rows: in tiles, so that the rows of both stay in cache; wide
// ones by BLAS where the kernel is of Euclid's norm.
// Sparse rows, if the kernel ignores common zeros: pair by pair, at the cost of their stored
// non-zeros. All others: blocks of rows are made dense. For kernels of A x rows are multiplied by A
// first. Kernels of several outputs have their own methods (MatrixKernel).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/views.h"
#include "kernel/custom.h"
#include "kernel/entry.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"

namespace mercer::kernel {
namespace {

// Two sparse rows as two short dense ones, over the columns that at least one of them stores: all
// that a kernel reads which ignores common zeros. One row is scattered once; others are then
// aligned with it at the cost of their non-zeros, in any order and without a search.

// Scratch of one thread, which others make: marks of every column, -1 each and again so after
// close(), and two rows as long as the stored numbers of two rows together, at least 1.
class RowPair {
 public:
  RowPair(int32_t* marks, double* left, double* right)
      : marks_(marks), left_(left), right_(right) {}

  // Row i of X is the left one.
  template <class View>
  void open(const View& X, int64_t i) noexcept {
    length_ = 0;
    left_[0] = 0;
    for_each_stored(X, i, [&](int64_t j, auto value) {
      if (value == 0) return;
      int32_t& mark = marks_[j];
      if (mark < 0) {
        mark = length_;
        left_[length_++] = 0;
      }
      left_[mark] += static_cast<double>(value);
    });
  }
  template <class View>
  void close(const View& X, int64_t i) noexcept {
    for_each_stored(X, i, [&](int64_t j, auto) { marks_[j] = -1; });
  }

  // value(d, left, right) for row j of Y, which names no column twice.
  template <class Value>
  double with(const CsrView<double>& Y, int64_t j, const Value& value) noexcept {
    std::fill_n(right_, std::max(length_, 1), 0.0);
    int32_t length = length_;
    Y.indices.visit([&](const auto* columns) {
      for (int64_t p = Y.begin(j), end = Y.end(j); p < end; ++p) {
        const int32_t mark = marks_[columns[p]];
        left_[length] = 0;  // for a column of Y alone, or not counted
        right_[mark < 0 ? length : mark] = Y.values[p];
        length += mark < 0;
      }
    });
    return value(std::max(length, 1), left_, right_);
  }

 private:
  int32_t* marks_;
  double* left_;
  double* right_;
  int32_t length_ = 0;  // of the left row
};

constexpr int64_t kGramRows = 32;
constexpr int64_t kTileDoubles = 8192;  // doubles of Y: 64 KiB, half of a small second-level cache
constexpr int64_t kBlockDoubles = int64_t{1} << 21;  // doubles made dense at a time: 16 MiB
constexpr int64_t kDensest =
    8;  // with more than one entry in so many stored, pairs of sparse rows cost more
constexpr const char* kScratch = "pairs of sparse rows of all threads";

using Doubles = MatrixView<const double>;

// Rows of Y in a block of products, and rows of X.
constexpr int64_t kProductColumns = 1024;
constexpr int64_t kProductRows = 256;

/// p.
int64_t check_rows(const Kernel& kernel, const Rows& X, const Rows& Y) {
  require(X.cols() == Y.cols(), MERCER_DIMENSION_MISMATCH,
          "X.d = %ld and Y.d = %ld, expected the same", X.cols(), Y.cols());
  check_unit_rows(kernel, "X", X);
  check_unit_rows(kernel, "Y", Y);
  return kernel.outputs(X.cols());
}

void check(const Kernel& kernel, const Rows& X, const Rows& Y, MatrixView<double> K) {
  const int64_t p = check_rows(kernel, X, Y);
  require(
      K.rows == checked_multiply(p, X.rows(), "K") && K.cols == checked_multiply(p, Y.rows(), "K"),
      MERCER_DIMENSION_MISMATCH,
      "K is %ld x %ld, expected %ld x %ld: p = %ld times the rows of X and of Y", K.rows, K.cols,
      p * X.rows(), p * Y.rows(), p);
}

// For rows against themselves each pair is computed once, by the chunk of the lower row, and
// written twice.
bool same_rows(const Rows& X, const Rows& Y) {
  return X.rows() == Y.rows() && X.visit([&](const auto& x) {
    const auto* const y = Y.get_if<std::remove_cvref_t<decltype(x)>>();
    if (y == nullptr) return false;
    if constexpr (kIsSparse<decltype(x)>) {
      return x.values == y->values && (x.rows == 0 || x.begin(0) == y->begin(0));
    } else {
      return x.data == y->data && x.ld == y->ld;
    }
  });
}

// Calls row(worker, first, last) for chunks of rows, in parallel.
template <class Row>
void for_each_row(int64_t rows, Context& context, const Row& row) {
  // Few long rows are spread over the threads, too.
  const int64_t each = std::clamp<int64_t>(rows / kGramRows, 1, kGramRows);
  const auto body = [&](int64_t chunk, int worker) noexcept {
    row(worker, chunk * each, std::min(rows, (chunk + 1) * each));
  };
  parallel_for(context, ceil_divide(rows, each), body, each);
}

// Wide rows: ||u - v||^2 = ||u||^2 + ||v||^2 - 2 u'v by BLAS, u and v rows less one of the rows, over
// lengthscales; by differences of the rows themselves where that would lose more than six bits.

constexpr int64_t kWide = 64, kWideRows = 256;
constexpr double kCancelled = 1.0 / 64;

bool takes_wide_rows(const Kernel& kernel, int64_t d) {
  double none = 0;
  return d >= kWide && !kernel.traits().falls_with_magnitudes && kernel.take_slopes({&none, 1}, {});
}

double length_of(std::span<const double> lengthscale, int64_t k) noexcept {
  return lengthscale.empty() ? 1 : lengthscale[lengthscale.size() > 1 ? k : 0];
}

/// Rows less an origin, over lengthscales, and their squared norms.
struct ScaledRows {
  ScaledRows(const Kernel& kernel, Doubles X, const double* origin, Context& context)
      : rows(X.rows, X.cols, context, "rows over lengthscales"), squares(X.rows) {
    const auto scale = [l = kernel.lengthscale()](int64_t k) noexcept { return length_of(l, k); };
    for_each_row(X.rows, context, [&](int, int64_t first, int64_t last) noexcept {
      for (int64_t i = first; i < last; ++i) {
        double* const u = rows.view().row(i);
        for (int64_t k = 0; k < X.cols; ++k) u[k] = (X(i, k) - origin[k]) / scale(k);
        squares[i] = lane_fold<Sum>(X.cols, [u](int64_t k) { return u[k] * u[k]; });
      }
    });
  }
  Matrix<double> rows;
  std::vector<double> squares;
};

void wide_gram(const Kernel& kernel, Doubles X, Doubles Y, bool symmetric, Context& context,
               MatrixView<double> K) {
  std::vector<double> origin(Y.row(0), Y.row(0) + Y.cols);
  for (double& one : origin) one = std::isfinite(one) ? one : 0;
  const ScaledRows v(kernel, Y, origin.data(), context);
  std::optional<ScaledRows> other;
  if (!symmetric) other.emplace(kernel, X, origin.data(), context);
  const ScaledRows& u = symmetric ? v : *other;
  const auto squared = [&](int64_t i, int64_t j) noexcept {
    const double *const a = X.row(i), *const b = Y.row(j);
    return lane_fold<Sum>(X.cols, [=, l = kernel.lengthscale()](int64_t k) {
      const double t = (a[k] - b[k]) / length_of(l, k);
      return t * t;
    });
  };
  for (int64_t i0 = 0; i0 < X.rows; i0 += kWideRows) {
    const int64_t i1 = std::min(X.rows, i0 + kWideRows), columns = symmetric ? i1 : Y.rows;
    linalg::multiply(1.0, linalg::kPlain, Doubles(u.rows.view().block_rows(i0, i1)),
                     linalg::kTransposed, Doubles(v.rows.view().block_rows(0, columns)), 0.0,
                     K.block_rows(i0, i1).block_cols(0, columns));
    for_each_row(i1 - i0, context, [&](int, int64_t first, int64_t last) noexcept {
      for (int64_t i = i0 + first; i < i0 + last; ++i) {
        const int64_t end = symmetric ? i + 1 : columns;
        for (int64_t j = 0; j < end; ++j) {
          const double sum = u.squares[i] + v.squares[j], s = sum - 2 * K(i, j);
          K(i, j) = s >= kCancelled * sum ? s : squared(i, j);
        }
        kernel.take_slopes({K.row(i), static_cast<size_t>(end)}, {});
      }
    });
  }
  if (symmetric) linalg::copy_triangle(linalg::Triangle::lower, K);
}

void dense_gram(const Kernel& kernel, Doubles X, Doubles Y, bool symmetric, Context& context,
                MatrixView<double> K) {
  if (takes_wide_rows(kernel, X.cols)) return wide_gram(kernel, X, Y, symmetric, context, K);
  const int64_t tile = std::max<int64_t>(1, kTileDoubles / X.cols);
  for_each_row(X.rows, context, [&](int, int64_t first, int64_t last) noexcept {
    const MatrixView<double> rows = K.block_rows(first, last);
    for (int64_t j0 = symmetric ? first : 0; j0 < Y.rows; j0 += tile) {
      const int64_t j1 = std::min(Y.rows, j0 + tile);
      kernel.compute(X.block_rows(first, last), Y.block_rows(j0, j1), rows.block_cols(j0, j1));
      for (int64_t j = j0; j < j1 && symmetric; ++j)
        for (int64_t i = first; i < std::min(last, j); ++i) K(j, i) = K(i, j);
    }
  });
}

int64_t longest_row(const Rows& X) {
  return X.visit([](const auto& rows) {
    if constexpr (kIsSparse<decltype(rows)>) {
      int64_t longest = 0;
      for (int64_t i = 0; i < rows.rows; ++i)
        longest = std::max(longest, rows.end(i) - rows.begin(i));
      return longest;
    } else {
      return rows.cols;
    }
  });
}

void paired_gram(const Kernel& kernel, const Rows& X, const Rows& Y, bool symmetric,
                 Context& context, MatrixView<double> K) {
  const CsrRows stored(Y, context, "sparse rows in double");
  const CsrView<double> others = stored.view();
  const int64_t workers = worker_count(context, X.rows()), d = X.cols();
  const int64_t pair = checked_add(longest_row(X), longest_row(others) + 8, kScratch);
  const AlignedBuffer<int32_t> marks(checked_multiply(workers, d, kScratch), context, kScratch);
  const AlignedBuffer<double> both(checked_multiply(2 * workers, pair, kScratch), context,
                                   kScratch);
  std::fill(marks.begin(), marks.end(), -1);
  const auto value = [&](int64_t length, const double* x, const double* y) noexcept {
    return kernel.value(length, x, y);
  };
  X.visit([&](const auto& rows) {
    for_each_row(rows.rows, context, [&](int worker, int64_t first, int64_t last) noexcept {
      double* const left = both.data() + 2 * worker * pair;
      RowPair scratch(marks.data() + worker * d, left, left + pair);
      for (int64_t i = first; i < last; ++i) {
        scratch.open(rows, i);
        for (int64_t j = symmetric ? i : 0; j < others.rows; ++j) {
          K(i, j) = scratch.with(others, j, value);
          if (symmetric) K(j, i) = K(i, j);
        }
        scratch.close(rows, i);
      }
    });
  });
}

/// Blocks of rows as dense doubles, without a copy where they are that already.
class DenseBlocks {
 public:
  DenseBlocks(const Rows& X, Context& context, int64_t doubles = kBlockDoubles)
      : X_(X), own_(X.get_if<Doubles>()), size_(std::max<int64_t>(X.rows(), 1)) {
    if (own_ != nullptr) return;
    size_ = std::clamp<int64_t>(doubles / X.cols(), 1, size_);
    block_ = Matrix<double>(size_, X.cols(), context, "a block of rows made dense");
  }
  int64_t size() const noexcept { return size_; }
  Doubles block(int64_t first, int64_t last) const {
    if (own_ != nullptr) return own_->block_rows(first, last);
    const MatrixView<double> out = block_.view().block_rows(0, last - first);
    X_.visit([&](const auto& rows) {
      for (int64_t i = first; i < last; ++i) {
        double* const to = out.row(i - first);
        std::fill_n(to, out.cols, 0.0);
        for_each_stored(rows, i, [&](int64_t j, auto value) { to[j] += value; });
      }
    });
    return out;
  }

 private:
  const Rows& X_;
  const Doubles* own_;
  int64_t size_;
  Matrix<double> block_;
};

void blocked_gram(const Kernel& kernel, const Rows& X, const Rows& Y, Context& context,
                  MatrixView<double> K) {
  const DenseBlocks left(X, context), right(Y, context);
  Stage stage(context, checked_multiply(X.rows(), Y.rows(), "pairs of rows"));
  for (int64_t i0 = 0; i0 < X.rows(); i0 += left.size()) {
    const int64_t i1 = std::min(X.rows(), i0 + left.size());
    const Doubles x = left.block(i0, i1);
    for (int64_t j0 = 0; j0 < Y.rows(); j0 += right.size()) {
      const int64_t j1 = std::min(Y.rows(), j0 + right.size()), pairs = (i1 - i0) * (j1 - j0);
      stage.share(pairs);
      dense_gram(kernel, x, right.block(j0, j1), false, context,
                 K.block_rows(i0, i1).block_cols(j0, j1));
      stage.advance(pairs);
    }
  }
}

constexpr int64_t kCalledRows = 256, kCalledColumns = 4096;  // of a callback's block

/// K = K' of rows against themselves, of a block on the diagonal: to the rounding of the callback's
/// sums, which the upper triangle then decides. INVALID_ARGUMENT for what no kernel is.
void make_symmetric(const Kernel& kernel, MatrixView<double> K) {
  constexpr double kRounding = 1e-8;
  const std::string name(kernel.name());
  for (int64_t i = 0; i < K.rows; ++i) {
    require(!(K(i, i) < 0), MERCER_INVALID_ARGUMENT,
            "the value of kernel %s with a row and itself is %g, expected a number >= 0",
            name.c_str(), K(i, i));
    for (int64_t j = i + 1; j < K.cols; ++j) {
      const double apart = std::fabs(K(i, j) - K(j, i));
      require(!(apart > kRounding * std::max(K(i, i), K(j, j))), MERCER_INVALID_ARGUMENT,
              "kernel %s is not symmetric: %.17g and %.17g of the same two rows, expected equal "
              "numbers",
              name.c_str(), K(i, j), K(j, i));
      K(j, i) = K(i, j);
    }
  }
}

/// Block by block, of rows against themselves those above the diagonal alone.
void called_gram(const Kernel& kernel, Doubles X, Doubles Y, bool symmetric, Context& context,
                 MatrixView<double> K) {
  const int64_t rows = rows_of_call(X.cols, kCalledRows),
                cols = symmetric ? rows : rows_of_call(X.cols, kCalledColumns),
                across = ceil_divide(Y.rows, cols), blocks = ceil_divide(X.rows, rows) * across;
  const MemoryCharge held =
      charge_calls(kernel.traits().calls, blocks,
                   checked_add(checked_multiply(rows + cols, X.cols, "K"),
                               checked_add(rows * cols, 2 * features_of_calls(kernel), "K"), "K"),
                   context);
  run_calls(kernel.traits().calls, blocks, context, [&](int64_t block) {
    const int64_t i0 = block / across * rows, i1 = std::min(X.rows, i0 + rows);
    const int64_t j0 = block % across * cols, j1 = std::min(Y.rows, j0 + cols);
    if (symmetric && j0 < i0) return;
    const MatrixView<double> own = K.block_rows(i0, i1).block_cols(j0, j1);
    kernel.compute(X.block_rows(i0, i1), Y.block_rows(j0, j1), own);
    if (symmetric && i0 == j0) make_symmetric(kernel, own);
    for (int64_t i = i0; i < i1 && symmetric && j0 > i0; ++i)
      for (int64_t j = j0; j < j1; ++j) K(j, i) = K(i, j);
  });
}

/// For all rows at once.
class DenseRows : public DenseBlocks {
 public:
  DenseRows(const Rows& X, Context& context)
      : DenseBlocks(X, context, INT64_MAX), all_(block(0, X.rows())) {}
  Doubles view() const noexcept { return all_; }

 private:
  Doubles all_;
};

void require_derivatives(const Kernel& kernel, int64_t order) {
  const std::string name(kernel.name());
  require(kernel.most_derivatives() > 0, MERCER_UNSUPPORTED,
          "kernel %s has no derivatives, expected any other than laplacian, matern (nu <= 1), "
          "spline (order 2), intersection, tanimoto, arc_cosine and sign, or sums and products "
          "with one of these",
          name.c_str());
  require(order <= kernel.most_derivatives(), MERCER_UNSUPPORTED,
          "derivatives of order %ld in all of kernel %s, expected up to %ld", order, name.c_str(),
          kernel.most_derivatives());
}

// Pairs of a chunk: one may take a millisecond, and cancellation is checked between chunks.
constexpr int64_t kPairs = 64;

bool has_nan(int64_t d, const double* x) noexcept {
  return std::any_of(x, x + d, [](double number) { return std::isnan(number); });
}

/// use(U, V): the rows of X and of Y times A', of the same memory where these are.
template <class Use>
void in_metric(const Metric& metric, const Rows& X, const Rows& Y, Context& context,
               const Use& use) {
  const Matrix<double> U = multiply_rows(metric, X, context);
  if (same_rows(X, Y)) return use(U.view(), U.view());
  use(U.view(), multiply_rows(metric, Y, context).view());
}

}  // namespace

Matrix<double> multiply_rows(const Metric& metric, const Rows& X, Context& context) {
  Matrix<double> U(X.rows(), metric.A.rows(), context, "rows times the matrix of a metric");
  const DenseBlocks blocks(X, context);
  for (int64_t i0 = 0; i0 < X.rows(); i0 += blocks.size()) {
    const Doubles some = blocks.block(i0, std::min(X.rows(), i0 + blocks.size()));
    for_each_row(some.rows, context, [&](int, int64_t first, int64_t last) noexcept {
      for (int64_t i = first; i < last; ++i) metric.multiply(some.row(i), U.view().row(i0 + i));
    });
  }
  return U;
}

bool pairs_stored_numbers(const Kernel& kernel, const Rows& X) {
  constexpr int64_t kMostStored = INT32_MAX / 2;
  return X.sparse() && kernel.ignores_common_zeros() && X.cols() <= kMostStored &&
         longest_row(X) <= kMostStored &&
         stored_numbers(X) / std::max<int64_t>(X.rows(), 1) <= X.cols() / kDensest;
}

void gram(const Kernel& kernel, const Rows& X, const Rows& Y, Context& context,
          MatrixView<double> K) {
  check(kernel, X, Y, K);
  if (const MatrixKernel* const matrix = kernel.matrix()) {
    if (X.rows() == 0) return;
    const DenseRows left(X, context), right(Y, context);
    return matrix->gram_rows(left.view(), right.view(), context, K);
  }
  if (const Metric* const metric = kernel.traits().metric) {
    return in_metric(*metric, X, Y, context, [&](const Rows& U, const Rows& V) {
      gram(*metric->kernel, U, V, context, K);
    });
  }
  const bool symmetric = same_rows(X, Y);
  if (X.rows() == 0 || Y.rows() == 0) return;
  if (kernel.traits().calls != Calls::none) {
    const DenseRows left(X, context);
    if (symmetric) return called_gram(kernel, left.view(), left.view(), true, context, K);
    const DenseRows right(Y, context);
    return called_gram(kernel, left.view(), right.view(), false, context, K);
  }
  const auto *const x = X.get_if<Doubles>(), *const y = Y.get_if<Doubles>();
  if (x != nullptr && y != nullptr) return dense_gram(kernel, *x, *y, symmetric, context, K);
  if (pairs_stored_numbers(kernel, Y)) return paired_gram(kernel, X, Y, symmetric, context, K);
  blocked_gram(kernel, X, Y, context, K);
}

void gram_multiply(const Kernel& kernel, const Rows& X, const Rows& Y, MatrixView<const double> U,
                   Context& context, MatrixView<double> out) {
  constexpr const char* kWhat = "a block of a Gram matrix";
  const int64_t p = check_rows(kernel, X, Y), n = X.rows(), m = Y.rows();
  require(U.rows == m && U.cols % p == 0 && out.rows == n && out.cols == U.cols,
          MERCER_DIMENSION_MISMATCH,
          "U is %ld x %ld and out %ld x %ld, expected the rows of Y and of X, and whole "
          "vectors of p = %ld outputs, as many of both",
          U.rows, U.cols, out.rows, out.cols, p);
  if (n == 0) return;
  if (const MatrixKernel* const matrix = kernel.matrix()) {
    const DenseRows left(X, context), right(Y, context);
    return matrix->multiply_rows(left.view(), right.view(), U, context, out);
  }
  if (const Metric* const metric = kernel.traits().metric) {
    return in_metric(*metric, X, Y, context, [&](const Rows& left, const Rows& right) {
      gram_multiply(*metric->kernel, left, right, U, context, out);
    });
  }
  const Matrix<double> storage(std::min(kProductRows, n), std::min(kProductColumns, m), context,
                               kWhat);
  for (int64_t i = 0; i < n; ++i) std::fill_n(out.row(i), out.cols, 0.0);
  Stage stage(context, checked_multiply(n, m, kWhat));
  for (int64_t i = 0; i < n; i += kProductRows) {
    const int64_t rows = std::min(kProductRows, n - i);
    for (int64_t j = 0; j < m; j += kProductColumns) {
      const int64_t cols = std::min(kProductColumns, m - j);
      const MatrixView<double> K(storage.data(), rows, cols);
      stage.share(rows * cols);
      gram(kernel, X.block_rows(i, i + rows), Y.block_rows(j, j + cols), context, K);
      if (U.cols > 0)
        linalg::multiply(1.0, linalg::Transpose::no, MatrixView<const double>(K),
                         linalg::Transpose::no, U.block_rows(j, j + cols), 1.0,
                         out.block_rows(i, i + rows));
      stage.advance(rows * cols);
    }
  }
}

void diagonal(const Kernel& kernel, MatrixView<const double> X, std::span<double> out) {
  // A call of another language costs more than the values beside the diagonal of a small block.
  constexpr int64_t kBlock = 16;
  const int64_t size = kernel.traits().calls == Calls::none ? 1 : kBlock;
  std::vector<double> values(size * size);
  for (int64_t i = 0; i < X.rows; i += size) {
    const int64_t count = std::min(size, X.rows - i);
    const MatrixView<const double> rows = X.block_rows(i, i + count);
    kernel.compute(rows, rows, {values.data(), count, count});
    for (int64_t j = 0; j < count; ++j) out[i + j] = values[j * count + j];
  }
}

MultiIndex sum_of(const MultiIndex& p, const MultiIndex& q) {
  MultiIndex sum;
  for_each_input(p, q, [&sum](int64_t k, int64_t a, int64_t b) { sum.push_back({k, a + b}); });
  return sum;
}

void derivative_gram(const Kernel& kernel, const MultiIndex& p, const MultiIndex& q,
                     MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                     MatrixView<double> K) {
  require_derivatives(kernel, total_order(p) + total_order(q));
  require(X.cols == Y.cols && K.rows == X.rows && K.cols == Y.rows, MERCER_DIMENSION_MISMATCH,
          "X is %ld x %ld, Y %ld x %ld, K %ld x %ld, expected as many columns of X and Y, "
          "and K rows of X x rows of Y",
          X.rows, X.cols, Y.rows, Y.cols, K.rows, K.cols);
  kernel.check_dimension(X.cols);
  const std::unique_ptr<const Differential> differential = kernel.differential(p, q);
  const AlignedBuffer<unsigned char> lost(Y.rows, context, "which rows hold a NaN");
  for (int64_t j = 0; j < Y.rows; ++j) lost.data()[j] = has_nan(Y.cols, Y.row(j));
  const int64_t pieces = ceil_divide(Y.rows, kPairs);
  parallel_for(context, checked_multiply(X.rows, pieces, "K"), [&](int64_t chunk, int) noexcept {
    const int64_t i = chunk / pieces, first = chunk % pieces * kPairs;
    const bool none = has_nan(X.cols, X.row(i));
    for (int64_t j = first; j < std::min(Y.rows, first + kPairs); ++j)
      K(i, j) = none || lost.data()[j] != 0 ? kNaN : differential->at(X.cols, X.row(i), Y.row(j));
  });
}

}  // namespace mercer::kernel
