// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files of operator maps: the canonical spec, and the caller's numbers of supplied ones.
#include "io/operator_map_file.h"

#include "io/number_arrays.h"
#include "io/object_file.h"
#include "spec/spec.h"

namespace mercer::io {

void save(const operators::OperatorMap& map, Output& output) {
  const std::string spec = spec::to_spec(map);
  const std::vector<std::byte> numbers = encode(map.numbers());
  const SectionView sections[] = {{"spec", bytes_of(spec)}, {"numbers", numbers}};
  write_container(output, kOperatorMapKind, sections);
}

std::unique_ptr<const operators::OperatorMap> read_operator_map(const SectionReader& file) {
  return parsed_from(file.input(), [&] {
    return spec::operator_map_of_file(file.text("spec"), decode(file.bytes("numbers")));
  });
}

std::unique_ptr<const operators::OperatorMap> load_operator_map(Input& input) {
  return read_operator_map({input, kOperatorMapKind, kMapSections});
}

}  // namespace mercer::io
