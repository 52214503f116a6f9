// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Specs of everything that mercer_specs lists, made from its lists: a new entry is fuzzed the day
// it stands in its table.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fuzz/bytes.h"

namespace mercer::fuzz {

/// What a spec is to ask for. Tame ones keep to the ranges of the lists and to moderate numbers;
/// others have any number, type and key now and then.
struct Wish {
  int inputs = 3;
  int features = 16;
  bool tame = true;
};

/// The name under which targets register callbacks: what texts without choices are.
inline constexpr const char* kCustomName = "fuzz";

using Json = nlohmann::ordered_json;

Json kernel_spec(Bytes& bytes, const Wish& wish);
Json map_spec(Bytes& bytes, const Wish& wish);
Json fit_spec(Bytes& bytes, const Wish& wish);
/// Of "bounds", key "bound"; of "tests", key "test".
Json question_spec(Bytes& bytes, const Wish& wish, const char* table, const char* key);
/// Of "fits": "recommend", "certify".
Json keys_spec(Bytes& bytes, const Wish& wish, const char* name);

/// A document as text; `raw` documents are damaged texts now and then.
std::string text_of(const Json& json, Bytes& bytes, const Wish& wish);

}  // namespace mercer::fuzz
