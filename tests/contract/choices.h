// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Specs with every combination of what their fields may be, from the table of maps.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.h"

namespace mercer::test {

/// What a field may be; empty: it is no matter of choice.
std::vector<Value> choices(const Field& field);

/// `given` completed by every combination of the choices of those of `fields` that it has not.
std::vector<Parameters> crossed(const Parameters& given, std::span<const Field> fields);
/// `given` (a map, its kernel, any of its fields) completed by every combination of the choices of
/// the map's other fields: texts, booleans, sketches with the choices of their own fields. Other
/// fields keep their default.
std::vector<Parameters> crossed(const Parameters& given);

/// Fields of a map's entry that are not crossed: a contract row has to give them a value.
std::vector<Field> fields_without_choices(std::string_view map);

/// The maps that may stand in a field of type sketch.
std::vector<std::string> sketch_names();

}  // namespace mercer::test
