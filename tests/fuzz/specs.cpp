// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Specs of kernels, maps, bounds and the keys of other questions: made or refused with a status of
// the headers and a text; what was made prints a spec that gives itself again.
#include <set>

#include "fuzz/grammar.h"
#include "mercer/mercer.hpp"

namespace mercer::fuzz {
namespace {

const std::set<mercer_status> kRefusals = {MERCER_INVALID_ARGUMENT,      MERCER_UNSUPPORTED,
                                           MERCER_DIMENSION_MISMATCH,    MERCER_NOT_REGISTERED,
                                           MERCER_NOT_POSITIVE_DEFINITE, MERCER_NEWER_VERSION};

bool made(mercer_status status, const std::string& text) {
  if (status == MERCER_OK) return true;
  require(kRefusals.count(status) == 1 && *mercer_last_error() != 0,
          std::string(mercer_status_name(status)) + ": " + mercer_last_error() + " for " + text);
  return false;
}

template <class Handle>
std::string printed(const Handle* handle,
                    mercer_status (*print)(const Handle*, char*, int64_t, int64_t*)) {
  int64_t needed = 0;
  require(print(handle, nullptr, 0, &needed) == MERCER_OK && needed > 1, mercer_last_error());
  std::string text(static_cast<size_t>(needed), '\0');
  require(print(handle, text.data(), needed, nullptr) == MERCER_OK, mercer_last_error());
  text.pop_back();
  return text;
}

template <class Handle>
void round_trip(const std::string& text, mercer_status (*make)(const char*, Handle**),
                mercer_status (*print)(const Handle*, char*, int64_t, int64_t*),
                void (*free)(Handle*)) {
  Handle *handle = nullptr, *again = nullptr;
  if (!made(make(text.c_str(), &handle), text)) {
    require(handle == nullptr, "a handle beside a failure");
    return;
  }
  const std::string once = printed(handle, print);
  require(make(once.c_str(), &again) == MERCER_OK, once + ": " + mercer_last_error());
  require(printed<Handle>(again, print) == once, "printed again: " + once);
  free(handle);
  free(again);
}

void answer(mercer_status status, const std::string& text, const std::string& buffer) {
  if (made(status, text))
    require(Json::accept(buffer.c_str()), "no JSON: " + buffer + " for " + text);
}

}  // namespace

void fuzz_specs(Bytes& bytes) {
  const int kind = bytes.below(6);
  Wish wish;
  wish.tame = bytes.byte() % 4 == 0;
  wish.inputs = 1 + bytes.below(6);
  constexpr int kFeatures[] = {16, 32, 1, 7, 64, 1000};
  wish.features = bytes.pick(kFeatures);
  std::string text;
  if (kind == 5)
    text = bytes.rest();
  else if (kind == 4)
    text = text_of(question_spec(bytes, wish, "bounds", "bound"), bytes, wish);
  else
    text = text_of(kind < 2 ? kernel_spec(bytes, wish) : map_spec(bytes, wish), bytes, wish);
  if (kind < 2 || kind == 5)
    round_trip(text, mercer_kernel_from_spec, mercer_kernel_spec, mercer_kernel_free);
  if (kind == 2 || kind == 3 || kind == 5)
    round_trip(text, mercer_map_from_spec, mercer_map_spec, mercer_map_free);
  if (kind >= 4) {
    std::string buffer(1 << 16, '\0');
    answer(mercer_bound(text.c_str(), buffer.data(), 1 << 16, nullptr), text, buffer);
  }
}

}  // namespace mercer::fuzz
