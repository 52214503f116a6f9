// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "contract/match.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "spec/json.h"

namespace mercer::test {
namespace {

std::optional<double> number_of(const Value& value) {
  if (const auto* x = std::get_if<int64_t>(&value)) return static_cast<double>(*x);
  if (const auto* x = std::get_if<uint64_t>(&value)) return static_cast<double>(*x);
  if (const auto* x = std::get_if<double>(&value)) return *x;
  return std::nullopt;
}

bool holds_value(const Value& whole, const Value& part) {
  using Object = std::shared_ptr<const Parameters>;
  const auto* const inner = std::get_if<Object>(&part);
  const auto* const outer = std::get_if<Object>(&whole);
  if (inner != nullptr || outer != nullptr)
    return inner != nullptr && outer != nullptr && holds(**outer, **inner);
  const auto* const inner_list = std::get_if<ObjectList>(&part);
  const auto* const outer_list = std::get_if<ObjectList>(&whole);
  if (inner_list != nullptr && outer_list != nullptr)
    return std::ranges::equal(*outer_list, *inner_list,
                              [](const Object& a, const Object& b) { return holds(*a, *b); });
  const auto a = number_of(whole), b = number_of(part);
  return a && b ? *a == *b : whole == part;
}

}  // namespace

bool holds(const Parameters& whole, const Parameters& part) {
  for (const auto& [key, value] : part.entries()) {
    const Value* const found = whole.find(key);
    if (found == nullptr || !holds_value(*found, value)) return false;
  }
  return true;
}

bool holds(const Parameters& whole, const char* part) {
  static std::map<const char*, const Parameters> parsed;
  auto known = parsed.find(part);
  if (known == parsed.end()) known = parsed.emplace(part, spec::parse_object(part)).first;
  return holds(whole, known->second);
}

Parameters changed(Parameters spec, const Parameters& changes) {
  for (const auto& [key, value] : changes.entries()) spec.set(key, value);
  return spec;
}

}  // namespace mercer::test
