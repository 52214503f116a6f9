// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// JSON text <-> Parameters. UTF-8 is checked before the parser sees it.
#include "spec/json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.h"

namespace mercer::spec {
namespace {

// Well-formed UTF-8 by the table of RFC 3629, section 4: the first byte fixes how many follow, and
// the range of the second one excludes overlong forms (E0, F0), surrogates (ED) and code points
// above U+10FFFF (F4).

struct Shape {
  std::size_t length;  // 0: not a first byte
  unsigned char second_least;
  unsigned char second_most;
};

Shape shape_of(unsigned char first) noexcept {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xC2) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first < 0xF4) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const Shape shape = shape_of(static_cast<unsigned char>(text[i]));
    if (shape.length == 0 || text.size() - i < shape.length) return false;
    for (std::size_t k = 1; k < shape.length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      const unsigned char least = k == 1 ? shape.second_least : 0x80;
      const unsigned char most = k == 1 ? shape.second_most : 0xBF;
      if (byte < least || byte > most) return false;
    }
    i += shape.length;
  }
  return true;
}

// JSON to Parameters through the SAX interface of nlohmann-json, which keeps no tree and does not
// recurse, so hostile nesting costs nothing: it is refused at the brace that exceeds the limit.

namespace {

constexpr const char* kKernel = "kernel";
constexpr const char* kInner[] = {"scalar", "of"};  // keys of a kernel inside a kernel
// Of maps and questions that hold a kernel; no kernel has one of them.
constexpr const char* kKeysBesideKernels[] = {"map",   "inputs", "features",
                                              "error", "test",   "bound"};

/// What others call it is read, too.
std::string kernel_name(std::string_view name) {
  return std::string(name == "rbf" ? "gaussian" : name);
}

std::string key_text(std::string_view text) {
  std::string out;
  append_text(out, text.substr(0, 60));
  for (char& byte : out) {
    if (static_cast<unsigned char>(byte) >= 0x80) byte = '?';  // the cut may have split a character
  }
  return out;
}

/// The parser's own words without its error number, in ASCII.
std::string reason(std::string_view what) {
  const std::size_t bracket = what.find("] ");
  std::string text(bracket == std::string_view::npos ? what : what.substr(bracket + 2));
  if (text.starts_with("parse error at ")) text.erase(0, 15);
  if (text.size() > 200) text.resize(200);
  for (char& byte : text) {
    if (byte < 0x20 || byte > 0x7E) byte = '?';
  }
  return text;
}

class Reader {
 public:
  // The names and types are those of nlohmann-json's SAX interface.
  using Json = nlohmann::json;

  bool null() { return put(std::monostate{}); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Json::number_integer_t value) { return number(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return number(value); }
  bool number_float(Json::number_float_t value, const std::string& text) {
    require(std::isfinite(value), MERCER_INVALID_ARGUMENT,
            "spec: number %s is beyond the range of double", key_text(text).c_str());
    return number(value);
  }
  bool string(std::string& value) {
    const std::string_view key = frames_.empty() ? "" : std::string_view(frames_.back().key);
    if (list_depth_ == 1 && is_kernels(key)) {
      std::string name(kKernel);
      return start_object(1) && this->key(name) && string(value) && end_object();
    }
    if (list_depth_ > 0 || (key != kKernel && !is_inner(key))) return put(std::move(value));
    Value name(kernel_name(value));
    if (key == kKernel && is_kernel()) return put(std::move(name));
    return put(std::make_shared<const Parameters>(Parameters{{kKernel, std::move(name)}}));
  }
  bool binary(Json::binary_t&) { return false; }

  bool start_object(std::size_t) {
    open_in_list();
    descend();
    frames_.emplace_back();
    return true;
  }
  bool key(std::string& name) {
    Frame& frame = frames_.back();
    require(frame.object.find(name) == nullptr, MERCER_INVALID_ARGUMENT,
            "spec: duplicate key %s, expected every key once", key_text(name).c_str());
    require(frame.object.entries().size() < kMostKeys, MERCER_INVALID_ARGUMENT,
            "spec: an object has more than %d keys", kMostKeys);
    frame.key = std::move(name);
    return true;
  }
  bool end_object() {
    --depth_;
    auto object = std::make_shared<Parameters>(std::move(frames_.back().object));
    frames_.pop_back();
    if (frames_.empty()) {
      root_ = std::move(object);
      return true;
    }
    if (!frames_.back().in_objects)
      return put(std::shared_ptr<const Parameters>(std::move(object)));
    frames_.back().objects.push_back(std::move(object));
    list_depth_ = 1;
    return true;
  }
  bool start_array(std::size_t) {
    if (is_list_of_objects()) refuse_in_list("a list beside objects");
    if (list_depth_ == 2) refuse_in_list("lists inside a list");
    if (!list_.empty()) refuse_in_list("numbers beside lists");
    require(lists_.size() < kMostLists, MERCER_INVALID_ARGUMENT,
            "spec: key %s holds more than %d lists", key_of_list().c_str(), kMostLists);
    descend();
    ++list_depth_;
    return true;
  }
  bool end_array() {
    --depth_;
    std::vector<double> list = std::exchange(list_, {});
    if (--list_depth_ == 1) {
      lists_.push_back(std::move(list));
      return true;
    }
    Frame& frame = frames_.back();
    if (std::exchange(frame.in_objects, false)) return put(std::exchange(frame.objects, {}));
    NumberLists lists = std::exchange(lists_, {});
    return lists.empty() ? put(std::move(list)) : put(std::move(lists));
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) {
    fail(MERCER_INVALID_ARGUMENT, "spec is not valid JSON: %s", reason(error.what()).c_str());
  }

  Parameters take() {
    require(root_ != nullptr, MERCER_INVALID_ARGUMENT, "spec, expected a JSON object {...}");
    return std::move(*root_);
  }

 private:
  struct Frame {
    Parameters object;
    std::string key;
    ObjectList objects;  // of the list that is being read
    bool in_objects = false;
  };

  void descend() {
    require(++depth_ <= kMostDepth, MERCER_INVALID_ARGUMENT, "spec: nested deeper than %d levels",
            kMostDepth);
  }
  /// A list of objects stays open in its frame while one of them is read.
  void open_in_list() {
    if (list_depth_ == 0) return;
    if (list_depth_ == 2 || !lists_.empty()) refuse_in_list("an object beside lists");
    if (!list_.empty()) refuse_in_list("an object beside numbers");
    require(frames_.back().objects.size() < kMostObjects, MERCER_INVALID_ARGUMENT,
            "spec: key %s holds more than %d objects", key_of_list().c_str(), kMostObjects);
    frames_.back().in_objects = true;
    list_depth_ = 0;
  }
  void refuse_in_list(const char* what) const {
    require(list_depth_ == 0, MERCER_INVALID_ARGUMENT,
            "spec: key %s holds a list with %s, expected a list of numbers, of lists of numbers or "
            "of objects",
            key_of_list().c_str(), what);
  }
  /// Whether the innermost object is a kernel's, where "kernel" is a name; elsewhere a name stands
  /// for the object.
  bool is_kernel() const {
    if (frames_.size() == 1) return true;  // as far as is known before its other keys
    const std::string& outer = frames_[frames_.size() - 2].key;
    return outer == kKernel || is_inner(outer) || is_kernels(outer);
  }
  static bool is_inner(std::string_view key) {
    return std::ranges::find(kInner, key) != std::end(kInner);
  }
  /// A list of kernels' objects or names.
  static bool is_kernels(std::string_view key) { return key == "parts" || key == "kernels"; }
  std::string key_of_list() const {
    return frames_.empty() ? "\"\"" : key_text(frames_.back().key);
  }
  bool is_list_of_objects() const { return list_depth_ > 0 && frames_.back().in_objects; }
  template <class Number>
  bool number(Number value) {
    if (is_list_of_objects()) refuse_in_list("a number beside objects");
    if (list_depth_ == 1 && !lists_.empty()) refuse_in_list("numbers beside lists");
    if (list_depth_ > 0) {
      list_.push_back(static_cast<double>(value));
      return true;
    }
    if constexpr (std::is_same_v<Number, uint64_t>) {
      if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return put(static_cast<int64_t>(value));
      }
    }
    return put(value);
  }
  bool put(Value value) {
    refuse_in_list("something else");
    require(!frames_.empty(), MERCER_INVALID_ARGUMENT, "spec, expected a JSON object {...}");
    frames_.back().object.set(std::move(frames_.back().key), std::move(value));
    return true;
  }

  std::vector<Frame> frames_;
  int list_depth_ = 0;
  NumberLists lists_;         // elements of the current list
  std::vector<double> list_;  // numbers of the innermost one
  int depth_ = 0;
  std::shared_ptr<Parameters> root_;
};

}  // namespace

Parameters parse_object(std::string_view text, int64_t most_bytes) {
  require(text.size() <= static_cast<uint64_t>(most_bytes), MERCER_INVALID_ARGUMENT,
          "spec has %zu bytes, expected at most %ld", text.size(), most_bytes);
  // The lexer takes a NUL for the end of the text and would ignore the rest.
  const std::size_t nul = text.find('\0');
  require(nul == std::string_view::npos, MERCER_INVALID_ARGUMENT, "spec: NUL byte at offset %zu",
          nul);
  require(is_utf8(text), MERCER_INVALID_ARGUMENT, "spec is not valid UTF-8");
  // Most often a bare name, for which the parser's message is confusing.
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  require(first != std::string_view::npos && text[first] == '{', MERCER_INVALID_ARGUMENT,
          "spec = %s, expected a JSON object, {\"KEY\":VALUE,...}", key_text(text).c_str());
  Reader reader;
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  Parameters root = reader.take();
  const Value* const kernel = root.find(kKernel);
  const bool is_kernel = std::ranges::none_of(
      kKeysBesideKernels, [&root](const char* key) { return root.find(key) != nullptr; });
  if (kernel != nullptr && std::holds_alternative<std::string>(*kernel) && !is_kernel)
    root.set(kKernel, std::make_shared<const Parameters>(Parameters{{kKernel, Value(*kernel)}}));
  return root;
}

Parameters parse_kernel(std::string_view text) {
  const bool is_name = !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (is_name && text.size() <= kMostNameBytes) return {{kKernel, kernel_name(text)}};
  return parse_object(text);
}

}  // namespace mercer::spec
