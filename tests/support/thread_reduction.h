// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Processes of a job played by threads.
#pragma once

#include <barrier>
#include <thread>
#include <vector>

#include "solver/block_source.h"

namespace mercer::test {

/// What the processes share.
class ThreadJob {
 public:
  explicit ThreadJob(int size) : size_(size), barrier_(size), numbers_(size) {}

  /// body(reduction, process) in as many threads as there are processes.
  template <class Body>
  void run(const Body& body) {
    std::vector<std::thread> threads;
    for (int process = 0; process < size_; ++process)
      threads.emplace_back([this, process, &body] {
        Member member(*this, process);
        body(member, process);
      });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  class Member final : public solver::Reduction {
   public:
    Member(ThreadJob& job, int process) : job_(job), process_(process) {}
    void sum(std::span<double> numbers) override {
      job_.numbers_[process_] = numbers;
      job_.barrier_.arrive_and_wait();
      std::vector<double> total(numbers.size(), 0.0);
      for (const std::span<double> part : job_.numbers_)
        for (size_t i = 0; i < total.size(); ++i) total[i] += part[i];
      job_.barrier_.arrive_and_wait();
      for (size_t i = 0; i < total.size(); ++i) numbers[i] = total[i];
    }

   private:
    ThreadJob& job_;
    int process_;
  };

  int size_;
  std::barrier<> barrier_;
  std::vector<std::span<double>> numbers_;
};

}  // namespace mercer::test
