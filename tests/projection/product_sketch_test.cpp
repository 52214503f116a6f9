// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Product sketches against their definition with weights read from the documented streams, entry by
// entry; the definition against the reference numbers.
#include "multilinear_reference.h"
#include "projection/sketch_kind.h"
#include "random/distributions.h"
#include "support/catch.h"
#include "support/reference.h"

namespace product_sketch_test {
using namespace mercer;
using namespace mercer::projection;
using test::Complex, test::Reference, test::Vector;

struct LawCase {
  const SketchKind* kind;
  bool complex;
};
const LawCase kLaws[] = {{sketch_kind("rademacher"), false},
                         {sketch_kind("rademacher"), true},
                         {sketch_kind("gaussian"), false},
                         {sketch_kind("gaussian"), true}};

// Variate k of the documented stream, each read alone.
Complex weight(const SketchShape& shape, int64_t i, int64_t l, int64_t k) {
  const random::Stream stream(
      shape.seed, random::Tag::frequency,
      (static_cast<uint64_t>(shape.first_factor + i) << 32) + static_cast<uint64_t>(l));
  const auto at = static_cast<uint64_t>(k);
  double drawn[2] = {0, 0};
  const std::span one(drawn, 1), two(drawn, 2);
  if (shape.kind == sketch_kind("rademacher")) {
    shape.complex ? random::fill_complex_rademacher(stream, at, two)
                  : random::fill_rademacher(stream, at, one);
  } else {
    shape.complex ? random::fill_complex_normal(stream, at, two)
                  : random::fill_normal(stream, at, one);
  }
  return {drawn[0], drawn[1]};
}

test::WeightsOf weights_of(const SketchShape& shape) {
  return [shape](int64_t i, int64_t l) {
    const FactorShape& factor = shape.factors[i];
    Vector w;
    for (int64_t k = 0; k < factor.dimension(); ++k) w.push_back(weight(shape, i, l, k));
    return w;
  };
}

template <class T>
void check(const SketchShape& shape, int64_t n, bool complex_rows, bool shared,
           const std::vector<int64_t>& cuts) {
  const auto tiles = test::make_tiles<T>(shape, n, complex_rows, shared);
  CAPTURE(shape.kind->name, shape.complex, shape.factors.size(), shape.columns, complex_rows,
          shared, sizeof(T));
  CHECK(test::multilinear_fault(shape, tiles, weights_of(shape), cuts) == "");
}

void check_both(const SketchShape& shape, int64_t n, bool complex_rows, bool shared,
                const std::vector<int64_t>& cuts) {
  check<float>(shape, n, complex_rows, shared, cuts);
  check<double>(shape, n, complex_rows, shared, cuts);
}

// Numbers given as an array, or as {re, im} of arrays.
Complex entry(const Reference& numbers, const std::vector<size_t>& place) {
  if (numbers.is_object())
    return {entry(numbers["re"], place).real(), entry(numbers["im"], place).real()};
  const Reference* at = &numbers;
  for (const size_t k : place) at = &(*at)[k];
  return at->get<double>();
}

TEST_CASE("product sketch: the definition gives the reference numbers") {
  int64_t compared = 0;
  for (const Reference& one : test::oracle("transforms")["product_sketch"]) {
    const auto x = one["x"].get<std::vector<double>>();
    const bool complex = one["W"].is_object();
    const Reference& W = complex ? one["W"]["re"] : one["W"];
    const size_t p = W.size(), D = W[0][0].size();
    const Vector u(x.begin(), x.end());
    for (size_t l = 0; l < D; ++l) {
      std::vector<Vector> w(p);
      for (size_t i = 0; i < p; ++i) {
        for (size_t k = 0; k < x.size(); ++k) w[i].push_back(entry(one["W"], {i, k, l}));
      }
      const test::Column column = test::product_column(std::vector<Vector>(p, u), w,
                                                       1 / std::sqrt(static_cast<long double>(D)));
      CHECK(std::abs(column.value - entry(one["output"], {l})) <= 1e-12L * column.magnitude);
      ++compared;
    }
  }
  CHECK(compared == 21);
}

TEST_CASE("product sketch: weights of the documented streams, every law, degrees 1 to 6") {
  for (const LawCase& law : kLaws) {
    for (size_t p = 1; p <= 6; ++p) {
      SketchShape shape{law.kind, law.complex, std::vector<FactorShape>(p, {7, 0.8, 0.6}), 41, 5};
      check_both(shape, 5, false, true, {0, 1, 16, 33, 41});
      shape.first_factor = 3;
      shape.scale = 1.7;
      for (FactorShape& factor : shape.factors) factor.constant = 0;
      check_both(shape, 5, false, true, {0, 32, 41});
    }
  }
}

TEST_CASE("product sketch: factors of their own lengths, scales, constants and rows") {
  const std::vector<FactorShape> factors = {{9, 1.5, 0}, {0, 1, 1}, {4, 0.3, -2}, {1, 1, 0.5}};
  for (const LawCase& law : kLaws) {
    check_both({law.kind, law.complex, factors, 70, 11}, 6, false, false, {0, 7, 64, 70});
    if (!law.complex) continue;
    check_both({law.kind, law.complex, factors, 70, 11}, 6, true, false, {0, 7, 64, 70});
    check_both({law.kind, law.complex, {{5}, {5}}, 33, 2}, 6, true, true, {0, 16, 33});
  }
}

TEST_CASE("product sketch: a factor without inputs is its constant times a weight") {
  for (const LawCase& law : kLaws)
    check_both({law.kind, law.complex, {{0, 1, 1}}, 40, 3}, 3, false, true, {0, 17, 40});
}

TEST_CASE("product sketch: several groups of panels, whole tiles of rows") {
  for (const LawCase& law : kLaws) {
    check_both({law.kind, law.complex, {{3, 1, 0.5}, {3, 1, 0.5}}, 1100, 4}, 2, false, true,
               {0, 250, 511, 513, 1024, 1100});
    check_both({law.kind, law.complex, {{3, 1, 0.5}, {3, 1, 0.5}}, 5, 4}, 96, false, true,
               {0, 2, 5});
  }
}

TEST_CASE("product sketch: more columns keep the first weights") {
  for (const LawCase& law : kLaws) {
    SketchShape shape{law.kind, law.complex, {{6}, {6}}, 20, 9};
    const auto tiles = test::make_tiles<double>(shape, 3, false, true);
    const auto rows = tiles.rows(0, 3);
    const auto few = test::evaluate<double>(*make_multilinear(shape), rows, 3, {0, 20});
    shape.columns = 80;  // twice the square root, an exact quotient
    const auto many = test::evaluate<double>(*make_multilinear(shape), rows, 3, {0, 20});
    int64_t wrong = 0;
    for (int64_t at = 0; at < 3 * 20; ++at) {
      wrong += few.re.data()[at] != 2 * many.re.data()[at];
      if (law.complex) wrong += few.im.data()[at] != 2 * many.im.data()[at];
    }
    CHECK(wrong == 0);
  }
}

}  // namespace product_sketch_test
