// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The word that was meant by one that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mercer::cli {

/// The known word with the fewest changes of letters from `word`, upper or lower case alike, and
/// neighbours that changed places as one; "" where that is more than a third of its letters.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// "; did you mean 'fit'?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace mercer::cli
