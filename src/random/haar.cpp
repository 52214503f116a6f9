// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Haar-distributed orthogonal matrices: Q of the Householder QR of a Gaussian matrix, signs of R's
// diagonal absorbed (Mezzadri, "How to generate random matrices from the classical compact groups",
// Notices AMS 54, 2007). Given the reflections before it, column k of this QR is again standard
// normal in its last d - k entries; so reflection k is drawn directly from d - k fresh normals
// (Stewart, SIAM J. Numer. Anal. 17, 1980): the same distribution, half the normals, no
// factorisation. Q = H_0 ... H_{d-2} diag(sign R_kk), H_k = I - tau_k v_k v_k'.
// Reflections are applied in panels of kPanel, last panel first, as I - V' T V (Schreiber, Van Loan
// 1989), to the columns that are not yet those of the diagonal. A column of Q sees the same
// operations in the same order for any chunks and threads.
#include "random/haar.h"

#include <algorithm>
#include <cmath>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "random/distributions.h"

namespace mercer::random {
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
void draw_panel(const Stream& stream, Panel& panel, MatrixView<double> Q) noexcept {
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

void fill_haar_orthogonal(const Stream& stream, Context& context, MatrixView<double> Q) {
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

}  // namespace mercer::random
