// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A map through the table, from its name, its kernel and its own options.
#pragma once

#include <memory>
#include <string>

#include "feature/map_entry.h"
#include "support/refusal.h"

namespace mercer::test {

/// Its canonical spec.
inline Parameters map_spec(const char* map, const Parameters& kernel, int64_t d, int64_t D,
                           uint64_t seed = 0, const Parameters& options = {}) {
  Parameters given{{"map", map},
                   {"kernel", std::make_shared<const Parameters>(kernel)},
                   {"inputs", d},
                   {"features", D},
                   {"seed", seed}};
  for (const auto& [key, value] : options.entries()) given.set(key, value);
  return feature::canonical_map(given, "", feature::Data::refused);
}
inline std::unique_ptr<feature::FeatureMap> made_map(const char* map, const Parameters& kernel,
                                                     int64_t d, int64_t D, uint64_t seed = 0,
                                                     const Parameters& options = {}) {
  return feature::make_map(map_spec(map, kernel, d, D, seed, options));
}

/// "" if the map is UNSUPPORTED for that kernel, with a message that holds every part.
template <class... Part>
std::string refused_map(const char* map, const Parameters& kernel, const Part&... parts) {
  return refusal_fault(
      MERCER_UNSUPPORTED, [&] { made_map(map, kernel, 4, 8); }, parts...);
}

}  // namespace mercer::test
