// Runs a kernel over a grid, block after block, on the calling thread.
#pragma once

#include <cstddef>
#include <utility>

namespace shim {

// Calls a kernel with arguments in the form of cuLaunchKernel: pointers to their values.
using Call = void (*)(void **arguments);

struct Kernel {
  const char *name;
  unsigned block; // threads per block for which it is written
  Call call;
};

template <auto function> struct Caller;
template <class... A, void (*function)(A...)> struct Caller<function> {
  template <size_t... i> static void with(void **arguments, std::index_sequence<i...>) {
    function(*static_cast<A *>(arguments[i])...);
  }
  static void call(void **arguments) { with(arguments, std::index_sequence_for<A...>()); }
};

// All kernels. The entry after the last one has no name.
extern const Kernel kernels[];

void run(const Kernel &kernel, unsigned grid, void **arguments);

} // namespace shim
