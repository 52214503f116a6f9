// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checks of numbers that go to a file or come from one: INVALID_ARGUMENT naming the section.
#pragma once

#include <cstdint>
#include <span>

namespace mercer::io {

void require_finite(std::span<const double> numbers, const char* what);
void require_count(const char* what, int64_t count, int64_t expected);

}  // namespace mercer::io
