// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// States of attention in files, also with right checksums and wrong contents.

#include "io/corrupt_file.h"
#include "support/dense.h"
#include "support/forge.h"
#include "support/made_map.h"

namespace attention_file_test {
using namespace mercer;
using namespace mercer::test;

attention::Attention small_state(bool stabilize) {
  const std::shared_ptr<const feature::FeatureMap> map =
      made_map("positive", {{"kernel", "exponential"}}, 3, 8, 1, {{"stabilize", stabilize}});
  attention::Attention state(map, 2, 1, 2);
  const Matrix<double> K = random_matrix(10, 3, 1), V = random_matrix(10, 2, 2);
  Context context;
  state.absorb<double>({{}, K.view(), V.view()}, context);
  return state;
}

std::unique_ptr<attention::Attention> loaded(const std::string& path) {
  io::InputFile file(path);
  return io::load_attention(file);
}

TEST_CASE("states of attention come back from their file bit for bit") {
  const TemporaryDirectory directory;
  for (const bool stabilize : {false, true}) {
    const attention::Attention state = small_state(stabilize);
    io::save(state, directory.file("first"));
    const auto back = loaded(directory.file("first"));
    CHECK((back->keys() == 5 && back->batch() == 2 && back->values() == 2));
    io::save(*back, directory.file("second"));
    CHECK(directory.read(directory.file("first")) == directory.read(directory.file("second")));
  }
}

TEST_CASE("states of attention with right checksums and wrong contents are refused") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("state");
  const auto refuses = [&](const char* section, const auto& change, auto... parts) {
    io::save(small_state(false), path);
    forge_section(path, section, change);
    return refusal_fault(
        MERCER_CORRUPT_FILE, [&] { loaded(path); }, "state", parts...);
  };
  const auto shape = [&](const char* from, const char* to, auto... parts) {
    return refuses(
        "shape", [&](const std::string& text) { return replaced(text, from, to); }, parts...);
  };
  CHECK(shape("\"batch\":2", "\"batch\":3", "sums and most") == "");
  CHECK(shape("\"batch\":2", "\"batch\":2147483647", "sums and most") == "");
  CHECK(shape("\"heads\":1", "\"heads\":0", "heads = 0") == "");
  CHECK(shape("\"heads\":1", "\"heads\":1e99", "heads") == "");
  CHECK(shape("\"values\":2", "\"values\":2147483647", "sums and most") == "");
  CHECK(shape("\"values\":2", "\"values\":-1", "values") == "");
  CHECK(shape("\"keys\":5", "\"keys\":-5", "keys") == "");
  CHECK(shape("\"keys\"", "\"key\"", "key") == "");
  const auto twice = [](const std::string& bytes) { return bytes + bytes; };
  CHECK(refuses("sums", twice, "sums and most") == "");
  CHECK(refuses("most", twice, "sums and most") == "");
  CHECK(refuses("most", [](const std::string& bytes) { return bytes.substr(1); }) == "");
  CHECK(refuses("spec", [](const std::string& text) {
          return replaced(text, "\"positive\"", "\"negative\"");
        }) == "");
  const auto infinite = [](const std::string& bytes) {
    const double most = std::numeric_limits<double>::infinity();
    return std::string(reinterpret_cast<const char*>(&most), 8) + bytes.substr(8);
  };
  CHECK(refuses("most", infinite, "most holds inf", "0 for this map") == "");
  io::save(small_state(true), path);
  forge_section(path, "most", infinite);
  CHECK_REFUSED(MERCER_CORRUPT_FILE, loaded(path), "most holds inf");
}

}  // namespace attention_file_test
