// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Damage to files: whatever bytes come in, a reader returns an object or one of its documented
// errors.
#include <random>

#include "io/object_file.h"
#include "spec/spec.h"
#include "support/forge.h"
#include "support/mutation.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace fuzz_test {
using namespace mercer;
using mercer::test::TemporaryDirectory;

model::Model small_model() {
  model::Model model;
  model.map = spec::map_from_spec(
      R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":2,"features":4,"form":"phase"})");
  model.preparation = {{0, 1}, {1, 2}};
  solver::Weights weights{Matrix<double>(4, 1), {1}};
  weights.w.fill(0.5);
  model.predictor = model::make_linear(std::move(weights));
  model.rows = 2;
  model.metadata.assign(3, 'm');  // gcc 12 warns of = "m"
  return model;
}

/// What reading the file at `path` says; a fault when its bytes in memory say another thing.
test::Outcome outcome_of(const TemporaryDirectory& directory, const std::string& path) {
  const test::Outcome file = test::outcome([&] { io::load_model(path); });
  const std::string bytes = directory.read(path);
  io::MemoryInput data(std::as_bytes(std::span(bytes)));
  const test::Outcome memory = test::outcome([&] { io::load_model(data); });
  if (file.status == memory.status) return file;
  return {MERCER_INTERNAL, "file: " + file.message + "; memory: " + memory.message};
}

bool documented(mercer_status status) {
  return status == MERCER_OK || status == MERCER_CORRUPT_FILE || status == MERCER_NEWER_VERSION;
}

TEST_CASE("a damaged file is never read") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  io::save(small_model(), path);
  const std::string original = directory.read(path);
  std::mt19937_64 words(1);
  std::string fault;
  for (int trial = 0; trial < 3000 && fault.empty(); ++trial) {
    const std::string damaged = test::mutated({original}, words);
    directory.write("damaged", damaged);
    const test::Outcome result = outcome_of(directory, directory.file("damaged"));
    const bool right = damaged == original ? result.status == MERCER_OK
                                           : result.status == MERCER_CORRUPT_FILE ||
                                                 result.status == MERCER_NEWER_VERSION;
    if (!right) fault = "trial " + std::to_string(trial) + ": " + result.message;
  }
  CHECK(fault == "");
}

TEST_CASE("damaged sections under right checksums are read or refused, never anything else") {
  const TemporaryDirectory directory;
  const std::string good = directory.file("good"), path = directory.file("forged");
  io::save(small_model(), good);
  const std::string original = directory.read(good);
  std::mt19937_64 words(2);
  std::string fault;
  int accepted = 0;
  for (int trial = 0; trial < 3000 && fault.empty(); ++trial) {
    const char* sections[] = {"spec",    "numbers",   "shape", "mean",    "scale",
                              "weights", "intercept", "path",  "metadata"};
    directory.write("forged", original);
    test::forge_section(path, sections[words() % 9],
                        [&](const std::string& bytes) { return test::mutated({bytes}, words); });
    const test::Outcome result = outcome_of(directory, path);
    accepted += result.status == MERCER_OK;
    if (!documented(result.status)) fault = std::to_string(result.status) + " " + result.message;
  }
  CHECK(fault == "");
  CHECK(accepted > 100);  // damage to numbers alone leaves another valid model
}

}  // namespace fuzz_test
