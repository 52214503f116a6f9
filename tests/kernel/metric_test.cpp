// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of A x: lengthscales for each input are a diagonal A, values and Gram matrices are those
// of rows multiplied beforehand, derivatives are difference quotients; what no such kernel can be
// made of.
#include "kernel/kernel.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace metric_test {
using namespace mercer;
using namespace mercer::test;

std::unique_ptr<kernel::Kernel> made(const std::string& json) {
  return kernel::make_kernel(spec::parse_object(json));
}

/// The kernel `of` in the metric A.
std::unique_ptr<kernel::Kernel> in_metric(const Matrix<double>& A, const std::string& of,
                                          double variance = 1) {
  NumberLists rows;
  for (int64_t i = 0; i < A.rows(); ++i)
    rows.emplace_back(A.view().row(i), A.view().row(i) + A.cols());
  return kernel::make_kernel({{"kernel", "metric"},
                              {"matrix", rows},
                              {"of", std::make_shared<const Parameters>(spec::parse_object(of))},
                              {"variance", variance}});
}

Matrix<double> gram_of(const kernel::Kernel& kernel, const Rows& X, const Rows& Y) {
  Matrix<double> K(X.rows(), Y.rows());
  Context context;
  kernel::gram(kernel, X, Y, context, K.view());
  return K;
}

Matrix<double> times(const Matrix<double>& X, const Matrix<double>& A) {
  return filled(X.rows(), A.rows(), [&](int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < A.cols(); ++k) sum += X(i, k) * A(j, k);
    return sum;
  });
}

double distance(const Matrix<double>& K, const Matrix<double>& L) {
  double worst = 0;
  for (int64_t k = 0; k < K.rows() * K.cols(); ++k)
    worst = std::max(worst, std::fabs(K.data()[k] - L.data()[k]));
  return worst;
}

TEST_CASE("metric: a diagonal matrix is a lengthscale for each input") {
  const Matrix<double> X = random_matrix(20, 3, 2);
  for (const std::string name : {"gaussian", "laplacian", "cauchy", "rational_quadratic"}) {
    const auto kernel = [&](const std::string& more) {
      return R"({"kernel":")" + name + '"' + more + "}";
    };
    const auto of_scales = [&](const std::vector<double>& l, const std::string& text) {
      const Matrix<double> A =
          filled(3, 3, [&](int64_t i, int64_t k) { return i == k ? 1 / l[i] : 0; });
      const auto plain = made(kernel(R"(,"lengthscale":)" + text + R"(,"variance":3)"));
      return distance(gram_of(*plain, X.view(), X.view()),
                      gram_of(*in_metric(A, kernel(""), 3), X.view(), X.view()));
    };
    INFO(name);
    CHECK(of_scales({0.5, 2, 4}, "[0.5,2,4]") == 0);  // exact quotients
    CHECK(of_scales({0.3, 1.7, 5}, "[0.3,1.7,5]") <= 1e-14);
  }
}

TEST_CASE("metric: Gram matrices are those of rows times A', of any shape") {
  const std::string of = R"({"kernel":"matern","nu":1.5,"lengthscale":0.8,"variance":2})";
  for (const auto& [r, d] : {std::pair{2, 5}, {6, 3}, {1, 4}, {4, 1}}) {
    const Matrix<double> A = random_matrix(r, d, 3), X = random_matrix(37, d, 4),
                         Y = random_matrix(29, d, 5);
    const auto kernel = in_metric(A, of, 3), inner = made(of);
    INFO(r << " x " << d);
    const Matrix<double> U = times(X, A), V = times(Y, A);
    Matrix<double> expected = gram_of(*inner, U.view(), V.view());
    for (int64_t k = 0; k < 37 * 29; ++k) expected.data()[k] *= 3;
    const Matrix<double> K = gram_of(*kernel, X.view(), Y.view());
    CHECK(distance(K, expected) <= 1e-13);
    const Matrix<double> own = gram_of(*kernel, X.view(), X.view());
    int64_t wrong = 0;
    for (int64_t i = 0; i < 29; ++i) {
      for (int64_t j = 0; j < 29; ++j) {
        const double value = kernel->value(d, X.view().row(i), Y.view().row(j));
        wrong += std::fabs(K(i, j) - value) > 1e-13 * value;
        wrong += own(i, j) != own(j, i);
      }
    }
    CHECK(wrong == 0);
    CHECK(std::exp(kernel->log_size(d, X.view().row(0), Y.view().row(0))) ==
          Approx(K(0, 0)).epsilon(1e-14));
    const Matrix<double> coefficients = random_matrix(29, 2, 6), product(37, 2);
    Context context;
    kernel::gram_multiply(*kernel, X.view(), Y.view(), coefficients.view(), context,
                          product.view());
    for (int64_t i = 0; i < 37; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < 29; ++j) sum += K(i, j) * coefficients(j, 1);
      CHECK(product(i, 1) == Approx(sum).margin(1e-12));
    }
  }
}

TEST_CASE("metric: sparse rows, single rows and rows with a NaN") {
  const Matrix<double> A = random_matrix(3, 6, 1), X = random_matrix(5, 6, 2);
  const auto kernel = in_metric(A, R"({"kernel":"gaussian"})");
  Matrix<double> some = random_matrix(5, 6, 2);
  SparseRows<double> sparse;
  sparse.cols = 6;
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 6; ++j) (i + j) % 3 != 0 ? some(i, j) = 0 : (sparse.add(j, X(i, j)), 0);
    sparse.end_row();
  }
  const Matrix<double> K = gram_of(*kernel, some.view(), X.view());
  CHECK(distance(gram_of(*kernel, sparse.view(), X.view()), K) == 0);
  some(2, 0) = std::nan("");
  const Matrix<double> with_nan = gram_of(*kernel, some.view(), X.view());
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 5; ++j)
      CHECK((i == 2 ? std::isnan(with_nan(i, j)) : with_nan(i, j) == K(i, j)));
}

using kernel::MultiIndex;

TEST_CASE("metric: derivatives are difference quotients of those below") {
  struct Step {
    MultiIndex p, q;
    bool in_y;
    int64_t input;
  };
  const Step steps[] = {{{}, {}, false, 0},       {{}, {}, true, 2},       {{{0, 1}}, {}, false, 0},
                        {{{0, 1}}, {}, false, 2}, {{{1, 1}}, {}, true, 0}, {{}, {{2, 1}}, true, 2}};
  for (const std::string of : {R"({"kernel":"gaussian","lengthscale":1.5,"variance":2})",
                               R"({"kernel":"matern","nu":2.5})",
                               R"({"kernel":"polynomial","degree":3,"gamma":0.5,"offset":1})"}) {
    for (const int64_t r : {2, 5}) {
      const Matrix<double> A = random_matrix(r, 3, 7), X = random_matrix(2, 3, 8);
      const auto kernel = in_metric(A, of, 0.7);
      const std::vector<double> x(X.data(), X.data() + 3), y(X.data() + 3, X.data() + 6);
      REQUIRE(kernel->most_derivatives() == 2);
      const auto at = [&](const MultiIndex& p, const MultiIndex& q, const std::vector<double>& u,
                          const std::vector<double>& v) {
        return kernel->differential(p, q)->at(3, u.data(), v.data());
      };
      INFO(of << ", r = " << r);
      CHECK(at({}, {}, x, y) == Approx(kernel->value(3, x.data(), y.data())).epsilon(1e-14));
      for (const Step& step : steps) {
        const MultiIndex one{{step.input, 1}};
        const MultiIndex p = step.in_y ? step.p : kernel::sum_of(step.p, one);
        const MultiIndex q = step.in_y ? kernel::sum_of(step.q, one) : step.q;
        const auto moved = [&](double by) {
          auto u = x, v = y;
          (step.in_y ? v : u)[step.input] += by;
          return at(step.p, step.q, u, v);
        };
        // Of order 4: an error of h^4 times the fifth derivative, and rounding over h.
        const double h = 1e-3, slope = at(p, q, x, y);
        const double quotient =
            (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
        CHECK(quotient == Approx(slope).epsilon(1e-8).margin(1e-8));
      }
      std::vector<double> gradient(3, 0.5);
      kernel->add_gradient(3, 3, x.data(), y.data(), gradient.data());
      for (int64_t k = 0; k < 3; ++k)
        CHECK(gradient[k] == Approx(0.5 + 3 * at({{k, 1}}, {}, x, y)).epsilon(1e-12));
    }
  }
  CHECK(in_metric(random_matrix(2, 3, 7), R"({"kernel":"laplacian"})")->most_derivatives() == 0);
}

TEST_CASE("metric: of a metric is that of the product of both matrices") {
  const Matrix<double> A = random_matrix(2, 4, 1), B = random_matrix(4, 3, 2),
                       X = random_matrix(9, 3, 3);
  const auto inner = in_metric(A, R"({"kernel":"cauchy"})", 2);
  const auto nested = in_metric(B, print_object(inner->parameters()));
  const Matrix<double> AB = filled(2, 3, [&](int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < 4; ++k) sum += A(i, k) * B(k, j);
    return sum;
  });
  CHECK(distance(gram_of(*nested, X.view(), X.view()),
                 gram_of(*in_metric(AB, R"({"kernel":"cauchy"})", 2), X.view(), X.view())) <=
        1e-13);
}

TEST_CASE("metric: what cannot be one is refused") {
  const auto metric = [](const std::string& matrix, const std::string& of) {
    return made(R"({"kernel":"metric","matrix":)" + matrix + R"(,"of":)" + of + "}");
  };
  const std::string plain = R"("gaussian")";
  CHECK(metric("[[1,2],[3,4],[5,6]]", plain)->traits().only_inputs == 2);
  CHECK(metric("[1,2,3]", plain)->traits().only_inputs == 1);  // a column, as {{1},{2},{3}} prints
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, metric("[[1,2]]", plain)->check_dimension(3), "3", "2");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, metric("[[1,2],[3]]", plain), "matrix[1]", "2");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, metric("[]", plain), "matrix");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, metric("[[]]", plain), "matrix");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, made(R"({"kernel":"metric"})"), "matrix");
  Matrix<double> A = random_matrix(2, 2, 1);
  for (const double bad : {std::nan(""), kInfinity}) {
    A(1, 0) = bad;
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, in_metric(A, R"({"kernel":"gaussian"})"),
                  "matrix[1][0]");
  }
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                in_metric(random_matrix(1025, 2, 1), R"({"kernel":"gaussian"})"), "1025", "1024");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                in_metric(random_matrix(512, 2049, 1), R"({"kernel":"gaussian"})"), "2049",
                "1048576");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                metric("[[1,2]]", R"({"kernel":"gaussian","lengthscale":[1,2]})"), "of", "1");
  CHECK_REFUSED(MERCER_UNSUPPORTED, metric("[[1,2]]", R"("hellinger")"), "hellinger");
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                metric("[[1,2]]", R"({"kernel":"sphere_polynomial","unit_rows":false})"),
                "sphere_polynomial");
  CHECK_REFUSED(MERCER_UNSUPPORTED, metric("[[1,2],[3,4]]", R"({"kernel":"curl_free"})"),
                "curl_free");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                made(R"({"kernel":"metric","matrix":[1],"variance":1e300,)"
                     R"("of":{"kernel":"gaussian","variance":1e300}})"),
                "variance");
}

}  // namespace metric_test
