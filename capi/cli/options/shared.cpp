// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "options/shared.h"

#include <charconv>
#include <utility>

#include "failure.h"
#include "options/command_line.h"

namespace mercer::cli {

std::function<std::string(const std::string&)> whole_number(int64_t least, int64_t most) {
  return [=](const std::string& text) -> std::string {
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const std::from_chars_result read = std::from_chars(text.data(), end, number);
    const bool good = read.ec == std::errc() && read.ptr == end && number >= least;
    if (good && number <= most) return "";
    return "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
           ", got " + shown(text);
  };
}

void add_choice(CLI::App* app, const char* name, std::string* to, WordList words,
                const char* help) {
  app->add_option(name, *to, help)
      ->check(CLI::IsMember(std::vector<std::string>(words.begin(), words.end())));
}

void add_run_options(CLI::App* app, int32_t* threads, bool* quiet) {
  app->add_option("--threads", *threads,
                  "Upper limit on threads, those of BLAS included; 0: all cores")
      ->check(whole_number(0, 100000))
      ->type_name("T");
  app->add_flag(
      "--quiet", *quiet,
      "Print scores only (of compare and relevance their table), neither what led to them "
      "nor progress; warnings go to standard error");
}

void add_column_options(CLI::App* app, ColumnRequest* columns) {
  static constexpr const char* kHeader[] = {"auto", "yes", "no"};
  static constexpr const char* kDecimal[] = {"auto", "point", "comma"};
  app->add_option("--delimiter", columns->delimiter,
                  "What separates fields of a CSV: comma, tab, semicolon, space or a character; "
                  "default auto: as its first line looks")
      ->type_name("C");
  add_choice(app, "--header", &columns->header, kHeader,
             "Whether the first line of a CSV names the columns; default auto: iff it holds "
             "text, and either no numbers or text above numbers");
  add_choice(app, "--decimal", &columns->decimal, kDecimal,
             "The decimal mark of numbers in a CSV; default auto: as each column shows");
  app->add_option("--missing-word", columns->missing_words,
                  "A further word, or number, of a CSV that stands for what is missing, as in "
                  "--missing-word=-999; repeats. predict and its like know those of the fit")
      ->type_name("WORD")
      ->allow_extra_args(false);
}

CLI::Option* add_columns(CLI::App* app, const char* name, std::vector<std::string>* to,
                         const std::string& help) {
  return app->add_option(name, *to, help)->type_name("COLUMN")->allow_extra_args(true);
}

}  // namespace mercer::cli
