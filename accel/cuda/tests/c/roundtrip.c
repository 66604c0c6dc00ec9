/* Encodes and decodes samples in device memory through linerate_cuda.h, as a program for data
 * acquisition does. The memory comes from the driver API, which is loaded from the library that the
 * first argument names. Without an argument, checks that a missing driver is reported. */
#include "linerate_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*allocate_fn)(uint64_t *, size_t);
typedef int (*to_device_fn)(uint64_t, const void *, size_t);
typedef int (*to_host_fn)(void *, uint64_t, size_t);
typedef int (*retain_fn)(void **, int);
typedef int (*current_fn)(void *);

static void check(int status, int wanted, const char *what) {
  if (status != wanted) {
    fprintf(stderr, "%s: status %d, not %d: %s\n", what, status, wanted, linerate_cuda_last_error());
    exit(1);
  }
}

static void *found(void *library, const char *name) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    fprintf(stderr, "no %s\n", name);
    exit(1);
  }
  return symbol;
}

enum { SAMPLES = 5000, SEGMENT = 1000 };

int main(int argc, char **argv) {
  if (argc == 1) { /* LINERATE_CUDA_DRIVER names a library that does not exist */
    linerate_cuda_codec *none = NULL;
    check(linerate_cuda_codec_new(0, &none), LINERATE_CUDA_NO_DRIVER, "codec without a driver");
    printf("%s\n", linerate_cuda_last_error());
    return none != NULL;
  }
  void *driver = dlopen(argv[1], RTLD_NOW);
  if (driver == NULL) return 2;
  linerate_cuda_codec *codec = NULL;
  linerate_cuda_workspace *workspace = NULL;
  check(linerate_cuda_codec_new(0, &codec), 0, "codec");
  check(linerate_cuda_workspace_new(codec, &workspace), 0, "workspace");
  check(linerate_cuda_workspace_new(NULL, &workspace), LINERATE_CUDA_BAD_ARGUMENT, "workspace of no codec");
  check(linerate_cuda_codec_new(99, &codec), LINERATE_CUDA_NO_DEVICE, "codec of device 99");

  void *context;
  check(((retain_fn)found(driver, "cuDevicePrimaryCtxRetain"))(&context, 0), 0, "context");
  check(((current_fn)found(driver, "cuCtxSetCurrent"))(context), 0, "current context");
  allocate_fn allocate = (allocate_fn)found(driver, "cuMemAlloc_v2");
  to_device_fn to_device = (to_device_fn)found(driver, "cuMemcpyHtoD_v2");
  to_host_fn to_host = (to_host_fn)found(driver, "cuMemcpyDtoH_v2");

  int16_t samples[SAMPLES], back[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) samples[i] = (int16_t)(i % 700 - 3 * (i % 11));
  linerate_cuda_params params = {16, SEGMENT, 0, {0}};
  uint64_t bound;
  check(linerate_cuda_bound(&params, SAMPLES, &bound), 0, "bound");
  linerate_cuda_job job = {0, bound, 0, SAMPLES};
  uint64_t decoded;
  check(allocate(&job.chunk, bound), 0, "memory");
  check(allocate(&job.samples, sizeof samples), 0, "memory");
  check(allocate(&decoded, sizeof samples), 0, "memory");
  check(to_device(job.samples, samples, sizeof samples), 0, "copy");

  linerate_cuda_outcome outcome;
  check(linerate_cuda_encode(codec, workspace, &params, &job, 1, NULL), 0, "encode");
  check(linerate_cuda_outcomes(workspace, &outcome, 1), 0, "outcomes");
  check(outcome.kind, LINERATE_CUDA_CHUNK_OK, "chunk");
  check(linerate_cuda_outcomes(workspace, &outcome, 2), LINERATE_CUDA_BAD_ARGUMENT, "too many outcomes");
  printf("%d samples in %llu bytes\n", SAMPLES, (unsigned long long)outcome.size);

  linerate_cuda_job other = {job.chunk, outcome.size, decoded, SAMPLES};
  check(linerate_cuda_decode(codec, workspace, &params, &other, 1, NULL), 0, "decode");
  check(linerate_cuda_outcomes(workspace, &outcome, 1), 0, "outcomes");
  check(outcome.kind, LINERATE_CUDA_CHUNK_OK, "decoded chunk");
  check(to_host(back, decoded, sizeof back), 0, "copy");
  if (outcome.size != SAMPLES || memcmp(samples, back, sizeof back) != 0) return 3;

  other.chunk_bytes -= 4; /* the chunk lacks its last word */
  check(linerate_cuda_decode(codec, workspace, &params, &other, 1, NULL), 0, "decode");
  check(linerate_cuda_outcomes(workspace, &outcome, 1), 0, "outcomes");
  check(outcome.kind, LINERATE_CUDA_CORRUPT, "truncated chunk");
  printf("byte %llu: %s\n", (unsigned long long)outcome.offset, outcome.message);

  params.m = 12;
  check(linerate_cuda_decode(codec, workspace, &params, &other, 1, NULL), LINERATE_CUDA_BAD_ARGUMENT, "m = 12");
  check(linerate_cuda_outcomes(workspace, &outcome, 1), LINERATE_CUDA_BAD_ARGUMENT, "outcomes of a failed call");
  uint64_t results;
  check(linerate_cuda_device_results(workspace, &results), 0, "results");
  check(linerate_cuda_stream_bound(LINERATE_CUDA_I32, 0, SEGMENT, SAMPLES, &bound), 0, "stream bound");
  linerate_cuda_workspace_free(workspace);
  linerate_cuda_workspace_free(NULL);
  linerate_cuda_codec_free(codec);
  linerate_cuda_codec_free(NULL);
  return 0;
}
