// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Decimal text to double, without locale and without copying.
#pragma once

#include <string>
#include <string_view>

namespace mercer::cli {

enum class NumberKind { finite, not_finite, out_of_range, not_a_number, empty };

/// Accepts what std::from_chars does, a leading '+', and blanks around. NaN and infinities are
/// not_finite.
NumberKind parse_number(std::string_view text, double* value);

/// The same where this is the decimal mark: a comma, or else a point.
NumberKind parse_decimal(std::string_view text, char mark, double* value);

/// What a message says about a field that was not finite: "'abc' is not a number".
std::string complaint(NumberKind kind, std::string_view text);
/// Shortest text that reads back to the same double; whole numbers below 2^53 without point or
/// exponent.
std::string number_text(double value);
/// At most `digits` significant digits, for people.
std::string rounded(double value, int digits);

std::string_view without_blanks(std::string_view text);

}  // namespace mercer::cli
