// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Haar-distributed orthogonal matrices: the distribution of Q in a Gaussian matrix's Householder QR
// with the signs of R's diagonal absorbed (Mezzadri 2007), by drawing the reflections themselves
// (Stewart 1980). No LAPACK: its last bits depend on the BLAS behind it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "projection/dense.h"
#include "projection/projection.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::projection {
namespace {

// Frequencies in blocks, each rotated by a Haar-distributed orthogonal matrix: the base of the
// projections `orthogonal` and `quadrature`. Matrix b is a function of seed and b alone; one is
// kept at a time, until its block is finished.

// ProjectionEntry::squared_norm of columns whose norms are drawn by their number.
double squared_radius(const ProjectionArguments& arguments, int64_t j) {
  const random::Stream stream(arguments.seed, random::Tag::radius, static_cast<uint64_t>(j));
  const double radius = arguments.law->radius(stream, arguments.d);
  return radius * radius;
}

class RotatedFrequencies : public FrequencySource {
 public:
  void fill(int64_t j0, Context& context, MatrixView<double> omega) const final {
    // f32 and f64 columns may be packed at the same time.
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t j1 = j0 + omega.rows;
    const int64_t blocks = (j1 - 1) / width_ - j0 / width_ + 1;
    // A single block reports its own progress.
    std::optional<Stage> stage;
    if (blocks > 1) stage.emplace(context, blocks);
    for (int64_t j = j0; j < j1;) {
      const int64_t block = j / width_, end = std::min(j1, (block + 1) * width_);
      draw_rotation(block, context);
      fill_block(block, j - block * width_, rotation_.view(), omega.block_rows(j - j0, end - j0));
      if (end % width_ == 0 || end == F_) drop_rotation();
      j = end;
      if (stage) stage->advance(1);
      context.checkpoint();
    }
  }

 protected:
  // `width` columns to a block.
  RotatedFrequencies(const ProjectionArguments& arguments, int64_t width)
      : law_(arguments.law),
        lengthscale_(arguments.lengthscale),
        seed_(arguments.seed),
        d_(arguments.d),
        F_(arguments.F),
        width_(width) {}

  // Columns first, first + 1, ... of a block, given its d x d matrix Q.
  virtual void fill_block(int64_t block, int64_t first, MatrixView<const double> Q,
                          MatrixView<double> omega) const = 0;

  const std::shared_ptr<const random::Law> law_;
  const std::vector<double> lengthscale_;
  const uint64_t seed_;
  const int64_t d_;
  const int64_t F_;
  const int64_t width_;

 private:
  void draw_rotation(int64_t block, Context& context) const {
    if (block_ == block) return;
    drop_rotation();
    constexpr const char* kWhat = "a block of orthogonal frequencies";
    const int64_t entries = checked_multiply(d_, d_, kWhat);
    MemoryCharge charge = context.charge(checked_multiply(entries, sizeof(double), kWhat), kWhat);
    Matrix<double> rotation(d_, d_);
    const random::Stream stream(seed_, random::Tag::direction, static_cast<uint64_t>(block));
    fill_haar_orthogonal(stream, context, rotation.view());
    rotation_ = std::move(rotation);
    charge_ = std::move(charge);
    block_ = block;
  }

  void drop_rotation() const {
    rotation_ = {};
    charge_ = {};
    block_ = -1;
  }

  mutable std::mutex mutex_;
  mutable Matrix<double> rotation_;  // that of block_, or empty
  mutable MemoryCharge charge_;
  mutable int64_t block_ = -1;
};

// Orthogonal random features (Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, NIPS 2016) for every
// isotropic law: d columns at a time have the directions of a Haar-distributed orthogonal
// matrix, each a norm of its own from the radial law. Every single column then has the spectral
// law, so the estimate is unbiased, and the directions of a block are spread evenly. Block b is a
// function of seed and b alone, norm j of seed and j. A last, incomplete block is the beginning of
// a whole one, at the cost of a whole one.
class OrthogonalFrequencies final : public RotatedFrequencies {
 public:
  explicit OrthogonalFrequencies(const ProjectionArguments& arguments)
      : RotatedFrequencies(arguments, arguments.d) {}

 private:
  void fill_block(int64_t block, int64_t first, MatrixView<const double> Q,
                  MatrixView<double> omega) const override {
    for (int64_t i = 0; i < omega.rows; ++i) {
      const auto j = static_cast<uint64_t>(block * d_ + first + i);
      const double radius = law_->radius(random::Stream(seed_, random::Tag::radius, j), d_);
      const std::span column(omega.row(i), d_);
      const double* const direction = Q.row(first + i);
      for (size_t k = 0; k < column.size(); ++k) column[k] = radius * direction[k];
      divide_by_lengthscale(lengthscale_, column);
    }
  }
};

int64_t rotation_block(int64_t d) { return d; }

// Stochastic spherical-radial rule of degree 3 (Genz, Monahan 1998; for random features Munkhoeva,
// Kapushev, Burnaev, Oseledets, "Quadrature-based features for kernel approximation", NeurIPS 2018,
// eq. 6): a block is the d + 1 vertices v_j of a regular simplex, turned by a Haar orthogonal
// matrix Q, at a radius rho, and the origin. With z = rho Q v_j
//   E f(z), z ~ N(0, I), is estimated by (1 - d/rho^2) f(0) + d/((d + 1) rho^2) sum_j f(rho Q v_j)
// exact for even polynomials of degree 3, and in the mean over Q for the radial part of every f.
// rho ~ chi(d + 2) makes it unbiased, but weights are squares of the features' scales: as in the
// paper rho is drawn again until rho^2 >= d, so that the origin's is not negative. What that costs:
// the estimate is k(tau) + c (1 - k(tau)) for far tau, c = E (1 - d/rho^2), which tends to
// 2/sqrt(pi d): 0.40 at d = 4, 0.24 at d = 16, 0.13 at d = 64, the same for every pair of far
// points; for near ones the rule's variance is a hundredth of that of independent columns and less,
// its bias below 3e-4 at k = 0.96 (measured, d = 4 to 64). A constant added to a kernel is taken up
// by an offset. Features f(w'x) of normal w that are homogeneous see powers of rho: the mean of
// arc-cosine features is (1 - c) k at order 0, k at order 1, whatever rho, and a k at order 2, a =
// E rho^2/(d + 2), 1.27 at d = 4, 1.12 at d = 64; that of signs k + c (1 - k), their product at the
// origin being 1. 1 - c = P(chi^2_d > d)/P(chi^2_{d+2} > d), a = P(chi^2_{d+4} > d)/P(chi^2_{d+2} >
// d). Positive features of s = ||u + v|| are too large by 0.2 % of k at s = 1/2, 2.6 % at s = 1, 21
// % at s = 2 and less (d = 4).
//
// Other isotropic laws are omega = s z with an s of its own for every column. A last, incomplete
// block has vertices alone, each with a norm of its own from the law and a weight like those of
// independent columns: it is unbiased.
int64_t simplex_block(int64_t d) { return d + 2; }

/// rho^2 of a whole block.
double squared_radius(uint64_t seed, int64_t d, int64_t block) {
  // Streams of columns have indices below 2^40; those of blocks begin there.
  random::Cursor cursor(random::Stream(seed, random::Tag::radius,
                                       (uint64_t{1} << 40) + static_cast<uint64_t>(block)));
  const auto dimension = static_cast<double>(d);
  for (;;) {
    const double squared = random::chi_squared(cursor, dimension + 2);
    if (squared >= dimension) return squared;
  }
}

class SimplexFrequencies final : public RotatedFrequencies {
 public:
  explicit SimplexFrequencies(const ProjectionArguments& arguments)
      : RotatedFrequencies(arguments, simplex_block(arguments.d)) {}

 private:
  // Q v_j = sum_{k<j} a_k q_k + b_j q_j, q_k the rows of Q, a_k < 0 < b_k, so that the sums go on
  // from vertex to vertex.
  void fill_block(int64_t block, int64_t first, MatrixView<const double> Q,
                  MatrixView<double> omega) const override {
    const bool whole = (block + 1) * width_ <= F_;
    const double rho = whole ? std::sqrt(squared_radius(seed_, d_, block)) : 0;
    std::vector<double> sum(d_, 0.0);
    const auto d = static_cast<double>(d_);
    for (int64_t v = 0; v < first + omega.rows; ++v) {
      const std::span<double> column =
          v < first ? std::span<double>() : std::span(omega.row(v - first), sum.size());
      if (v == d_ + 1) {  // the origin
        std::ranges::fill(column, 0.0);
        continue;
      }
      const double left = d - static_cast<double>(v);
      const double own = std::sqrt((d + 1) * left / (d * (left + 1)));
      for (size_t k = 0; k < column.size(); ++k)
        column[k] = v < d_ ? sum[k] + own * Q(v, static_cast<int64_t>(k)) : sum[k];
      if (!column.empty()) scale(column, block * width_ + v, rho);
      if (v == d_) continue;
      const double shared = -std::sqrt((d + 1) / (d * left * (left + 1)));
      for (size_t k = 0; k < sum.size(); ++k) sum[k] += shared * Q(v, static_cast<int64_t>(k));
    }
  }

  // Makes a unit vector column j.
  void scale(std::span<double> column, int64_t j, double rho) const {
    const random::Stream stream(seed_, random::Tag::radius, static_cast<uint64_t>(j));
    double norm = rho;
    if (rho > 0) {
      double u = 0;
      random::fill_uniform(stream, 0, {&u, 1});
      norm *= law_->scale_quantile(u);
    } else {
      norm = law_->radius(stream, d_);
    }
    for (double& value : column) value *= norm;
    divide_by_lengthscale(lengthscale_, column);
  }
};

/// The block's part of all columns, (d + 2)/F, divided as the rule's weights are.
double share_of(const ProjectionArguments& arguments, int64_t j) {
  const int64_t width = simplex_block(arguments.d), block = j / width;
  const auto F = static_cast<double>(arguments.F), d = static_cast<double>(arguments.d);
  if ((block + 1) * width > arguments.F) return 1 / F;
  const double weight = d / squared_radius(arguments.seed, arguments.d, block);
  const bool origin = j % width == width - 1;
  return (origin ? 1 - weight : weight / (d + 1)) * (d + 2) / F;
}

// Simplex coupling (Reid, Choromanski, Likhosherstov, Weller, "Simplex random features", ICML 2023):
// d columns at a time point to the corners of a regular simplex, R s_i with inner products -1/(d -
// 1), R a Haar-distributed rotation,
//   s_i = sqrt(d/(d-1)) e_i - (sqrt(d) + 1) (d-1)^{-3/2} (e_1 + ... + e_{d-1}),  i < d,
//   s_d = (d-1)^{-1/2} (e_1 + ... + e_{d-1}),
// each with a norm of its own from the radial law. Two columns of a block are as far apart as can
// be, which among all couplings of directions is best for positive features; cosines do not see the
// sign of a column. Norms, rotations and incomplete blocks are those of `orthogonal`.
class CornerFrequencies final : public RotatedFrequencies {
 public:
  explicit CornerFrequencies(const ProjectionArguments& arguments)
      : RotatedFrequencies(arguments, arguments.d) {}

 private:
  void fill_block(int64_t block, int64_t first, MatrixView<const double> Q,
                  MatrixView<double> omega) const override {
    const bool single = d_ == 1;  // a simplex of one corner: as orthogonal
    const auto d = static_cast<double>(d_), rest = single ? 1 : d - 1;
    const double own = single ? 1 : std::sqrt(d / rest);
    const double shared = single ? 0 : -(std::sqrt(d) + 1) / (rest * std::sqrt(rest));
    std::vector<double> sum(d_, 0.0);
    for (int64_t k = 0; k + 1 < d_; ++k)
      for (int64_t c = 0; c < d_; ++c) sum[c] += Q(k, c);
    for (int64_t i = 0; i < omega.rows; ++i) {
      const int64_t corner = first + i;
      const auto j = static_cast<uint64_t>(block * d_ + corner);
      const double radius = law_->radius(random::Stream(seed_, random::Tag::radius, j), d_);
      const std::span column(omega.row(i), d_);
      const bool last = !single && corner + 1 == d_;
      for (int64_t c = 0; c < d_; ++c)
        column[c] =
            radius * (last ? sum[c] / std::sqrt(rest) : own * Q(corner, c) + shared * sum[c]);
      divide_by_lengthscale(lengthscale_, column);
    }
  }
};

int64_t corner_block(int64_t d) { return d; }

}  // namespace

// d x d doubles while a block is drawn, and after it for as long as the block is not finished.
const ProjectionEntry kOrthogonal = {
    .name = "orthogonal",
    .help =
        "blocks of d orthogonal columns, norms drawn; 4/3 d^3 operations a "
        "block, once",
    .need = LawNeed::uniform_direction,
    .block = rotation_block,
    .squared_norm = squared_radius,
    .maker = make_dense_of<OrthogonalFrequencies>,
};

const ProjectionEntry kQuadrature = {
    .name = "quadrature",
    .help =
        "spherical-radial rule of degree 3, d + 2 columns a block; for close points: far ones "
        "are biased",
    .need = LawNeed::normal_mixture,
    .block = simplex_block,
    .share = share_of,
    .maker = make_dense_of<SimplexFrequencies>,
};

const ProjectionEntry kSimplex = {
    .name = "simplex",
    .help = "blocks of d columns to the corners of a simplex, for map positive; as orthogonal",
    .need = LawNeed::uniform_direction,
    .block = corner_block,
    .squared_norm = squared_radius,
    .maker = make_dense_of<CornerFrequencies>,
};

// Haar-distributed orthogonal matrices: Q of the Householder QR of a Gaussian matrix, signs of R's
// diagonal absorbed (Mezzadri, "How to generate random matrices from the classical compact groups",
// Notices AMS 54, 2007). Given the reflections before it, column k of this QR is again standard
// normal in its last d - k entries; so reflection k is drawn directly from d - k fresh normals
// (Stewart, SIAM J. Numer. Anal. 17, 1980): the same distribution, half the normals, no
// factorisation. Q = H_0 ... H_{d-2} diag(sign R_kk), H_k = I - tau_k v_k v_k'.
// Reflections are applied in panels of kPanel, last panel first, as I - V' T V (Schreiber, Van Loan
// 1989), to the columns that are not yet those of the diagonal. A column of Q sees the same
// operations in the same order for any chunks and threads.

namespace {

constexpr int64_t kPanel = 32;  // reflections applied at once; a multiple of 4
constexpr int64_t kStrip = 64;  // columns of Q per chunk: kPanel x kStrip doubles stay in L1

double dot(const double* a, const double* b, int64_t n) noexcept {
  double sum[4] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int lane = 0; lane < 4; ++lane) sum[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// c += a0 b_0 + a1 b_1 + a2 b_2 + a3 b_3, b_k = b + k ld.
void add_four_rows(double* __restrict c, const double* a, int64_t a_step,
                   const double* __restrict b, int64_t ld, int64_t width) noexcept {
  const double a0 = a[0], a1 = a[a_step], a2 = a[2 * a_step], a3 = a[3 * a_step];
  const double *b0 = b, *b1 = b + ld, *b2 = b1 + ld, *b3 = b2 + ld;
  for (int64_t j = 0; j < width; ++j) {
    c[j] += (a0 * b0[j] + a1 * b1[j]) + (a2 * b2[j] + a3 * b3[j]);
  }
}

void add_row(double* __restrict c, double a, const double* __restrict b, int64_t width) noexcept {
  for (int64_t j = 0; j < width; ++j) c[j] += a * b[j];
}

/// Up to kPanel consecutive reflections from `first`: rows v_k over columns first .. d-1, and the
/// triangle T. Rows past the last reflection are zero.
struct Panel {
  explicit Panel(int64_t d) : vectors(kPanel, d), triangle(kPanel, kPanel) {}

  double* vector(int64_t k) const noexcept { return vectors.data() + k * length; }

  Matrix<double> vectors;
  Matrix<double> triangle;
  int64_t first = 0;
  int64_t length = 0;  // d - first, also the leading dimension of vectors
  int64_t count = 0;   // rows in use, a multiple of 4
};

/// Turns the normals v[k..] into the vector of the reflection that maps them to a multiple of e_k,
/// sets tau, and returns the sign of that multiple, R_kk.
double make_reflection(double* v, int64_t k, int64_t length, double& tau) noexcept {
  const double norm = std::sqrt(dot(v + k, v + k, length - k));
  const double head = v[k];
  const double sign = head < 0.0 ? -1.0 : 1.0;
  if (k + 1 == length || norm == 0.0) {  // nothing below the diagonal: R_kk is the number itself
    tau = 0.0;
    return sign;
  }
  v[k] = head + sign * norm;  // no cancellation
  tau = 1.0 / (norm * (norm + std::abs(head)));
  return -sign;
}

/// Column j of T: -tau_j T (V_{<j} v_j) above, tau_j on the diagonal.
void extend_triangle(const Panel& panel, int64_t j, double tau) noexcept {
  const auto& T = panel.triangle;
  double products[kPanel];
  for (int64_t i = 0; i < j; ++i) {
    products[i] = dot(panel.vector(i) + j, panel.vector(j) + j, panel.length - j);
  }
  for (int64_t i = 0; i < j; ++i) {
    double sum = 0.0;
    for (int64_t l = i; l < j; ++l) sum += T(i, l) * products[l];
    T(i, j) = -tau * sum;
  }
  T(j, j) = tau;
}

/// Draws the panel's reflections and writes the signs of R's diagonal to the diagonal of Q.
void draw_panel(const random::Stream& stream, Panel& panel, MatrixView<double> Q) noexcept {
  const int64_t d = Q.rows;
  panel.length = d - panel.first;
  panel.count = std::min(kPanel, (panel.length + 3) / 4 * 4);
  panel.triangle.fill(0.0);
  std::fill_n(panel.vectors.data(), kPanel * panel.length, 0.0);
  for (int64_t k = 0; k < std::min(kPanel, panel.length); ++k) {
    const int64_t row = panel.first + k;
    double* v = panel.vector(k);
    fill_normal(stream, static_cast<uint64_t>(row) * static_cast<uint64_t>(d + 1),
                {v + k, static_cast<size_t>(panel.length - k)});
    double tau = 0.0;
    Q(row, row) = make_reflection(v, k, panel.length, tau);
    extend_triangle(panel, k, tau);
  }
}

/// strip -= V' (T (V strip)); W is kPanel x kStrip scratch.
void reflect_strip(const Panel& panel, MatrixView<double> strip, double* W) noexcept {
  const int64_t m = strip.rows, width = strip.cols, step = panel.length, count = panel.count;
  std::fill_n(W, count * kStrip, 0.0);
  int64_t r = 0;
  for (; r + 4 <= m; r += 4) {
    for (int64_t i = 0; i < count; ++i) {
      add_four_rows(W + i * kStrip, panel.vector(i) + r, 1, strip.row(r), strip.ld, width);
    }
  }
  for (; r < m; ++r) {
    for (int64_t i = 0; i < count; ++i)
      add_row(W + i * kStrip, panel.vector(i)[r], strip.row(r), width);
  }
  for (int64_t i = 0; i < count; ++i) {  // T is upper triangular: row i needs rows >= i only
    double* row = W + i * kStrip;
    const double diagonal = -panel.triangle(i, i);
    for (int64_t j = 0; j < width; ++j) row[j] *= diagonal;
    for (int64_t l = i + 1; l < count; ++l)
      add_row(row, -panel.triangle(i, l), W + l * kStrip, width);
  }
  for (r = 0; r < m; ++r) {
    for (int64_t i = 0; i < count; i += 4) {
      add_four_rows(strip.row(r), panel.vector(i) + r, step, W + i * kStrip, kStrip, width);
    }
  }
}

}  // namespace

void fill_haar_orthogonal(const random::Stream& stream, Context& context, MatrixView<double> Q) {
  const int64_t d = Q.rows;
  require(Q.cols == d, MERCER_INVALID_ARGUMENT, "Q is %ld x %ld, expected a square matrix", d,
          Q.cols);
  if (d == 0) return;
  const int64_t strips = (d + kStrip - 1) / kStrip;
  const int64_t scratch = worker_count(context, strips) * kPanel * kStrip;
  const int64_t panel_size = checked_multiply(kPanel, d, "orthogonal matrix");
  context.require_memory(8 * (panel_size + kPanel * kPanel + scratch), "orthogonal matrix");
  Panel panel(d);
  const AlignedBuffer<double> W(scratch);
  for (int64_t i = 0; i < d; ++i) std::fill_n(Q.row(i), d, 0.0);

  const int64_t panels = (d + kPanel - 1) / kPanel;
  Stage stage(context, panels * (panels + 1) / 2);
  for (int64_t p = panels - 1; p >= 0; --p) {
    panel.first = p * kPanel;
    draw_panel(stream, panel, Q);
    const MatrixView<double> corner = Q.block_rows(panel.first, d).block_cols(panel.first, d);
    parallel_for(
        context, (corner.cols + kStrip - 1) / kStrip, [&](int64_t chunk, int worker) noexcept {
          const int64_t begin = chunk * kStrip, end = std::min(begin + kStrip, corner.cols);
          reflect_strip(panel, corner.block_cols(begin, end), W.data() + worker * kPanel * kStrip);
        });
    stage.advance(panels - p);
  }
}

}  // namespace mercer::projection
