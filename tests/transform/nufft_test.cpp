// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Non-uniform Fourier transforms of both types against the sums that they stand for.
#include "transform/nufft.h"

#include <cmath>
#include <limits>

#include "support/dense.h"
#include "support/refusal.h"

namespace nufft_test {
using namespace mercer;
using Complex = std::complex<double>;

/// Rows about the origin, in a cluster, far away, and on the borders of periods.
struct Problem {
  std::vector<double> step;
  std::vector<int64_t> most;  // whole multiples
  Matrix<double> X, strengths;
  std::vector<int32_t> odd;
  std::vector<int64_t> largest;  // of odd

  Problem(int64_t d, int64_t n)
      : X(test::random_matrix(n, d, 3)), strengths(test::random_matrix(n, 2, 4)) {
    for (int64_t k = 0; k < d; ++k) {
      step.push_back(0.7 + 0.2 * static_cast<double>(k));
      most.push_back(d == 1 ? 301 : d == 2 ? 17 + 4 * k : 7 + 2 * k);
      largest.push_back(most.back());
      const double period = 8 * std::atan(1.0) / step.back();
      for (int64_t i = 0; i < n; ++i) {
        if (i % 4 == 0) X(i, k) = 0.4 + 1e-4 * X(i, k);
        if (i % 4 == 1) X(i, k) += 43 * period;
        if (i % 8 == 2) X(i, k) = static_cast<double>(i % 3) * period;
        if (i % 8 == 6) X(i, k) *= 4 * period;
      }
    }
    const Matrix<double> draws = test::random_matrix(400, d, 5);
    for (int64_t j = 0; j < 400; ++j)
      for (int64_t k = 0; k < d; ++k) {
        const double half = static_cast<double>(most[k] + 1) / 2;
        odd.push_back(2 * static_cast<int32_t>(std::floor(draws(j, k) * half)) + 1);
      }
  }
  int64_t count() const { return std::ssize(odd) / X.cols(); }
  Complex exponential(int64_t i, const double* frequency) const {
    long double angle = 0;
    for (int64_t k = 0; k < X.cols(); ++k)
      angle += static_cast<long double>(frequency[k]) * X(i, k);
    return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
  }
  std::vector<double> frequency(int64_t j) const {
    std::vector<double> omega;
    for (int64_t k = 0; k < X.cols(); ++k) omega.push_back(0.5 * step[k] * odd[j * X.cols() + k]);
    return omega;
  }
  Complex sum(int64_t strength, const std::vector<double>& omega) const {
    Complex total = 0;
    for (int64_t i = 0; i < X.rows(); ++i)
      total += strengths(i, strength) * exponential(i, omega.data());
    return total;
  }
};

std::vector<int64_t> doubled(std::vector<int64_t> numbers) {
  for (int64_t& number : numbers) number *= 2;
  return numbers;
}

struct Sums {
  std::vector<Complex> odd[2], even;
};

Sums by_transform(const Problem& of, double tolerance, int threads, int64_t block) {
  Context context;
  context.threads = threads;
  const transform::NufftGrid grid(of.step, doubled(of.most), tolerance);
  transform::RowSums sums(grid, 2, context);
  for (int64_t first = 0; first < of.X.rows(); first += block) {
    const int64_t end = std::min(of.X.rows(), first + block);
    sums.add(of.X.view().block_rows(first, end), of.strengths.view().block_rows(first, end),
             context);
  }
  Sums all;
  for (int64_t o = 0; o < 2; ++o) {
    all.odd[o].resize(of.count());
    sums.odd(o, of.odd, context, all.odd[o]);
  }
  int64_t size = 1;
  for (const int64_t most : of.most) size *= 2 * most + 1;
  all.even.resize(size);
  sums.even(of.most, context, all.even);
  return all;
}

std::vector<double> whole_multiple(const Problem& of, int64_t p) {
  std::vector<double> omega(of.step.size());
  for (size_t k = omega.size(); k-- > 0; p /= 2 * of.most[k] + 1)
    omega[k] = static_cast<double>(p % (2 * of.most[k] + 1) - of.most[k]) * of.step[k];
  return omega;
}

TEST_CASE("sums over rows are within the tolerance of direct ones", "[nufft]") {
  for (int64_t d = 1; d <= 3; ++d)
    for (const int64_t n : {1, 603})
      for (const double tolerance : {1e-3, 1e-6, 1e-10, 1e-13}) {
        const Problem problem(d, n);
        double size = 0;
        for (int64_t i = 0; i < n; ++i)
          size += std::max(std::fabs(problem.strengths(i, 0)), std::fabs(problem.strengths(i, 1)));
        const Sums sums = by_transform(problem, tolerance, 1, 100);
        INFO("d = " << d << ", n = " << n << ", tolerance = " << tolerance);
        double worst = 0;
        for (int64_t j = 0; j < problem.count(); j += 7)
          for (int64_t o = 0; o < 2; ++o)
            worst =
                std::max(worst, std::abs(sums.odd[o][j] - problem.sum(o, problem.frequency(j))));
        for (int64_t p = 0; p < std::ssize(sums.even); p += 13)
          worst =
              std::max(worst, std::abs(sums.even[p] - problem.sum(0, whole_multiple(problem, p))));
        // Angles of up to 1e4 turns are rounded, too.
        CHECK(worst <= (tolerance + 1e-11) * size);
      }
}

TEST_CASE("sums over rows have the same bits for every number of threads", "[nufft]") {
  const Problem problem(2, 9000);
  const Sums one = by_transform(problem, 1e-12, 1, 9000), two = by_transform(problem, 1e-12, 2, 77);
  for (int64_t o = 0; o < 2; ++o) CHECK(one.odd[o] == two.odd[o]);
  CHECK(one.even == two.even);
}

TEST_CASE("functions on a grid are within the tolerance of direct sums", "[nufft]") {
  for (int64_t d = 1; d <= 3; ++d)
    for (const double tolerance : {1e-4, 1e-10, 1e-13}) {
      const Problem problem(d, 203);
      Context context, threads;
      threads.threads = 2;
      Matrix<Complex> numbers(2, problem.count());
      double size = 0;
      const Matrix<double> parts = test::random_matrix(problem.count(), 4, 6);
      for (int64_t j = 0; j < problem.count(); ++j)
        for (int64_t f = 0; f < 2; ++f) {
          numbers(f, j) = {parts(j, 2 * f), parts(j, 2 * f + 1)};
          size += std::abs(numbers(f, j)) / 2;
        }
      const transform::NufftGrid grid(problem.step, problem.largest, tolerance);
      const transform::GridFunctions functions(grid, problem.odd, numbers.view(), context);
      Matrix<double> out(203, 2), again(203, 2);
      functions.evaluate(problem.X.view(), context, out.view());
      functions.evaluate(problem.X.view(), threads, again.view());
      CHECK(std::equal(out.data(), out.data() + 406, again.data()));
      double worst = 0;
      for (int64_t i = 0; i < 203; ++i)
        for (int64_t f = 0; f < 2; ++f) {
          double sum = 0;
          for (int64_t j = 0; j < problem.count(); ++j)
            sum += (numbers(f, j) * problem.exponential(i, problem.frequency(j).data())).real();
          worst = std::max(worst, std::fabs(sum - out(i, f)));
        }
      INFO("d = " << d << ", tolerance = " << tolerance);
      CHECK(worst <= (tolerance + 1e-11) * size);
    }
}

TEST_CASE("a row that is not finite makes sums NaN, and functions in its row alone", "[nufft]") {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Problem problem(2, 40);
    problem.X(7, 1) = bad;
    const Sums sums = by_transform(problem, 1e-10, 2, 9);
    for (const Complex& sum : sums.even) CHECK(std::isnan(sum.real()));
    for (const Complex& sum : sums.odd[1]) CHECK(std::isnan(sum.imag()));
    Context context;
    Matrix<Complex> numbers(1, problem.count());
    std::fill_n(numbers.data(), problem.count(), Complex(1, 0));
    const transform::NufftGrid grid(problem.step, problem.largest, 1e-10);
    const transform::GridFunctions functions(grid, problem.odd, numbers.view(), context);
    Matrix<double> out(40, 1);
    functions.evaluate(problem.X.view(), context, out.view());
    for (int64_t i = 0; i < 40; ++i) CHECK(std::isnan(out(i, 0)) == (i == 7));
  }
}

TEST_CASE("transforms of more than three inputs are refused", "[nufft]") {
  const std::vector<double> step(4, 1.0);
  const std::vector<int64_t> largest(4, 1);
  CHECK_REFUSED(MERCER_UNSUPPORTED, transform::NufftGrid(step, largest, 1e-10),
                "4 inputs of a transform");
}

}  // namespace nufft_test
