// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Through a file and back.
#pragma once
#include "io/object_file.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

namespace mercer::test {

/// What load(path) makes of a file of the object. Its own file has the same bytes.
template <class Object, class Load>
auto through_file(const Object& object, const Load& load) {
  const TemporaryDirectory directory;
  io::save(object, directory.file("first"));
  auto back = load(directory.file("first"));
  io::save(*back, directory.file("second"));
  CHECK(directory.read(directory.file("first")) == directory.read(directory.file("second")));
  return back;
}

/// A seed that follows another: small ones, those of 64 bits, and in between.
constexpr uint64_t next_seed(uint64_t seed) { return seed * 6364136223846793005u + 1; }

}  // namespace mercer::test
