// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows are spread by the exponential of a semicircle over a grid of twice as many points as there are
// frequencies, or functions on such a grid interpolated by it; the error falls tenfold with each
// point of its width (Barnett, Magland, af Klinteberg, "A parallel nonuniform fast Fourier
// transform library based on an exponential of semicircle kernel", SIAM J. Sci. Comput. 2019).
// Exponentials of odd multiples of half a step change sign from period to period, those of even ones
// do not: a row of another period is spread with that sign.
#include "transform/nufft.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"

namespace mercer::transform {
namespace {

constexpr const char* kSpread = "a grid of sums over rows";
constexpr double kBetaOfWidth = 2.30;  // for twice as many points as frequencies
constexpr int64_t kMostWidth = 16, kFewLanes = 8, kLanes = 16;
constexpr int64_t kMostRows = int64_t{1} << 20, kLeastRows = int64_t{1} << 12;
constexpr int64_t kPointsOfRow = 4;
constexpr int64_t kRowsOfChunk = 64;
constexpr double kFullTurn = 6.28318530717958647693;
constexpr int64_t kTileEdges[kMostAxes][kMostAxes] = {{1024}, {32, 64}, {16, 16, 32}};

int64_t width_of(double tolerance) {
  const double points = std::ceil(-std::log10(tolerance)) + 2;
  const auto width = static_cast<int64_t>(std::clamp(points, 4.0, double{kMostWidth}));
  return width + width % 2;
}

/// Coefficients of powers of the polynomial of this degree through f at Chebyshev's points.
template <class F>
std::vector<double> interpolant(int64_t degree, const F& f) {
  const int64_t n = degree + 1;
  std::vector<double> powers(n, 0.0), before(n, 0.0), now(n, 0.0);
  now[0] = 1;
  for (int64_t k = 0; k < n; ++k) {
    double sum = 0;  // the coefficient of T_k
    for (int64_t i = 0; i < n; ++i) {
      const double angle = (static_cast<double>(i) + 0.5) / (kInversePi * static_cast<double>(n));
      sum += f(std::cos(angle)) * std::cos(static_cast<double>(k) * angle);
    }
    sum *= (k == 0 ? 1.0 : 2.0) / static_cast<double>(n);
    for (int64_t p = 0; p < n; ++p) powers[p] += sum * now[p];
    std::vector<double> next(n, 0.0);  // T_{k+1} = 2 t T_k - T_{k-1}, T_1 = t
    for (int64_t p = 0; p < n; ++p)
      next[p] = (p > 0 ? (k == 0 ? 1.0 : 2.0) * now[p - 1] : 0.0) - before[p];
    before = std::exchange(now, std::move(next));
  }
  return powers;
}

double semicircle(double beta, double z) noexcept {
  return std::abs(z) < 1 ? std::exp(beta * (std::sqrt(1 - z * z) - 1)) : 0.0;
}

/// The number of -o is the conjugate.
std::complex<double> conjugate_if(bool conjugate, std::complex<double> z) noexcept {
  return conjugate ? std::conj(z) : z;
}

}  // namespace

SemicircleKernel::SemicircleKernel(double tolerance)
    : width_(width_of(tolerance)),
      lanes_(width_ <= kFewLanes ? kFewLanes : kLanes),
      degree_(width_ + 3),
      beta_(kBetaOfWidth * static_cast<double>(width_)),
      table_((degree_ + 1) * lanes_, 0.0) {
  const double half = static_cast<double>(width_) / 2;
  for (int64_t j = 0; j < width_; ++j) {
    const double centre = static_cast<double>(j) - half + 0.5;
    const std::vector<double> powers =
        interpolant(degree_, [&](double t) { return semicircle(beta_, (centre - t / 2) / half); });
    for (int64_t p = 0; p <= degree_; ++p) table_[p * lanes_ + j] = powers[p];
  }
  for (int64_t i = 0; i <= kPart * width_ / 2; ++i)
    values_.push_back(semicircle(beta_, static_cast<double>(i) / (kPart * half)));
}

double SemicircleKernel::transform(double turns) const noexcept {
  // The trapezoidal rule of a smooth, even function. Cosines follow each other by rotation, since
  // a transform is asked for each frequency.
  const std::complex<double> turn = std::polar(1.0, kFullTurn * turns / kPart);
  std::complex<double> now = 1;
  double sum = 0.5 * values_[0];
  for (size_t i = 1; i < values_.size(); ++i) {
    now = {now.real() * turn.real() - now.imag() * turn.imag(),
           now.real() * turn.imag() + now.imag() * turn.real()};
    sum += values_[i] * now.real();
  }
  return 2 * sum / kPart;
}

NufftGrid::NufftGrid(std::span<const double> step, std::span<const int64_t> largest,
                     double tolerance)
    : step_(step.begin(), step.end()), kernel_(tolerance) {
  const size_t d = step_.size();
  require(d >= 1 && d <= kMostAxes, MERCER_UNSUPPORTED,
          "%zu inputs of a transform, expected 1 to %ld", d, kMostAxes);
  strides_.resize(d);
  for (size_t k = 0; k < d; ++k)
    lengths_.push_back(
        fft_length(std::max(checked_multiply(2, largest[k] + 1, kSpread), 2 * kernel_.lanes())));
  for (size_t k = d; k-- > 0;) {
    strides_[k] = padded_;
    padded_ = checked_multiply(
        padded_, lengths_[k] + (k + 1 < d ? kernel_.width() : kernel_.lanes()), kSpread);
  }
  for (size_t k = 0; k < d; ++k) {
    std::vector<std::complex<double>> own;
    const auto N = static_cast<double>(lengths_[k]);
    const auto shift = static_cast<double>(kernel_.width() / 2 - 1);  // from a place to the centre
    for (int64_t o = 0; o <= largest[k]; ++o) {
      const double turns = static_cast<double>(o) / (2 * N);
      own.push_back(std::polar(1 / kernel_.transform(turns), -kFullTurn * turns * shift));
    }
    factors_.push_back(std::move(own));
  }
}

bool NufftGrid::place(const double* x, double* places) const noexcept {
  double periods = 0;
  for (size_t k = 0; k < step_.size(); ++k) {
    const double at = x[k] * step_[k] / kFullTurn;
    const double whole = std::floor(at);
    const auto N = static_cast<double>(lengths_[k]);
    places[k] = (at - whole) * N;
    periods += std::fmod(whole, 2.0);
    if (places[k] < N) continue;  // not by rounding, nor NaN
    places[k] = std::isfinite(places[k]) ? 0 : kNaN;
    periods += 1;
  }
  return std::fmod(periods, 2.0) != 0;
}

std::complex<double> NufftGrid::factor(const int32_t* odd) const noexcept {
  std::complex<double> product = 1;
  for (size_t k = 0; k < factors_.size(); ++k)
    product *= conjugate_if(odd[k] < 0, factors_[k][static_cast<size_t>(std::abs(odd[k]))]);
  return product;
}

RowSums::RowSums(const NufftGrid& grid, int64_t strengths, Context& context)
    : grid_(grid), strengths_(strengths), grids_(strengths + 1, grid.padded(), context, kSpread) {
  grids_.fill(0);
  int64_t points = 1, tiles = 1;
  for (size_t k = 0; k < grid.axes(); ++k) {
    edges_.push_back(kTileEdges[grid.axes() - 1][k]);
    counts_.push_back(ceil_divide(grid.lengths()[k], edges_[k]));
    points *= grid.lengths()[k];
    tiles *= counts_[k];
  }
  const int64_t rows = std::clamp(points / kPointsOfRow, kLeastRows, kMostRows);
  const auto d = static_cast<int64_t>(grid.axes());
  records_ = Matrix<double>(rows, d + 1 + strengths, context, kSpread);
  tiles_ = AlignedBuffer<int32_t>(rows, context, kSpread);
  order_ = AlignedBuffer<int32_t>(rows, context, kSpread);
}

int64_t RowSums::tile(const double* places) const noexcept {
  int64_t number = 0;
  for (size_t k = 0; k < edges_.size(); ++k)
    number = number * counts_[k] + static_cast<int64_t>(places[k]) / edges_[k];
  return number;
}

void RowSums::add(MatrixView<const double> X, MatrixView<const double> strengths,
                  Context& context) {
  const auto d = static_cast<int64_t>(grid_.axes());
  for (int64_t first = 0; first < X.rows;) {
    const int64_t count = std::min(X.rows - first, records_.rows() - held_);
    std::atomic<bool> finite = true;
    parallel_for(context, ceil_divide(count, kRowsOfChunk), [&](int64_t chunk, int) noexcept {
      const int64_t end = std::min(count, (chunk + 1) * kRowsOfChunk);
      for (int64_t i = chunk * kRowsOfChunk; i < end; ++i) {
        double* const record = records_.view().row(held_ + i);
        const bool odd = grid_.place(X.row(first + i), record);
        record[d] = odd ? 1 : 0;
        double sum = std::accumulate(record, record + d, 0.0);
        for (int64_t c = 0; c < strengths_; ++c) {
          const double s = strengths(first + i, c);
          record[d + 1 + c] = c > 0 && odd ? -s : s;
          sum += 0 * s;
        }
        const bool plain = std::isfinite(sum);
        if (!plain) finite.store(false, std::memory_order_relaxed);
        tiles_[held_ + i] = plain ? static_cast<int32_t>(tile(record)) : 0;
      }
    });
    held_ += count;
    first += count;
    finite_ = finite_ && finite;
    if (!finite_) held_ = 0;  // the sums are NaN
    if (held_ == records_.rows()) spread(context);
  }
}

/// Tiles whose numbers along each axis are all even or all odd touch no point in common, since what
/// rows of a tile touch beyond it is narrower than a tile.
void RowSums::spread(Context& context) {
  const auto d = static_cast<int64_t>(grid_.axes());
  const int64_t tiles =
      std::accumulate(counts_.begin(), counts_.end(), int64_t{1}, std::multiplies<>());
  std::vector<int32_t> begin(tiles + 1, 0);
  for (int64_t i = 0; i < held_; ++i) ++begin[tiles_[i] + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int32_t> next(begin.begin(), begin.end() - 1);
  for (int64_t i = 0; i < held_; ++i) order_[next[tiles_[i]]++] = static_cast<int32_t>(i);
  std::vector<double*> grids;
  for (int64_t k = 0; k < grids_.rows(); ++k) grids.push_back(grid_of(k));
  std::vector<std::vector<int64_t>> apart(size_t{1} << d);
  for (int64_t t = 0; t < tiles; ++t) {
    size_t parity = 0;
    int64_t rest = t;
    for (int64_t k = d; k-- > 0; rest /= counts_[k]) parity = 2 * parity + rest % counts_[k] % 2;
    if (begin[t + 1] > begin[t]) apart[parity].push_back(t);
  }
  for (const std::vector<int64_t>& some : apart)
    parallel_for(context, std::ssize(some), [&](int64_t chunk, int) noexcept {
      const int64_t t = some[chunk];
      spread_rows({grid_.kernel().function(), d, grid_.strides().data(), records_.data(),
                   records_.cols(), order_.data() + begin[t], begin[t + 1] - begin[t],
                   grids.data()});
    });
  held_ = 0;
}

/// body(line, parts): the lines of points along the last axis, each with the padded lines that add up
/// to it, and whether an odd number of axes leads to them.
template <class Body>
void RowSums::for_each_line(Context& context, const Body& body) const {
  const std::vector<int64_t>& lengths = grid_.lengths();
  const size_t last = lengths.size() - 1;
  int64_t lines = 1;
  for (size_t k = 0; k < last; ++k) lines *= lengths[k];
  parallel_for(context, lines, [&](int64_t line, int) noexcept {
    int64_t parts[4] = {0, 0, 0, 0};
    bool odd[4] = {false, false, false, false};
    int64_t count = 1, rest = line;
    for (size_t k = last; k-- > 0; rest /= lengths[k]) {
      const int64_t m = rest % lengths[k], stride = grid_.strides()[k];
      const bool beyond = m < grid_.kernel().width();
      for (int64_t i = 0; i < count; ++i) {
        parts[i] += m * stride;
        if (!beyond) continue;
        parts[count + i] = parts[i] + lengths[k] * stride;
        odd[count + i] = !odd[i];
      }
      if (beyond) count *= 2;
    }
    body(line, std::span<const int64_t>(parts, count), odd);
  });
}

void RowSums::odd(int64_t strength, std::span<const int32_t> odd, Context& context,
                  std::span<std::complex<double>> out) {
  if (held_ > 0) spread(context);
  if (!finite_) return std::fill(out.begin(), out.end(), std::complex<double>(kNaN, kNaN));
  const OddFft fft(grid_.lengths());
  const AlignedBuffer<double> z(2 * fft.size(), context, kSpread);
  const int64_t N = grid_.lengths().back(), beyond = grid_.kernel().lanes();
  const double* const grid = grid_of(strength == 0 ? 0 : strength + 1);
  const double* const other = strength == 0 ? grid_of(1) : nullptr;
  for_each_line(context,
                [&](int64_t line, std::span<const int64_t> parts, const bool* flips) noexcept {
                  double* const to = z.data() + line * N;
                  for (int64_t m = 0; m < N; ++m) {
                    double sum = 0;
                    for (size_t i = 0; i < parts.size(); ++i) {
                      double own = grid[parts[i] + m] - (m < beyond ? grid[parts[i] + N + m] : 0.0);
                      if (other != nullptr)
                        own -= other[parts[i] + m] - (m < beyond ? other[parts[i] + N + m] : 0.0);
                      sum += flips[i] ? -own : own;
                    }
                    to[m < N / 2 ? 2 * m : 2 * m - N + 1] = sum;
                  }
                });
  fft.to_sums(z.data(), context);
  const size_t d = grid_.axes();
  parallel_for(context, ceil_divide(std::ssize(out), kRowsOfChunk),
               [&](int64_t chunk, int) noexcept {
                 const int64_t end = std::min<int64_t>(std::ssize(out), (chunk + 1) * kRowsOfChunk);
                 for (int64_t j = chunk * kRowsOfChunk; j < end; ++j) {
                   const int32_t* const o = &odd[static_cast<size_t>(j) * d];
                   const auto [at, conjugate] = fft.place(o);
                   const std::complex<double> sum(z[2 * at], z[2 * at + 1]);
                   out[j] = conjugate_if(conjugate, sum) * grid_.factor(o);
                 }
               });
}

void RowSums::even(std::span<const int64_t> most, Context& context,
                   std::span<std::complex<double>> out) {
  if (held_ > 0) spread(context);
  if (!finite_) return std::fill(out.begin(), out.end(), std::complex<double>(kNaN, kNaN));
  const BoxFft fft(grid_.lengths());
  const AlignedBuffer<double> z(2 * fft.size(), context, kSpread);
  const int64_t N = grid_.lengths().back(), beyond = grid_.kernel().lanes();
  for_each_line(context, [&](int64_t line, std::span<const int64_t> parts, const bool*) noexcept {
    for (int64_t m = 0; m < N; ++m) {
      double sum = 0;
      for (int64_t k = 0; k < 2; ++k)
        for (const int64_t part : parts)
          sum += grid_of(k)[part + m] + (m < beyond ? grid_of(k)[part + N + m] : 0.0);
      z[2 * (line * N + m)] = sum;
      z[2 * (line * N + m) + 1] = 0;
    }
  });
  fft.transform(z.data(), context);
  const size_t d = grid_.axes();
  parallel_for(
      context, ceil_divide(std::ssize(out), kRowsOfChunk), [&](int64_t chunk, int) noexcept {
        const int64_t end = std::min<int64_t>(std::ssize(out), (chunk + 1) * kRowsOfChunk);
        for (int64_t p = chunk * kRowsOfChunk; p < end; ++p) {
          int32_t doubled[kMostAxes];
          int64_t rest = p, at = 0, step = 1;
          for (size_t k = d; k-- > 0;) {
            const int64_t n = rest % (2 * most[k] + 1) - most[k], length = grid_.lengths()[k];
            rest /= 2 * most[k] + 1;
            doubled[k] = static_cast<int32_t>(2 * n);
            at += step * (n < 0 ? n + length : n);
            step *= length;
          }
          out[p] = std::complex<double>(z[2 * at], z[2 * at + 1]) * grid_.factor(doubled);
        }
      });
}

GridFunctions::GridFunctions(const NufftGrid& grid, std::span<const int32_t> odd,
                             MatrixView<const std::complex<double>> coefficients, Context& context)
    : grid_(grid), grids_(coefficients.rows, grid.padded(), context, kSpread) {
  const OddFft fft(grid.lengths());
  const AlignedBuffer<double> z(2 * fft.size(), context, kSpread);
  for (int64_t f = 0; f < coefficients.rows; ++f) {
    std::fill(z.begin(), z.end(), 0.0);
    for (int64_t j = 0; j < coefficients.cols; ++j) {
      const int32_t* const o = &odd[static_cast<size_t>(j) * grid.axes()];
      const auto [at, conjugate] = fft.place(o);
      const auto number = conjugate_if(conjugate, coefficients(f, j) * grid.factor(o));
      z[2 * at] += number.real();
      z[2 * at + 1] += number.imag();
    }
    fft.to_points(z.data(), nullptr, context);
    fill(z.data(), grids_.view().row(f), context);
  }
}

/// All points of a padded grid: those beyond the period with the other sign.
void GridFunctions::fill(const double* z, double* grid, Context& context) const {
  const std::vector<int64_t>& lengths = grid_.lengths();
  const size_t last = lengths.size() - 1;
  const int64_t N = lengths[last], width = N + grid_.kernel().lanes();
  parallel_for(context, grid_.padded() / width, [&](int64_t line, int) noexcept {
    int64_t rest = line, from = 0, step = 1;
    bool flips = false;
    for (size_t k = last; k-- > 0;) {
      const int64_t whole = lengths[k] + grid_.kernel().width(), m = rest % whole;
      rest /= whole;
      flips = flips != (m >= lengths[k]);
      from += step * (m % lengths[k]);
      step *= lengths[k];
    }
    for (int64_t m = 0; m < width; ++m) {
      const int64_t own = m % N;
      const double f = z[from * N + (own < N / 2 ? 2 * own : 2 * own - N + 1)];
      grid[line * width + m] = flips != (m >= N) ? -f : f;
    }
  });
}

void GridFunctions::evaluate(MatrixView<const double> X, Context& context,
                             MatrixView<double> out) const {
  const auto d = static_cast<int64_t>(grid_.axes());
  std::vector<const double*> grids;
  for (int64_t f = 0; f < grids_.rows(); ++f) grids.push_back(grids_.view().row(f));
  parallel_for(context, ceil_divide(X.rows, kRowsOfChunk), [&](int64_t chunk, int) noexcept {
    const int64_t end = std::min(X.rows, (chunk + 1) * kRowsOfChunk);
    for (int64_t i = chunk * kRowsOfChunk; i < end; ++i) {
      double places[kMostAxes];
      const bool odd = grid_.place(X.row(i), places);
      const double sum = std::accumulate(places, places + d, 0.0);
      double* const row = out.row(i);
      if (!std::isfinite(sum)) {
        std::fill_n(row, out.cols, kNaN);
        continue;
      }
      interpolate_rows({grid_.kernel().function(), d, grid_.strides().data(), places, 1,
                        grids.data(), out.cols, row});
      for (int64_t f = 0; f < out.cols && odd; ++f) row[f] = -row[f];
    }
  });
}

}  // namespace mercer::transform
