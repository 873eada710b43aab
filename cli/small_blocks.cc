// Allocation of small blocks. A run makes and drops small objects all the time, and each thread runs
// worlds of its own, so each thread keeps small blocks that it drops for the next ones of their size.
//
// Invariant: every block comes from malloc and may go back to it at any time, so a block may be
// dropped by another thread, and where its size is not known.
// Deliberately left out: new handlers; nothing of whorl sets one.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kStep = 16;
constexpr size_t kSizes = 40;    // blocks of kStep, 2 * kStep and so on are kept
constexpr uint32_t kKept = 256;  // of each size, at most

struct Block {
  Block* next;
};
struct KeptBlocks {
  Block* first = nullptr;
  uint32_t left = 0;  // how many more may be kept
};
// By size. It has no destructor, so that its use costs nothing; KeptUntilTheEnd has it.
constinit thread_local std::array<KeptBlocks, kSizes> kept_blocks = {};

struct KeptUntilTheEnd {
  KeptUntilTheEnd() {
    for (KeptBlocks& kept : kept_blocks) kept.left = kKept;
  }
  KeptUntilTheEnd(const KeptUntilTheEnd&) = delete;
  KeptUntilTheEnd& operator=(const KeptUntilTheEnd&) = delete;
  ~KeptUntilTheEnd() {
    for (KeptBlocks& kept : kept_blocks) {
      kept.left = 0;  // what the thread drops from now on goes back at once
      while (Block* block = kept.first) {
        kept.first = block->next;
        std::free(block);
      }
    }
  }
  void Touch() {}
};
thread_local KeptUntilTheEnd kept_until_the_end;

void* NewFromMalloc(size_t size) {
  kept_until_the_end.Touch();
  void* block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

constexpr size_t PlaceOf(size_t size) { return size == 0 ? 0 : (size - 1) / kStep; }

}  // namespace

void* operator new(size_t size) {
  const size_t place = PlaceOf(size);
  if (place >= kSizes) return NewFromMalloc(size);
  KeptBlocks& kept = kept_blocks[place];
  Block* block = kept.first;
  if (block == nullptr) return NewFromMalloc((place + 1) * kStep);
  kept.first = block->next;
  ++kept.left;
  return block;
}

void operator delete(void* dropped) noexcept { std::free(dropped); }

void operator delete(void* dropped, size_t size) noexcept {
  const size_t place = PlaceOf(size);
  if (dropped == nullptr || place >= kSizes || kept_blocks[place].left == 0) {
    return std::free(dropped);
  }
  KeptBlocks& kept = kept_blocks[place];
  --kept.left;
  kept.first = new (dropped) Block{.next = kept.first};
}
