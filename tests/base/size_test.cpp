// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Overflow-checked sizes, aligned storage, memory caps, messages.
#include "base/size.h"

#include "base/aligned.h"
#include "support/refusal.h"

using namespace mercer;
using mercer::test::refusal_fault;

namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
volatile int64_t run_time_huge =
    kHuge;  // the compiler refuses to build what it sees to be too large

TEST_CASE("products and sums of sizes are exact or refused", "[base]") {
  CHECK(checked_multiply(0, kHuge, "x") == 0);
  CHECK(checked_multiply(kHuge, 1, "x") == kHuge);
  CHECK(checked_multiply(int64_t{1} << 31, int64_t{1} << 31, "x") == int64_t{1} << 62);
  CHECK(checked_add(kHuge - 1, 1, "x") == kHuge);
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, checked_multiply(int64_t{1} << 32, int64_t{1} << 31, "panel"),
                "panel", "4294967296", "2147483648");
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, checked_add(kHuge, 1, "rows"), "rows");
}

TEST_CASE("storage is aligned, empty storage holds nothing, sizes are checked", "[base]") {
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

TEST_CASE("moving storage leaves the source empty", "[base]") {
  AlignedBuffer<int> a(4);
  int* const data = a.data();
  AlignedBuffer<int> b(std::move(a));
  CHECK((b.data() == data && b.size() == 4));
  a = std::move(b);
  CHECK((a.data() == data && a.size() == 4));
}

TEST_CASE("a memory cap names what is needed", "[base]") {
  Context context;
  context.require_memory(kHuge, "anything");
  context.memory_cap = 100;
  context.require_memory(100, "a block");
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, context.require_memory(101, "a block"), "100",
                "a block needs 101");
}

TEST_CASE("what a call holds counts against its cap, what it gave back does not", "[base]") {
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

TEST_CASE("messages are formatted whole, however long", "[base]") {
  const std::string name(3000, 'n');
  CHECK_REFUSED(MERCER_IO, fail(MERCER_IO, "%s = %d", name.c_str(), 7), name + " = 7");
  require(true, MERCER_IO, "not thrown");
}

}  // namespace
