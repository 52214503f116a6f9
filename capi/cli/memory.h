// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What no memory holds is refused before it is asked for: a system that overcommits would end the
// process half-way instead.
#pragma once

#include <cstdint>
#include <string>

namespace mercer::cli {

/// Bytes of the machine; 0 if it does not say.
int64_t physical_memory();

/// Fails with "WHAT needs 3.2 GB, this machine has 2" when the bytes are more than those of the
/// machine.
void require_memory(const std::string& what, double bytes, int64_t machine = physical_memory());

}  // namespace mercer::cli
