// The scheduler of the shim, which runs the threads of a block as fibers.
#include "grid.h"
#include "cuda.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <sys/mman.h>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define WITH_ASAN 1
#else
#define WITH_ASAN 0
#endif

namespace shim {

Thread *thread;
Index block, block_size, grid_size;
uint64_t (*exchange)[2][32];

namespace {

constexpr size_t STACK = 256 * 1024; // bytes per fiber, most of which only sanitizers need

enum class State { Ready, AtWarp, AtBlock, Done };

struct Fiber {
  Thread thread;
  State state = State::Done;
  const char *what = ""; // the warp-wide operation that the fiber waits for
  char *stack = nullptr;
  void *fake_stack = nullptr;
#if defined(__x86_64__)
  void *pointer = nullptr;
#else
  ucontext_t context;
#endif
};

std::vector<std::unique_ptr<Fiber>> fibers; // kept between launches, to allocate their stacks once
std::vector<uint64_t[2][32]> exchanges(32);
Fiber *running;
Fiber host; // the scheduler
const Kernel *kernel;
void **kernel_arguments;
#if WITH_ASAN
const void *host_stack;
size_t host_stack_size;
#endif

[[noreturn]] void fail(const char *why) {
  fprintf(stderr, "shim: kernel %s, block %u, thread %u: %s\n", kernel->name, block.x,
          running ? running->thread.index.x : 0, why);
  abort();
}

#if defined(__x86_64__)
// Pushes the registers that a call preserves, stores the stack pointer at `from`, and continues on
// the stack at `to`, with the registers that were pushed there.
extern "C" void shim_switch(void **from, void *to);
asm(R"(
.text
.globl shim_switch
.hidden shim_switch
.type shim_switch, @function
shim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size shim_switch, .-shim_switch
)");
void change(Fiber &from, Fiber &to) { shim_switch(&from.pointer, to.pointer); }
#else
void change(Fiber &from, Fiber &to) { swapcontext(&from.context, &to.context); }
#endif

void to_fiber(Fiber &fiber) {
  running = &fiber;
  thread = &fiber.thread;
#if WITH_ASAN
  __sanitizer_start_switch_fiber(&host.fake_stack, fiber.stack, STACK);
#endif
  change(host, fiber);
#if WITH_ASAN
  __sanitizer_finish_switch_fiber(host.fake_stack, nullptr, nullptr);
#endif
  running = nullptr;
}

void to_host() {
  Fiber &fiber = *running;
#if WITH_ASAN
  __sanitizer_start_switch_fiber(fiber.state == State::Done ? nullptr : &fiber.fake_stack, host_stack, host_stack_size);
#endif
  change(fiber, host);
#if WITH_ASAN
  __sanitizer_finish_switch_fiber(fiber.fake_stack, &host_stack, &host_stack_size);
#endif
}

[[noreturn]] void fiber_main() {
#if WITH_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &host_stack, &host_stack_size);
#endif
  kernel->call(kernel_arguments);
  running->state = State::Done;
  to_host();
  abort(); // never continued
}

void prepare(Fiber &fiber, unsigned index) {
  if (fiber.stack == nullptr) {
    void *stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) fail("no memory for a stack");
    fiber.stack = static_cast<char *>(stack);
  }
  fiber.thread = Thread{{index, 0, 0}, index / 32, index % 32, 0};
  fiber.state = State::Ready;
  fiber.fake_stack = nullptr;
#if defined(__x86_64__)
  // The stack looks as if shim_switch had been called: on top the six saved registers, then the
  // address where it returns to, which is the start of fiber_main.
  void **top = reinterpret_cast<void **>(fiber.stack + STACK) - 1;
  *top = nullptr; // fiber_main's return address, 8 bytes below a multiple of 16 as after a call
  *--top = reinterpret_cast<void *>(&fiber_main);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  fiber.pointer = top;
#else
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = STACK;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, reinterpret_cast<void (*)()>(&fiber_main), 0);
#endif
}

struct SharedVariable {
  std::unique_ptr<unsigned char[]> bytes;
  size_t size;
};
std::map<const void *, SharedVariable> shared;

bool reversed() {
  static const char *order = getenv("LINERATE_SHIM_ORDER");
  return order != nullptr && strcmp(order, "reverse") == 0;
}

// Runs the lanes of a warp until each waits for the block or is done. A warp-wide operation that
// not all 32 lanes reach ends the program.
void run_warp(unsigned warp, unsigned lanes) {
  for (;;) {
    unsigned at_warp = 0, done = 0;
    for (unsigned i = 0; i < lanes; i++) {
      Fiber &fiber = *fibers[warp * 32 + (reversed() ? lanes - 1 - i : i)];
      if (fiber.state == State::Ready) to_fiber(fiber);
      at_warp += fiber.state == State::AtWarp;
      done += fiber.state == State::Done;
    }
    if (at_warp == 0) return;
    running = fibers[warp * 32].get();
    if (at_warp != 32) fail(done > 0 ? "a lane has ended that its warp waits for" : "not all lanes reach a warp-wide operation");
    for (unsigned i = 0; i < 32; i++) {
      Fiber &fiber = *fibers[warp * 32 + i];
      const char *first = fibers[warp * 32]->what; // mostly the same literal, so pointers are equal
      if (fiber.what != first && strcmp(fiber.what, first) != 0) fail("lanes of a warp are at different operations");
      fiber.state = State::Ready;
    }
  }
}

void run_block(unsigned threads) {
  for (unsigned i = 0; i < threads; i++) prepare(*fibers[i], i);
  for (auto &[key, variable] : shared) memset(variable.bytes.get(), 0xa5, variable.size);
  for (;;) {
    for (unsigned i = 0; i < threads / 32; i++) run_warp(reversed() ? threads / 32 - 1 - i : i, 32);
    unsigned at_block = 0;
    for (unsigned i = 0; i < threads; i++) at_block += fibers[i]->state == State::AtBlock;
    if (at_block == 0) return;
    running = fibers[0].get();
    if (at_block != threads) fail("not all threads of the block reach a barrier");
    for (unsigned i = 0; i < threads; i++) fibers[i]->state = State::Ready;
  }
}

} // namespace

void wait_warp(const char *what) {
  running->what = what;
  running->state = State::AtWarp;
  to_host();
}

void wait_block() {
  running->state = State::AtBlock;
  to_host();
}

void *shared_memory(const void *key, size_t bytes) {
  SharedVariable &variable = shared[key];
  if (!variable.bytes) {
    variable = {std::unique_ptr<unsigned char[]>(new unsigned char[bytes]), bytes};
    memset(variable.bytes.get(), 0xa5, bytes);
  }
  return variable.bytes.get();
}

void run(const Kernel &called, unsigned grid, void **arguments) {
  kernel = &called;
  kernel_arguments = arguments;
  block_size = {called.block, 1, 1};
  grid_size = {grid, 1, 1};
  exchange = exchanges.data();
  while (fibers.size() < called.block) fibers.push_back(std::make_unique<Fiber>());
  for (unsigned i = 0; i < grid; i++) {
    block = {reversed() ? grid - 1 - i : i, 0, 0};
    run_block(called.block);
  }
  shared.clear(); // so that each block of the next kernel fills only that kernel's variables
}

} // namespace shim
