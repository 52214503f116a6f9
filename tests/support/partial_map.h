// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a partial spec of a map leaves to whoever makes it, from text.
#pragma once

#include <memory>
#include <string_view>

#include "model/search/partial_map.h"
#include "spec/json.h"

namespace mercer::test {

inline std::unique_ptr<model::PartialMap> map_maker(std::string_view partial, int64_t d,
                                                    uint64_t seed) {
  return model::partial_map(spec::parse_object(partial), d, seed);
}

}  // namespace mercer::test
