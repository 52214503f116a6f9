// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gram matrices of dense and of sparse rows hold the kernel's values; NaN, shapes, memory.
#include "kernel/cases.h"
#include "kernel/kernel.h"
#include "kernel/median_heuristic.h"
#include "support/kernels.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace mercer::test::gram_test {
namespace {

using Doubles = MatrixView<const double>;

/// To the rounding of sums in another order, which the exponential multiplies.
bool agree(double a, double b) { return std::fabs(a - b) <= 1e-13 * std::fabs(b); }

}  // namespace

TEST_CASE("gram holds the values, for any number of threads and leading dimension") {
  const int64_t n = 37;
  const int64_t m = 533;  // more than one tile of columns at d = 21
  const int64_t d = 21;
  for (const KernelCase& c : kernel_cases(2, 1.5)) {
    INFO(c.label);
    const Matrix<double> X = inputs_for(*c.kernel, n, d + 2, 0.5, 1);
    const Matrix<double> Y = inputs_for(*c.kernel, m, d, 0.5, 2);
    const MatrixView<const double> x = X.view().block_cols(0, d);
    for (const int threads : {1, 2, 7}) {
      Matrix<double> K(n, m + 3);
      K.fill(-77);
      Context context;
      context.threads = threads;
      kernel::gram(*c.kernel, x, Y.view(), context, K.view().block_cols(0, m));
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < m; ++j)
          wrong += !agree(K(i, j), c.kernel->value(d, x.row(i), Y.view().row(j)));
        for (int64_t j = m; j < m + 3; ++j) wrong += K(i, j) != -77;
      }
      INFO("threads " << threads);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("gram of a matrix with itself holds the values too") {
  const int64_t n = 83;
  for (const KernelCase& c : kernel_cases(2, 1.5)) {
    INFO(c.label);
    const Matrix<double> X = inputs_for(*c.kernel, n, 5, 0.5, 1);
    for (const int threads : {1, 7}) {
      Matrix<double> K(n, n);
      K.fill(-77);
      Context context;
      context.threads = threads;
      kernel::gram(*c.kernel, X.view(), X.view(), context, K.view());
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          wrong += !agree(K(i, j), c.kernel->value(5, X.view().row(i), X.view().row(j)));
          wrong += K(i, j) != K(j, i);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

// Wide rows take another way: some 1e-7 apart, far from 0, equal, infinite and NaN.
TEST_CASE("gram of wide rows holds the values, too") {
  const int64_t n = 300, d = 70;
  for (const KernelCase& c : kernel_cases(2, 1.5)) {
    if (c.kernel->traits().needs_unit_rows || !c.kernel->is_shift_invariant()) continue;
    INFO(c.label);
    const Matrix<double> X = random_matrix(n, d, 1);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < d; ++k)
        X(i, k) = 1e3 + (i % 3 == 0 && i > 0 ? X(0, k) - 1e3 + 1e-7 * X(i, k) : X(i, k));
    std::copy_n(X.view().row(5), d, X.view().row(7));
    X(11, 3) = std::numeric_limits<double>::infinity();
    X(13, 4) = kNaN;
    X(20, 5) = 1e17;  // the first of all rows but 20, which must not cost the others digits
    for (const int64_t first : {0, 20}) {
      const Doubles x = X.view(), y = X.view().block_rows(first, n);
      const Matrix<double> K(n, n - first);
      Context context;
      kernel::gram(*c.kernel, x, y, context, K.view());
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n - first; ++j) {
          const double value = c.kernel->value(d, x.row(i), y.row(j));
          wrong += std::isnan(value) ? !std::isnan(K(i, j))
                                     : !(std::fabs(K(i, j) - value) <= 1e-11 * std::fabs(value));
        }
      CHECK(wrong == 0);
      if (first == 0) CHECK(K(5, 7) == K(5, 5));
    }
  }
}

TEST_CASE("gram of no rows writes nothing") {
  const auto k = kernel::make_gaussian({1}, 1);
  Context context;
  const double x[3] = {1, 2, 3};
  double none = 5;
  kernel::gram(*k, Doubles{nullptr, 0, 3}, Doubles{x, 1, 3}, context, {&none, 0, 1});
  kernel::gram(*k, Doubles{x, 1, 3}, Doubles{nullptr, 0, 3}, context, {&none, 1, 0});
  CHECK(none == 5);
}

TEST_CASE("NaN stays in its row and column") {
  Context context;
  for (const KernelCase& c : kernel_cases(1, 1)) {
    INFO(c.label);
    Matrix<double> X = inputs_for(*c.kernel, 40, 9, 1, 4);
    X(33, 8) = std::nan("");
    Matrix<double> K(40, 40);
    kernel::gram(*c.kernel, X.view(), X.view(), context, K.view());
    int64_t wrong = 0;
    for (int64_t i = 0; i < 40; ++i) {
      for (int64_t j = 0; j < 40; ++j) wrong += std::isnan(K(i, j)) != (i == 33 || j == 33);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("differences are summed, not norms subtracted") {
  // At 1e8 from the origin ||x||^2 + ||y||^2 - 2 x'y keeps no digit of a distance of 1.
  const auto k = kernel::make_gaussian({1}, 1);
  const double x[] = {1e8, -1e8};
  const double y[] = {1e8 + 1, -1e8};
  CHECK(k->value(2, x, y) == Approx(std::exp(-0.5)).epsilon(1e-15));
}

TEST_CASE("gram refuses shapes that do not fit, and can be cancelled") {
  Context context;
  const auto k = kernel::make_gaussian({1, 2, 3}, 1);
  Matrix<double> X(4, 3), Y(5, 3), K(4, 5), narrow(5, 2), wrong(5, 4);
  X.fill(0), Y.fill(0), narrow.fill(0);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                kernel::gram(*k, X.view(), narrow.view(), context, K.view()),
                "X.d = 3 and Y.d = 2");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                kernel::gram(*k, X.view(), Y.view(), context, wrong.view()), "K is 5 x 4", "4 x 5");
  Matrix<double> X2(4, 2);
  X2.fill(0);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                kernel::gram(*k, X2.view(), narrow.view(), context, K.view()),
                "lengthscale holds 3 numbers", "2 inputs");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, k->check_dimension(0), "d = 0");
  Context stopped;
  stopped.progress = [](void*, int64_t, int64_t) -> int32_t { return 1; };
  CHECK_REFUSED(MERCER_CANCELLED, kernel::gram(*k, X.view(), Y.view(), stopped, K.view()),
                "cancelled");
}

namespace {

using kernel::Kernel;

/// Every kernel of the table, and the Gaussian with a lengthscale for each input.
std::vector<std::unique_ptr<Kernel>> table_kernels() {
  const auto gaussian = std::make_shared<const Parameters>(
      Parameters{{"kernel", "gaussian"}, {"lengthscale", std::vector<double>{0.8}}});
  const auto polynomial =
      std::make_shared<const Parameters>(Parameters{{"kernel", "polynomial"}, {"offset", 0.5}});
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    if (entry.outputs != kernel::OutputCount::one) continue;
    const std::string name = entry.name;
    if (name == "spectral_mixture" || name == "radial") continue;  // their lists are given below
    Parameters given{{"kernel", entry.name}};
    for (const Field& field : entry.fields) {
      if (field.type == FieldType::kernels) given.set(field.key, ObjectList{gaussian, polynomial});
      if (std::string(field.key) == "left") given.set(field.key, int64_t{3});
      if (std::string(field.key) == "coefficients")
        given.set(field.key, std::vector<double>{0.5, 1, 0.25});
      if (std::string(field.key) == "unit_rows") given.set(field.key, true);
      if (std::string(field.key) == "matrix")
        given.set(field.key, NumberLists{{1, 0.5, 0, -1, 0.25, 0.5}, {0, 1, 0.75, 0.5, 0, -0.5}});
    }
    kernels.push_back(kernel::make_kernel(given));
  }
  kernels.push_back(kernel::make_kernel({{"kernel", "spectral_mixture"},
                                         {"weights", std::vector<double>{0.4, 1.2}},
                                         {"means", std::vector<double>{0.3, 1.1}},
                                         {"variances", std::vector<double>{0.5, 1.5}}}));
  kernels.push_back(kernel::make_kernel({{"kernel", "radial"},
                                         {"most_inputs", int64_t{128}},
                                         {"radii", std::vector<double>{0, 1, 2, 3}},
                                         {"values", std::vector<double>{2, 2, 2, 2}}}));
  kernels.push_back(kernel::make_gaussian({1, 2, 3, 4, 5, 6}, 1.5));
  return kernels;
}

// Of the kernel's domain.
template <class T, class Index>
SparseRows<T, Index> rows_for(const Kernel& kernel, int64_t n, int64_t d, uint64_t seed) {
  SparseRows<T, Index> X = sparse_rows<T, Index>(n, d, std::max<int64_t>(2, d / 8), seed);
  if (kernel.traits().input_bound)
    for (T& value : X.values) value = std::fabs(value);
  return X;
}

Matrix<double> gram_of(const Kernel& kernel, const Rows& X, const Rows& Y, int threads = 1) {
  Context context;
  context.threads = threads;
  Matrix<double> K(X.rows(), Y.rows());
  K.fill(-77);
  kernel::gram(kernel, X, Y, context, K.view());
  return K;
}

// Relative to the largest entry.
double apart(const Matrix<double>& A, const Matrix<double>& B) {
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i) {
    worst = std::max(worst, std::fabs(A.data()[i] - B.data()[i]));
    largest = std::max(largest, std::fabs(B.data()[i]));
  }
  return worst / largest;
}

/// An 80 x 80 Gram matrix of sparse rows with themselves, and with others, sparse and dense,
/// against the dense ones.
template <class T, class Index>
void check_gram(const Kernel& kernel, int64_t d) {
  const auto X = rows_for<T, Index>(kernel, 80, d, 1), Y = rows_for<T, Index>(kernel, 33, d, 2);
  Matrix<double> x(80, d), y(33, d);
  x.fill(0), y.fill(0);
  for (int64_t i = 0; i < 80; ++i) add_row(X.view(), i, x.view().row(i));
  for (int64_t i = 0; i < 33; ++i) add_row(Y.view(), i, y.view().row(i));
  const Matrix<double> own = gram_of(kernel, x.view(), x.view());
  const Matrix<double> cross = gram_of(kernel, x.view(), y.view());
  for (const int threads : {1, 7}) {
    CHECK(apart(gram_of(kernel, X.view(), X.view(), threads), own) < 1e-13);
    CHECK(apart(gram_of(kernel, X.view(), Y.view(), threads), cross) < 1e-13);
    CHECK(apart(gram_of(kernel, x.view(), Y.view(), threads), cross) < 1e-13);
    CHECK(apart(gram_of(kernel, X.view(), y.view(), threads), cross) < 1e-13);
  }
}

}  // namespace

TEST_CASE("what ignores common zeros is said of every kernel as it is") {
  constexpr int64_t d = 6;
  const double x[] = {0.3, 0.7, 0, 0.2, 0, 1.1}, y[] = {0.9, 0, 0.4, 0.6, 0, 0.1};
  // Column 4, which is 0 in both, is left out, and zeros are put in front.
  const double shorter_x[] = {0, 0, 0.3, 0.7, 0, 0.2, 1.1},
               shorter_y[] = {0, 0, 0.9, 0, 0.4, 0.6, 0.1};
  int64_t ignoring = 0;
  for (const auto& kernel : table_kernels()) {
    if (kernel->traits().only_inputs != 0 && kernel->traits().only_inputs != d) continue;
    INFO(std::string(kernel->name()));
    const double full = kernel->value(d, x, y);
    REQUIRE(std::isfinite(full));
    if (!kernel->ignores_common_zeros()) continue;
    ++ignoring;
    CHECK(kernel->value(7, shorter_x, shorter_y) == Approx(full).epsilon(1e-13));
  }
  CHECK(ignoring >= 20);
  CHECK_FALSE(kernel::make_gaussian({1, 2}, 1)->ignores_common_zeros());
  CHECK_FALSE(
      kernel::make_kernel({{"kernel", "bilinear"}, {"left", int64_t{3}}})->ignores_common_zeros());
}

TEST_CASE("gram of sparse rows is that of the dense ones, for every kernel") {
  for (const auto& kernel : table_kernels()) {
    INFO(std::string(kernel->name()));
    const int64_t d = kernel->lengthscale().size() > 1   ? 6
                      : kernel->traits().only_inputs > 0 ? kernel->traits().only_inputs
                                                         : 90;
    check_gram<double, int32_t>(*kernel, d);
    check_gram<float, int64_t>(*kernel, d);
  }
}

TEST_CASE("gram of full rows that are listed is that of the dense ones") {
  const auto kernel = kernel::make_gaussian({2.0}, 1.0);
  const auto X = sparse_rows<float>(60, 20, 30, 8);
  CHECK_FALSE(kernel::pairs_stored_numbers(*kernel, X.view()));
  const Matrix<float> dense = X.dense();
  CHECK(apart(gram_of(*kernel, X.view(), X.view()), gram_of(*kernel, dense.view(), dense.view())) <
        1e-6);
}

TEST_CASE("gram of sparse rows: NaN stays in its row and column") {
  const std::vector<double> zeros(90, 0.0);  // some rows list nothing
  for (const auto& kernel : table_kernels()) {
    if (kernel->traits().only_inputs > 0 || kernel->lengthscale().size() > 1) continue;
    INFO(std::string(kernel->name()));
    if (std::isnan(kernel->value(90, zeros.data(), zeros.data()))) continue;
    auto X = rows_for<double, int32_t>(*kernel, 40, 90, 5);
    int64_t bad = 17;
    while (X.offsets[bad + 1] == X.offsets[bad]) ++bad;  // of the rows that list something
    X.values[X.offsets[bad]] = std::numeric_limits<double>::quiet_NaN();
    const Matrix<double> K = gram_of(*kernel, X.view(), X.view());
    const Matrix<double> dense = X.dense();
    const Matrix<double> expected = gram_of(*kernel, dense.view(), dense.view());
    int64_t wrong = 0;
    for (int64_t i = 0; i < 40; ++i)
      for (int64_t j = 0; j < 40; ++j) wrong += std::isnan(K(i, j)) != (i == bad || j == bad);
    for (int64_t k = 0; k < 1600; ++k)
      wrong += std::isnan(K.data()[k]) != std::isnan(expected.data()[k]);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a Gram matrix of a million columns takes what its rows list") {
  const auto X = sparse_rows<float, int64_t>(400, 1000000, 40, 3);
  Context context;
  context.threads = 2;
  context.memory_cap = int64_t{16} << 20;  // dense rows would take 3.2 GB, marks take 4 MB a thread
  Matrix<double> K(400, 400);
  kernel::gram(*kernel::make_gaussian({4.0}, 1), X.view(), X.view(), context, K.view());
  double squares = 0;
  for (int64_t p = X.offsets[0]; p < X.offsets[1]; ++p)
    squares += static_cast<double>(X.values[p]) * static_cast<double>(X.values[p]);
  for (int64_t p = X.offsets[1]; p < X.offsets[2]; ++p)
    squares += static_cast<double>(X.values[p]) * static_cast<double>(X.values[p]);
  CHECK(K(0, 1) == Approx(std::exp(-squares / 32)).epsilon(1e-13));  // no column in common
  context.memory_cap = int64_t{1} << 20;
  CHECK_REFUSED(
      MERCER_OUT_OF_MEMORY,
      kernel::gram(*kernel::make_gaussian({4.0}, 1), X.view(), X.view(), context, K.view()),
      "sparse rows");
}

TEST_CASE("the median distance of sparse rows is that of the dense ones") {
  const auto X = sparse_rows<float, int64_t>(70, 300, 20, 9);
  const auto narrow = sparse_rows<double, int32_t>(70, 5, 4, 9);
  const Matrix<float> dense = X.dense();
  const Matrix<double> narrow_dense = narrow.dense();
  Context context;
  for (const int64_t pairs : {300, 100000}) {  // drawn, all
    CHECK(kernel::median_heuristic(X.view(), pairs, 4, context) ==
          Approx(kernel::median_heuristic(dense.view(), pairs, 4, context)).epsilon(1e-7));
    CHECK(kernel::median_heuristic(narrow.view(), pairs, 4, context) ==
          Approx(kernel::median_heuristic(narrow_dense.view(), pairs, 4, context)).epsilon(1e-13));
  }
}

}  // namespace mercer::test::gram_test
