// Runs a kernel over a grid, block after block, on the calling thread. One kernel runs at a time.
#pragma once

#include <cstddef>
#include <utility>

namespace shim {

// A function that runs one thread of a kernel. It takes arguments as cuLaunchKernel does: an array
// of pointers to their values.
using Call = void (*)(void **arguments);

struct Kernel {
  const char *name;
  unsigned block; // threads per block for which the kernel is written
  Call call;
};

template <auto function> struct Caller;
template <class... A, void (*function)(A...)> struct Caller<function> {
  template <size_t... i> static void with(void **arguments, std::index_sequence<i...>) {
    function(*static_cast<A *>(arguments[i])...);
  }
  static void call(void **arguments) { with(arguments, std::index_sequence_for<A...>()); }
};

// All kernels. The entry after the last one has a null name.
extern const Kernel kernels[];

void run(const Kernel &kernel, unsigned grid, void **arguments);

} // namespace shim
