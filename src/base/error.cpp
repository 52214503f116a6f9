// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The literal of a call of fail is taken apart, not its text, so that no value is mistaken for words:
// a field is what printf makes of its piece of the format.
#include "base/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "base/parameters.h"

namespace mercer {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr std::string_view kExpected = ", expected ";

/// What may follow the name of an argument; a conversion may, too: "kernel %s has no series".
constexpr std::string_view kVerbs[] = {
    " = ",       ": ",       ", ",       " is ",       " are ",     " has ",  " would ",
    " holds ",   " hold ",   " of ",     " with ",     " from ",    " and ",  " or ",
    " without ", " beside ", " sum ",    " sums ",     " add ",     " does ", " do ",
    " names ",   " needs ",  " differ ", " overlaps ", " returned "};
/// Words that begin a sentence and name nothing.
constexpr std::string_view kNoNames[] = {"the", "a", "an", "it", "no", "every", "neither", "both"};

/// A piece of a format; empty: there is none.
struct Piece {
  size_t begin = 0, end = 0;
};

/// The pieces of a format.
struct Pieces {
  Piece noun, argument, value, problem, expected;
};

/// The end of the conversion at `begin`.
size_t conversion_end(std::string_view format, size_t begin) {
  const size_t letter = format.find_first_of("diufgexsp", begin + 1);
  return letter == kNone ? format.size() : letter + 1;
}

/// The end of the first word; brackets are a part of it.
size_t word_end(std::string_view format) {
  size_t end = 0;
  for (int depth = 0; end < format.size(); ++end) {
    const char c = format[end];
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    const bool stop = (c == ':' || c == ',') && format.substr(end + 1, 1) == " ";
    if (depth == 0 && (c == ' ' || stop)) break;
  }
  return end;
}

bool names_argument(std::string_view word, std::string_view rest) {
  if (word.empty() || std::ranges::find(kNoNames, word) != std::end(kNoNames)) return false;
  if (word[0] == '%' && word[1] != 's') return false;  // a number
  return rest.empty() || rest.starts_with(" %s") || rest.starts_with(" %.*s") ||
         std::ranges::any_of(kVerbs, [&](std::string_view verb) { return rest.starts_with(verb); });
}

/// One conversion, or several as in "%ld x %ld".
Piece conversions(std::string_view format, size_t begin) {
  size_t end = conversion_end(format, begin);
  while (format.substr(end).starts_with(" x %")) end = conversion_end(format, end + 3);
  return {begin, end};
}

/// The value in what is said of an argument.
Piece value_in(std::string_view format, Piece problem) {
  const std::string_view text = format.substr(0, problem.end);
  const bool equals = text.substr(problem.begin).starts_with("= ");
  const size_t begin = problem.begin + (equals ? 2 : 0);
  if (equals && text.substr(begin, 1) == "\"") return {begin, text.find('"', begin + 1) + 1};
  if (equals && text.substr(begin, 1) != "%" && !text.substr(begin).starts_with("a list"))
    return {begin, std::min(text.find_first_of(" ,:", begin), problem.end)};
  const size_t first = text.find('%', begin);
  if (first == kNone) return {};
  const Piece found = conversions(text, first);
  // Among words a text is no value.
  const bool is_text = text[found.end - 1] == 's';
  const bool first_word = first == begin || text.substr(begin, first - begin) == "is ";
  return is_text && !first_word ? Piece{} : found;
}

/// The name of a key behind these words, in quotes, which a conversion may bring.
Piece key_behind(std::string_view noun, std::string_view format) {
  const size_t begin = noun.size();
  if (!format.starts_with(noun) || format.find_first_of("\"%", begin) != begin) return {};
  return {begin, begin + word_end(format.substr(begin))};
}

Pieces pieces_of(std::string_view format) {
  Pieces pieces;
  const size_t head = std::min(format.find(kExpected), format.size());
  if (head < format.size()) pieces.expected = {head + kExpected.size(), format.size()};
  for (const std::string_view noun : {"unknown key ", "key "}) {
    pieces.argument = key_behind(noun, format);
    if (pieces.argument.end == 0) continue;
    pieces.noun = {0, noun.size() - 1};
    break;
  }
  const size_t word = std::min(word_end(format), head);
  if (pieces.argument.end == 0 &&
      names_argument(format.substr(0, word), format.substr(word, head - word)))
    pieces.argument = {0, word};
  const size_t end = pieces.argument.end;
  pieces.problem = {end + (format.substr(end, 1) == " " ? 1 : 0), head};
  if (end > 0) pieces.value = value_in(format, pieces.problem);
  return pieces;
}

/// What printf makes of the first `end` bytes of a format.
std::string printed(const char* format, size_t end, va_list arguments) {
  const std::string begin(format, end);
  va_list copy;
  va_copy(copy, arguments);
  const int length = std::vsnprintf(nullptr, 0, begin.c_str(), copy);
  va_end(copy);
  if (length < 0) return begin;
  std::string text(length, '\0');
  va_copy(copy, arguments);
  std::vsnprintf(text.data(), text.size() + 1, begin.c_str(), copy);
  va_end(copy);
  return text;
}

std::string printed(const char* format, Piece piece, va_list arguments) {
  if (piece.end <= piece.begin) return "";
  return printed(format, piece.end, arguments)
      .substr(printed(format, piece.begin, arguments).size());
}

bool unquote(std::string* text) {
  const bool quoted = text->size() >= 2 && text->front() == '"' && text->back() == '"';
  if (quoted) *text = text->substr(1, text->size() - 2);
  return quoted;
}

/// As JSON writes it.
bool is_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number))
    return false;
  if (text[0] == '-') text.remove_prefix(1);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return digit(text[0]) && digit(text.back()) &&
         !(text.size() > 1 && text[0] == '0' && digit(text[1]));
}

ErrorFields fields_of(ErrorDetail detail, const char* format, va_list arguments) {
  const Pieces pieces = pieces_of(format);
  ErrorFields fields;
  fields.noun = printed(format, pieces.noun, arguments);
  fields.argument = printed(format, pieces.argument, arguments);
  if (!fields.noun.empty() && !unquote(&fields.argument))  // a long one, which was cut
    fields.argument = std::exchange(fields.noun, "") + " " + fields.argument;
  fields.row = detail.row;
  fields.column = detail.column;
  fields.value = printed(format, pieces.value, arguments);
  fields.is_text = unquote(&fields.value) || !is_number(fields.value);
  fields.problem = printed(format, pieces.problem, arguments);
  fields.expected = printed(format, pieces.expected, arguments);
  fields.choices.assign(detail.choices.begin(), detail.choices.end());
  return fields;
}

}  // namespace

std::string sentence(const ErrorFields& fields) {
  std::string text = fields.place.empty() ? "" : fields.place + ": ";
  text += fields.noun.empty() ? fields.argument : fields.noun + " \"" + fields.argument + "\"";
  if (fields.row >= 0) text += ": row " + std::to_string(fields.row);
  if (fields.column >= 0)
    text += (fields.row >= 0 ? ", column " : ": column ") + std::to_string(fields.column);
  if (fields.row >= 0 || fields.column >= 0) text += " (counted from 0)";
  const bool apart = !fields.argument.empty() && !fields.problem.empty() &&
                     fields.problem.find_first_of(":,") != 0;
  text += (apart ? " " : "") + fields.problem;
  if (!fields.expected.empty()) text.append(kExpected).append(fields.expected);
  return text;
}

std::string json_text(std::string_view function, const ErrorFields& fields) {
  std::string json = "{\"function\":";
  append_text(json, function);
  const auto key = [&](const char* name) -> std::string& {
    return json.append(",\"").append(name).append("\":");
  };
  const auto text = [&](const char* name, const std::string& of) {
    if (!of.empty()) append_text(key(name), of);
  };
  text("place", fields.place);
  text("noun", fields.noun);
  text("argument", fields.argument);
  if (fields.row >= 0) key("row") += std::to_string(fields.row);
  if (fields.column >= 0) key("column") += std::to_string(fields.column);
  if (fields.is_text) text("value", fields.value);
  if (!fields.is_text && !fields.value.empty()) key("value") += fields.value;
  text("problem", fields.problem);
  text("expected", fields.expected);
  const char* separator = "[";
  if (!fields.choices.empty()) key("choices");
  for (const std::string& choice : fields.choices) {
    append_text(json += separator, choice);
    separator = ",";
  }
  return json += fields.choices.empty() ? "}" : "]}";
}

Error Error::within(const std::string& place) const {
  ErrorFields fields = fields_;
  fields.place = fields.place.empty() ? place : place + ": " + fields.place;
  return {status_, std::move(fields)};
}

void fail(mercer_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Error error(status, fields_of({}, format, arguments));
  va_end(arguments);
  throw error;
}

void fail(mercer_status status, ErrorDetail detail, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Error error(status, fields_of(detail, format, arguments));
  va_end(arguments);
  throw error;
}

void require(bool ok, mercer_status status, const char* format, ...) {
  if (ok) return;
  va_list arguments;
  va_start(arguments, format);
  Error error(status, fields_of({}, format, arguments));
  va_end(arguments);
  throw error;
}

void require(bool ok, mercer_status status, ErrorDetail detail, const char* format, ...) {
  if (ok) return;
  va_list arguments;
  va_start(arguments, format);
  Error error(status, fields_of(detail, format, arguments));
  va_end(arguments);
  throw error;
}

}  // namespace mercer
