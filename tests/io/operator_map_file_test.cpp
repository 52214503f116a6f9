// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files of operator maps: the same bytes come back, and what does not fit together is corrupt.
#include "io/operator_map_file.h"

#include <string>
#include <vector>

#include "io/corrupt_file.h"
#include "io/number_arrays.h"
#include "io/object_file.h"
#include "operator/supplied.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

using namespace mercer;
using namespace mercer::test;

namespace {

const std::vector<double> kFrequencies = {0.1, -0.2, 1.0 / 3, 1.5},
                          kRoots = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

std::unique_ptr<const operators::OperatorMap> supplied() {
  return operators::make_supplied_operator({kFrequencies.data(), 2, 2}, 3, 2, kRoots.data());
}

/// "" if a file of that spec and those numbers is CORRUPT_FILE and says `part`.
std::string corrupt(const std::string& spec, const std::vector<NumberArray>& numbers,
                    const char* part) {
  const std::vector<std::byte> bytes = io::encode(numbers);
  const io::SectionView sections[] = {{"spec", io::bytes_of(spec)}, {"numbers", bytes}};
  const auto load = [](const std::string& path) { io::load_operator_map(path); };
  return misfit(io::kOperatorMapKind, sections, load, part);
}

}  // namespace

TEST_CASE("operator maps come back from files", "[io]") {
  const auto drawn = spec::operator_map_from_spec(
      R"({"operator":"helmholtz","alpha":0.1,"inputs":2,"features":8,"seed":4})");
  const auto own = supplied();
  for (const operators::OperatorMap* map : {drawn.get(), own.get()}) {
    const TemporaryDirectory directory;
    const std::string first = directory.file("first"), second = directory.file("second");
    io::save(*map, first);
    const auto back = io::load_operator_map(first);
    io::save(*back, second);
    CHECK(directory.read(first) == directory.read(second));
    CHECK(spec::to_spec(*back) == spec::to_spec(*map));
    CHECK(io::describe_file(first).find("operator_map") != std::string::npos);
    CHECK(refusal_fault(
              MERCER_INVALID_ARGUMENT, [&] { io::load_model(first); }, "operator_map") == "");
  }
}

TEST_CASE("operator maps that do not fit together are corrupt", "[io]") {
  const std::string spec = spec::to_spec(*supplied());
  const std::vector<NumberArray> numbers = supplied()->numbers();
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = spec;
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK(corrupt(changed("\"features\":4", "\"features\":6"), numbers, "frequencies") == "");
  CHECK(corrupt(changed("\"features\":4", "\"features\":5"), numbers, "even") == "");
  CHECK(corrupt(changed("\"outputs\":3", "\"outputs\":2"), numbers, "roots") == "");
  CHECK(corrupt(changed("\"width\":2", "\"width\":2147483648"), numbers, "width") == "");
  CHECK(corrupt(spec, {}, "frequencies") == "");
  CHECK(corrupt(R"({"operator":"curl_free","inputs":2,"features":3})", {}, "features = 3") == "");
  CHECK(corrupt(R"({"operator":"decomposable","gamma":[[5e-324]],"inputs":2,"features":4})", {},
                "too small") == "");
  CHECK(corrupt(R"({"operator":"helmholz","inputs":2,"features":4})", {}, "helmholtz") == "");
}
