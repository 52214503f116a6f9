// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "options/shared.h"

#include <algorithm>

#include "failure.h"

namespace mercer::cli {

std::function<std::string(const std::string&)> whole_number(int64_t least, int64_t most) {
  return [=](const std::string& text) -> std::string {
    int64_t number = 0;
    if (parse_whole(text, &number) && number >= least && number <= most) return "";
    return "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
           ", got " + shown(text);
  };
}

std::function<std::string(const std::string&)> one_of(const Words& words) {
  return [=](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    return "expected one of " + listed(words, words.size()) + ", got " + shown(text) +
           did_you_mean(text, words);
  };
}

CLI::Option* add_reader(CLI::App* app, const char* name, const char* type, const char* help,
                        const std::function<void(const std::string&)>& read) {
  return app->add_option_function<std::string>(name, read, help)->type_name(type);
}

CLI::Option* add_text(CLI::App* app, const char* name, std::string* to, const char* type,
                      const char* help) {
  return app->add_option(name, *to, help)->type_name(type);
}

void add_choice(CLI::App* app, const char* name, std::string* to, const Words& words,
                const char* help) {
  add_text(app, name, to, CLI::detail::join(words, "|").c_str(), help)->check(one_of(words));
}

CLI::Option* add_whole(CLI::App* app, const char* name, Json* spec, const char* key, int64_t most,
                       const std::string& help, int64_t least) {
  const auto keep = [=](const int64_t& number) { (*spec)[key] = number; };
  return app->add_option_function<int64_t>(name, keep, help)
      ->check(whole_number(least, most))
      ->type_name("N");
}

void add_run_options(CLI::App* app, RunRequest* run) {
  app->option_defaults()->group("Run");
  app->add_option("--threads", run->threads,
                  "Upper limit on threads, those of BLAS included; 0: all cores")
      ->check(whole_number(0, 100000))
      ->type_name("T");
  app->add_flag(
      "--quiet", run->quiet,
      "Print scores alone (compare and relevance: their table), without search and progress; "
      "warnings go to standard error");
  app->add_flag("--json", run->json,
                "Print one JSON object in place of text; notes and warnings go to standard error");
}

void add_column_options(CLI::App* app, ColumnRequest* columns) {
  add_list(app, "--ignore", &columns->ignore, "COLUMN",
           "Columns left out, by name (all of that name) or number from 1: u,v or repeated");
  add_text(app, "--delimiter", &columns->delimiter, "C",
           "What separates fields of a CSV: comma, tab, semicolon, space or a character; "
           "default auto: as its first line looks");
  add_choice(app, "--header", &columns->header, {"auto", "yes", "no"},
             "Whether the first line of a CSV names the columns; default auto: if it holds "
             "text, and either no number or a text above a column of numbers");
  app->add_option("--skip", columns->skip, "Lines above the header, or first row, of a CSV")
      ->check(whole_number(0, int64_t{1} << 40))
      ->type_name("N");
  add_choice(app, "--decimal", &columns->decimal, {"auto", "point", "comma"},
             "The decimal mark of numbers in a CSV; default auto: that of the fit, else a point, "
             "and in a column that has one form with marks of thousands the one that it shows");
  add_choice(
      app, "--index-base", &columns->index_base, {"auto", "0", "1"},
      "The index of the first column in a libsvm file; default auto: that of the fit, else 0 "
      "if some row lists it, else 1");
  add_list(app, "--missing-word", &columns->missing_words, "WORD",
           "A further word, or number, of a CSV that stands for what is missing, as in "
           "--missing-word=-999; repeats. predict and its like know those of the fit");
}

void add_form_options(CLI::App* app, ColumnRequest* columns) {
  add_list(app, "--dates", &columns->dates, "COLUMN",
           "Columns of dates and times, read as days since 1970 (times alone as parts of a day): "
           "u,v or repeated");
  add_list(app, "--numbers", &columns->numbers, "COLUMN",
           "Columns that are numbers, though they look like codes with leading zeros");
}

void add_plan_options(CLI::App* app, PlanRequest* plan, const char* lengthscale, bool has_map) {
  add_text(app, "--kernel", &plan->kernel, "JSON|NAME",
           "Kernel: a name, or a JSON spec (see: mercer specs); default that of the map: "
           "gaussian for fourier");
  if (has_map)
    add_text(app, "--map", &plan->map, "JSON|NAME",
             "Feature map: a name, or a JSON spec; default that of the kernel");
  add_text(app, "--lengthscale", &plan->lengthscale, "L|auto", lengthscale);
}

void add_seed(CLI::App* app, uint64_t* seed) {
  // CLI11 takes 2^64 for 2^64 - 1, -1 for the same, and NaN for a number in any range.
  add_reader(app, "--seed", "S", "Fixes every random number; default 0",
             [seed](const std::string& text) { *seed = read_seed(text); });
}

void add_list(CLI::App* app, const char* name, std::vector<std::string>* to, const char* type,
              const char* help) {
  app->add_option(name, *to, help)->type_name(type)->allow_extra_args(false);
}

}  // namespace mercer::cli
