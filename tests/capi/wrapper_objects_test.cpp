// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer.hpp: objects as bytes, sums, sources of rows, what is measured: the numbers of the C API.
#include <stdexcept>

#include "fixture.h"
#include "wrapper.h"

using mercer::Kernel;
using mercer::Map;
using mercer::Matrix;
using mercer::MatrixView;
using mercer::Model;
using mercer::Statistics;
using mercer::test::numbers;
using mercer::test::status_of;

namespace {

constexpr int64_t n = 60, d = 2, D = 16;

const std::vector<double> X = numbers(n, d), Y = numbers(n, 1);
MatrixView<const double> x(int64_t first = 0, int64_t count = n) {
  return {X.data() + first * d, count, d};
}
MatrixView<const double> y(int64_t first = 0, int64_t count = n) {
  return {Y.data() + first, count, 1};
}
Map small_map() { return Map::fourier(Kernel::gaussian(1.0), d, D); }

/// 25 rows at a time; throws before the block `broken`.
class Blocks final : public mercer::RowSource {
 public:
  explicit Blocks(int64_t broken = -1) : broken_(broken) {}
  int64_t inputs() const override { return d; }
  int64_t targets() const override { return 1; }
  void rewind() override { next_ = 0; }
  std::optional<Block> next() override {
    if (next_ == broken_) throw std::runtime_error("broken");
    const int64_t first = 25 * next_++;
    if (first >= n) return std::nullopt;
    const int64_t count = std::min<int64_t>(25, n - first);
    return Block{x(first, count), y(first, count)};
  }

 private:
  int64_t next_ = 0, broken_;
};

TEST_CASE("objects of C++ go through bytes", "[capi]") {
  const Map map = small_map();
  const auto small = map.to_bytes();
  CHECK(Map::from_bytes(small).spec() == map.spec());
  const Model model = Model::fit("{}", mercer::Data(x(), y()).map(map));
  const auto bytes = model.to_bytes();
  const Model again = Model::from_bytes(bytes);
  CHECK(again.to_bytes() == bytes);
  CHECK(status_of([&] { Map::from_bytes(bytes); }) == MERCER_INVALID_ARGUMENT);
  CHECK(status_of([] { Model::from_bytes({}); }) == MERCER_INVALID_ARGUMENT);
  Statistics sums(d, 1);
  sums.add(x(), y());
  const auto summed = sums.to_bytes();
  CHECK(Statistics::from_bytes(summed).rows() == n);
}

TEST_CASE("sums of C++ come back", "[capi]") {
  Statistics from(d, 1), to(d, 1), wide(d, 2);
  from.add(x(), y());
  const mercer::Sums sums = from.sums();
  to.set(n, sums);
  CHECK(to.rows() == n);
  CHECK(to.sums().gram(1, 0) == sums.gram(1, 0));
  CHECK(to.sums().y2 == sums.y2);
  CHECK(status_of([&] { wide.set(n, sums); }) == MERCER_DIMENSION_MISMATCH);
  CHECK(status_of([&] { to.set(-1, sums); }) == MERCER_INVALID_ARGUMENT);
}

constexpr const char* kFixed = R"({"lambda":1e-3,"precision":"f64"})";

/// By a map of the caller's.
Model fitted(const Map& map, mercer::Data data) {
  return Model::fit(kFixed, std::move(data).map(map));
}

/// The largest distance of two predictions of the same rows.
double distance(const Matrix<double>& a, const Matrix<double>& b) {
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(a(i, 0) - b(i, 0)));
  return worst;
}

TEST_CASE("a source of C++ fits what rows in memory fit, and lets its exceptions out", "[capi]") {
  const Map map = small_map();
  Blocks blocks, broken(1);
  const Model streamed = fitted(map, mercer::Data(blocks));
  const Matrix<double> found = streamed.predict(x());
  const Matrix<double> expected = fitted(map, {x(), y()}).predict(x());
  CHECK(distance(found, expected) < 1e-9);  // the condition number is below 1e3
  std::string thrown;
  try {
    fitted(map, mercer::Data(broken));
  } catch (const std::runtime_error& error) {
    thrown = error.what();
  }
  CHECK(thrown == "broken");
}

/// All rows at once, of weights 1, 2, 3, 1, ...
struct WeightedBlock final : mercer::RowSource {
  Matrix<double> table = Matrix<double>(n, 2);
  std::vector<double> weights;
  bool read = false;
  WeightedBlock() {
    for (int64_t i = 0; i < n; ++i) {
      weights.push_back(static_cast<double>(i % 3 + 1));
      table(i, 0) = Y[static_cast<size_t>(i)];
      table(i, 1) = weights.back();
    }
  }
  int64_t inputs() const override { return d; }
  int64_t targets() const override { return 1; }
  bool weighted() const override { return true; }
  void rewind() override { read = false; }
  std::optional<Block> next() override {
    if (std::exchange(read, true)) return std::nullopt;
    return Block{x(), table};
  }
};

/// The rows of one process of one, whose sums are its own; or one that does not say what sums are.
struct SharedBlock final : mercer::RowSource {
  int64_t sums = 0;
  bool read = false, broken = false;
  int64_t inputs() const override { return d; }
  int64_t targets() const override { return 1; }
  bool shared() const override { return true; }
  void sum(mercer::Span<double> numbers) override {
    if (broken) mercer::RowSource::sum(numbers);
    sums += numbers.size() > 1 ? 1 : 0;
  }
  void rewind() override { read = false; }
  std::optional<Block> next() override {
    if (std::exchange(read, true)) return std::nullopt;
    return Block{x(), y()};
  }
};

TEST_CASE("a source of C++ is asked for sums where rows are shared", "[capi]") {
  const Map map = small_map();
  SharedBlock source;
  const Matrix<double> found = fitted(map, mercer::Data(source)).predict(x());
  CHECK(source.sums > 30);
  const Matrix<double> expected = fitted(map, {x(), y()}).predict(x());
  for (int64_t i = 0; i < n; ++i) CHECK(std::abs(found(i, 0) - expected(i, 0)) < 1e-6);
  source.broken = true;
  CHECK(status_of([&] { fitted(map, mercer::Data(source)); }) == MERCER_UNSUPPORTED);
}

TEST_CASE("maps of several outputs and their models of C++ go through bytes", "[capi]") {
  const auto map = mercer::Map::from_spec(
      R"({"kernel":{"kernel":"curl_free","scalar":{"kernel":"gaussian"}},"inputs":2,"features":4})");
  const auto bytes = map.to_bytes();
  CHECK(mercer::Map::from_bytes(bytes).spec() == map.spec());
  Matrix<double> U(6, 2);
  for (int64_t i = 0; i < 6; ++i) U(i, 0) = U(i, 1) = std::sin(static_cast<double>(i));
  const auto of_model = Model::fit(R"({"lambda":0.1})", mercer::Data(U, U).map(map)).to_bytes();
  CHECK(Model::from_bytes(of_model).to_bytes() == of_model);
}

TEST_CASE("a source of C++ brings weights", "[capi]") {
  const Map map = small_map();
  WeightedBlock source;
  const Matrix<double> found = fitted(map, mercer::Data(source)).predict(x());
  const Matrix<double> plain = fitted(map, {x(), y()}).predict(x());
  const Matrix<double> expected =
      fitted(map, mercer::Data(x(), y()).weights(source.weights)).predict(x());
  CHECK(distance(found, expected) < 1e-9);
  CHECK(distance(plain, expected) > 1e-3);
}

TEST_CASE("what C++ measures", "[capi]") {
  const Map map = small_map();
  CHECK(map.kernel().spec() == Kernel::gaussian(1.0).spec());
  CHECK(map.kernel_error(x()) != map.kernel_error(x(), MERCER_KERNEL_ERROR_PREDICTED));
  const Model model = Model::fit("{}", mercer::Data(x(), y()).map(map));
  CHECK(model.score(x(), y()) == mercer::prediction_score(model.predict(x()), y()));
  const double scores[] = {0, 1, 2, 2, 1, 0};
  const MatrixView<const double> view(scores, 2, 3);
  CHECK(mercer::classes_of(view) == std::vector<int32_t>{2, 0});
  const double broken[] = {0, 1, NAN, 0};
  CHECK_THROWS_WITH(mercer::classes_of(mercer::MatrixView<const double>(broken, 2, 2)),
                    Catch::Contains("row 1 (counted from 0) has a score of NaN"));
  CHECK(mercer::version() == mercer_version());
}

}  // namespace
