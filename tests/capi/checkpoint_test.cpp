// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of a source that end in the middle again and again and go on by their checkpoint: the bytes
// of the model are those of a fit that never stopped, whatever it adds up; and what is refused.
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "fixture.h"

namespace checkpoint_test {
using namespace mercer::test;
namespace fs = std::filesystem;

constexpr int64_t kInputs = 3, kBlocks = 12;  // of all rows

/// A file of this test's own, which is not there at first.
struct Place {
  fs::path path = fs::temp_directory_path() / ("mercer_checkpoint_" + std::to_string(::getpid()));
  Place() { fs::remove(path); }
  ~Place() { fs::remove(path); }
};

/// Rows of a smooth function, or of three classes by its value.
struct Data {
  int64_t n;
  std::vector<double> X, Y;
  Data(int64_t rows, bool classes, bool weighted) : n(rows), X(numbers(rows, kInputs)) {
    for (int64_t i = 0; i < n; ++i) {
      const double* x = X.data() + i * kInputs;
      const double f = std::sin(2 * x[0]) + x[1] * x[2] + 0.05 * static_cast<double>(i % 7 - 3);
      Y.push_back(!classes ? f : f < -0.3 ? 0 : f < 0.3 ? 1 : 2);
      if (weighted) Y.push_back(static_cast<double>(1 + i % 3));
    }
  }
  int64_t block() const { return (n + kBlocks - 1) / kBlocks; }
};

/// A source that can be told to fail before a block: `blocks` counts those that were described.
struct Source {
  const Data& data;
  bool weighted = false, skips = true;
  std::string checkpoint = {}, identity = "these rows";
  int64_t left = INT64_MAX;  // blocks until the failure
  int64_t at = 0, blocks = 0, skipped = 0, passes = 0;

  mercer_row_source calls() {
    mercer_row_source made = {};
    made.struct_size = sizeof made;
    made.weighted = weighted ? 1 : 0;
    made.d = kInputs;
    made.m = 1;
    made.user = this;
    made.rewind = [](void* user) {
      auto& own = *static_cast<Source*>(user);
      own.at = 0;
      ++own.passes;
      return 0;
    };
    made.next = [](void* user, mercer_rows* X, mercer_rows* Y) {
      return static_cast<Source*>(user)->next(X, Y);
    };
    if (checkpoint.empty()) return made;
    made.checkpoint = checkpoint.c_str();
    made.identity = identity.c_str();
    if (skips)
      made.skip = [](void* user, int64_t count) {
        auto& own = *static_cast<Source*>(user);
        own.at += count * own.data.block();
        own.skipped += count;
        return 0;
      };
    return made;
  }
  int32_t next(mercer_rows* X, mercer_rows* Y) {
    const int64_t count = std::min(data.block(), data.n - at), columns = weighted ? 2 : 1;
    if (count <= 0) return 0;
    if (left-- == 0) return 7;
    ++blocks;
    *X = mercer_rows_f64(count, kInputs, data.X.data() + at * kInputs);
    *Y = mercer_rows_f64(count, columns, data.Y.data() + at * columns);
    at += count;
    return 0;
  }
};

struct Fitted {
  mercer_status status = MERCER_INTERNAL;
  std::string says;
  ModelHandle model;
};

Fitted fit(Source& source, const char* spec) {
  const mercer_row_source calls = source.calls();
  mercer_model* model = nullptr;
  const mercer_status status = mercer_model_fit(spec, data_of(calls, nullptr), nullptr, &model);
  return {status, status == MERCER_OK ? "" : mercer_last_error(), ModelHandle(model)};
}

std::string bytes_of(const mercer_model* model) {
  int64_t needed = 0;
  REQUIRE(mercer_model_write(model, nullptr, nullptr, 0, &needed) == MERCER_OK);
  std::string bytes(static_cast<size_t>(needed), ' ');
  REQUIRE(mercer_model_write(model, nullptr, bytes.data(), needed, nullptr) == MERCER_OK);
  return bytes;
}

struct Case {
  const char* name;
  const char* spec;
  int64_t rows = 6000;
  bool classes = false, weighted = false, skips = true;
};

/// Fits until it succeeds; attempts end after a random number of blocks, later ones of more: a pass
/// that is not kept has to come to its end. Returns the blocks that all attempts have read.
int64_t fit_by_pieces(const Case& one, const Data& data, const Place& place, uint32_t seed,
                      Fitted* fitted) {
  std::mt19937 random(seed);
  int64_t blocks = 0;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    Source source{data, one.weighted, one.skips, place.path};
    source.left = std::uniform_int_distribution<int64_t>(0, 9 + 2 * attempt)(random);
    *fitted = fit(source, one.spec);
    blocks += source.blocks - (one.skips ? 0 : source.skipped);
    if (fitted->status == MERCER_OK) return blocks;
    REQUIRE(fitted->says.find("source->next returned 7") != std::string::npos);
    REQUIRE(fs::exists(place.path));
    *fitted = {};
  }
  return -1;
}

const Case kCases[] = {
    {"ridge", R"({"search":false,"map":{"features":40},"select":{"by":"gcv"}})"},
    {"ridge of weighted rows",
     R"({"search":false,"map":{"features":40},"select":{"by":"gcv"},"precision":"f64"})", 6000,
     false, true},
    {"folds", R"({"search":false,"map":{"features":40},"select":{"by":"folds","folds":3}})"},
    {"sums kept", R"({"search":false,"map":{"features":40},"select":{"by":"gcv"},"keep":"sums"})"},
    {"few entries a row",
     R"({"search":false,"map":{"map":"random_binning","kernel":"laplacian","features":256},"lambda":1e-3})"},
    {"a grid",
     R"({"search":false,"map":{"projection":"grid","features":64,"diameter":8},"lambda":1e-3})"},
    {"a search", R"({"effort":"quick","map":{"features":32}})", 41000},
    {"a search of classes, weighted, without skip",
     R"({"effort":"quick","map":{"features":32},"task":"classification","classes":3})", 41000, true,
     true, false},
    {"a search of all rows", R"({"effort":"quick","map":{"features":32}})", 3000},
};

TEST_CASE("a fit that ends anywhere goes on to the same bytes") {
  for (const Case& one : kCases) {
    INFO(one.name);
    const Data data(one.rows, one.classes, one.weighted);
    Source whole{data, one.weighted};
    const Fitted plain = fit(whole, one.spec);
    REQUIRE(plain.says == "");
    Place place;
    Source kept{data, one.weighted, one.skips, place.path};
    const Fitted once = fit(kept, one.spec);
    REQUIRE(once.says == "");
    CHECK(kept.blocks == whole.blocks);
    CHECK(kept.skipped == 0);
    const std::string bytes = bytes_of(once.model.get());
    const mercer_rows judged = mercer_rows_f64(500, kInputs, data.X.data());
    CHECK(values_of(once.model.get(), judged) == values_of(plain.model.get(), judged));
    for (const uint32_t seed : {1U, 2U}) {
      fs::remove(place.path);
      Fitted pieces;
      fit_by_pieces(one, data, place, seed, &pieces);
      REQUIRE(pieces.status == MERCER_OK);
      CHECK(bytes_of(pieces.model.get()) == bytes);
    }
  }
}

// Of these fits each pass is kept, so that all pieces together read what one fit does.
TEST_CASE("no block of sums is read twice") {
  for (const Case& one : {kCases[0], kCases[1], kCases[3], kCases[4], kCases[5], kCases[6]}) {
    INFO(one.name);
    const Data data(one.rows, one.classes, one.weighted);
    Source whole{data, one.weighted};
    REQUIRE(fit(whole, one.spec).says == "");
    Place place;
    Fitted pieces;
    CHECK(fit_by_pieces(one, data, place, 3, &pieces) == whole.blocks);
  }
}

TEST_CASE("a checkpoint of something else is refused by name") {
  const Data data(3000, false, false);
  const char* const spec = kCases[0].spec;
  Place place;
  Source source{data, false, true, place.path};
  source.left = 8;
  REQUIRE(fit(source, spec).status == MERCER_IO);
  const auto refuses = [&](Source other, const char* json, mercer_status status, const char* says) {
    other.left = INT64_MAX;
    other.blocks = 0;
    const Fitted fitted = fit(other, json);
    INFO(fitted.says);
    CHECK(fitted.status == status);
    CHECK(fitted.says.find(says) != std::string::npos);
    CHECK(fitted.says.find(place.path.string()) != std::string::npos);
    CHECK(other.blocks == 0);
  };
  Source rows = source;
  rows.identity = "other rows";
  refuses(rows, spec, MERCER_INVALID_ARGUMENT, "of other rows");
  refuses(source, kCases[3].spec, MERCER_INVALID_ARGUMENT, "of another spec");
  Source weighted = source;
  weighted.weighted = true;
  refuses(weighted, spec, MERCER_INVALID_ARGUMENT, "of another spec");
  std::string bytes;
  {
    std::ifstream file(place.path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto write = [&](const std::string& text) {
    std::ofstream(place.path, std::ios::binary) << text;
  };
  for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 40) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 16);
    write(damaged);
    Source other = source;
    other.left = INT64_MAX;
    const Fitted fitted = fit(other, spec);
    INFO(at << ": " << fitted.says);
    CHECK((fitted.status == MERCER_CORRUPT_FILE || fitted.status == MERCER_NEWER_VERSION ||
           fitted.status == MERCER_INVALID_ARGUMENT));
  }
  write(bytes.substr(0, bytes.size() / 2));
  refuses(source, spec, MERCER_CORRUPT_FILE, "");
  const ModelHandle model = small_model(60, 3);
  write(bytes_of(model.get()));
  refuses(source, spec, MERCER_INVALID_ARGUMENT, "checkpoint");
  write(bytes);
  Source again = source;
  again.left = INT64_MAX;
  CHECK(fit(again, spec).status == MERCER_OK);
}

TEST_CASE("a checkpoint needs all that is said of it") {
  const Data data(3000, false, false);
  const char* const spec = kCases[0].spec;
  const auto says = [&](const std::function<void(mercer_row_source&)>& change) {
    Source source{data};
    mercer_row_source calls = source.calls();
    change(calls);
    mercer_model* model = nullptr;
    CHECK(mercer_model_fit(spec, data_of(calls, nullptr), nullptr, &model) != MERCER_OK);
    return std::string(mercer_last_error());
  };
  Place place;
  const std::string path = place.path;
  CHECK(says([&](auto& calls) { calls.checkpoint = path.c_str(); }).find("source->identity") !=
        std::string::npos);
  CHECK(says([](auto& calls) { calls.identity = "rows"; }).find("source->identity") !=
        std::string::npos);
  CHECK(says([](auto& calls) {
          calls.skip = [](void*, int64_t) { return 0; };
        }).find("source->skip") != std::string::npos);
  const std::string none = path + "/none/file";
  CHECK(says([&](auto& calls) {
          calls.checkpoint = none.c_str();
          calls.identity = "rows";
        }).find(none) != std::string::npos);
  CHECK(!fs::exists(place.path));
}

}  // namespace checkpoint_test
