// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Decimal text to double, without locale and without copying.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mercer::cli {

enum class NumberKind { finite, not_finite, out_of_range, not_a_number, empty };

/// Accepts what std::from_chars does, a leading '+', and blanks around. NaN and infinities are
/// not_finite.
NumberKind parse_number(std::string_view text, double* value);

/// 1,5: a number whose decimal mark is a comma; not certain where the comma may stand between
/// thousands, as in 1,234.
struct CommaNumber {
  double value = 0;
  bool certain = false;
};
std::optional<CommaNumber> read_comma(std::string_view text);

/// What a message says about a field that was not finite: "'abc' is not a number".
std::string complaint(NumberKind kind, std::string_view text);
/// Shortest text that reads back to the same double; whole numbers below 2^53 without point or
/// exponent.
std::string number_text(double value);
/// At most `digits` significant digits, for people.
std::string rounded(double value, int digits);

std::string_view without_blanks(std::string_view text);

}  // namespace mercer::cli
