// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/io.h for C++17: maps, models and statistics in files and as bytes.
//
// Example: a map passed to another process as bytes; what a file holds.
//
//   std::vector<std::byte> bytes = map.to_bytes();
//   mercer::Map twin = mercer::Map::from_bytes(bytes);
//   twin.save(path);
//   std::string info = mercer::file_info(path);
#ifndef MERCER_IO_HPP
#define MERCER_IO_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base.hpp"
#include "mercer/view.hpp"

namespace mercer {
inline namespace hpp {

/// What a file holds, as JSON.
inline std::string file_info(const std::string& path) {
  return detail::text(
      [&](auto... buffer) { return mercer_file_info(path.c_str(), nullptr, 0, buffer...); });
}

namespace detail {

/// Base of a class Self that is built from a Handle and can be saved.
template <class Self, auto read, auto write>
class Kept {
 public:
  static Self load(const std::string& path) {
    return made([&](auto out) { return read(path.c_str(), nullptr, 0, out); });
  }
  void save(const std::string& path) const {
    hpp::check(write(handle(), path.c_str(), nullptr, 0, nullptr));
  }
  /// From the bytes of a file.
  static Self from_bytes(Span<const std::byte> data) {
    return made([&](auto out) { return read(nullptr, data.data(), data.size(), out); });
  }
  std::vector<std::byte> to_bytes() const {
    return bytes([&](auto... buffer) { return write(handle(), nullptr, buffer...); });
  }

 private:
  auto handle() const noexcept { return static_cast<const Self*>(this)->get(); }
  template <class Make>
  static Self made(Make make) {
    return Self(create<typename Self::Handle>(make));
  }
};

}  // namespace detail

}  // namespace hpp
}  // namespace mercer
#endif
