// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options to requests, failures to a line and a status: 2 of the command line, 3 of data and files.
#include "run.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "message.h"
#include "options/shared.h"
#include "session.h"

namespace mercer::cli {
namespace {

constexpr int kUsage = 2, kData = 3;
constexpr int kInterrupted = 130, kClosedPipe = 141;  // as a shell reports SIGINT and SIGPIPE

Outcome complaint(int status, const std::string& command, std::string text) {
  std::fflush(stdout);  // what was printed before stands before, in a pipe as well
  std::replace(text.begin(), text.end(), '\n', ' ');
  return {status, command.empty() ? text : command + ": " + text};
}

/// Of standard output, once writing failed.
bool reader_is_gone() {
  if (errno == EPIPE) return true;
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

/// Of a wrong command line; CLI11 reports --help and --version as errors, too.
Outcome answer(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  // But not behind a word that is no command.
  const bool meant = argc < 2 || argv[1][0] == '-' || !app.get_subcommands().empty();
  if (error.get_exit_code() == 0 && meant) return {app.exit(error), ""};
  return complaint(kUsage, command_of(app), fault_of(app, error, argc, argv));
}

/// An option is named first where it is at fault.
int status_of(const std::string& text) {
  return text == kInterruptedText ? kInterrupted : text.starts_with("--") ? kUsage : kData;
}

std::vector<void (*)(CLI::App&)> commands() {
  if (processes().shares()) return {add_fit};
  return {add_fit,       add_cv,          add_predict,       add_score,
          add_update,    add_compare,     add_relevance,     add_transform,
          add_recommend, add_two_samples, add_info_commands, add_export};
}

// Arrays of 16 MiB go back when they are freed: a fit at 4,096 features peaks a tenth lower. Smaller
// ones are used again: to map and clear them each time took a third of a fit of 300 rows, and those
// from 4 MiB on a sixth of a fit of 1,000.
void return_large_blocks() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 24);
  mallopt(M_TRIM_THRESHOLD, 1 << 26);
#endif
}

}  // namespace

void prepare_process(char** argv) {
  restart_with_fast_blas(argv);
  return_large_blocks();
  install_interrupt_handler();
}

Outcome run(int argc, char** argv) {
  CLI::App app(
      "Random feature maps of kernels, and what is learnt on them.\n"
      "Errors of files name file:line:field; lines, fields, rows and columns count from 1.");
  app.name(processes().shares() ? "mercer-mpi" : "mercer");
  app.set_version_flag("--version", std::string("mercer ") + version());
  app.require_subcommand(1);
  for (const auto add : commands()) add(app);
  try {
    app.parse(argc, argv);
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
    if (reader_is_gone()) throw ClosedPipe();
    return complaint(kData, command_of(app), "standard output: cannot write");
  } catch (const ClosedPipe&) {
    return {kClosedPipe, ""};
  } catch (const CLI::ParseError& error) {
    return answer(app, error, argc, argv);
  } catch (const Failure& error) {
    return complaint(status_of(error.what()), command_of(app), error.what());
  } catch (const Error& error) {
    // Of a spec, since what is wrong with rows becomes a Failure.
    const std::string text = message_of(error);
    const bool usage = error.status() == MERCER_INVALID_ARGUMENT;
    return complaint(usage ? kUsage : status_of(text), command_of(app), text);
  } catch (const std::bad_alloc&) {
    return complaint(kData, command_of(app), "out of memory");
  } catch (const std::exception& error) {
    return complaint(kData, command_of(app), error.what());
  }
}

}  // namespace mercer::cli
