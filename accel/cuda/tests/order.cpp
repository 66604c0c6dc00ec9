// Tests in which order the shim runs the threads of a grid.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "../shim/cuda.h"
#include "../shim/grid.h"
#include "device.h"

const shim::Kernel shim::kernels[] = {{nullptr, 0, nullptr}};

namespace {

std::vector<unsigned> order; // the threads, numbered through the grid, as they ran

void note_thread() { order.push_back(blockIdx.x * blockDim.x + threadIdx.x); }

// Without barriers, each thread runs to its end before the next one begins.
void blocks_warps_and_lanes_run_in_the_wanted_order() {
  shim::Kernel kernel = {"note_thread", 128, &shim::Caller<&note_thread>::call};
  shim::run(kernel, 3, nullptr);
  std::vector<unsigned> wanted(3 * 128);
  std::iota(wanted.begin(), wanted.end(), 0u);
  const char *direction = getenv("LINERATE_SHIM_ORDER");
  if (direction != nullptr && strcmp(direction, "reverse") == 0) std::reverse(wanted.begin(), wanted.end());
  EXPECT(order == wanted, "thread %u ran first, thread %u last", order.front(), order.back());
}

} // namespace

int main() {
  printf("blocks_warps_and_lanes_run_in_the_wanted_order\n");
  blocks_warps_and_lanes_run_in_the_wanted_order();
}
