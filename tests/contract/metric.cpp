// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every map in a metric: the map of k0(A x, A y) is that of k0 at A x, whatever the map, its rows
// and what it learns. Entries of A and of rows are short binary fractions, so that A x is exact
// however it is summed, and what follows from it has the same bytes.
#include <cmath>
#include <set>

#include "contract/cells.h"
#include "contract/match.h"
#include "contract/round_trip.h"
#include "contract/row_kinds.h"
#include "feature/map_entry.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/worst.h"

namespace metric {
using namespace mercer;
using namespace mercer::test;
using feature::Derivative;
using Kind = Derivative::Kind;

/// Whole multiples of a power of two, at most `most` of them.
Matrix<double> fractions(int64_t rows, int64_t cols, int64_t most, double unit, uint64_t seed) {
  const Matrix<double> u = random_matrix(rows, cols, seed);
  return filled(rows, cols, [&](int64_t i, int64_t j) {
    const double bounded = std::clamp(u(i, j), -2.0, 2.0) / 2;
    return unit * std::round(bounded * static_cast<double>(most));
  });
}

Matrix<double> times(const Matrix<double>& X, const Matrix<double>& A) {
  return filled(X.rows(), A.rows(), [&](int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < A.cols(); ++k) sum += X(i, k) * A(j, k);
    return sum;
  });
}

Parameters metric_of(const Cell& cell, const Matrix<double>& A) {
  NumberLists rows;
  for (int64_t i = 0; i < A.rows(); ++i)
    rows.emplace_back(A.view().row(i), A.view().row(i) + A.cols());
  return {{"kernel", "metric"},
          {"matrix", rows},
          {"of", std::make_shared<const Parameters>(cell.kernel().parameters())},
          {"variance", 1.0}};
}

/// The cell's map for r inputs, and the one in the metric; made from rows X A', and X.
struct Pair {
  std::unique_ptr<FeatureMap> inner, outer;
};

Pair make(const Cell& cell, const Matrix<double>& A, int64_t D, uint64_t seed) {
  const int64_t r = A.rows(), d = A.cols();
  Pair pair;
  for (const NumbersRow& numbers : numbers_rows()) {
    if (!holds(cell.spec(), numbers.match)) continue;
    pair.inner = cell.make(r, D, seed);
  }
  Parameters spec = cell.spec();
  spec.set("inputs", r);
  spec.set("features", D);
  spec.set("seed", seed);
  Parameters outer = spec;
  outer.set("inputs", d);
  outer.set("kernel", std::make_shared<const Parameters>(metric_of(cell, A)));
  if (pair.inner != nullptr) {
    outer.set("needs", std::string("data"));
    pair.outer = feature::make_map(outer, {.numbers = pair.inner->numbers()});
    return pair;
  }
  const bool learns = feature::learns_from_targets(spec);
  if (!feature::needs_rows(spec) && !learns)
    return {feature::make_map(spec), feature::make_map(outer)};
  const Value* const landmarks = spec.find("landmarks");
  const bool all = feature::map_entry(spec).keeps_all_rows ||
                   (landmarks != nullptr && *landmarks == Value(std::string("supplied")));
  const Matrix<double> X = fractions(all ? D : 3 * D + 5, d, 16, 0x1p-4, 31), U = times(X, A);
  const MatrixView<const double> targets(X.data(), X.rows(), 1, X.cols());
  const auto made = [&](const Parameters& given, const Rows& rows) {
    Context context;
    return feature::make_map(
        given, {.rows = &rows, .targets = learns ? &targets : nullptr, .context = &context});
  };
  return {made(spec, U.view()), made(outer, X.view())};
}

template <class T>
std::string features_fault(const Pair& maps, const Matrix<double>& X, const Matrix<double>& A) {
  const Matrix<T> x = converted<T>(X);
  const Matrix<T> Z = features_of(*maps.inner, converted<T>(times(X, A)));
  SparseRows<T> sparse;
  sparse.cols = x.cols();
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t k = 0; k < x.cols(); ++k)
      if (x(i, k) != 0) sparse.add(k, x(i, k));
    sparse.end_row();
  }
  for (const int threads : {1, 2, 7})
    if (!equal_bytes(features_of(*maps.outer, x, threads), Z)) return "features";
  if (!equal_bytes(features_of<T>(*maps.outer, sparse.view()), Z)) return "of sparse rows";
  const int64_t half = maps.outer->features() / 2, reals = maps.outer->is_complex() ? 2 : 1;
  Matrix<T> some(x.rows(), reals * half), other(x.rows(), reals * half);
  Context context;
  maps.outer->apply(x.view(), {0, half}, context, some.view());
  maps.inner->apply(converted<T>(times(X, A)).view(), {0, half}, context, other.view());
  return equal_bytes(some, other) ? "" : "a slice of the columns";
}

double difference(const Matrix<double>& A, const Matrix<double>& B) {
  double worst = 0;
  for (int64_t k = 0; k < A.rows() * A.cols(); ++k)
    keep_worst(worst, std::fabs(A.data()[k] - B.data()[k]));
  return worst;
}

std::string scales_fault(const FeatureMap& outer, const FeatureMap& inner, const Matrix<double>& X,
                         const Matrix<double>& U, const Matrix<double>& A) {
  const feature::RowScales &own = *outer.row_scales(), &scales = *inner.row_scales();
  const int64_t n = X.rows(), width = outer.row_length();
  const Matrix<double> Z(n, width), other(n, width), G = random_matrix(n, width, 4);
  std::vector<double> logs(n), expected(n);
  Context context;
  own.apply_scaled(X.view(), context, Z.view(), logs);
  scales.apply_scaled(U.view(), context, other.view(), expected);
  if (!equal_bytes(Z, other) || logs != expected) return "row scales";
  const Matrix<double> back(n, X.cols()), of_inner(n, U.cols());
  own.pull_scaled_back(X.view(), Z.view(), G.view(), context, back.view());
  scales.pull_scaled_back(U.view(), Z.view(), G.view(), context, of_inner.view());
  const auto through =
      times(of_inner, filled(A.cols(), A.rows(), [&](int64_t k, int64_t j) { return A(j, k); }));
  if (difference(back, through) > 1e-12 * largest(of_inner.view())) return "scaled pull_back";
  const auto variance = [](const feature::RowScales& of, const Matrix<double>& rows, double& out) {
    return outcome(
        [&] { out = of.scaled_moments().variance_at(rows.view().row(0), rows.view().row(1)); });
  };
  double at_x = 0, at_u = 0;
  const Outcome made = variance(own, X, at_x), of_k0 = variance(scales, U, at_u);
  return made.message == of_k0.message && at_x == at_u ? "" : "scaled variance";
}

std::string numbers_fault(const Pair& maps, const Matrix<double>& X, const Matrix<double>& A) {
  const FeatureMap &inner = *maps.inner, &outer = *maps.outer;
  const Matrix<double> U = times(X, A);
  const double *const x = X.view().row(0), *const y = X.view().row(1), *const u = U.view().row(0),
                      *const v = U.view().row(1);
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  if (!same(outer.estimated_kernel(x, y), inner.estimated_kernel(u, v))) return "kernel";
  const Outcome own = outcome([&] { outer.moments(); }), of_k0 = outcome([&] { inner.moments(); });
  if (own.message != of_k0.message) return "moments";
  if (own.status == MERCER_OK) {
    Outcome one, two;
    double a[2] = {}, b[2] = {};
    one = outcome([&] { a[0] = variance_of(outer, X), a[1] = outer.moments().bias_at(x, y); });
    two = outcome([&] { b[0] = variance_of(inner, U), b[1] = inner.moments().bias_at(u, v); });
    if (one.status != two.status || !same(a[0], b[0]) || !same(a[1], b[1])) return "variance";
  }
  if (outer.column_form() != inner.column_form() ||
      outer.incomplete_block() != inner.incomplete_block() ||
      outer.has_kernel_columns() != inner.has_kernel_columns() ||
      outer.is_of_scaled_inputs() != inner.is_of_scaled_inputs())
    return "capabilities";
  Context context;
  if (inner.sparse_features() != nullptr) {
    const int64_t n = X.rows(), P = inner.sparse_features()->entries();
    const Matrix<int64_t> columns(n, P), others(n, P);
    const Matrix<double> values(n, P), numbers(n, P);
    list_entries(outer, X.view(), context, columns.view(), values.view());
    list_entries(inner, U.view(), context, others.view(), numbers.view());
    if (!equal_bytes(columns, others) || !equal_bytes(values, numbers)) return "entries";
  }
  if (inner.row_scales() != nullptr) return scales_fault(outer, inner, X, U, A);
  const FeatureMap::Factors factors = outer.factors();
  if ((factors.left != nullptr) != (inner.factors().left != nullptr)) return "factors";
  if (factors.left != nullptr &&
      !equal_bytes(features_of(*factors.left, X), features_of(*inner.factors().left, U)))
    return "left factor";
  return "";
}

/// A' times the inner map's slopes, and A' H A of its second derivatives, to rounding.
std::string derivatives_fault(const Pair& maps, const Matrix<double>& X, const Matrix<double>& A) {
  const FeatureMap &inner = *maps.inner, &outer = *maps.outer;
  const int64_t n = X.rows(), d = X.cols(), r = A.rows(), width = outer.row_length();
  if ((outer.derivatives() != nullptr) != (inner.derivatives() != nullptr)) return "derivatives";
  if (outer.derivatives() == nullptr) return "";
  const Matrix<double> U = times(X, A), V = fractions(n, d, 8, 0x1p-3, 3),
                       G = random_matrix(n, width, 4);
  if (!equal_bytes(pushed(outer, X, V), pushed(inner, U, times(V, A)))) return "push_forward";
  const auto back = pulled(inner, U, G), slopes = differentiated(inner, {Kind::gradient}, U);
  const auto expected = filled(n, d, [&](int64_t i, int64_t k) {
    double sum = 0;
    for (int64_t j = 0; j < r; ++j) sum += back(i, j) * A(j, k);
    return sum;
  });
  if (difference(pulled(outer, X, G), expected) > 1e-12 * largest(back.view())) return "pull_back";
  const auto gradient = filled(n, d * width, [&](int64_t i, int64_t at) {
    double sum = 0;
    for (int64_t j = 0; j < r; ++j) sum += slopes(i, j * width + at % width) * A(j, at / width);
    return sum;
  });
  if (difference(differentiated(outer, {Kind::gradient}, X), gradient) >
      1e-12 * largest(slopes.view()))
    return "gradient";
  const int64_t most = outer.derivatives()->most_order();
  if (most != std::min<int64_t>(2, inner.derivatives()->most_order())) return "order";
  if (most < 2) return "";
  Derivative all{Kind::partials};
  for (int64_t j = 0; j < r; ++j)
    for (int64_t l = 0; l < r; ++l) all.partials.push_back(kernel::sum_of({{j, 1}}, {{l, 1}}));
  const auto hessian = differentiated(inner, all, U);
  const auto along = [&](int64_t i, int64_t j, int64_t k, int64_t l) {
    double sum = 0;
    for (int64_t a = 0; a < r; ++a)
      for (int64_t b = 0; b < r; ++b)
        sum += A(a, k) * A(b, l) * hessian(i, (a * r + b) * width + j);
    return sum;
  };
  const auto laplacian = filled(n, width, [&](int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < d; ++k) sum += along(i, j, k, k);
    return sum;
  });
  const auto mixed = filled(n, width, [&](int64_t i, int64_t j) { return along(i, j, 0, d - 1); });
  const double rounding = 1e-11 * largest(hessian.view());
  if (difference(differentiated(outer, {Kind::laplacian}, X), laplacian) > rounding)
    return "Laplacian";
  const Derivative two{Kind::partials, {kernel::sum_of({{0, 1}}, {{d - 1, 1}})}};
  return difference(differentiated(outer, two, X), mixed) <= rounding ? "" : "mixed";
}

/// Back from its spec and its file.
std::string storage_fault(const FeatureMap& map, const Matrix<double>& X) {
  const auto same = [&](const FeatureMap& back) {
    return spec::to_spec(back) == spec::to_spec(map) &&
           equal_bytes(features_of(back, X), features_of(map, X));
  };
  if (!same(*spec::map_from_spec_and_numbers(spec::to_spec(map), map.numbers()))) return "spec";
  const auto load = [](const std::string& path) { return io::load_map(path); };
  return same(*through_file(map, load)) ? "" : "file";
}

std::string nan_fault(const FeatureMap& map, const Matrix<double>& rows) {
  const Matrix<double> X = converted<double>(rows);
  const Matrix<double> clean = features_of(map, X);
  X(1, X.cols() - 1) = std::nan("");
  const Matrix<double> Z = features_of(map, X);
  for (int64_t i = 0; i < X.rows(); ++i) {
    int64_t nans = 0, others = 0;
    for (int64_t j = 0; j < Z.cols(); ++j) {
      nans += std::isnan(Z(i, j));
      others += Z(i, j) != clean(i, j);
    }
    if (i == 1 ? nans == 0 : others != 0) return "a row with a NaN";
  }
  return "";
}

bool takes_all_rows(const kernel::Kernel& kernel) {
  return !kernel.traits().input_bound && !kernel.traits().needs_unit_rows;
}

void check(const Cell& cell, size_t number) {
  const auto D = cell.features(kInputs, 10);
  if (!D) return;
  // More inputs than rows of A, as many, fewer.
  const int64_t d = cycled({9, 6, 4}, number);
  const Matrix<double> A = fractions(kInputs, d, 4, 0x1p-3, number),
                       X = fractions(4, d, 16, 0x1p-4, number + 1);
  INFO(cell.label() << ", d = " << d);
  const Pair maps = make(cell, A, *D, 3);
  CHECK(features_fault<double>(maps, X, A) == "");
  CHECK(features_fault<float>(maps, X, A) == "");
  CHECK(numbers_fault(maps, X, A) == "");
  CHECK(derivatives_fault(maps, X, A) == "");
  if (number % 4 == 0) CHECK(storage_fault(*maps.outer, X) == "");
  CHECK(nan_fault(*maps.outer, X) == "");
}

bool is_taken(const Cell& cell) { return takes_all_rows(cell.kernel()) && cell.has_first_parts(); }

TEST_CASE("contract: a map in a metric is the map at A x") {
  // Every map, and every fourth choice of its fields: the slow run has all of them.
  std::set<std::string> maps;
  size_t number = 0;
  for (const Cell& cell : made_cells()) {
    if (!is_taken(cell)) continue;
    const bool is_new = maps.insert(cell.spec().text("map")).second;
    if (number++ % 4 == 0 || is_new) check(cell, number / 4);
  }
  CHECK(maps.size() >= 18);
}

TEST_CASE("contract: a map in a metric is the map at A x, all choices", "[slow]") {
  size_t number = 0;
  for (const Cell& cell : made_cells())
    if (is_taken(cell)) check(cell, number++);
}

TEST_CASE("contract: kernels of some rows only are in no metric") {
  for (const KernelRow& row : kernel_rows()) {
    const Parameters of = spec::parse_object(row.spec);
    const bool taken = takes_all_rows(*kernel::make_kernel(of));
    const Parameters metric{{"kernel", "metric"},
                            {"matrix", NumberLists(6, {1, 0.5})},
                            {"of", std::make_shared<const Parameters>(of)}};
    INFO(row.spec);
    CHECK(outcome([&] { kernel::make_kernel(metric); }).status ==
          (taken ? MERCER_OK : MERCER_UNSUPPORTED));
  }
}

}  // namespace metric
