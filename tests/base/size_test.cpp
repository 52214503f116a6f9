// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sizes, storage, memory caps and messages; entries whose squares can be summed.
#include "base/size.h"

#include "base/aligned.h"
#include "base/views.h"
#include "support/dense.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace size_test {
using namespace mercer;
using mercer::test::refusal_fault;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
volatile int64_t run_time_huge =
    kHuge;  // the compiler refuses to build what it sees to be too large

TEST_CASE("products and sums of sizes are exact or refused") {
  CHECK(checked_multiply(0, kHuge, "x") == 0);
  CHECK(checked_multiply(kHuge, 1, "x") == kHuge);
  CHECK(checked_multiply(int64_t{1} << 31, int64_t{1} << 31, "x") == int64_t{1} << 62);
  CHECK(checked_add(kHuge - 1, 1, "x") == kHuge);
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, checked_multiply(int64_t{1} << 32, int64_t{1} << 31, "panel"),
                "panel", "4294967296", "2147483648");
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, checked_add(kHuge, 1, "rows"), "rows");
}

TEST_CASE("storage is aligned, empty storage holds nothing, sizes are checked") {
  for (const int64_t count : {1, 3, 1000}) {
    const AlignedBuffer<float> buffer(count);
    CHECK(reinterpret_cast<uintptr_t>(buffer.data()) % kAlignment == 0);
    CHECK(buffer.size() == count);
  }
  CHECK(AlignedBuffer<double>(0).data() == nullptr);
  CHECK(Matrix<double>(0, 5).rows() == 0);
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, Matrix<double>(run_time_huge, 2), "matrix");
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, AlignedBuffer<double>(run_time_huge / 4), "allocation");
}

TEST_CASE("moving storage leaves the source empty") {
  AlignedBuffer<int> a(4);
  int* const data = a.data();
  AlignedBuffer<int> b(std::move(a));
  CHECK((b.data() == data && b.size() == 4));
  a = std::move(b);
  CHECK((a.data() == data && a.size() == 4));
}

TEST_CASE("a memory cap names what is needed") {
  Context context;
  context.require_memory(kHuge, "anything");
  context.memory_cap = 100;
  context.require_memory(100, "a block");
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, context.require_memory(101, "a block"), "100",
                "a block needs 101");
}

TEST_CASE("what a call holds counts against its cap, what it gave back does not") {
  Context context;
  context.memory_cap = 100;
  MemoryCharge kept = context.charge(60, "a group");
  {
    const MemoryCharge meanwhile = context.charge(40, "drawing a group");
    CHECK_REFUSED(MERCER_OUT_OF_MEMORY, (void)context.charge(1, "a tile"),
                  "memory_cap = 100 bytes, but a tile needs 1 beside the 100");
  }
  CHECK_NOTHROW(context.require_room(40, "a tile"));
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, context.require_room(kHuge, "a tile"), "beside the 60");
  context.require_memory(100, "something else");
  MemoryCharge moved = std::move(kept);
  kept = MemoryCharge();
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, context.require_room(41, "a tile"));
  context.forget_charges();  // the next call
  CHECK_NOTHROW(context.require_room(100, "a tile"));
  const MemoryCharge next = context.charge(100, "a group");
  moved = MemoryCharge();  // was another call's
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, context.require_room(1, "a tile"));
}

TEST_CASE("messages are formatted whole, however long") {
  const std::string name(3000, 'n');
  CHECK_REFUSED(MERCER_IO, fail(MERCER_IO, "%s = %d", name.c_str(), 7), name + " = 7");
  require(true, MERCER_IO, "not thrown");
}

TEST_CASE("the first entry whose square cannot be summed is named, dense or sparse") {
  for (const double bad : {std::nan(""), -HUGE_VAL, 1.01e150, -1e308}) {
    Matrix<double> X = test::random_matrix(40, 23, 1);
    require_summable("X", X.view());
    X(17, 22) = bad;
    X(30, 0) = bad;
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, require_summable("X", X.view()), "X: row 17",
                  "column 22");
    auto S = test::sparse_rows<double>(50, 30, 5, 2);
    require_summable("S", S.view());
    const auto last = S.values.size() - 1;
    S.values[last] = bad;
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, require_summable("S", S.view()),
                  "column " + std::to_string(S.indices[last]));
  }
  Matrix<double> edge(1, 2);
  edge.fill(-1e150);
  require_summable("edge", edge.view());
}

TEST_CASE("every finite float can be summed") {
  Matrix<float> X = test::random_matrix<float>(3, 9, 1);
  X(2, 3) = std::numeric_limits<float>::max();
  require_summable("X", X.view());
  X(2, 4) = std::numeric_limits<float>::infinity();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, require_summable("X", X.view()), "row 2", "column 4");
}

}  // namespace size_test
