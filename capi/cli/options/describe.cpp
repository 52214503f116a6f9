// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Commands that describe: info a file, specs what there is.
#include <memory>

#include "commands.h"
#include "options/command_line.h"
#include "options/declare.h"

namespace mercer::cli {

void add_info(CLI::App& app) {
  const auto file = std::make_shared<std::string>();
  CLI::App* info = app.add_subcommand("info", "What a map or model file holds");
  info->add_option("FILE", *file, "Map, model or statistics file; - is standard input")->required();
  info->callback([file] { run_info(*file); });
}

void add_specs(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  CLI::App* specs =
      app.add_subcommand("specs", "Kernels and maps: parameters, types, ranges, help");
  specs->add_option("NAME", *name, "One of them; default all");
  specs->callback([name] { run_specs(*name); });
}

}  // namespace mercer::cli
