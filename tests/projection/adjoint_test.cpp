// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// project_transpose is the adjoint of project, <XW, G> = <X, GW'>, for every projection, precision
// and awkward sizes; it adds, row by row, and touches nothing else.
//
// The bound: either side is within L u N ||X||_F ||G||_F of <X, GW'> with the W that is stored, u
// the unit roundoff, for errors of a single product of relative size L u in the Euclidean norm
// against N >= ||W||. Packed columns: L = d + F + 4 additions on any way from input to output and N
// the Frobenius norm (Higham 2002, section 3.5). Blocks of transforms: a stage of a Walsh-Hadamard
// transform errs by u relative to its result's norm, which H / sqrt n keeps; a Fourier transform of
// n numbers by at most 8 log2 n u (Higham 2002, theorem 24.2), two to a product; further factors
// and the sum over blocks by u each; N is sqrt(blocks) times that of a block, the largest column
// norm times what the diagonals between the transforms may magnify.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "columns_of.h"
#include "projection/srht.h"
#include "random/distributions.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::test;
using namespace mercer::projection;

namespace {

constexpr int64_t kRows = 5;

/// All of G, or what it came from, block by block.
template <class T>
struct Sides {
  Matrix<T> X;       // kRows x d
  Matrix<T> G;       // kRows x F
  Matrix<T> P;       // X W
  Matrix<T> before;  // kRows x (d + 1): the adjoint's start, the last column not its own
  Matrix<T> after;
};

template <class T>
Sides<T> sides_of(const Projection& projection) {
  const int64_t d = projection.inputs(), F = projection.outputs();
  const BlockShape shape = projection.shape(T{});
  const Blocks blocks{0, (F - 1) / shape.columns + 1};
  Context context;
  projection.prepare(blocks, T{}, context);
  Sides<T> sides{random_matrix<T>(kRows, d, 1), random_matrix<T>(kRows, F, 2), Matrix<T>(kRows, F),
                 random_matrix<T>(kRows, d + 1, 3), random_matrix<T>(kRows, d + 1, 3)};
  const AlignedBuffer<T> block_of(kRows * shape.columns);
  const AlignedBuffer<T> scratch(std::max<int64_t>({shape.scratch, shape.transpose_scratch, 1}));
  const int64_t step = std::min(kRows, shape.rows);
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    const int64_t j0 = block * shape.columns, j1 = std::min(j0 + shape.columns, F);
    for (int64_t i0 = 0; i0 < kRows; i0 += step) {
      const int64_t i1 = std::min(i0 + step, kRows);
      projection.project(MatrixView<const T>(sides.X.view()).block_rows(i0, i1), block,
                         block_of.data(), scratch.data());
      for (int64_t i = i0; i < i1; ++i) {
        T* const row = block_of.data() + (i - i0) * shape.columns;
        std::copy_n(row, j1 - j0, sides.P.view().row(i) + j0);
        std::fill_n(row, shape.columns, T{0});
        std::copy_n(sides.G.view().row(i) + j0, j1 - j0, row);
      }
      projection.project_transpose(block_of.data(), block,
                                   sides.after.view().block_rows(i0, i1).block_cols(0, d),
                                   scratch.data());
    }
  }
  return sides;
}

template <class T>
long double norm(const Matrix<T>& A) {
  long double squares = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i)
    squares += static_cast<long double>(A.data()[i]) * A.data()[i];
  return std::sqrt(squares);
}

/// |<XW, G> - <X, GW'>| over its bound, L = `additions`, N = `magnitude`.
template <class T>
double adjoint_ratio(const Projection& projection, double additions, double magnitude) {
  const Sides<T> s = sides_of<T>(projection);
  const int64_t d = projection.inputs(), F = projection.outputs();
  long double left = 0, right = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < F; ++j) left += static_cast<long double>(s.P(i, j)) * s.G(i, j);
    for (int64_t k = 0; k < d; ++k) {
      right += static_cast<long double>(s.X(i, k)) *
               (static_cast<long double>(s.after(i, k)) - s.before(i, k));
    }
    if (s.after(i, d) != s.before(i, d)) return std::numeric_limits<double>::infinity();
  }
  constexpr long double kUnit = std::numeric_limits<T>::epsilon() / 2;
  // The start of the sums is rounded with every block that is added.
  const long double bound = kUnit * (2 * additions * magnitude * norm(s.X) * norm(s.G) +
                                     2 * static_cast<long double>(F) * norm(s.X) * norm(s.before));
  return static_cast<double>(std::fabs(left - right) / bound);
}

using Law = std::shared_ptr<const random::Law>;

/// Independent Cauchy coordinates: a product that is not isotropic.
Law laplacian_law() {
  const std::shared_ptr<const kernel::Kernel> kernel = kernel::make_laplacian({1.0}, 1.0);
  return {kernel, kernel->spectral_law()};
}

ProjectionArguments arguments(const Law& law, int64_t d, int64_t F, bool ard) {
  ProjectionArguments all{law, {0.8}, Unit::plain, d, F, 7};
  if (ard) all.lengthscale.assign(static_cast<size_t>(d), 0.8);
  if (ard) all.lengthscale[0] = 0.5;
  return all;
}

/// The largest norm of a padded column, lengthscale included. The columns of a block of a product
/// law are one vector, turned.
double largest_norm(const random::Law& law, int64_t n, int64_t columns) {
  double largest = 0;
  for (int64_t b = 0; !law.isotropic() && b < columns / n; ++b) {
    std::vector<double> g(static_cast<size_t>(n));
    law.draw({7, random::Tag::gaussian, static_cast<uint64_t>(b)}, g);
    double squares = 0;
    for (const double value : g) squares += value * value;
    largest = std::max(largest, std::sqrt(squares));
  }
  for (int64_t j = 0; law.isotropic() && j < columns; ++j) {
    largest = std::max(largest, law.radius({7, random::Tag::radius, static_cast<uint64_t>(j)}, n));
  }
  return largest / 0.5;
}

/// Fastfood's Gaussian diagonal may magnify by sqrt n max |g| / ||g||, a circulant by sqrt n.
double magnification(const std::string& name, int64_t n, int64_t blocks) {
  if (name == "sorf") return 1;
  double largest = 0;
  std::vector<double> g(static_cast<size_t>(n));
  for (int64_t b = 0; name == "fastfood" && b < blocks; ++b) {
    random::fill_normal({7, random::Tag::gaussian, static_cast<uint64_t>(b)}, 0, g);
    double squares = 0, most = 0;
    for (const double value : g) {
      squares += value * value;
      most = std::max(most, std::fabs(value));
    }
    largest = std::max(largest, most / std::sqrt(squares));
  }
  return std::sqrt(static_cast<double>(n)) * (name == "fastfood" ? largest : 1);
}

template <class T>
double ratio_of(const ProjectionEntry& entry, const Law& law, int64_t d, int64_t F, bool ard) {
  const auto projection = entry.make(arguments(law, d, F, ard));
  const std::string name = entry.name;
  if (projection->sparse() != nullptr) {
    const double frobenius = static_cast<double>(norm(columns_of<T>(*projection)));
    return adjoint_ratio<T>(*projection, static_cast<double>(d + F + 4), frobenius);
  }
  const int64_t n = entry.block(d), blocks = (F - 1) / n + 1;
  const double stages = std::log2(static_cast<double>(n));
  const double additions =
      (name == "circulant" ? 16 * stages : 3 * stages) + 6 + static_cast<double>(blocks);
  const double magnitude = std::sqrt(static_cast<double>(blocks)) *
                           largest_norm(*law, n, blocks * n) * magnification(name, n, blocks);
  return adjoint_ratio<T>(*projection, additions, magnitude);
}

bool is_built(const ProjectionEntry& entry) {
  return refusal_fault(
             MERCER_UNSUPPORTED, [&] { entry.make(arguments(random::normal_law(), 3, 8, false)); },
             "FFTW") != "";
}

}  // namespace

TEST_CASE("adjoint: project_transpose against project, every projection and precision",
          "[projection]") {
  const Law laws[] = {random::normal_law(), laplacian_law()};
  for (const ProjectionEntry* entry : projection_table()) {
    if (!is_built(*entry)) continue;
    const bool isotropic_alone = entry->need == LawNeed::isotropic;
    for (const int64_t d : {1, 3, 16, 21, 130}) {
      for (const int64_t F : {1, 16, 45, 300, 1100}) {
        for (const bool ard : {false, true}) {
          for (const Law& law : std::span(laws, isotropic_alone ? 1 : 2)) {
            CAPTURE(entry->name, d, F, ard, law->isotropic());
            CHECK(ratio_of<float>(*entry, law, d, F, ard) <= 1);
            CHECK(ratio_of<double>(*entry, law, d, F, ard) <= 1);
          }
        }
      }
    }
  }
}

TEST_CASE("adjoint: SRHT", "[projection]") {
  for (const int64_t d : {1, 3, 16, 21, 130}) {
    for (const int64_t F : {1, 16, 45, 300, 1100}) {
      const auto projection = make_srht(d, F, 7);
      const auto n = static_cast<double>(srht_dimension(d));
      const double blocks = std::ceil(static_cast<double>(F) / n);
      const double additions = std::log2(n) + 2 + blocks, magnitude = std::sqrt(n * blocks);
      CAPTURE(d, F);
      CHECK(adjoint_ratio<float>(*projection, additions, magnitude) <= 1);
      CHECK(adjoint_ratio<double>(*projection, additions, magnitude) <= 1);
    }
  }
}

TEST_CASE("adjoint: what a row gets depends on its row of G alone, NaN included", "[projection]") {
  constexpr int64_t d = 21, F = 70;
  const auto check = [](const std::string& name, const Projection& projection) {
    const BlockShape shape = projection.shape(0.0F);
    Context context;
    projection.prepare({0, 1}, 0.0F, context);
    const Matrix<float> numbers = random_matrix<float>(3, shape.columns, 4);
    const AlignedBuffer<float> scratch(std::max<int64_t>(shape.transpose_scratch, 1));
    const AlignedBuffer<float> G(shape.columns * std::min<int64_t>(shape.rows, 3));
    const auto result = [&](std::initializer_list<int64_t> rows) {
      Matrix<float> X(static_cast<int64_t>(rows.size()), d);
      X.fill(0.25F);
      for (int64_t i = 0; const int64_t row : rows) {
        std::copy_n(numbers.view().row(row), shape.columns, G.data() + i++ * shape.columns);
      }
      projection.project_transpose(G.data(), 0, X.view(), scratch.data());
      return X;
    };
    INFO(name);
    const Matrix<float> alone = result({2});
    if (shape.rows >= 3) CHECK(std::memcmp(result({0, 1, 2}).view().row(2), alone.data(), 84) == 0);
    numbers(0, 1) = std::numeric_limits<float>::quiet_NaN();
    const Matrix<float> broken = result({0});
    CHECK(std::isnan(broken(0, d - 1)));
    if (shape.rows >= 2) {
      const Matrix<float> two = result({0, 2});
      CHECK(std::memcmp(two.view().row(1), alone.data(), 84) == 0);
    }
    CHECK(std::memcmp(result({2}).data(), alone.data(), 84) == 0);
  };
  for (const ProjectionEntry* entry : projection_table()) {
    if (is_built(*entry))
      check(entry->name, *entry->make(arguments(random::normal_law(), d, F, false)));
  }
  check("srht", *make_srht(d, F, 7));
}
