// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "io/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "io/container.h"
#include "io/input_output.h"
#include "io/object_file.h"

namespace mercer::io {
namespace {

constexpr const char* kKind = "checkpoint";
constexpr const char* kState = "the states of a checkpoint";

SectionReader sections_of(const std::string& path) {
  InputFile file(path);
  return {file, kKind, {"version", "fit", "rows", "search", "passes"}};
}

}  // namespace

void Checkpoint::keep(Pass& pass, StateBytes& bytes) {
  bytes.number(pass.place.blocks);
  bytes.number(pass.place.read);
  bytes.number(pass.place.rows);
  bytes.flag(pass.place.over);
  bytes.list(pass.state);
}

std::vector<Checkpoint::Pass> Checkpoint::passes_of(std::span<const std::byte> section) {
  StateBytes bytes(section);
  std::vector<Pass> passes(static_cast<size_t>(bytes.count_of(0, 4 * sizeof(int64_t))));
  for (size_t k = 0; k < passes.size(); ++k) {
    keep(passes[k], bytes);
    const Place& at = passes[k].place;
    require(
        at.blocks >= 0 && at.read >= at.rows && at.rows >= 0 && (at.over || k + 1 == passes.size()),
        MERCER_INVALID_ARGUMENT, "pass %zu ends after %ld blocks, expected a place, its end", k,
        at.blocks);
  }
  bytes.require_end();
  return passes;
}

Checkpoint::Checkpoint(std::string path, CheckpointOf of, Context& context)
    : path_(std::move(path)), of_(std::move(of)), context_(context) {
  std::error_code none;
  if (std::filesystem::exists(path_, none)) {
    read();
  } else {
    write();  // a path that cannot be written is refused before there is work to lose
  }
}

void Checkpoint::read() {
  const SectionReader file = sections_of(path_);
  for (const auto& [name, own, what] :
       {std::tuple{"version", &of_.version, "another version of the library"},
        {"fit", &of_.fit, "another spec, other columns or another map"},
        {"rows", &of_.rows, "other rows"}})
    require(file.text(name) == *own, MERCER_INVALID_ARGUMENT,
            "source->checkpoint = %s is of %s, expected a file of this fit, or none there: remove "
            "it to begin anew",
            path_.c_str(), what);
  const std::span<const std::byte> search = file.bytes("search");
  search_.assign(search.begin(), search.end());
  passes_ = parsed_from(file.input(), [&] { return passes_of(file.bytes("passes")); });
  for (Pass& pass : passes_) {
    pass.held = context_.charge(std::ssize(pass.state), kState);
    on_file_ += pass.place.over ? 1 : 0;
  }
}

Checkpoint::Place Checkpoint::begin(const solver::PassState& state) {
  state_ = state;
  place_ = {};
  if (at_ == passes_.size()) return place_;
  Pass& kept = passes_[at_];
  parsed_from("\"" + path_ + "\"", [&] {
    StateBytes bytes{std::span<const std::byte>(kept.state)};
    state(bytes);
    bytes.require_end();
  });
  place_ = kept.place;
  if (!place_.over) {
    passes_.pop_back();
    return place_;
  }
  kept = {place_, {}, {}};
  ++at_;
  state_ = nullptr;
  return place_;
}

void Checkpoint::reach(const Place& place) {
  place_ = place;
  if (place.over) {
    Pass ended{place, {}, {}};
    StateBytes bytes(ended.state);
    state_(bytes);
    ended.held = context_.charge(std::ssize(ended.state), kState);
    passes_.push_back(std::move(ended));
    ++at_;
    state_ = nullptr;
  }
  write_if_due();
}

void Checkpoint::stop() noexcept {
  try {
    write();
  } catch (...) {  // what ends the call is what its caller is told; the file stays as it was
  }
}

std::unique_ptr<model::Model> Checkpoint::searched() {
  if (search_.empty()) return nullptr;
  MemoryInput input(search_);
  return read_model({"\"" + path_ + "\"", read_container(input, "model")});
}

std::unique_ptr<model::Model> Checkpoint::keep_search(const model::Model& found) {
  MemoryOutput output;
  save(found, output);
  search_.assign(output.bytes().begin(), output.bytes().end());
  write_if_due();
  return searched();
}

void Checkpoint::write_if_due() {
  if (seconds_since(written_) >= std::max(kLeastSeconds, kShare * cost_)) write();
}

/// The passes that are over, and the one that runs, whose state is not copied.
std::vector<std::byte> Checkpoint::encoded(std::vector<Pass>& passes) {
  std::vector<std::byte> all;
  StateBytes bytes(all);
  const bool runs = state_ != nullptr && place_.blocks > 0;
  bytes.count_of(std::ssize(passes) + (runs ? 1 : 0), 1);
  for (Pass& pass : passes) keep(pass, bytes);
  if (!runs) return all;
  Pass now{place_, {}, {}};
  keep(now, bytes);  // of no bytes yet
  const size_t begin = all.size();
  state_(bytes);
  const int64_t length = std::ssize(all) - static_cast<int64_t>(begin);
  std::memcpy(all.data() + begin - sizeof length, &length, sizeof length);
  return all;
}

void Checkpoint::write() {
  const Clock::time_point start = Clock::now();
  std::vector<Pass> passes;
  if (on_file_ > 0) passes = passes_of(sections_of(path_).bytes("passes"));
  passes.resize(on_file_);
  std::ranges::move(passes_.begin() + static_cast<ptrdiff_t>(on_file_), passes_.end(),
                    std::back_inserter(passes));
  const std::vector<std::byte> all = encoded(passes);
  const MemoryCharge held = context_.charge(std::ssize(all), kState);
  FileOutput output(path_);
  const SectionView sections[] = {{"version", bytes_of(of_.version)},
                                  {"fit", bytes_of(of_.fit)},
                                  {"rows", bytes_of(of_.rows)},
                                  {"search", search_},
                                  {"passes", all}};
  write_container(output, kKind, sections);
  for (; on_file_ < passes_.size(); ++on_file_)
    passes_[on_file_] = {passes[on_file_].place, {}, {}};
  written_ = Clock::now();
  cost_ = std::chrono::duration<double>(written_ - start).count();
}

}  // namespace mercer::io
