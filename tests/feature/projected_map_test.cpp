// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The loop under every projected map, with epilogues of its own: one that reads a number per row,
// one of several columns to one, one of one column to several; each against P taken straight from
// the projections, over projections, precisions, kinds of rows, slices, splits and threads.
#include "feature/projected_map.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "kernel/kernel.h"
#include "projection/projections.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/sparse.h"
#include "support/worst.h"
#include "transform/dense_panel.h"

using namespace mercer;
using namespace mercer::feature;

namespace {

constexpr int64_t kInputs = 13;

std::shared_ptr<const kernel::Kernel> gaussian() { return kernel::make_gaussian({1.1}, 1.0); }

std::unique_ptr<const projection::Projection> projection_of(const std::string& name, int64_t F,
                                                            uint64_t seed) {
  return projection::find_projection(name).make(
      {random::normal_law(), {3.0}, projection::Unit::plain, kInputs, F, seed});
}

// What a map is made of, and feature p of column j by hand: P of every factor at j, the row's
// number, the column's scale.
struct Recipe {
  const char* name;
  transform::EpilogueShape epilogue;
  transform::PrologueShape prologue;
  double (*feature)(int p, const double* P, double number, double scale);
};

const Recipe kRecipes[] = {
    {"exponential",
     {.row_numbers = 1},
     {.row_numbers = 1, .keeps_zeros = true},
     [](int, const double* P, double number, double scale) {
       return scale * std::exp(*P - number);
     }},
    {"normalised exponential",
     {.row_numbers = 1},
     {.rewrites = true, .row_numbers = 1, .keeps_zeros = true},
     [](int, const double* P, double number, double scale) {
       return scale * std::exp(*P - number);
     }},
    {"product",
     {.factors = 3, .scratch = 1},
     {},
     [](int, const double* P, double, double scale) { return scale * P[0] * P[1] * P[2]; }},
    {"powers",
     {.parts = 3},
     {},
     [](int p, const double* P, double, double scale) { return scale * std::pow(*P, p + 1); }},
    {"interleaved",
     {.factors = 2, .reals = 2},
     {},
     [](int p, const double* P, double, double scale) { return scale * P[p]; }},
};

// The recipe as an epilogue: through scratch where it has some, which must be its own.
struct Finish {
  Recipe recipe;
  template <class T>
  void operator()(const transform::EpilogueBlock<T>& block) const noexcept {
    const transform::EpilogueShape& shape = recipe.epilogue;
    const int values = shape.parts * shape.reals;
    for (int64_t i = 0; i < block.rows; ++i) {
      for (int64_t j = 0; j < block.columns; ++j) {
        const int64_t at = i * block.columns + j;
        double P[3] = {};
        for (int f = 0; f < shape.factors; ++f) P[f] = block.P[f * block.factor_step + at];
        const double number = shape.row_numbers > 0 ? block.row_numbers[i] : 0;
        for (int v = 0; v < values; ++v) {
          auto value = static_cast<T>(recipe.feature(v, P, number, block.scale[j]));
          if (shape.scratch > 0) {
            block.scratch[at] = value;
            value = block.scratch[at];
          }
          const int part = v / shape.reals, real = v % shape.reals;
          block.out[part * block.part_step + i * block.ld + j * shape.reals + real] = value;
        }
      }
    }
  }
};

// Halves rows that it rewrites; the number is |x|^2 / 2 of the row as it was.
struct Prologue {
  template <class T>
  void operator()(const T* x, int64_t count, T* out, T* numbers) const noexcept {
    double squares = 0;
    for (int64_t k = 0; k < count; ++k) squares += static_cast<double>(x[k]) * x[k];
    numbers[0] = static_cast<T>(squares / 2);
    for (int64_t k = 0; out != nullptr && k < count; ++k) out[k] = x[k] / 2;
  }
};

double scale_of(int64_t F) { return 1 / std::sqrt(static_cast<double>(F)); }

class TestMap final : public ProjectedMap {
 public:
  TestMap(const Recipe& recipe, const std::string& projection, int64_t F)
      : ProjectedMap(parts(recipe, projection, F)), kernel_(gaussian()) {}
  std::string_view name() const noexcept override { return "test"; }
  Parameters parameters() const override { return {}; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }

 private:
  static ProjectedParts parts(const Recipe& recipe, const std::string& projection, int64_t F) {
    ProjectedParts made;
    for (int f = 0; f < recipe.epilogue.factors; ++f)
      made.projections.push_back(projection_of(projection, F, static_cast<uint64_t>(f)));
    made.epilogue = transform::make_epilogue(recipe.epilogue, Finish{recipe});
    made.columns = {scale_of(F)};
    if (recipe.prologue.row_numbers > 0)
      made.prologue = transform::make_prologue(recipe.prologue, Prologue{});
    return made;
  }
  std::shared_ptr<const kernel::Kernel> kernel_;
};

// P of one row, every block projected whole.
template <class T>
std::vector<double> project_row(const projection::Projection& projection, const T* x) {
  const projection::BlockShape shape = projection.shape(T{});
  const int64_t blocks = (projection.outputs() - 1) / shape.columns + 1;
  Context context;
  projection.prepare({0, blocks}, T{}, context);
  AlignedBuffer<T> P(shape.columns), scratch(shape.scratch);
  std::vector<double> all;
  for (int64_t block = 0; block < blocks; ++block) {
    projection.project(MatrixView<const T>(x, 1, kInputs), block, P.data(), scratch.data());
    all.insert(all.end(), P.begin(), P.end());
  }
  return all;
}

template <class T>
Matrix<double> reference(const Recipe& recipe, const std::string& name, int64_t F,
                         const Matrix<T>& X) {
  const transform::EpilogueShape& shape = recipe.epilogue;
  const int values = shape.parts * shape.reals;
  Matrix<double> Z(X.rows(), values * F);
  for (int64_t i = 0; i < X.rows(); ++i) {
    std::vector<T> x(X.view().row(i), X.view().row(i) + kInputs);
    T number = 0;
    if (recipe.prologue.row_numbers > 0)
      Prologue{}(X.view().row(i), kInputs, recipe.prologue.rewrites ? x.data() : nullptr, &number);
    std::vector<std::vector<double>> P;
    for (int f = 0; f < shape.factors; ++f)
      P.push_back(project_row(*projection_of(name, F, static_cast<uint64_t>(f)), x.data()));
    for (int64_t j = 0; j < F; ++j) {
      double of_column[3] = {};
      for (size_t f = 0; f < P.size(); ++f) of_column[f] = P[f][static_cast<size_t>(j)];
      for (int v = 0; v < values; ++v) {
        const int64_t at = v / shape.reals * F * shape.reals + j * shape.reals + v % shape.reals;
        Z(i, at) = recipe.feature(v, of_column, static_cast<double>(number), scale_of(F));
      }
    }
  }
  return Z;
}

template <class T>
Matrix<T> apply(const FeatureMap& map, const Rows& X, int threads = 1) {
  return test::features_of(map, test::Input<T>(X), threads);
}

template <class T>
bool equal_bytes(const Matrix<T>& a, const Matrix<T>& b) {
  return std::memcmp(a.data(), b.data(), sizeof(T) * static_cast<size_t>(a.rows() * a.cols())) == 0;
}

// Every split of rows and columns at these cuts, slices that begin in one part and end in another
// among them.
template <class T>
Matrix<T> in_pieces(const FeatureMap& map, const Rows& X) {
  const int64_t D = map.features(), reals = map.is_complex() ? 2 : 1, n = X.rows();
  Matrix<T> Z(n, map.row_length());
  const int64_t cuts[] = {0, D / 5, D / 5 + 1, D / 3 + 4, D / 2 + 3, D - 1, D};
  Context context;
  for (int c = 0; c + 1 < 7; ++c) {
    const int64_t j0 = cuts[c], j1 = std::max(j0, cuts[c + 1]);
    for (const auto& [i0, i1] : {std::pair{int64_t{0}, n / 3}, std::pair{n / 3, n}}) {
      map.apply(X.block_rows(i0, i1), {j0, j1}, context,
                Z.view().block_rows(i0, i1).block_cols(j0 * reals, j1 * reals));
    }
  }
  return Z;
}

template <class T>
std::string faults_of(const Recipe& recipe, const std::string& projection, int64_t F) {
  const TestMap map(recipe, projection, F);
  const auto sparse = test::sparse_rows<T>(211, kInputs, 6, 5);
  const Matrix<T> dense = sparse.dense();
  const Matrix<double> expected = reference(recipe, projection, F, dense);
  std::string faults;
  const auto note = [&](bool ok, const char* what) {
    if (!ok) faults += std::string(recipe.name) + " " + projection + " " + what + "; ";
  };
  // |P| < 8 and sums of 13 terms: (13 + 2) ulp of 8, through an exponential below 1 or a product of
  // three, is under 1,000 ulp of 1 times the 64 that a product of two others can be.
  const double bound = 64'000 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const Rows& X : {Rows(dense.view()), Rows(sparse.view())}) {
    const Matrix<T> Z = apply<T>(map, X);
    double worst = 0;
    for (int64_t k = 0; k < Z.rows() * Z.cols(); ++k)
      test::keep_worst(worst, std::fabs(static_cast<double>(Z.data()[k]) - expected.data()[k]));
    note(worst <= bound, "is not its formula");
    for (const int threads : {2, 7}) note(equal_bytes(Z, apply<T>(map, X, threads)), "threads");
    note(equal_bytes(Z, in_pieces<T>(map, X)), "pieces");
  }
  return faults;
}

std::vector<std::string> projections() {
  std::vector<std::string> names{"dense", "sorf"};
#ifdef MERCER_WITH_FFTW
  names.push_back("circulant");
#endif
  return names;
}

}  // namespace

TEST_CASE(
    "projected maps: every epilogue over every projection is its "
    "formula, in any pieces") {
  std::string faults;
  for (const Recipe& recipe : kRecipes) {
    for (const std::string& projection : projections()) {
      for (const int64_t F : {1, 40, 130}) {
        if (F < 5 && recipe.epilogue.parts * F < 5) continue;  // nothing to cut
        faults +=
            faults_of<float>(recipe, projection, F) + faults_of<double>(recipe, projection, F);
      }
    }
  }
  CHECK(faults == "");
}

TEST_CASE(
    "projected maps: a large Z has the bytes of small ones, wherever it "
    "begins") {
  // 34 MB pass the 32 MiB at which stores go around the caches.
  constexpr int64_t n = 2200, F = 1300;
  const Matrix<float> X = test::random_matrix<float>(n, kInputs, 9);
  std::string faults;
  for (const Recipe& recipe : kRecipes) {
    const int64_t per = recipe.epilogue.parts * recipe.epilogue.reals;
    const TestMap map(recipe, "dense", 3 * F / per);
    const int64_t width = map.row_length();
    Matrix<float> expected(n, width);
    Context context;
    for (int64_t i = 0; i < n; i += 500)
      map.apply(X.view().block_rows(i, std::min(i + 500, n)), {0, map.features()}, context,
                expected.view().block_rows(i, std::min(i + 500, n)));
    for (const auto& [shift, ld] : {std::pair{0, 3904}, {4, 3904}, {1, 3911}, {15, 3920}}) {
      const AlignedBuffer<float> storage(shift + n * ld);
      const MatrixView<float> Z(storage.data() + shift, n, width, ld);
      std::fill(storage.begin(), storage.end(), -7.0f);
      context.threads = 2;
      map.apply(X.view(), {0, map.features()}, context, Z);
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i) {
        wrong += std::memcmp(Z.row(i), expected.view().row(i),
                             sizeof(float) * static_cast<size_t>(width)) != 0;
        for (int64_t j = width; i + 1 < n && j < ld; ++j) wrong += Z.row(i)[j] != -7.0f;
      }
      if (wrong != 0) faults += std::string(recipe.name) + " at " + std::to_string(shift) + "; ";
    }
  }
  CHECK(faults == "");
}
