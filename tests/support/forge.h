// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A container written with other contents than the library would: right checksums, wrong sizes or
// values.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "io/container.h"

namespace mercer::test {

/// The file at `path` again with section `name` replaced by `change(its bytes)`.
template <class Change>
void forge_section(const std::string& path, const std::string& name, Change change) {
  const io::Container container = io::read_container(path, "");
  std::vector<std::string> contents;
  for (const io::Section& section : container.sections) {
    std::string bytes(reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size());
    contents.push_back(section.name == name ? change(bytes) : bytes);
  }
  std::vector<io::SectionView> views;
  for (size_t i = 0; i < contents.size(); ++i) {
    views.push_back({container.sections[i].name, std::as_bytes(std::span(contents[i]))});
  }
  // Not through write_container, which waits for the disk each time.
  const std::vector<std::byte> header = io::container_header(container.kind, views);
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(header.data()),
            static_cast<std::streamsize>(header.size()));
  for (const std::string& content : contents) out << content;
}

/// `text` with the first `from` replaced by `to`; throws if it is not there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace mercer::test
