// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#pragma once

#include <string>

namespace mercer::cli {

/// A page without scripts or other files, from what report_document gives.
std::string report_page(const std::string& document);

}  // namespace mercer::cli
