// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// States of attention: the map as in its own file, how many sequences, heads, values and keys, the
// sums over keys of each head and the logarithm that they are relative to. Every double is kept bit
// for bit; sums may be NaN, as those of keys that were.
#include "io/attention_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/size.h"
#include "io/map_file.h"
#include "io/number_arrays.h"
#include "io/object_file.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace mercer::io {
namespace {

std::vector<Field> attention_fields() {
  const auto count = [](const char* key, double least) {
    return Field{.key = key,
                 .type = FieldType::integer,
                 .fallback = {},
                 .least = least,
                 .most = static_cast<double>(std::numeric_limits<int32_t>::max())};
  };
  Field keys = count("keys", 0);
  keys.most = 0x1p53;
  return {count("batch", 1), count("heads", 1), count("values", 1), std::move(keys)};
}

std::span<const double> numbers_of(MatrixView<const double> A) {
  return {A.data, static_cast<size_t>(A.rows * A.cols)};
}

void fill(const std::vector<double>& from, MatrixView<double> to) {
  std::ranges::copy(from, to.data);
}

/// The largest logarithm of keys: of scaled rows -inf before the first, else always 0.
void require_logs(const std::vector<double>& most, bool scaled) {
  for (const double log : most)
    require(scaled ? log < std::numeric_limits<double>::infinity() : log == 0,
            MERCER_INVALID_ARGUMENT, "section most holds %g, expected %s", log,
            scaled ? "a number or -inf" : "0 for this map");
}

}  // namespace

void save(const attention::Attention& attention, Output& output) {
  const std::string spec = spec::to_spec(attention.map());
  const std::vector<std::byte> numbers = encode(attention.map().numbers());
  Parameters shape;
  shape.set("batch", attention.batch());
  shape.set("heads", attention.heads());
  shape.set("values", attention.values());
  shape.set("keys", attention.keys());
  const std::string text = print_object(shape);
  const SectionView sections[] = {{"spec", bytes_of(spec)},
                                  {"numbers", numbers},
                                  {"shape", bytes_of(text)},
                                  {"sums", bytes_of(numbers_of(attention.sums()))},
                                  {"most", bytes_of(numbers_of(attention.most()))}};
  write_container(output, "attention", sections);
}

std::unique_ptr<attention::Attention> read_attention(const SectionReader& file) {
  std::shared_ptr<const feature::FeatureMap> map = read_map(file);
  return parsed_from(file.input(), [&] {
    const Parameters shape =
        check_fields(spec::parse_object(file.text("shape")), attention_fields(), "");
    const int64_t values = shape.integer("values");
    const int64_t items = checked_multiply(shape.integer("batch"), shape.integer("heads"), "heads");
    const int64_t each = checked_multiply(values + 1, map->row_length(), "sums");
    // Before anything is allocated for them.
    require(file.count("most") == items && file.count("sums") / items == each &&
                file.count("sums") % items == 0,
            MERCER_CORRUPT_FILE,
            "sections sums and most have %ld and %ld numbers, expected %ld x %ld",
            file.count("sums"), file.count("most"), items, each);
    const std::vector<double> most = file.doubles("most");
    require_logs(most, map->row_scales() != nullptr);
    auto attention = std::make_unique<attention::Attention>(std::move(map), shape.integer("batch"),
                                                            shape.integer("heads"), values);
    fill(file.doubles("sums"), attention->sums());
    fill(most, attention->most());
    attention->set_keys(shape.integer("keys"));
    return attention;
  });
}

std::unique_ptr<attention::Attention> load_attention(Input& input) {
  return read_attention({input, "attention", kAttentionSections});
}

}  // namespace mercer::io
