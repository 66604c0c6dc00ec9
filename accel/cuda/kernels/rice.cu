// All kernels, as one translation unit: for NVRTC, and with shim/cuda.h for any C++ compiler.
#include "rice1_decode.cuh"
#include "rice1_encode.cuh"
#include "rice1_index.cuh"
#include "rice1_tiles.cuh"
#include "rice2_decode.cuh"
#include "rice2_index.cuh"
#include "rice2_encode.cuh"
