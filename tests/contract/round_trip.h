// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Through a file and back.
#pragma once
#include <cstring>

#include "base/parameters.h"
#include "io/container.h"
#include "io/object_file.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace mercer::test {

/// What load(path) makes of a file of the object. Its own file has the same bytes.
template <class Object, class Load>
auto through_file(const Object& object, const Load& load) {
  const TemporaryDirectory directory;
  io::save(object, directory.file("first"));
  auto back = load(directory.file("first"));
  io::save(*back, directory.file("second"));
  CHECK(directory.read(directory.file("first")) == directory.read(directory.file("second")));
  return back;
}

/// The bytes of a section with its first, middle or last double replaced, for each of its arrays.
inline std::vector<std::vector<std::byte>> with_numbers(const io::Section& section, double number) {
  std::vector<std::vector<std::byte>> changed;
  const auto places = [](size_t count) { return std::set<size_t>{0, count / 2, count - 1}; };
  if (section.name != "numbers" && section.name != "_local") {
    if (section.bytes.empty()) return changed;
    for (const size_t at : places(section.bytes.size() / sizeof number))
      std::memcpy(changed.emplace_back(section.bytes).data() + at * sizeof number, &number,
                  sizeof number);
    return changed;
  }
  std::vector<NumberArray> arrays = io::decode(section.bytes);
  for (NumberArray& array : arrays) {
    auto* const values = std::get_if<std::vector<double>>(&array.values);
    const bool may_miss = array.name == "targets" && std::isnan(number);
    if (values == nullptr || values->empty() || may_miss) continue;
    for (const size_t at : places(values->size())) {
      const double kept = std::exchange((*values)[at], number);
      changed.push_back(io::encode(arrays));
      (*values)[at] = kept;
    }
  }
  return changed;
}

/// Is a file of the object refused where a number is not finite? Left out are texts, the scores of
/// a path, which a lambda that fails has not, and sums, which are a file of their own.
template <class Object, class Load>
void check_finite_numbers(const Object& object, const Load& load) {
  io::MemoryOutput saved;
  io::save(object, saved);
  io::MemoryInput input(saved.bytes());
  const io::Container container = io::read_container(input, "");
  std::vector<io::SectionView> sections;
  for (const io::Section& section : container.sections)
    sections.push_back({section.name, section.bytes});
  const std::set<std::string> kept = {"spec", "report", "metadata", "path", "_sums"};
  for (size_t i = 0; i < sections.size(); ++i) {
    if (kept.count(container.sections[i].name) > 0) continue;
    for (const double number : {kNaN, kInfinity, -kInfinity})
      for (const std::vector<std::byte>& bytes : with_numbers(container.sections[i], number)) {
        INFO(container.sections[i].name << " with " << number);
        sections[i].bytes = bytes;
        io::MemoryOutput changed;
        io::write_container(changed, container.kind, sections);
        io::MemoryInput back(changed.bytes());
        CHECK_REFUSED(MERCER_CORRUPT_FILE, load(back));
      }
    sections[i].bytes = container.sections[i].bytes;
  }
}

/// A seed that follows another: small ones, those of 64 bits, and in between.
constexpr uint64_t next_seed(uint64_t seed) { return seed * 6364136223846793005u + 1; }

}  // namespace mercer::test
