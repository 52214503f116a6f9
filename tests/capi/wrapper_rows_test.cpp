// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer.hpp: views become the rows and results of the C API, dense, sparse and in two parts.
#include "fixture.h"
#include "wrapper.h"

using namespace mercer::test;

namespace {

using mercer::CsrView;
using mercer::Kernel;
using mercer::Map;
using mercer::Matrix;
using mercer::MatrixView;
using mercer::Result;
using mercer::Rows;

// What cannot be read or written is a compile-time error.
static_assert(!std::is_convertible_v<MatrixView<std::complex<float>>, Rows>);
static_assert(!std::is_convertible_v<MatrixView<int>, Rows>);
static_assert(!std::is_convertible_v<CsrView<std::complex<double>, int32_t>, Rows>);
static_assert(!std::is_convertible_v<MatrixView<const float>, Result>);
static_assert(!std::is_convertible_v<const Matrix<double>&, Result>);
static_assert(std::is_convertible_v<MatrixView<const float>, Rows>);

TEST_CASE("views say what they are", "[capi]") {
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

TEST_CASE("the C++ wrapper takes sparse rows of either index and of either number", "[capi]") {
  const Map linear =
      Map::from_spec(R"({"map":"linear","projection":"srht","inputs":3,"features":6,)"
                     R"("kernel":{"kernel":"polynomial","degree":1,"gamma":0.5,"offset":0}})");
  check_sparse<float, float, int32_t>(linear);
  check_sparse<double, double, int64_t>(linear);
  check_sparse<std::complex<float>, float, int64_t>(complex_map());
  check_sparse<std::complex<double>, double, int32_t>(complex_map());
}

TEST_CASE("apply is the whole transform, and columns are a part of it", "[capi]") {
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

TEST_CASE("the C++ wrapper pools pairs of either number", "[capi]") {
  check_pair<float, float>("real");
  check_pair<double, double>("complex_to_real");
  check_pair<float, std::complex<float>>("complex");
  check_pair<double, std::complex<double>>("complex");
}

TEST_CASE("the C++ wrapper refuses parts of other widths than the kernel's", "[capi]") {
  double X[2] = {1, 2}, Y[3] = {3, 4, 5}, Z[8];
  const Rows right(MatrixView<double>(Y, 1, 3));
  auto options = mercer::transform_options();
  options.right = right.get();
  CHECK(status_of([&] {
          bilinear_sketch("real").transform(MatrixView<double>(X, 1, 2),
                                            MatrixView<double>(Z, 1, 8), options);
        }) == MERCER_DIMENSION_MISMATCH);
}

}  // namespace
