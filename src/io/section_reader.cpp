// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "io/section_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mercer::io {
namespace {

bool same_names(const Container& container, std::span<const char* const> names) {
  auto next = names.begin();
  for (const Section& section : container.sections) {
    if (is_optional(section.name)) continue;
    if (next == names.end() || section.name != *next) return false;
    ++next;
  }
  return next == names.end();
}

std::string listed(std::span<const char* const> names) {
  std::string list;
  for (const char* name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

}  // namespace

SectionReader::SectionReader(Input& input, std::string_view kind,
                             std::initializer_list<const char*> names)
    : SectionReader(input.name(), read_container(input, kind), names) {}

SectionReader::SectionReader(std::string input, Container container,
                             std::initializer_list<const char*> names)
    : SectionReader(std::move(input), std::move(container)) {
  require_sections(names);
}

void SectionReader::require_sections(std::span<const char* const> names) const {
  require(same_names(container_, names), MERCER_CORRUPT_FILE,
          "%s: a %s with other sections than expected: %s", input_.c_str(), container_.kind.c_str(),
          listed(names).c_str());
}

const Section* SectionReader::find(std::string_view name) const noexcept {
  for (const Section& section : container_.sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

std::span<const std::byte> SectionReader::bytes(std::string_view name) const {
  if (const Section* section = find(name)) return section->bytes;
  fail(MERCER_INTERNAL, "file: section %s was not checked for", std::string(name).c_str());
}

std::string_view SectionReader::text(std::string_view name) const {
  const auto held = bytes(name);
  return {reinterpret_cast<const char*>(held.data()), held.size()};
}

int64_t SectionReader::count(std::string_view name) const {
  const size_t size = bytes(name).size();
  require(size % sizeof(double) == 0, MERCER_CORRUPT_FILE,
          "section %s has %zu bytes, expected a multiple of 8", std::string(name).c_str(), size);
  return static_cast<int64_t>(size / sizeof(double));
}

std::vector<double> SectionReader::doubles(std::string_view name) const {
  std::vector<double> numbers(count(name));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes(name).data(), bytes(name).size());
  return numbers;
}

}  // namespace mercer::io
