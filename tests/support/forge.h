// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A container written with other contents than the library would: right checksums, wrong sizes or
// values.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "io/container.h"
#include "io/input_output.h"

namespace mercer::test {

struct NamedBytes {
  std::string name, bytes;
};

/// The file at `path` again with the sections that `change` makes of its own.
template <class Change>
void forge_sections(const std::string& path, Change change) {
  io::InputFile file(path);
  const io::Container container = io::read_container(file, "");
  std::vector<NamedBytes> sections;
  for (const io::Section& section : container.sections) {
    const auto* bytes = reinterpret_cast<const char*>(section.bytes.data());
    sections.push_back({section.name, std::string(bytes, section.bytes.size())});
  }
  change(sections);
  std::vector<io::SectionView> views;
  for (const NamedBytes& section : sections)
    views.push_back({section.name, std::as_bytes(std::span(section.bytes))});
  // Not through write_container, which waits for the disk each time.
  const std::vector<std::byte> header = io::container_header(container.kind, views);
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(header.data()),
            static_cast<std::streamsize>(header.size()));
  for (const NamedBytes& section : sections) out << section.bytes;
}

/// The file at `path` again with section `name` replaced by `change(its bytes)`.
template <class Change>
void forge_section(const std::string& path, const std::string& name, Change change) {
  forge_sections(path, [&](std::vector<NamedBytes>& sections) {
    for (NamedBytes& section : sections)
      if (section.name == name) section.bytes = change(section.bytes);
  });
}

/// `text` with the first `from` replaced by `to`; throws if it is not there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace mercer::test
