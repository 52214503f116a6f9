// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSRHT with given ingredients against the reference numbers; whole maps against their
// definition with signs and indices read from the documented streams.
#include "multilinear_reference.h"
#include "projection/sketch_kind.h"
#include "projection/tensor_srht.h"
#include "random/distributions.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "transform/elements.h"

namespace tensor_srht_test {
using namespace mercer;
using namespace mercer::projection;
using test::Complex, test::Reference, test::Vector;

SrhtRows rows_of(const SketchKind& kind) {
  return &kind == sketch_kind("upsampled") ? SrhtRows::upsampled
         : &kind == sketch_kind("stacked") ? SrhtRows::stacked
                                           : SrhtRows::tuple;
}

const SketchKind* const kForms[] = {sketch_kind("upsampled"), sketch_kind("stacked"),
                                    sketch_kind("tuple")};

// Of one factor and block: signs, real parts first, and indices.
struct Ingredients {
  std::vector<double> signs;
  std::vector<int32_t> index;
};

Ingredients given(const Reference& entry, size_t block, size_t i) {
  const bool stacked = entry["form"] == "stacked";
  const auto pick = [&](const Reference& numbers) -> const Reference& {
    return stacked ? numbers[block][i] : numbers[i];
  };
  Ingredients out;
  out.index = pick(entry[stacked ? "permutations" : "index"]).get<std::vector<int32_t>>();
  const Reference& signs = entry["signs"];
  if (!signs.is_object()) {
    out.signs = pick(signs).get<std::vector<double>>();
    return out;
  }
  out.signs = pick(signs["re"]).get<std::vector<double>>();
  const auto imaginary = pick(signs["im"]).get<std::vector<double>>();
  out.signs.insert(out.signs.end(), imaginary.begin(), imaginary.end());
  return out;
}

// Columns [first, first + n) of an entry, which share their ingredients.
void add_columns(const Reference& entry, size_t block, size_t first, size_t n,
                 std::vector<double>& re, std::vector<double>& im) {
  const bool complex = entry["complex"];
  const int64_t d = entry["d"];
  const size_t p = entry["p"], D = entry["D"];
  auto x = entry["x"].get<std::vector<double>>();
  x.resize(d, 0.0);
  std::vector<double> table(2 * d);
  const auto count = static_cast<int64_t>(n);
  const double share = 1 / std::sqrt(static_cast<double>(D));
  for (size_t i = 0; i < p; ++i) {
    const Ingredients one = given(entry, block, i);
    const double* const table_im = table.data() + d;
    srht_table(SrhtFactor<double>{one.signs.data(), d, complex}, x.data(),
               static_cast<const double*>(nullptr), table.data());
    const int32_t* const index = one.index.data();
    double *const a = re.data() + first, *const b = im.data() + first;
    if (i == 0) {
      transform::scale_gathered(table.data(), index, share, count, a);
      if (complex) transform::scale_gathered(table_im, index, share, count, b);
    } else if (complex) {
      transform::multiply_gathered(table.data(), table_im, index, count, a, b);
    } else {
      transform::multiply_gathered(table.data(), index, count, a);
    }
  }
}

// H(l, k) times the sign of coordinate k, from the streams of the sketch.
class Definition {
 public:
  explicit Definition(const SketchShape& shape)
      : shape_(shape),
        d_(sketch_dimension(shape.factors)),
        law_{rows_of(*shape.kind),
             static_cast<int64_t>(shape.factors.size()),
             d_,
             shape.columns,
             shape.seed,
             shape.first_factor} {
    for (size_t i = 0; i < shape.factors.size(); ++i) signs_.push_back(signs(i));
    const int64_t block = index_block(law_);
    Context context;
    for (int64_t b = 0; b * block < shape.columns; ++b) {
      index_.emplace_back(static_cast<size_t>(law_.factors * block));
      draw_index(law_, b, context, index_.back());
    }
  }

  Vector operator()(int64_t i, int64_t l) const {
    const int64_t block = index_block(law_);
    const int64_t row = index_[l / block][i * block + l % block];
    Vector w;
    for (int64_t k = 0; k < shape_.factors[i].dimension(); ++k) {
      const int odd = std::popcount(static_cast<uint64_t>(row & k)) % 2;
      w.push_back(signs_[i][k] * static_cast<long double>(1 - 2 * odd));
    }
    return w;
  }

 private:
  Vector signs(size_t i) const {
    const random::Stream stream(shape_.seed, random::Tag::sign,
                                (static_cast<uint64_t>(shape_.first_factor) + i) << 32);
    Vector out;
    for (int64_t k = 0; k < d_; ++k) {
      double drawn[2] = {0, 0};
      const auto at = static_cast<uint64_t>(k);
      shape_.complex ? random::fill_complex_rademacher(stream, at, std::span(drawn, 2))
                     : random::fill_rademacher(stream, at, std::span(drawn, 1));
      out.emplace_back(drawn[0], drawn[1]);
    }
    return out;
  }

  SketchShape shape_;
  int64_t d_;
  IndexLaw law_;
  std::vector<Vector> signs_;
  std::vector<std::vector<int32_t>> index_;
};

void check(const SketchShape& shape, int64_t n, bool complex_rows, bool shared,
           const std::vector<int64_t>& cuts) {
  CAPTURE(shape.kind->name, shape.complex, shape.factors.size(), shape.columns, complex_rows,
          shared);
  const Definition weights(shape);
  CHECK(test::multilinear_fault(shape, test::make_tiles<float>(shape, n, complex_rows, shared),
                                weights, cuts) == "");
  CHECK(test::multilinear_fault(shape, test::make_tiles<double>(shape, n, complex_rows, shared),
                                weights, cuts) == "");
}

TEST_CASE("TensorSRHT: reference numbers of every form") {
  int64_t compared = 0, complex_to_real = 0;
  for (const Reference& entry : test::oracle("transforms")["tensorsrht"]) {
    const bool complex = entry["complex"], stacked = entry["form"] == "stacked";
    const size_t d = entry["d"], D = entry["D"];
    std::vector<double> re(D), im(D, 0.0);
    const size_t width = stacked ? d : D;
    for (size_t block = 0; block * width < D; ++block)
      add_columns(entry, block, block * width, std::min(width, D - block * width), re, im);
    const Reference& output = entry["output"];
    double worst = 0;
    for (size_t l = 0; l < D; ++l) {
      test::keep_worst(worst,
                       std::fabs(re[l] - (complex ? output["re"] : output)[l].get<double>()));
      if (complex) test::keep_worst(worst, std::fabs(im[l] - output["im"][l].get<double>()));
      ++compared;
      if (!entry.contains("ctr_output")) continue;
      // [Re | Im].
      test::keep_worst(worst, std::fabs(re[l] - entry["ctr_output"][l].get<double>()));
      test::keep_worst(worst, std::fabs(im[l] - entry["ctr_output"][D + l].get<double>()));
      ++complex_to_real;
    }
    CAPTURE(entry["form"].get<std::string>(), complex, d, D);
    CHECK(worst <= 1e-12);
  }
  CHECK(compared == 6 * (3 + 11 + 8 + 20));
  CHECK(complex_to_real == 3 + 11 + 8 + 20);
}

TEST_CASE("TensorSRHT: signs and indices of the documented streams, degrees 1 to 6") {
  for (const SketchKind* form : kForms) {
    for (const bool complex : {false, true}) {
      for (size_t p = 1; p <= 6; ++p) {
        SketchShape shape{form, complex, std::vector<FactorShape>(p, {7, 0.8, 0.6}), 29, 5};
        std::vector<int64_t> cuts{0, 1, 8, 19, 29};
        if (form == sketch_kind("tuple") && p == 1) {  // no more than 8 tuples
          shape.columns = 8;
          cuts.resize(3);
        }
        check(shape, 5, false, true, cuts);
        shape.first_factor = 3;
        shape.scale = 1.7;
        for (FactorShape& factor : shape.factors) factor.constant = 0;
        check(shape, 5, false, true, {0, shape.columns / 3, shape.columns});
      }
    }
  }
}

TEST_CASE("TensorSRHT: factors of their own lengths, scales, constants and rows") {
  const std::vector<FactorShape> factors = {{9, 1.5, 0}, {0, 1, 1}, {4, 0.3, -2}, {1, 1, 0.5}};
  for (const SketchKind* form : kForms) {
    check({form, false, factors, 70, 11}, 6, false, false, {0, 15, 17, 33, 70});
    check({form, true, factors, 70, 11}, 6, false, false, {0, 15, 17, 33, 70});
    check({form, true, factors, 70, 11}, 6, true, false, {0, 15, 17, 33, 70});
    check({form, true, {{5}, {5}}, 33, 2}, 6, true, true, {0, 16, 33});
  }
}

TEST_CASE("TensorSRHT: factors read the same rows each with its own scale and constant") {
  for (const SketchKind* form : kForms) {
    for (const bool complex : {false, true}) {
      check({form, complex, {{5, 1, 0}, {5, 2, 0}, {5, 2, 0.5}, {5, 2, 0.7}}, 19, 2}, 3, complex,
            true, {0, 19});
      check({form, complex, {{0, 1, 1}, {0, 1, 2}}, 1, 2}, 1, false, true, {0, 1});
    }
  }
}

TEST_CASE("TensorSRHT: one dimension, and one row of many factors") {
  for (const bool complex : {false, true}) {
    check({sketch_kind("stacked"), complex, {{1}, {1}}, 5, 2}, 3, false, true, {0, 2, 5});
    check({sketch_kind("upsampled"), complex, {{1}, {1}}, 5, 2}, 3, false, true, {0, 2, 5});
    check({sketch_kind("tuple"), complex, {{1}, {1}}, 1, 2}, 3, false, true, {0, 1});
    // 8^22 tuples are not enumerated.
    check({sketch_kind("tuple"), complex, std::vector<FactorShape>(22, {7, 1, 0}), 40, 2}, 1, false,
          true, {0, 40});
  }
}

TEST_CASE("TensorSRHT: too many inputs, and more columns than tuples") {
  const auto refused = [](const SketchShape& shape, const char* part, const char* more) {
    return test::refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { make_multilinear(shape); }, part, more);
  };
  CHECK(refused({sketch_kind("upsampled"), false, {{(int64_t{1} << 28) + 1}}, 4, 0},
                "inputs = 268435457", "at most 268435456") == "");
  CHECK(refused({sketch_kind("upsampled"), false, {{int64_t{1} << 28, 1, 1}}, 4, 0},
                "inputs = 268435457", "at most 268435456") == "");
  CHECK(refused({sketch_kind("tuple"), false, {{3}, {3}}, 17, 0}, "17 columns", "4^2") == "");
  CHECK(refused({sketch_kind("tuple"), true, {{1}, {1}}, 2, 0}, "2 columns", "1^2") == "");
  CHECK_NOTHROW(make_multilinear({sketch_kind("tuple"), false, {{3}, {3}}, 16, 0}));
}

TEST_CASE("TensorSRHT: what drawing indices takes for itself counts against a memory cap") {
  const auto refused = [](const SketchShape& shape, int64_t cap) {
    const auto sketch = make_multilinear(shape);
    Context context;
    context.memory_cap = cap;
    return test::refusal_fault(
        MERCER_OUT_OF_MEMORY,
        [&] {
          sketch->prepare({0, shape.columns}, 0.0f, context);
        },
        "the indices");
  };
  // 64 signs of 4 bytes, 100,000 indices of 4, and 1,563 copies of 64 of one.
  const SketchShape many{sketch_kind("upsampled"), false, {{64}}, 100000, 0};
  CHECK(refused(many, 256 + 400000 + 100031) == "");
  CHECK(refused(many, 256 + 400000 + 100032) != "");
  // 4,000 pairs in 32 kB and the set that tells them apart.
  const SketchShape pairs{sketch_kind("tuple"), false, {{64}, {64}}, 4000, 0};
  CHECK(refused(pairs, 100000) == "");
  CHECK(refused(pairs, 300000) != "");
}

TEST_CASE("TensorSRHT: drawing many indices tells how far it is, and stops") {
  const auto at = [](void* user, int64_t done, int64_t total) -> int32_t {
    auto& parts = *static_cast<std::vector<int64_t>*>(user);
    parts.push_back(100 * done / total);
    return parts.back() > 20 ? 1 : 0;
  };
  struct Case {
    const char* kind;
    size_t factors;  // of 64 inputs; tuples of 11 are drawn one index after the other
    int64_t columns;
  };
  for (const auto& [kind, factors, columns] :
       {Case{"upsampled", 3, 1000000}, Case{"tuple", 3, 60000}, Case{"tuple", 11, 60000}}) {
    const auto sketch = make_multilinear(
        {sketch_kind(kind), false, std::vector<FactorShape>(factors, {64}), columns, 0});
    std::vector<int64_t> told;
    Context context;
    context.progress = at;
    context.user = &told;
    Stage whole(context, 1000);
    whole.share(1000);
    CAPTURE(kind, factors);
    const auto prepare = [&] { sketch->prepare({0, columns}, 0.0f, context); };
    CHECK_REFUSED(MERCER_CANCELLED, prepare());
    REQUIRE(!told.empty());
    CHECK(told.back() > 20);
    CHECK(told.back() < 40);
  }
}

}  // namespace tensor_srht_test
