// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/derivative.h: layouts of every kind against finite differences through the C functions,
// complex and sparse rows, and every refusal.
#include "fixture.h"
#include "support/worst.h"

namespace derivative_test {
using namespace mercer::test;

constexpr int64_t n = 7, d = 3, D = 10;

std::vector<double> numbers(int64_t count, double step) {
  std::vector<double> values(count);
  for (int64_t k = 0; k < count; ++k) values[k] = std::sin(step * static_cast<double>(k + 1));
  return values;
}

MapHandle fourier(const char* form = "pair", const char* lengthscale = "[0.7,1.1,1.6]") {
  return make_map(std::string(R"("fourier","kernel":{"kernel":"gaussian","lengthscale":)") +
                      lengthscale + R"(},"form":")" + form + "\"",
                  d, D);
}

/// d^p of the features of X, reals columns in all.
std::vector<double> partial(const mercer_map* map, const std::vector<double>& X,
                            const std::vector<int32_t>& p, bool complex = false) {
  const int64_t blocks = std::ssize(p) / d;
  std::vector<double> out(n * blocks * D * (complex ? 2 : 1));
  const mercer_derivative what = partial_derivatives(blocks, p.data());
  REQUIRE(mercer_map_derivative(map, rows_of(X, d), &what, nullptr,
                                result_of(out.data(), n, blocks * D, blocks * D, complex)) ==
          MERCER_OK);
  return out;
}

std::vector<double> along(const mercer_map* map, const std::vector<double>& X, int32_t kind,
                          const RowsView& V, int64_t cols, bool complex = false) {
  std::vector<double> out(n * cols * (complex ? 2 : 1));
  const mercer_derivative what = derivatives(kind, V);
  REQUIRE(mercer_map_derivative(map, rows_of(X, d), &what, nullptr,
                                result_of(out.data(), n, cols, cols, complex)) == MERCER_OK);
  return out;
}

TEST_CASE("derivative in C: blocks of columns are derivatives of the features") {
  const auto X = numbers(n * d, 0.7);
  for (const char* form : {"pair", "phase", "complex"}) {
    const bool complex = form == std::string("complex");
    const int64_t width = D * (complex ? 2 : 1);
    const MapHandle map = fourier(form);
    const auto both = partial(map.get(), X, {0, 1, 0, 0, 1, 1}, complex);
    double worst = 0;
    for (const int64_t k : {1, 2}) {
      auto above = X, below = X;
      for (int64_t i = 0; i < n; ++i) {
        above[i * d + k] += 1e-5;
        below[i * d + k] -= 1e-5;
      }
      const std::vector<int32_t> lower = k == 1 ? std::vector{0, 0, 0} : std::vector{0, 1, 0};
      const auto up = partial(map.get(), above, lower, complex);
      const auto down = partial(map.get(), below, lower, complex);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < width; ++j) {
          const auto at = static_cast<size_t>(i * width + j);
          const double slope = (up[at] - down[at]) / 2e-5;
          keep_worst(worst, std::fabs(both[(2 * i + k - 1) * width + j] - slope));
        }
    }
    CHECK(worst <= 1e-6);
  }
}

TEST_CASE("derivative in C: vectors, dense and sparse, real and complex") {
  const auto X = numbers(n * d, 0.7), V = numbers(n * d, 1.3);
  for (const char* form : {"pair", "complex"}) {
    const bool complex = form == std::string("complex");
    const int64_t width = D * (complex ? 2 : 1);
    const MapHandle map = fourier(form);
    const auto G = numbers(n * width, 2.1);
    const auto forward = along(map.get(), X, MERCER_DERIVATIVE_JVP, rows_of(V, d), D, complex);
    const auto back = along(map.get(), X, MERCER_DERIVATIVE_VJP, rows_of(G, width), d);
    double left = 0, right = 0;
    for (size_t k = 0; k < forward.size(); ++k) left += forward[k] * G[k];
    for (size_t k = 0; k < back.size(); ++k) right += back[k] * V[k];
    CHECK(std::fabs(left - right) <= 1e-12 * static_cast<double>(n * width));
    std::vector<double> scales(3);
    const RowsView cotangent = rows_of(G, width);
    const mercer_derivative what = derivatives(MERCER_DERIVATIVE_LOG_LENGTHSCALE, cotangent);
    REQUIRE(mercer_map_derivative(map.get(), rows_of(X, d), &what, nullptr,
                                  result_of(scales.data(), 1, d, d)) == MERCER_OK);
    for (int64_t k = 0; k < d; ++k) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum -= X[i * d + k] * back[i * d + k];
      CHECK(std::fabs(scales[k] - sum) <= 1e-12);
    }
  }
  const MapHandle map = fourier();
  const float x[] = {0, 0.5f, 0, 2, 0, 0}, values[] = {0.5f, 2};
  const int32_t offsets[] = {0, 1, 2}, indices[] = {1, 0};
  const RowsView sparse =
      mercer_rows_csr(MERCER_NUMBER_F32, MERCER_INDEX_I32, 2, d, 2, offsets, indices, values);
  std::vector<float> dense_out(2 * d * D), sparse_out(2 * d * D);
  const mercer_derivative gradient = derivatives(MERCER_DERIVATIVE_GRADIENT);
  REQUIRE(mercer_map_derivative(map.get(), rows_of(x, 2, d), &gradient, nullptr,
                                result_of(dense_out.data(), 2, d * D, d * D)) == MERCER_OK);
  REQUIRE(mercer_map_derivative(map.get(), sparse, &gradient, nullptr,
                                result_of(sparse_out.data(), 2, d * D, d * D)) == MERCER_OK);
  CHECK(dense_out == sparse_out);
  const mercer_derivative none = partial_derivatives(0, nullptr);
  CHECK(mercer_map_derivative(map.get(), sparse, &none, nullptr,
                              result_of(sparse_out.data(), 2, 0, 0)) == MERCER_OK);
}

TEST_CASE("derivative in C: what is refused") {
  const auto X = numbers(n * d, 0.7), G = numbers(n * D, 1.3);
  std::vector<double> out(n * d * D, 5.0);
  const MapHandle map = fourier();
  const RowsView rows = rows_of(X, d), cotangent = rows_of(G, D);
  const auto ask = [&](const mercer_map* of, const mercer_derivative& what, int64_t n_out,
                       int64_t cols) {
    return mercer_map_derivative(of, rows, &what, nullptr,
                                 result_of(out.data(), n_out, cols, cols));
  };
  CHECK(refused(mercer_map_derivative(map.get(), rows, nullptr, nullptr, {}), "what") == "");
  mercer_derivative what = derivatives(7);
  CHECK(refused(ask(map.get(), what, n, D), "what->kind", "7") == "");
  what = derivatives(MERCER_DERIVATIVE_JVP);
  CHECK(refused(ask(map.get(), what, n, D), "what->vectors", "all zeros") == "");
  what = derivatives(MERCER_DERIVATIVE_GRADIENT, cotangent);
  CHECK(refused(ask(map.get(), what, n, d * D), "what->vectors", "is given") == "");
  what = derivatives(MERCER_DERIVATIVE_GRADIENT);
  what.count = 2;
  CHECK(refused(ask(map.get(), what, n, d * D), "what->count", "2") == "");
  what.count = 0;
  what.struct_size = 8;
  CHECK(refused(ask(map.get(), what, n, d * D), "struct_size") == "");
  const int32_t negative[] = {0, -1, 0}, high[] = {20, 0, 13};
  what = partial_derivatives(1, negative);
  CHECK(refused(ask(map.get(), what, n, D), "what->partials[0][1]", "-1") == "");
  what = partial_derivatives(1, high);
  CHECK(refused(ask(map.get(), what, n, D), "what->partials[0][2]", "13", "32") == "");
  what = partial_derivatives(2, nullptr);
  CHECK(refused(ask(map.get(), what, n, 2 * D), "what->partials") == "");
  what = derivatives(MERCER_DERIVATIVE_LAPLACIAN);
  CHECK(fault(ask(map.get(), what, n, d * D), MERCER_DIMENSION_MISMATCH, "out", "7 x 10") == "");
  const MapHandle steps = make_map(R"("sign","kernel":{"kernel":"sign"})", d, D);
  CHECK(fault(ask(steps.get(), what, n, D), MERCER_UNSUPPORTED, "sign", "expected one of") == "");
  what = derivatives(MERCER_DERIVATIVE_VJP, rows);
  CHECK(fault(ask(map.get(), what, n, d), MERCER_DIMENSION_MISMATCH, "what->vectors.d", "10") ==
        "");
  const std::vector<float> single(n * D);
  const RowsView narrow = rows_of(single, D);
  what = derivatives(MERCER_DERIVATIVE_VJP, narrow);
  CHECK(fault(ask(map.get(), what, n, d), MERCER_UNSUPPORTED, "what->vectors", "F32") == "");
  what = derivatives(MERCER_DERIVATIVE_LOG_LENGTHSCALE, cotangent);
  const MapHandle angles = make_map(R"("arc_cosine","kernel":{"kernel":"arc_cosine"})", d, D);
  CHECK(fault(ask(angles.get(), what, 1, 1), MERCER_UNSUPPORTED, "arc_cosine", "lengthscale") ==
        "");
  CHECK(fault(ask(map.get(), what, 1, 1), MERCER_DIMENSION_MISMATCH, "out", "1 x 3") == "");
  CHECK(out == std::vector<double>(out.size(), 5.0));
}

TEST_CASE("kernel derivatives in C: formats and refusals") {
  const auto X = numbers(n * d, 0.7);
  const KernelHandle kernel = gaussian(0.8);
  const RowsView rows = rows_of(X, d);
  std::vector<double> K(n * n), plain(n * n);
  std::vector<float> narrow(n * n);
  const int32_t p[] = {1, 0, 2}, negative[] = {0, -2, 0};
  REQUIRE(mercer_kernel_derivative(kernel.get(), rows, rows, nullptr, nullptr, nullptr,
                                   result_of(K.data(), n, n)) == MERCER_OK);
  REQUIRE(mercer_kernel_gram(kernel.get(), rows, rows, {}, nullptr,
                             result_of(plain.data(), n, n)) == MERCER_OK);
  for (size_t k = 0; k < K.size(); ++k) CHECK(K[k] == Approx(plain[k]).epsilon(1e-14));
  REQUIRE(mercer_kernel_derivative(kernel.get(), rows, rows, p, nullptr, nullptr,
                                   result_of(K.data(), n, n)) == MERCER_OK);
  REQUIRE(mercer_kernel_derivative(kernel.get(), rows, rows, nullptr, p, nullptr,
                                   result_of(narrow.data(), n, n)) == MERCER_OK);
  for (size_t k = 0; k < K.size(); ++k) CHECK(narrow[k] == static_cast<float>(-K[k]));
  CHECK(refused(mercer_kernel_derivative(kernel.get(), rows, rows, nullptr, negative, nullptr,
                                         result_of(K.data(), n, n)),
                "q[1]", "-2") == "");
  const KernelHandle laplacian = make_kernel(R"("laplacian")");
  CHECK(fault(mercer_kernel_derivative(laplacian.get(), rows, rows, p, nullptr, nullptr,
                                       result_of(K.data(), n, n)),
              MERCER_UNSUPPORTED, "laplacian", "intersection") == "");
  const KernelHandle matern = make_kernel(R"("matern","nu":2.5)");
  CHECK(mercer_kernel_derivative(matern.get(), rows, rows, p, nullptr, nullptr,
                                 result_of(K.data(), n, n)) == MERCER_OK);
  CHECK(fault(mercer_kernel_derivative(matern.get(), rows, rows, p, p, nullptr,
                                       result_of(K.data(), n, n)),
              MERCER_UNSUPPORTED, "order 6", "matern", "up to 4") == "");
  CHECK(fault(mercer_kernel_derivative(kernel.get(), rows, rows, p, nullptr, nullptr,
                                       result_of(K.data(), n, n - 1)),
              MERCER_DIMENSION_MISMATCH, "K", "7 x 7") == "");
}

}  // namespace derivative_test
