// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The targets behind libFuzzer (MERCER_FUZZ), or a program that replays inputs: one in hexadecimal
// digits a line of each file, and so many made from a seed. Usage: mercer_fuzz TARGET COUNT FILES;
// with libFuzzer the environment's FUZZ_TARGET names the target.
#include <cstring>
#include <fstream>
#include <random>
#include <vector>

#include "fuzz/bytes.h"

namespace {
using namespace mercer::fuzz;

constexpr struct {
  const char* name;
  Run run;
} kTargets[] = {
    {"specs", fuzz_specs}, {"files", fuzz_files}, {"tables", fuzz_tables}, {"abi", fuzz_abi}};

Run target_of(const char* name) {
  for (const auto& target : kTargets)
    if (name != nullptr && std::strcmp(name, target.name) == 0) return target.run;
  std::fprintf(stderr, "targets: specs, files, tables, abi\n");
  std::exit(2);
}

}  // namespace

#ifdef MERCER_FUZZ

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Run run = target_of(std::getenv("FUZZ_TARGET"));
  Bytes bytes({data, size});
  run(bytes);
  return 0;
}

#else

int main(int count, char** arguments) {
  const Run run = target_of(count > 1 ? arguments[1] : nullptr);
  const auto replay = [run](const std::vector<uint8_t>& input) {
    Bytes bytes(input);
    run(bytes);
  };
  const int drawn = count > 2 ? std::atoi(arguments[2]) : 0;
  std::mt19937_64 words(1);
  for (int i = 0; i < drawn; ++i) {
    std::vector<uint8_t> input(words() % 400);
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(words() >> 32);
    replay(input);
  }
  int lines = 0;
  for (int file = 3; file < count; ++file) {
    std::ifstream in(arguments[file]);
    for (std::string line; std::getline(in, line); ++lines) {
      std::vector<uint8_t> input;
      for (size_t at = 0; at + 1 < line.size(); at += 2)
        input.push_back(static_cast<uint8_t>(std::stoi(line.substr(at, 2), nullptr, 16)));
      replay(input);
    }
  }
  std::printf("%d inputs of the corpus and %d drawn ones hold\n", lines, drawn);
}

#endif
