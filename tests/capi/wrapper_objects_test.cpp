// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer.hpp: objects as bytes, rows, sums, sources of rows, what is measured: the numbers of the C
// API.
#include <stdexcept>

#include "fixture.h"
#include "wrapper.h"

namespace wrapper_objects_test {
using namespace mercer::test;

using mercer::Kernel, mercer::Map, mercer::Matrix, mercer::MatrixView, mercer::Model,
    mercer::Statistics, mercer::test::numbers, mercer::test::status_of;

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

TEST_CASE("attention of C++ is that of C; its states go through bytes") {
  const Map map = small_map();
  mercer_tokens tokens = mercer::causal_tokens(x(), x(), y());
  Matrix<double> whole(n, 1), found(n, 1);
  mercer::attend(map, tokens, whole);
  mercer::Attention state(map, 1, 1, 1);
  state.step(mercer::causal_tokens(x(0, 40), x(0, 40), y(0, 40)),
             MatrixView<double>(found.view().data, 40, 1));
  const auto bytes = state.to_bytes();
  mercer::Attention again = mercer::Attention::from_bytes(bytes);
  again.step(mercer::causal_tokens(x(40, 20), x(40, 20), y(40, 20)),
             MatrixView<double>(found.view().data + 40, 20, 1));
  for (int64_t i = 0; i < n; ++i) CHECK(found(i, 0) == Approx(whole(i, 0)).epsilon(1e-9));
  Matrix<double> dQ(n, d), dK(n, d), dV(n, 1);
  mercer::attend_vjp(map, tokens, y(), dQ, dK, dV);
  CHECK((dQ(5, 0) != 0 && dK(5, 0) != 0 && dV(5, 0) != 0));
  CHECK(mercer::attention_error(map, tokens, MERCER_KERNEL_ERROR_MEASURED) > 0);
  CHECK(mercer::attention_error(map, tokens, MERCER_KERNEL_ERROR_PREDICTED) > 0);
}

TEST_CASE("certificates of C++ are those of C") {
  const std::string found = small_map().certify(x(), R"({"rows":60})");
  CHECK(found.find("\"exact\":true") != std::string::npos);
}

TEST_CASE("objects of C++ go through bytes") {
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

TEST_CASE("sums of C++ come back") {
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

TEST_CASE("a source of C++ fits what rows in memory fit, and lets its exceptions out") {
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
      table(i, 0) = Y[i];
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

TEST_CASE("a source of C++ is asked for sums where rows are shared") {
  const Map map = small_map();
  SharedBlock source;
  const Matrix<double> found = fitted(map, mercer::Data(source)).predict(x());
  CHECK(source.sums > 30);
  const Matrix<double> expected = fitted(map, {x(), y()}).predict(x());
  for (int64_t i = 0; i < n; ++i) CHECK(std::abs(found(i, 0) - expected(i, 0)) < 1e-6);
  source.broken = true;
  CHECK(status_of([&] { fitted(map, mercer::Data(source)); }) == MERCER_UNSUPPORTED);
}

TEST_CASE("maps of several outputs and their models of C++ go through bytes") {
  const auto map = mercer::Map::from_spec(
      R"({"kernel":{"kernel":"curl_free","scalar":{"kernel":"gaussian"}},"inputs":2,"features":4})");
  const auto bytes = map.to_bytes();
  CHECK(mercer::Map::from_bytes(bytes).spec() == map.spec());
  Matrix<double> U(6, 2);
  for (int64_t i = 0; i < 6; ++i) U(i, 0) = U(i, 1) = std::sin(static_cast<double>(i));
  const auto of_model = Model::fit(R"({"lambda":0.1})", mercer::Data(U, U).map(map)).to_bytes();
  CHECK(Model::from_bytes(of_model).to_bytes() == of_model);
}

TEST_CASE("a source of C++ brings weights") {
  const Map map = small_map();
  WeightedBlock source;
  const Matrix<double> found = fitted(map, mercer::Data(source)).predict(x());
  const Matrix<double> plain = fitted(map, {x(), y()}).predict(x());
  const Matrix<double> expected =
      fitted(map, mercer::Data(x(), y()).weights(source.weights)).predict(x());
  CHECK(distance(found, expected) < 1e-9);
  CHECK(distance(plain, expected) > 1e-3);
}

TEST_CASE("what C++ measures") {
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

using mercer::CsrView, mercer::Kernel, mercer::Map, mercer::Matrix, mercer::MatrixView,
    mercer::Result, mercer::Rows;

// What cannot be read or written is a compile-time error.
static_assert(!std::is_convertible_v<MatrixView<std::complex<float>>, Rows>);
static_assert(!std::is_convertible_v<MatrixView<int>, Rows>);
static_assert(!std::is_convertible_v<CsrView<std::complex<double>, int32_t>, Rows>);
static_assert(!std::is_convertible_v<MatrixView<const float>, Result>);
static_assert(!std::is_convertible_v<const Matrix<double>&, Result>);
static_assert(std::is_convertible_v<MatrixView<const float>, Rows>);

/// What a view asks of a std::mdspan.
struct Mdspan {
  double* data;
  size_t rows, cols, row_step, step;
  double* data_handle() const { return data; }
  size_t extent(size_t k) const { return k == 0 ? rows : cols; }
  size_t stride(size_t k) const { return k == 0 ? row_step : step; }
};

TEST_CASE("views of an mdspan are its rows, if these are contiguous") {
  std::vector<double> values(20);
  const MatrixView<const double> view(Mdspan{values.data(), 3, 4, 6, 1});
  CHECK((view.data == values.data() && view.rows == 3 && view.cols == 4 && view.ld == 6));
  CHECK_THROWS_AS(MatrixView<double>(Mdspan{values.data(), 3, 4, 1, 3}), std::invalid_argument);
}

TEST_CASE("views say what they are") {
  const std::vector<float> values(20);
  const MatrixView<const float> view(values.data(), 3, 4, 6);
  const mercer_rows dense = Rows(view).get();
  CHECK((dense.struct_size == sizeof dense && dense.number == MERCER_NUMBER_F32));
  CHECK((dense.index == MERCER_INDEX_NONE && dense.n == 3 && dense.d == 4 && dense.ld == 6));
  CHECK(dense.values == values.data());
  const Sparse<double, int64_t> sparse;
  const mercer_rows csr = Rows(sparse.csr()).get();
  CHECK((csr.number == MERCER_NUMBER_F64 && csr.index == MERCER_INDEX_I64));
  CHECK((csr.n == 4 && csr.d == 3 && csr.nnz == 7 && csr.values == sparse.values.data()));
  CHECK((csr.offsets == sparse.offsets.data() && csr.indices == sparse.indices.data()));
  CHECK(Rows(Sparse<float, int32_t>().csr()).get().index == MERCER_INDEX_I32);
  std::vector<std::complex<double>> numbers(20);
  const mercer_matrix Z = Result(MatrixView<std::complex<double>>(numbers.data(), 3, 4, 6)).get();
  CHECK((Z.struct_size == sizeof Z && Z.number == MERCER_NUMBER_C64));
  CHECK((Z.rows == 3 && Z.cols == 4 && Z.ld == 6 && Z.data == numbers.data()));
}

template <class U, class T, class Index>
void check_sparse(const Map& map) {
  const Sparse<T, Index> X;
  Matrix<U> sparse(4, map.features()), dense(4, map.features());
  map.transform(X.csr(), sparse);
  map.transform(X.dense(), dense);
  double worst = 0;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < map.features(); ++j)
      worst = std::max<double>(worst, std::abs(sparse(i, j) - dense(i, j)));
  }
  // Angles: 8 u sum |x||w| with sum |x| <= 15 and |w| < 8; a complex number has two parts.
  const double u = std::numeric_limits<T>::epsilon() / 2;
  CHECK(worst <= 2 * (8 * u * 15 * 8 + 8 * u));
  Matrix<U> short_of_rows(3, map.features());
  CHECK(status_of([&] { map.transform(X.csr(), short_of_rows); }) == MERCER_DIMENSION_MISMATCH);
}

TEST_CASE("the C++ wrapper takes sparse rows of either index and of either number") {
  const Map linear =
      Map::from_spec(R"({"map":"linear","projection":"srht","inputs":3,"features":6,)"
                     R"("kernel":{"kernel":"polynomial","degree":1,"gamma":0.5,"offset":0}})");
  check_sparse<float, float, int32_t>(linear);
  check_sparse<double, double, int64_t>(linear);
  check_sparse<std::complex<float>, float, int64_t>(complex_map());
  check_sparse<std::complex<double>, double, int32_t>(complex_map());
}

TEST_CASE("apply is the whole transform, and columns are a part of it") {
  const Map map = Map::fourier(Kernel::gaussian(1.0), 3, 6);
  const Sparse<float, int32_t> X;
  const Matrix<float> whole = map.apply(X.dense()), sparse = map.apply(X.csr());
  Matrix<float> copy(4, 3), part(4, 3), of_csr(4, 6);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 3; ++j) copy(i, j) = X.dense()(i, j);
  }
  auto options = mercer::transform_options();
  options.begin = 2;
  options.end = 5;
  map.transform(X.dense(), part, options);
  map.transform(X.csr(), of_csr);
  const Matrix<float> again = map.apply(copy);
  bool same = true;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 6; ++j) {
      same = same && again(i, j) == whole(i, j) && of_csr(i, j) == sparse(i, j);
      if (j >= 2 && j < 5) same = same && part(i, j - 2) == whole(i, j);
    }
  }
  CHECK(same);
  CHECK(whole(0, 0) != 0);
  CHECK(status_of([&] { complex_map().apply(copy); }) == MERCER_UNSUPPORTED);
}

Map bilinear_sketch(const std::string& field) {
  return Map::from_spec(R"({"map":"product_sketch","kernel":{"kernel":"bilinear","left":3},)"
                        R"("inputs":5,"features":8,"seed":1,"field":")" +
                        field + "\"}");
}

template <class T, class U>
void check_pair(const std::string& field) {
  constexpr int64_t n = 2, locations = 3, rows = n * locations, D = 8;
  const Map map = bilinear_sketch(field);
  CHECK((map.inputs() == 5 && map.right_inputs() == 2));
  const auto X = numbers<T>(rows, 3);
  auto Y = numbers<T>(rows, 2);  // views of constant and of other numbers may meet
  Matrix<U> Z(n, D), expected(n, D);
  const Rows right(MatrixView<T>(Y.data(), rows, 2));
  auto options = mercer::transform_options();
  options.right = right.get();
  options.locations = locations;
  map.transform(MatrixView<const T>(X.data(), rows, 3), Z, options);
  for (int64_t i = 0; i < rows; ++i) {
    const T row[] = {X[3 * i], X[3 * i + 1], X[3 * i + 2], Y[2 * i], Y[2 * i + 1]};
    Matrix<U> one(1, D);
    map.transform(MatrixView<const T>(row, 1, 5), one);
    for (int64_t j = 0; j < D; ++j) expected(i / locations, j) += one(0, j);
  }
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < D; ++j)
      worst = std::max(worst, static_cast<double>(std::abs(Z(i, j) - expected(i, j))));
  }
  CHECK(worst <= 64 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  Matrix<U> short_of_rows(n - 1, D);
  CHECK(status_of([&] {
          map.transform(MatrixView<const T>(X.data(), rows, 3), short_of_rows, options);
        }) == MERCER_DIMENSION_MISMATCH);
}

TEST_CASE("the C++ wrapper pools pairs of either number") {
  check_pair<float, float>("real");
  check_pair<double, double>("complex_to_real");
  check_pair<float, std::complex<float>>("complex");
  check_pair<double, std::complex<double>>("complex");
}

TEST_CASE("the C++ wrapper refuses parts of other widths than the kernel's") {
  double X[2] = {1, 2}, Y[3] = {3, 4, 5}, Z[8];
  const Rows right(MatrixView<double>(Y, 1, 3));
  auto options = mercer::transform_options();
  options.right = right.get();
  CHECK(status_of([&] {
          bilinear_sketch("real").transform(MatrixView<double>(X, 1, 2),
                                            MatrixView<double>(Z, 1, 8), options);
        }) == MERCER_DIMENSION_MISMATCH);
}

}  // namespace wrapper_objects_test
