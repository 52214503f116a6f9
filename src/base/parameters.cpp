// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "base/parameters.h"

#include "base/error.h"

namespace mercer {
namespace {

template <class T>
const T& get(const Parameters& parameters, std::string_view key) {
  const Value* value = parameters.find(key);
  const T* typed = value == nullptr ? nullptr : std::get_if<T>(value);
  require(typed != nullptr, MERCER_INTERNAL, "parameter %s is missing or of another type",
          std::string(key).c_str());
  return *typed;
}

}  // namespace

Parameters::Parameters(std::initializer_list<std::pair<const char*, Value>> entries) {
  for (const auto& [key, value] : entries) set(key, value);
}

void Parameters::set(std::string key, Value value) {
  for (auto& [name, old] : entries_) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  entries_.emplace_back(std::move(key), std::move(value));
}

const Value* Parameters::find(std::string_view key) const noexcept {
  for (const auto& [name, value] : entries_) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool Parameters::boolean(std::string_view key) const { return get<bool>(*this, key); }
int64_t Parameters::integer(std::string_view key) const { return get<int64_t>(*this, key); }
uint64_t Parameters::seed(std::string_view key) const { return get<uint64_t>(*this, key); }
double Parameters::number(std::string_view key) const { return get<double>(*this, key); }
const std::string& Parameters::text(std::string_view key) const {
  return get<std::string>(*this, key);
}

std::vector<double> Parameters::numbers(std::string_view key) const {
  const Value* value = find(key);
  if (value != nullptr && std::holds_alternative<double>(*value)) return {std::get<double>(*value)};
  if (value == nullptr || !std::holds_alternative<NumberLists>(*value))
    return get<std::vector<double>>(*this, key);
  std::vector<double> numbers;
  for (const std::vector<double>& list : std::get<NumberLists>(*value))
    numbers.insert(numbers.end(), list.begin(), list.end());
  return numbers;
}

NumberLists Parameters::number_lists(std::string_view key) const {
  const Value* value = find(key);
  if (value != nullptr && std::holds_alternative<NumberLists>(*value))
    return std::get<NumberLists>(*value);
  NumberLists lists;
  for (const double number : get<std::vector<double>>(*this, key)) lists.push_back({number});
  return lists;
}

const Parameters& Parameters::object(std::string_view key) const {
  return *get<std::shared_ptr<const Parameters>>(*this, key);
}

const ObjectList& Parameters::objects(std::string_view key) const {
  return get<ObjectList>(*this, key);
}

}  // namespace mercer
