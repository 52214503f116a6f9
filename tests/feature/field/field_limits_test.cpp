// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Bits of every kind of field in both precisions; memory caps and requests to stop of what else a
// map of several outputs does.
#include "feature/feature_operator.h"
#include "support/dense.h"
#include "support/field_maps.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace mercer::test::field_limits_test {
namespace {

using feature::FieldKind;

Parameters helmholtz(int64_t d, int64_t features) {
  return {{"operator", "helmholtz"},
          {"alpha", 0.3},
          {"kernel", gaussian_of({0.8}, 1.3)},
          {"inputs", d},
          {"features", features},
          {"seed", uint64_t{5}}};
}

/// Rows of the field with a number of threads, in the precision of X.
template <class T, class View>
Matrix<T> field(const feature::FieldMap& map, const View& X, const Matrix<double>& theta,
                FieldKind kind, int threads) {
  Matrix<T> out(X.rows, feature::field_numbers(kind, map.outputs(), map.inputs()));
  Context context;
  context.threads = threads;
  multiply(map, X, theta.view(), kind, context, out.view());
  return out;
}

/// X has 700 rows of 2 inputs; of 2,000 features those are several blocks.
template <class T, class View>
void check_bits(const View& X, FieldKind kind) {
  const auto map = made_operator(helmholtz(2, 2000));
  const Matrix<double> theta = random_matrix(map->features(), 1, 2);
  const Matrix<T> whole = field<T>(*map, X, theta, kind, 1);
  const auto bytes = static_cast<size_t>(whole.cols()) * sizeof(T);
  for (const int threads : {2, 7})
    CHECK(std::memcmp(field<T>(*map, X, theta, kind, threads).data(), whole.data(), 700 * bytes) ==
          0);
  for (const int64_t i : {0, 31, 333, 699})
    CHECK(std::memcmp(field<T>(*map, X.block_rows(i, i + 1), theta, kind, 1).data(),
                      whole.view().row(i), bytes) == 0);
}

template <class T>
void check_rows(FieldKind kind) {
  const Matrix<T> X = random_matrix<T>(700, 2, 1);
  check_bits<T>(MatrixView<const T>(X.view()), kind);
  const SparseRows<T> sparse = sparse_rows<T>(700, 2, 3, 4);
  check_bits<T>(sparse.view(), kind);
}

}  // namespace

TEST_CASE("rows of fields and what is asked of them depend on their row alone") {
  for (const FieldKind kind : {FieldKind::value, FieldKind::jacobian, FieldKind::divergence,
                               FieldKind::curl, FieldKind::potential, FieldKind::stream}) {
    INFO(static_cast<int>(kind));
    check_rows<double>(kind);
    check_rows<float>(kind);
  }
}

TEST_CASE(
    "a cap and a request to stop end fields, adjoints, matrices, Gram matrices and variances") {
  const auto map = made_operator(helmholtz(3, 200));
  const int64_t n = 1000, r = map->features();
  const Matrix<double> X = random_matrix(n, 3, 1), Y = random_matrix(n, 3, 2);
  Matrix<double> theta(r, 1), fields(n, 3), phi(n * 3, r), variance(n, 9), K(n * 3, n * 3);
  const auto whole = kernel::make_kernel(
      {{"kernel", "decomposable"}, {"gamma", std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}}});
  theta.fill(1);
  const std::function<void(Context&)> works[] = {
      [&](Context& context) {
        multiply(*map, X.view(), theta.view(), FieldKind::value, context, fields.view());
      },
      [&](Context& context) { adjoint(*map, X.view(), Y.view(), context, theta.view()); },
      [&](Context& context) {
        map->apply(X.view(), {0, r}, context, phi.view());
      },
      [&](Context& context) { kernel::gram(*whole, X.view(), X.view(), context, K.view()); },
      [&](Context& context) { map->variances(X.view(), Y.view(), context, variance.view()); }};
  int index = 0;
  for (const auto& work : works) {
    INFO(index);
    Context stopped, asked, capped;
    stopped.cancel();
    CHECK_REFUSED(MERCER_CANCELLED, work(stopped));
    asked.progress = [](void*, int64_t done, int64_t total) -> int32_t { return 2 * done > total; };
    CHECK_REFUSED(MERCER_CANCELLED, work(asked));
    capped.memory_cap = 1 << 10;
    // A variance takes no memory that grows.
    if (++index < 5) CHECK_REFUSED(MERCER_OUT_OF_MEMORY, work(capped));
  }
}

TEST_CASE("variances are the same for any number of threads") {
  const auto map = made_operator(helmholtz(3, 20));
  const Matrix<double> X = random_matrix(300, 3, 1), Y = random_matrix(300, 3, 2);
  Matrix<double> one(300, 9);
  Context alone;
  alone.threads = 1;
  map->variances(X.view(), Y.view(), alone, one.view());
  for (const int threads : {2, 7}) {
    Context context;
    context.threads = threads;
    Matrix<double> many(300, 9);
    map->variances(X.view(), Y.view(), context, many.view());
    CHECK(std::memcmp(many.data(), one.data(), 300 * 9 * sizeof(double)) == 0);
  }
}

}  // namespace mercer::test::field_limits_test
