// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// --threads limits the threads of BLAS, too.
#include <dlfcn.h>

#include <utility>

#include "session.h"
#include "support/catch.h"

namespace blas_threads_test {
using namespace mercer::cli;

TEST_CASE("a session limits the threads of BLAS and never adds some", "[threads]") {
  const auto get = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  const auto set =
      reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  REQUIRE((get != nullptr && set != nullptr));
  const int before = get();
  set(3);
  for (const auto& [asked, left] : {std::pair{0, 3}, {2, 2}, {5, 2}}) {
    const Session session({.threads = asked, .quiet = true});
    CHECK(get() == left);
  }
  set(before);
}

}  // namespace blas_threads_test
