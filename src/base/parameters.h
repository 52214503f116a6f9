// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The parameters of a kernel, map or model as an ordered tree of named values: specs are parsed
// into it and printed from it, and only spec/ knows JSON. A Field describes one parameter; tables
// of Fields define what exists.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/numbers.h"

namespace mercer {

// Numbers that were learnt or supplied, with a name, a type and a shape; a spec cannot hold them.

// std::variant whose copies may run out of memory. That of libstdc++ 12 takes a variant of strings,
// vectors and shared pointers for one that always holds a value, and so destroys the unfinished
// alternative of a copy that throws: free() of an undefined pointer.

template <class... Types>
class Variant : public std::variant<Types...> {
  using Base = std::variant<Types...>;

 public:
  using Base::Base;
  Variant() = default;
  Variant(Variant&&) noexcept = default;
  Variant& operator=(Variant&&) noexcept = default;
  Variant(const Variant& other) : Base(copied(other)) {}
  Variant& operator=(const Variant& other) { return *this = Variant(other); }
  ~Variant() = default;

 private:
  // The alternative is made in place: only the variant's own copy is at fault.
  static Base copied(const Base& other) {
    return std::visit(
        [](const auto& held) {
          return Base(std::in_place_type<std::remove_cvref_t<decltype(held)>>, held);
        },
        other);
  }
};

/// Row-major. The empty name is for numbers from files written before arrays had names.
struct NumberArray {
  std::string name;
  std::vector<int64_t> shape;
  Variant<std::vector<double>, std::vector<int64_t>> values;
};

/// Whether NaN stands for a number that is missing.
enum class Gaps { refused, allowed };

/// The array of that name, type and shape; a negative extent matches any. Errors: CORRUPT_FILE
/// saying what is missing, has another shape or is not finite.
const std::vector<double>& find_doubles(std::span<const NumberArray> arrays, std::string_view name,
                                        std::span<const int64_t> shape, Gaps gaps = Gaps::refused);
const std::vector<int64_t>& find_integers(std::span<const NumberArray> arrays,
                                          std::string_view name, std::span<const int64_t> shape);

/// The product of the extents. Errors: INVALID_ARGUMENT for a negative extent or an overflow.
int64_t count_of(std::span<const int64_t> shape);

class Parameters;

/// A list of specs, such as the parts of a kernel.
using ObjectList = std::vector<std::shared_ptr<const Parameters>>;
/// Lists of one length, such as the rows of a matrix.
using NumberLists = std::vector<std::vector<double>>;

/// null stands for "no value" (a required parameter has no default).
using Value =
    Variant<std::monostate, bool, int64_t, uint64_t, double, std::string, std::vector<double>,
            NumberLists, std::shared_ptr<const Parameters>, ObjectList>;

/// Named values in table order. Canonical: every default filled in.
class Parameters {
 public:
  Parameters() = default;
  Parameters(std::initializer_list<std::pair<const char*, Value>> entries);

  void set(std::string key, Value value);  // replaces or appends
  const Value* find(std::string_view key) const noexcept;

  /// Checked access; a missing key or another type is Error(MERCER_INTERNAL), because parameters
  /// are checked against Fields first.
  bool boolean(std::string_view key) const;
  int64_t integer(std::string_view key) const;
  uint64_t seed(std::string_view key) const;
  double number(std::string_view key) const;
  const std::string& text(std::string_view key) const;
  /// A single number is a list of one; a list of lists is concatenated.
  std::vector<double> numbers(std::string_view key) const;
  NumberLists number_lists(std::string_view key) const;  // a single number is a list of one
  const Parameters& object(std::string_view key) const;
  const ObjectList& objects(std::string_view key) const;

  std::span<const std::pair<std::string, Value>> entries() const noexcept { return entries_; }

 private:
  std::vector<std::pair<std::string, Value>> entries_;
};

enum class FieldType {
  boolean,
  integer,            // int64_t
  seed,               // uint64_t
  number,             // double
  text,               // one of choices
  number_or_numbers,  // a double or a list of doubles (lengthscale)
  numbers,            // a list of doubles
  numbers_or_lists,   // that, or a list of equally long lists of doubles
  kernel,             // a nested kernel spec
  map,                // a nested map spec
  sketch,             // a nested sketch spec: "map", one of choices, and that map's own fields
  kernels,            // a list of kernel specs
  object,             // an object of fields of its own
  maps                // a list of map specs: "map" and that map's own fields
};

/// Checks and completes a nested spec; `path` precedes its keys in messages.
using Canonical = Parameters (*)(const Parameters& given, const std::string& path);

/// One parameter: its type, domain and meaning. A monostate default makes it required; NaN makes a
/// number or an integer optional without a default. A default object is completed like a given one.
/// For lists of specs, least and most bound their number.
struct Field {
  const char* key;
  FieldType type;
  Value fallback;
  double least = -kInfinity;
  double most = kInfinity;
  bool least_open = false;  // true: value > least instead of >=
  bool most_open = false;   // true: value < most instead of <=
  std::vector<const char*> choices = {};
  const char* help = "";
  const char* former = nullptr;   // an earlier name, still read where the key is not given
  Canonical canonical = nullptr;  // for nested specs
  std::vector<Field> (*fields)() = nullptr;  // for objects
  const char* rows_choice = nullptr;         // the choice of a map that learns from rows
  const char* targets_choice = nullptr;      // of one that learns from rows and targets
};

// Parameters as canonical text, which is JSON: for specs, files and messages.

/// No spaces, keys in their order. Doubles as the shortest decimal that reads back bit for bit,
/// seeds (uint64_t) as numbers below 2^53 and as strings from there on. NaN and infinities, which
/// JSON lacks, and monostate print as null.
std::string print_object(const Parameters& object);

/// Appends the text of one value.
void append_value(std::string& out, const Value& value);
void append_text(std::string& out, std::string_view text);  // quoted and escaped

// Tables of entries that are defined in files of their own: a function gaussian_entry() for each,
// declared and listed in the file of the table; no registration at load time.

// An object made at its first use and kept for good. Unlike a function-local static it does not
// hang a child that was forked while another thread made it: pthread_once starts over in the child.

/// The object that make() returned; one per `make`. Thread-safe.
template <auto make>
const auto& made_once() {
  using Object = decltype(make());
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static const Object* made = nullptr;
  pthread_once(&once, [] { made = new Object(make()); });
  return *made;
}

}  // namespace mercer
