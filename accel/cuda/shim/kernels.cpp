// The kernels compiled for the CPU, each with the number of threads per block for which it is
// written.
#include "cuda.h"
#include "grid.h"

#include "../kernels/rice.cu"

#define KERNEL(name, block) {#name, block, &shim::Caller<&name>::call}

const shim::Kernel shim::kernels[] = {
    KERNEL(rice1_index, 512),        KERNEL(rice1_decode, 32),     KERNEL(rice1_sync, 256),
    KERNEL(rice1_chain, 32),         KERNEL(rice1_decode_tiles, 256), KERNEL(rice1_measure, 128),
    KERNEL(rice1_offsets, 256),      KERNEL(rice1_pack, 128),      KERNEL(rice2_index, 32),
    KERNEL(rice2_decode_16, 128),    KERNEL(rice2_decode_32, 128), KERNEL(rice2_linear_16, 32),
    KERNEL(rice2_linear_32, 32),     KERNEL(rice2_channels_16, 128), KERNEL(rice2_channels_32, 128),
    KERNEL(rice2_verify, 128),    KERNEL(rice2_plan_16, 256),
    KERNEL(rice2_plan_32, 256),      KERNEL(rice2_offsets, 256),   KERNEL(rice2_pack_16, 128),
    KERNEL(rice2_pack_32, 128),      {nullptr, 0, nullptr},
};
