// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Texts that are dates or times of day, however they are written.
#pragma once

#include <string_view>

namespace mercer::cli {

/// 2024-05-31, 31.5.2024, 5/31/24, 31 May 2024, May 31, 2024, 2024-05, May-24, each also with a
/// time behind it and a weekday before it. Which of day and month comes first does not matter here.
bool is_date(std::string_view text);

/// 8:05, 08:05:30.25, 8:05 pm, 08:05+02:00.
bool is_clock(std::string_view text);

}  // namespace mercer::cli
