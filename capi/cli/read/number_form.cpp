// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A field is taken apart into what stands beside the number, groups of digits and the marks between
// them. Two different marks, a mark that repeats, or another count of digits than three behind it
// say which is which; 1,234 alone does not, and waits for other fields of its column.
#include "read/number_form.h"

#include <algorithm>
#include <cctype>

#include "failure.h"
#include "read/number.h"

namespace mercer::cli {

namespace {

constexpr std::string_view kAffixes[] = {"%",   "R$",  "$",   "€",   "£",   "¥",   "₹", "USD",
                                         "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "kr"};
constexpr size_t kLongest = 64;

// Marks of more than one byte, as the ones they stand for.
struct WideMark {
  std::string_view bytes;
  char mark;
};
constexpr WideMark kWideMarks[] = {
    {"\xc2\xa0", ' '}, {"\xe2\x80\xaf", ' '}, {"\xe2\x80\x89", ' '}, {"\xe2\x80\x99", '\''}};

std::string with_narrow_marks(std::string_view text) {
  std::string narrow;
  while (!text.empty()) {
    const auto* wide = std::ranges::find_if(
        kWideMarks, [&](const WideMark& one) { return text.starts_with(one.bytes); });
    const bool found = wide != std::end(kWideMarks);
    narrow += found ? wide->mark : text[0];
    text.remove_prefix(found ? wide->bytes.size() : 1);
  }
  return narrow;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Takes a known sign or code off one end.
bool take_affix(std::string_view* text, std::string_view* affix) {
  for (const std::string_view known : kAffixes) {
    const bool before = text->starts_with(known), behind = text->ends_with(known);
    if (!before && !behind) continue;
    if (before) text->remove_prefix(known.size());
    if (!before) text->remove_suffix(known.size());
    *text = without_blanks(*text);
    *affix = known;
    return true;
  }
  return false;
}

bool take_sign(std::string_view* text) {
  if (text->empty() || ((*text)[0] != '-' && (*text)[0] != '+')) return false;
  const bool minus = (*text)[0] == '-';
  *text = without_blanks(text->substr(1));
  return minus;
}

struct Groups {
  std::vector<std::string_view> digits;
  std::string marks;
};

/// Digits with single marks between them.
bool take_apart(std::string_view body, Groups* groups) {
  constexpr std::string_view kMarks = ",.' ";
  size_t begin = 0;
  for (size_t k = 0; k <= body.size(); ++k) {
    if (k < body.size() && is_digit(body[k])) continue;
    groups->digits.push_back(body.substr(begin, k - begin));
    begin = k + 1;
    if (k == body.size()) break;
    if (kMarks.find(body[k]) == kMarks.npos) return false;
    groups->marks += body[k];
  }
  return groups->digits.back().empty() == false;
}

/// 12 345 678: the first of `count` groups has one to three digits, the others three.
bool are_groups(const Groups& groups, size_t count) {
  const std::string_view first = groups.digits[0];
  if (first.empty() || first.size() > 3 || first[0] == '0') return false;
  return std::all_of(groups.digits.begin() + 1, groups.digits.begin() + static_cast<int64_t>(count),
                     [](std::string_view digits) { return digits.size() == 3; });
}

/// Which mark is which. False for what is no number.
bool judge(const Groups& groups, WrittenNumber* number) {
  const std::string& marks = groups.marks;
  if (marks.empty()) return true;
  const char last = marks.back();
  const bool may_be_decimal = last == ',' || last == '.';
  if (marks.find_first_not_of(marks[0]) == marks.npos) {  // one kind of mark
    const bool grouped = are_groups(groups, groups.digits.size());
    if (marks.size() > 1 || !may_be_decimal) {
      number->group = last;
      return grouped;
    }
    (grouped ? number->undecided : number->decimal) = last;
    return groups.digits[0].size() < 2 || groups.digits[0][0] != '0';
  }
  if (!may_be_decimal || marks.find(last) != marks.size() - 1) return false;
  if (marks.find_first_not_of(marks[0]) != marks.size() - 1) return false;
  number->decimal = last;
  number->group = marks[0];
  return are_groups(groups, groups.digits.size() - 1);
}

std::string plain_text(const Groups& groups, char decimal) {
  std::string text(groups.digits[0]);
  for (size_t k = 1; k < groups.digits.size(); ++k)
    text.append(groups.marks[k - 1] == decimal ? "." : "").append(groups.digits[k]);
  return text;
}

const char* name_of(char mark) { return mark == ',' ? "comma" : "point"; }

}  // namespace

std::optional<WrittenNumber> read_written(std::string_view field) {
  field = without_blanks(field);
  if (field.empty() || field.size() > kLongest) return {};
  const std::string narrow = with_narrow_marks(field);
  std::string_view text = without_blanks(narrow);
  WrittenNumber number;
  bool minus = take_sign(&text);
  if (take_affix(&text, &number.affix)) minus = take_sign(&text) || minus;
  if (text.empty() || !(is_digit(text[0]) || text[0] == ',' || text[0] == '.')) return {};
  const size_t exponent = std::min(text.find_first_of("eE"), text.size());
  Groups groups;
  if (!take_apart(text.substr(0, exponent), &groups) || !judge(groups, &number)) return {};
  const std::string plain = plain_text(groups, number.decimal).append(text.substr(exponent));
  if (parse_number(plain, &number.value) != NumberKind::finite) return {};
  if (minus) number.value = -number.value;
  return number;
}

void NumberForm::expect_decimal(char mark) {
  active_ = true;
  decimal_ = mark;
}

void NumberForm::expect_affix(const std::string& affix) {
  active_ = active_ || !affix.empty();
  affix_ = affix;
  affix_known_ = true;
}

void NumberForm::follow_plain(bool points) {
  affix_known_ = true;
  if (points && decimal_ == 0) decimal_ = '.';
}

bool NumberForm::agrees(const WrittenNumber& written, std::string_view field) {
  conflict_ = shown(field);
  if (affix_known_ && written.affix != affix_) {
    conflict_ += affix_.empty()
                     ? ", where other numbers of the column stand without " + shown(written.affix)
                     : ", where other numbers of the column stand with " + shown(affix_);
    return false;
  }
  const bool decimal = written.decimal == 0 || decimal_ == 0 || written.decimal == decimal_;
  const bool group = written.group == 0 || written.group != decimal_;
  const bool apart = written.decimal == 0 || written.decimal != group_;
  if (decimal && group && apart) return true;
  const char other = decimal_ != 0 ? decimal_ : group_ == ',' ? '.' : ',';
  conflict_ += std::string(", where other numbers of the column have a decimal ") + name_of(other) +
               " (--decimal comma or point says what the marks are)";
  return false;
}

double NumberForm::settled(const WrittenNumber& written, int64_t row) {
  if (written.undecided == 0) return written.value;
  const char mark = written.undecided;
  const bool decimal = decimal_ == mark || (mark == '.' && decimal_ == 0 && group_ != '.');
  if (decimal) decimal_ = mark;
  if (decimal) return written.value / 1000;  // whole and below 10^6, so that this rounds once
  const bool grouped = group_ == mark || decimal_ != 0;
  if (!grouped) rows_.push_back(row);
  return written.value;
}

/// 1,5 once the comma is known to be decimal, and plain numbers where the point may be, without
/// taking the field apart.
bool NumberForm::read_known(std::string_view field, double* value) const {
  char plain[kLongest];
  if (!affix_known_ || !affix_.empty() || example_row_ < 0 || field.size() > sizeof plain)
    return false;
  size_t commas = 0;
  for (size_t k = 0; k < field.size(); ++k) {
    const char c = field[k];
    if (!is_digit(c) && c != ',' && c != '-' && (c != '.' || decimal_ != '.')) return false;
    commas += c == ',';
    plain[k] = c == ',' ? '.' : c;
  }
  if (commas > (decimal_ == ',' ? 1 : 0)) return false;
  return parse_number({plain, field.size()}, value) == NumberKind::finite;
}

NumberForm::Reading NumberForm::read(std::string_view field, int64_t row, double* value) {
  if (read_known(field, value)) return Reading::number;
  const std::optional<WrittenNumber> written = read_written(field);
  if (!written) return Reading::text;
  if (!agrees(*written, field)) return Reading::conflict;
  active_ = affix_known_ = true;
  affix_ = written->affix;
  if (written->decimal != 0) decimal_ = written->decimal;
  if (written->group != 0) group_ = written->group;
  const bool telling = !written->affix.empty() || written->decimal == ',' || written->group != 0 ||
                       written->undecided != 0;
  if (example_row_ < 0 && telling) {
    example_ = field;
    example_row_ = row;
  }
  *value = settled(*written, row);
  return Reading::number;
}

std::vector<int64_t> NumberForm::take_undecided() {
  std::vector<int64_t> rows;
  if (decimal_ == 0 && group_ != ',') return rows;
  rows_.swap(rows);
  if (decimal_ != ',') rows.clear();
  return rows;
}

ColumnForm NumberForm::described(int64_t column) const {
  return {column, affix_, decimal_ == 0 && group_ == ',' ? '.' : decimal_, example_, 0};
}

}  // namespace mercer::cli
