// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of rows that callbacks hand over: the same model as from memory, and every refusal.
#include "fixture.h"

namespace source_test {
using namespace mercer::test;

constexpr int64_t kRows = 90, kInputs = 3;

/// Rows in memory, 17 at a time.
struct Blocks {
  std::vector<double> X = numbers(kRows, kInputs), Y = numbers(kRows, 2);
  int64_t at = 0;
  int32_t rewind_answer = 0, next_answer = 0;
  int64_t columns = kInputs;                // what a block says
  int32_t third_index = MERCER_INDEX_NONE;  // what the third block says
  bool sparse_targets = false;
  bool without_inputs = false;            // the third block
  std::vector<int32_t> offsets, indices;  // of a block of these, which list every number

  mercer_row_source source() {
    mercer_row_source made = {};
    made.struct_size = sizeof made;
    made.d = kInputs;
    made.m = 2;
    made.user = this;
    made.rewind = [](void* user) {
      auto& blocks = *static_cast<Blocks*>(user);
      blocks.at = 0;
      return blocks.rewind_answer;
    };
    made.next = [](void* user, mercer_rows* X, mercer_rows* Y) {
      auto& blocks = *static_cast<Blocks*>(user);
      const int64_t count = std::min<int64_t>(17, kRows - blocks.at);
      *X = mercer_rows_f64(count, blocks.columns, blocks.X.data() + blocks.at * kInputs);
      if (blocks.at == 34) X->index = blocks.third_index;
      *Y = mercer_rows_f64(count, 2, blocks.Y.data() + blocks.at * 2);
      if (blocks.at == 34 && blocks.without_inputs) X->n = 0;
      if (blocks.sparse_targets) *Y = blocks.as_sparse(*Y);
      blocks.at += count;
      return blocks.next_answer;
    };
    return made;
  }

 private:
  mercer_rows as_sparse(const mercer_rows& dense) {
    offsets.assign(1, 0);
    indices.clear();
    for (int64_t i = 0; i < dense.n; ++i) {
      indices.insert(indices.end(), {0, 1});
      offsets.push_back(static_cast<int32_t>(indices.size()));
    }
    return mercer_rows_csr(MERCER_NUMBER_F64, MERCER_INDEX_I32, dense.n, 2, std::ssize(indices),
                           offsets.data(), indices.data(), dense.values);
  }
};

constexpr double kLeastLambda = 1e-4;
std::string spec_by(const std::string& by) {
  return R"({"precision":"f64","select":{"by":")" + by + R"(","smallest":1e-4}})";
}

/// How far predictions of the same rows, summed in another order, may be apart: sums of n terms
/// differ by n 2^-52, the inverse of Z'Z/n + lambda I is at most 1/lambda, weights at most |y|/(2
/// sqrt lambda), rows of Z have norm 1; both Z'Z and Z'Y, and as much for what rounds the inputs.
double rounding(const std::vector<double>& Y) {
  double most = 0;
  for (const double y : Y) most = std::max(most, std::abs(y));
  return 4 * kRows * 0x1p-52 * most / (kLeastLambda * std::sqrt(kLeastLambda));
}

struct Fitted {
  mercer_status status;
  ModelHandle model;
};
Fitted fit(const mercer_row_source& source, const std::string& spec = spec_by("gcv")) {
  const auto map = fourier(kInputs, 32);
  mercer_model* model = reinterpret_cast<mercer_model*>(8);
  const mercer_status status =
      mercer_model_fit(spec.c_str(), data_of(source, map.get()), nullptr, &model);
  return {status, ModelHandle(model)};
}

TEST_CASE("a source fits as its rows in memory do") {
  const std::string by = GENERATE("gcv", "folds");
  Blocks blocks;
  blocks.sparse_targets = GENERATE(false, true);
  const mercer_row_source source = blocks.source();
  const Fitted streamed = fit(source, spec_by(by));
  REQUIRE(streamed.status == MERCER_OK);
  const mercer_rows X = mercer_rows_f64(kRows, kInputs, blocks.X.data());
  const mercer_rows Y = mercer_rows_f64(kRows, 2, blocks.Y.data());
  const auto map = fourier(kInputs, 32);
  const auto whole = fitted(spec_by(by), data_of(X, Y, map.get()));
  REQUIRE(whole != nullptr);
  const std::vector<double> a = values_of(streamed.model.get(), X), b = values_of(whole.get(), X);
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  CHECK(worst <= rounding(blocks.Y));
}

TEST_CASE("sources are refused with a reason") {
  Blocks blocks;
  const auto refused = [&](mercer_status status, const mercer_row_source& source, auto... parts) {
    const Fitted fitted = fit(source);
    return fault(fitted.status, status, "mercer_model_fit", parts...) +
           (fitted.model == nullptr ? "" : "a model");
  };
  const mercer_row_source good = blocks.source();
  mercer_row_source bad = good;
  bad.struct_size = 40;
  CHECK(refused(MERCER_INVALID_ARGUMENT, bad, "struct_size") == "");
  bad = good;
  bad.next = nullptr;
  CHECK(refused(MERCER_INVALID_ARGUMENT, bad, "next = NULL") == "");
  bad = good;
  bad.d = 4;
  CHECK(refused(MERCER_DIMENSION_MISMATCH, bad, "source->d = 4", "3") == "");
  bad = good;
  bad.m = 0;
  CHECK(refused(MERCER_INVALID_ARGUMENT, bad, "source->m = 0") == "");
  bad = good;
  bad.weighted = 2;
  CHECK(refused(MERCER_INVALID_ARGUMENT, bad, "source->weighted = 2") == "");
  bad.weighted = 1;  // the blocks bring no weights
  CHECK(refused(MERCER_DIMENSION_MISMATCH, bad, "source->m and one of weights") == "");
  blocks.rewind_answer = 5;
  CHECK(refused(MERCER_IO, good, "rewind returned 5") == "");
  blocks.rewind_answer = 0;
  blocks.next_answer = 7;
  CHECK(refused(MERCER_IO, good, "next returned 7") == "");
  blocks.next_answer = 0;
  blocks.columns = 2;
  CHECK(refused(MERCER_DIMENSION_MISMATCH, good, "X, of source->next.d = 2") == "");
  blocks.columns = kInputs;
  blocks.third_index = 9;
  CHECK(refused(MERCER_INVALID_ARGUMENT, good, "X, of source->next.index = 9", "after 34 rows") ==
        "");
  blocks.third_index = MERCER_INDEX_NONE;
  blocks.without_inputs = true;
  CHECK(refused(MERCER_INVALID_ARGUMENT, good, "Y, of source->next.n = 17, expected 0",
                "after 34 rows") == "");
  blocks.without_inputs = false;
  blocks.Y[40] = INFINITY;
  CHECK(refused(MERCER_INVALID_ARGUMENT, good, "Y: row 3, column 0", "after 17 rows") == "");
  blocks.Y[40] = 0;
  const auto says = [&](const char* spec, mercer_status status, const char* part) {
    return fault(fit(good, spec).status, status, part);
  };
  CHECK(says(R"({"task":"classification","classes":2})", MERCER_DIMENSION_MISMATCH, "Y.d = 2") ==
        "");
  CHECK(says(R"({"search":true})", MERCER_UNSUPPORTED, "search = true") == "");
  CHECK(says(R"({"map":"fourier"})", MERCER_UNSUPPORTED, "key \"map\"") == "");
}

}  // namespace source_test
