// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The mercer command: options to requests, failures to one line on standard error and exit
// status 1.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "failure.h"
#include "faults.h"
#include "interrupt.h"
#include "mercer/base.hpp"
#include "message.h"
#include "options/command_line.h"
#include "options/declare.h"

namespace {

using namespace mercer::cli;

constexpr int kClosedPipe = 141;  // as a shell tells of a program that SIGPIPE ends

int complain(std::string command, std::string text) {
  std::fflush(stdout);  // what was printed before stands before, in a pipe as well
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (!command.empty()) command += ": ";
  std::fprintf(stderr, "mercer: %s%s\n", command.c_str(), text.c_str());
  return 1;
}

/// Of standard output, once writing failed.
bool reader_is_gone() {
  if (errno == EPIPE) return true;
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

std::string command_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? "" : chosen.front()->get_name();
}

/// Of a wrong command line; --help and --version are told as errors, too.
int answer(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  // But not behind a word that is no command.
  const bool meant = argc < 2 || argv[1][0] == '-' || !app.get_subcommands().empty();
  if (error.get_exit_code() == 0 && meant) return app.exit(error);
  if (app.get_subcommands().empty()) return complain("", command_fault(app, argc, argv));
  // A word that is no option is told before an option that is wanting.
  const CLI::App& command = *app.get_subcommands().front();
  const bool surplus = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (surplus || has_unknown_option(command))
    return complain(command.get_name(), surplus_fault(command));
  return complain(command.get_name(), error.what());
}

int run(int argc, char** argv) {
  CLI::App app(
      "Random feature maps of kernels, and what is learnt on them.\n"
      "Errors of files name file:line:field; lines, fields, rows and columns count from 1.");
  app.name("mercer");
  app.set_version_flag("--version", std::string("mercer ") + mercer::version());
  app.require_subcommand(1);
  for (const auto add :
       {add_fit, add_cv, add_predict, add_score, add_compare, add_relevance, add_info, add_specs})
    add(app);
  try {
    app.parse(argc, argv);
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
    if (reader_is_gone()) throw ClosedPipe();
    return complain(command_of(app), "standard output: cannot write");
  } catch (const ClosedPipe&) {
    return kClosedPipe;
  } catch (const CLI::ParseError& error) {
    return answer(app, error, argc, argv);
  } catch (const Failure& error) {
    return complain(command_of(app), error.what());
  } catch (const mercer::Error& error) {
    return complain(command_of(app), message_of(error));
  } catch (const std::bad_alloc&) {
    return complain(command_of(app), "out of memory");
  } catch (const std::exception& error) {
    return complain(command_of(app), error.what());
  }
}

// glibc raises its threshold for mapping memory each time a mapped block is freed, up to 32 MiB;
// blocks of rows then stay in a heap that fragments around the Gram matrices. Fixed, every large
// array goes back when it is freed: a fit at 4,096 features peaks a fifth lower.
void return_large_blocks() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  return_large_blocks();
  install_interrupt_handler();
  return run(argc, argv);
}
