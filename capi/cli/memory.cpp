// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "memory.h"

#include <unistd.h>

#include "failure.h"
#include "read/number.h"

namespace mercer::cli {

int64_t physical_memory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

void require_memory(const std::string& what, double bytes, int64_t machine) {
  const auto held = static_cast<double>(machine);
  if (machine == 0 || bytes <= held) return;
  throw Failure(what + " needs " + rounded(bytes / 1e9, 3) + " GB, this machine has " +
                rounded(held / 1e9, 3));
}

}  // namespace mercer::cli
