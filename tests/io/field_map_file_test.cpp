// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files of maps of several outputs: the same bytes come back, and what does not fit together is corrupt.
#include <string>
#include <vector>

#include "feature/field/field_makers.h"
#include "io/corrupt_file.h"
#include "io/number_arrays.h"
#include "io/section_reader.h"
#include "io/object_file.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace mercer;
using namespace mercer::test;

namespace {

const std::vector<double> kFrequencies = {0.1, -0.2, 1.0 / 3, 1.5},
                          kRoots = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

std::unique_ptr<feature::FeatureMap> supplied() {
  return feature::make_field_supplied(*kernel::make_kernel({{"kernel", "gaussian"}}),
                                      {kFrequencies.data(), 2, 2}, {}, {3, 2, kRoots}, {});
}

/// "" if a file of that spec and those numbers is CORRUPT_FILE and says `part`.
std::string corrupt(const std::string& spec, const std::vector<NumberArray>& numbers,
                    const char* part) {
  const std::vector<std::byte> bytes = io::encode(numbers);
  const io::SectionView sections[] = {{"spec", io::bytes_of(spec)}, {"numbers", bytes}};
  const auto load = [](const std::string& path) { io::load_map(path); };
  return misfit("map", sections, load, part);
}

}  // namespace

TEST_CASE("maps of several outputs come back from files", "[io]") {
  const auto drawn = spec::map_from_spec(
      R"({"kernel":{"kernel":"helmholtz","alpha":0.1},"inputs":2,"features":24,"seed":4})");
  const auto own = supplied();
  for (const feature::FeatureMap* map : {drawn.get(), own.get()}) {
    const TemporaryDirectory directory;
    const std::string first = directory.file("first"), second = directory.file("second");
    io::save(*map, first);
    const auto back = io::load_map(first);
    io::save(*back, second);
    CHECK(directory.read(first) == directory.read(second));
    CHECK(spec::to_spec(*back) == spec::to_spec(*map));
    CHECK(back->outputs() == map->outputs());
  }
}

TEST_CASE("maps of several outputs that do not fit together are corrupt", "[io]") {
  const std::string spec = spec::to_spec(*supplied());
  const std::vector<NumberArray> numbers = supplied()->numbers();
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = spec;
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK(corrupt(changed("\"features\":8", "\"features\":12"), numbers, "roots") == "");
  CHECK(corrupt(changed("\"inputs\":2", "\"inputs\":3"), numbers, "frequencies") == "");
  std::vector<NumberArray> flat = numbers;
  flat.back().shape = {2, 6};
  CHECK(corrupt(spec, flat, "roots") == "");
  CHECK(corrupt(R"({"map":"fourier","kernel":{"kernel":"decomposable","gamma":[[5e-324]]},)"
                R"("inputs":2,"features":4})",
                {}, "too small") == "");
  const std::string curl = R"({"map":"fourier","kernel":{"kernel":"curl_free"},"inputs":2,)";
  CHECK(corrupt(curl + R"("features":3})", {}, "features = 3") == "");
  CHECK(corrupt(R"({"map":"fourier","kernel":{"kernel":"helmholz"},"inputs":2,"features":4})", {},
                "helmholtz") == "");
}
