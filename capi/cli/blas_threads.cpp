// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// OpenBLAS reads its environment as it is loaded, before main; afterwards its own functions count.
// They are looked up, since the command links the library alone.
#include "blas_threads.h"

#include <dlfcn.h>

namespace mercer::cli {

void limit_blas_threads(int32_t threads) {
  using Get = int (*)();
  using Set = void (*)(int);
  const auto get = reinterpret_cast<Get>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  const auto set = reinterpret_cast<Set>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (threads > 0 && get != nullptr && set != nullptr && get() > threads) set(threads);
}

}  // namespace mercer::cli
