// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSRHT with given ingredients against the reference numbers; whole maps against their
// definition with signs and indices read from the documented streams.
// Indices of a TensorSRHT: against the documented streams, counts, uniformity, distinct tuples by
// either route, independence of factors and blocks.
#include "projection/tensor_srht.h"

#include "multilinear_reference.h"
#include "projection/sketch_kind.h"
#include "random/distributions.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/statistic.h"
#include "transform/elements.h"

namespace tensor_srht_test {
using namespace mercer;
using namespace mercer::projection;
using test::Complex, test::Reference, test::Vector;
using Index = std::vector<int32_t>;

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

Index draw(const IndexLaw& law, int64_t block = 0) {
  Index index(static_cast<size_t>(law.factors * index_block(law)));
  Context context;
  draw_index(law, block, context, index);
  return index;
}

// The indices of one factor.
Index factor_of(const IndexLaw& law, const Index& index, int64_t i) {
  const int64_t n = index_block(law);
  return {index.begin() + i * n, index.begin() + (i + 1) * n};
}

std::vector<Index> tuples_of(const IndexLaw& law) {
  const Index index = draw(law);
  std::vector<Index> tuples(law.columns);
  for (int64_t i = 0; i < law.factors; ++i) {
    for (int64_t l = 0; l < law.columns; ++l) tuples[l].push_back(index[i * law.columns + l]);
  }
  return tuples;
}

bool in_range(const Index& index, int64_t d) {
  return std::all_of(index.begin(), index.end(), [&](int32_t k) { return k >= 0 && k < d; });
}

std::vector<int64_t> counts(const Index& index, int64_t d) {
  std::vector<int64_t> out(d);
  for (const int32_t k : index) ++out[k];
  return out;
}

random::Cursor cursor(const IndexLaw& law, int64_t i, int64_t block) {
  return random::Cursor(random::Stream(
      law.seed, random::Tag::permutation,
      (static_cast<uint64_t>(law.first_factor + i) << 32) + static_cast<uint64_t>(block)));
}

// Chi-square of cells(seed) over seeds, each a cell below `count`.
template <class Cell>
void check_uniform(int64_t count, int64_t seeds, const Cell& cell) {
  std::vector<int64_t> cells(count);
  for (int64_t seed = 0; seed < seeds; ++seed) ++cells[cell(static_cast<uint64_t>(seed))];
  // 40 such checks in this file at most.
  CHECK(test::chi_square_uniform(cells) <=
        test::chi_square_threshold(static_cast<double>(count - 1), test::kFailure, 40));
}

TEST_CASE("TensorSRHT index: upsampled is a shuffle of ceil(m/d) copies, cut") {
  for (const int64_t d : {1, 2, 8, 64}) {
    for (const int64_t m : {int64_t{1}, d, d + 1, 3 * d - 1, 3 * d}) {
      const IndexLaw law{SrhtRows::upsampled, 3, d, m, 7, 2};
      const int64_t copies = (m + d - 1) / d;
      IndexLaw whole = law;
      whole.columns = copies * d;
      const Index index = draw(law), uncut = draw(whole);
      CAPTURE(d, m);
      REQUIRE(index_block(law) == m);
      REQUIRE(in_range(index, d));
      for (int64_t i = 0; i < 3; ++i) {
        const Index one = factor_of(law, index, i), all = factor_of(whole, uncut, i);
        CHECK(counts(all, d) == std::vector<int64_t>(d, copies));
        CHECK(std::equal(one.begin(), one.end(), all.begin()));
        // The documented stream.
        std::vector<int64_t> order(copies * d);
        random::Cursor from = cursor(law, i, 0);
        random::permutation(from, order);
        CHECK(std::equal(all.begin(), all.end(), order.begin(),
                         [&](int32_t a, int64_t b) { return a == b % d; }));
      }
    }
  }
}

TEST_CASE("TensorSRHT index: every block of stacked is a permutation of its own") {
  for (const int64_t d : {1, 2, 8, 64}) {
    // 64 blocks of 64, in groups of 16; fewer columns than a group are one.
    const IndexLaw law{SrhtRows::stacked, 3, d, 63 * d + d / 2 + 1, 7, 2};
    const int64_t together = std::min<int64_t>(64, 1024 / d);
    REQUIRE(index_block(law) == together * d);
    std::set<Index> seen;
    for (int64_t block = 0; block < 64; ++block) {
      const Index index = draw(law, block / together);
      for (int64_t i = 0; i < 3; ++i) {
        const Index group = factor_of(law, index, i);
        const auto first = group.begin() + block % together * d;
        const Index one(first, first + d);
        CHECK(counts(one, d) == std::vector<int64_t>(d, 1));
        std::vector<int64_t> order(d);
        random::Cursor from = cursor(law, i, block);
        random::permutation(from, order);
        CHECK(std::equal(one.begin(), one.end(), order.begin()));
        seen.insert(one);
      }
    }
    if (d == 64) CHECK(seen.size() == 3 * 64);
  }
}

TEST_CASE("TensorSRHT index: tuples are distinct, and all are taken if there are no more") {
  constexpr int64_t kSizes[][3] = {{8, 1, 8}, {2, 10, 1024}, {4, 5, 1024}, {16, 3, 4096},
                                   {1, 7, 1}, {64, 2, 3000}, {2, 12, 4000}};
  for (const auto& [d, p, m] : kSizes) {
    const IndexLaw law{SrhtRows::tuple, p, d, m, 3, 1};
    const std::vector<Index> tuples = tuples_of(law);
    CAPTURE(d, p, m);
    for (const Index& tuple : tuples) REQUIRE(in_range(tuple, d));
    CHECK(std::set<Index>(tuples.begin(), tuples.end()).size() == static_cast<size_t>(m));
    // Digits of a sample without replacement of the documented stream.
    std::vector<int64_t> numbers(m);
    random::Cursor from = cursor(law, 0, 0);
    random::sample_without_replacement(from, static_cast<int64_t>(std::pow(d, p)), numbers);
    int64_t wrong = 0;
    for (size_t l = 0; l < tuples.size(); ++l) {
      for (const int32_t digit : tuples[l]) {
        wrong += digit != numbers[l] % d;
        numbers[l] /= d;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("TensorSRHT index: tuples by number up to 2^62, one index after another above") {
  // (d, p) with d^p just at and just above the change of route; 1024 factors are the most.
  for (const auto& [d, p] : {std::pair<int64_t, int64_t>{2, 62},
                             {4, 31},
                             {int64_t{1} << 28, 2},
                             {2, 63},
                             {2, 64},
                             {4, 32},
                             {int64_t{1} << 21, 3},
                             {8, 1024}}) {
    const IndexLaw law{SrhtRows::tuple, p, d, 600, 3, 1};
    const std::vector<Index> tuples = tuples_of(law);
    CAPTURE(d, p);
    for (const Index& tuple : tuples) REQUIRE(in_range(tuple, d));
    CHECK(std::set<Index>(tuples.begin(), tuples.end()).size() == 600);
    CHECK(tuples == tuples_of(law));
    // Every factor is spread over the whole range: half of the indices in each half of it.
    double worst = 0;
    for (size_t i = 0; i < static_cast<size_t>(p); ++i) {
      double score = 0;
      for (const Index& tuple : tuples) score += 2 * tuple[i] >= d ? 1 : -1;
      worst = std::max(worst, std::fabs(score) / std::sqrt(600.0));
    }
    CHECK(worst <= test::z_threshold(test::kFailure, static_cast<double>(8 * p)));
  }
}

TEST_CASE("TensorSRHT index: uniform at every position, factors and blocks independent") {
  constexpr int64_t kSeeds = 20000;
  for (const SrhtRows form : {SrhtRows::upsampled, SrhtRows::stacked}) {
    const auto law = [&](uint64_t seed) { return IndexLaw{form, 2, 4, 6, seed, 0}; };
    const auto n = static_cast<size_t>(index_block(law(0)));
    for (const size_t l : {size_t{0}, n - 1}) {
      // Both factors' indices at once.
      check_uniform(16, kSeeds, [&](uint64_t seed) {
        const Index index = draw(law(seed));
        return index[l] * 4 + index[n + l];
      });
    }
  }
  const auto stacked = [](uint64_t seed) { return IndexLaw{SrhtRows::stacked, 1, 4, 8, seed, 0}; };
  check_uniform(16, kSeeds, [&](uint64_t seed) {
    const Index index = draw(stacked(seed));
    return index[0] * 4 + index[4];
  });
  // Ordered pairs of distinct columns: d (d - 1) for stacked.
  check_uniform(12, kSeeds, [&](uint64_t seed) {
    const Index index = draw(stacked(seed));
    return index[0] * 3 + index[3] - (index[3] > index[0] ? 1 : 0);
  });
}

TEST_CASE("TensorSRHT index: tuples are uniform, and so are pairs of them") {
  const auto law = [](uint64_t seed) { return IndexLaw{SrhtRows::tuple, 3, 2, 5, seed, 0}; };
  const auto number = [](const Index& tuple) { return tuple[0] + 2 * tuple[1] + 4 * tuple[2]; };
  for (const size_t l : {size_t{0}, size_t{4}})
    check_uniform(8, 20000, [&](uint64_t seed) { return number(tuples_of(law(seed))[l]); });
  check_uniform(56, 40000, [&](uint64_t seed) {
    const std::vector<Index> tuples = tuples_of(law(seed));
    const int a = number(tuples[1]), b = number(tuples[3]);
    return a * 7 + b - (b > a ? 1 : 0);
  });
  // Above 2^62: three of 64 binary factors.
  const auto wide = [](uint64_t seed) { return IndexLaw{SrhtRows::tuple, 64, 2, 3, seed, 0}; };
  check_uniform(8, 20000, [&](uint64_t seed) {
    const Index tuple = tuples_of(wide(seed))[2];
    return tuple[0] + 2 * tuple[31] + 4 * tuple[63];
  });
}

TEST_CASE("TensorSRHT index: a function of the seed and of the factor's number alone") {
  for (const SrhtRows form : {SrhtRows::upsampled, SrhtRows::stacked, SrhtRows::tuple}) {
    const IndexLaw law{form, 3, 16, 40, 5, 4};
    IndexLaw other = law;
    CHECK(draw(law) == draw(other));
    other.seed = 6;
    CHECK(draw(law) != draw(other));
    other = law;
    other.first_factor = 5;
    CHECK(draw(law) != draw(other));
    if (form == SrhtRows::tuple) continue;
    for (int64_t i = 0; i + 1 < 3; ++i)
      CHECK(factor_of(law, draw(law), i + 1) == factor_of(other, draw(other), i));
  }
}

TEST_CASE("TensorSRHT index: more columns than tuples are refused") {
  const auto fault = [](int64_t d, int64_t p, int64_t m) {
    return test::refusal_fault(
        MERCER_INVALID_ARGUMENT,
        [&] {
          check_index({SrhtRows::tuple, p, d, m, 0, 0});
        },
        std::to_string(m) + " columns", "d^p = " + std::to_string(d) + "^" + std::to_string(p));
  };
  CHECK(fault(4, 2, 17) == "");
  CHECK(fault(1, 1024, 2) == "");
  CHECK(fault(2, 31, (int64_t{1} << 31) + 1) == "");
  CHECK_NOTHROW(check_index({SrhtRows::tuple, 2, 4, 16, 0, 0}));
  CHECK_NOTHROW(check_index({SrhtRows::tuple, 62, 2, int64_t{1} << 62, 0, 0}));
  CHECK_NOTHROW(check_index({SrhtRows::tuple, 1024, int64_t{1} << 28, int64_t{1} << 62, 0, 0}));
  CHECK_NOTHROW(check_index({SrhtRows::stacked, 1, 4, 1000, 0, 0}));
  CHECK_NOTHROW(check_index({SrhtRows::upsampled, 1, 4, 1000, 0, 0}));
}

}  // namespace tensor_srht_test
