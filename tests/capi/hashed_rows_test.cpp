// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Searches of wide sparse rows: hashed, unless a projection is given; the model takes all inputs.
#include "support/catch.h"
#include "wrapper.h"

using namespace mercer;

namespace {

constexpr int64_t kInputs = 40000, kRows = 300, kListed = 20;

/// Class 1 lists even columns mostly, class 0 odd ones.
struct Words {
  std::vector<int64_t> offsets{0}, indices;
  std::vector<double> values;
  Matrix<double> Y{kRows, 1};
  Words() {
    uint64_t state = 12345;
    const auto next = [&] { return state = state * 6364136223846793005U + 1442695040888963407U; };
    for (int64_t i = 0; i < kRows; ++i) {
      Y(i, 0) = static_cast<double>(i % 2);
      std::vector<int64_t> columns;
      while (std::ssize(columns) < kListed) {
        // The first of them are shared by many rows.
        const auto draw = static_cast<int64_t>((next() >> 33) % 200);
        const bool stray = (next() >> 33) % 4 == 0;
        const int64_t column = 199 * (2 * (draw % 100) + (i % 2 == (stray ? 1 : 0) ? 0 : 1));
        if (std::find(columns.begin(), columns.end(), column) == columns.end())
          columns.push_back(column);
      }
      std::sort(columns.begin(), columns.end());
      for (const int64_t column : columns) {
        indices.push_back(column);
        values.push_back(1);
      }
      offsets.push_back(static_cast<int64_t>(indices.size()));
    }
  }
  Rows rows() const {
    return CsrView<double, int64_t>{kRows,          kInputs,        std::ssize(values),
                                    offsets.data(), indices.data(), values.data()};
  }
};

Model searched(const Words& words, const std::string& map) {
  return Model::fit(R"({"task":"classification","assess":false,"map":{)" + map + "}}",
                    {words.rows(), words.Y});
}

}  // namespace

TEST_CASE("a search hashes wide sparse rows, and its model takes them all", "[capi]") {
  const Words words;
  const Model model = searched(words, R"("features":128)");
  CHECK(model.inputs() == kInputs);
  CHECK(model.map().inputs() == 16384);
  CHECK(model.score(words.rows(), words.Y) > 0.9);
  const Matrix<double> scores = model.predict(words.rows());
  const std::vector<std::byte> bytes = model.to_bytes();
  const Matrix<double> again =
      Model::from_bytes({bytes.data(), std::ssize(bytes)}).predict(words.rows());
  Matrix<double> dense(4, kInputs);
  for (int64_t i = 0; i < 4; ++i) {
    std::fill_n(&dense(i, 0), kInputs, 0.0);
    for (int64_t p = words.offsets[static_cast<size_t>(i)];
         p < words.offsets[static_cast<size_t>(i) + 1]; ++p)
      dense(i, words.indices[static_cast<size_t>(p)]) = 1;
  }
  const Matrix<double> by_dense = model.predict(dense);
  for (int64_t i = 0; i < kRows; ++i) CHECK(again(i, 1) == scores(i, 1));
  for (int64_t i = 0; i < 4; ++i) CHECK(std::abs(by_dense(i, 1) - scores(i, 1)) < 1e-4);
  CHECK(test::status_of([&] { model.gradient(dense); }) == MERCER_UNSUPPORTED);
}

TEST_CASE("a projection that is given sees the inputs themselves", "[capi]") {
  const Words words;
  for (const char* const map : {R"("features":32,"projection":"dense")",
                                // A kernel of |x_j - y_j| has no distances to keep.
                                R"("features":32,"kernel":{"kernel":"laplacian"})"}) {
    INFO(map);
    CHECK(searched(words, map).map().inputs() == kInputs);
  }
}
