// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of several outputs: the reference numbers, two routes to the same action, roots of Gamma,
// refusals.
#include "kernel/matrix_kernel.h"

#include "solver/dual_system.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/matrix_kernels.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/worst.h"

namespace mercer::test::matrix_kernel_test {
namespace {

Matrix<double> times_transpose(const Matrix<double>& B) {
  return product(B.view(), transposed(B.view()).view());
}

}  // namespace

TEST_CASE("a root of Gamma has its rank and says what it leaves out") {
  const Matrix<double> A = random_matrix(7, 3, 1);
  const Matrix<double> gamma = times_transpose(A);
  const auto root = kernel::output_root(gamma.view(), 1e-12);
  CHECK(root.B.cols() == 3);
  CHECK(difference(times_transpose(root.B).view(), gamma.view(), 1e-14 * 7) == "");
  CHECK(root.dropped <= 1e-14);

  const Matrix<double> diagonal = filled(3, 3, [](int64_t i, int64_t j) {
    return i == j ? std::pow(0.1, static_cast<double>(i)) : 0.0;
  });
  const auto cut = kernel::output_root(diagonal.view(), 0.05);
  CHECK(cut.B.cols() == 2);
  CHECK(cut.dropped == Approx(0.01 / 1.11));
  // Whatever the cutoff, the first pivot stays.
  for (const double cutoff : {0.5, 1.0}) {
    const auto one = kernel::output_root(diagonal.view(), cutoff);
    CHECK((one.B.cols() == 1 && one.B(0, 0) == 1));
    CHECK(one.dropped == Approx(0.11 / 1.11));
  }
}

TEST_CASE("a Gamma that is none is refused") {
  const auto refused = [](const std::vector<double>& gamma, mercer_status status,
                          const char* part) {
    return refusal_fault(
        status,
        [&] {
          const int64_t p = kernel::outputs_of(gamma);
          kernel::output_root({gamma.data(), p, p}, 1e-12);
        },
        part);
  };
  CHECK(refused({1, 2, 3}, MERCER_INVALID_ARGUMENT, "3 numbers") == "");
  CHECK(refused({1, 0.5, 0.25, 1}, MERCER_INVALID_ARGUMENT, "symmetric") == "");
  CHECK(refused({1, NAN, NAN, 1}, MERCER_INVALID_ARGUMENT, "gamma[0, 1]") == "");
  CHECK(refused({0, 0, 0, 0}, MERCER_INVALID_ARGUMENT, "is 0") == "");
  CHECK(refused({1, 2, 2, 1}, MERCER_NOT_POSITIVE_DEFINITE, "semi-definite") == "");
  CHECK(refused({0, 1, 1, 0}, MERCER_NOT_POSITIVE_DEFINITE, "semi-definite") == "");
  CHECK(refused({-1, 0, 0, -2}, MERCER_NOT_POSITIVE_DEFINITE, "semi-definite") == "");
}

// Moore and Penrose: L G L = L, G L G = G, both products symmetric. The diagonal is not read.
TEST_CASE("Gamma of a graph is the pseudo-inverse of its Laplacian") {
  const NumberLists W = {{9, 2, 0, 0, 0, 0},    {2, 0, 0.5, 0, 0, 0}, {0, 0.5, 0, 0, 0, 0},
                         {0, 0, 0, 0, 3, 1e-3}, {0, 0, 0, 3, 0, 1},   {0, 0, 0, 1e-3, 1, 0}};
  const auto made = [](NumberLists gamma) {
    return kernel::make_kernel(
        {{"kernel", "decomposable"}, {"gamma", std::move(gamma)}, {"structure", "laplacian"}});
  };
  const auto kernel = made(W);
  const MatrixView<const double> G = kernel->matrix()->gamma();
  double degrees = 0;
  for (int64_t k = 0; k < 6; ++k)
    for (int64_t l = 0; l < 6; ++l) degrees += k == l ? 0 : W[k][l];
  const Matrix<double> L = filled(6, 6, [&](int64_t k, int64_t l) {
    double sum = 0;
    for (int64_t j = 0; j < 6; ++j) sum += j == k ? 0 : W[k][j];
    return (k == l ? sum : -W[k][l]) * 6 / degrees;
  });
  const Matrix<double> LG = product(L.view(), G), GL = product(G, L.view());
  CHECK(difference(product(LG.view(), L.view()).view(), L.view(), 1e-12) == "");
  CHECK(difference(product(GL.view(), G).view(), G, 1e-11) == "");
  CHECK(difference(LG.view(), transposed(LG.view()).view(), 1e-12) == "");
  CHECK(difference(GL.view(), transposed(GL.view()).view(), 1e-12) == "");
  CHECK(kernel->matrix()->root()->B.cols() == 4);
  const auto refused = [&](NumberLists gamma, const char* part) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { made(std::move(gamma)); }, part);
  };
  CHECK(refused({{0, 1}, {2, 0}}, "gamma[0, 1] = 1 and [1, 0] = 2") == "");
  CHECK(refused({{0, -1}, {-1, 0}}, "gamma[0, 1] = -1") == "");
  CHECK(refused({{1, 0}, {0, 1}}, "the weights of gamma sum to 0") == "");
  CHECK(refused({{1}}, "the weights of gamma sum to 0") == "");
  CHECK(refused({{0, NAN}, {NAN, 0}}, "gamma[0][1] = nan") == "");
}

TEST_CASE("roots of numbers near the ends of double") {
  for (const double size : {1e308, 1e-300}) {
    const Matrix<double> gamma =
        filled(2, 2, [&](int64_t i, int64_t j) { return size * (i == j ? 1.5 : 0.9); });
    const auto root = kernel::output_root(gamma.view(), 1e-12);
    REQUIRE(root.B.cols() == 2);
    CHECK(root.dropped == 0);
    CHECK(difference(times_transpose(root.B).view(), gamma.view(), 1e-15 * size) == "");
  }
  // The trace is above the largest double.
  const Matrix<double> equal =
      filled(2, 2, [](int64_t i, int64_t j) { return i == j ? 1.7e308 : 0; });
  CHECK(kernel::output_root(equal.view(), 1).dropped == 0.5);
}

namespace {

Matrix<double> rows_of(const Reference& rows) {
  return filled(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()),
                [&](int64_t i, int64_t k) { return rows[i][k].get<double>(); });
}

/// Worst relative distance of the diagonal blocks of K to the reference's p x p matrices.
double fault(const Matrix<double>& K, const Reference& expected) {
  const auto n = static_cast<int64_t>(expected.size()),
             p = static_cast<int64_t>(expected[0].size());
  double worst = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t o = 0; o < p; ++o)
      for (int64_t q = 0; q < p; ++q) {
        const double value = expected[i][o][q];
        keep_worst(worst,
                   std::fabs(K(i * p + o, i * p + q) - value) / std::max(1.0, std::fabs(value)));
      }
  return worst;
}

std::vector<Parameters> all_kernels() {
  const Value kernel = gaussian_of({0.7, 1.1, 0.9}, 1.7);
  const Value cauchy = std::make_shared<const Parameters>(Parameters{{"kernel", "cauchy"}}),
              matern =
                  std::make_shared<const Parameters>(Parameters{{"kernel", "matern"}, {"nu", 1.3}});
  return {{{"kernel", "curl_free"}, {"scalar", kernel}},
          {{"kernel", "curl_free"}, {"scalar", matern}},
          {{"kernel", "helmholtz"}, {"scalar", cauchy}},
          {{"kernel", "divergence_free"}, {"scalar", kernel}},
          {{"kernel", "helmholtz"}, {"scalar", kernel}, {"alpha", 0.3}},
          {{"kernel", "decomposable"},
           {"scalar", kernel},
           {"gamma", std::vector<double>{2, 0.5, 0.5, 1}}}};
}

}  // namespace

// Second derivatives of Matern and rational quadratic kernels by another program.
TEST_CASE("fields of other scalar kernels are the reference numbers") {
  REQUIRE(oracle("fields")["cases"].size() == 30);
  for (const auto& one : oracle("fields")["cases"]) {
    Parameters scalar{{"kernel", one["scalar"]["kernel"].get<std::string>()}};
    for (const char* key : {"lengthscale", "nu", "alpha"})
      if (one["scalar"].contains(key)) scalar.set(key, one["scalar"][key].get<double>());
    scalar.set("lengthscale", std::vector<double>{scalar.number("lengthscale")});
    INFO(print_object(scalar));
    const auto tau = one["tau"].get<std::vector<double>>();
    const auto d = std::ssize(tau);
    const Matrix<double> x = filled(1, d, [&](int64_t, int64_t k) { return tau[k]; }),
                         origin = filled(1, d, [](int64_t, int64_t) { return 0.0; });
    for (const char* field : {"curl_free", "divergence_free"}) {
      const auto kernel = kernel::make_kernel(
          {{"kernel", std::string(field)}, {"scalar", std::make_shared<const Parameters>(scalar)}});
      const auto expected =
          filled(d, d, [&](int64_t i, int64_t j) { return one[field][i][j].get<double>(); });
      CHECK(difference(gram_of(*kernel, x, origin).view(), expected.view(), 1e-12) == "");
    }
  }
}

TEST_CASE("a sum of several outputs takes the inputs that every part takes") {
  const auto part = [](const std::vector<double>& c) {
    const auto scalar =
        std::make_shared<const Parameters>(Parameters{{"kernel", "skewed_chi2"}, {"c", c}});
    return std::make_shared<const Parameters>(
        Parameters{{"kernel", "decomposable"},
                   {"scalar", scalar},
                   {"gamma", std::vector<double>{2, 0, 0, 1}}});
  };
  const auto sum =
      kernel::make_kernel({{"kernel", "sum"}, {"parts", ObjectList{part({1, 3}), part({2, 1})}}});
  REQUIRE(sum->traits().input_bound);
  CHECK(sum->traits().input_bound->at(0) == -1);
  CHECK(sum->traits().input_bound->at(1) == -1);
}

TEST_CASE("kernels of several outputs are the reference numbers") {
  const Reference& reference = oracle("operator_kernels");
  for (const auto& set : reference["exact"]) {
    const auto X = rows_of(set["X"]), Z = rows_of(set["Z"]);
    const Value kernel = gaussian_of({set["sigma"]});
    const auto K = [&](Parameters given) {
      given.set("scalar", kernel);
      return gram_of(*kernel::make_kernel(given), X, Z);
    };
    CHECK(fault(K({{"kernel", "curl_free"}}), set["curl_free"]) <= 1e-12);
    CHECK(fault(K({{"kernel", "divergence_free"}}), set["divergence_free"]) <= 1e-12);
    CHECK(fault(K({{"kernel", "helmholtz"}, {"alpha", set["alpha"].get<double>()}}),
                set["helmholtz"]) <= 1e-12);
  }
  for (const auto& set : reference["decomposable"]) {
    std::vector<double> gamma;
    for (const auto& row : set["Gamma"])
      for (const auto& entry : row) gamma.push_back(entry);
    const auto X = rows_of(set["X"]), Z = rows_of(set["Z"]);
    const auto K = [&](const Value& kernel) {
      return gram_of(
          *kernel::make_kernel({{"kernel", "decomposable"}, {"scalar", kernel}, {"gamma", gamma}}),
          X, Z);
    };
    CHECK(fault(K(gaussian_of({set["gaussian_sigma"]})), set["gaussian"]) <= 1e-12);
    const Value skewed = std::make_shared<const Parameters>(
        Parameters{{"kernel", "skewed_chi2"}, {"c", set["skewed_c"].get<double>()}});
    CHECK(fault(K(skewed), set["skewed_chi2"]) <= 1e-12);
  }
}

TEST_CASE("ridge by kernels of several outputs is the reference numbers") {
  Context context;
  const Reference& cases = oracle("operator_kernels")["ovk_ridge"];
  REQUIRE(cases.size() == 2);
  for (const auto& entry : cases) {
    const auto X = rows_of(entry["X"]), T = rows_of(entry["X_test"]);
    const auto kernel =
        kernel::make_kernel({{"kernel", entry["kernel"].get<std::string>()},
                             {"scalar", gaussian_of({entry["sigma"].get<double>()})}});
    const auto column = [](const Reference& rows) {
      const Matrix<double> A = rows_of(rows);
      return filled(A.rows() * A.cols(), 1, [&](int64_t i, int64_t) { return A.data()[i]; });
    };
    Matrix<double> K = gram_of(*kernel, X, X);
    const Matrix<double> u =
        solver::kernel_ridge(K.view(), column(entry["Y"]).view(), entry["lambda"],
                             static_cast<double>(X.rows()), context);
    const Matrix<double> expected = column(entry["u"]);
    CHECK(difference(u.view(), expected.view(), 1e-10 * largest(expected.view())) == "");
    CHECK(difference(product(gram_of(*kernel, T, X).view(), u.view()).view(),
                     column(entry["predictions"]).view(), 1e-10) == "");
  }
}

TEST_CASE("the O(d) action of Gaussian field kernels is that of second derivatives") {
  const auto kernel = kernel::make_gaussian({0.7, 1.1, 0.9}, 1.7);
  const Matrix<double> X = random_matrix(6, 3, 1), Y = random_matrix(6, 3, 2),
                       U = random_matrix(6, 6, 3);
  for (const Parameters& given : all_kernels()) {
    const auto made = kernel::make_kernel(given);
    const auto* const field = dynamic_cast<const kernel::FieldKernel*>(made.get());
    if (field == nullptr || !field->scalar().traits().is_gaussian) continue;
    const auto fast = field->action(3),
               slow = kernel::smooth_action(*kernel, *field->field_parts(), 3);
    for (int64_t i = 0; i < 6; ++i) {
      Matrix<double> a(1, 6), b(1, 6);
      a.fill(0);
      b.fill(0);
      fast->add(X.view().row(i), Y.view().row(i), 2, U.view().row(i), a.data());
      slow->add(X.view().row(i), Y.view().row(i), 2, U.view().row(i), b.data());
      CHECK(difference(a.view(), b.view(), 1e-13 * largest(b.view())) == "");
    }
  }
}

TEST_CASE("field kernels of smooth kernels are second differences of these") {
  const Matrix<double> X = random_matrix(3, 3, 1), Y = random_matrix(2, 3, 2);
  for (const Parameters& scalar : smooth_kernels()) {
    INFO(print_object(scalar));
    const auto k = kernel::make_kernel(scalar);
    // S = -grad grad' k of each pair, by differences along e_i + e_j and e_i - e_j.
    const auto along = [&](int64_t a, int64_t b, int64_t i, int64_t j, double sign) {
      return second_difference(
          [&](double h) {
            std::vector<double> x(X.view().row(a), X.view().row(a) + 3);
            x[i] += h;
            x[j] += sign * h;
            return k->value(3, x.data(), Y.view().row(b));
          },
          0.02);
    };
    const auto S = filled(9, 6, [&](int64_t row, int64_t column) {
      const int64_t a = row / 3, b = column / 3, i = row % 3, j = column % 3;
      return (along(a, b, i, j, -1) - along(a, b, i, j, 1)) / 4;
    });
    for (const double curl : {1.0, 0.0, 0.3}) {
      Parameters given{{"kernel", curl == 1 ? "curl_free" : "divergence_free"},
                       {"scalar", std::make_shared<const Parameters>(scalar)}};
      if (curl == 0.3) {
        given.set("kernel", "helmholtz");
        given.set("alpha", curl);
      }
      const auto expected = filled(9, 6, [&](int64_t row, int64_t column) {
        double trace = 0;
        for (int64_t o = 0; o < 3; ++o) trace += S(row / 3 * 3 + o, column / 3 * 3 + o);
        const double same = row % 3 == column % 3 ? (1 - curl) * trace : 0;
        return (2 * curl - 1) * S(row, column) + same;
      });
      const auto field = kernel::make_kernel(given);
      CHECK(difference(gram_of(*field, X, Y).view(), expected.view(), 1e-8) == "");
    }
  }
}

TEST_CASE("fields of radial kernels: second moments at 0, and the O(d) action") {
  const Matrix<double> X = random_matrix(4, 3, 1), Y = random_matrix(4, 3, 2),
                       U = random_matrix(4, 3, 3);
  int64_t radial = 0;
  for (const Parameters& scalar : smooth_kernels()) {
    const auto k = kernel::make_kernel(scalar);
    if (!kernel::RadialPairs::serves(*k)) continue;
    ++radial;
    INFO(print_object(scalar));
    const auto made = kernel::make_kernel(
        {{"kernel", "curl_free"}, {"scalar", std::make_shared<const Parameters>(scalar)}});
    // E omega omega' = nu/(nu - 1) diag(1/l^2) of matern, diag(1/l^2) of the other.
    const double nu = scalar.text("kernel") == "matern" ? scalar.number("nu") : kInfinity;
    const double factor = k->variance() * (std::isinf(nu) ? 1 : nu / (nu - 1));
    const Matrix<double> K = gram_of(*made, X, X);
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 3; ++j)
        CHECK(K(i, j) == Approx(i == j ? factor / std::pow(k->lengthscale()[i], 2) : 0)
                             .epsilon(1e-12)
                             .margin(1e-300));
    const auto* const field = dynamic_cast<const kernel::FieldKernel*>(made.get());
    const auto fast = field->action(3), slow = kernel::smooth_action(*k, {1, 0}, 3);
    for (int64_t i = 0; i < 4; ++i) {
      Matrix<double> a(1, 3), b(1, 3);
      a.fill(0);
      b.fill(0);
      fast->add(X.view().row(i), Y.view().row(i), 1, U.view().row(i), a.data());
      slow->add(X.view().row(i), Y.view().row(i), 1, U.view().row(i), b.data());
      CHECK(difference(a.view(), b.view(), 1e-12 * largest(b.view())) == "");
    }
  }
  CHECK(radial == 10);
}

TEST_CASE("K u without K is K times u") {
  // Rows of Y on both sides of a block of the decomposable one.
  const Matrix<double> X = random_matrix(300, 3, 1), Y = random_matrix(1100, 3, 2);
  std::vector<Parameters> all = all_kernels();
  all.push_back({{"kernel", "matern"}, {"nu", 1.5}});
  for (const Parameters& given : all) {
    const auto kernel = kernel::make_kernel(given);
    const int64_t p = kernel->outputs(3);
    const Matrix<double> U = random_matrix(1100, 2 * p, 3);
    Matrix<double> out(300, 2 * p);
    Context context;
    kernel::gram_multiply(*kernel, X.view(), Y.view(), U.view(), context, out.view());
    const Matrix<double> K = gram_of(*kernel, X, Y);
    double worst = 0, size = 0;
    for (int64_t i = 0; i < 300; i += 13) {
      for (int64_t k = 0; k < 2 * p; ++k) {
        double sum = 0;
        for (int64_t j = 0; j < 1100; ++j)
          for (int64_t q = 0; q < p; ++q) sum += K(i * p + k % p, j * p + q) * U(j, k / p * p + q);
        keep_worst(worst, std::fabs(sum - out(i, k)));
        size = std::max(size, std::fabs(sum));
      }
    }
    INFO(kernel->name());
    CHECK(worst <= 1e-11 * size);
  }
}

TEST_CASE("rows of all kinds give one Gram matrix of several outputs") {
  const SparseRows<double> sparse = sparse_rows<double>(40, 3, 2, 4);
  const Matrix<double> dense = sparse.dense(), U = random_matrix(40, 3, 5);
  Context context;
  for (const Parameters& given : all_kernels()) {
    const auto kernel = kernel::make_kernel(given);
    const int64_t p = kernel->outputs(3);
    const Matrix<double> K = gram_of(*kernel, dense, dense), other(40 * p, 40 * p), out(40, p),
                         same(40, p);
    kernel::gram(*kernel, sparse.view(), sparse.view(), context, other.view());
    CHECK(difference(K.view(), other.view(), 0) == "");
    const MatrixView<const double> u = U.view().block_cols(0, p);
    kernel::gram_multiply(*kernel, dense.view(), dense.view(), u, context, out.view());
    kernel::gram_multiply(*kernel, sparse.view(), dense.view(), u, context, same.view());
    CHECK(difference(out.view(), same.view(), 0) == "");
  }
}

TEST_CASE("the amplitude of a kernel of several outputs multiplies that of its scalar kernel") {
  const Matrix<double> X = random_matrix(4, 3, 1);
  for (Parameters given : all_kernels()) {
    const Matrix<double> K = gram_of(*kernel::make_kernel(given), X, X);
    given.set("variance", 2.0);
    const Matrix<double> twice = gram_of(*kernel::make_kernel(given), X, X);
    const auto doubled =
        filled(K.rows(), K.cols(), [&](int64_t i, int64_t j) { return 2 * K(i, j); });
    CHECK(difference(twice.view(), doubled.view(), 1e-14 * largest(twice.view())) == "");
  }
}

TEST_CASE("what takes kernels of one output says so of others") {
  for (const Parameters& given : all_kernels()) {
    const auto kernel = kernel::make_kernel(given);
    const std::string name = given.text("kernel");
    const auto as_part = std::make_shared<const Parameters>(given);
    const auto refused = [&](const auto& call) {
      return refusal_fault(MERCER_UNSUPPORTED, call, name, "several outputs");
    };
    CHECK(refused([&] { kernel->check_dimension(3); }) == "");
    CHECK(refused([&] {
            kernel::make_kernel({{"kernel", "curl_free"}, {"scalar", as_part}});
          }) == "");
    CHECK(refused([&] {
            kernel::make_kernel({{"kernel", "product"}, {"parts", ObjectList{as_part, as_part}}});
          }) == "");
  }
}

TEST_CASE("kernels of several outputs refuse what they cannot be") {
  const auto spec = [](const char* name, const char* kernel) {
    return Parameters{
        {"kernel", name},
        {"scalar", std::make_shared<const Parameters>(Parameters{{"kernel", kernel}})}};
  };
  for (const char* rough : {"laplacian", "arc_cosine", "polynomial", "skewed_chi2"})
    CHECK_REFUSED(MERCER_UNSUPPORTED, kernel::make_kernel(spec("curl_free", rough)), rough);
  for (const double nu : {0.3, 0.5, 1.0}) {
    const Value matern =
        std::make_shared<const Parameters>(Parameters{{"kernel", "matern"}, {"nu", nu}});
    for (const char* name : {"curl_free", "divergence_free", "helmholtz"})
      CHECK_REFUSED(MERCER_UNSUPPORTED, kernel::make_kernel({{"kernel", name}, {"scalar", matern}}),
                    "matern", "nu > 1");
  }
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                kernel::make_kernel(spec("divergence_free", "gaussian"))->outputs(1), "at least 2");
  CHECK(kernel::make_kernel(spec("curl_free", "gaussian"))->outputs(1) == 1);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, kernel::make_kernel(spec("decomposable", "gaussian")),
                "gamma");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, kernel::make_kernel(spec("solenoidal", "gaussian")),
                "kernel", "divergence_free");
  const Matrix<double> X = random_matrix(2, 2, 1), Y = random_matrix(3, 2, 2);
  Matrix<double> U(3, 3), out(2, 3);
  U.fill(0);
  Context context;
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                kernel::gram_multiply(*kernel::make_kernel(spec("curl_free", "gaussian")), X.view(),
                                      Y.view(), U.view(), context, out.view()),
                "p = 2");
}

TEST_CASE("NaN in a row stays in its rows and columns of a Gram matrix of several outputs") {
  Matrix<double> X = random_matrix(5, 3, 1);
  X(2, 1) = NAN;
  for (const Parameters& given : all_kernels()) {
    const auto kernel = kernel::make_kernel(given);
    const int64_t p = kernel->outputs(3);
    const Matrix<double> K = gram_of(*kernel, X, X);
    bool right = true;
    for (int64_t i = 0; i < 5 * p; ++i)
      for (int64_t j = 0; j < 5 * p; ++j)
        right = right && std::isnan(K(i, j)) == (i / p == 2 || j / p == 2);
    CHECK(right);
  }
}

}  // namespace mercer::test::matrix_kernel_test
