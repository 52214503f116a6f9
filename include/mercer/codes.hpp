// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/codes.h for C++17.
//
// Example: 1,024 bits for each row, and the Gaussian kernel estimated from them.
//
//   mercer::Kernel kernel = mercer::Kernel::gaussian(1.0);
//   mercer::Codes codes(mercer::Map::fourier(kernel, X.cols(), 1024, R"("form":"phase")"), X);
//   mercer::Matrix<double> K = codes.kernel(kernel, codes.distances(codes));
#ifndef MERCER_CODES_HPP
#define MERCER_CODES_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mercer/map.hpp"

namespace mercer {
inline namespace hpp {

/// The binary codes of some rows.
class Codes {
 public:
  Codes(const Map& map, const Rows& X, Context* context = nullptr)
      : bits_(map.features()),
        words_((bits_ + 63) / 64),
        rows_(X.rows()),
        codes_(static_cast<size_t>(rows_ * words_)) {
    detail::check(
        mercer_map_codes(map.get(), X.get(), words_, detail::handle(context), codes_.data()),
        context);
  }
  int64_t rows() const noexcept { return rows_; }
  int64_t bits() const noexcept { return bits_; }
  int64_t words() const noexcept { return words_; }
  const uint64_t* row(int64_t i) const noexcept { return codes_.data() + i * words_; }

  /// Entry (i, j): the number of bits in which row i differs from row j of `other`, codes of the
  /// same map.
  Matrix<int32_t> distances(const Codes& other, Context* context = nullptr) const {
    if (other.bits_ != bits_) {
      throw Error(MERCER_DIMENSION_MISMATCH, "codes of as many bits expected");
    }
    Matrix<int32_t> result(rows_, other.rows_);
    detail::check(
        mercer_codes_hamming(words_, rows_, codes_.data(), other.rows_, other.codes_.data(),
                             detail::handle(context), result.view().data),
        context);
    return result;
  }
  /// The kernel estimated from such distances, for kernels that decrease with a norm of x - y.
  Matrix<double> kernel(const Kernel& kernel, const Matrix<int32_t>& distances) const {
    Matrix<double> values(distances.rows(), distances.cols());
    check(mercer_codes_kernel(kernel.get(), bits_, distances.rows() * distances.cols(),
                              distances.view().data, values.view().data));
    return values;
  }

 private:
  int64_t bits_;
  int64_t words_;
  int64_t rows_;
  std::vector<uint64_t> codes_;
};

/// Fills in code, whose columns stand for the classes.
inline void simplex_code(const Result& code) { check(mercer_simplex_code(code.get())); }

}  // namespace hpp
}  // namespace mercer
#endif
