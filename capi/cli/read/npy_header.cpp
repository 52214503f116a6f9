// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The dictionary of a .npy header, in any order of its three keys. Source: NumPy Enhancement
// Proposal 1 and numpy.lib.format.
#include "read/npy_header.h"

#include <charconv>

#include "failure.h"

namespace mercer::cli {

namespace {

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      take(key);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty()) refuse("text after the dictionary");
    if (!has_type_ || !has_order_ || !has_shape_)
      refuse("descr, fortran_order or shape is missing");
    return header_;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail_at(name_, 0, 0, "malformed npy header: " + why);
  }

  void skip_blanks() {
    const size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == rest_.npos ? rest_.size() : first);
  }
  bool accept(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse(std::string("expected '") + c + "' before " + shown(rest_));
  }
  std::string quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const size_t end = rest_.find(quote);
    if (end == rest_.npos) refuse("a string is not closed");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  void take(const std::string& key) {
    if (key == "descr") {
      skip_blanks();
      if (!rest_.empty() && rest_.front() == '[')
        fail_at(name_, 0, 0, "structured npy arrays are not supported");
      header_.type = type(quoted());
      has_type_ = true;
    } else if (key == "fortran_order") {
      header_.fortran_order = boolean();
      has_order_ = true;
    } else if (key == "shape") {
      shape();
      has_shape_ = true;
    } else {
      refuse("unknown key " + shown(key));
    }
  }

  ElementType type(const std::string& descr) const {
    const bool known_order = !descr.empty() && (descr[0] == '<' || descr[0] == '>' ||
                                                descr[0] == '|' || descr[0] == '=');
    const std::string body = known_order ? descr.substr(1) : descr;
    ElementType out{body.empty() ? '?' : body[0], 0, !descr.empty() && descr[0] == '>',
                    shown(descr)};
    if (out.kind == 'b') out.kind = 'u';  // booleans are bytes 0 and 1
    const bool digit = body.size() == 2 && body[1] >= '1' && body[1] <= '8';
    out.bytes = digit ? body[1] - '0' : 0;
    const bool floating = out.kind == 'f' && (out.bytes == 4 || out.bytes == 8);
    const bool whole = (out.kind == 'u' || out.kind == 'i') &&
                       (out.bytes == 1 || out.bytes == 2 || out.bytes == 4 || out.bytes == 8);
    if (!floating && !whole) {
      fail_at(name_, 0, 0,
              "npy elements of type " + shown(descr) +
                  " are not supported (f4, f8, i1..i8, u1..u8, b1 are)");
    }
    return out;
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {std::string_view("False"), std::string_view("True")}) {
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    }
    refuse("fortran_order is neither True nor False");
  }

  void shape() {
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      uint64_t extent = 0;
      const std::from_chars_result result =
          std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (result.ec != std::errc()) refuse("bad extent in shape before " + shown(rest_));
      rest_.remove_prefix(static_cast<size_t>(result.ptr - rest_.data()));
      header_.shape.push_back(extent);
      if (header_.shape.size() > 32) refuse("more than 32 dimensions");
      if (!accept(',')) {
        expect(')');
        return;
      }
    }
  }

  std::string_view rest_;
  const std::string& name_;
  NpyHeader header_;
  bool has_type_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& name) {
  return HeaderParser(text, name).parse();
}

}  // namespace mercer::cli
