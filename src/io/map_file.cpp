// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Map files: the canonical spec, and the numbers that a spec cannot hold (none for maps drawn from
// a seed).
#include "io/map_file.h"

#include "io/number_arrays.h"
#include "io/object_file.h"
#include "io/section_reader.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace mercer::io {

void save(const feature::FeatureMap& map, Output& output) {
  const std::string spec = spec::to_spec(map);
  const std::vector<std::byte> numbers = encode(map.numbers());
  const SectionView sections[] = {{"spec", bytes_of(spec)}, {"numbers", numbers}};
  write_container(output, "map", sections);
}

std::unique_ptr<feature::FeatureMap> read_map(const SectionReader& file) {
  return parsed_from(file.input(), [&] {
    return spec::map_from_spec_and_numbers(file.text("spec"), decode(file.bytes("numbers")));
  });
}

std::unique_ptr<feature::FeatureMap> load_map(Input& input) {
  return read_map({input, "map", kMapSections});
}

}  // namespace mercer::io
